"""Runs of one recipe, data set and seed as one line: a population of models, most often."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reticent.jobs.runs.inventory import Entry, Inventory
from reticent.spec import identity

ORPHANS = "signals whose models were removed"
UNREADABLE = "what cannot be read"
PER_MODEL = ("model", "members", "kind")
"""Parts of a training run's spec in which the models of a population differ."""


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that belong together.

    Attributes:
        recipe: how the models are made, in short; or why nothing is known of it.
        data: name of the data set, or the beginning of its hash.
        seed: the master seed, or None.
        entries: training runs and their signals.
    """

    recipe: str
    data: str
    seed: int | None
    entries: tuple[Entry, ...]

    @property
    def models(self) -> int:
        """Number of finished training runs."""
        return sum(entry.kind == "training" and entry.state == "finished" for entry in self.entries)

    @property
    def signals(self) -> int:
        """Number of finished signals runs."""
        return sum(entry.kind == "signals" and entry.state == "finished" for entry in self.entries)

    @property
    def bytes(self) -> int:
        """Size of all."""
        return sum(entry.bytes for entry in self.entries)

    @property
    def when(self) -> datetime:
        """When the last of them was finished, or changed."""
        return max(entry.when for entry in self.entries)

    @property
    def states(self) -> str:
        """How many are in which state, in words."""
        counts = Counter(entry.state for entry in self.entries)
        if set(counts) == {"finished"}:
            return "finished"
        return ", ".join(f"{count} {state}" for state, count in counts.most_common())

    def to_json(self) -> dict[str, Any]:
        """Return plain values.

        Returns:
            The line's facts, and the names of its runs.
        """
        return {
            "recipe": self.recipe,
            "data": self.data,
            "seed": self.seed,
            "models": self.models,
            "signals": self.signals,
            "bytes": self.bytes,
            "when": self.when.isoformat(timespec="seconds"),
            "state": self.states,
            "runs": [entry.folder.name for entry in self.entries],
        }


def group(inventory: Inventory) -> list[Group]:
    """Put the runs of one recipe, data set and seed together, signals with their models.

    Args:
        inventory: of the store.

    Returns:
        The groups, the latest first.
    """
    specs = {entry.id: entry.spec for entry in inventory.entries if entry.kind == "training" and entry.spec}
    gathered: dict[str, list[Entry]] = {}
    for entry in inventory.entries:
        gathered.setdefault(_key(entry, specs), []).append(entry)
    groups = [_group(entries, specs) for entries in gathered.values()]
    return sorted(groups, key=lambda one: one.when, reverse=True)


def _made_from(entry: Entry, specs: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Find the spec of the training run that an entry is, or belongs to."""
    return specs.get(entry.of or entry.id)


def _key(entry: Entry, specs: Mapping[str, Mapping[str, Any]]) -> str:
    spec = _made_from(entry, specs)
    if spec is None:
        return ORPHANS if entry.kind == "signals" else UNREADABLE
    return identity({key: value for key, value in spec.items() if key not in PER_MODEL})


def _group(entries: Sequence[Entry], specs: Mapping[str, Mapping[str, Any]]) -> Group:
    spec = _made_from(entries[0], specs)
    if spec is None:
        missing = ORPHANS if entries[0].kind == "signals" else UNREADABLE
        return Group(missing, "–", None, tuple(entries))
    names = [str(entry.facts["data"]) for entry in entries if "data" in entry.facts]
    seed = spec.get("seed")
    return Group(
        recipe=recipe(spec),
        data=names[-1] if names else str(spec.get("data", "–"))[:8],
        seed=seed if isinstance(seed, int) else None,
        entries=tuple(entries),
    )


def recipe(spec: Mapping[str, Any]) -> str:
    """Say in short how models are made.

    Args:
        spec: of a training run.

    Returns:
        Such as "mlp, 50 epochs, adam 0.001".
    """
    made = spec.get("recipe")
    if not isinstance(made, Mapping):
        return UNREADABLE
    parts = [_method(made, "architecture"), f"{made.get('epochs')} epochs"]
    parts.append(f"{made.get('optimizer')} {made.get('learning_rate')}")
    if made.get("weight_decay"):
        parts.append(f"weight decay {made['weight_decay']}")
    parts += [_method(made, key) for key, usual in USUAL.items() if _method(made, key) not in {usual, "None"}]
    return ", ".join(parts)


USUAL = {"objective": "cross-entropy", "procedure": "plain", "augmentation": "none"}
"""Parts of a recipe that are named only where they are not these."""


def _method(made: Mapping[str, Any], key: str) -> str:
    part = made.get(key)
    if not isinstance(part, Mapping):
        return str(part)
    own = part.get("factory") or part.get("function")
    return str(own or part.get("method"))
