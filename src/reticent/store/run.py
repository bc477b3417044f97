"""One finished run: its files are checked against their hashes when they are read."""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors.numpy import load_file

from reticent.errors import CorruptRunError, UnreadableRunError
from reticent.store.disk import gone, removal, sha256
from reticent.store.plain import read_plain

DONE = "done.json"


@dataclass(frozen=True)
class Problem:
    """What is wrong with one file of a run.

    Attributes:
        file: its name.
        what: what is wrong, behind the name: "is missing".
        passing: it may pass, since the file cannot be read now; the run is not corrupt by that.
    """

    file: str
    what: str
    passing: bool = False

    def __str__(self) -> str:
        return f"{self.file} {self.what}"


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        folder: where it lies.
        done: what ``done.json`` holds; ``done["files"]`` maps file names to SHA-256, ``done["facts"]`` is the maker's.
    """

    folder: Path
    done: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def files(self) -> Mapping[str, str]:
        """Names of files to their SHA-256."""
        files: Mapping[str, str] = self.done["files"]
        return files

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the maker wrote of the run."""
        facts: Mapping[str, Any] = self.done["facts"]
        return facts

    def file(self, name: str) -> Path:
        """Return the path of a file, after checking its hash.

        Args:
            name: such as "weights.safetensors".

        Returns:
            Its path.

        Raises:
            CorruptRunError: the file is missing or its bytes changed.
            UnreadableRunError: the file cannot be read now.
        """
        problem = self._problem(name)
        if problem is not None and problem.passing:
            raise UnreadableRunError(unreadable(self.folder, str(problem)))
        if problem is not None:
            raise CorruptRunError(
                f"run {self.id}: {name} is missing or not what was written: it will not be used; {removal(self.folder)}"
            )
        return self.folder / name

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Read a safetensors file.

        Args:
            name: the file.

        Returns:
            Its arrays.
        """
        return load_file(self.file(name))

    def problems(self) -> Iterator[Problem]:
        """Compute the hash of every file anew.

        Yields:
            What is wrong, one entry a file.

        Cost: every byte is read once.
        """
        for name in sorted(self.files):
            problem = self._problem(name)
            if problem is not None:
                yield problem

    def _problem(self, name: str) -> Problem | None:
        if name not in self.files:
            return Problem(name, f"is not listed in {DONE}")
        try:
            holds = sha256(self.folder / name) == self.files[name]
        except OSError as error:
            if gone(error):
                return Problem(name, "is missing")
            return Problem(name, f"cannot be read ({error.strerror or error})", passing=True)
        return None if holds else Problem(name, "is not what was written")


def read_run(folder: Path) -> Run | None:
    """Read a run's ``done.json``, for those who would use the run.

    Args:
        folder: of the run.

    Returns:
        The run; None if it is not finished, so that it does not exist.

    Raises:
        CorruptRunError: ``done.json`` is not what was written.
        UnreadableRunError: it cannot be read now.
    """
    try:
        return look(folder)
    except OSError as error:
        what = f"{DONE} cannot be read ({error.strerror or error})"
        raise UnreadableRunError(unreadable(folder, what)) from None
    except ValueError as error:
        raise CorruptRunError(f"run {folder.name}: {DONE} cannot be read ({error}): {removal(folder)}") from None


def look(folder: Path) -> Run | None:
    """Read a run's ``done.json``.

    Args:
        folder: of the run.

    Returns:
        The run; None if it is not finished.

    Raises:
        OSError: ``done.json`` cannot be read now.
        ValueError: it is not what was written; the message says why.
    """
    path = folder / DONE
    try:
        done = read_plain(path)
    except OSError as error:
        if not gone(error):
            raise
        if path.is_dir() or error.errno == errno.ELOOP:
            raise ValueError("it is no file") from None
        return None
    wrong = _wrong(done)
    if wrong:
        raise ValueError(wrong)
    return Run(folder, done)


def _wrong(done: Mapping[str, Any]) -> str | None:
    """Say what ``done.json`` lacks."""
    files, facts = done.get("files"), done.get("facts")
    if not isinstance(files, dict) or not isinstance(facts, dict):
        return "it lacks the files, or the facts"
    for name, digest in files.items():
        if Path(name).name != name or "\0" in name or len(name) > 255:
            return f"it lists {name[:40]!r}, which is no file of the run"
        if not isinstance(digest, str):
            return f"it has no hash of {name[:40]}"
    return None


def unreadable(folder: Path, what: str) -> str:
    """Word the error of a file that cannot be read now.

    Args:
        folder: of the run.
        what: which file, and what the operating system says.

    Returns:
        The message.
    """
    return (
        f"run {folder.name}: {what}: it may be whole, so nothing was changed; look at the disk and at who may read "
        f"{folder}, then run the same command again"
    )
