"""A store's runs as tables: groups of them, every one, and one in full."""

from collections.abc import Sequence
from pathlib import Path

from reticent.findings.runs import Group, Listing, Run, RunShown, leaves
from reticent.report import blocks as b
from reticent.rounding import MISSING
from reticent.say.runs import size


def groups(found: Listing) -> b.Table:
    """List groups of runs."""
    numbers = (b.Column(title, whole=True) for title in ("seed", "models", "signals", "size"))
    when = b.Column("when", numbers=False, whole=True)
    heads = (*b.words("data", "recipe"), *numbers, when, *b.words("state"))
    return b.table("Runs of one recipe, data set and seed", heads, map(_group, found.groups))


def _group(group: Group) -> tuple[str, ...]:
    seed = MISSING if group.seed is None else str(group.seed)
    counts = (str(group.models), str(group.signals), size(group.bytes))
    return (group.data, group.recipe, seed, *counts, _when(group), group.state)


def runs(found: Sequence[Run]) -> b.Table:
    """List runs, one a line."""
    whole = {"run": False, "kind": False, "model": True, "size": True, "when": False}
    heads = (b.Column(title, numbers=right, whole=True) for title, right in whole.items())
    return b.table("Runs", (*heads, *b.words("state")), map(_run, found))


def _run(run: Run) -> tuple[str, ...]:
    model = MISSING if run.model is None else str(run.model)
    state = run.state + (f" ({run.problem})" if run.problem else "")
    return run.folder, run.kind, model, size(run.bytes), _when(run), state


def run(shown: RunShown, folder: Path) -> b.Facts:
    """Show one run."""
    state = shown.state + (f": {shown.problem}" if shown.problem else "")
    rows = {"run": shown.id, "folder": str(folder), "kind": shown.kind, "state": state, "when": _when(shown)}
    rows |= {"size": size(shown.bytes)} | ({"asked in": ", ".join(shown.signals)} if shown.signals else {})
    files = ((one.name, f"{size(one.bytes or 0)}, sha256 {one.sha256 or 'not noted'}") for one in shown.files)
    parts = {"made from": _leaves(shown.spec), "facts": _leaves(shown.facts), "files": tuple(files)}
    return b.Facts((("", tuple(rows.items())), *((title, values) for title, values in parts.items() if values)))


def _leaves(tree: object) -> tuple[tuple[str, str], ...]:
    return tuple((key, str(value)) for key, value in leaves(tree))


def _when(one: Run | Group) -> str:
    return f"{one.when:%Y-%m-%d %H:%M}"
