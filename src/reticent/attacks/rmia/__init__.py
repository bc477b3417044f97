"""RMIA: how many other records does a record beat, in probability under the target over probability elsewhere?

Paper: Zarifzadeh, Liu and Shokri (2024), "Low-cost high-power membership inference attacks". A record x is compared
with records z: ``LR(x, z) = [p(x | target) / p(x)] / [p(z | target) / p(z)]``, and the score is the fraction of z with
LR above gamma. Deviations: ratios are compared as logarithms; without a population, the other audited records serve as
z, the pair of a record with itself dropped from the fraction's numerator and denominator and nothing else "corrected";
the temperature acts on every signal (the released code ignores it for "taylor"). With an odd `degree` ratios may be
negative; as in the released code, x then dominates z where both have one sign and x is the larger in size by more than
gamma. With `trim`, as there, IN and OUT references are cut together; but each record keeps as many IN as OUT ones,
since their shares would otherwise give the target's row of a balanced membership away.

To read from the bottom up: `options`, `probability`, `dominance`, `ratios`, `slopes`, and `score` here.
"""

from dataclasses import replace

import numpy as np

from reticent import scratch, threads
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.rmia import ratios, slopes
from reticent.attacks.rmia.dominance import beaten
from reticent.attacks.rmia.options import Rmia, fits, needs
from reticent.attacks.softmax import log_sum
from reticent.errors import InputError
from reticent.signals.matrix import Floats, Signals

__all__ = ["ENTRY", "Rmia", "score"]

NORMALISED = 1e-3
"""Logits of which the exponentials sum to one, so nearly, are logarithms of probabilities."""


def score(spec: Rmia, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the fraction of comparison records that it dominates.

    `rng` draws the references on which `a` is chosen. Scores are from 0 to 1, in steps of one over the number of
    comparison records; or log-ratios, a mean over queries.

    Cost: O((R + T) N Q) for the ratios of all targets, then a sort and a binary search a target; with several queries
    O(T N Z Q). ``a="auto"`` adds a pass over the signals and 44 counts a target. Memory: that of the scores for each
    query, in a temporary file where they are large, and a block.
    """
    if spec.taylor:
        _check_constant(spec, problem.signals)
    queries = spec.queries or problem.signals.queries
    alone = spec.population == "others" or spec.score == "log-ratio"
    problem = replace(problem, population=None) if alone else problem
    # The pair of a record with itself has LR = 1, never above gamma: it only leaves the denominator.
    compared = problem.signals.records - 1 if problem.population is None else problem.population.records
    chosen = np.full(len(problem.targets), 1.0 if spec.a == "auto" else spec.a)
    if spec.mode == "offline" and spec.a == "auto":
        chosen = slopes.choose(spec, problem, queries, rng)
    scores, audited = scratch.zeros(problem.shape), ratios.audited(spec, problem, queries)
    others = None if spec.score == "log-ratio" else ratios.held_out(spec, problem, queries)

    def scored(at: int) -> None:
        log_x = audited.of(at, chosen[at])
        if spec.score == "log-ratio":
            scores[at] = log_x.size.mean(axis=1)
        else:
            log_z = log_x if others is None else others.of(at, chosen[at])
            scores[at] = beaten(log_x, log_z, float(np.log(spec.gamma))) / compared
        scratch.release(scores)

    threads.each(scored, range(len(scores)), scores.size, step="scores")
    return scores


def _check_constant(spec: Rmia, signals: Signals) -> None:
    """Refuse logarithms of probabilities: a Taylor polynomial depends on the constant that they have lost."""
    assert signals.logits is not None, "`fits` refuses others"
    block = next(signals.blocks(signals.classes))
    if np.abs(log_sum(np.asarray(signals.logits[[0], block], dtype=np.float64))).max() < NORMALISED:
        raise InputError(
            f"rmia: signal={spec.signal!r} depends on a constant that all logits of a record share, and these are "
            "logarithms of probabilities, which have lost it: give the logits from before the softmax, or use "
            "signal='softmax'"
        )


ENTRY = AttackEntry(
    spec=Rmia,
    score=score,
    needs=needs,
    summary="Counts the records that a record beats in likelihood under the target relative to other models.",
    paper="Zarifzadeh, Liu and Shokri (2024), Low-cost high-power membership inference attacks",
    access="margins",
    strong=True,
    cancels=lambda spec: spec.mode == "online",  # Offline, p(x) is a line in what references say, not that itself.
    fits=fits,
)
