"""Blocks of any network in the order in which its modules were registered: what `stages` finds by itself."""

from dataclasses import dataclass, field

from torch import nn
from torch.nn.modules.batchnorm import _NormBase

ENOUGH = 4
"""With this many blocks, lists of blocks are opened only where there is one."""
FEW = 3
"""With fewer blocks, modules that are no lists are opened too."""
NORMS = (_NormBase, nn.GroupNorm, nn.LayerNorm, nn.LocalResponseNorm, nn.RMSNorm)
"""Layers that belong to the layer before them."""
ENDS = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.AdaptiveMaxPool2d, nn.Flatten)
"""Layers without parameters that belong to the layer after them."""
LISTS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
"""Modules that hold others in order."""


@dataclass
class Unit:
    """A module of which it is known in whose hands it lies.

    Attributes:
        name: as in ``named_modules``.
        module: the module.
        ordered: it is called after its neighbour before it, since both lie in one ``nn.Sequential``.
        parameters: names of parameters of containers that were opened, which this unit, as their first, takes over.
    """

    name: str
    module: nn.Module
    ordered: bool
    parameters: list[str] = field(default_factory=list)

    @property
    def stateful(self) -> bool:
        """It has parameters."""
        return next(self.module.parameters(), None) is not None


@dataclass
class Block:
    """Neighbouring units that make one stage."""

    units: list[Unit]
    root: nn.Module

    @property
    def modules(self) -> list[str]:
        """Names of its modules."""
        return [unit.name for unit in self.units]

    @property
    def parameters(self) -> list[str]:
        """Names of parameters that lie in none of its modules."""
        return [name for unit in self.units for name in unit.parameters]

    @property
    def title(self) -> str:
        """The name of its first module with parameters, that of a layer before that of a normalisation."""
        stateful = [unit for unit in self.units if unit.stateful]
        return min(stateful, key=lambda unit: isinstance(unit.module, NORMS)).name

    @property
    def output(self) -> str:
        """The last module that is surely called there: a module without parameters may be in use in many places."""
        last = [unit for unit in self.units if unit.stateful or unit.ordered][-1]
        return callable_name(self.root, last.name)


def callable_name(root: nn.Module, name: str) -> str:
    """Go from a list, which is never called itself, to its last module."""
    module = root.get_submodule(name)
    while isinstance(module, nn.ModuleList | nn.ModuleDict) and len(module):
        last, module = list(module.named_children())[-1]
        name = f"{name}.{last}" if name else last
    return name


def blocks(root: nn.Module) -> list[Block]:
    """Find the blocks."""
    units = [Unit("", root, ordered=False)]
    while True:
        grouped = _grouped(units, root)
        lists = [unit for unit in units if _items(unit, root) > 1]
        if lists and (len(grouped) < ENOUGH or len(lists) == 1):
            units = _opened(units, lists)
        elif len(grouped) < FEW and (own := [unit for unit in units if _own(unit)]):
            units = _opened(units, own)
        else:
            return grouped


def _grouped(units: list[Unit], root: nn.Module) -> list[Block]:
    groups: list[list[Unit]] = []
    waiting: list[Unit] = []
    for unit in units:
        if unit.stateful and not isinstance(unit.module, NORMS):
            groups.append([*waiting, unit])
            waiting = []
        elif waiting or not groups or isinstance(unit.module, ENDS):
            waiting.append(unit)
        else:
            groups[-1].append(unit)
    if waiting and groups:
        groups[-1] += waiting
    return [Block(group, root) for group in groups or [waiting]]


def _items(unit: Unit, root: nn.Module) -> int:
    """Count the blocks of a list, or of a list that is all that a module holds; 0 for what is no list."""
    while not isinstance(unit.module, LISTS):
        inner = [child for child in _children(unit) if child.stateful]
        if len(inner) != 1:
            return 0
        unit = inner[0]
    return len(_grouped(_children(unit), root))


def _own(unit: Unit) -> bool:
    torchs = type(unit.module).__module__.startswith("torch.nn.") and not isinstance(unit.module, LISTS)
    return any(child.stateful for child in _children(unit)) and not (torchs and unit.name)


def _children(unit: Unit) -> list[Unit]:
    ordered = isinstance(unit.module, nn.Sequential)
    return [
        Unit(f"{unit.name}.{name}" if unit.name else name, child, ordered)
        for name, child in unit.module.named_children()
        if not isinstance(child, nn.ParameterList | nn.ParameterDict)
    ]


def _opened(units: list[Unit], chosen: list[Unit]) -> list[Unit]:
    opened = []
    for unit in units:
        if not any(unit is other for other in chosen):
            opened.append(unit)
            continue
        children = _children(unit)
        prefix = f"{unit.name}." if unit.name else ""
        inside = tuple(f"{child.name}." for child in children)
        names = [f"{prefix}{name}" for name, _ in unit.module.named_parameters()]
        first = next(child for child in children if child.stateful)
        first.parameters += [*unit.parameters, *(name for name in names if not name.startswith(inside))]
        opened += children
    return opened
