"""``reticent runs``: what is in the store, whether it still holds, and how to remove what is not wanted."""

import json as writer
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cyclopts

from reticent.cli.flags import Switch
from reticent.cli.screen import facts, say, stdout, table

if TYPE_CHECKING:
    from rich.table import Table

    from reticent.jobs.runs.groups import Group
    from reticent.jobs.runs.inventory import Entry, Inventory
    from reticent.jobs.runs.remove import Kept, Plan

app = cyclopts.App(name="runs", help="List, show, check and remove what is in the store.")
STORE = Path("reticent-store")
"""The default of ``reticent audit``."""


@app.command(name="list")
def list_(*, store: Path = STORE, all: Switch = False, json: Switch = False) -> None:  # noqa: A002
    """List the runs of a store: by default one line for all models of one recipe, data set and seed.

    Hashes are not checked here: see `reticent runs verify`.

    Args:
        store: Folder of finished models.
        all: One line a run.
        json: As JSON, for programs; always with every run.
    """
    from reticent.jobs.runs.groups import group
    from reticent.jobs.runs.inventory import scan

    found = scan(store)
    if json:
        groups = [one.to_json() for one in group(found)]
        runs = [entry.to_json() for entry in found.entries]
        _json({"store": str(store), "bytes": found.bytes, "groups": groups, "runs": runs, "foreign": found.foreign})
        return
    if found.entries:
        stdout().print(_every(found.entries) if all else _groups(found))
        say("")
    say(*_total(found))


@app.command
def show(run: str, /, *, store: Path = STORE, json: Switch = False) -> None:
    """Show one run: its state, what it was made from, its files, what was made from it.

    Args:
        run: Its name, or as much of the beginning as no other run has.
        store: Folder of finished models.
        json: As JSON, for programs.
    """
    from reticent.jobs.runs.groups import leaves
    from reticent.jobs.runs.inventory import scan

    found = scan(store)
    entry = found.find(run)
    signals = [one.folder.name for one in found.signals_of(entry.id)]
    files = _files(entry)
    if json:
        made = {"spec": entry.spec, "facts": entry.facts, "files": files, "signals": signals}
        _json(entry.to_json() | made)
        return
    state = entry.state + (f": {entry.problem}" if entry.problem else "")
    rows = [("run", entry.id), ("folder", str(entry.folder)), ("kind", entry.kind), ("state", state)]
    rows += [("when", _when(entry)), ("size", size(entry.bytes))]
    rows += [("signals", ", ".join(signals))] if signals else []
    rows += _titled("made from", (f"{key} = {value}" for key, value in leaves(entry.spec)))
    rows += _titled("facts", (f"{key} = {value}" for key, value in leaves(entry.facts)))
    sums = (f"{one['name']}  {size(one['bytes'] or 0)}  sha256 {one['sha256'] or 'not noted'}" for one in files)
    stdout().print(facts([*rows, *_titled("files", sums)]))


def _titled(title: str, lines: Iterable[str]) -> list[tuple[str, str]]:
    """Put a title before the first of several lines."""
    return [("" if place else title, line) for place, line in enumerate(lines)]


@app.command
def verify(*runs: str, store: Path = STORE) -> None:
    """Compute every hash anew, and name what is not what was written, or cannot be read now: then exit with 1.

    Files and links that lie beside those of a run are named too; they do no harm. Unfinished runs are not checked.

    Args:
        runs: Names, or their beginnings; by default all.
        store: Folder of finished models.

    Raises:
        SystemExit: with the exit code.
    """
    from reticent.jobs.runs import verify as job
    from reticent.jobs.runs.inventory import scan

    found = scan(store)
    asked = [found.find(name) for name in runs] if runs else list(found.entries)
    checked = job.verify(asked)
    lines = [f"{name}: {'; '.join(one.told)}" for name, one in checked.items()] + [""] * bool(checked)
    finished = [entry for entry in asked if entry.state not in {"unfinished", "in use"}]
    corrupt = sum(bool(one.corrupt) for one in checked.values())
    unreadable = sum(bool(one.unreadable) and not one.corrupt for one in checked.values())
    of = f"of {_count(len(finished), 'run')}"
    if corrupt:
        lines.append(f"{corrupt} {of} corrupt; they will not be used. To remove them: {_rm('--corrupt', store)}")
    if unreadable:
        told = f"{unreadable} {of} cannot be read now, and may be whole"
        lines.append(f"{told}: look at the disk, and at who may read it")
    if not corrupt and not unreadable:
        files = _count(sum(len(entry.files) for entry in finished), "file")
        read = size(sum(entry.bytes for entry in finished))
        lines.append(f"{_count(len(finished), 'run')}, {files}, {read}: every hash holds.")
    if len(asked) > len(finished):
        lines.append(f"{_count(len(asked) - len(finished), 'run')} not finished, so not checked.")
    say(*lines, *([] if runs else _foreign(found)))
    raise SystemExit(int(bool(corrupt or unreadable)))


