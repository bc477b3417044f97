"""RMIA: how many other records does a record beat, in probability under the target over probability elsewhere?

Paper: Zarifzadeh, Liu and Shokri (2024), "Low-cost high-power membership inference attacks". A record x is compared
with records z: ``LR(x, z) = [p(x | target) / p(x)] / [p(z | target) / p(z)]``, and the score is the fraction of z with
LR above gamma. Deviations: ratios are compared as logarithms; without a population, the other audited records serve as
z, the pair of a record with itself dropped from the fraction's numerator and denominator and nothing else "corrected";
the temperature acts on every signal (the released code ignores it for "taylor"). With an odd `degree` ratios may be
negative; as in the released code, x then dominates z where both have one sign and x is the larger in size by more than
gamma. With `trim`, as there, IN and OUT references are cut together; but each record keeps as many IN as OUT ones,
since their shares would otherwise give the target's row of a balanced membership away.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from reticent.attacks import _rmia_ratio, _rmia_signal, _rmia_tuning
from reticent.attacks._rmia_counts import beaten
from reticent.attacks._rmia_signal import Formula
from reticent.attacks.base import Needs, Offer, Problem, used_queries
from reticent.errors import InputError
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Rmia(Spec):
    """Options of RMIA."""

    method: ClassVar[str] = "rmia"

    mode: Literal["online", "offline"] = "online"
    """Marginals from IN and OUT references with equal weights, or from OUT references alone, corrected by `a`."""
    gamma: Annotated[float, Ge(1)] = 1.0
    """A record dominates another if the ratio of their likelihood ratios is strictly above this; the paper uses 2, its
    authors' later tool 1, which ties fewer records."""
    a: Annotated[float, Ge(0), Le(1)] | Literal["auto"] = "auto"
    """Offline: slope of the line that gives IN from OUT probabilities; "auto" chooses it on references."""
    signal: Formula = "softmax"
    """How a probability is made from logits."""
    temperature: Annotated[float, Gt(0)] | Literal["auto"] = "auto"
    """What logits are divided by; "auto" is 2, as the paper has it for CIFAR-10, CINIC-10 and Purchase100, where the
    logits behind every query used are known, and 1 where only margins are."""
    margin: float = 0.6
    """What the soft-margin signals subtract from the label's logit (m in the paper)."""
    degree: Annotated[int, Ge(1)] = 4
    """Degree of the Taylor signals; 3 is what the released code computes where it says 4: its values can be negative,
    and are kept."""
    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record vote on each pair; by default all. More than one costs O(N Z) pairs."""
    trim: Annotated[float, Ge(0), Lt(0.5)] = 0.0
    """Proportion of references cut at each end before they are averaged, IN and OUT together; the paper's code uses
    0.2."""
    population: Literal["auto", "held-out", "others"] = "auto"
    """Compare with the population, with the other audited records, or with the population if there is one."""
    epsilon: Annotated[float, Gt(0), Lt(1)] = 1e-30
    """Smallest probability, or smallest size of a negative one."""


def needs(spec: Rmia) -> Needs:
    """Say which references it needs."""
    if spec.mode == "online":
        return Needs(references_in=1, references_out=1)
    return Needs(references=2 if spec.a == "auto" else 1, references_out=1)


def fits(spec: Rmia, offer: Offer) -> None:
    """Refuse options that need what the problem does not hold."""
    queries = used_queries(offer, spec.queries, spec.method)
    if spec.population == "held-out" and not offer.population:
        raise InputError(
            "rmia: population='held-out' expected records that no model was trained on, got none: give a population, "
            "or use population='others'"
        )
    _rmia_signal.check(offer, spec.signal, _rmia_signal.temperature(spec.temperature, offer, queries), queries)


def score(spec: Rmia, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the fraction of comparison records that it dominates.

    Args:
        spec: the options.
        problem: with a population for ``population="held-out"``.
        rng: draws the references on which `a` is chosen.

    Returns:
        ``(T, N)`` from 0 to 1, in steps of one over the number of comparison records.

    Cost: O((R + T) N Q) for the ratios of all targets, then a sort and a binary search a target; with several queries
    O(T N Z Q). ``a="auto"`` adds a pass over the signals and 44 counts a target. Memory: the scores and a block, or one
    target's ratios if they are larger.
    """
    queries = used_queries(problem.signals, spec.queries, spec.method)
    compared = 0 if problem.population is None or spec.population == "others" else problem.population.records
    log_gamma = float(np.log(spec.gamma))
    slopes = np.ones(len(problem.targets))
    if spec.mode == "offline" and spec.a != "auto":
        slopes *= spec.a
    elif spec.mode == "offline":
        slopes = _rmia_tuning.slopes(spec, problem, queries, population=compared > 0, rng=rng)
    scores = np.empty(problem.shape)
    for group in _rmia_ratio.groups(problem, problem.signals.records + compared, queries):
        part = replace(problem, targets=problem.targets[group])
        log_x = _rmia_ratio.audited(spec, part, queries).logs(slopes[group], spec.epsilon)
        log_z = _rmia_ratio.held_out(spec, part, queries).logs(slopes[group], spec.epsilon) if compared else log_x
        for i, row in enumerate(range(len(scores))[group]):
            # The pair of a record with itself has LR = 1, never above gamma: it only leaves the denominator.
            scores[row] = beaten(log_x.of(i), log_z.of(i), log_gamma) / (compared or problem.signals.records - 1)
    return scores
