"""``reticent runs``: what is in the store, whether it still holds, and how to remove what is not wanted."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from reticent.cli.screen import stdout, visible

if TYPE_CHECKING:
    from rich.console import Console

    from reticent.jobs.runs.inventory import Entry, Inventory
    from reticent.jobs.runs.remove import Kept, Plan

app = cyclopts.App(name="runs", help="List, show, check and remove what is in the store.")

STORE = Path("reticent-store")
"""The default of ``reticent audit``."""


@app.command(name="list")
def list_(
    *,
    store: Path = STORE,
    all: Annotated[bool, Parameter(negative="")] = False,  # noqa: A002
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
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
    console = stdout()
    if json:
        groups = [one.to_json() for one in group(found)]
        runs = [entry.to_json() for entry in found.entries]
        _json({"store": str(store), "bytes": found.bytes, "groups": groups, "runs": runs, "foreign": found.foreign})
        return
    if found.entries:
        console.print(_every(found.entries) if all else _groups(found))
        console.print()
    _total(console, found)


@app.command
def show(run: str, /, *, store: Path = STORE, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show one run: its state, what it was made from, its files, what was made from it.

    Args:
        run: Its name, or as much of the beginning as no other run has.
        store: Folder of finished models.
        json: As JSON, for programs.
    """
    from rich.table import Table
    from rich.text import Text

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
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    state = entry.state + (f": {entry.problem}" if entry.problem else "")
    rows = {"run": entry.id, "folder": str(entry.folder), "kind": entry.kind, "state": state, "when": _when(entry)}
    rows |= {"size": size(entry.bytes)} | ({"signals": ", ".join(signals)} if signals else {})
    for key, value in rows.items():
        table.add_row(key, Text(value))
    for title, tree in (("made from", entry.spec), ("facts", entry.facts)):
        for place, (key, value) in enumerate(leaves(tree)):
            table.add_row("" if place else title, Text(visible(f"{key} = {value}")))
    for place, file in enumerate(files):
        told = f"{file['name']}  {size(file['bytes'] or 0)}  sha256 {file['sha256'] or 'not noted'}"
        table.add_row("" if place else "files", Text(visible(told)))
    stdout().print(table)


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
    console = stdout()
    for name, one in checked.items():
        console.print(visible(f"{name}: {'; '.join(one.told)}"), markup=False, soft_wrap=True)
    finished = [entry for entry in asked if entry.state not in {"unfinished", "in use"}]
    corrupt = sum(bool(one.corrupt) for one in checked.values())
    unreadable = sum(bool(one.unreadable) and not one.corrupt for one in checked.values())
    lines = [""] * bool(checked)
    if corrupt:
        told = f"{corrupt} of {_count(len(finished), 'run')} corrupt; they will not be used. To remove them"
        lines.append(f"{told}: {_rm('--corrupt', store)}")
    if unreadable:
        told = f"{unreadable} of {_count(len(finished), 'run')} cannot be read now, and may be whole"
        lines.append(f"{told}: look at the disk, and at who may read it")
    if not corrupt and not unreadable:
        files = _count(sum(len(entry.files) for entry in finished), "file")
        read = size(sum(entry.bytes for entry in finished))
        lines.append(f"{_count(len(finished), 'run')}, {files}, {read}: every hash holds.")
    if len(asked) > len(finished):
        lines.append(f"{_count(len(asked) - len(finished), 'run')} not finished, so not checked.")
    lines += _foreign(found) if not runs else []
    for line in lines:
        console.print(visible(line), markup=False, soft_wrap=True)
    raise SystemExit(int(bool(corrupt or unreadable)))


