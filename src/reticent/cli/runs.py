"""``reticent runs``: what is in the store, whether it still holds, and how to remove what is not wanted."""

import json as writer
import sys
from collections.abc import Sequence
from pathlib import Path

import cyclopts

from reticent.cli.flags import Switch
from reticent.cli.screen import say, show, stdout
from reticent.errors import InputError
from reticent.findings.base import Finding
from reticent.findings.runs import Removal
from reticent.jobs import runs as job
from reticent.report.kinds import runs as kinds
from reticent.say import runs as words

app = cyclopts.App(name="runs")
STORE = Path(words.STORE)


@app.command(name="list")
def list_(*, store: Path = STORE, all: Switch = False, json: Switch = False) -> None:  # noqa: A002
    """List the runs of a store: by default one line for all models of one recipe, data set and seed.

    Hashes are not checked here: see `reticent runs verify`.

    Args:
        store: Folder of finished models.
        all: One line a run.
        json: As JSON, for programs; always with every run.
    """
    found = job.scan(store)
    if json:
        _json(found)
        return
    if found.runs:
        show(kinds.runs(found.runs) if all else kinds.groups(found))
    say(*words.summary(found))


@app.command(name="show")
def show_(run: str, /, *, store: Path = STORE, json: Switch = False) -> None:
    """Show one run: its state, what it was made from, its files, what was made from it.

    Args:
        run: Its name, or as much of the beginning as no other run has.
        store: Folder of finished models.
        json: As JSON, for programs.
    """
    found = job.scan(store)
    one = job.find(found, run)
    shown = job.show(found, one)
    if json:
        _json(shown)
    else:
        show(kinds.run(shown, job.folder(found, one)))


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
    found = job.scan(store)
    checked = job.verify(found, runs)
    say(*words.verified(checked, found.store), *([] if runs else words.foreign(found.foreign)))
    raise SystemExit(int(any(one.corrupt or one.unreadable for one in checked)))


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
    found = job.scan(store)
    planned = job.plan(found, runs, corrupt=corrupt, unfinished=unfinished, older_than=older_than, everything=all)
    if planned.runs:
        show(kinds.runs(planned.runs))
    say(*words.planned(planned))
    if not planned.runs:
        raise SystemExit(int(bool(planned.kept)))
    if not yes and not _agreed(planned):
        say(words.DECLINED)
        raise SystemExit(1)
    gone = job.remove(found, planned)
    say(*words.removed(gone))
    if gone.kept or planned.kept:
        raise SystemExit(1)
    return [job.folder(found, run) for run in gone.runs]


def _agreed(planned: Removal) -> bool:
    if not sys.stdin.isatty():
        raise InputError("nobody is there to ask whether to remove them: give --yes")
    try:
        answer = stdout().input(words.question(planned), markup=False)
    except EOFError:
        return False
    return answer.strip().lower() in {"y", "yes"}


def _json(found: Finding) -> None:
    sys.stdout.write(writer.dumps(found.to_json(), indent=1, ensure_ascii=True) + "\n")
