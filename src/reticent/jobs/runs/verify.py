"""Whether runs still are what was written: every hash, computed anew."""

from collections.abc import Callable, Sequence
from pathlib import Path

from reticent.errors import CorruptRunError
from reticent.jobs.runs.inventory import Entry
from reticent.store import Run, Store

NEEDED = {
    "training": ("spec.json", "roles.safetensors", "weights.safetensors"),
    "signals": ("spec.json", "roles.safetensors", "signals.safetensors"),
}
"""Kind of a run -> files without which it is not one."""


def check(entry: Entry) -> list[str]:
    """Recompute the hashes of one run.

    Args:
        entry: the run.

    Returns:
        What is wrong, one sentence a file; empty for a run that holds, and for one that is not finished.

    Cost: every byte is read once.
    """
    if entry.state not in {"finished", "corrupt"}:
        return []
    try:
        run = Store(entry.folder.parent.parent).find(entry.id)
    except CorruptRunError:
        return ["done.json cannot be read"]
    if run is None:
        return ["done.json is gone"]
    listed = run.done["files"]
    problems = [f"done.json does not list {name}" for name in NEEDED.get(entry.kind, ()) if name not in listed]
    return problems + [problem for name in sorted(listed) for problem in _file(run, name)]


def _file(run: Run, name: str) -> list[str]:
    if Path(name).name != name:
        return [f"done.json lists {name!r}, which is no file of the run"]
    if not (run.folder / name).is_file():
        return [f"{name} is missing"]
    try:
        run.file(name)
    except CorruptRunError:
        return [f"{name} is not what was written"]
    except OSError as error:
        return [f"{name} cannot be read ({error.strerror or error})"]
    return []


def verify(entries: Sequence[Entry], tell: Callable[[Entry], None] = lambda _: None) -> dict[str, list[str]]:
    """Recompute the hashes of many runs.

    Args:
        entries: the runs; those that are not finished are passed over.
        tell: called before each run.

    Returns:
        Name of each corrupt run to what is wrong with it.
    """
    found: dict[str, list[str]] = {}
    for entry in entries:
        tell(entry)
        problems = check(entry)
        if problems:
            found[entry.id] = problems
    return found