@app.command
def rm(
    *runs: str,
    store: Path = STORE,
    corrupt: Annotated[bool, Parameter(negative="")] = False,
    unfinished: Annotated[bool, Parameter(negative="")] = False,
    older_than: str | None = None,
    all: Annotated[bool, Parameter(negative="")] = False,  # noqa: A002
    yes: Annotated[bool, Parameter(negative="")] = False,
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

    Returns:
        The folders of those that are gone.

    Raises:
        SystemExit: with the exit code, where it is not 0 or nothing was removed.
    """
    from reticent.jobs.runs.inventory import scan
    from reticent.jobs.runs.remove import Choice, plan, remove

    choice = Choice(tuple(runs), corrupt, unfinished, older_than, all)
    found = scan(store)
    planned = plan(found, choice)
    console = stdout()
    _announce(console, planned)
    if not planned.entries:
        console.print("There is nothing to remove.")
        raise SystemExit(int(bool(planned.kept)))
    if not yes and not _agreed(console, planned):
        console.print("Nothing was removed.")
        raise SystemExit(1)
    gone, held = remove(found, planned)
    freed = size(sum(entry.bytes for entry in gone))
    console.print(f"Removed {_count(len(gone), 'run')}, {freed}.")
    _kept(console, held)
    if held or planned.kept:
        raise SystemExit(1)
    return [entry.folder for entry in gone]


def _announce(console: "Console", planned: "Plan") -> None:
    if planned.entries:
        console.print(_every(planned.entries))
        console.print()
    count = len(planned.with_them)
    if count == 1:
        console.print("One of these holds the signals of a model that is removed, and goes with it.")
    elif count:
        console.print(f"{count:,} of these hold the signals of models that are removed, and go with them.")
    _kept(console, planned.kept)


def _kept(console: "Console", kept: "Sequence[Kept]") -> None:
    for one in kept:
        console.print(visible(f"{one.entry.folder.name} is kept: {one.why}."), markup=False, soft_wrap=True)


def _agreed(console: "Console", planned: "Plan") -> bool:
    from reticent.errors import InputError

    if not sys.stdin.isatty():
        raise InputError("nobody is there to ask whether to remove them: give --yes")
    asked = f"Remove {_count(len(planned.entries), 'run')}, {size(planned.bytes)}? [y/N] "
    try:
        answer = console.input(asked, markup=False)
    except EOFError:
        return False
    return answer.strip().lower() in {"y", "yes"}


def _groups(found: "Inventory") -> Any:
    from rich.table import Table
    from rich.text import Text

    from reticent.jobs.runs.groups import group

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("data", "recipe"):
        table.add_column(title, overflow="fold")
    for title in ("seed", "models", "signals", "size"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("when", no_wrap=True)
    table.add_column("state", overflow="fold")
    for one in group(found):
        counts = ("–" if one.seed is None else str(one.seed), str(one.models), str(one.signals), size(one.bytes))
        table.add_row(
            Text(visible(one.data)), Text(visible(one.recipe)), *counts, f"{one.when:%Y-%m-%d %H:%M}", one.states
        )
    return table


def _every(entries: "Sequence[Entry]") -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("run", "kind", "model", "size", "when"):
        table.add_column(title, no_wrap=True, justify="right" if title in {"model", "size"} else "left")
    table.add_column("state", overflow="fold")
    for entry in entries:
        model = "–" if entry.model is None else str(entry.model)
        state = entry.state + (f" ({entry.problem})" if entry.problem else "")
        table.add_row(entry.folder.name, entry.kind, model, size(entry.bytes), _when(entry), Text(visible(state)))
    return table


def _total(console: "Console", found: "Inventory") -> None:
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
    for line in [*lines, *_foreign(found)]:
        console.print(visible(line), markup=False, soft_wrap=True)


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


def _json(value: Any) -> None:
    import json

    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=True) + "\n")


def _when(entry: "Entry") -> str:
    return f"{entry.when:%Y-%m-%d %H:%M}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def size(count: int) -> str:
    """Write a size for people.

    Args:
        count: bytes.

    Returns:
        Such as "340 kB" or "1.2 GB", in powers of 1000.
    """
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
