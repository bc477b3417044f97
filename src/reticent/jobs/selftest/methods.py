"""Checks of margins, membership, memorisation, LiRA and RMIA against their papers' formulas, computed plainly."""

import numpy as np
from scipy.stats import norm

from reticent.attacks import score
from reticent.attacks.balance import Balance
from reticent.attacks.base import Problem
from reticent.attacks.lira import Lira
from reticent.attacks.loss import Loss
from reticent.attacks.rmia import Rmia
from reticent.auditing import exposure
from reticent.data.membership import Membership
from reticent.findings.selftest import Fault
from reticent.jobs.selftest import synthetic
from reticent.jobs.selftest.checks import Checks, check, near, number, twin
from reticent.signals import matrix
from reticent.signals.matrix import Signals


def margins() -> Checks:
    """Compare margins with known ones, among them one that a probability cannot hold."""
    label = np.zeros(1, dtype=np.int64)
    sure = np.log(np.array([[1 - 1e-9, 1e-9]]))
    yield near("nearly-certain", 20.7232658, float(matrix.margin(sure, label)[0]), Fault.PRECISION, 1e-6)
    even = np.array([[2.0, 2.0, 2.0, 2.0, 2.0]])
    yield near("five-equal", -np.log(4), float(matrix.margin(even, label)[0]), Fault.MARGIN)
    far = np.array([[100.0, -100.0]])
    yield near("far-apart", 200.0, float(matrix.margin(far, label)[0]), Fault.PRECISION)
    fine = np.array([[16_777_217.0, 16_777_216.0]])
    yield near("fine-step", 1.0, float(matrix.margin(fine, label)[0]), Fault.PRECISION)
    tiny = float(matrix.log_probability(np.array([50.0]))[0])
    yield near("log-probability", -np.exp(-50.0), tiny, Fault.PRECISION, 1e-30)


def membership() -> Checks:
    """Draw who trains on what."""
    drawn = Membership.draw(10, 500, 1)
    inside = drawn.matrix.sum(axis=0)
    got = f"{inside.min()} to {inside.max()} of 10"
    yield check("exact-half", "each record in 5 of 10 models", got, bool((inside == 5).all()), Fault.MEMBERSHIP)
    rows = drawn.matrix.sum(axis=1)
    spread = float(np.abs(rows - 250).max())
    yield check(
        "models-alike", "250 members a model, but for 60", f"off by {number(spread)}", spread <= 60, Fault.MEMBERSHIP
    )
    again, other = Membership.draw(10, 500, 1), Membership.draw(10, 500, 2)
    same, differs = again.digest == drawn.digest, other.digest != drawn.digest
    told = f"{'same' if same else 'another'} draw; {'another' if differs else 'the same'} for another seed"
    yield check("seed", "same draw; another for another seed", told, same and differs, Fault.MEMBERSHIP)


def memorisation() -> Checks:
    """Compare Feldman's score of three records with a table of right and wrong answers."""
    # One row a record, one column a model: who answers right; and who was trained on it.
    right = np.array([[1, 1, 1, 0, 0, 1, 0, 0], [1] * 8, [1, 1, 1, 0, 0, 0, 0, 1]], dtype=np.bool_)
    inside = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]], dtype=np.bool_)
    logits = np.zeros((8, 3, 2))
    logits[:, :, 0] = np.where(right.T, 40.0, -40.0)
    signals = Signals.from_logits(logits, np.zeros(3, dtype=np.int64))
    got = exposure.exposure(signals, Membership(inside.T.copy())).memorisation.filled(np.nan)
    names = ("three-against-one-of-four", "always-right", "one-against-three-of-four")
    for name, expected, value in zip(names, (0.5, 0.0, -0.5), got, strict=True):
        yield near(name, expected, float(value), Fault.MEMORISATION)


def formulas() -> Checks:
    """Compare the loss attack, LiRA and RMIA with their definitions, target by target and record by record."""
    problem = synthetic.problem(2.0, 12, 60, "formulas")
    logits = np.asarray(problem.signals.logits)
    at = (slice(None), np.arange(60), problem.signals.labels)
    loss = np.log(np.exp(logits).sum(axis=2)) - logits[at]
    yield twin("loss", -loss, score(Loss(), problem), Fault.FORMULA)
    plain = Lira(variance="per-record", uncertainty="none")
    yield twin("lira", _lira(problem), score(plain, problem), Fault.FORMULA, 1e-8)
    for gamma in (1.0, 2.0):
        options = Rmia(gamma=gamma, temperature=1.0)
        yield twin(
            f"rmia-gamma-{gamma:g}", _rmia(problem, np.exp(-loss), gamma), score(options, problem), Fault.FORMULA
        )


def _lira(problem: Problem) -> synthetic.Floats:
    """Carlini et al. (2022), algorithm 1: log N(margin; IN) - log N(margin; OUT), from equally many other models."""
    margins = np.asarray(problem.signals.margins)[:, :, 0]
    inside = problem.membership.matrix
    result = np.empty(margins.shape)
    dropped = Balance(problem).dropped(slice(0, margins.shape[1]), inside)
    for t in range(len(margins)):
        for i, margin in enumerate(margins[t]):
            others = np.arange(len(margins)) != t
            if dropped is not None:
                others[dropped.which[t, i]] = False
            ins, outs = margins[others & inside[:, i], i], margins[others & ~inside[:, i], i]
            likely = [norm.logpdf(margin, group.mean(), group.std(ddof=1)) for group in (ins, outs)]
            result[t, i] = likely[0] - likely[1]
    return result


def _rmia(problem: Problem, p: synthetic.Floats, gamma: float) -> synthetic.Floats:
    """Zarifzadeh et al. (2024), equation 2: the share of other records z with LR(x, z) > gamma; p is ``(M, N)``."""
    inside = problem.membership.matrix
    result = np.empty(p.shape)
    for t in range(len(p)):
        others = np.arange(len(p)) != t
        ratio = np.empty(p.shape[1])
        for i in range(p.shape[1]):
            groups = p[others & inside[:, i], i], p[others & ~inside[:, i], i]
            ratio[i] = p[t, i] / (0.5 * groups[0].mean() + 0.5 * groups[1].mean())
        beats = ratio[:, None] / ratio[None, :] > gamma
        result[t] = beats.sum(axis=1) / (p.shape[1] - 1)
    return result
