"""The store for people: what is in it, whether it still holds, and how to remove what is not wanted."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from reticent.errors import InputError, StoreError, StoreLockedError
from reticent.findings.base import Plain
from reticent.findings.runs import (
    Checked,
    File,
    Group,
    Kept,
    Kind,
    Listing,
    Removal,
    Run,
    RunShown,
    State,
    leaves,
)
from reticent.say import runs as say
from reticent.say.grammar import middle_out, some
from reticent.spec import identity
from reticent.store import PARTIAL, REMOVING, RUNS, Store, examine, is_folder, look
from reticent.store.disk import gone, read_plain
from reticent.store.run import DONE
from reticent.store.run import Run as StoredRun

NAME = re.compile(rf"([0-9a-f]{{20}})({re.escape(PARTIAL)}|{re.escape(REMOVING)})?")
"""The name of a run's folder; what is named otherwise was not made by reticent, and is never touched."""
WITH_RECIPE = {Kind.TRAINING, Kind.MEMORISATION, Kind.STACKING, Kind.REPAIR}
OF_A_MODEL = {Kind.SIGNALS, Kind.PROBE}
"""Runs that are made from a training run."""
PER_MODEL = ("model", "members", "kind", "plain")
"""Parts of a training run's spec in which the models of a population differ."""
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
T = TypeVar("T")
Found = tuple[State, str | None]
"""A state, and what is wrong."""


def scan(root: Path) -> Listing:
    """Look at every folder of a store; hashes are not checked (see `verify`), files that are missing are noted."""
    place = root / RUNS
    if not is_folder(root):
        raise StoreError(
            "`reticent runs` is for folders: list the runs of an object store with its own tools, and remove them with "
            "those while nothing runs"
        )
    try:
        if not place.is_dir():
            what = "is not a store (it has no folder runs/)" if root.exists() else "does not exist"
            raise StoreError(f"the store {str(root)!r} {what}: give --store DIR, the same as for `reticent audit`")
        folders = sorted(place.iterdir())
        own = [path for path in folders if NAME.fullmatch(path.name) and not path.is_symlink() and path.is_dir()]
        others = {*folders} - {*own}
    except OSError as error:
        raise StoreError(f"the store {root} cannot be read ({error.strerror or error})") from None
    # A process that ends while this looks may take a folder away.
    runs = [run for path in own if (run := _run(Store(root), path)) is not None]
    return Listing(
        store=str(root),
        bytes=sum(run.bytes for run in runs),
        groups=_groups(runs),
        runs=tuple(runs),
        foreign=tuple(path.name for path in folders if path in others),
    )


def _run(store: Store, folder: Path) -> Run | None:
    try:
        changed = folder.stat().st_mtime
    except OSError:
        return None
    run_id, _, suffix = folder.name.partition(".")
    ended, wrong = (None, None) if suffix else _read(lambda: look(folder), DONE)
    spec, unread = _read(lambda: read_plain(folder / "spec.json"), "spec.json")
    if ended is not None:
        wrong = _missing(ended) or unread or (State.FINISHED, None)
    state, problem = wrong or _unfinished(store, run_id, suffix)
    spec, facts = spec or {}, {} if ended is None else dict(ended.facts)
    kind, of, row = (facts.get(key, spec.get(key)) for key in ("kind", "of", "model"))
    return Run(
        id=run_id,
        folder=folder.name,
        kind=Kind(kind) if kind in list(Kind) else Kind.UNKNOWN,
        state=state,
        model=row if isinstance(row, int) and not isinstance(row, bool) and 0 <= row < 10**9 else None,
        of=of if isinstance(of, str) else None,
        bytes=_size(folder),
        when=_when(facts, changed),
        problem=problem,
        spec=spec,
        facts=facts,
        digests={} if ended is None else dict(ended.files),
    )


def _read(read: Callable[[], T], file: str) -> tuple[T | None, Found | None]:
    """Read a file of a run, or say what is wrong with it; neither, if it is not there."""
    try:
        return read(), None
    except OSError as error:
        return None, None if gone(error) else (State.UNREADABLE, f"{file}: {error.strerror or error}")
    except ValueError as error:
        return None, (State.CORRUPT, f"{file} cannot be read: {error}")


def _missing(run: StoredRun) -> Found | None:
    """Look whether all files of a finished run are there."""
    found = {name: _read((run.folder / name).stat, name) for name in sorted(run.files)}
    for _, wrong in found.values():
        if wrong is not None:
            return wrong
    missing = ", ".join(name for name, (there, _) in found.items() if there is None)
    return (State.CORRUPT, f"{missing} missing") if missing else None


