"""csv and tsv files with a header, packed by gzip or not: their columns, and where a record stands in them."""

import csv
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reticent import user_files
from reticent.data.number_formats import LONG, is_number
from reticent.errors import CorruptFileError

if TYPE_CHECKING:
    from _csv import Reader

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
CODE = re.compile(r'[,"\t\r\n ][+-]?0[0-9]')
"""How a code such as 01 begins, behind what may stand before a cell."""
ANEW = (
    'write the file anew, for example by python3 -c "import csv, sys; csv.writer(sys.stdout).writerows('
    "csv.reader(sys.stdin, delimiter='{}'))\" < FILE > NEW.csv"
)
SEPARATORS = {
    ";": f"semicolons, expected commas: {ANEW.format(';')}",
    "\t": "tabs, expected commas: call the file .tsv",
    "|": f"bars, expected commas: {ANEW.format('|')}",
    ",": "commas, expected tabs: call the file .csv",
}


@dataclass(frozen=True)
class Source:
    """A table as messages call it: its file, or a name for what is none."""

    path: Path | str

    def __str__(self) -> str:
        return str(self.path)

    def place(self, record: int) -> str:
        """Say where a record stands."""
        return f"line {self._lines[record]}" if self._lines else f"record {record}"

    @cached_property
    def _lines(self) -> Sequence[int]:
        """The line of each record, of which a file is read again, once; none where there are no lines."""
        if not isinstance(self.path, Path) or not self.path.name.lower().endswith(SUFFIXES):
            return ()
        reader = _rows(self.path, user_files.text(self.path))
        return [reader.line_num for row in reader if row][1:]


def read(path: Path) -> tuple[list[str], list[NDArray[Any]]]:
    """Read names and columns: numbers where all cells are numbers, else texts.

    Cost:
        About 10 million cells a second where all are numbers, a tenth of that elsewhere.
    """
    content = user_files.text(path, "a table as text", "save it as CSV, or give it the ending of what it is")
    try:
        cells = _rows(path, content)
        header = next(cells, [])
        if not header:
            raise CorruptFileError(f"{path}: expected a header line with the names of the columns, got an empty file")
        numbers = None if has_codes(content) else _numbers(path, content, len(header))
        columns = numbers or _texts(path, cells, header)
    except csv.Error as error:
        raise CorruptFileError(f"{path}: cannot be read as csv: {error}") from None
    if all(is_number(name) for name in header):
        raise CorruptFileError(f"{path}: expected a header line with the names of the columns, got numbers: add one")
    return [name.strip() for name in header], columns


def _separator(path: Path) -> str:
    return "\t" if path.name.lower().endswith((".tsv", ".tsv.gz")) else ","


def _rows(path: Path, content: str) -> "Reader":
    """Read the cells of a text; quoted ones may go over several lines."""
    return csv.reader(io.StringIO(content, newline=""), delimiter=_separator(path))


def has_codes(content: str) -> bool:
    """Tell whether a cell begins with a zero and another digit, which a number would lose."""
    return CODE.search(content) is not None


def _numbers(path: Path, content: str, width: int) -> list[NDArray[Any]] | None:
    """Read a file of nothing but numbers, fast; None if it is no such file, or if 64 bits do not hold all of them."""
    options: Any = {"delimiter": _separator(path), "skiprows": 1, "ndmin": 2, "comments": None, "quotechar": '"'}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no rows; said below
            cells = np.loadtxt(io.StringIO(content, newline=""), **options)
    except ValueError:
        return None
    if not cells.size or cells.shape[1] != width or (np.abs(cells) >= LONG).any():
        return None
    return list(cells.T)


def _texts(path: Path, cells: Iterable[list[str]], header: Sequence[str]) -> list[NDArray[Any]]:
    found = [row for row in cells if row]
    for number, row in enumerate(found):
        if len(row) != len(header):
            place = Source(path).place(number)
            raise CorruptFileError(
                f"{path}: {place} has {len(row)} field{'s' * (len(row) != 1)}, "
                f"the header has {len(header)}{header_hint(header)}"
            )
    if not found:
        raise CorruptFileError(f"{path}: expected a record a line below the header, got none")
    return [np.array([cell.strip() for cell in column], dtype=np.str_) for column in zip(*found, strict=True)]


def header_hint(header: Sequence[str]) -> str:
    """Hint at a header that is missing, or at another separator, where the whole header came as one column."""
    counted = [str(i) for i in range(len(header))]
    if 2 * sum(map(is_number, header)) > len(header) and list(header) != counted:
        return ". The first line seems to be data, not a header: add one with the names of the columns"
    found = next((told for mark, told in SEPARATORS.items() if len(header) == 1 and mark in header[0]), "")
    return found and f". The columns seem to be separated by {found}"
