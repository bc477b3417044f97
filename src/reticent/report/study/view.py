"""Questions to a study's document that every form of its report asks, and its numbers as people read them."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.wording import (
    PERCENT,
    Plain,
    duration,
    limits,
    middle,
    number,
    percent,
    signed,
    size,
    span,
)
from reticent.rounding import MISSING

KINDS = {"reproduced": "yes", "holds": "yes", "not reproduced": "no", "does not hold": "no", "can't tell": "open"}
"""Verdict -> class on the page."""
MARKS = {"yes": "✓", "no": "✗", "open": "?"}
"""Class -> sign."""
FOUND = {"yes": "as the claim says", "no": "not as the claim says", "open": "open"}
"""What one kind of network says of a claim -> words."""
REASONS = {
    "condition": "the claim takes for granted that the defense alone lowers the leak, which is not shown",
    "unmatched": "no control is as accurate",
    "unmeasured": "this scale does not measure it",
    "interval": "an interval is too wide",
    "network": "no network of the kind that the claim is about was run",
    "setting": "what was run is neither the paper's setting nor a fair stand-in for it",
    "disagree": "the kinds of network that it is about do not agree",
}
"""Why nothing can be told -> words."""
ORIGINS = {"paper": "What the paper says", "ours": "What we ask beside it"}
"""Who makes a claim -> the title of such claims."""


def why(entry: Plain) -> str:
    """Say why a claim, a kind of network or a number leaves it open."""
    return REASONS[entry["reason"]] if entry.get("reason") else ""


def kind(entry: Plain) -> str:
    """Say what one kind of network says of a claim."""
    reason = f" ({why(entry)})" if entry["reason"] else ""
    part = "" if entry["counts"] else "; has no part in the verdict"
    return f"{entry['network'] or 'All'}: {FOUND[entry['found']]}{reason}{part}"


def by_origin(claims: Sequence[Plain]) -> list[tuple[str, list[Plain]]]:
    """Divide claims by who makes them."""
    both = [(title, [one for one in claims if one["origin"] == origin]) for origin, title in ORIGINS.items()]
    return [(title, own) for title, own in both if own]


SHARES = {"share": 1, "small share": 2}
"""Of fractions that are told in percent: how -> decimals."""


def form(value: float | None, how: str) -> str:
    """Write a number."""
    if value is None:
        return MISSING
    if how in SHARES:
        return percent(value, SHARES[how])
    if how == "points":
        return f"{signed(100 * value, 1)} points"
    if how == "difference":
        return signed(value)
    if how == "seconds":
        return duration(value)
    return size(value) if how == "bytes" else number(value)


def between(interval: Sequence[float] | None, how: str) -> str:
    """Write an interval."""
    if interval is None or how in {"seconds", "bytes"}:
        return ""
    low, high = interval
    if low == high:
        return ""
    if how in SHARES:
        return span((max(0.0, low), min(1.0, high)), True, digits=SHARES[how])
    if how == "points":
        return f"{signed(100 * low, 1)} to {signed(100 * high, 1)}"
    return f"{signed(low)} to {signed(high)}" if how == "difference" else span((low, high), digits=3)


def told(estimate: Plain | None, how: str) -> str:
    """Write a number with its interval behind it."""
    text, bracket = form(middle(estimate), how), between(limits(estimate), how)
    return f"{text} ({bracket})" if bracket else text


def printed(entry: Plain | None, how: str) -> str:
    """Write a paper's number."""
    if entry is None:
        return ""
    spread = entry.get("std")
    text = form(entry["value"], how)
    if spread is None:
        return text
    if how in SHARES:
        return f"{text.removesuffix(PERCENT)} ± {form(spread, how)}"
    return f"{text} ± {form(spread, how)}"


def used(table: Plain) -> list[Plain]:
    """List the columns that have a number in any row, of ours or of the paper's."""
    rows: Sequence[Plain] = table["rows"]
    return [
        column
        for column in table["columns"]
        if any(
            row["values"].get(column["key"]) is not None or (row.get("paper") or {}).get(column["key"]) is not None
            for row in rows
        )
    ]


def rule(part: Plain) -> str:
    """Say what a part of a claim asks of its number."""
    under, over, more = ("below", "above", "less") if part["better"] == "lower" else ("above", "below", "more")
    how = part["metric"]
    least = "" if part["yes"] == part["no"] else f" and itself {form(part['no'], how)} or {more}"
    return f"yes if wholly {under} {form(part['yes'], how)}{least}, no if wholly {over} {form(part['no'], how)}"


def remarks(table: Plain) -> list[str]:
    """Gather what a reader must know of the paper's entries."""
    heads: Mapping[str, Any] = {column["key"]: column["label"] for column in table["columns"]}
    return [f"{one['row']}, {heads.get(one['column'], one['column'])}: {one['text']}" for one in table["remarks"]]
