"""One column of a table as features: what it is read as, by its own values alone, and what stands against it."""

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import notation
from reticent.data.columns import FEW, IDENTIFIER, MOST_CATEGORIES, NEARLY, plain_numbers, stray
from reticent.data.reading import Reading
from reticent.data.separated import Source
from reticent.options import DataOptions, flag

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


@dataclass(frozen=True, eq=False)
class Feature:
    """What became of a column.

    Attributes:
        reading: how it was read.
        x: its features ``(N, k)``; None where it makes none.
        problem: why it cannot be a feature as it is; empty if it can.
        remedy: a flag that mends it.
    """

    reading: Reading
    x: NDArray[np.float32] | None
    problem: str = ""
    remedy: str = ""


def feature(source: Source, name: str, column: NDArray[Any], asked: DataOptions) -> Feature:
    """Make features of a column.

    Numbers stay, in whatever notation; dates and times become numbers; texts become a feature for each text.
    """
    if name in asked.rare or name in asked.hash:
        return _category(source, name, as_texts(column), asked)
    kind = column.dtype.kind
    if kind in "biuf":
        return _number(source, name, column.astype(np.float64, copy=False), Reading(name, "number", None, 0, 1), asked)
    if kind in "Mm":
        days = np.where(np.isnat(column), np.nan, column.astype(f"{kind}8[us]").astype(np.int64) / DAY)
        what, note = ("date", "days since 1970-01-01") if kind == "M" else ("time of day", "fractions of a day")
        return _number(source, name, days, Reading(name, what, None, 0, 1, f"read as {note}"), asked)
    if kind != "U":
        return _refused(Reading(name, "refused", None, 0, 0), f"holds {_held(column)}: expected numbers or texts")
    plain = numbers(column)
    if plain is not None:
        return _number(source, name, plain, Reading(name, "number", None, 0, 1), asked)
    return _texts(source, name, column, asked)


def numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Read texts as plain numbers, gaps as NaN."""
    values = plain_numbers(column)
    if values is None:
        return None
    known = ~np.isnan(values)
    whole = (values[known] == np.rint(values[known])).all()
    padded = whole and np.char.startswith(np.char.lstrip(column, "+-"), "0").any()
    return None if padded and notation.are_codes(np.unique(column[known]).tolist()) else values


def _texts(source: Source, name: str, column: NDArray[Any], asked: DataOptions) -> Feature:
    """Read texts that are no plain numbers: in another notation, as dates, or as categories."""
    texts, codes = np.unique(column, return_inverse=True)
    known = [text for text in texts.tolist() if not notation.is_gap(text)]
    found = None if notation.are_codes(known) else notation.read(known)
    if found is None:
        return _category(source, name, column, asked)
    reading = Reading(name, found.kind, len(known), 0, 1, found.note, found.unsure)
    if found.values is None:
        return _refused(reading, found.note)
    place_of = {text: i for i, text in enumerate(known)}
    of_text = np.array([found.values[place_of[text]] if text in place_of else np.nan for text in texts.tolist()])
    return _number(source, name, of_text[codes], reading, asked)


def _number(source: Source, name: str, values: NDArray[np.float64], reading: Reading, asked: DataOptions) -> Feature:
    """Take numbers, fill their gaps if that is asked for, and bring them to one scale if that is."""
    gaps = np.isnan(values)
    known = values[~gaps]
    distinct = np.unique(known)
    reading = replace(reading, values=len(distinct), missing=int(gaps.sum()))
    why = _index(name, distinct, len(values))
    if why:
        return _refused(reading, why)
    endless = np.flatnonzero(np.isinf(values))
    if len(endless):
        return _refused(
            reading, f"is infinite in {len(endless)} of {len(values)} records, the first is {source.place(endless[0])}"
        )
    if gaps.any() and (asked.missing == "refuse" or not len(known)):
        first = source.place(int(gaps.argmax()))
        problem = f"is empty or NaN in {gaps.sum()} of {len(gaps)} records, the first is {first}"
        return _refused(reading, problem, "--missing indicator" if len(known) else flag("not-feature", name))
    most = LARGEST if asked.scale == "none" else LARGEST_SCALED
    if np.abs(known).max() > most:
        return _refused(reading, f"reaches {np.abs(known).max():.3g}, expected at most {most:.3g}")
    notes, telling = [reading.note] if reading.note else [], reading.telling
    doubt = _numbered(name, distinct, len(known)) or _nameless(name, distinct)
    if doubt:
        notes, telling = [doubt, *notes], True
    if len(distinct) == 1:
        notes.append("the same in every record")
    x = values[:, None]
    if gaps.any():
        middle = float(np.median(known))
        x = np.where(gaps, middle, values)[:, None]
        notes.append(f"gaps are filled by the median {middle:.6g}, and a feature says where")
    if asked.scale == "standard":
        mean, std = x.mean(), x.std()
        x = (x - mean) / (std or 1.0)
        notes.append(f"less its mean {mean:.6g}, over its standard deviation {std:.6g}")
    if gaps.any():
        x = np.concatenate([x, gaps[:, None]], axis=1)
    reading = replace(reading, features=x.shape[1], note="; ".join(notes), telling=telling)
    return Feature(reading, x.astype(np.float32))


def _index(name: str, distinct: NDArray[np.float64], records: int) -> str:
    """Tell the index that a table was written with."""
    if UNNAMED.fullmatch(name) and len(distinct) == records > 1 and (distinct == np.rint(distinct)).all():
        return "has no name and a number of its own for every record: it is the index that the table was written with"
    return ""


def _nameless(name: str, distinct: NDArray[np.float64]) -> str:
    """Tell what may be such an index with numbers that repeat, as of tables that were put together."""
    if UNNAMED.fullmatch(name) is None or (distinct != np.rint(distinct)).any():
        return ""
    leave_out = f"{flag('not-feature', name)} leaves it out"
    return f"has no name and holds whole numbers, as an index does that the table was written with: {leave_out}"


def _numbered(name: str, distinct: NDArray[np.float64], known: int) -> str:
    """Tell numbers that seem to number records."""
    if known < FEW or len(distinct) <= NEARLY * known or (distinct != np.rint(distinct)).any():
        return ""
    own = len(distinct) == known
    telling = NAMES.fullmatch(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)) is not None
    if not own and not telling:
        return ""
    how = "has a telling name" if telling else "differs in every record"
    if own and distinct[-1] - distinct[0] == known - 1:
        how = f"counts from {distinct[0]:.0f} to {distinct[-1]:.0f}"
    leave_out = f"{flag('not-feature', name)} leaves it out"
    return f"seems to number the records ({how}), by which a model knows them one by one: {leave_out}"


def _category(source: Source, name: str, column: NDArray[Any], asked: DataOptions) -> Feature:
    """Make a feature of each text, or of fewer if that is asked for."""
    texts, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    gaps = np.array([notation.is_gap(text) for text in texts.tolist()])
    missing = int(counts[gaps].sum())
    notes = (["gaps are a category of their own"] if missing else []) + (
        ["the same in every record"] * (len(texts) == 1)
    )
    reading = Reading(name, "category", int(np.count_nonzero(~gaps)), missing, len(texts), "; ".join(notes))
    if name in asked.hash:
        return _hashed(reading, texts, codes, asked.hash[name])
    if name in asked.rare:
        return _joined(reading, codes, counts, asked.rare[name])
    odd = stray(source, texts, codes) or _semi(texts, counts, gaps)
    known = len(column) - missing
    own = known >= FEW and (reading.values or 0) > IDENTIFIER * known
    if own or len(texts) > MOST_CATEGORIES:
        return _too_many(reading, counts, odd, own=own, known=known)
    return Feature(_doubted(reading, texts, gaps, odd, known), _one_hot(codes, len(texts)))


def _too_many(reading: Reading, counts: NDArray[np.int64], odd: str, *, own: bool, known: int) -> Feature:
    """Say what may be done about a column of too many texts."""
    leave_out = flag("not-feature", reading.column)
    if own and not odd:
        what = "every record" if reading.values == known else f"nearly every record ({reading.values} for {known})"
        return _refused(
            reading, f"has a text of its own for {what}: it names records and does not describe them", leave_out
        )
    problem = f"has {len(counts)} different texts, at most {MOST_CATEGORIES} make categories"
    problem = f"has {len(counts)} different texts in {known} records" if len(counts) <= MOST_CATEGORIES else problem
    if odd:
        return _refused(reading, f"{problem}, and {odd}: write all of them as numbers", leave_out)
    common = counts[counts >= RARE]
    if len(common) < MOST_CATEGORIES and 2 * common.sum() > counts.sum():
        return _refused(reading, problem, flag("rare", reading.column, RARE))
    return _refused(reading, problem, flag("hash", reading.column, BUCKETS))


def _doubted(reading: Reading, texts: NDArray[Any], gaps: NDArray[np.bool_], odd: str, known: int) -> Reading:
    """Note what speaks against categories, or for them."""
    values, leave_out = reading.values or 0, f"{flag('not-feature', reading.column)} leaves it out"
    note = ""
    if odd:
        note = f"read as texts, each a feature, since {odd}: if it is meant as numbers, mend it; {leave_out}"
    elif known >= FEW and EACH * values > known:
        how = "most of them one by one" if values > NEARLY * known else "them a few at a time"
        note = (
            f"{values} texts for {known} records, by which a model knows {how}: {leave_out}, "
            f"{flag('rare', reading.column, RARE)} joins the rare ones"
        )
    elif notation.are_codes(texts[~gaps].tolist()):
        return replace(reading, note="; ".join(filter(None, ["codes, since some begin with a zero", reading.note])))
    return replace(reading, note="; ".join(filter(None, [note, reading.note])), telling=bool(note))


def _hashed(reading: Reading, texts: NDArray[Any], codes: NDArray[np.int64], buckets: int) -> Feature:
    """Put texts into features by their hash, which no other text moves."""
    sums = (hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts.tolist())
    bucket = np.array([int.from_bytes(one, "little") % buckets for one in sums])
    note = "; ".join(filter(None, [f"{len(texts)} texts share {buckets} features", reading.note]))
    reading = replace(reading, kind="category, hashed", features=buckets, note=note)
    return Feature(reading, _one_hot(bucket[codes], buckets))


def _joined(reading: Reading, codes: NDArray[np.int64], counts: NDArray[np.int64], least: int) -> Feature:
    """Make one category of all texts that few records have; it comes last."""
    rare = counts < least
    place_of = np.where(rare, np.count_nonzero(~rare), np.cumsum(~rare) - 1)
    features = int(place_of.max()) + 1
    note = f"{np.count_nonzero(rare)} texts of fewer than {least} records are one category"
    reading = replace(
        reading, kind="category, rare joined", features=features, note="; ".join(filter(None, [note, reading.note]))
    )
    if features > MOST_CATEGORIES:
        return _refused(
            reading,
            f"has {features} different texts of {least} records or more, at most {MOST_CATEGORIES} make categories: "
            "ask for more records each, or leave it out of --rare",
            flag("hash", reading.column, BUCKETS),
        )
    return Feature(reading, _one_hot(place_of[codes], features))


def _one_hot(codes: NDArray[np.int64], width: int) -> NDArray[np.float32]:
    return np.eye(width, dtype=np.float32)[codes]


def _semi(texts: NDArray[Any], counts: NDArray[np.int64], gaps: NDArray[np.bool_]) -> str:
    """Say that most values are numbers, some beside something else; of very many texts, a part is looked at."""
    looked = np.flatnonzero(~gaps)[:MOST_CATEGORIES]
    semi = [i for i in looked.tolist() if notation.is_semi(str(texts[i]))]
    plain = [i for i in looked.tolist() if notation.is_number(str(texts[i]))]
    if not semi or 2 * counts[semi + plain].sum() <= counts[looked].sum():
        return ""
    first = str(texts[semi[int(np.argmax(counts[semi]))]])[:40]
    return f"most of its values are numbers or dates, such as {first!r}, but not all can be read as such"


def as_texts(column: NDArray[Any]) -> NDArray[Any]:
    """Write values as texts; one number in one way, 1.0 as 1."""
    values = numbers(column) if column.dtype.kind == "U" else column
    if values is None or values.dtype.kind not in "biuf":
        return column.astype(np.str_)
    if values.dtype.kind != "f":
        return values.astype(np.int64).astype(np.str_)
    return np.array(["" if np.isnan(v) else str(int(v)) if v.is_integer() else repr(v) for v in values.tolist()])


def _held(column: NDArray[Any]) -> str:
    """Name the kind of an array's values."""
    found = next((value for value in column.tolist() if value is not None), None) if column.dtype.kind == "O" else None
    return str(column.dtype) if found is None else type(found).__name__


def _refused(reading: Reading, problem: str, remedy: str = "") -> Feature:
    refused = replace(reading, kind="refused", features=0, note=problem, telling=False)
    return Feature(refused, None, problem, remedy or flag("not-feature", reading.column))