@app.command
def rm(
    *runs: str,
    store: Path = STORE,
    corrupt: Switch = False,
    unfinished: Switch = False,
    older_than: str | None = None,
    all: Switch = False,  # noqa: A002
    yes: Switch = False,
) -> Sequence[Path]:
    """Remove runs; signals go with the model that they are of. What a live process uses is kept.

    An audit or comparison uses all models that it found, made or will make, and their signals, until it ends.

    Exit code: 0 if all that was asked for is gone, else 1.

    Args:
        runs: Names, or as much of their beginnings as no other run has.
        store: Folder of finished models.
        corrupt: Those that are not what was written (every hash is computed anew). What cannot be read now is kept.
        unfinished: Those that a killed process left.
        older_than: Those finished, or last changed, so long ago: 30d, 12h or 8w.
        all: All.
        yes: Don't ask.

    Raises:
        SystemExit: with the exit code, where it is not 0 or nothing was removed.
    """
    from reticent.jobs.runs.inventory import scan
    from reticent.jobs.runs.remove import Choice, plan, remove

    choice = Choice(tuple(runs), corrupt, unfinished, older_than, all)
    found = scan(store)
    planned = plan(found, choice)
    _announce(planned)
    if not planned.entries:
        say("There is nothing to remove.")
        raise SystemExit(int(bool(planned.kept)))
    if not yes and not _agreed(planned):
        say("Nothing was removed.")
        raise SystemExit(1)
    gone, held = remove(found, planned)
    say(f"Removed {_count(len(gone), 'run')}, {size(sum(entry.bytes for entry in gone))}.")
    _kept(held)
    if held or planned.kept:
        raise SystemExit(1)
    return [entry.folder for entry in gone]


def _announce(planned: "Plan") -> None:
    if planned.entries:
        stdout().print(_every(planned.entries))
        say("")
    count = len(planned.with_them)
    if count == 1:
        say("One of these holds the signals of a model that is removed, and goes with it.")
    elif count:
        say(f"{count:,} of these hold the signals of models that are removed, and go with them.")
    _kept(planned.kept)


def _kept(kept: "Sequence[Kept]") -> None:
    say(*(f"{one.entry.folder.name} is kept: {one.why}." for one in kept))


def _agreed(planned: "Plan") -> bool:
    from reticent.errors import InputError

    if not sys.stdin.isatty():
        raise InputError("nobody is there to ask whether to remove them: give --yes")
    asked = f"Remove {_count(len(planned.entries), 'run')}, {size(planned.bytes)}? [y/N] "
    try:
        answer = stdout().input(asked, markup=False)
    except EOFError:
        return False
    return answer.strip().lower() in {"y", "yes"}


def _groups(found: "Inventory") -> "Table":
    from reticent.jobs.runs.groups import group

    numbers = ("seed", "models", "signals", "size")
    rows = []
    for one in group(found):
        counts = ("–" if one.seed is None else str(one.seed), str(one.models), str(one.signals), size(one.bytes))
        rows.append((one.data, one.recipe, *counts, _when(one), one.states))
    return table(("data", "recipe", *numbers, "when", "state"), rows, right=numbers, whole=(*numbers, "when"))


def _every(entries: "Sequence[Entry]") -> "Table":
    titles, rows = ("run", "kind", "model", "size", "when"), []
    for entry in entries:
        model = "–" if entry.model is None else str(entry.model)
        state = entry.state + (f" ({entry.problem})" if entry.problem else "")
        rows.append((entry.folder.name, entry.kind, model, size(entry.bytes), _when(entry), state))
    return table((*titles, "state"), rows, right=("model", "size"), whole=titles)


def _total(found: "Inventory") -> list[str]:
    states = [entry.state for entry in found.entries]
    lines = [f"{_count(len(states), 'run')}{_kinds(found.entries)}, {size(found.bytes)} in {found.root}"]
    if "corrupt" in states:
        lines.append(f"{states.count('corrupt')} corrupt, which will not be used: {_rm('--corrupt', found.root)}")
    if "cannot be read" in states:
        told = f"{states.count('cannot be read')} cannot be read now, and may be whole"
        lines.append(f"{told}: look at the disk, and at who may read {found.root}")
    if "unfinished" in states:
        told = f"{states.count('unfinished')} unfinished, left by a process that ended"
        lines.append(f"{told}: {_rm('--unfinished', found.root)}")
    return [*lines, *_foreign(found)]


def _kinds(entries: "Sequence[Entry]") -> str:
    """Say which runs are models, and which are what was asked of them."""
    kinds = [entry.kind for entry in entries]
    told = {"training": "models", "signals": "signals of models", "repair": "repaired models", "unknown": "unknown"}
    parts = [f"{kinds.count(kind):,} {name}" for kind, name in told.items() if kind in kinds]
    return f" ({', '.join(parts)})" if parts else ""


def _foreign(found: "Inventory") -> list[str]:
    if not found.foreign:
        return []
    shown = ", ".join(found.foreign[:5]) + (", ..." if len(found.foreign) > 5 else "")
    return [f"not made by reticent, and left alone: {shown}"]


def _rm(flag: str, store: Path) -> str:
    import shlex

    return f"reticent runs rm {flag}" + ("" if store == STORE else f" --store {shlex.quote(str(store))}")


def _files(entry: "Entry") -> list[dict[str, Any]]:
    try:
        present = {path.name: path.lstat().st_size for path in sorted(entry.folder.iterdir())}
    except OSError:
        present = {}
    names = sorted({*present, *entry.files})
    return [{"name": name, "bytes": present.get(name), "sha256": entry.files.get(name)} for name in names]


def _json(value: Mapping[str, Any]) -> None:
    sys.stdout.write(writer.dumps(value, indent=1, ensure_ascii=True) + "\n")


def _when(of: "Entry | Group") -> str:
    return f"{of.when:%Y-%m-%d %H:%M}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def size(count: int) -> str:
    """Write bytes for people, such as "340 kB" or "1.2 GB", in powers of 1000."""
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
