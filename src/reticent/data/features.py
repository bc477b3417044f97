"""One column of a table as features: what it is read as, by its own values alone, and what stands against it."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.data import number_formats
from reticent.data.delimited import Source
from reticent.data.number_formats import GAPS, is_gap, is_number
from reticent.data.records import lost_in_32_bits
from reticent.findings.population import ColumnReading
from reticent.options import DataOptions, flag

MOST_CATEGORIES = 500
"""A column of more different texts is taken for names or prose, not for a category."""
FEW = 20
"""In a table of fewer records, that each has a value of its own says nothing."""
IDENTIFIER = 0.95
"""With more different texts or classes a record than this, a column names records and does not describe them."""
NEARLY = 0.5
"""With more different texts or numbers a record than this, it nearly does."""
EACH = 5
"""With fewer records a text than this on average, a column of texts may name what records have in common."""
RARE, BUCKETS = 10, 64
"""What is proposed for columns of too many texts."""
NAMES = re.compile(
    r"(?:.*[\W_])?(?:ids?|idx|index|no|nr|nbr|num|number|key|uuid|guid|row|rowid|record|serial|ssn|mrn|pk)",
    re.IGNORECASE,
)
"""Names of columns that number records; patientID is read as patient_ID."""
UNNAMED = re.compile(r"|Unnamed: \d+|__index_level_\d+__")
"""What a table's index is called where it was written beside the columns."""
LARGEST, LARGEST_SCALED = float(np.finfo(np.float32).max), 1e150
"""What a feature may reach, and what it may reach before it is brought to one scale, where it is squared."""
DAY = 86_400_000_000
"""Microseconds."""
Remedy = Literal["not-feature", "rare", "hash", "missing"]
WAYS: dict[Remedy, str] = {
    "not-feature": "leaves a column out",
    "rare": "COLUMN=N joins texts of fewer than N records",
    "hash": "COLUMN=N puts texts into N features",
    "missing": "indicator fills gaps by the median and says where",
}
"""What the flags do that an error proposes."""


@dataclass(frozen=True, eq=False)
class Feature:
    """What became of a column: its features ``(N, k)``, or why it can be none, and the option that mends that."""

    reading: ColumnReading
    x: NDArray[np.float32] | None
    problem: str = ""
    remedy: Remedy = "not-feature"

    @property
    def flag(self) -> str:
        """The option as a flag that a shell takes."""
        if self.remedy == "missing":
            return "--missing indicator"
        return flag(self.remedy, self.reading.column, {"rare": RARE, "hash": BUCKETS}.get(self.remedy))


def feature(source: Source, name: str, column: NDArray[Any], asked: DataOptions) -> Feature:
    """Make features of a column.

    Numbers stay, in whatever notation; dates and times become numbers; texts become a feature for each text.
    """
    if name in asked.rare or name in asked.hash:
        return _category(source, name, as_texts(column), asked)
    kind = column.dtype.kind
    reading = ColumnReading(column=name, read_as="number", features=1)
    if kind in "biuf":
        return _number(source, column.astype(np.float64, copy=False), reading, asked)
    if kind in "Mm":
        days = np.where(np.isnat(column), np.nan, column.astype(f"{kind}8[us]").astype(np.int64) / DAY)
        note = "read as days since 1970-01-01" if kind == "M" else "read as fractions of a day"
        return _number(source, days, reading.with_(read_as="date" if kind == "M" else "time of day", note=note), asked)
    if kind != "U":
        held = next((type(value).__name__ for value in column.tolist() if value is not None), str(column.dtype))
        return _refused(reading, f"holds {held}: expected numbers or texts")
    values = _numbers(column)
    if values is not None:
        return _number(source, values, reading, asked)
    texts, codes = np.unique(column, return_inverse=True)
    known = [text for text in texts.tolist() if not is_gap(text)]
    found = None if number_formats.are_codes(known) else number_formats.read(known)
    if found is None:
        return _category(source, name, column, asked)
    reading = reading.with_(read_as=found.kind, values=len(known), note=found.note, telling=found.unsure)
    if found.values is None:
        return _refused(reading, found.note)
    value_of = dict(zip(known, found.values.tolist(), strict=True))
    return _number(source, np.array([value_of.get(text, np.nan) for text in texts.tolist()])[codes], reading, asked)


