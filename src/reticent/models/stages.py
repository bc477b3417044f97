"""The stages of a network in forward order, for what is measured, frozen or rewound stage by stage.

A stage is a run of modules with all their parameters and buffers, and the one module whose output is its feature map.
A network that is `Staged` says its own stages, as most built-in ones do; a user names them by patterns, or `stages`
finds them from the order in which modules were registered.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

from torch import Tensor, nn

from reticent.errors import ModelError, nearest
from reticent.models import _inferred_stages

HEAD = "head"
"""Name of the last stage, which holds the classifier."""
SHOWN = 5
"""How many names an error lists before it counts the rest."""


@dataclass(frozen=True)
class Stage:
    """One stage of a network.

    Attributes:
        name: what it is called, such as "stage 3"; the last one is "head".
        modules: names as in ``named_modules``; every parameter and buffer under them belongs to the stage.
        output: name of the module whose output is the stage's feature map.
        parameters: names of parameters that belong to the stage and lie in none of its modules, such as a class token
            that the network holds itself.
    """

    name: str
    modules: tuple[str, ...]
    output: str
    parameters: tuple[str, ...] = ()

    def holds(self, name: str) -> bool:
        """Tell whether an entry of the ``state_dict`` belongs to this stage."""
        return name in self.parameters or any(not m or name.startswith(f"{m}.") for m in self.modules)


class Staged(nn.Module):
    """A network that says its own stages; a user's network may be one too."""

    def outline(self) -> list[Stage]:
        """Say the stages."""
        raise NotImplementedError


class Layered(Staged):
    """First layers if there are any, a list of blocks, and a classifier called "head", each a stage, in this order."""

    FIRST: ClassVar[str] = "embedding"
    """The module of the first layers, and the name of their stage."""
    BLOCKS: ClassVar[str] = "blocks"
    """The module of the blocks."""
    BLOCK: ClassVar[str] = "block"
    """What the stage of a block is called, in front of its number."""

    def outline(self) -> list[Stage]:
        """Say the stages."""
        places = {f"{self.BLOCK} {i + 1}": f"{self.BLOCKS}.{i}" for i in range(len(getattr(self, self.BLOCKS)))}
        ends = {self.FIRST: self.FIRST} if self.FIRST else {}
        return [Stage(name, (place,), place) for name, place in (ends | places | {HEAD: HEAD}).items()]

    def forward(self, x: Tensor) -> Tensor:
        """Answer logits."""
        for name in filter(None, (self.FIRST, self.BLOCKS, HEAD)):
            x = getattr(self, name)(x)
        return x


def stages(model: nn.Module, patterns: Sequence[str] = ()) -> list[Stage]:
    """Divide a network into stages.

    Without patterns: what a `Staged` network says; for any other one, blocks in the order of registration. A list of
    blocks is opened where it is the only one or where there would be few stages; a layer begins a stage, normalisation
    belongs to the layer before it, pooling to one value and flattening to the layer after it, and a parameter that a
    container holds itself belongs to the container's first stage.
    """
    if next(model.parameters(), None) is None:
        raise ModelError(f"{type(model).__name__} has no parameters, so it has no stages")
    if patterns:
        found = _named(model, patterns)
    elif isinstance(model, Staged):
        found = model.outline()
    else:
        found = _found(model)
    _check(model, found)
    return found


def _found(model: nn.Module) -> list[Stage]:
    blocks = _inferred_stages.blocks(model)
    titles = [block.title for block in blocks[:-1]]
    names = [f"block {index}" if name.isdigit() else name for index, name in enumerate(titles, start=1)]
    return [
        Stage(name, tuple(block.modules), block.output, tuple(block.parameters))
        for name, block in zip([*_unique(names), HEAD], blocks, strict=True)
    ]


def _unique(names: list[str]) -> list[str]:
    counts = Counter([*names, HEAD])
    return [f"{name} ({index})" if counts[name] > 1 else name for index, name in enumerate(names)]


def _named(model: nn.Module, patterns: Sequence[str]) -> list[Stage]:
    modules = [name for name, _ in model.named_modules() if name]
    direct = [name for name, _ in model.named_parameters()]
    found = []
    for index, pattern in enumerate(patterns):
        parts = [part.strip() for part in pattern.split(",") if part.strip()]
        for part in parts or [pattern]:
            if not any(fnmatchcase(name, part) for name in (*modules, *direct)):
                raise ModelError(f"stage pattern {part!r} matches no module: {nearest(part, modules)}")
        matched = list(_topmost([name for name in modules if any(fnmatchcase(name, part) for part in parts)]))
        alone = [n for n in direct if any(fnmatchcase(n, p) for p in parts) and not _under(n, matched)]
        if not matched:
            raise ModelError(
                f"stage pattern {pattern!r} matches parameters and no module, whose output would be the stage's "
                "feature map: add the name of a module after a comma"
            )
        output = _inferred_stages.callable_name(model, matched[-1])
        name = HEAD if index == len(patterns) - 1 else pattern
        found.append(Stage(name, tuple(matched), output, tuple(alone)))
    return found


def _topmost(names: list[str]) -> Iterator[str]:
    kept: list[str] = []
    for name in names:
        if not _under(name, kept):
            kept.append(name)
            yield name


def _under(name: str, modules: list[str]) -> bool:
    return any(name.startswith(f"{module}.") for module in modules)


def _check(model: nn.Module, found: list[Stage]) -> None:
    counts = Counter(stage.name for stage in found)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise ModelError(f"two stages are named {twice[0]!r}: each needs a name of its own")
    owners: dict[int, tuple[str, str]] = {}
    missing = []
    for name, parameter in model.named_parameters(remove_duplicate=False):
        holders = [stage.name for stage in found if stage.holds(name)]
        if len(holders) > 1:
            raise ModelError(f"parameter {name!r} is in two stages, {holders[0]!r} and {holders[1]!r}")
        if not holders:
            missing.append((name, id(parameter)))
            continue
        other, stage = owners.setdefault(id(parameter), (name, holders[0]))
        if stage != holders[0]:
            raise ModelError(
                f"parameters {other!r} and {name!r} are one tensor (tied), and lie in two stages, {stage!r} and "
                f"{holders[0]!r}: name the stages by patterns that put both in one"
            )
    if names := [name for name, key in missing if key not in owners]:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise ModelError(
            f"parameters in no stage: {', '.join(names[:SHOWN])}{more}; add a pattern for them, or their names to one, "
            "after a comma"
        )
