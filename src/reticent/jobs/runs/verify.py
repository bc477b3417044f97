"""Whether runs still are what was written: every hash, computed anew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reticent.jobs.runs.inventory import Entry
from reticent.store import Run, examine
from reticent.store.run import DONE


@dataclass(frozen=True)
class Checked:
    """What a look at every byte of a run found, one sentence a file.

    Attributes:
        corrupt: what is not what was written; such a run is never used.
        unreadable: what could not be read now; it may be whole.
        notes: what lies beside the run's files, and does no harm.
    """

    corrupt: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """All of it."""
        return (*self.corrupt, *self.unreadable, *self.notes)


def check(entry: Entry) -> Checked:
    """Recompute the hashes of one run.

    Cost: every byte is read once.
    """
    if entry.state in {"unfinished", "in use"}:
        return Checked()
    run, found = examine(entry.folder)
    if run is None and not found:
        return Checked((f"{DONE} is gone",))
    corrupt = tuple(str(one) for one in found if not one.passing)
    unreadable = tuple(str(one) for one in found if one.passing)
    return Checked(corrupt, unreadable, () if run is None else tuple(_beside(run)))


def _beside(run: Run) -> list[str]:
    """Name links, and what lies in the folder and is not of the run."""
    try:
        paths = sorted(run.folder.iterdir())
    except OSError:
        return []
    own = {*run.files, DONE}
    strays = [f"{path.name} is not of this run: it is not used" for path in paths if path.name not in own]
    linked = [path.name for path in paths if path.name in own and path.is_symlink()]
    return [*strays, *(f"{name} is a link to a file elsewhere" for name in linked)]


def verify(entries: Sequence[Entry], tell: Callable[[Entry], None] = lambda _: None) -> dict[str, Checked]:
    """Recompute the hashes of many runs."""
    found: dict[str, Checked] = {}
    for entry in entries:
        tell(entry)
        checked = check(entry)
        if checked.told:
            found[entry.id] = checked
    return found
