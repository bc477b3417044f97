"""What the learner is shown of a record: how a model's answer compares with those of IN and of OUT references.

An answer is taken apart into the probability of the true label and what is said of the other classes, given that it is
none of them. Features stay as they are if the classes beside the true one are renumbered alike for all models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from reticent.findings.evidence import Family
from reticent.signals.matrix import Floats

Mask = NDArray[np.bool_]
DEEPEST = -30.0
"""Logarithms of probabilities are cut here, in nats."""
SMALL = 1e-30
"""Smallest probability in a logarithm."""
FLOOR = 1e-12
"""Smallest variance."""
PRIOR = 4.0
"""References that the pooled variance counts for, in a record's own."""
SHRINK = 0.1
"""Share of the covariance between classes that is set to zero."""
SCALARS = ("margin", "p", "p at T = 2", "entropy", "largest", "entropy of others", "correct")


@dataclass(frozen=True, eq=False)
class Answers:
    """What K models say of n records.

    Attributes:
        values: ``(K, n, D)``: the margin (a mean over queries) and the probability of the label; where there are
            logits, the rest of `SCALARS`; with more than two classes also centred logarithms of the other classes'
            probabilities, and these.
        classes: C, or 0 where `values` has no others.
    """

    values: Floats
    classes: int

    @cached_property
    def centre(self) -> Floats:
        """Mean margin over models ``(n,)``: squares of margins are summed from it."""
        return np.asarray(np.ascontiguousarray(self.values[:, :, 0].T).mean(axis=1))

    @cached_property
    def by_record(self) -> Floats:
        """The values less those of the first model, and the margin's squared distance from the centre.

        ``(n, K, D + 1)``. So the mean of models that say the same is what they say, to the last bit: else its rounding
        would tell how many they are, and so the target's row.
        """
        squares = (self.values[:, :, 0] - self.centre) ** 2
        apart = self.values - self.values[0]
        return np.concatenate([apart, squares[..., None]], axis=2).transpose(1, 0, 2).copy()


def answers(margins: NDArray[np.floating], logits: NDArray[np.floating] | None, labels: NDArray[np.int64]) -> Answers:
    """Take answers apart, from margins ``(K, n, Q)`` and logits ``(K, n, C)``."""
    plain = margins[:, :, 0].astype(np.float64)
    margin, queries = np.zeros_like(plain), margins.shape[2]
    for query in range(queries):
        margin += margins[:, :, query]
    found = [margin / queries, _sigmoid(plain)]
    if logits is None:
        return Answers(np.stack(found, axis=2), 0)
    z = logits.astype(np.float64)
    at = np.broadcast_to(labels[None, :, None], (*z.shape[:2], 1))
    log_p, half = log_softmax(z, axis=-1), log_softmax(z / 2, axis=-1)
    p = np.exp(log_p)
    found += [
        np.exp(np.take_along_axis(half, at, axis=2)[:, :, 0]),
        -_sum(p * np.maximum(log_p, DEEPEST)),
        p.max(axis=2),
    ]
    correct = (z.argmax(axis=2) == labels).astype(np.float64)
    np.put_along_axis(z, at, -np.inf, axis=2)
    others = np.maximum(log_softmax(z, axis=-1), DEEPEST)
    q = np.exp(others)
    np.put_along_axis(q, at, 0.0, axis=2)
    found += [-_sum(q * others), correct]
    classes = z.shape[2]
    if classes == 2:
        return Answers(np.stack(found, axis=2), 0)
    np.put_along_axis(others, at, 0.0, axis=2)
    others -= _sum(others)[..., None] / (classes - 1)
    np.put_along_axis(others, at, 0.0, axis=2)
    return Answers(np.concatenate([np.stack(found, axis=2), others, q], axis=2), classes)


