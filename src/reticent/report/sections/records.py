"""The records one by one: which columns the table has, what stands in a cell, what the filters offer."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from reticent.report.png import data_uri
from reticent.report.view import label, short
from reticent.report.wording import Plain, chance, count, number
from reticent.rounding import MISSING

ROWS = 2000
"""Most records that the page lists; the CSV file has all of them."""

GALLERY = 24
"""Most pictures that the page shows."""

CHOICES = 200
"""Most entries of a filter's list."""

FILTERED = 4
"""Most group columns that get a filter of their own."""


class Column(NamedTuple):
    """One column of the table."""

    key: str
    title: str
    form: str
    error: str | tuple[str, str] | None = None


COLUMNS = (
    Column("exposure", "Exposure", "2", "exposure_error"),
    Column("distance", "Distance", "2"),
    Column("distance_p_corrected", "p of the distance, corrected", "p"),
    Column("probability", "Chance of “member”", "3", ("probability_low", "probability_high")),
    Column("memorisation", "Memorisation", "3", "memorisation_error"),
    Column("memorisation_soft", "Memorisation, soft", "3", "memorisation_soft_error"),
    Column("margin_in", "Margin with it", "2"),
    Column("margin_out", "Margin without it", "2"),
    Column("models_in", "Models with it", "n"),
    Column("models_out", "Models without it", "n"),
)
"""The columns after record, class and groups; one that no listed record has a value for is left out."""

ALWAYS = frozenset({"exposure", "memorisation", "margin_in", "margin_out", "models_in", "models_out"})
"""Columns that every audit has, known or not."""

MEANINGS = (
    (
        "exposure",
        "Exposure",
        "How far apart models with the record and models without it put its margin, in standard deviations. "
        "0 is no trace.",
    ),
    (
        "distance",
        "Distance",
        "The same gap in standard errors: how sure it is that there is a trace at all. More models make it larger.",
    ),
    (
        "probability",
        "Chance of “member”",
        "How sure an attacker, who thinks both equally likely, becomes that the record was used; 0.5 is guessing. "
        "Below it, its interval.",
    ),
    (
        "memorisation",
        "Memorisation",
        "How much more often models label the record right if they were trained on it; ± its standard error.",
    ),
    (
        "memorisation_soft",
        "Memorisation, soft",
        "How much more probable models find the record's label if they were trained on it.",
    ),
    (
        "margin_in",
        "Margin with it, without it",
        "How strongly models that were trained on the record, and models that were not, prefer its label.",
    ),
)
"""Key, word and meaning of what the table shows."""


def parts(document: Mapping[str, Any], rows: Sequence[Plain], thumbnails: Mapping[int, NDArray[Any]]) -> dict[str, Any]:
    """Choose the records to list, the columns, the filters and the pictures to show."""
    listed = rows[:ROWS]
    columns = [c for c in COLUMNS if c.key in ALWAYS or any(row.get(c.key) is not None for row in listed)]
    groups = group_columns(document, rows[0] if rows else None)
    pictured = [row for row in listed if row["record"] in thumbnails][:GALLERY]
    return {
        "lines": [_line(row, columns, groups) for row in listed],
        "heads": ["Record", "Class", *(title for _, title in groups), *(c.title for c in columns)],
        "texts": 2 + len(groups),
        "sorted": 2 + len(groups),
        "total": len(rows),
        "sentence": (document.get("exposure") or {}).get("sentence"),
        "filters": _filters(listed, groups),
        "meanings": _meanings({column.key for column in columns}),
        "pictures": [
            {"record": row["record"], "label": label(row), "exposure": row.get("exposure")}
            | {"picture": data_uri(thumbnails[row["record"]])}
            for row in pictured
        ],
    }


def group_columns(document: Mapping[str, Any], row: Plain | None) -> list[tuple[str, str]]:
    """List the columns of the records that hold groups."""
    found = []
    for entry in document.get("groups") or ():
        by = str(entry["by"])
        key = next((key for key in (f"group_{by}", by) if row is not None and key in row), None)
        if by != "class" and key is not None:
            found.append((key, short(by, 40)))
    return found


def _meanings(shown: set[str]) -> list[tuple[str, str]]:
    """Explain the columns; documents from before the soft one call the soft one memorisation."""
    soft = next(said for key, _, said in MEANINGS if key == "memorisation_soft")
    old = "memorisation_soft" not in shown
    return [(word, soft if old and key == "memorisation" else said) for key, word, said in MEANINGS if key in shown]


def _line(row: Plain, columns: Sequence[Column], groups: Sequence[tuple[str, str]]) -> dict[str, Any]:
    texts = [_text(label(row)), *(_text(row.get(key)) for key, _ in groups)]
    return {"record": row["record"], "texts": texts, "cells": [_cell(row, column) for column in columns]}


def _text(value: Any) -> str:
    """Write a class or a group so that a cell and a filter's entry are the same text."""
    return MISSING if value is None else short(value, 40) or "(empty)"


def _cell(row: Plain, column: Column) -> tuple[str, str]:
    """Write a value and, where there is one, its error or interval."""
    value = row.get(column.key)
    if value is None:
        return MISSING, ""
    if column.form == "n":
        return count(value), ""
    if column.form == "p":
        return chance(value), ""
    digits = int(column.form)
    if isinstance(column.error, tuple):
        low, high = (row.get(key) for key in column.error)
        return number(value, digits), "" if low is None or high is None else f"{number(low, 2)} to {number(high, 2)}"
    error = row.get(column.error) if column.error else None
    return number(value, digits), "" if error is None else f"±\N{NO-BREAK SPACE}{number(error, digits)}"


def _filters(rows: Sequence[Plain], groups: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Offer a list for the class and for each group column that has few enough values."""
    asked = [(1, "Class", [_text(label(row)) for row in rows])]
    asked += [(2 + i, title, [_text(row.get(key)) for row in rows]) for i, (key, title) in enumerate(groups[:FILTERED])]
    made = []
    for column, title, values in asked:
        options = sorted(set(values), key=_natural)
        if 1 < len(options) <= CHOICES:
            made.append({"column": column, "title": title, "options": options})
    return made


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """Order ``class 2`` before ``class 10``."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"([0-9]+)", text)]
