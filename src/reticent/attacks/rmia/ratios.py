"""RMIA's log-ratios: a record's probability under the target over its marginal under the references."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent import scratch, threads
from reticent.attacks import leave_one_out
from reticent.attacks.balance import Balance, Dropped
from reticent.attacks.base import Offer, Problem
from reticent.attacks.leave_one_out import Split
from reticent.attacks.rmia import probability
from reticent.attacks.rmia.dominance import Logs
from reticent.attacks.rmia.options import Rmia, temperature
from reticent.signals.matrix import Floats, Signals


@dataclass(frozen=True)
class Ratios:
    """What all targets say of N records, against the references.

    Attributes:
        size: log-ratios ``(T, N, Q)``, of their size where they are negative; offline the targets' log-probabilities.
        negative: where they are; None where none can be.
        outside: offline, mean over OUT references ``(T, N, Q)`` of the probability, and of what it lacks to 1, of which
            the marginal is made by `of`.
        epsilon: smallest size of a marginal.
    """

    size: Floats
    negative: NDArray[np.bool_] | None
    outside: tuple[Floats, Floats] | None
    epsilon: float

    def of(self, row: int, a: float) -> Logs:
        """Compute one target's log-ratios ``(N, Q)``; the slope `a` gives the IN probability from the OUT one."""
        found = Logs(self.size[row], None if self.negative is None else self.negative[row])
        if self.outside is not None:
            p, rest = self.outside
            found = _over(found, 0.5 * ((1 + a) * p[row] + (1 - a)), 0.5 * (1 + a) * rest[row], self.epsilon)
        scratch.release(self.size, *(self.outside or ()))
        return found


def _over(p: Logs, marginal: Floats, rest: Floats, epsilon: float) -> Logs:
    """Divide probabilities by their marginals, given what these lack to 1."""
    negative = None if p.negative is None else p.negative != (marginal < 0)
    return Logs(p.size - probability.log_size(marginal, rest, epsilon), negative)


def audited(spec: Rmia, problem: Problem, queries: int) -> Ratios:
    """Read the audited records: O((R + T) N Q)."""
    return _gather(spec, problem, problem.signals, problem.membership.matrix, queries)


def held_out(spec: Rmia, problem: Problem, queries: int) -> Ratios | None:
    """Read the population, if there is one, of which every reference is OUT.

    Online, too, the marginal is the mean over all references: nobody was trained on these records, so there is no IN
    world to weigh.
    """
    if problem.population is None:
        return None
    nobody = np.zeros((problem.signals.models, problem.population.records), dtype=np.bool_)
    return _gather(spec, problem, problem.population, nobody, queries)


def _gather(spec: Rmia, problem: Problem, signals: Signals, members: NDArray[np.bool_], queries: int) -> Ratios:
    shape = (len(problem.targets), signals.records, queries)
    size = scratch.zeros(shape)
    outside = (scratch.zeros(shape), scratch.zeros(shape)) if spec.mode == "offline" else None
    left_out = leave_one_out.rows(problem.targets, problem.references)
    both = spec.mode == "online" and signals is problem.signals
    balance = _balance(spec, problem) if signals is problem.signals else None
    divisor = temperature(spec, Offer.of(problem), queries)
    negative = np.zeros(shape, dtype=np.bool_) if spec.odd else None

    def read(block: slice) -> None:
        said = probability.read(spec, signals, problem.targets, divisor, queries, block)
        inside = members[:, block][problem.references]
        dropped = None if balance is None else balance.dropped(block, inside)

        def averaged(values: Floats) -> Floats:
            """Average what references say, of all targets: ``(T, n, queries)``."""
            found = np.empty_like(said.log)
            for query in range(queries):
                references = values[problem.references, :, query]
                if spec.trim > 0:
                    found[:, :, query] = _trimmed(references, inside, left_out, spec, dropped)
                    continue
                # Offline, NaN stands for what references that are no targets say of their members.
                split = Split(np.nan_to_num(references))
                mean = _mean(split, ~inside, left_out, dropped, member=False)
                if both:
                    mean += _mean(split, inside, left_out, dropped, member=True)
                    mean *= 0.5
                # Else the rounding of a mean would tell of how many it is, and so the target's row.
                alike = (references == references[:1]).all(axis=0)
                found[:, :, query] = np.where(alike, references[0], mean)
            return found

        marginal = averaged(said.p)
        rest, near = 1 - marginal, marginal > probability.NEAR
        if near.any():
            rest = np.where(near, averaged(said.rest()), rest)
        found = Logs(said.log, said.p[problem.targets] < 0 if spec.odd else None)
        if outside is None:
            found = _over(found, marginal, rest, spec.epsilon)
        else:
            for whole, part in zip(outside, (marginal, rest), strict=True):
                whole[:, block] = part
        size[:, block] = found.size
        if negative is not None:
            negative[:, block] = found.negative
        scratch.release(size, *(outside or ()))

    threads.each(read, probability.blocks(spec, signals, divisor), size.size, step="ratios")
    return Ratios(size, negative, outside, spec.epsilon)


def _balance(spec: Rmia, problem: Problem) -> Balance | None:
    """Say whether members and non-members must be given equally many references.

    Not online where the two mirror each other: the mean over both worlds is then as noisy for the one as for the other.
    But always where both are cut together, since then their shares count.
    """
    balance = Balance(problem)
    return None if spec.mode == "online" and spec.trim == 0 and balance.mirrored else balance


def _trimmed(
    values: Floats, inside: NDArray[np.bool_], left_out: NDArray[np.int64], spec: Rmia, dropped: Dropped | None
) -> Floats:
    """Average the references without the smallest and the largest: online of IN and OUT together, as released."""
    mask = np.ones_like(inside) if spec.mode == "online" else ~inside
    if dropped is None:
        return leave_one_out.trimmed_means(values, mask, left_out, spec.trim)
    gone = dropped.inside | dropped.outside if spec.mode == "online" else dropped.outside
    return leave_one_out.trimmed_means(values, mask, left_out, spec.trim, gone, dropped.which)


def _mean(
    values: Split, mask: NDArray[np.bool_], left_out: NDArray[np.int64], dropped: Dropped | None, *, member: bool
) -> Floats:
    """Average the masked references but the target and the dropped one; what is not masked is not looked at."""
    count, places = leave_one_out.counts(mask, left_out), None
    if dropped is not None:
        gone = dropped.side(member=member)
        places = leave_one_out.places(dropped.which, gone, len(mask))
        count = count - gone
    result = leave_one_out.Sums(values, mask).of(left_out, places)
    return np.divide(result, np.maximum(count, 1), out=result)
