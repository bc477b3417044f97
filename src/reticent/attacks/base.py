"""What every attack takes: the problem, and the facts that the table of attacks states of each attack."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import arrays, checks
from reticent.data.membership import Membership, as_membership, booleans, divided
from reticent.data.units import Units
from reticent.errors import InputError, ShapeError
from reticent.findings.evidence import Importance
from reticent.signals.matrix import Floats, Matrix, Signals
from reticent.signals.probes import Probe
from reticent.spec import Spec

Rows = NDArray[np.int64]
MOST_TOLD = 32
"""Models whose numbers are written out."""
Access = Literal["labels", "probabilities", "logits", "margins"]


@dataclass(frozen=True, eq=False)
class Inputs:
    """The records themselves, as they are stored: ``(N, ...)``, and ``(Z, ...)`` of the population, or none."""

    kind: str
    audited: NDArray[Any]
    population: NDArray[Any]
    vocabulary: int = 0


@dataclass(frozen=True, eq=False)
class Imitators:
    """Models that were trained to answer like one target, each on audited records of its own.

    Attributes:
        margins: of K models, N records and Q queries ``(K, N, Q)``.
        inside: which of them were trained on which records ``(K, N)``; none on all.
    """

    margins: Floats
    inside: NDArray[np.bool_]

    def centres(self) -> Floats:
        """Return the mean margins of those that were not trained on a record ``(N, Q)``."""
        outside = ~self.inside[..., None]
        return np.asarray((self.margins * outside).sum(axis=0, dtype=np.float64) / outside.sum(axis=0))

    def among(self, ids: NDArray[np.int64]) -> "Imitators":
        """Keep some of the records ``(n,)``, in their order."""
        return Imitators(self.margins[:, ids], self.inside[:, ids])


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything an attack may see; use `Problem.make`, which checks it.

    A target is never among its own references, even where it stands in both lists, and an attack uses a target's
    membership row for nothing but the other targets' scores.

    Attributes:
        signals: what M models say of N audited records.
        membership: who was trained on what, ``(M, N)``.
        references: models that may be learned from ``(R,)``.
        population: what the same M models say of Z records that none was trained on, or None.
        replicas: what each model's own Split-AI says of the records that it holds, ``(M, N, C)`` probabilities, NaN
            elsewhere; or None. An attack looks at those of references only, never at its target's.
        units: to which unit each record belongs, where units are audited; or None.
        imitators: by target, models that were trained to answer like it; or None.
        probed: by probe, what the same M models say to it of each record, ``(M, N, K)``.
    """

    signals: Signals
    membership: Membership
    targets: Rows
    references: Rows
    population: Signals | None = None
    replicas: Matrix | None = None
    units: Units | None = None
    imitators: Mapping[int, Imitators] | None = None
    probed: Mapping[Spec, Matrix] = field(default_factory=dict)
    inputs: Inputs | None = None

    @classmethod
    def make(
        cls,
        signals: Signals,
        membership: Membership | ArrayLike,
        targets: ArrayLike | None = None,
        references: ArrayLike | None = None,
        population: Signals | None = None,
        replicas: Matrix | None = None,
        units: Units | None = None,
        imitators: Mapping[int, Imitators] | None = None,
        probed: Mapping[Spec, Matrix] | None = None,
        inputs: Inputs | None = None,
    ) -> "Problem":
        """Check that the parts of a problem fit each other.

        Membership may be zeros and ones; targets and references are rows, or masks ``(M,)``, by default all. References
        may be none, for attacks that learn nothing.

        Raises:
            ShapeError: parts disagree on the models, records, queries or classes.
            InputError: a target has no members, or no non-members.
        """
        turned = (signals.records, signals.models)
        if not isinstance(membership, Membership):
            membership = booleans(membership)
        if isinstance(membership, np.ndarray) and turned[0] != turned[1] and membership.shape == turned:
            raise ShapeError(
                f"membership: expected shape {turned[::-1]} (models, records), as the signals have, got {turned}: it "
                "looks transposed, with a row a record; give membership.T"
            )
        known = as_membership(membership)
        if known.matrix.shape != (signals.models, signals.records):
            raise ShapeError(
                f"membership: expected shape {(signals.models, signals.records)} (models, records), as the signals "
                f"have, got {known.matrix.shape}"
            )
        if population is not None:
            if population.records == 0:
                raise ShapeError("population: expected at least one record, got none: leave it out")
            for what in ("models", "queries", "classes"):
                if getattr(population, what) != getattr(signals, what):
                    raise ShapeError(
                        f"population: expected {getattr(signals, what)} {what}, as the signals of the audited records "
                        f"have, got {getattr(population, what)}"
                    )
        expected = (signals.models, signals.records, signals.classes)
        _check_shape("replicas", replicas, expected)
        for told in (probed or {}).values():
            _check_shape("probed", told, (*expected[:2], told.shape[-1]))
        rows, learned = model_rows(known.models, targets, references)
        _check_audited(known, rows)
        if units is not None:
            units.of_units(known.matrix)
        return cls(signals, known, rows, learned, population, replicas, units, imitators, probed or {}, inputs)

    def among(self, ids: NDArray[np.int64]) -> "Problem":
        """Keep some of the records ``(K,)``, in their order; all of them stay where they are."""
        if np.array_equal(ids, np.arange(self.signals.records)):
            return self
        replicas = None if self.replicas is None else np.asarray(self.replicas[:, ids])
        known = Membership(self.membership.matrix[:, ids])
        units = None if self.units is None else self.units.among(ids)
        imitators = None if self.imitators is None else {t: one.among(ids) for t, one in self.imitators.items()}
        probed = {probe: np.asarray(told[:, ids]) for probe, told in self.probed.items()}
        inputs = None if self.inputs is None else replace(self.inputs, audited=self.inputs.audited[ids])
        return replace(
            self,
            signals=self.signals.among(ids),
            membership=known,
            replicas=replicas,
            units=units,
            imitators=imitators,
            probed=probed,
            inputs=inputs,
        )

    @property
    def drawn(self) -> Membership:
        """Who was trained on what, by unit where units are audited: ``(M, N)`` or ``(M, U)``."""
        return self.membership if self.units is None else Membership(self.units.of_units(self.membership.matrix))

    @property
    def members(self) -> NDArray[np.bool_]:
        """Which targets were trained on which records ``(T, N)``, or units ``(T, U)`` where these are audited."""
        return self.drawn.of(self.targets)

    @property
    def shape(self) -> tuple[int, int]:
        """Targets and records: the shape ``(T, N)`` of scores."""
        return len(self.targets), self.signals.records

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which references were trained on which records, ``(R, N)``."""
        return self.membership.matrix[self.references]


@dataclass(frozen=True)
class Offer:
    """What a problem holds besides models and who was trained on what; known before any model is trained.

    Attributes:
        logits: whether there are logits of the plain query, those of the population too if there is one.
        population: whether there are records that no model was trained on.
        imitators: whether models are trained to answer like the targets.
    """

    classes: int
    queries: int
    logits: bool
    population: bool
    imitators: bool = False

    @classmethod
    def of(cls, problem: Problem) -> "Offer":
        """State what a problem holds."""
        signals, others = problem.signals, problem.population
        logits = signals.logits is not None and (others is None or others.logits is not None)
        return cls(signals.classes, signals.queries, logits, others is not None, problem.imitators is not None)


@dataclass(frozen=True)
class Needs:
    """What an attack looks at besides its targets' answers, given its options; `view` hides everything else.

    Attributes:
        references: how many references a target must have, itself left out, that hold some of the records and not
            others; none in all three of these hides references, and who was trained on what.
        references_in: for each record, those trained on it.
        references_out: for each record, those not trained on it.
        out_only: what references say of records that they were trained on is hidden.
        logits: logits are looked at, where there are any, although margins are enough.
        population: records that no model was trained on are looked at, where there are any.
        replicas: what each reference's own Split-AI says of its members, so that models must be trained by selena.
        imitators: models that were trained to answer like each target.
        probes: what models are asked of each record besides.
        inputs: the records themselves are looked at.
        own: a target's own members and non-members are known, but for the records that are scored; such an attack
            stands in no table with others.
    """

    references: int = 0
    references_in: int = 0
    references_out: int = 0
    out_only: bool = False
    logits: bool = False
    population: bool = False
    replicas: bool = False
    imitators: bool = False
    probes: tuple[Probe, ...] = ()
    inputs: bool = False
    own: bool = False

    @property
    def alone(self) -> bool:
        """Whether a target is attacked without any other model."""
        return not (self.references or self.references_in or self.references_out or self.own)


@dataclass(frozen=True)
class AttackEntry:
    """One line of the table of attacks.

    Attributes:
        score: ``(spec, problem, rng) -> (T, N)`` float64, finite; higher means member.
        access: the least that a model must answer for the default options: its predicted label, all class
            probabilities, logits, or the margin (log-odds) of the true label. No more is shown, but for what `needs`
            names.
        needs: what else it looks at, given the options; by default nothing.
        usual: it may run where no attack is asked for (`jobs.attacks.fitting` chooses); not so variants that only
            reproduce released code, those that need models of a certain defense, and those that others outdo.
        most: answers (targets times records) from which it takes so long that it runs only where it is named.
        fits: ``(spec, offer)`` refuses options that need what a problem does not hold, beyond what `check` sees.
        strong: it compares a record's answer with those of models that were not trained on it. The others do not, and
            miss most of a leak, so a gate passes nothing by them.
        cancels: of a strong attack: whether by these options what every model says of a record alike leaves its score.
        fitted: it fits a network on references (`fitting`); near-complements of a target are none of them.
        short: options by which it is fitted in little time, for tests and the self-test; None for the defaults.
        enough: of an attack that needs more than counts of references tell: ``(problem)`` raises TooFewReferencesError
            where `score` would.
        claims: ``(problem, scores)`` tells the false-positive rates at which records are just flagged, ``(T, N)``, or
            None; of attacks that claim any.
        importance: ``(spec, problem, rng)`` tells where in the answers an attack that learns finds what it finds.
    """

    spec: type[Spec]
    score: Callable[[Any, Problem, np.random.Generator], Floats]
    summary: str
    paper: str
    access: Access
    needs: Callable[[Any], Needs] = lambda _: Needs()
    usual: bool = True
    most: int | None = None
    strong: bool = False
    cancels: Callable[[Any], bool] = lambda _: True
    fitted: bool = False
    short: Spec | None = None
    fits: Callable[[Any, Offer], None] = lambda spec, offer: None
    enough: Callable[[Problem], None] | None = None
    claims: Callable[[Problem, Floats], Floats | None] | None = None
    importance: Callable[[Any, Problem, np.random.Generator], Importance] | None = None

    @property
    def brief(self) -> Spec:
        """Options by which it takes little time."""
        return self.short or self.spec()

    def answered(self, offer: Offer) -> bool:
        """Whether models answer what the attack must see."""
        labels = self.access == "labels" and offer.classes == 2
        return offer.logits or labels or self.access == "margins"

    def check(self, spec: Any, offer: Offer) -> None:
        """Refuse a problem that does not hold, or will not hold, what the attack must see besides references."""
        if not self.answered(offer):
            why = ", which for more than two classes do not tell which class is predicted"
            raise InputError(
                f"{spec.method}: expected logits of all {offer.classes} classes, got margins only"
                f"{why if self.access == 'labels' else ''}: give logits (M, N, C), or leave this attack out"
            )
        queries = getattr(spec, "queries", None)
        if queries is not None and queries > offer.queries:
            raise InputError(
                f"{spec.method}: queries: expected at most {offer.queries}, which the signals hold, got {queries}: "
                "ask for fewer, or compute signals with more queries"
            )
        if self.needs(spec).imitators and not offer.imitators:
            raise InputError(
                f"{spec.method}: expected models that were trained to answer like each target, got none: run reticent "
                "harden, which trains them for one model of your own, or leave this attack out"
            )
        self.fits(spec, offer)


def _check_audited(known: Membership, targets: Rows) -> None:
    """Check that every target has members and non-members, and say which of them have, or else which models."""
    try:
        known.check_divided(targets)
    except InputError as error:
        every = np.flatnonzero(divided(known.matrix))
        if not len(every):
            raise
        chosen = np.intersect1d(every, targets)
        able = chosen if len(chosen) else every
        given = f"= [{', '.join(map(str, able))}]"
        if len(able) > MOST_TOLD:
            given = "among numpy.flatnonzero(membership.any(axis=1) & ~membership.all(axis=1))"
        raise error.retold(
            f"{error}. Models that hold none of the records, or all, may be references alone: give targets {given}"
        ) from None


def _check_shape(name: str, given: Matrix | None, expected: tuple[int, int, int]) -> None:
    if given is not None and tuple(given.shape) != expected:
        meaning = "(models, records, classes)" if name == "replicas" else "(models, records, answers)"
        raise ShapeError(f"{name}: expected shape {expected} {meaning}, as the signals have, got {tuple(given.shape)}")


def model_rows(models: int, targets: ArrayLike | None, references: ArrayLike | None) -> tuple[Rows, Rows]:
    """Check the rows of targets ``(T,)`` and references ``(R,)``, or masks ``(M,)``; by default all models are both."""
    rows = []
    for name, value in (("targets", targets), ("references", references)):
        chosen = np.arange(models) if value is None else arrays.array(value, name)
        expected = f"{name}: expected row numbers of models, or a boolean for each of the {models} models, got "
        if chosen.dtype.kind in "OUS":
            raise ShapeError(f"{expected}{arrays.described(chosen)}: give the rows' numbers, from 0")
        if chosen.dtype == np.bool_ and chosen.ndim == 1 and len(chosen):
            if len(chosen) != models:
                raise ShapeError(f"{expected}{len(chosen)} booleans")
            chosen = np.flatnonzero(chosen)
        if chosen.size == 0:
            chosen = chosen.astype(np.int64)
        checked = checks.integers(ndim=1, low=0, high=models, remedy="rows count from 0", **{name: chosen})
        unique, counts = np.unique(checked, return_counts=True)
        if (counts > 1).any():
            mask = "; a mask is of booleans: give .astype(bool)" if len(checked) == models and max(unique) < 2 else ""
            twice = unique[counts > 1][0]
            raise InputError(f"{name}: expected each model once, got model {twice} more than once{mask}")
        rows.append(checked)
    if len(rows[0]) == 0:
        raise InputError("targets: expected at least one model to audit, got none")
    return rows[0], rows[1]
