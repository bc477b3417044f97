"""A study in sentences: the verdicts, what each claim rests on, and what does not follow."""

from collections.abc import Sequence
from functools import partial

from reticent.findings.base import Interval
from reticent.findings.study import (
    FEW,
    VERDICTS,
    Answer,
    Claim,
    Form,
    Kind,
    Origin,
    Part,
    Printed,
    Reason,
    StudyDocument,
    Table,
)
from reticent.rounding import MISSING, duration, interval, memory, number, percent, signed
from reticent.say.grammar import agree, listed, plural, sentence

FOUND: dict[Answer, str] = {"yes": "as the claim says", "no": "not as the claim says", "open": "open"}
REASONS: dict[Reason, str] = {
    "condition": "the condition of its rule is not shown to hold",
    "unmatched": "no control is as accurate",
    "unmeasured": "this scale does not measure it",
    "interval": "its interval is too wide, or it has none",
    "network": "no network of the kind that the claim is about was run",
    "setting": "what was run is neither the paper's setting nor a fair stand-in for it",
    "disagree": "the kinds of network that it is about do not agree",
}
ORIGINS: dict[Origin, str] = {"paper": "Claims of the paper", "ours": "Claims of ours"}
"""Titles."""
MANY = 3
"""Parts of a claim, from which on their answers are counted."""
SHARES: dict[Form, int] = {"share": 1, "small share": 2}
"""Decimals of what is written in percent."""


def spoken(document: StudyDocument, caution: Sequence[str], without_interval: bool) -> StudyDocument:
    """Write the sentences into a study.

    `caution` is what no scale of it can say; fewer seeds than `FEW` may give numbers no interval.
    """
    said = list(caution)
    if document.scale.seeds < FEW:
        said.append(_few(document.scale.seeds, document.over, without_interval))
    else:
        said += [
            f"{table.title}: {_few(count, document.over, without_interval)}"
            for table in document.tables
            if (count := _seeds(table)) and count < FEW
        ]
    said += [
        f"{one.label} is neither the paper's setting nor a fair stand-in for it, so it settles no claim of the "
        f"paper's: {one.unlike}."
        for one in document.settings
        if one.unlike
    ]
    return document.with_(sentence=headline(document), cannot_say=tuple(said))


def headline(document: StudyDocument) -> str:
    """Count the verdicts in a sentence."""
    return f"{document.study} at scale {document.scale.name}: {counted(document.claims)}."


def beforehand(untellable: int, claims: int) -> str:
    """Say how many of the paper's claims a scale cannot tell, before it runs; empty where it can tell all."""
    if not untellable:
        return ""
    which = "no claim" if untellable == claims else f"{untellable} of the {claims} claims"
    verb = "can be told" if untellable == claims else "cannot be told"
    return f"{which} of the paper's {verb}: this scale has not the paper's networks and data, nor a fair stand-in"


def _seeds(table: Table) -> int:
    """Count the seeds behind a table; 0 where it holds no number."""
    return max((len(one.seeds) for row in table.rows for one in row.values.values() if one is not None), default=0)


def _few(count: int, over: str, without_interval: bool) -> str:
    seeds = plural(count, "seed")
    if without_interval:
        return (
            f"{seeds}: the error of one seed is over {over}, so these numbers have no interval, and no claim on them "
            f"is judged. From {FEW} seeds on they have one."
        )
    return (
        f"{seeds}: the intervals are over {over}, and leave out what another seed would change. From {FEW} seeds on "
        "they include it."
    )


def counted(claims: Sequence[Claim]) -> str:
    """Count the verdicts, those on the paper's claims and on ours apart."""
    return "; ".join(_counted(origin, own) for origin, own in by_origin(claims))


def _counted(origin: Origin, claims: Sequence[Claim]) -> str:
    found = [answered(one) for one in claims]
    yes, no, open_ = (found.count(answer) for answer in FOUND)
    whose = {"paper": "the paper's", "ours": "our"}[origin]
    if open_ == len(claims):
        return f"of {whose} {plural(open_, 'claim')} none can be told"
    words = {
        "paper": (agree(yes, "is reproduced", "are reproduced"), agree(no, "is not reproduced", "are not reproduced")),
        "ours": (agree(yes, "holds", "hold"), agree(no, "does not hold", "do not hold")),
    }
    counts = zip((yes, no, open_), (*words[origin], "can't be told"), strict=True)
    return f"of {whose} {plural(len(claims), 'claim')} {listed(f'{n} {what}' for n, what in counts if n)}"


