"""Texts as numbers: plain ones, percentages, thousands and decimal commas, prices, dates and times of day.

One notation must fit all texts of a column, so that nothing is read in two ways. Where two notations fit and say
different things, none is chosen.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reticent.data.records import NumberKind

Found = TypeVar("Found")

GAPS = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "<na>", "null", "none", "?", "-", "."})
"""Texts that say, among numbers and dates, that a value is not known; in small letters."""

ISO = "write them as 2020-12-31 or 2020-12-31T23:59:00Z"
"""What to do about dates that can be read in several ways."""
EPOCH = date(1970, 1, 1).toordinal()

AFFIXED = re.compile(r"([+\-−]?)\s*([$€£¥]?)\s*([\d.,][\d.,'’_ \u00a0\u202f]*?)\s*([%$€£¥]?)")
PLAIN = re.compile(r"\d+\.?\d*|\.\d+")
GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d+)?")
SPACED = re.compile(r"\d{1,3}(?:['’_ \u00a0\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d+)?")
COMMA = re.compile(r"(?:\d+|\d{1,3}(?:[.'’_ \u00a0\u202f]\d{3})+)(?:,\d+)?")
TELLING = re.compile(r"^0,|,(?!\d{3}$)|[.'’_ \u00a0\u202f]")
"""What tells a decimal comma from one of thousands."""
NOT_DIGITS = re.compile(r"[^\d.]")
CODE = re.compile(r"[+-]?0\d+")
WHOLE = re.compile(r"[+-]?\d+")
MIXED = re.compile(
    r"[<>≤≥~≈±]=?\s*[\d.,]+.*|[+-]?[\d.,]*\d\s*[a-zA-Zµ°%$€£¥][a-zA-Zµ°%$€£¥/²³]*|\d+\s*/\s*\d+|[$€£¥]\s*\d.*"
)
"""A bound, a number with its unit, a fraction or a price."""

SHORT_YEAR = re.compile(r"(?:[0-3]?\d([-/.])[01]?\d\1|[01]?\d([-/.])[0-3]?\d\2)\d{2}")
CLOCK = re.compile(r"(\d{1,2}):([0-5]\d)(?::([0-5]\d(?:[.,]\d+)?))?(?:\s?([AaPp])\.?[Mm]\.?)?")
ZONE = re.compile(r"(?:Z|UTC|GMT)|([+-])(\d{2}):?(\d{2})?")
SPLIT = re.compile(
    r"(?P<date>.*?\d)(?:(?:[Tt]|\s+)(?P<clock>\d{1,2}:\S*?(?:\s?[AaPp]\.?[Mm]\.?)?)"
    r"\s?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?)?"
)
MONTHS = "january february march april may june july august september october november december"
ORDERS = {
    "year, month, day": re.compile(r"(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})"),
    "day.month.year": re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})"),
    "day/month/year": re.compile(r"(?P<day>\d{1,2})([/-])(?P<month>\d{1,2})\2(?P<year>\d{4})"),
    "month/day/year": re.compile(r"(?P<month>\d{1,2})([/-])(?P<day>\d{1,2})\2(?P<year>\d{4})"),
    "day month year": re.compile(r"(?P<day>\d{1,2})[ -](?P<name>[A-Za-z]{3,9})\.?[ -](?P<year>\d{4})"),
    "month day, year": re.compile(r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})"),
}
"""How dates are written; the third and the fourth can be taken for each other."""


LONG = 2.0**53
"""From here on float64 does not tell whole numbers apart: such a column holds codes, such as numbers of persons."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """How texts are read as numbers.

    Attributes:
        values: one a text; None where the texts can be read in several ways.
        note: says by an example how they are read, or why they cannot be told.
        unsure: another way of reading them is not excluded.
    """

    kind: NumberKind
    values: NDArray[np.float64] | None
    note: str = ""
    unsure: bool = False


def is_gap(text: str) -> bool:
    """Tell whether a text says, among numbers, that there is none."""
    return text.lower() in GAPS


def is_number(text: str) -> bool:
    """Tell whether a text is read as a number as it stands."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_mixed(text: str) -> bool:
    """Tell whether a text holds a number beside something else.

    A bound, a unit, a fraction, a price, a date, a time.
    """
    if MIXED.fullmatch(text) is not None or SHORT_YEAR.fullmatch(text) is not None:
        return True
    found = None if is_number(text) else read([text])
    return found is not None


def are_codes(texts: Sequence[str]) -> bool:
    """Tell whether whole numbers are codes: one begins with a zero (01 and 1 may be two things), or is `LONG`."""
    return all(map(WHOLE.fullmatch, texts)) and any(CODE.fullmatch(text) or abs(float(text)) >= LONG for text in texts)


def _all(found: Iterable[Found | None]) -> list[Found] | None:
    """Take what was found, unless something was not."""
    known = []
    for one in found:
        if one is None:
            return None
        known.append(one)
    return known


def read(texts: Sequence[str]) -> Numbers | None:
    """Read texts as numbers, in the one notation that fits them all."""
    if not texts:
        return None
    if all(map(is_number, texts)):
        return Numbers("number", np.array([float(text) for text in texts]))
    return _affixed(texts) or _times(texts) or _dates(texts)


