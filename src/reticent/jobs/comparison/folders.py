"""The folders of a comparison's rows: which row writes where, and what an earlier comparison left there."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reticent.errors import InputError, about
from reticent.report.output import AUDIT, COMPARISON, EARLIER, Output, check_folder, set_aside


class RowFolders:
    """One folder a row, inside that of the comparison; no two rows share one, on any file system."""

    def __init__(self, out: Path, inputs: Iterable[Any], kind: str = "html") -> None:
        """Take the folder of a comparison."""
        self._inputs, self._taken, self._known = list(inputs), set[str](), list[Output]()
        self.output = Output.checked(out, COMPARISON, self._inputs, kind)
        self._earlier = COMPARISON.earlier(out / EARLIER)

    def take(self, name: str, kind: str) -> Output:
        """Take the folder of a row that is known before anything runs."""
        folder = next(folder for folder in self._free(name))
        with about(f"the row {name} is written to {folder}"):
            taken = Output.checked(folder, AUDIT, self._inputs, kind)
        self._taken.add(folder.name.lower())
        self._known.append(taken)
        return taken

    def begin(self) -> None:
        """Set aside the reports that are there, of the comparison and of all rows that were taken."""
        for output in (self.output, *self._known):
            output.begin()
        self._earlier = COMPARISON.earlier(self.output.folder / EARLIER)

    def late(self, name: str, kind: str) -> Output:
        """Take a folder where nothing is in the way, for a row that is known only when others have run, and begin."""
        folder = next(folder for folder in self._free(name) if self._open(folder, kind))
        self._taken.add(folder.name.lower())
        return Output.take(folder, AUDIT, self._inputs, kind)

    def replaced(self, name: str, output: Output) -> str | None:
        """Say that a row will replace an audit that is of no earlier comparison here."""
        aside = set_aside(output.folder, AUDIT)
        if self._earlier is not None or aside is None:
            return None
        return f"{output.folder} holds an earlier audit: it lies in {aside} until the row {name} replaces it"

    def left(self) -> list[str]:
        """Say which folders are of rows that only an earlier comparison had."""
        rows = (self._earlier or {}).get("rows")
        names = [row.get("name") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
        folders = dict.fromkeys(self.output.folder / _plain(name) for name in names if isinstance(name, str))
        return [
            f"{folder} is of an earlier comparison: no row of this one is there"
            for folder in folders
            if folder.name.lower() not in self._taken and AUDIT.earlier(folder) is not None
        ]

    def _free(self, name: str) -> Iterable[Path]:
        """List folders that no other row has, the plainest name first."""
        plain, number = _plain(name), 1
        while True:
            folder = plain if number == 1 else f"{plain}-{number}"
            if folder.lower() not in self._taken:
                yield self.output.folder / folder
            number += 1

    def _open(self, folder: Path, kind: str) -> bool:
        try:
            check_folder(folder, AUDIT, self._inputs, kind)
        except InputError:
            return False
        return True


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip(".-")[:80] or "row"
