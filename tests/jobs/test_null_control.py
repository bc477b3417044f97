import numpy as np
import pytest

import reticent
from reticent.attacks import ATTACKS
from reticent.attacks.base import Problem
from reticent.auditing.verdict import verdict
from reticent.data.membership import Membership
from reticent.errors import TooFewReferencesError
from reticent.jobs import control
from reticent.jobs.scoring import Settings, attacked
from reticent.say import trust
from reticent.signals.matrix import Signals

ATTACK_NAMES = ("loss", "lira", "rmia")


def specs():
    return tuple(ATTACKS[name].spec() for name in ATTACK_NAMES)


def leaky(seed=0, models=8, records=300, gap=2.0):
    rng = np.random.default_rng(seed)
    membership = Membership.draw(models, records, seed)
    logits = rng.normal(size=(models, records, 4))
    labels = np.arange(records) % 4
    logits[:, np.arange(records), labels] += gap * membership.matrix
    return Problem.make(Signals.from_logits(logits, labels), membership)


def audited(problem, seed=0):
    return attacked(problem, specs(), Settings(seed, replicates=200)).audits


def null(problem, audits, seed=0):
    found = control.control(control.nulls(problem, specs(), Settings(seed, replicates=200)), verdict(audits))
    return trust.control(found, unequal=False)


@pytest.mark.parametrize("seed", range(3))
def test_a_leaky_population_passes_its_null_control(seed):
    problem = leaky(seed)
    audits = audited(problem)
    found = null(problem, audits, seed)
    assert found.passed
    assert min(audit.auc.mean for audit in audits) > 0.6
    assert [attack.name for attack in found.attacks] == list(ATTACK_NAMES)
    for attack in found.attacks:
        assert attack.auc.mean == pytest.approx(0.5, abs=0.05)
    assert 0.5 < found.detectable.auc < 0.6
    assert found.detectable.fpr < found.detectable.tpr < 0.5
    assert "no attack does better than chance" in found.sentence
    assert found.sentence.endswith(f"by {found.detectable.attack}.")
    assert "if it is as large as an AUC of " in found.sentence  # Not "this size", read after another number.


def test_the_same_seed_gives_the_same_control_and_another_seed_another_one():
    problem = leaky()
    audits = audited(problem)
    first, again, other = (null(problem, audits, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.attacks != other.attacks


def test_a_control_that_finds_something_fails_and_says_so(monkeypatch):
    problem = leaky()
    monkeypatch.setattr(control, "Membership", lambda _: problem.membership)
    found = null(problem, audited(problem))
    assert not found.passed
    assert "cannot be trusted" in found.sentence
    assert "reticent selftest" in found.sentence


def test_an_inverted_attack_fails_the_control_too(monkeypatch):
    problem = leaky()
    monkeypatch.setattr(control, "Membership", lambda _: Membership(~problem.membership.matrix))
    assert not null(problem, audited(problem)).passed


def test_more_records_detect_less():
    sizes = []
    for records in (100, 1600):
        problem = leaky(records=records)
        found = null(problem, audited(problem))
        sizes.append(found.detectable.auc - 0.5)
    assert sizes[0] > 2.5 * sizes[1]


def test_every_record_stays_in_as_many_models(monkeypatch):
    rng = np.random.default_rng(0)
    membership = rng.random((12, 200)) < np.linspace(0.3, 0.7, 200)
    problem = Problem.make(Signals.from_logits(rng.normal(size=(12, 200, 3)), np.arange(200) % 3), membership)
    seen = []
    monkeypatch.setattr(control, "Membership", lambda matrix: seen.append(matrix) or Membership(matrix))
    specs_ = (ATTACKS["loss"].spec(),)
    control.nulls(problem, specs_, Settings(0, replicates=100))
    assert (seen[0].sum(axis=0) == membership.sum(axis=0)).all()
    assert 0.3 < (seen[0] == membership).mean() < 0.7


def test_the_two_errors_of_the_control_make_one_in_a_thousand():
    auc, tpr = 0.05 / control.STRICT, 0.05 / control.STRICT / 2  # the AUC on both sides, the TPR on one
    assert auc + tpr == pytest.approx(0.001)


def test_too_few_references_after_permuting_are_found_before_anything_is_attacked():
    # Of the two references one is IN, of every record; of all six models three, which may be any three once permuted.
    rng, membership = np.random.default_rng(0), np.zeros((6, 400), dtype=bool)
    membership[:3] = rng.random((3, 400)) < 0.5
    membership[3:] = ~membership[:3]
    outputs = {"labels": np.arange(400) % 3, "membership": membership, "attacks": "lira"}
    outputs |= {"targets": [1, 2], "references": [0, 3]}
    outputs["logits"] = rng.normal(size=(6, 400, 3))
    assert reticent.attack(**outputs, replicates=100).document["control"] is None
    told = []
    with pytest.raises(TooFewReferencesError, match=r"null control permutes the membership.*leave --control null out"):
        reticent.attack(**outputs, control="null", stage=told.append)
    assert told == []