def plain_numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Read texts as plain numbers, gaps as NaN; None where some are none."""
    values = _floats(column, column == "")
    if values is None:  # Only then are other gaps looked for, which takes longer than all else.
        values = _floats(column, np.isin(np.char.lower(column), list(GAPS)))
    if values is None or np.isnan(values).all() or (np.char.find(column, "_") >= 0).any():  # Python takes 1_0 for 10.
        return None
    return values


def _floats(column: NDArray[Any], gaps: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    try:
        return np.where(gaps, "nan", column).astype(np.float64)
    except ValueError:
        return None


def _numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Read texts as plain numbers, unless they are codes."""
    values = plain_numbers(column)
    if values is None:
        return None
    known, long = ~np.isnan(values), (np.abs(values) >= number_formats.LONG).any()
    whole = (values[known] == np.rint(values[known])).all()
    padded = whole and np.char.startswith(np.char.lstrip(column, "+-"), "0").any()
    return None if (padded or long) and number_formats.are_codes(np.unique(column[known]).tolist()) else values


def as_texts(column: NDArray[Any]) -> NDArray[Any]:
    """Write values as texts; one number in one way, 1.0 as 1."""
    values = _numbers(column) if column.dtype.kind == "U" else column
    if values is None or values.dtype.kind not in "biuf":
        return column.astype(np.str_)
    if values.dtype.kind != "f":
        return values.astype(np.int64).astype(np.str_)
    return np.array(["" if np.isnan(v) else str(int(v)) if v.is_integer() else repr(v) for v in values.tolist()])


def stray(source: Source, texts: NDArray[Any], codes: NDArray[np.int64]) -> str:
    """Say how many values are no numbers, if most are."""
    numeric = np.array([is_number(cell) and bool(np.isfinite(float(cell))) for cell in texts])
    where = np.flatnonzero((~numeric & (texts != ""))[codes])
    if not len(where) or len(where) >= np.count_nonzero(numeric[codes]):
        return ""
    count = f"{len(where):,} of its {len(codes):,} values {'are no numbers' if len(where) > 1 else 'is no number'}"
    which = "the first is" if len(where) > 1 else "which is"
    return f"{count}, {which} {str(texts[codes[where[0]]])[:40]!r} in {source.place(int(where[0]))}"


def alike(texts: Sequence[str]) -> str:
    """Say which texts are one but for capitals and blanks; empty where none are."""
    told: dict[str, list[str]] = {}
    for text in texts:
        told.setdefault("".join(text.split()).casefold(), []).append(text)
    pairs = [f"{one[0]!r} and {one[1]!r}" for one in told.values() if len(one) > 1]
    more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
    return f"{pairs[0]} differ in capitals or blanks alone{more}" if pairs else ""


def _noted(reading: ColumnReading, *notes: str, **changes: Any) -> ColumnReading:
    """Put notes in front of what is said of a column already."""
    return reading.with_(note="; ".join(filter(None, [*notes, reading.note])), **changes)


def _refused(reading: ColumnReading, problem: str, remedy: Remedy = "not-feature") -> Feature:
    refused = reading.with_(read_as="refused", features=0, note=problem, telling=False)
    return Feature(refused, None, problem, remedy)


