"""Which attacks run where none is named: the strongest that fit, and the loss beside them."""

import numpy as np
import pytest

from reticent.errors import TooFewReferencesError, UnequalSharesError
from reticent.jobs.attack import Outputs
from reticent.jobs.attack_choice import runnable
from reticent.jobs.config import gather, prepare
from reticent.options import AttackConfig

STRONG = ["lira", "rmia", "bavaria", "learned"]


def names(**values):
    job = prepare(gather(None, {"records": 200, **values}))
    return [spec.method for spec in job.attacks], job.left_out


def test_an_audit_takes_the_strongest_attacks_and_the_loss():
    assert names(models=16) == (["loss", *STRONG], {})


def test_with_few_models_the_strongest_of_those_that_fit():
    kept, left_out = names(models=4)
    assert kept == ["loss", *STRONG[:-1]]
    assert list(left_out) == ["learned"]


def test_models_that_fit_no_strong_attack_are_refused_before_training():
    with pytest.raises(TooFewReferencesError, match="lira: expected at least 1 IN and 1 OUT references"):
        names(models=2)


def test_an_attack_that_is_given_options_runs_too():
    assert names(models=16, **{"attack.entropy.threshold": "global"})[0] == ["loss", "entropy", *STRONG]


def test_named_attacks_run_as_they_are_named():
    assert names(models=16, attacks=["entropy", "lira"])[0] == ["entropy", "lira"]


def test_outputs_without_enough_references_are_judged_by_all_that_need_none():
    rng = np.random.default_rng(0)
    membership = np.array([[True, False] * 20, [False, True] * 20])
    outputs = {"logits": rng.normal(size=(2, 40, 3)), "labels": rng.integers(3, size=40), "membership": membership}
    specs, _ = runnable(Outputs(**outputs).problem(), AttackConfig())
    assert [spec.method for spec in specs] == ["correctness", "loss", "confidence", "entropy", "modified-entropy"]


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.8), (0.5, 0.5), (0.3, 0.3)])
def test_attacks_that_read_out_references_alone_do_not_run_where_their_counts_tell_members(low, high):
    """Half of the records in most models and half in few: whoever is a member has fewer OUT references."""
    rng = np.random.default_rng(0)
    membership = rng.random((16, 400)) < np.where(np.arange(400) % 2, high, low)
    membership[:3], membership[3:6] = True, False  # enough of either kind
    membership = rng.permuted(membership, axis=0)
    outputs = {"logits": rng.normal(size=(16, 400, 3)), "labels": rng.integers(3, size=400), "membership": membership}
    problem = Outputs(**outputs).problem()
    offline = {"attacks": ["pmia"]}
    if low == high:
        assert len(runnable(problem, AttackConfig(**offline))[0]) == 1
        return
    with pytest.raises(UnequalSharesError, match="pmia: expected every record in about equally many references"):
        runnable(problem, AttackConfig(**offline))
    kept, why = runnable(problem, AttackConfig(attack={"lira": {"mode": "offline"}}))
    assert "lira" not in [spec.method for spec in kept]
    assert "lira" in why
    assert "rmia" in [spec.method for spec in kept]