@dataclass(frozen=True, eq=False)
class Scales:
    """How much models differ within a record and a kind, pooled over records.

    Attributes:
        margin: variance of the margin among IN, and among OUT references.
        precision: inverse covariance of the other classes ``(C, C)``, or None without them.
    """

    margin: tuple[float, float]
    precision: Floats | None

    @classmethod
    def learned(cls, seen: Answers, inside: Mask) -> "Scales":
        """Learn them from references ``(R, n, D)``; a kind without two references of one record is as the other."""
        margin, freedom = [], []
        covariance = np.zeros((seen.classes, seen.classes))
        for mask in (inside, ~inside):
            count = np.maximum(mask.sum(axis=0), 1)
            kept = np.where(mask[:, :, None], seen.values, 0.0)
            apart = np.where(mask[:, :, None], seen.values - kept.sum(axis=0) / count[:, None], 0.0)
            freedom.append(float((count - 1).sum()))
            margin.append(float((apart[:, :, 0] ** 2).sum()))
            if seen.classes:
                others = apart[:, :, len(SCALARS) : len(SCALARS) + seen.classes].reshape(-1, seen.classes)
                covariance += others.T @ others
        if not sum(freedom):
            return cls((1.0, 1.0), np.eye(seen.classes) if seen.classes else None)
        usual = sum(margin) / sum(freedom)
        each = [one / free if free else usual for one, free in zip(margin, freedom, strict=True)]
        return cls((each[0] + FLOOR, each[1] + FLOOR), _precision(covariance / sum(freedom)) if seen.classes else None)


def _precision(covariance: Floats) -> Floats:
    """Invert a covariance, drawn toward its diagonal."""
    spread = np.diag(covariance)
    kept = (1 - SHRINK) * covariance + np.diag(SHRINK * spread + 1e-6 * max(spread.max(), FLOOR))
    return np.asarray(np.linalg.inv(kept))


@dataclass(frozen=True, eq=False)
class Side:
    """IN or OUT references of n records: equally many of each kind.

    Attributes:
        mean: of their answers ``(n, D)``.
        variance: of their margins, drawn toward the pooled one ``(n,)``.
        count: how many ``(n,)``.
    """

    mean: Floats
    variance: Floats
    count: NDArray[np.int64]

    @classmethod
    def of(cls, references: Answers, kept: Mask, pooled: Sequence[float]) -> "list[Side]":
        """Average kept references ``(K, R, n)`` in K ways at once, given the pooled variance of each.

        A product of matrices for each record: the size of a block changes no bit.
        """
        weights = kept.transpose(2, 0, 1).astype(np.float64, order="C")
        totals, counts = np.matmul(weights, references.by_record), kept.sum(axis=1)
        return [cls._averaged(references, *one) for one in zip(totals.swapaxes(0, 1), counts, pooled, strict=True)]

    @classmethod
    def _averaged(cls, references: Answers, total: Floats, count: NDArray[np.int64], pooled: float) -> "Side":
        count = np.maximum(count, 1)  # Where there are none, the score is a guess.
        mean = references.values[0] + total[:, :-1] / count[:, None]
        squares = np.maximum(total[:, -1] - count * (mean[:, 0] - references.centre) ** 2, 0.0)
        return cls(mean, (squares + PRIOR * pooled) / (count - 1 + PRIOR), count)


def features(own: Floats, inside: Side, outside: Side, scales: Scales, classes: int) -> tuple[Floats, list[Family]]:
    """Compare answers of one model ``(n, D)`` with those of references: ``(n, F)``, and each column's family."""
    columns: list[tuple[Family, Floats]] = [(Family.LABEL, one) for one in _of_label(own, inside, outside, scales)]
    if own.shape[1] > 2:
        columns.append((Family.LABEL, _ratio(own, inside, outside, 2)))
        compared = [(Family.CERTAINTY, 3), (Family.CERTAINTY, 4), *[(Family.OTHERS, 5)] * bool(classes)]
        for family, place in compared:
            x, a, b = own[:, place], inside.mean[:, place], outside.mean[:, place]
            columns += [(family, one) for one in (x, x - a, x - b, a - b)]
        columns += [(Family.CORRECTNESS, side[:, 6]) for side in (own, inside.mean, outside.mean)]
    if classes:
        columns += [(Family.OTHERS, one) for one in _of_others(own, inside.mean, outside.mean, scales, classes)]
    return np.stack([one for _, one in columns], axis=1), [family for family, _ in columns]


