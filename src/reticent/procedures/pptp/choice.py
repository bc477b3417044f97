"""Which stages of a network PPTP trains again, why, and the state that they begin from."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reticent.errors import InputError, SpecError, nearest
from reticent.findings.training import OnsetFacts
from reticent.locate.layers import FEWEST
from reticent.models.stages import Stage
from reticent.procedures.pptp.spec import AUTO, PPTP
from reticent.training.start import Start

NONE = "no stage was found risky, so that nothing was frozen: the whole network {went}."
HEAD_ALONE = (
    "nothing but the classifier was trained again, which Fang and Kim found not to take much from what tells members "
    "apart."
)
NUMBERED = re.compile(r"stage \d+")
"""Names of stages that a network numbers itself."""


@dataclass(frozen=True)
class Choice:
    """What is trained again.

    Attributes:
        first: index of the first stage that is trained again; those before it stay.
        onset: what was measured, where it was.
    """

    names: tuple[str, ...]
    first: int
    onset: OnsetFacts | None
    notices: tuple[str, ...]


def possible(model: nn.Module, shown: Sequence[Stage], spec: PPTP) -> None:
    """Refuse a choice that cannot be made, before anything is trained."""
    names = [one.name for one in shown]
    trains = [name for name, value in model.named_parameters() if value.requires_grad]
    if spec.stage != AUTO:
        begins = min(place(names, spec.stage) + (spec.boundary == "frozen"), len(names) - 1)
        if not any(one.holds(name) for one in shown[begins:] for name in trains):
            raise SpecError(
                f"pptp: stage: from {names[begins]!r} on no parameter asks for a gradient, so that nothing would be "
                f"trained again: give an earlier stage, one of {', '.join(names)}"
            )
    elif not trains:
        raise SpecError("pptp: the network has no parameter that asks for a gradient: expected one that is trained")


def measurable(members: int) -> None:
    """Refuse to measure a stage with too few members."""
    if members < 2 * FEWEST:
        raise InputError(
            f"pptp: stage: to measure the first risky stage takes at least {2 * FEWEST} members, got {members}: give "
            "the stage"
        )


def chosen(shown: Sequence[Stage], spec: PPTP, measure: Callable[[], OnsetFacts]) -> Choice:
    """Choose the first stage that is trained again."""
    names = tuple(one.name for one in shown)
    onset = measure() if spec.stage == AUTO else None
    found = place(names, spec.stage) if onset is None else onset.index
    first = 0 if found is None else found + (spec.boundary == "frozen")
    went = "was trained on as it was" if spec.rewind == "trained" else "was set back and trained again"
    said = NONE.format(went=went) if found is None else _odd(first, len(names) - 1)
    lead = "pptp" if onset is None else "pptp, in models of which this was measured"
    return Choice(names, min(first, len(names) - 1), onset, (f"{lead}: {said}",) if said else ())


def place(names: Sequence[str], stage: int | str) -> int:
    """Find a stage."""
    known = list(names)
    if isinstance(stage, int):
        numbered = [name for name in known if NUMBERED.fullmatch(name)]
        wanted = f"stage {stage}" if numbered else known[stage - 1] if stage <= len(known) else None
        if wanted not in known:
            highest = len(numbered) or len(known)
            raise SpecError(
                f"pptp: stage: expected a number from 1 to {highest}, or a name, got {stage}: {_all(known)}"
            )
        return known.index(wanted)
    if stage not in known:
        raise SpecError(f"pptp: stage: there is none named {stage!r}: {nearest(stage, known)} ({_all(known)})")
    return known.index(stage)


def _all(known: Sequence[str]) -> str:
    return f"the network's stages are {', '.join(known)}"


def _odd(first: int, last: int) -> str:
    """Say what is odd about a choice, in words that are the same for all models."""
    if first > last:
        return f"the last stage would stay too, and nothing be trained again: {HEAD_ALONE}"
    if first == last and first:
        return HEAD_ALONE
    return "" if first else "no stage comes before the first that is trained again, so that nothing was frozen."


def started(
    model: nn.Module, frozen: Sequence[Stage], trained: Mapping[str, Tensor], back_to: Mapping[str, Tensor]
) -> tuple[Start, int]:
    """Put together the state that the second stage begins from."""
    held = {name for name in model.state_dict() if any(stage.holds(name) for stage in frozen)}
    named = dict(model.named_parameters(remove_duplicate=False))
    tensors = {id(value) for name, value in named.items() if name in held}
    kept = held | {name for name, value in named.items() if id(value) in tensors}
    state = {name: (trained if name in kept else back_to)[name] for name in model.state_dict()}
    parameters = [(name, value) for name, value in model.named_parameters() if name in kept]
    masks = {name: torch.zeros((), dtype=torch.bool).expand(value.shape) for name, value in parameters}
    still = tuple(name for stage in frozen for name in stage.modules)
    return Start(state, masks, still), sum(value.numel() for _, value in parameters)
