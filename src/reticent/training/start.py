"""Where a training begins other than at a fresh initialisation, and what of the network it must not move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from reticent.models.state_dicts import check_state


@dataclass(frozen=True, eq=False)
class Start:
    """A state to begin from, and what of it stays.

    Attributes:
        state: the whole state, parameters and buffers by name.
        trainable: for parameters of which some or all entries stay as they are, ``bool`` of the parameter's shape: True
            where an entry is trained. A parameter that is not named is trained.
        still: names of modules that stay in eval mode, so that their statistics do not move and they drop nothing.
        epochs: how many epochs of the schedule lie before it, 2.5 for one in the middle of the third.
    """

    state: Mapping[str, Tensor]
    trainable: Mapping[str, Tensor] = field(default_factory=dict)
    still: Sequence[str] = ()
    epochs: float = 0.0

    def begin(self, model: nn.Module) -> nn.Module:
        """Bring a network to this state; parameters that stay as a whole ask for no gradient."""
        check_state(model, self.state, "the state to begin from")
        model.load_state_dict(dict(self.state))
        parameters = dict(model.named_parameters())
        for name, mask in self.trainable.items():
            if not mask.any():
                parameters[name].requires_grad_(False)
        return model


FEW = 0.1
"""Share of a tensor's entries up to which their places are held, in place of a mask and a copy of all of them."""


class _Some:
    """Some entries of a tensor, and what they are to be."""

    def __init__(self, stays: Tensor, values: Tensor) -> None:
        self._places = torch.nonzero(stays, as_tuple=True)
        self._values, self._zero = values[self._places], values.new_zeros(())

    def mask(self, gradient: Tensor) -> None:
        gradient.index_put_(self._places, self._zero)

    def restore(self, parameter: Tensor) -> None:
        parameter.index_put_(self._places, self._values)

    def trains(self, parameter: Tensor) -> Tensor:
        found = torch.ones(parameter.shape, dtype=torch.bool, device=parameter.device)
        return found.index_put_(self._places, found.new_zeros(()))


class _Many:
    """Many entries of a tensor, and what they are to be."""

    def __init__(self, stays: Tensor, values: Tensor) -> None:
        self._stays, self._values = stays, values.clone()

    def mask(self, gradient: Tensor) -> None:
        gradient.masked_fill_(self._stays, 0.0)

    def restore(self, parameter: Tensor) -> None:
        torch.where(self._stays, self._values, parameter, out=parameter)

    def trains(self, parameter: Tensor) -> Tensor:
        return ~self._stays


class Frozen:
    """Holds the entries of a network that a run must not move, whatever its optimizer does.

    A masked gradient alone does not hold them: momentum of earlier steps, weight decay, noise and proximal steps move
    what has no gradient. So gradients are masked, for clipping and the norms of a step to leave the entries out, and
    after each step the entries are put back, bit for bit. A parameter that stays as a whole asks for no gradient, so
    that no optimizer has it; no copy of it is held.
    """

    def __init__(self, model: nn.Module, start: Start | None) -> None:
        masks = start.trainable if start is not None else {}
        parameters = dict(model.named_parameters())
        self._held: dict[Tensor, _Some | _Many] = {}
        for name, mask in masks.items():
            parameter = parameters[name]
            stays = ~mask.to(parameter.device)
            count = int(torch.count_nonzero(stays))
            if count and parameter.requires_grad:
                held = _Some if count <= FEW * stays.numel() else _Many
                self._held[parameter] = held(stays, parameter.detach())
        self._still = [model.get_submodule(name) for name in start.still] if start is not None else []

    def trains(self, parameter: Tensor) -> Tensor | None:
        """Tell which entries of a parameter are trained."""
        found = self._held.get(parameter)
        return None if found is None else found.trains(parameter)

    def quiet(self) -> None:
        """Put what stays in eval mode back into it, after the network was put into training mode."""
        for module in self._still:
            module.eval()

    def mask(self) -> None:
        """Set the gradients of entries that stay to zero, NaN too."""
        for parameter, held in self._held.items():
            if parameter.grad is not None:
                held.mask(parameter.grad)

    @torch.no_grad()
    def restore(self) -> None:
        """Put the entries that stay back to the bits that they had."""
        for parameter, held in self._held.items():
            held.restore(parameter)
