"""Runs of one recipe, data set and seed as one line: a population of models, most often."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from reticent.jobs.runs.inventory import Entry, Inventory
from reticent.spec import identity

ORPHANS = "signals whose models were removed"
OF_STATE = "signals of models that are {0}"
"""What stands in place of a recipe where the model is there, but does not say what it was made from."""
UNREADABLE = "what cannot be read"
WITHOUT_SPEC = {"unfinished": "unfinished, left by a process that ended", "in use": "being made by a live process"}
"""State -> what stands in place of a recipe where a run does not say yet what it is made from."""
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
        """Return plain values."""
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
    """Put the runs of one recipe, data set and seed together, signals with their models."""
    made = ("training", "repair")
    specs = {entry.id: entry.spec for entry in inventory.entries if entry.kind in made and entry.spec}
    states = {entry.id: entry.state for entry in inventory.entries if entry.kind != "signals"}
    gathered: dict[str, list[Entry]] = {}
    for entry in inventory.entries:
        gathered.setdefault(_key(entry, specs, states), []).append(entry)
    groups = [_group(entries, specs, states) for entries in gathered.values()]
    shared = {id(one): _made_from(one.entries[0], specs) for one in groups}
    alike: dict[tuple[Any, ...], list[Group]] = {}
    for one in groups:
        alike.setdefault((one.recipe, one.data, one.seed), []).append(one)
    told = [new for same in alike.values() for new in _apart(same, [shared[id(one)] or {} for one in same])]
    return sorted(told, key=lambda one: one.when, reverse=True)


def _apart(groups: Sequence[Group], specs: Sequence[Mapping[str, Any]]) -> list[Group]:
    """Name the options in which groups differ that would look alike."""
    if len(groups) == 1:
        return list(groups)
    flat = [
        {key.removeprefix("recipe."): value for key, value in leaves(spec) if key not in PER_MODEL} for spec in specs
    ]
    keys = dict.fromkeys(key for one in flat for key in one)
    differing = [key for key in keys if len({repr(one.get(key)) for one in flat}) > 1]
    return [
        replace(group, recipe=", ".join([group.recipe, *(f"{key} {_short(one.get(key))}" for key in differing)]))
        for group, one in zip(groups, flat, strict=True)
    ]


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text[:8] if re.fullmatch("[0-9a-f]{20,}", text) else text[:40]


def leaves(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """Take a tree of plain values apart."""
    if not isinstance(tree, Mapping):
        return [(path, tree)]
    return [leaf for key, value in tree.items() for leaf in leaves(value, f"{path}.{key}" if path else str(key))]


def _made_from(entry: Entry, specs: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Find the spec of the training run that an entry is, or belongs to."""
    return specs.get(entry.of or entry.id)


def _key(entry: Entry, specs: Mapping[str, Mapping[str, Any]], states: Mapping[str, str]) -> str:
    spec = _made_from(entry, specs)
    if spec is None:
        return _unknown(entry, states)
    return identity({key: value for key, value in spec.items() if key not in PER_MODEL})


def _unknown(entry: Entry, states: Mapping[str, str]) -> str:
    """Say of a run in place of its recipe why that is not known."""
    if entry.state in WITHOUT_SPEC:
        return WITHOUT_SPEC[entry.state]
    if entry.kind != "signals":
        return UNREADABLE
    state = states.get(entry.of or "")
    return ORPHANS if state is None else OF_STATE.format(state)


def _group(entries: Sequence[Entry], specs: Mapping[str, Mapping[str, Any]], states: Mapping[str, str]) -> Group:
    spec = _made_from(entries[0], specs)
    if spec is None:
        return Group(_unknown(entries[0], states), "–", None, tuple(entries))
    names = [str(entry.facts["data"]) for entry in entries if "data" in entry.facts]
    seed = spec.get("seed")
    return Group(
        recipe=recipe(spec),
        data=names[-1][:60] if names else str(spec.get("data", "–"))[:8],
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) and abs(seed) < 2**64 else None,
        entries=tuple(entries),
    )


def recipe(spec: Mapping[str, Any]) -> str:
    """Say in short how models are made."""
    made = spec.get("recipe")
    if not isinstance(made, Mapping):
        return UNREADABLE
    parts = [_method(made, "architecture"), f"{_short(made.get('epochs'))} epochs"]
    parts.append(f"{_short(made.get('optimizer'))} {_short(made.get('learning_rate'))}")
    if made.get("weight_decay"):
        parts.append(f"weight decay {_short(made['weight_decay'])}")
    parts += [_method(made, key) for key, usual in USUAL.items() if _method(made, key) not in {usual, "None"}]
    return ("repair of " if spec.get("kind") == "repair" else "") + ", ".join(parts)


USUAL = {"objective": "cross-entropy", "procedure": "plain", "augmentation": "none"}
"""Parts of a recipe that are named only where they are not these."""


def _method(made: Mapping[str, Any], key: str) -> str:
    part = made.get(key)
    if not isinstance(part, Mapping):
        return str(part)[:60]
    own = part.get("factory") or part.get("function")
    return str(own or part.get("method"))[:60]