def _number(source: Source, values: NDArray[np.float64], reading: ColumnReading, asked: DataOptions) -> Feature:
    """Take numbers, fill their gaps if that is asked for, and bring them to one scale if that is."""
    gaps = np.isnan(values)
    known, count = values[~gaps], len(values)
    distinct = np.unique(known)
    reading = reading.with_(values=len(distinct), missing=int(gaps.sum()))
    doubt, sure = _row_numbers(reading, distinct, len(known), count)
    if sure:
        return _refused(reading, doubt)
    endless = np.flatnonzero(np.isinf(values))
    if len(endless):
        first = source.place(int(endless[0]))
        return _refused(reading, f"is infinite in {len(endless)} of {count} records, the first is {first}")
    if gaps.any() and (asked.missing == "refuse" or not len(known)):
        first = source.place(int(gaps.argmax()))
        problem = f"is empty or NaN in {reading.missing} of {count} records, the first is {first}"
        return _refused(reading, problem, "missing" if len(known) else "not-feature")
    most = LARGEST if asked.scale == "none" else LARGEST_SCALED
    if np.abs(known).max() > most:
        return _refused(reading, f"reaches {np.abs(known).max():.3g}, expected at most {most:.3g}")
    notes, x = [doubt, reading.note, "the same in every record" if len(distinct) == 1 else ""], values[:, None]
    if gaps.any():
        middle = float(np.median(known))
        x = np.where(gaps, middle, values)[:, None]
        notes.append(f"gaps are filled by the median {middle:.6g}, and a feature says where")
    if asked.scale == "standard":
        mean, std = x.mean(), x.std()
        x = (x - mean) / (std or 1.0)
        notes.append(f"less its mean {mean:.6g}, over its standard deviation {std:.6g}")
    lost = lost_in_32_bits(x[:, 0])
    notes.append(lost and f"{lost}: --scale standard keeps more")
    if gaps.any():
        x = np.concatenate([x, gaps[:, None]], axis=1)
    told = {"features": x.shape[1], "telling": reading.telling or bool(doubt or lost)}
    return Feature(_noted(reading.with_(note=""), *notes, **told), x.astype(np.float32))


def _row_numbers(reading: ColumnReading, distinct: NDArray[np.float64], known: int, records: int) -> tuple[str, bool]:
    """Tell numbers that seem to number the records, and whether they do for sure: a table's index."""
    name = reading.column
    if (distinct != np.rint(distinct)).any():
        return "", False
    own, unnamed = len(distinct) == known, UNNAMED.fullmatch(name) is not None
    if unnamed and len(distinct) == records > 1:
        told = "has no name and a number of its own for every record: it is the index that the table was written with"
        return told, True
    telling = NAMES.fullmatch(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)) is not None
    leave_out = f"{flag('not-feature', name)} leaves it out"
    if known >= FEW and len(distinct) > NEARLY * known:
        first, last = distinct[0], distinct[-1]
        counts = own and len(distinct) > NEARLY * (last - first + 1)
        how = f"counts from {first:.0f} to {last:.0f}" if counts else "has a telling name"
        if counts or telling:
            told = f"seems to number the records ({how}), by which a model knows them one by one: {leave_out}"
            return told, False
    told = f"has no name and holds whole numbers, as an index does that the table was written with: {leave_out}"
    return told if unnamed else "", False


