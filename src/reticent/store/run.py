"""One finished run: whether it is what was written, and its files, whose hashes are checked when they are read."""

import errno
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray
from pydantic import ValidationError
from safetensors.numpy import load_file

from reticent.errors import CorruptRunError, UnreadableRunError
from reticent.findings.base import Finding, Plain, told
from reticent.store.disk import gone, read_plain, sha256

Kind = TypeVar("Kind", bound=Finding)
DONE = "done.json"
SEAL = "sha256"
"""The key of ``done.json`` that holds the hash of the rest of it."""
AGAIN = "it will not be used; run the same command again, which makes it anew"


@dataclass(frozen=True)
class Problem:
    """What is wrong with one file of a run.

    Attributes:
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
    """A finished run: its folder, the SHA-256 of each of its files, and what its maker wrote of it."""

    folder: Path
    files: Mapping[str, str]
    facts: Plain

    @property
    def id(self) -> str:
        """The run's name."""
        return self.folder.name

    def read(self, kind: type[Kind]) -> Kind:
        """Read what the maker wrote; keys that another version has besides are passed over."""
        try:
            return kind.model_validate(self.facts, extra="ignore")
        except ValidationError as error:
            raise CorruptRunError(
                f"run {self.id}: another version wrote it ({told(error)}): remove it (reticent runs rm {self.id}), "
                "then run the same command again"
            ) from None

    def file(self, name: str) -> Path:
        """Return the path of a file, after checking its hash."""
        problem = self._problem(name)
        if problem is not None and problem.passing:
            raise UnreadableRunError(unreadable(self.folder, problem))
        if problem is not None:
            raise CorruptRunError(f"run {self.id}: {problem}: {AGAIN}")
        return self.folder / name

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Read a safetensors file."""
        return load_file(self.file(name))

    def problems(self) -> tuple[Problem, ...]:
        """Compute the hash of every file anew.

        Cost: every byte is read once.
        """
        found = map(self._problem, sorted(self.files))
        return tuple(problem for problem in found if problem is not None)

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


def examine(folder: Path) -> tuple[Run | None, tuple[Problem, ...]]:
    """Compute every hash of a run anew: what is used, and what ``reticent runs verify`` says, both go by this.

    Cost: every byte is read once, about a second for a gigabyte.
    """
    try:
        run = look(folder)
    except OSError as error:
        return None, (Problem(DONE, f"cannot be read ({error.strerror or error})", passing=True),)
    except ValueError as error:
        return None, (Problem(DONE, f"cannot be read: {error}"),)
    return run, () if run is None else run.problems()


def look(folder: Path) -> Run | None:
    """Read a run's ``done.json``."""
    path = folder / DONE
    try:
        done = read_plain(path)
    except OSError as error:
        if not gone(error):
            raise
        if path.is_dir() or error.errno == errno.ELOOP:
            raise ValueError("it is no file") from None
        return None
    files, facts, digests = done.get("files"), done.get("facts"), dict[str, str]()
    if not isinstance(files, dict) or not isinstance(facts, dict):
        raise ValueError("it lacks the files, or the facts")  # noqa: TRY004 (one kind for all that may stand in a file)
    for name, digest in files.items():
        if Path(name).name != name or "\0" in name or len(name) > 255:
            raise ValueError(f"it lists {name[:40]!r}, which is no file of the run")
        if not isinstance(digest, str):
            raise ValueError(f"it has no hash of {name[:40]}")  # noqa: TRY004
        digests[name] = digest
    if SEAL not in done:
        raise ValueError("it lacks its own hash, as those of earlier versions do")
    if done[SEAL] != _seal(digests, facts):
        raise ValueError("it is not what was written")
    return Run(folder, digests, facts)


def sealed(files: Mapping[str, str], facts: Plain) -> Plain:
    """Put together what ``done.json`` holds."""
    return {"files": dict(files), "facts": facts, SEAL: _seal(files, facts)}


def _seal(files: Mapping[str, str], facts: Plain) -> str:
    read = json.loads(json.dumps([files, facts], allow_nan=False))
    return hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()


def unreadable(folder: Path, problem: Problem) -> str:
    """Word the error of a file that cannot be read now."""
    return (
        f"run {folder.name}: {problem}: it may be whole, so nothing was changed; look at the disk and at who may read "
        f"{folder}, then run the same command again"
    )
