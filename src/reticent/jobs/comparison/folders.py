"""The folders of a comparison's rows: which row writes where, and what an earlier comparison left there."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reticent.errors import InputError
from reticent.report.place import AUDIT, COMPARISON, check_folder, take_folder


class RowFolders:
    """One folder a row, inside that of the comparison; no two rows share one, on any file system."""

    def __init__(self, out: Path, inputs: Iterable[Any], kind: str = "html") -> None:
        """Take the folder of a comparison."""
        self._inputs, self._taken = list(inputs), dict[str, str]()
        self.out = take_folder(out, COMPARISON, self._inputs, kind)
        self._earlier = COMPARISON.earlier(out)

    def take(self, name: str, kind: str) -> str | None:
        """Choose the folder of a row that is known before anything runs."""
        folder = self._free(name)
        try:
            check_folder(folder, AUDIT, self._inputs, kind)
        except InputError as error:
            raise error.prefixed(f"the row {name} is written to {folder}: ") from None
        self._taken[name] = folder.name
        return self._replaced(name, folder)

    def of(self, name: str, kind: str, tell: Callable[[str], None] = lambda _: None) -> Path:
        """Find the folder of a row; of one that is known only now, one where nothing is in the way."""
        if name not in self._taken:
            self._taken[name] = self._free(name, kind).name
            told = self._replaced(name, self.out / self._taken[name])
            if told is not None:
                tell(told)
        return self.out / self._taken[name]

    def left(self) -> list[str]:
        """Say which folders are of rows that only an earlier comparison had."""
        used = {folder.lower() for folder in self._taken.values()}
        rows = (self._earlier or {}).get("rows")
        names = [row.get("name") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
        folders = dict.fromkeys(_plain(name) for name in names if isinstance(name, str))
        return [
            f"{self.out / folder} is of an earlier comparison: no row of this one is there"
            for folder in folders
            if folder.lower() not in used and AUDIT.earlier(self.out / folder) is not None
        ]

    def _replaced(self, name: str, folder: Path) -> str | None:
        if self._earlier is not None or AUDIT.earlier(folder) is None:
            return None
        return f"{folder} holds an earlier audit, which the row {name} will replace; to keep it, give another --out"

    def _free(self, name: str, kind: str | None = None) -> Path:
        """Name a folder that no other row has; with a kind, one that may be written."""
        used = {folder.lower() for folder in self._taken.values()}
        plain = _plain(name)
        folder, number = plain, 2
        while folder.lower() in used or (kind is not None and not self._open(self.out / folder, kind)):
            folder, number = f"{plain}-{number}", number + 1
        return self.out / folder

    def _open(self, folder: Path, kind: str) -> bool:
        try:
            check_folder(folder, AUDIT, self._inputs, kind)
        except InputError:
            return False
        return True


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip(".-")[:80] or "row"
