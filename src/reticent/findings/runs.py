"""What lies in a store: its runs, those that belong together, and what a check or a removal found."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, PlainSerializer

from reticent.findings.base import Finding, Plain
from reticent.findings.numbers import Count


class State(StrEnum):
    """What became of a run."""

    FINISHED = "finished"
    CORRUPT = "corrupt"
    "Finished, but not what was written."
    UNREADABLE = "cannot be read"
    "The disk does not give it now; it may be whole."
    UNFINISHED = "unfinished"
    "Left by a process that was killed, while writing or while removing."
    IN_USE = "in use"
    "A live process is writing it."


class Kind(StrEnum):
    """What a run holds."""

    TRAINING = "training"
    SIGNALS = "signals"
    PROBE = "probe"
    "What a model says to other questions."
    MEMORISATION = "memorisation"
    "How far each member of a model is memorised, for samplers."
    STACKING = "stacking"
    "How many models of a recipe are trained together, as it was measured."
    REPAIR = "repair"
    "A user's model, repaired."
    UNKNOWN = "unknown"
    "Its spec cannot be read."


When = Annotated[datetime, PlainSerializer(lambda when: when.isoformat(timespec="seconds"), when_used="json")]


class Run(Finding):
    """One folder of ``runs/``."""

    id: str
    folder: str
    "Its name."
    kind: Kind
    state: State
    model: Count | None
    "The model's row, where it is known."
    of: str | None
    "The training run whose signals these are."
    bytes: Count
    when: When
    "When it was finished, or last changed."
    problem: str | None
    "What is wrong, or which process holds it."
    spec: Plain = Field(exclude=True)
    "What it was made from, as far as that can be read."
    facts: Plain = Field(exclude=True)
    "What its maker noted."
    digests: dict[str, str] = Field(exclude=True)
    "Its files' SHA-256, as noted."

    @property
    def written(self) -> bool:
        """Whether its process finished it."""
        return self.state not in {State.UNFINISHED, State.IN_USE}


class File(Finding):
    """One file of a run: its size if it is there, its SHA-256 if it was noted."""

    name: str
    bytes: Count | None
    sha256: str | None


class RunShown(Run):
    """A run with what it was made from and what was made from it."""

    spec: Plain
    facts: Plain
    files: tuple[File, ...]
    signals: tuple[str, ...]


class Group(Finding):
    """Runs of one recipe, data set and seed: a population of models, most often."""

    recipe: str
    "How the models are made, in short; or why nothing is known of it."
    data: str
    "Name of the data set, or the beginning of its hash."
    seed: int | None
    models: Count
    signals: Count
    bytes: Count
    when: When
    state: str
    "How many runs are in which state."
    runs: tuple[str, ...]
    "Their folders."


class Listing(Finding):
    """A store."""

    store: str
    bytes: Count
    groups: tuple[Group, ...]
    runs: tuple[Run, ...]
    foreign: tuple[str, ...]
    "Names in ``runs/`` that reticent did not make; they are left alone."

    def made_from(self, run: Run) -> tuple[Run, ...]:
        """Find what models of a training run were asked: signals and answers to probes."""
        return tuple(one for one in self.runs if one.of == run.id)


class Checked(Finding):
    """What a look at every byte of a run found, a sentence a file; nothing, where it was not finished."""

    run: Run
    corrupt: tuple[str, ...] = ()
    "What is not what was written; such a run is never used."
    unreadable: tuple[str, ...] = ()
    "What could not be read now; it may be whole."
    notes: tuple[str, ...] = ()
    "What lies beside the run's files, and does no harm."


class Kept(Finding):
    """A run that was to be removed and is not."""

    run: Run
    why: str


class Removal(Finding):
    """What would be removed, or was."""

    runs: tuple[Run, ...]
    "Signals before their models."
    with_them: Count = 0
    "How many of these are signals that go with their model."
    kept: tuple[Kept, ...]

    @property
    def bytes(self) -> int:
        """Size of the removed."""
        return sum(run.bytes for run in self.runs)


def leaves(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """Take a tree of plain values apart: the path and value of each leaf."""
    if not isinstance(tree, Mapping):
        return [(path, tree)]
    return [leaf for key, value in tree.items() for leaf in leaves(value, f"{path}.{key}" if path else str(key))]