def _category(source: Source, name: str, column: NDArray[Any], asked: DataOptions) -> Feature:
    """Make a feature of each text, or of fewer if that is asked for."""
    texts, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    gaps = np.array([is_gap(text) for text in texts.tolist()])
    missing, values, width = int(counts[gaps].sum()), int(np.count_nonzero(~gaps)), len(texts)
    gap_note = "gaps are a category of their own" if missing else ""
    reading = ColumnReading(column=name, read_as="category", values=values, missing=missing, features=width)
    reading = _noted(reading, gap_note, "the same in every record" if width == 1 else "")
    if name in asked.hash:
        buckets = asked.hash[name]
        sums = (hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts.tolist())
        bucket = np.array([int.from_bytes(one, "little") % buckets for one in sums])
        told = f"{width} texts share {buckets} features"
        return _one_hot(_noted(reading, told, read_as="category, hashed"), bucket[codes], buckets)
    if name in asked.rare:
        return _joined(reading, codes, counts, asked.rare[name])
    known = len(column) - missing
    odd = stray(source, texts, codes) or _mixed(texts, counts, gaps)
    own = known >= FEW and values > IDENTIFIER * known
    if own or width > MOST_CATEGORIES:
        return _too_many(reading, counts, odd, own=own, known=known)
    leave_out = f"{flag('not-feature', name)} leaves it out"
    note, telling = "", True
    if odd:
        note = f"read as texts, each a feature, since {odd}: if it is meant as numbers, mend it; {leave_out}"
    elif known >= FEW and EACH * values > known:
        how = "most of them one by one" if values > NEARLY * known else "them a few at a time"
        note = (
            f"{values} texts for {known} records, by which a model knows {how}: {leave_out}, "
            f"{flag('rare', name, RARE)} joins the rare ones"
        )
    elif same := alike(texts.tolist()):
        note = f"{same}, and are two categories: write them in one way if they are one"
    else:
        telling = False
        note = "codes, since some begin with a zero" if number_formats.are_codes(texts[~gaps].tolist()) else ""
    return _one_hot(_noted(reading, note, telling=telling), codes, width)


def _too_many(reading: ColumnReading, counts: NDArray[np.int64], odd: str, *, own: bool, known: int) -> Feature:
    """Say what may be done about a column of too many texts."""
    if own and not odd:
        what = "every record" if reading.values == known else f"nearly every record ({reading.values} for {known})"
        return _refused(reading, f"has a text of its own for {what}: it names records and does not describe them")
    few = len(counts) <= MOST_CATEGORIES
    beyond = f" in {known} records" if few else f", at most {MOST_CATEGORIES} make categories"
    problem = f"has {len(counts)} different texts{beyond}"
    if odd:
        return _refused(reading, f"{problem}, and {odd}: write all of them as numbers")
    common = counts[counts >= RARE]
    joined = len(common) < MOST_CATEGORIES and 2 * common.sum() > counts.sum()
    return _refused(reading, problem, "rare" if joined else "hash")


def _joined(reading: ColumnReading, codes: NDArray[np.int64], counts: NDArray[np.int64], least: int) -> Feature:
    """Make one category of all texts that few records have; it comes last."""
    rare = counts < least
    place_of = np.where(rare, np.count_nonzero(~rare), np.cumsum(~rare) - 1)
    width = int(place_of.max()) + 1
    told = f"{np.count_nonzero(rare)} texts of fewer than {least} records are one category"
    reading = _noted(reading, told, read_as="category, rare joined")
    if width > MOST_CATEGORIES:
        return _refused(
            reading,
            f"has {width} different texts of {least} records or more, at most {MOST_CATEGORIES} make categories: "
            "ask for more records each, or leave it out of --rare",
            "hash",
        )
    return _one_hot(reading, place_of[codes], width)


def _one_hot(reading: ColumnReading, codes: NDArray[np.int64], width: int) -> Feature:
    return Feature(reading.with_(features=width), np.eye(width, dtype=np.float32)[codes])


def _mixed(texts: NDArray[Any], counts: NDArray[np.int64], gaps: NDArray[np.bool_]) -> str:
    """Say that most values are numbers, some beside something else; of very many texts, a part is looked at."""
    looked = np.flatnonzero(~gaps)[:MOST_CATEGORIES]
    mixed = [i for i in looked.tolist() if number_formats.is_mixed(str(texts[i]))]
    plain = [i for i in looked.tolist() if is_number(str(texts[i]))]
    if not mixed or 2 * counts[mixed + plain].sum() <= counts[looked].sum():
        return ""
    first = str(texts[mixed[int(np.argmax(counts[mixed]))]])[:40]
    return f"most of its values are numbers or dates, such as {first!r}, but not all can be read as such"
