"""DP-SGD: each record's gradient is clipped and Gaussian noise is added, so that epsilon is proved.

Paper: Abadi et al. (2016), "Deep learning with differential privacy", CCS. Per-record gradients and accountants are
those of Opacus (Yousefpour et al., 2021), the sampling and the steps are this package's. Deviations: an epoch has 1 / q
steps, rounded; the PRV accountant's error grows where its grid would not fit into memory. The noise comes from a seeded
generator, not from a cryptographic one: whoever knows the seed knows the noise, so publish no seed with a model.
"""

import math
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import model_validator
from torch import nn

from reticent.errors import SpecError
from reticent.findings.training import ProcedureFacts, Proof
from reticent.objectives import OBJECTIVES
from reticent.procedures.base import Trained, begun, objective, own, snapshot
from reticent.procedures.dpsgd import accounting, gradients, layers, opacus_import
from reticent.procedures.dpsgd.run import Mechanism, PrivateRun, sample_rate, steps_an_epoch
from reticent.spec import Spec
from reticent.training.loop import fit
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Recipe
from reticent.training.run import planned
from reticent.training.streams import Streams

AIMED = 8.0
"""The epsilon that is aimed for where neither it nor the noise is given."""
DELTA = 1e-5
"""The delta where none is given and it is below 1 / n."""
NEIGHBOURS = "add or remove one record"
WITHOUT_NOISE = (
    "The models were trained with clipped gradients and without noise (dpsgd, noise 0): there is no guarantee and no "
    "epsilon."
)


class DPSGD(Spec):
    """Options of DP-SGD."""

    method: ClassVar[str] = "dpsgd"

    epsilon: Annotated[float, Gt(0), Le(1e6)] | None = None
    """The epsilon to keep, from which the noise is computed; 8 where neither it nor `noise` is given."""
    noise: Annotated[float, Ge(0)] | None = None
    """Standard deviation of the noise in units of `max_norm`, in place of `epsilon`; 0 clips and proves nothing."""
    delta: Annotated[float, Gt(0), Lt(1)] | None = None
    """Delta of the guarantee, below 1 / members; by default that of the bounds (`--delta`) where it is given, else
    1e-5, or the largest power of ten below 1 / members."""
    max_norm: Annotated[float, Gt(0)] = 1.0
    """Largest norm of one record's gradient; longer ones are scaled down."""
    accountant: Literal["prv", "rdp"] = "prv"
    """What computes epsilon: prv is tighter; where one cannot, the other one does and the report says so."""
    micro_batch: Annotated[int, Ge(1)] | None = None
    """Most records of one pass, which bounds memory; by default 256, or what keeps their gradients below 512 MiB."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Any:
        if self.epsilon is not None and self.noise is not None:
            raise ValueError(
                "epsilon (the noise follows) or noise (epsilon follows), not both, "
                f"got epsilon {self.epsilon:g} and noise {self.noise:g}"
            )
        return self

    def implied(self) -> dict[str, float]:
        """Return the epsilon that is aimed for where neither it nor the noise is given."""
        return {} if self.noise is not None else {"epsilon": AIMED}


def check(recipe: Recipe) -> None:
    """Refuse what would void the accounting, and a missing Opacus."""
    chosen = recipe.objective.method
    if not OBJECTIVES[chosen].per_record:
        able = ", ".join(sorted(name for name, entry in OBJECTIVES.items() if entry.per_record))
        raise SpecError(
            f"{chosen} cannot be trained with dpsgd: its loss couples the records of a batch, so no gradient belongs "
            f"to one record, clipping bounds nobody's influence, and the accounting would be void: use one of {able}"
        )
    if recipe.clip_norm is not None:
        raise SpecError(
            "clip_norm cannot be used with dpsgd, which clips each record's gradient: leave it out and set max_norm "
            f"of dpsgd instead (got clip_norm {recipe.clip_norm:g})"
        )
    opacus_import.needed()


def check_members(recipe: Recipe, members: int) -> None:
    """Refuse a delta that means nothing for so few members."""
    _delta(own(recipe, DPSGD), members)


def network(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build the untrained network, with GroupNorm where the architecture has BatchNorm."""
    return _built(recipe, materials, streams)[0]


