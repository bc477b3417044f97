"""One model whose outputs were brought alone: which attacks run, what is said, and what is refused."""

import numpy as np
import pytest

import reticent
from reticent.attacks import ATTACKS
from reticent.errors import InputError, TooFewReferencesError, UnknownNameError
from reticent.findings.audit import Leak
from reticent.say.loss_tail import ALONE

N = 1_200


@pytest.fixture(scope="module")
def one():
    rng = np.random.default_rng(0)
    members, labels = rng.permutation(np.arange(N) < N // 2), rng.integers(0, 4, N)
    logits = rng.normal(size=(1, N, 4))
    logits[0, np.arange(N), labels] += 2 + 1.5 * members
    return {"logits": logits, "labels": labels, "membership": members[None]}


@pytest.fixture(scope="module")
def found(one):
    return reticent.attack(**one, replicates=200).findings


def test_loss_and_threshold_attacks_have_intervals_over_records(found):
    names = {audit.name for audit in found.attacks}
    assert names == {"correctness", "confidence", "entropy", "modified-entropy", "loss"}
    for audit in found.attacks:
        assert audit.bootstrap.over == "records"
        assert audit.spec.get("threshold", "global") == "global"
        low, high = audit.auc.interval
        assert low < audit.auc.mean < high
    assert found.verdict.leak is Leak.FOUND


def test_what_cannot_be_said_and_what_references_would_add_comes_first(found):
    assert found.verdict.cannot_say[0] == ALONE
    assert {one.name for one in found.left_out} >= {"lira", "rmia"}
    assert "The strongest attacks are missing" in found.verdict.detail
    assert found.exposure.records == 0


def test_all_attacks_are_those_that_need_no_reference(one, found):
    every = reticent.attack(**one, attacks="all", replicates=100).findings
    more = {audit.name for audit in every.attacks} - {audit.name for audit in found.attacks}
    assert more >= {"top1-confidence", "attack-p"}
    assert any("imia" in one.name for one in every.left_out)
    assert all(ATTACKS[name].needs(ATTACKS[name].spec()).alone for name in more)
    for names in ("bogus", ["all", "bogus"]):
        with pytest.raises(UnknownNameError, match="unknown attack 'bogus': expected one of all, "):
            reticent.attack(**one, attacks=names)


def test_the_tail_of_large_losses_is_measured(one, found):
    logits, members = one["logits"][0], one["membership"][0]
    shifted = logits - logits.max(axis=1, keepdims=True)
    loss = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(N), one["labels"]]
    cut = np.sort(loss[members])[-int(0.01 * N / 2) - 1]  # all but 1 % of the members are at or below it
    tail, unknown = found.loss_tail.rates
    assert tail.tnr == pytest.approx((loss[~members] > cut).mean())
    assert unknown.tnr is None
    assert found.population.accuracy.members.std is None


def test_several_models_have_no_such_part(one):
    two = {"logits": np.repeat(one["logits"], 2, axis=0), "labels": one["labels"]}
    membership = np.concatenate([one["membership"], ~one["membership"]])
    done = reticent.attack(**two, membership=membership, attacks=["loss"], replicates=100).findings
    assert done.loss_tail is None
    assert ALONE not in done.verdict.cannot_say


def test_the_gate_passes_nothing_by_attacks_that_compare_with_nothing(one, found):
    assert reticent.gate(found.to_json(), max_auc=0.99).checks[0].reason.value == "weak-attacks"
    assert reticent.gate(found.to_json(), max_auc=0.6).checks[0].outcome.value == "failed"


def test_what_needs_other_models_is_refused(one):
    words = (
        "lira: expected at least 1 IN and 1 OUT references .*, or name no attack: those run that these outputs allow$"
    )
    with pytest.raises(TooFewReferencesError, match=words):
        reticent.attack(**one, attacks=["lira"])
    with pytest.raises(InputError, match="control: null permutes who was trained on what among models"):
        reticent.attack(**one, control="null")
    with pytest.raises(InputError, match=r"as of one model alone: give logits\[None\] and membership\[None\]"):
        reticent.attack(logits=one["logits"][0], labels=one["labels"], membership=one["membership"][0])
