"""Whether a state is one of a network, and a state of other names brought to the network's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from reticent.errors import ModelError

USUAL = ("state_dict", "model_state_dict", "model")
"""Keys under which training scripts put a model's state, beside other things."""
WRAPPERS = frozenset({"module", "_module", "_orig_mod", "model", "net", "network"})
"""Names of modules that hold a whole network: of DataParallel, Opacus, torch.compile, Lightning and common practice.
What stands beside such a one (a metric, a count of averaged models) is not of the network."""

BEFORE_QUANTISED = "give the state of the network before it was quantised (float32), and quantise what is written"


def check_state(network: nn.Module, state: Mapping[str, Tensor], what: str, hint: str = "") -> None:
    """Hold the names, shapes and kinds of a state against those of a network."""
    wanted = network.state_dict(keep_vars=True)
    missing, unknown = [n for n in wanted if n not in state], [n for n in state if n not in wanted]
    known = [n for n in wanted if n in state]
    wrong = [n for n in known if state[n].shape != wanted[n].shape]
    floats = [n for n in known if wanted[n].is_floating_point() or state[n].is_complex()]
    other = [n for n in floats if not state[n].is_floating_point()]  # Whole numbers for weights are quantised ones.
    parts = []
    if missing:
        tensors = "tensor is" if len(wanted) == 1 else "tensors are"
        parts.append(f"{len(missing)} of {len(wanted)} {tensors} missing ({missing[0]}, for one)")
    if unknown:
        parts.append(f"{len(unknown)} {'is' if len(unknown) == 1 else 'are'} not expected ({unknown[0]}, for one)")
    if wrong:
        name = wrong[0]
        have = "has" if len(wrong) == 1 else "have"
        shapes = tuple(wanted[name].shape), tuple(state[name].shape)
        parts.append(f"{len(wrong)} {have} another shape ({name}: expected {shapes[0]}, got {shapes[1]})")
    if other:
        name = other[0]
        kinds = f"{name}: expected {_kind(wanted[name])}, got {_kind(state[name])}"
        parts.append(f"{len(other)} {'holds' if len(other) == 1 else 'hold'} another kind of numbers ({kinds})")
    if parts:
        raise ModelError(f"{what}: expected a state of this network: {', '.join(parts)}{hint}")


def _kind(values: Tensor) -> str:
    return str(values.dtype).removeprefix("torch.")


@dataclass(frozen=True, eq=False)
class _Part:
    """Tensors that may be a network's state: those of one dictionary, behind one prefix.

    Attributes:
        key: where the dictionary lies in what was given; empty for that itself.
        prefix: what stands before the network's names.
        found: what has names of the network, by those.
        beside: what does not, by its own names.
    """

    key: str
    prefix: str
    found: dict[str, Tensor]
    beside: tuple[str, ...]

    def __str__(self) -> str:
        under = f"under the key {self.key!r}" if self.key else ""
        behind = f"behind {self.prefix!r}" if self.prefix else ""
        return " ".join(filter(None, (under, behind))) or "as they are"


def fitted(given: Mapping[str, Any], network: nn.Module, what: str) -> dict[str, Tensor]:
    """Bring a state to a network's names, wherever it stands in what was given and whatever stands before its names."""
    if isinstance(given, nn.Module):
        given = given.state_dict()
    if not isinstance(given, Mapping):
        raise ModelError(
            f"{what}: expected a file or a state dictionary (model.state_dict()), got {type(given).__name__}"
        )
    wanted = network.state_dict(keep_vars=True)
    _check_quantised([name for _, state in _states(given) for name in state], wanted, what)
    parts = [part for key, state in _states(given) for part in _parts(key, state, wanted)]
    if not parts:
        check_state(network, max((state for _, state in _states(given)), key=len, default={}), what)
        return {}
    part = _chosen(parts, wanted, what)
    _check_values(part.found, what)
    state = {name: value.detach() for name, value in part.found.items()}
    state = {name: value if value.layout == torch.strided else value.to_dense() for name, value in state.items()}
    for name, value in state.items():
        wide = value if value.element_size() > 2 else value.float()
        if value.is_floating_point() and not bool(torch.isfinite(wide).all()):
            raise ModelError(f"{what}: {name}: expected finite numbers, got NaN or infinity")
    hint = f"; what stands {part} was held against it" if part.prefix or part.key else ""
    check_state(network, state | dict.fromkeys(part.beside, torch.empty(0)), what, hint)
    return state


