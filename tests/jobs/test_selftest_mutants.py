"""Faults planted on purpose: each turns the self-test red, with the words of its kind, and only where it acts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import betaincinv

from reticent.attacks import ATTACKS, leave_one_out, thresholds
from reticent.attacks.base import Needs
from reticent.auditing import bootstrap, intervals, roc, verdict
from reticent.auditing.sorted_scores import Ranked
from reticent.data.membership import Membership
from reticent.findings.audit import Leak
from reticent.jobs.selftest import selftest
from reticent.signals import ask as asking
from reticent.signals import matrix
from reticent.spec import Spec

ATTACK_GROUPS = ["formulas", "leak", "own-references"]
CHEAP = [
    "metrics",
    "limits",
    "epsilon",
    "margins",
    "membership",
    "memorisation",
    *ATTACK_GROUPS,
    "eval-mode",
    "optimizers",
]
REFERENCE_ATTACKS = {
    "lira",
    "rmia",
    "lira-offline",
    "rmia-offline",
    "rmia-trimmed",
    "lira-median",
    "bavaria",
    "base2",
    "base3",
    "pmia",
    "imia",
    "selena-replica",
    "selena-replica-distance",
}


PLAIN = [name for name, entry in ATTACKS.items() if not entry.fitted]
DEAR = {"learned", "quantile"}
"""They take most of the time; a fault that is not in them is found by the others."""


@pytest.fixture
def all_attacks():
    """Leave the dear attacks in the table."""


@pytest.fixture(autouse=True)
def _cheap(request, only_attacks):
    if "all_attacks" not in request.fixturenames:
        only_attacks(*(ATTACKS.keys() - DEAR))


def wrong(only=CHEAP):
    """Run groups; answers the faults of the wrong checks by name."""
    tested = selftest(only)
    assert tested.ok == (not tested.wrong)
    return {check.name: check.fault for check in tested.wrong}


def negate(monkeypatch, name):
    entry = ATTACKS[name]
    monkeypatch.setitem(ATTACKS, name, replace(entry, score=lambda *given: -entry.score(*given)))


def test_without_a_fault_the_cheap_groups_are_green():
    assert wrong() == {}


def test_a_planted_sign_in_any_attack(monkeypatch, all_attacks):
    for name in PLAIN:
        negate(monkeypatch, name)
    found = wrong(["formulas", "leak"])
    own = {f"formulas/{check}" for check in ("loss", "lira", "rmia-gamma-1", "rmia-gamma-2")}
    assert set(found) == {f"leak/{name}" for name in PLAIN} | own
    assert all(found[f"leak/{name}"].startswith("A sign:") for name in PLAIN)


def test_a_planted_sign_in_one_attack_is_found_there_and_nowhere_else(monkeypatch, only_attacks):
    only_attacks("loss", "entropy", "lira", "rmia")
    negate(monkeypatch, "lira")
    assert set(wrong(["formulas", "leak"])) == {"leak/lira", "formulas/lira"}


def test_a_planted_sign_in_an_attack_that_fits_a_network(monkeypatch, only_attacks):
    only_attacks(*PLAIN, "salem")
    negate(monkeypatch, "salem")
    assert list(wrong("networks")) == ["networks/salem"]


def test_a_planted_sign_in_the_auc(monkeypatch):
    right = Ranked.auc
    monkeypatch.setattr(Ranked, "auc", lambda ranked: 1 - right(ranked))
    found = wrong(["metrics", "leak"])
    exchanged = {f"leak/{name}-exchanged" for name in PLAIN if name not in DEAR}
    assert set(found) == exchanged | {
        "metrics/auc",
        "metrics/auc-negated",
        "metrics/auc-some-ties",
        "metrics/order-of-records",
    }
    assert found["metrics/auc"].startswith("A sign:")
    assert all(found[name].startswith("A sign") for name in exchanged)


def test_a_target_among_the_references_that_are_summed(monkeypatch):
    """What the sums and counts of attacks that learn from references leave out is put back in."""
    of = leave_one_out.Sums.of

    def of_all(sums, rows, dropped=None):
        return of(sums, np.full_like(rows, -1), dropped)

    monkeypatch.setattr(leave_one_out.Sums, "of", of_all)
    monkeypatch.setattr(
        leave_one_out,
        "counts",
        lambda mask, left_out: np.broadcast_to(mask.sum(axis=0), (len(left_out), mask.shape[1])),
    )
    found = wrong(["formulas", "own-references"])
    assert {f"own-references/{name}-{kind}" for name in ("lira", "rmia") for kind in ("trap", "row")} <= set(found)
    assert {"own-references/selena-replica-row", "own-references/selena-replica-distance-row"} <= set(found)
    assert all(fault.startswith("A target among its own references") for name, fault in found.items() if "own-" in name)
    assert {name for name in found if "own-" not in name} == {
        "formulas/lira", "formulas/rmia-gamma-1", "formulas/rmia-gamma-2"
    }  # fmt: skip
    touched = {name.removeprefix("own-references/").rpartition("-")[0] for name in found if "own-" in name}
    assert touched <= REFERENCE_ATTACKS


def test_a_target_among_its_references_is_a_big_effect(monkeypatch, only_attacks):
    """In the trap the AUC goes from one half to nearly 0 or 1."""
    only_attacks("loss", "lira", "rmia", "selena-replica")
    monkeypatch.setattr(leave_one_out, "rows", lambda targets, references: np.full(len(targets), len(references)))
    checks = {check.name: check for check in selftest("own-references").checks}
    for attack in ("lira", "rmia"):
        assert abs(float(checks[f"own-references/{attack}-trap"].got) - 0.5) > 0.45
        assert not checks[f"own-references/{attack}-row"].ok
    assert checks["own-references/loss-trap"].ok


@pytest.mark.parametrize(("name", "attack"), [("medians", "lira-median"), ("trimmed_means", "rmia-trimmed")])
def test_a_target_among_the_references_of_one_option(monkeypatch, name, attack):
    right = getattr(leave_one_out, name)

    def of_all(values, mask, left_out, *more):
        return right(values, mask, np.full(len(left_out), len(values)), *more)

    monkeypatch.setattr(leave_one_out, name, of_all)
    other = {"own-references/pmia-row"} if name == "medians" else set()
    assert set(wrong(["own-references"])) == {f"own-references/{attack}-trap", f"own-references/{attack}-row"} | other


@pytest.mark.slow
def test_thresholds_that_the_target_helps_to_learn(monkeypatch):
    right = thresholds._learn
    monkeypatch.setattr(
        thresholds, "_learn", lambda values, members, owners, left_out: right(values, members, owners, left_out * 0 - 1)
    )
    found = wrong(ATTACK_GROUPS)
    assert found
    assert set(found) <= {f"own-references/{name}-row" for name in ("confidence", "entropy", "modified-entropy")}


def test_a_model_asked_in_training_mode(monkeypatch):
    right = asking.forward

    def in_training_mode(model, x, classes):
        model.train()
        return right(model, x, classes)

    monkeypatch.setattr(asking, "forward", in_training_mode)
    before = torch.random.get_rng_state()
    found = wrong(["memorisation", "eval-mode", "optimizers"])
    assert set(found) == {f"eval-mode/{name}" for name in ("by-hand", "twice", "batch-size", "no-trace")}
    assert all(fault.startswith("A model asked in training mode") for fault in found.values())
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.slow
def test_the_guard_against_training_mode_removed(monkeypatch):
    right = asking.ask
    monkeypatch.setattr(asking, "ask", lambda model, *given: right(model.eval(), *given))
    found = wrong(["memorisation", "eval-mode", "optimizers"])
    assert set(found) == {"eval-mode/refused", "eval-mode/refused-in-part"}
    assert all("guard" in fault and "training mode" in fault for fault in found.values())


def test_ties_that_count_nothing(monkeypatch):
    """Members that equal a non-member are taken for lower."""

    def strict(scores, members):
        rows = zip(np.atleast_2d(scores), np.atleast_2d(members), strict=True)
        areas = np.array([np.mean(row[own][:, None] > row[~own][None, :]) for row, own in rows])
        return areas if np.ndim(scores) == 2 else areas[0]

    monkeypatch.setattr(roc, "auc", strict)
    found = wrong(["metrics", "leak"])
    assert set(found) == {
        "metrics/auc-ties",
        "metrics/auc-some-ties",
        "leak/correctness-exchanged",
        "leak/risk-score-exchanged",
    }
    assert found["metrics/auc-ties"].startswith("Ties")


def test_ties_broken_by_the_order_of_the_records(monkeypatch):
    monkeypatch.setattr(Ranked, "ends", property(lambda ranked: np.arange(1, len(ranked.scores) + 1)))
    assert {"metrics/auc-ties", "metrics/auc-some-ties"} <= set(wrong(["metrics"]))


def test_margins_through_probabilities_in_32_bits(monkeypatch):
    def through_probabilities(logits, labels):
        z = logits.astype(np.float32)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p = (p / p.sum(axis=1, keepdims=True))[np.arange(len(z)), labels]
        with np.errstate(divide="ignore"):
            return np.log(p) - np.log(1 - p)

    monkeypatch.setattr(matrix, "margin", through_probabilities)
    found = wrong(["margins"])
    assert {"margins/nearly-certain", "margins/far-apart"} <= set(found)
    assert found["margins/nearly-certain"].startswith("Precision")
    checks = {check.name: check for check in selftest("margins").checks}
    assert checks["margins/nearly-certain"].got == "inf"


def test_margins_in_32_bits(monkeypatch):
    right = matrix.margin
    monkeypatch.setattr(matrix, "margin", lambda logits, labels: right(logits.astype(np.float32), labels))
    found = wrong(["margins"])
    assert set(found) == {"margins/fine-step"}
    assert found["margins/fine-step"].startswith("Precision")


def test_one_tail_for_both(monkeypatch):
    """The limits of a 90 % interval, called 95 %."""
    right = intervals.clopper_pearson
    monkeypatch.setattr(intervals, "clopper_pearson", lambda k, n, confidence=0.95: right(k, n, 2 * confidence - 1))
    found = wrong(["limits"])
    assert set(found) == {f"limits/{name}" for name in ("none-of-ten-high", "five-of-ten-low", "five-of-ten-high")}
    assert all("tail" in fault for fault in found.values())


def test_limits_of_the_wrong_tail(monkeypatch):
    def swapped(k, n, confidence=0.95):
        alpha = (1 - confidence) / 2
        return np.asarray(betaincinv(k + 1, n - k, alpha)), np.asarray(betaincinv(max(k, 1), n - k + 1, 1 - alpha))

    monkeypatch.setattr(intervals, "clopper_pearson", swapped)
    assert {"limits/five-of-ten-low", "limits/five-of-ten-high"} <= set(wrong(["limits"]))


def test_a_variance_of_half_the_size(monkeypatch):
    right = Ranked.delong
    monkeypatch.setattr(Ranked, "delong", lambda ranked: (right(ranked)[0], right(ranked)[1] / 2))
    assert set(wrong(["limits"])) == {f"limits/delong-{part}" for part in ("variance", "low", "high")}


def test_a_bootstrap_that_redraws_nothing(monkeypatch):
    monkeypatch.setattr(bootstrap, "poisson", lambda rng, shape: np.ones(shape, dtype=np.float32))
    found = wrong(["limits"])
    assert set(found) == {"limits/bootstrap-width"}
    assert "bootstrap" in found["limits/bootstrap-width"]


@pytest.mark.slow
def test_scores_that_know_the_membership_are_found_in_the_null(monkeypatch):
    right = ATTACKS["loss"]

    def cheating(spec, problem, rng):
        return right.score(spec, problem, rng) + 0.5 * problem.membership.matrix[problem.targets]

    monkeypatch.setitem(ATTACKS, "loss", replace(right, score=cheating, needs=lambda _: Needs(references_in=1)))
    found = wrong(["null", "own-references"])
    # The verdict stands: of outputs that are brought loss alone shows no leak.
    assert set(found) == {"null/loss", "own-references/loss-trap", "own-references/loss-row"}
    assert "where there is none" in found["null/loss"]


@pytest.mark.slow
def test_a_verdict_that_takes_any_interval_for_a_leak(monkeypatch):
    monkeypatch.setattr(verdict._Judged, "found", property(lambda judged: judged.audit.auc.mean != 0.5))
    assert set(wrong(["null"])) == {"null/verdict"}


def test_decay_in_the_gradient_where_it_should_stand_apart(monkeypatch):
    from reticent.training import optim

    right = optim.Adam
    monkeypatch.setattr(optim, "Adam", lambda *given, decoupled: right(*given, decoupled=False))
    found = wrong(["optimizers"])
    assert set(found) == {"optimizers/adamw"}
    assert "optimizer" in found["optimizers/adamw"]


def test_bounds_on_epsilon_with_the_tails_exchanged(monkeypatch):
    """The upper limit of the TPR over the lower one of the FPR accuses where nothing leaks."""
    from reticent.auditing.epsilon import base

    lower, upper = base.lower, base.upper
    monkeypatch.setattr(base, "lower", upper)
    monkeypatch.setattr(base, "upper", lower)
    found = wrong(["epsilon"])
    assert "epsilon/given-null" in found
    assert "above what is true" in found["epsilon/given-null"]
    assert set(found) <= {"epsilon/given-null", "epsilon/given-planted", "epsilon/split-null", "epsilon/split-planted"}


def test_a_bound_on_epsilon_that_is_always_zero(monkeypatch):
    from reticent.auditing.epsilon import METHODS

    entry = METHODS["gaussian"]
    monkeypatch.setitem(METHODS, "gaussian", replace(entry, bound=lambda *given: 0.0))
    found = wrong(["epsilon"])
    assert set(found) == {"epsilon/gaussian-planted"}
    assert "finds nothing" in found["epsilon/gaussian-planted"]


@pytest.mark.parametrize(("lower", "wrong_names"), [(None, []), (0.0, []), (0.3, ["epsilon"])])
def test_a_bound_on_epsilon_in_the_audit_of_nothing(lower, wrong_names):
    from reticent.jobs.selftest.attacks import _nothing_said

    lines = list(_nothing_said(Leak.CANNOT_TELL, lower))
    assert [line.name for line in lines if not line.ok] == wrong_names
    assert len(lines) == 1 + (lower is not None)


def test_membership_by_coin_flips(monkeypatch):
    def flips(models, records, seed):
        return Membership(np.random.default_rng(seed).random((models, records)) < 0.5)

    monkeypatch.setattr(Membership, "draw", flips)
    assert set(wrong(["membership"])) == {"membership/exact-half"}


def test_memorisation_the_wrong_way_round(monkeypatch):
    from reticent.auditing import exposure

    right = exposure.exposure
    monkeypatch.setattr(
        exposure, "exposure", lambda signals, membership: right(signals, Membership(~membership.matrix))
    )
    found = wrong(["memorisation"])
    assert len(found) == 2
    assert all("Feldman" in fault for fault in found.values())


def test_an_attack_that_raises_is_a_red_line_and_the_other_groups_go_on(monkeypatch):
    def broken(spec, problem, rng):
        raise ZeroDivisionError("no\nreferences")

    monkeypatch.setitem(ATTACKS, "entropy", replace(ATTACKS["entropy"], score=broken))
    tested = selftest(["leak", "metrics"])
    assert [(check.name, check.got) for check in tested.wrong] == [("leak/runs", "ZeroDivisionError: no references")]
    assert any(check.name == "metrics/auc" and check.ok for check in tested.checks)


class Guess(Spec):
    method = "guess"


def test_a_new_attack_is_checked_without_a_line(monkeypatch):
    entry = replace(ATTACKS["loss"], spec=Guess, score=lambda spec, problem, rng: rng.random(problem.shape))
    monkeypatch.setitem(ATTACKS, "guess", entry)
    found = wrong(["leak"])
    assert set(found) == {"leak/guess"}
    assert "blind" in found["leak/guess"]
