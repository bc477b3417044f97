"""Which attacks run where none is named: the strongest that fit, and the loss beside them."""

import numpy as np
import pytest

from reticent.errors import TooFewReferencesError
from reticent.jobs.attack import Outputs, runnable
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