def answered(claim: Claim) -> Answer:
    """Say which answer a verdict is, whoever makes the claim."""
    return next(answer for answer, verdict in VERDICTS[claim.origin].items() if verdict == claim.verdict)


def by_origin(claims: Sequence[Claim]) -> list[tuple[Origin, list[Claim]]]:
    """Divide claims by who makes them."""
    both: list[tuple[Origin, list[Claim]]] = [(origin, [c for c in claims if c.origin == origin]) for origin in ORIGINS]
    return [(origin, own) for origin, own in both if own]


def kind(one: Kind) -> str:
    """Say what one kind of network says of a claim."""
    why = f" ({REASONS[one.reason]})" if one.reason else ""
    outside = "" if one.counts else "; not counted in the verdict"
    return f"{one.network or 'All'}: {FOUND[one.found]}{why}{outside}{_parts(one)}"


def in_short(claim: Claim) -> str:
    """Say a verdict with its reason, and what each kind of network says, with its numbers where they are few."""
    why, found = f" {sentence(REASONS[claim.reason])}" if claim.reason else "", by_kind(claim)
    return f"{claim.verdict}: {sentence(claim.text)}{why}" + (f" {sentence('; '.join(found))}" if found else "")


def by_kind(claim: Claim) -> list[str]:
    """Say what each kind of network says of a claim, with its numbers where they are few."""
    return [kind(one if one.reason != claim.reason else one.with_(reason=None)) + _numbers(one) for one in claim.kinds]


def shared(claims: Sequence[Claim]) -> Reason | None:
    """Find the reason for which none of several claims can be told."""
    reasons = {one.reason for one in claims}
    return reasons.pop() if len(reasons) == 1 else None


def _numbers(one: Kind) -> str:
    """Write the numbers of a claim that stands on few."""
    if not 0 < len(one.parts) < MANY:
        return ""
    ends = (between(part.interval, part.metric) for part in one.parts)
    found = (written(part.mean, part.metric) + f" ({of})" * bool(of) for part, of in zip(one.parts, ends, strict=True))
    return f" [{', '.join(found)}]"


def _parts(one: Kind) -> str:
    """Count the answers of a claim that stands on several numbers."""
    if len(one.parts) < MANY:
        return ""
    found = {answer: sum(part.answer == answer for part in one.parts) for answer in FOUND}
    if len(one.parts) in found.values():
        return f" (all {len(one.parts)} numbers)"
    told = {
        "yes": agree(found["yes"], "says yes", "say yes"),
        "no": agree(found["no"], "says no", "say no"),
        "open": agree(found["open"], "is open", "are open"),
    }
    said = listed(f"{count} {told[answer]}" for answer, count in found.items() if count)
    return f" (of {len(one.parts)} numbers {said})"


def asked(part: Part) -> str:
    """Say what is asked of a number."""
    if part.yes == part.no:
        return f"{'below' if part.better == 'lower' else 'above'} {written(part.no, part.metric)}"
    return f"{written(part.no, part.metric)} or {'less' if part.better == 'lower' else 'more'}"


def written(value: float | None, form: Form) -> str:
    """Write a number."""
    if value is None:
        return MISSING
    match form:
        case "share" | "small share":
            return percent(value, SHARES[form])
        case "points":
            return f"{signed(100 * value, 1)} points"
        case "difference":
            return signed(value)
        case "seconds":
            return duration(value)
        case "bytes":
            return memory(value)
    return number(value)


def between(ends: Interval | None, form: Form) -> str:
    """Write an interval; nothing where there is none to tell."""
    if ends is None or ends[0] == ends[1] or form in {"seconds", "bytes"}:
        return ""
    if form == "points":
        return interval([100 * end for end in ends], partial(signed, digits=1))
    if form in SHARES:
        ends = max(0.0, ends[0]), min(1.0, ends[1])
    return interval(ends, lambda end: written(end, form))


def printed(one: Printed | None, form: Form) -> str:
    """Write a number of the paper's."""
    if one is None or one.std is None:
        return "" if one is None else written(one.value, form)
    return f"{written(one.value, form).removesuffix(' %')} ± {written(one.std, form)}"