def _chosen(parts: list[_Part], wanted: Mapping[str, Tensor], what: str) -> _Part:
    """Choose the part that fits, or else the one that is nearest to it."""
    shapes = {name: value.shape for name, value in wanted.items()}
    fit = [part for part in parts if {name: value.shape for name, value in part.found.items()} == shapes]
    fit = [part for part in fit if part.key in USUAL] or fit
    fit = [part for part in fit if not part.prefix and not part.beside] or fit
    if len(fit) > 1:
        raise ModelError(
            f"{what}: the names of this network stand there {len(fit)} times, {' and '.join(map(str, fit))}: write the "
            "state that is meant into a file of its own"
        )
    return fit[0] if fit else max(parts, key=lambda part: len(part.found))


def _states(given: Mapping[str, Any], key: str = "") -> Iterator[tuple[str, dict[str, Tensor]]]:
    """Find every dictionary that holds tensors."""
    known = {str(name): _tensor(value) for name, value in given.items()}
    tensors = {name: value for name, value in known.items() if value is not None}
    if tensors:
        yield key, tensors
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _states(value, f"{key}.{name}" if key else str(name))


def _tensor(value: Any) -> Tensor | None:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return torch.from_numpy(value.astype(value.dtype.newbyteorder("=")))
    return value if isinstance(value, Tensor) else None


def _parts(key: str, state: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> list[_Part]:
    """Divide a dictionary by what stands before names of the network."""
    found: dict[str, dict[str, Tensor]] = {}
    for name, value in state.items():
        steps = name.split(".")
        for step in range(len(steps)):
            own = ".".join(steps[step:])
            if own in wanted:
                found.setdefault(name[: len(name) - len(own)], {})[own] = value
    return [
        _Part(key, prefix, _tied(values, wanted), _beside(prefix, values, state)) for prefix, values in found.items()
    ]


def _beside(prefix: str, found: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> tuple[str, ...]:
    """List what is not of the network and has no business there."""
    inside = [name.removeprefix(prefix) for name in state if name.startswith(prefix)]
    outside = [name for name in state if not name.startswith(prefix)]
    wrapped = bool(prefix) and WRAPPERS.issuperset(prefix.removesuffix(".").split("."))
    return (*(name for name in inside if name not in found), *([] if wrapped else outside))


def _tied(found: dict[str, Tensor], wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Add the second names of tied parameters."""
    known = {id(value): found[name] for name, value in wanted.items() if name in found}
    return found | {
        name: known[id(value)] for name, value in wanted.items() if name not in found and id(value) in known
    }


def _check_quantised(given: Sequence[str], wanted: Mapping[str, Tensor], what: str) -> None:
    """Refuse the state of quantised layers, whose weights PyTorch packs into what is no tensor."""
    names = [name for name in given if name.rpartition(".")[2] == "zero_point"]
    if names and not any(name.rpartition(".")[2] == "zero_point" for name in wanted):
        raise ModelError(f"{what}: {names[0]} is of a quantised layer: {BEFORE_QUANTISED}")


def _check_values(state: Mapping[str, Tensor], what: str) -> None:
    """Check that tensors hold numbers that a network computes with."""
    for name, value in state.items():
        if value.is_meta:
            raise ModelError(
                f"{what}: {name} is on the meta device, and has no values: give the state after it was filled"
            )
        if value.is_quantized:
            raise ModelError(f"{what}: {name} is quantised: {BEFORE_QUANTISED}")
