"""Two commands that write into one folder: whoever comes second finds the other's report, and does not replace it.

Nothing is locked: two processes that make the same report share its folder as they share a store, and end with equal
files. A report of something else, written while a command ran, is seen by its file and its content.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.errors import UnwrittenError
from reticent.report.place import Form

VARIES = "environment"
"""The key of a document under which all stands that differs between equal runs."""


@dataclass(frozen=True)
class Watch:
    """A folder as it was before the work.

    Attributes:
        folder: where the report goes.
        form: of the report.
        before: what tells one writing of the numbers from another; None where there were none.
    """

    folder: Path
    form: Form
    before: tuple[int, ...] | None

    @classmethod
    def begin(cls, folder: Path, form: Form) -> "Watch":
        """Look at a folder before the work."""
        return cls(folder, form, _stamp(folder / form.numbers))

    def check(self, document: Mapping[str, Any]) -> None:
        """Refuse to replace what another command wrote since, unless it says the same."""
        if _stamp(self.folder / self.form.numbers) in {self.before, None}:
            return
        other = self.form.earlier(self.folder)
        if other is not None and _lasting(other) != _lasting(document):
            raise UnwrittenError(
                f"out: another command wrote its report into {self.folder} while this one ran: it stays, and this one "
                "is not written. The same command with another --out finds all models that are finished, and writes it",
                document,
            )


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_ino, told.st_mtime_ns, told.st_size


def _lasting(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != VARIES}
