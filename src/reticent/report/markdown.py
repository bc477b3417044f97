"""A section for a model card: the verdict, the table, what the audit cannot say, in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.sections import control, epsilon, groups, non_adaptive, repair
from reticent.report.view import (
    confidence,
    measured,
    ordered,
    own_training,
    part_of,
    rate_at,
    short,
    tied,
    title,
    unmeasured,
)
from reticent.report.wording import (
    MARK,
    TIES,
    Plain,
    at_most,
    chance,
    count,
    found,
    from_below,
    level,
    limits,
    middle,
    percent,
    span,
    unmeasurable,
    written,
)
from reticent.report.words import LEAKS
from reticent.rounding import MISSING, decimals

SPECIAL = "\\`*_{}[]<>#|~&$"
"""Characters that Markdown, or the HTML inside it, gives a meaning."""

GROUPS = 25
"""Most groups in a table, those of the highest AUC."""


def markdown(document: Mapping[str, Any]) -> str:
    """Write an audit as a section of a model card."""
    verdict, attacks = document.get("verdict") or {}, ordered(document)
    leak = LEAKS.get(verdict.get("leak", ""), LEAKS["cannot tell"])
    parts = ["## Membership privacy", f"**{leak.word}.** {escape(verdict.get('sentence', ''), 400)}"]
    if verdict.get("detail"):
        parts.append(escape(verdict["detail"], 1500))
    if attacks:
        missing = [f"- TPR at FPR {level(fpr)}: {unmeasurable(entry)}" for fpr, entry in unmeasured(attacks)]
        missing += [f"- {MARK} {escape(TIES, 600)}"] * tied(attacks)
        parts += [_table(attacks), *(["\n".join(missing)] if missing else []), _legend(attacks)]
    parts += _epsilon(document, attacks) + _groups(document) + _unaware(document, attacks) + _control(document, attacks)
    parts += ["### What was audited", "\n".join(_facts(document))]
    said = verdict.get("cannot_say")
    if said:
        parts += ["### What this audit cannot say", "\n".join(f"- {escape(item, 600)}" for item in said)]
    return "\n\n".join(parts) + "\n"


def _epsilon(document: Mapping[str, Any], attacks: Sequence[Plain]) -> list[str]:
    found = epsilon.parts(document, attacks)
    if found is None:
        return []
    parts = ["### Epsilon from below"]
    if found["sentence"]:
        parts.append(escape(found["sentence"], 600))
    elif found["accountant"]:
        most = at_most(found["accountant"].get("epsilon"))
        promised = f"Epsilon is at most {most}, as stated by the user, not computed."
        parts.append(promised if found["stated"] else f"The accountant proves at most {most}.")
    if found["unproven"]:
        parts.append("**What was promised is not proven by the training.**")
    if found["consistent"] is False:
        above = "was promised" if found["stated"] else "the accountant proves"
        parts.append(f"**The measured bound lies above what {above}: one of the two is wrong.**")
    if found["lines"]:
        heads = ["Attack", *(escape(method["name"]) for method in found["methods"])]
        lines = [
            [escape(line["name"]), *(from_below(cell["epsilon"]) if cell else MISSING for cell in line["cells"])]
            for line in found["lines"]
        ]
        parts += [escape(found["origin"], 600), table(heads, lines)]
        parts += ["\n".join(f"- {escape(text, 400)}." for text in found["assumptions"])] if found["assumptions"] else []
    return parts


def _groups(document: Mapping[str, Any]) -> list[str]:
    parts = []
    for grouping in groups.parts(document):
        parts.append(f"### Exposure {escape(grouping['heading'][:1].lower() + grouping['heading'][1:])}")
        if grouping["sentence"]:
            parts.append(escape(grouping["sentence"], 600))
        heads = [escape(grouping["title"]), "Records", "AUC", "p, corrected", "Stands out"]
        lines = [
            [
                escape(line["name"], 60),
                count(line["records"]),
                with_interval(written(line["auc"]), span(limits(line["auc"]))),
                escape(chance((line["difference"] or {}).get("p_corrected"))),
                line["out"],
            ]
            for line in grouping["lines"][:GROUPS]
        ]
        parts.append(table(heads, lines))
        if len(grouping["lines"]) > GROUPS:
            parts.append(f"{len(grouping['lines']) - GROUPS} groups with a lower AUC are left out here.")
    return parts


def _control(document: Mapping[str, Any], attacks: Sequence[Plain]) -> list[str]:
    found = control.parts(document, attacks)
    if found is None:
        return []
    parts = ["### Control with the membership shuffled", f"**{found['word']}.** {escape(found['sentence'] or '', 600)}"]
    if found["detectable"]:
        parts.append(escape(found["detectable"], 600))
    if found["lines"]:
        parts.append(table(["Attack", "AUC", "AUC, shuffled"], _two(found["lines"], ("auc", "null_auc"))))
        parts.append(found["alone"])
    return parts


def _unaware(document: Mapping[str, Any], attacks: Sequence[Plain]) -> list[str]:
    found = non_adaptive.parts(document, attacks)
    if found is None:
        return []
    parts = ["### An attacker who does not know of the defense", escape(found["sentence"] or "", 600)]
    heads = ["Attack", "AUC, knows the defense", "AUC, does not"]
    return [*parts, table(heads, _two(found["lines"], ("auc", "unaware_auc")))]


def _two(lines: Sequence[Plain], keys: Sequence[str]) -> list[list[str]]:
    return [
        [escape(line["name"]), *(with_interval(written(line[key]), span(limits(line[key]))) for key in keys)]
        for line in lines
    ]


def _legend(attacks: list[Plain]) -> str:
    return (
        f"In brackets: {confidence(attacks)} intervals. TPR: the share of training records that are found; FPR: the "
        "share of other records that are taken for them. Chance: AUC 0.5, and TPR equal to FPR."
    )


def _table(attacks: list[Plain]) -> str:
    listed = measured(attacks)
    heads = ["Attack", "AUC", *(f"TPR at FPR {level(fpr)}" for fpr in listed), "Balanced accuracy"]
    lines = []
    for attack in attacks:
        overall = attack["overall"]
        cells = [_rate(rate_at(overall, fpr)) for fpr in listed]
        balanced = written((overall.get("balanced_accuracy") or {}).get("transferred"))
        auc = with_interval(written(overall["auc"]), span(limits(overall["auc"])))
        lines.append([escape(title(attack)), auc, *cells, balanced])
    return table(heads, lines)


def _facts(document: Mapping[str, Any]) -> list[str]:
    """Say what was audited, with what and when."""
    data, population = document.get("data") or {}, document.get("population") or {}
    recipe, environment = document.get("recipe") or {}, document.get("environment") or {}
    own = own_training(recipe)
    architecture, objective = (None if own else _said(recipe.get(key)) for key in ("architecture", "objective"))
    accuracy, part = population.get("accuracy") or {}, part_of(data)
    facts = [
        ("Data", data.get("name")),
        ("Records", part + count(data["records"]) if data.get("records") is not None else None),
        ("Models", count(population["models"]) if population.get("models") is not None else None),
        ("Trained", f"by {own}" if own else None),
        ("Architecture", architecture),
        ("Objective", objective),
        *(_changed(recipe) if not own else []),
        *_repaired(population),
        ("Accuracy on members", percent(middle(accuracy["members"])) if accuracy.get("members") else None),
        ("Accuracy on non-members", percent(middle(accuracy["non_members"])) if accuracy.get("non_members") else None),
        ("Audited with", f"reticent {environment['reticent']}" if environment.get("reticent") else None),
        ("Started", environment.get("started")),
    ]
    return [f"- {name}: {escape(fact, 120)}" for name, fact in facts if fact is not None]


def _method(part: Any) -> Any:
    return part.get("method") if isinstance(part, Mapping) else part


def _changed(recipe: Plain) -> list[tuple[str, Any]]:
    """Name the way of training and the change of the answers, with their options, where there are any."""
    names = (("Trained by procedure", "procedure", "plain"), ("Answers changed by", "output", "none"))
    return [(name, _said(recipe[key])) for name, key, usual in names if _method(recipe.get(key)) not in {None, usual}]


def _said(part: Any) -> Any:
    """Write a method and its plain options in one line."""
    if not isinstance(part, Mapping):
        return part
    options = ((name, _method(value)) for name, value in part.items() if name != "method")
    return ", ".join([
        str(part.get("method")),
        *(f"{name} {value}" for name, value in options if isinstance(value, (str, int, float))),
    ])


def _repaired(population: Plain) -> list[tuple[str, Any]]:
    """Say what a repairing procedure did in the models."""
    told = repair.facts(population) if "models" in population else {}
    return [(f"{method}, {name}", value) for method, facts in told.items() for name, value in facts.items()]


def _rate(rate: Plain | None) -> str:
    if rate is None:
        return MISSING
    if rate.get("tpr") is None:
        return unmeasurable(rate)
    digits = decimals(rate["fpr"])
    return with_interval(found(rate["tpr"], digits), span(limits(rate["tpr"]), True, digits=digits))


def table(heads: Sequence[str], lines: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Lay out a table."""
    rule = ["---"] * texts + ["---:"] * (len(heads) - texts)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *lines))


def with_interval(value: str, interval: str) -> str:
    """Write a number with its interval."""
    return f"{value} ({interval})" if interval else value


def escape(text: Any, most: int = 80) -> str:
    """Keep Markdown and HTML in text from outside from meaning anything."""
    return "".join("\\" + c if c in SPECIAL else c for c in short(text, most))