def _affixed(texts: Sequence[str]) -> Numbers | None:
    """Read numbers with separators, all with one sign of percent or of a currency, or none with any."""
    known = _all(map(AFFIXED.fullmatch, texts))
    if known is None or len({(part[2], part[4]) for part in known}) > 1 or (known[0][2] and known[0][4]):
        return None
    bodies = [part[3] for part in known]
    grouped, doubtful = all(map(GROUPED.fullmatch, bodies)), _doubtful(bodies)
    if doubtful and not grouped and all(map(COMMA.fullmatch, bodies)):
        why = f"holds numbers such as {doubtful}, whose comma may stand for thousands or for decimals"
        return Numbers("number in another notation", None, f"{why}: write a point, or nothing")
    found = _separated(bodies)
    if found is None:
        return None
    values = np.array([-value if part[1] in {"-", "−"} else value for part, value in zip(known, found, strict=True)])
    percent = known[0][4] == "%"
    values = values / 100 if percent else values
    telling = max(range(len(texts)), key=lambda i: (len(NOT_DIGITS.findall(texts[i])), len(texts[i])))
    note = f"{texts[telling]} is read as {values[telling]:.12g}"
    note += ": if the comma is a decimal one, write a point" if doubtful else ""
    return Numbers("percentage" if percent else "number in another notation", values, note, bool(doubtful))


def _doubtful(bodies: Sequence[str]) -> str:
    """Find a comma that may stand for thousands or for decimals, where no other number tells which."""
    return "" if any(map(TELLING.search, bodies)) else next((body for body in bodies if "," in body), "")


def _separated(bodies: Sequence[str]) -> list[float] | None:
    """Read digits with separators: in groups with commas, where 0,123 is none, with spaces, or with a decimal comma."""
    if all(map(PLAIN.fullmatch, bodies)):
        return [float(body) for body in bodies]
    for form, decimal in ((GROUPED, "."), (SPACED, "."), (COMMA, ",")):
        if form is GROUPED and any(body.startswith("0,") for body in bodies):
            continue
        if all(map(form.fullmatch, bodies)):
            kept = [re.sub(rf"[^\d{decimal}]", "", body) for body in bodies]
            return [float(body.replace(",", ".")) for body in kept]
    return None


def _times(texts: Sequence[str]) -> Numbers | None:
    days = _all(map(_day_part, texts))
    if days is None:
        return None
    values = np.array(days, dtype=np.float64)
    return Numbers("time of day", values, f"{texts[0]} is read as {values[0]:.6g} of a day")


def _day_part(text: str) -> float | None:
    """Read a time of day as a part of the day; None if it is none."""
    found = CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, half = int(found[1]), (found[4] or "").lower()
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    second = float((found[3] or "0").replace(",", "."))
    return (hour * 3600 + int(found[2]) * 60 + second) / 86400


def _dates(texts: Sequence[str]) -> Numbers | None:
    known = _all(map(SPLIT.fullmatch, texts))
    if known is None:
        return None
    if all(SHORT_YEAR.fullmatch(part["date"]) for part in known):
        return Numbers("date", None, f"holds dates with years of two digits, such as {texts[0]}: {ISO}")
    rest = _all(_clock(part["clock"], part["zone"]) for part in known)
    found = {order: _all(_day(form, part["date"]) for part in known) for order, form in ORDERS.items()}
    fit = {order: days for order, days in found.items() if days is not None}
    if not fit or rest is None:
        return None
    zoned = {part["zone"] is not None for part in known if part["clock"] is not None}
    if len(zoned) > 1:
        return Numbers("date", None, f"holds times of which some have a time zone, and others none: {ISO}")
    if len(fit) > 1 and len({tuple(days) for days in fit.values()}) > 1:
        return Numbers(
            "date", None, f"holds dates that may begin with the day or with the month, such as {texts[0]}: {ISO}"
        )
    order, days = next(iter(fit.items()))
    values = np.array(days, dtype=np.float64) + np.array(rest, dtype=np.float64)
    note = f"{texts[0]} is read as {values[0]:.10g} days since 1970-01-01"
    note += f" ({order})" if order in {"day/month/year", "month/day/year"} else ""
    return Numbers("date", values, note + (", in UTC" if True in zoned else ""))


def _clock(clock: str | None, zone: str | None) -> float | None:
    """Read the time behind a date, in UTC if there is a zone; None if it is none."""
    part = 0.0 if clock is None else _day_part(clock)
    shift = None if zone is None else ZONE.fullmatch(zone)
    if part is None or shift is None or shift[1] is None:
        return part
    minutes = int(shift[2]) * 60 + int(shift[3] or 0)
    return part - (minutes if shift[1] == "+" else -minutes) / 1440


def _day(form: re.Pattern[str], text: str) -> int | None:
    """Read a date of one form as days since 1970; None if it is of another form, or there is no such day."""
    found = form.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    name = parts.get("name", "").lower()
    months = [i for i, month in enumerate(MONTHS.split(), 1) if month.startswith(name)] if name else [parts["month"]]
    try:
        return date(int(parts["year"]), int(months[0]), int(parts["day"])).toordinal() - EPOCH
    except (ValueError, IndexError):
        return None