def _unfinished(store: Store, run_id: str, suffix: str) -> Found:
    """Say what a folder is that holds no finished run."""
    try:
        holder = store.holder(run_id)
    except OSError as error:
        told = f"whether a live process is writing it is not known: {error.strerror or error}"
        return State.UNREADABLE, told
    if holder is not None:
        return State.IN_USE, f"by {holder}"
    ended = {"": say.NOT_DONE, REMOVING: say.REMOVAL_INTERRUPTED}
    return State.UNFINISHED, ended.get(suffix and f".{suffix}", say.PROCESS_ENDED)


def _size(folder: Path) -> int:
    """Add up what lies in a folder, as far as it can be read; links are not followed."""
    sizes = (_read((Path(place) / name).lstat, name)[0] for place, _, names in os.walk(folder) for name in names)
    return sum(found.st_size for found in sizes if found is not None)


def _when(facts: Plain, changed: float) -> datetime:
    try:
        when = datetime.fromisoformat(str(facts.get("finished")))
    except ValueError:
        return datetime.fromtimestamp(changed, UTC)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _groups(runs: Sequence[Run]) -> tuple[Group, ...]:
    """Put the runs of one recipe, data set and seed together, signals with their models."""
    specs = {run.id: run.spec for run in runs if run.kind in WITH_RECIPE and run.spec}
    states = {run.id: run.state for run in runs if run.kind not in OF_A_MODEL}
    gathered: dict[str | tuple[bool, State | None], list[Run]] = {}
    for run in runs:
        spec = specs.get(run.of or run.id)
        gathered.setdefault(_unknown(run, states) if spec is None else identity(_shared(spec)), []).append(run)
    alike: dict[object, list[tuple[Group, Plain]]] = {}
    for key, same in gathered.items():
        spec = specs.get(same[0].of or same[0].id, {})
        group = _group(same, say.unknown(*key) if isinstance(key, tuple) else say.recipe(spec), spec)
        alike.setdefault((group.recipe, group.data, group.seed), []).append((group, dict(leaves(_shared(spec)))))
    told = [group for same in alike.values() for group in _apart(same)]
    return tuple(sorted(told, key=lambda group: group.when, reverse=True))


def _shared(spec: Plain) -> Plain:
    return {key: value for key, value in spec.items() if key not in PER_MODEL}


def _unknown(run: Run, states: Mapping[str, State]) -> tuple[bool, State | None]:
    """Find why a recipe is not known: whether these are signals, and the state of the run, or of their model."""
    if run.written and run.kind in OF_A_MODEL:
        return True, states.get(run.of or "")
    return False, State.UNREADABLE if run.written else run.state


def _group(runs: Sequence[Run], recipe: str, spec: Plain) -> Group:
    names = [str(run.facts["data"]) for run in runs if spec and "data" in run.facts]
    seed = spec.get("seed")
    finished = [run.kind for run in runs if run.state is State.FINISHED]
    return Group(
        recipe=recipe,
        data=middle_out(names[-1]) if names else str(spec.get("data", "–"))[:8],
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) and abs(seed) < 2**64 else None,
        models=finished.count(Kind.TRAINING),
        signals=finished.count(Kind.SIGNALS),
        bytes=sum(run.bytes for run in runs),
        when=max(run.when for run in runs),
        state=say.states(run.state for run in runs),
        runs=tuple(run.folder for run in runs),
    )


def _apart(same: Sequence[tuple[Group, Plain]]) -> list[Group]:
    """Name the options in which groups differ that would look alike."""
    keys = dict.fromkeys(key for _, options in same for key in options)
    differing = [key for key in keys if len({repr(options.get(key)) for _, options in same}) > 1]
    return [
        group.with_(recipe=say.further(group.recipe, {key: options.get(key) for key in differing}))
        for group, options in same
    ]


def find(found: Listing, prefix: str) -> Run:
    """Find a run by the beginning of its name."""
    # Of folders of one name, the finished run comes first.
    begin = [run for run in reversed(found.runs) if prefix and (run.id.startswith(prefix) or run.folder == prefix)]
    fits = {run.id: run for run in begin}
    if not fits:
        raise InputError(f"no run of {found.store} has a name that begins with {prefix!r}: see `reticent runs list`")
    if len(fits) > 1:
        raise InputError(f"{prefix!r} begins the names of {len(fits)} runs, give more of it: {some(sorted(fits))}")
    return next(iter(fits.values()))


def folder(found: Listing, run: Run) -> Path:
    """Return where a run lies."""
    return Path(found.store) / RUNS / run.folder


def show(found: Listing, run: Run) -> RunShown:
    """Look at one run in full."""
    try:
        present = {path.name: path.lstat().st_size for path in sorted(folder(found, run).iterdir())}
    except OSError:
        present = {}
    names = sorted({*present, *run.digests})
    return RunShown(
        **dict(run),
        files=tuple(File(name=name, bytes=present.get(name), sha256=run.digests.get(name)) for name in names),
        signals=tuple(one.folder for one in found.made_from(run)),
    )