def _of_label(own: Floats, inside: Side, outside: Side, scales: Scales) -> list[Floats]:
    """Compare what is said of the true label: margins, LiRA with pooled and with own variances, and RMIA's ratio."""
    x, a, b = own[:, 0], inside.mean[:, 0], outside.mean[:, 0]
    ratios = []
    for first, second in ((scales.margin[0], scales.margin[1]), (inside.variance, outside.variance)):
        near, far = (x - a) ** 2 / (first * (1 + 1 / inside.count)), (x - b) ** 2 / (second * (1 + 1 / outside.count))
        ratios.append(0.5 * (far + np.log(second) - near - np.log(first)))
    spread = [np.log(inside.variance), np.log(outside.variance)]
    return [x, a, b, x - a, x - b, a - b, *spread, *ratios, _ratio(own, inside, outside, 1)]


def _ratio(own: Floats, inside: Side, outside: Side, place: int) -> Floats:
    """Compute the logarithm of a probability over the mean of both kinds (RMIA)."""
    both = 0.5 * (inside.mean[:, place] + outside.mean[:, place])
    return np.log(np.maximum(own[:, place], SMALL)) - np.log(np.maximum(both, SMALL))


def _of_others(own: Floats, inside: Floats, outside: Floats, scales: Scales, classes: int) -> list[Floats]:
    """Compare what is said of the other classes: by their covariance, and as distributions."""
    assert scales.precision is not None
    logs = slice(len(SCALARS), len(SCALARS) + classes)
    x, a, b = own[:, logs], inside[:, logs], outside[:, logs]
    near, far = (_times(one, scales.precision) for one in (x - a, x - b))
    shift = far - near  # the same of a - b
    linear, separation = _sum((x - 0.5 * (a + b)) * shift), _sum((a - b) * shift)
    to_in, to_out = _sum((x - a) * near), _sum((x - b) * far)
    found = [linear, separation, to_out - to_in, np.log(to_in + FLOOR), np.log(to_out + FLOOR)]
    found += _pair(_cosine(x, a), _cosine(x, b))
    p, p_in, p_out = own[:, logs.stop :], inside[:, logs.stop :], outside[:, logs.stop :]
    found += _pair(_cosine(p, p_in), _cosine(p, p_out))
    found += _pair(_divergence(p, p_in), _divergence(p, p_out))
    return found + _pair(_divergence(p_in, p), _divergence(p_out, p))


def _pair(to_in: Floats, to_out: Floats) -> list[Floats]:
    return [to_in, to_out, to_in - to_out]


def _cosine(one: Floats, other: Floats) -> Floats:
    return np.asarray(_sum(one * other) / np.sqrt(np.maximum(_sum(one**2) * _sum(other**2), SMALL)))


def _divergence(one: Floats, other: Floats) -> Floats:
    """Compute the Kullback-Leibler divergence, in nats."""
    return _sum(one * (np.log(np.maximum(one, SMALL)) - np.log(np.maximum(other, SMALL))))


def _times(vectors: Floats, matrix: Floats) -> Floats:
    """Multiply ``(n, C)`` by ``(C, C)``, class by class: the last bits of a product depend on the size of the block."""
    result = np.zeros_like(vectors)
    for place, row in enumerate(matrix):
        result += vectors[:, place, None] * row
    return result


def _sum(values: Floats) -> Floats:
    return np.asarray(values.sum(axis=-1))


def _sigmoid(margin: Floats) -> Floats:
    small = np.exp(-np.abs(margin))
    return np.asarray(np.where(margin >= 0, 1.0, small) / (1 + small))