def _built(recipe: Recipe, materials: Materials, streams: Streams) -> tuple[nn.Module, list[str]]:
    model, replaced = layers.without_batchnorm(untrained(recipe, materials, streams))
    layers.out_of_place(model)
    return model, replaced


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train one model.

    Steps are counted as planned: early stopping (`patience`) ends training by what the model says, so that a count of
    the steps taken would say less than the truth.
    """
    spec = own(recipe, DPSGD)
    model, replaced = _built(recipe, materials, streams)
    begun(model, materials)
    layers.check(model)
    members = len(materials.members)
    rate = sample_rate(members, recipe.batch_size)
    steps = accounting.Steps(rate, sum(planned(recipe, steps_an_epoch(rate))), _delta(spec, members))
    noise, spent = _noise(spec, steps)
    initial = snapshot(model)
    mechanism = Mechanism(rate, noise, spec.max_norm, spec.micro_batch)
    loss = objective(recipe)
    with gradients.per_record(model) as hooks:
        make = partial(PrivateRun, mechanism=mechanism, hooks=hooks)
        history = fit(model, recipe, materials, loss, streams, make=make)
    proof = (
        None
        if spent is None
        else Proof(
            epsilon=spent.epsilon,
            delta=steps.delta,
            source=spent.source,
            noise=noise,
            max_norm=spec.max_norm,
            sample_rate=rate,
            steps=steps.count,
            neighbours=NEIGHBOURS,
        )
    )
    said = (*_notices(spec, spent, replaced), *loss.notices())
    return Trained(model, initial, history, facts=ProcedureFacts(notices=said, accountant=proof))


def unproved(recipe: Recipe) -> str:
    """Say that clipping alone proves nothing."""
    return WITHOUT_NOISE if own(recipe, DPSGD).noise == 0 else ""


def usual_delta(members: int) -> float:
    """Choose delta where none is given."""
    below = math.ceil(math.log10(members)) if members > 1 else 1
    return min(DELTA, float(10.0 ** -(below + (10**below == members))))


def _delta(spec: DPSGD, members: int) -> float:
    """Choose delta, and see that it is below 1 / n."""
    if spec.delta is None:
        return usual_delta(members)
    if spec.delta * members >= 1:
        raise SpecError(
            f"dpsgd: delta: expected less than 1 / members = {1 / members:.3g} ({members} members), since a training "
            f"that publishes one record outright would keep a larger one, got {spec.delta:g}"
        )
    return spec.delta


def _noise(spec: DPSGD, steps: accounting.Steps) -> tuple[float, accounting.Spent | None]:
    if spec.noise == 0:
        return 0.0, None
    if spec.noise is not None:
        return spec.noise, accounting.spent(spec.noise, steps, spec.accountant)
    return accounting.noise_for(AIMED if spec.epsilon is None else spec.epsilon, steps, spec.accountant)


def _notices(spec: DPSGD, spent: accounting.Spent | None, replaced: list[str]) -> list[str]:
    notices = [] if spent is not None else [WITHOUT_NOISE]
    if spent is not None and spent.source != spec.accountant:
        notices.append(
            f"The {spec.accountant} accountant could not bound epsilon here; the bound is that of the {spent.source} "
            "accountant."
        )
    if replaced:
        shown = ", ".join(replaced[:4]) + (f" and {len(replaced) - 4} more" if len(replaced) > 4 else "")
        notices.append(
            f"dpsgd put GroupNorm in place of BatchNorm ({shown}), which mixes records: this is another architecture, "
            "so a fair comparison trains the undefended models with GroupNorm too."
        )
    return notices
