"""The part of an audit on groups of records: which of them are given away more."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from reticent.auditing.partition import CLASS
from reticent.findings.audit import Group, Grouping
from reticent.findings.group_limits import ExposedGroup
from reticent.report import blocks as b
from reticent.report.cells import NOTHING, estimate
from reticent.report.pictures import dot_plot
from reticent.rounding import count, decimals, level, p_value, signed
from reticent.say.groups import full_name

DRAWN = 30
"""Most groups in a figure; the table has all of them."""
WRITTEN = 25
"""Most groups in Markdown, those of the highest AUC."""
OUT: dict[str | None, str] = {"more": "▲ more", "less": "▼ less", None: "no"}


def blocks(
    groupings: Sequence[Grouping], names: Sequence[str], told: ExposedGroup | None = None
) -> tuple[b.Block, ...]:
    """Show every grouping; `names` are those of the classes, or empty, and the verdict has `told` of one group."""
    if not groupings:
        return ()
    fpr = groupings[0].fpr
    notes: list[b.Text] = [
        "“Minus the rest”: the group's AUC minus the mean of the other groups' own AUCs, weighted by their records.",
        "“Stands out” goes by that difference of AUCs; the share found may be smaller there than elsewhere.",
        "“In, out”: on how many records of the group a model was trained, and on how many not, on average.",
    ]
    if fpr:
        one = f"“Found” uses one threshold for all records, at which the FPR over all records is {level(fpr)}"
        notes.insert(0, f"{one}: what an attacker does who ignores groups. A group's own FPR may differ.")
    return (
        b.Heading("Which groups leak more", "groups", "Groups", level=2, only=b.DOCUMENTS),
        b.Prose(
            "The same audit, on the records of one group at a time. A group stands out only if its difference from all "
            "others is more than chance after a correction for having looked at every group. With few records an "
            "interval is wide, and a high number means little.",
            only=b.PAGE,
        ),
        *(block for i, one in enumerate(groupings) for block in _grouping(one, names, f"group-{i}", told)),
        *b.only(b.PAGE, b.Bullets(tuple(notes), "note")),
    )


def _grouping(found: Grouping, names: Sequence[str], key: str, told: ExposedGroup | None) -> tuple[b.Block, ...]:
    groups = sorted(found.groups, key=lambda group: (group.auc is None, -(group.auc.mean if group.auc else 0.0)))
    named = [(name(found.by, group, names), group) for group in groups]
    known = told is not None and (told.by, told.name) == (found.by, found.most_exposed)
    said = b.Prose(found.sentence, only=b.DOCUMENTS if known else b.EVERYWHERE)
    outcome = said if found.most_exposed is None else b.Notice(found.sentence, "bad", only=b.PAGE)
    table = _table(found, named, key)
    left = len(named) - WRITTEN
    more = b.Prose(f"{left} groups with a lower AUC are left out here.", only=b.MARKDOWN)
    return (
        b.Heading(("By ", b.Name(found.by, 40)), key, only=b.DOCUMENTS),
        outcome,
        *((replace(said, only=b.TEXTS & said.only),) if outcome is not said else ()),
        *map(b.Prose, found.doubts),
        *b.only(b.PAGE, *_figure(found, named, key), table),
        *b.only(b.MARKDOWN, replace(table, rows=table.rows[:WRITTEN]), *((more,) if left > 0 else ())),
    )


def name(by: str, group: Group, names: Sequence[str]) -> str:
    """Name a group as the table of records does."""
    text = full_name(by, group.name, names)
    return f"class {text}" if by == CLASS and text.isdigit() else text


def _figure(found: Grouping, named: Sequence[tuple[str, Group]], key: str) -> list[b.Figures]:
    """Draw all groups, or the two ends where there are too many."""
    known = [pair for pair in named if pair[1].auc is not None]
    if not known:
        return []
    drawn = known if len(known) <= DRAWN else [*known[: 2 * DRAWN // 3], *known[-DRAWN // 3 :]]
    caption = (
        f"AUC of each group, its {level(found.confidence or 0.95)} interval, and how many records it has. "
        "▲ more exposed than the rest, ▼ less exposed, ● no difference shown."
    )
    if len(drawn) < len(known):
        caption += f" The highest and the lowest; the table has all {count(len(named))}."
    heading = f"AUC of the records of each {found.by}, with intervals"
    return [b.Figures((b.Figure(partial(dot_plot.groups, drawn, len(known), heading, f"{key}-figure"), caption),))]


def _table(found: Grouping, named: Sequence[tuple[str, Group]], key: str) -> b.Table:
    groups, by = [group for _, group in named], found.by
    known = {part: _known(groups, part) for part in ("tpr", "exposure", "memorisation", "difference")}
    heads: b.Heads = (
        *b.words("Class" if by == CLASS else by),
        "Records",
        "AUC",
        b.Column(f"Found at {level(found.fpr)} FPR" if found.fpr else "Found", only=known["tpr"]),
        b.Column("Exposure", only=known["exposure"]),
        b.Column("Memorisation", only=known["memorisation"]),
        b.Column("Minus the rest", only=known["difference"]),
        b.Column("p, corrected", only=known["difference"] | b.MARKDOWN),
        *b.words("Stands out"),
    )
    title = (
        f"Every group by {by}, under {found.attack}; below each number its {level(found.confidence or 0.95)} interval"
    )
    rows = (_row(text, group, found) for text, group in named)
    return b.table(title, heads, rows, key=f"{key}-table", sortable=True, sorted=2, find="name")


def _known(groups: Sequence[Group], part: str) -> b.Media:
    return b.PAGE if any(getattr(group, part) is not None for group in groups) else frozenset()


def _row(text: str, group: Group, grouping: Grouping) -> b.Line:
    difference, p = NOTHING, NOTHING
    if group.difference is not None:
        found = group.difference
        ends = b.Span(*map(signed, found.interval))
        difference = b.Cell(signed(found.mean), found.mean, (ends,))
        p = b.Cell(p_value(found.p_corrected, 1 - grouping.confidence), found.p_corrected)
    split = f"{count(group.members)} in, {count(group.non_members)} out"
    return (
        b.Name(text),
        b.Cell(count(group.records), group.records, () if group.members is None else (split,)),
        estimate(group.auc),
        estimate(group.tpr, True, decimals(grouping.fpr)),
        estimate(group.exposure, digits=2),
        estimate(group.memorisation, digits=3),
        difference,
        p,
        OUT[group.stands_out],
    )
