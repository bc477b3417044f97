"""Texts of csv and tsv files: their lines and rows, and where a record stands in them."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from reticent import opening
from reticent.data.forms import form, is_table

if TYPE_CHECKING:
    from _csv import Reader

LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""A line with its end, which all systems write in another way; no other character ends one."""


def mark(path: Path) -> str:
    """Say what separates the cells of a file."""
    return "\t" if "tsv" in form(path) else ","


def lines(content: str) -> Iterator[str]:
    """Divide a text, without a copy of the whole."""
    for found in LINE.finditer(content):
        yield found.group()


def rows(path: Path, content: str) -> "Reader":
    """Read the cells of a text; quoted ones may go over several lines."""
    return csv.reader(lines(content), delimiter=mark(path))


@dataclass(frozen=True)
class Source:
    """A table as messages call it.

    Attributes:
        path: the file, or a name for what is none.
    """

    path: Path | str

    def __str__(self) -> str:
        return str(self.path)

    def place(self, record: int) -> str:
        """Say where a record stands."""
        return f"line {self._lines[record]}" if self._lines else f"record {record}"

    @cached_property
    def _lines(self) -> Sequence[int]:
        """The line of each record, of which a file is read again, once; none where there are no lines."""
        if not isinstance(self.path, Path) or not is_table(self.path) or form(self.path) == ".parquet":
            return ()
        reader = rows(self.path, opening.text(self.path))
        return [reader.line_num for row in reader if row][1:]
