"""Everything a user can get wrong, as one tree.

::

    ReticentError
    ├── InputError              an argument, a flag or a configuration value
    │   ├── ShapeError          an array of the wrong shape or type
    │   ├── UnknownNameError    a name that no table has
    │   ├── ColumnsError        columns of a table that cannot be features as they are; it holds how all were read
    │   ├── SpecError           a field of a spec (recipe, attack, configuration)
    │   └── RolesError          the five roles of the records overlap, or do not fit
    ├── DataError               a data set
    │   ├── MissingFileError    an official file is not where it is looked for
    │   ├── ChecksumError       a file is not the official one
    │   └── CorruptFileError    a file cannot be read as what it should be
    ├── ModelError              a model
    │   ├── NonFiniteError      a model answered NaN or infinity
    │   ├── TrainingModeError   a model was to be asked in training mode
    │   └── TrainingDivergedError  the loss became NaN or infinity
    ├── TooFewReferencesError   an attack has too few models to learn from
    ├── UnequalSharesError      an attack would read a leak out of the counts of its models
    ├── StoreError              the store of runs
    │   ├── StoreLockedError    another live process holds a run
    │   ├── CorruptRunError     a run's bytes are not the ones that were written
    │   ├── FullStoreError      no space is left where the store is
    │   ├── OutdatedRunError    a run was made from what has changed since
    │   ├── UnreadableRunError  a run's files cannot be read now, and may be whole
    │   └── UnwrittenError      a report cannot be written; it holds what was found
    └── MissingExtraError       an optional dependency is not installed

Every message says what was expected, what was got, and what to do. The command line prints it and exits with 2.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

EXTRAS = {"dp": "opacus>=1.6", "parquet": "pyarrow>=17", "ray": "ray>=2.60", "objects": "obstore>=0.12"}
"""What each extra of the package brings, as pyproject.toml says (a test compares them)."""
Error = TypeVar("Error", bound="ReticentError")


class ReticentError(Exception):
    """Base of every error that reticent raises on purpose.

    Attributes:
        keys: the keys that are wrong, where they are known, below the name of their method: ``("lira.mode",)``.
    """

    keys: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), str(self), tuple(self.__dict__.items()))

    def prefixed(self, prefix: str) -> Self:
        """Return the same error with something in front of its message, such as which model it is about."""
        return self.retold(f"{prefix}{self}")

    def retold(self, message: str) -> Self:
        """Return an error of the same kind, and of the same fields, with another message."""
        return _rebuilt(type(self), message, self.__dict__.items())


def _rebuilt(kind: type[Error], message: str, fields: Iterable[tuple[str, Any]]) -> Error:
    error = kind.__new__(kind)
    error.args = (message,)
    error.__dict__.update(fields)
    return error


class InputError(ReticentError):
    """An argument, a flag or a configuration value is not what it must be."""


class ShapeError(InputError):
    """An array has the wrong shape or element type."""


class UnknownNameError(InputError):
    """A name that no table has; the message gives the nearest ones."""

    def __init__(self, what: str, got: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown {what} {got!r}: {nearest(got, known)}")


class ColumnsError(InputError):
    """Columns of a table cannot be features as they are.

    Attributes:
        readings: how each column was read.
    """

    def __init__(self, message: str, readings: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.readings = readings


class SpecError(InputError):
    """A field of a spec has a wrong name or value; or several things are wrong.

    Attributes:
        problems: where several things are wrong, an error of its own kind for each.
    """

    def __init__(self, message: str, keys: Iterable[str] = (), problems: Iterable[ReticentError] = ()) -> None:
        super().__init__(message)
        self.keys, self.problems = tuple(keys), tuple(problems)

    def retold(self, message: str) -> Self:
        """Return one error with another message, which none of several says."""
        error = super().retold(message)
        error.problems = ()
        return error


class RolesError(InputError):
    """The five roles of the records overlap, or ask for more records than there are."""


class DataError(ReticentError):
    """A data set cannot be used."""


class MissingFileError(DataError):
    """A data set's file is not where it is looked for."""


class ChecksumError(DataError):
    """A file's bytes are not the official ones."""


