"""Quantile regression: is the score above what a record like this would have, had the model not been trained on it?

Paper: Bertran et al. (2023), "Scalable membership inference attacks via quantile regression". No other model is needed:
on records that no model was trained on, a regressor learns from the records themselves (features, pixels, tokens) how
the target's score ``z_y - max_{j != y} z_j`` is distributed, by the mean and standard deviation of a normal law, or by
41 quantiles. The attack's score is a normal score of the false-positive rate at which the record is just flagged.

Deviations: small networks of this package (`mlp`, `cnn`, `transformer`) in place of ConvNeXt and CatBoost; quantiles
that cross are put in order; a quarter of the population is held out and corrects the claimed rates (`conformal`).
Without a population the other audited records are learned from, in two halves: rates are none then, since half of those
are members.

To read from the bottom up: `levels`, and `score` here.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from scipy.special import ndtr

from reticent.attacks.base import AttackEntry, Inputs, Needs, Problem
from reticent.attacks.cross_fitting import folds, words
from reticent.attacks.fitting import Schedule, ask, fit
from reticent.attacks.quantile.levels import LEVELS, WIDEST, conformal, gaussian, pinball
from reticent.errors import InputError
from reticent.signals.matrix import Floats, Signals
from reticent.spec import Spec

if TYPE_CHECKING:
    from torch import Tensor, nn

    from reticent.training.streams import Streams

NETWORKS = {"tabular": "mlp", "image": "cnn", "tokens": "transformer"}
"""What learns, by the kind of records."""
BATCH = 32
HELD = (0.6, 0.15)
"""Shares of the population that are learned from, and that say when to stop; the rest corrects the rates."""


class Quantile(Spec):
    """Options of quantile regression."""

    method: ClassVar[str] = "quantile"

    head: Literal["gaussian", "pinball"] = "gaussian"
    """What is learned of a record's score: mean and standard deviation, or 41 quantiles from 0 to 0.9999."""
    conformal: bool = True
    """Correct the claimed rates by records held out; false learns from these too."""
    steps: Annotated[int, Ge(1)] = 500
    """Steps of each fit, of which the best is kept by the loss on records held out."""
    rate: Annotated[float, Ge(0)] = 1e-3
    """Learning rate of Adam."""