def verify(found: Listing, names: Sequence[str] = ()) -> tuple[Checked, ...]:
    """Compute the hashes of runs anew: of these, or of all. Every byte is read once."""
    return tuple(check(found, run) for run in ([find(found, name) for name in names] or found.runs))


def check(found: Listing, run: Run) -> Checked:
    """Compute the hashes of a finished run anew; name links, and what lies in its folder and is not of it."""
    place = folder(found, run)
    if not run.written or run.folder != run.id:
        return Checked(run=run)
    ended, problems = examine(place)
    if ended is None and not problems:
        return Checked(run=run, corrupt=(f"{DONE} is gone",))
    try:
        paths = [] if ended is None else sorted(place.iterdir())
    except OSError:
        paths = []
    own = {DONE, *run.digests}
    strays = [f"{path.name} is not of this run: it is not used" for path in paths if path.name not in own]
    links = [f"{path.name} is a link to a file elsewhere" for path in paths if path.name in own and path.is_symlink()]
    return Checked(
        run=run,
        corrupt=tuple(str(one) for one in problems if not one.passing),
        unreadable=tuple(str(one) for one in problems if one.passing),
        notes=(*strays, *links),
    )


def plan(
    found: Listing,
    names: Sequence[str] = (),
    *,
    corrupt: bool = False,
    unfinished: bool = False,
    older_than: str | None = None,
    everything: bool = False,
) -> Removal:
    """Choose what to remove, in one of these ways; nothing is removed yet.

    What cannot be read now is not corrupt. Signals go with the model that they are of.
    """
    ways = [bool(names), corrupt or unfinished, older_than is not None, everything]
    if sum(ways) != 1:
        raise InputError(
            "expected one of: names of runs, --corrupt and/or --unfinished, --older-than 30d, --all; "
            f"got {'none' if not any(ways) else 'several'}"
        )
    if names:
        asked = list({run.folder: run for run in (find(found, name) for name in names)}.values())
    elif older_than is not None:
        before = datetime.now(UTC) - age(older_than)
        asked = [run for run in found.runs if run.when < before]
    else:
        broken = {one.run.folder for one in verify(found) if one.corrupt} if corrupt else set()
        asked = [run for run in found.runs if everything or (unfinished and not run.written) or run.folder in broken]
    store = Store(Path(found.store))
    chosen, with_them, kept = list[Run](), list[Run](), list[Kept]()
    folders, made_from = {run.folder for run in asked}, dict[str | None, list[Run]]()
    for one in found.runs:
        made_from.setdefault(one.of, []).append(one)
    for run in asked:
        # Others were made from a finished run alone: a folder beside it of the same name is not that run.
        signals = made_from.get(run.id, []) if run.kind not in OF_A_MODEL and run.folder == run.id else []
        held = next((who for one in (run, *signals) if (who := _holder(store, one.id))), None)
        if held and names:
            raise StoreLockedError(f"run {run.id} is in use by {held}, which is alive: nothing was removed")
        if held:
            kept.append(Kept(run=run, why=f"{held} is using it, and is alive"))
            continue
        chosen.append(run)
        with_them += [one for one in signals if one.folder not in folders]
    chosen.sort(key=lambda run: run.kind is Kind.TRAINING)
    return Removal(runs=(*with_them, *chosen), with_them=len(with_them), kept=tuple(kept))


def _holder(store: Store, run_id: str) -> str | None:
    """Name the live process that has claimed a run, or uses it."""
    try:
        return store.users().get(run_id) or store.holder(run_id)
    except OSError as error:
        return f"a process that cannot be told ({error.strerror or error})"


def age(text: str) -> timedelta:
    """Read an age."""
    found = re.fullmatch(r"(\d{1,5})([hdw])", text.strip())
    if found is None:
        raise InputError(f"--older-than: expected a number with h, d or w, such as 30d, got {text!r}")
    return int(found[1]) * UNITS[found[2]]


def remove(found: Listing, planned: Removal) -> Removal:
    """Remove what was planned, each folder renamed before it is emptied; what is returned is gone."""
    store = Store(Path(found.store))
    removed, kept = list[Run](), list[Kept]()
    for run in planned.runs:
        try:
            store.remove(run.folder, unfinished=run.state is State.UNFINISHED)
        except StoreLockedError:
            kept.append(Kept(run=run, why=say.MEANWHILE))
        except StoreError as error:
            raise error.prefixed(f"{len(removed)} of {len(planned.runs)} runs were removed, then: ") from None
        else:
            removed.append(run)
    return Removal(runs=tuple(removed), kept=tuple(kept))