class CorruptFileError(DataError):
    """A file cannot be read as what its name says."""


class ModelError(ReticentError):
    """A model cannot be built, trained or asked."""


class NonFiniteError(ModelError):
    """A model answered NaN or infinity."""


class TrainingModeError(ModelError):
    """A model was to be asked in training mode."""


class TrainingDivergedError(ModelError):
    """The training loss became NaN or infinity."""


class TooFewReferencesError(ReticentError):
    """An attack has too few reference models that saw, or did not see, a record."""


class UnequalSharesError(ReticentError):
    """Records are in such different shares of the models that counts alone would look like a leak."""


class StoreError(ReticentError):
    """The store of runs cannot be used."""


class StoreLockedError(StoreError):
    """Another live process holds a run of the store."""


class CorruptRunError(StoreError):
    """A run's files are not the ones that were written."""


class FullStoreError(StoreError):
    """No space is left where the store is."""


class OutdatedRunError(StoreError):
    """A finished model was made from what has changed since."""


class UnreadableRunError(StoreError):
    """A run's files cannot be read now (the disk, or who may read them); they may be whole."""


class UnwrittenError(StoreError):
    """A report cannot be written.

    Attributes:
        findings: what the report would have said, so that it is not lost: a document of `reticent.findings`.
    """

    def __init__(self, message: str, findings: Any) -> None:
        super().__init__(message)
        self.findings = findings

    @property
    def document(self) -> dict[str, Any]:
        """The same as plain values."""
        return dict(self.findings.to_json())


class MissingExtraError(ReticentError):
    """An optional dependency is not installed, or too old a version of it."""

    def __init__(self, package: str, extra: str, purpose: str, found: str | None = None) -> None:
        what = f"{package}, which is not installed" if found is None else f"{EXTRAS[extra]}, and {found} is installed"
        super().__init__(f"{purpose} needs {what}: pip install '{EXTRAS[extra]}'")


@contextmanager
def about(what: str) -> Iterator[None]:
    """Say in an error what it is about, such as a file or a part of a method."""
    try:
        yield
    except ReticentError as error:
        raise error.prefixed(f"{what}: ") from error


class Problems:
    """What is wrong with an input in several places, gathered so that it is told at once."""

    def __init__(self) -> None:
        self.found: list[ReticentError] = []

    @contextmanager
    def here(self, prefix: str = "") -> Iterator[None]:
        """Keep what a block raises of a user's mistakes; the prefix says where it is, such as a file's name."""
        try:
            yield
        except ReticentError as error:
            for one in (error.problems if isinstance(error, SpecError) else ()) or (error,):
                lines = (line if line.startswith(" ") else prefix + line for line in str(one).split("\n"))
                self.found.append(one.retold("\n".join(lines)) if prefix else one)

    def tell(self) -> None:
        """Raise the one problem as it is, or several as one `SpecError`, a line each."""
        told = {str(error): error for error in self.found}
        if len(told) > 1:
            keys = dict.fromkeys(key for error in told.values() for key in error.keys)
            raise SpecError("\n".join(told), keys, told.values())
        if told:
            raise self.found[0]


def nearest(got: str, known: Iterable[str]) -> str:
    """Say which known names are nearest to a wrong one, whatever their case, or list them all."""
    names = sorted(known)
    lower: dict[str, list[str]] = {}
    for name in names:
        lower.setdefault(name.lower(), []).append(name)
    close = difflib.get_close_matches(got.lower(), list(lower), n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(repr(name) for one in close for name in lower[one])}?"
    return f"expected one of {', '.join(names)}" if names else "there are none"


def meant(got: Iterable[str], known: Iterable[str]) -> str:
    """Say which known names wrong ones are near to, whatever their case; empty where none is."""
    names = {name.lower(): name for name in known}
    close = ((one, difflib.get_close_matches(one.lower(), list(names), n=1, cutoff=0.6)) for one in got)
    told = [f"{names[near[0]]!r} by {one!r}" for one, near in close if near and names[near[0]] != one]
    return f"; did you mean {', '.join(told)}?" if told else ""