def score(spec: Quantile, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the normal score of the false-positive rate at which it is just flagged.

    A score above ``z`` is one that is flagged at a claimed rate of ``1 - Phi(z)``.

    Cost: a fit a target, of two without a population.
    """
    from reticent.torch_state import fixed
    from reticent.training.streams import Streams

    inputs = problem.inputs
    assert inputs is not None
    scores, seed = np.empty(problem.shape), int(rng.integers(2**53))
    audited = _margins(problem.signals, problem.targets)
    with fixed():
        for row, target in enumerate(problem.targets):
            streams = Streams(seed, int(target))
            if problem.population is None:
                half = folds(words(problem, np.random.default_rng(seed), np.array([target])), 2)
                for number in range(2):
                    part, x = half == number, inputs.audited
                    rule = _Rule(spec, inputs, x[~part], audited[row, ~part], streams.child(number))
                    scores[row, part] = rule(x[part], audited[row, part])
            else:
                told = _margins(problem.population, np.array([target]))[0]
                rule = _Rule(spec, inputs, inputs.population, told, streams)
                scores[row] = rule(inputs.audited, audited[row])
    return scores


class _Rule:
    """What was learned of one target's scores on records ``(Z, ...)``."""

    def __init__(self, spec: Quantile, inputs: Inputs, x: NDArray[Any], scores: Floats, streams: "Streams") -> None:
        self._head = gaussian if spec.head == "gaussian" else pinball
        self._kind, self._calibration = inputs.kind, None
        order = np.random.default_rng(streams.integer("division")).permutation(len(x))
        sizes = HELD if spec.conformal else (1 - HELD[1], HELD[1])
        parts = np.split(order, np.cumsum([max(1, int(share * len(x))) for share in sizes]))
        if not all(map(len, parts if spec.conformal else parts[:2])):
            raise InputError(
                f"quantile: expected at least {2 + spec.conformal} records to learn from, got {len(x)}: give more "
                "records that no model sees, or leave this attack out"
            )
        learned, stopping, rest = parts
        self._centre, self._spread = float(scores[learned].mean()), float(scores[learned].std()) or 1.0
        self._shift, self._scale = _columns(inputs.kind, x[learned])
        self._network = self._fitted(spec, inputs, x, scores, (learned, stopping), streams)
        if spec.conformal:
            self._calibration = self._levels(x[rest], scores[rest])

    def __call__(self, x: NDArray[Any], scores: Floats) -> Floats:
        """Turn scores of records into normal scores of rates."""
        found = self._levels(x, scores)
        return found if self._calibration is None else conformal(self._calibration, found)

    def _levels(self, x: NDArray[Any], scores: Floats) -> Floats:
        predicted = ask(self._network, (self._given(x),))
        return self._head(predicted, (scores - self._centre) / self._spread)

    def _given(self, x: NDArray[Any]) -> NDArray[Any]:
        if self._kind == "tokens":
            return x.astype(np.int64)
        return (x.astype(np.float64) - self._shift) / self._scale

    def _fitted(
        self,
        spec: Quantile,
        inputs: Inputs,
        x: NDArray[Any],
        scores: Floats,
        parts: tuple[NDArray[np.int64], NDArray[np.int64]],
        streams: "Streams",
    ) -> "nn.Module":
        import torch

        from reticent.models import ARCHITECTURES
        from reticent.models.base import Input, build

        def told(rows: NDArray[np.int64]) -> "tuple[tuple[Tensor, ...], Tensor]":
            given = self._given(x[rows])
            wide = torch.as_tensor(given if self._kind == "tokens" else given.astype(np.float32))
            return (wide,), torch.as_tensor(((scores[rows] - self._centre) / self._spread).astype(np.float32))

        entry = ARCHITECTURES[NETWORKS[inputs.kind]]
        given = Input(inputs.kind, tuple(x.shape[1:]), inputs.vocabulary)
        schedule = Schedule("adam", spec.rate, BATCH, steps=spec.steps, looks=10)
        with streams.lent("fit"):
            network = build(entry, entry.spec(), given, 2 if spec.head == "gaussian" else len(LEVELS))
            loss = normal_loss if spec.head == "gaussian" else pinball_loss
            fit(network, *told(parts[0]), loss, schedule, told(parts[1]))
        return network


def normal_loss(said: "Tensor", truth: "Tensor") -> "Tensor":
    """Average ``log sigma + (s - mu)^2 / (2 sigma^2)`` of means and log standard deviations ``(n, 2)``."""
    log_sigma = said[:, 1].clamp(-WIDEST, WIDEST)
    return (log_sigma + 0.5 * ((truth - said[:, 0]) / log_sigma.exp()) ** 2).mean()


def pinball_loss(said: "Tensor", truth: "Tensor") -> "Tensor":
    """Average ``max(tau u, (tau - 1) u)``, u being scores less quantiles ``(n, 41)``, over records and quantiles."""
    levels, apart = said.new_tensor(LEVELS), truth[:, None] - said
    return (apart * levels).maximum(apart * (levels - 1)).mean()


def _margins(signals: Signals, models: NDArray[np.int64]) -> Floats:
    """Compute ``z_y - max_{j != y} z_j`` of models, ``(T, n)``."""
    assert signals.logits is not None
    result = np.empty((len(models), signals.records))
    for block in signals.blocks(2 * signals.classes):
        z = np.array(signals.logits[models, block], dtype=np.float64)
        at = np.broadcast_to(signals.labels[block][None, :, None], (*z.shape[:2], 1))
        own = np.take_along_axis(z, at, axis=2)[..., 0]
        np.put_along_axis(z, at, -np.inf, axis=2)
        result[:, block] = own - z.max(axis=2)
    return result


def _columns(kind: str, x: NDArray[Any]) -> tuple[Floats, Floats]:
    """Take what is subtracted from inputs, and what they are divided by: of each feature, or each channel."""
    if kind == "tokens":
        return np.zeros(1), np.ones(1)
    axes = (0, 2, 3) if kind == "image" else (0,)
    mean, std = (np.asarray(f(x, axis=axes, dtype=np.float64, keepdims=True))[0] for f in (np.mean, np.std))
    return mean, np.where(std > 0, std, 1.0)


def claims(problem: Problem, scores: Floats) -> Floats | None:
    """Tell the rates at which records are just flagged; None without a population, where they are none."""
    return None if problem.population is None else np.asarray(ndtr(-scores))


ENTRY = AttackEntry(
    spec=Quantile,
    score=score,
    needs=lambda _: Needs(population=True, inputs=True),
    summary="Learns from records that no model saw how high a score each record would have as a non-member.",
    paper="Bertran et al. (2023), Scalable membership inference attacks via quantile regression",
    access="probabilities",
    usual=False,
    short=Quantile(steps=20),
    claims=claims,
)
