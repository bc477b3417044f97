"""What a population is made of, and the identities of its runs."""

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.errors import InputError, RolesError, ShapeError
from reticent.objectives.imitation import Imitating
from reticent.procedures import entry
from reticent.procedures.base import undefended
from reticent.samplers.base import Scored
from reticent.signals.probes import Probe
from reticent.signals.queries import Queries
from reticent.spec import Spec, identity
from reticent.training.recipe import Recipe, Untouched
from reticent.training.streams import Streams


class TrainingRun(Spec):
    """What a training run is made from.

    What is done to a model's answers is no part of its training, so that it trains nothing again.
    """

    kind: str
    model: int
    members: str
    recipe: Recipe
    data: str
    seed: int
    validation: str | None = None
    reference: str | None = None
    watch: bool = False
    trace: bool = False
    imitating: Imitating | None = None
    answers: str | None = None
    stacked: bool = False


class MemorisationRun(Spec):
    """What a run of memorisation scores is made from: plain training of the same members, and the sub-models."""

    kind: str
    plain: str
    models: int
    outside: int


class ProbeRun(Spec):
    """What a probe's run is made from: the training run, the probe, the records."""

    kind: str
    of: str
    probe: Spec
    audited: str
    seed: int
    output: Spec = Untouched()
    population: str | None = None


class SignalsRun(Spec):
    """What a signals run is made from: the training run, the records, the queries, the output defense."""

    kind: str
    of: str
    queries: Queries
    audited: str
    population: str
    output: Spec = Untouched()


@dataclass(frozen=True, eq=False)
class Imitated:
    """What the models of a population imitate: one model's logits ``float32 (N, C)`` of the audited records."""

    spec: Imitating
    answers: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Population:
    """M models by one recipe on the rows of one membership.

    Attributes:
        roles: which records serve for what; the membership's columns are ``roles.audited``.
        seed: the master seed; model m draws from the streams named ``("model", m, ...)``.
        queries: the views of each record that the signals hold.
        watch: note each model's accuracy on its own non-members after every epoch, in the training run's log.
        drawing: the number m of the streams ``("model", m, ...)`` that each model draws from, by default its row.
            Models of one number begin with the same weights, and draw the same order of as many records.
        probes: what each model is asked besides; no part of the other runs' identities.
        trace: note the losses of each model's members before training and after every epoch, in the training run.
        imitated: what each model imitates on its members, where it is plainly trained to; or None.
        stack: how many models a process trains as one batched computation at most; 1 is each alone. Which models are
            trained together changes no bit of any.
    """

    recipe: Recipe
    records: Records
    roles: Roles
    membership: Membership
    seed: int
    queries: Queries = field(default_factory=Queries)
    watch: bool = False
    drawing: tuple[int, ...] = ()
    trace: bool = False
    imitated: Imitated | None = None
    probes: tuple[Probe, ...] = ()
    stack: int = 1

    def __post_init__(self) -> None:
        self.roles.check(self.records)
        if self.membership.records != len(self.roles.audited):
            raise ShapeError(
                f"membership has {self.membership.records} records, the audited role {len(self.roles.audited)}: "
                "expected the same"
            )
        if (empty := ~self.membership.matrix.any(axis=1)).any():
            raise InputError(f"membership: model {int(empty.argmax())} has no record to train on")
        for probe in self.probes:
            probe.check(self.records.kind, len(self.roles.population))
        self.queries.check(self.records.kind, self.records.x.shape[1:])
        rarest = int(np.bincount(self.records.y[self.roles.audited], minlength=self.records.classes).min())
        if rarest == 0:
            missing = np.setdiff1d(np.arange(self.records.classes), self.records.y[self.roles.audited])
            raise RolesError(
                f"the {len(self.roles.audited)} audited records hold none of class {missing[0]} "
                f"({len(missing)} of {self.records.classes} classes are missing): audit more records"
            )

    @property
    def models(self) -> int:
        """Number of models M."""
        return self.membership.models

    @cached_property
    def previous(self) -> "Population | None":
        """The models that the last stage goes on from, where what comes before it stands alone."""
        recipe = entry(self.recipe).first(self.recipe)
        return None if recipe is None else replace(self, recipe=recipe)

    @cached_property
    def stages(self) -> list["Population"]:
        """The models of every stage that stands alone: these, those that they go on from, and so on."""
        previous = self.previous
        return [self] if previous is None else [self, *previous.stages]

    def members(self, model: int) -> NDArray[np.int64]:
        """Return the data set's ids of the records that one model trains on."""
        ids: NDArray[np.int64] = self.roles.audited[self.membership.members(model)]
        return ids

    def streams(self, model: int) -> Streams:
        """Return the random streams of one model."""
        return Streams(self.seed, self.drawing[model] if self.drawing else model)

    def training_spec(self, model: int) -> TrainingRun:
        """State what a training run is made from."""
        roles, imitated = self.roles, self.imitated
        return TrainingRun(
            kind="training",
            model=self.streams(model).model,
            members=_digest(self.members(model)),
            recipe=self.recipe.replace(output=Untouched()),
            data=self.records.digest,
            seed=self.seed,
            validation=_digest(roles.validation) if len(roles.validation) else None,
            reference=_digest(roles.reference) if len(roles.reference) else None,
            watch=self.watch,
            trace=self.trace,
            imitating=None if imitated is None else imitated.spec,
            answers=None if imitated is None else _digest(imitated.answers[self.membership.members(model)], "<f4"),
            stacked=self.stack > 1,
        )

    def memorisation_spec(self, model: int) -> MemorisationRun | None:
        """State what the scores that a sampler goes by are made from, whatever else the recipe is; None without one."""
        sampler = self.recipe.sampler
        if not isinstance(sampler, Scored):
            return None
        return MemorisationRun(
            kind="memorisation",
            plain=self._plain.training_id(model),
            models=sampler.models,
            outside=sampler.outside,
        )

    @cached_property
    def _plain(self) -> "Population":
        """The models without a defense, each alone."""
        return replace(self, recipe=undefended(self.recipe), watch=False, trace=False, imitated=None, stack=1)

    def signals_spec(self, model: int) -> SignalsRun:
        """State what a signals run is made from."""
        return SignalsRun(
            kind="signals",
            of=self.training_id(model),
            queries=self.queries,
            audited=_digest(self.roles.audited),
            population=_digest(self.roles.population),
            output=self.recipe.output,
        )

    def probe_spec(self, model: int, probe: Probe) -> ProbeRun:
        """State what a probe's run is made from; the output defense only where more than labels are seen."""
        return ProbeRun(
            kind="probe",
            of=self.training_id(model),
            probe=probe,
            audited=_digest(self.roles.audited),
            seed=self.seed,
            output=Untouched() if probe.of_labels else self.recipe.output,
            population=_digest(self.roles.population) if probe.of_population else None,
        )

    def training_id(self, model: int) -> str:
        """Name the run that trains one model."""
        return identity(self.training_spec(model))

    def signals_id(self, model: int) -> str:
        """Name the run that holds what one model says."""
        return identity(self.signals_spec(model))

    def probe_id(self, model: int, probe: Probe) -> str:
        """Name the run that holds what one model says to a probe."""
        return identity(self.probe_spec(model, probe))

    def run_ids(self, model: int) -> list[str]:
        """Name all runs of one model."""
        probes = [self.probe_id(model, probe) for probe in self.probes]
        return [self.training_id(model), self.signals_id(model), *probes]


def _digest(values: NDArray[Any], dtype: str = "<i8") -> str:
    return hashlib.sha256(np.ascontiguousarray(values, dtype=dtype).tobytes()).hexdigest()[:20]
