"""A whole audit's epsilon: targets combined, attacks corrected for, the accountant beside it, and the words."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reticent.attacks.base import Problem
from reticent.auditing.epsilon import (
    AllThresholds,
    Gaussian,
    Given,
    OneRun,
    Split,
)
from reticent.auditing.epsilon.bounds import (
    audit_epsilon,
    bounds,
    combined,
    consistent,
    default_methods,
    level,
)
from reticent.data.membership import Membership
from reticent.errors import InputError, ShapeError
from reticent.findings.epsilon import Accountant, EpsilonAudit
from reticent.jobs.measure import _fair
from reticent.jobs.scoring import Settings
from reticent.report.blocks import Notice
from reticent.report.kinds.epsilon import blocks, card
from reticent.rounding import plain as digits
from reticent.rounding import significant_down as rounded_down
from reticent.say.epsilon import spoken
from reticent.signals.matrix import Signals


def sentence(lower, delta, confidence, accountant):
    found = EpsilonAudit(lower=lower, delta=delta, confidence=confidence, accountant=accountant)
    return spoken(found).sentence


def made(targets=5, records=4_000, shift=1.5, seed=0):
    rng = np.random.default_rng(seed)
    members = rng.random((targets, records)) < 0.5
    return rng.normal(size=(targets, records)) + shift * members, members


def asked(scores, members, seed=0, **options):
    return audit_epsilon(scores, members, **({"delta": 0.001, "rng": np.random.default_rng(seed)} | options))


def test_levels_and_combined_bounds():
    assert [level(t, 0.1) for t in (1, 2, 3, 4, 5)] == pytest.approx([0.1, 0.05, 0.2 / 3, 0.05, 0.06])
    values = [3.0, 1.0, 5.0, 2.0]
    assert combined(values) == 3.0  # two of four reach it
    assert combined(values[:3]) == 3.0
    assert combined([0.7]) == 0.7


@pytest.mark.parametrize("targets", [1, 2, 3, 4, 7, 8])
def test_the_median_rule_keeps_its_level_in_the_worst_case(targets):
    """Markov's worst case: bounds fail together, just as many as are needed, as often as the levels allow."""
    needed = (targets + 1) // 2
    alpha, rng = 0.1, np.random.default_rng(0)
    each = level(targets, alpha)
    wrong, draws = 0, 20_000
    for fails in rng.random(draws) < alpha:
        bad = rng.permutation(targets)[:needed] if fails else []
        wrong += combined([float(t in bad) for t in range(targets)]) > 0
    assert alpha * needed / targets == pytest.approx(each)  # so each target fails at its level
    assert wrong / draws == pytest.approx(alpha, abs=4 * (alpha * (1 - alpha) / draws) ** 0.5)


def test_the_objects_of_the_document():
    scores, members = made()
    found = asked({"lira": scores}, members, methods=[AllThresholds(), Gaussian(), Given(threshold=2.0)])
    entry = found.attacks["lira"]
    assert json.loads(json.dumps(entry.to_json(), allow_nan=False)) == entry.to_json()
    assert (entry.delta, entry.confidence, entry.combined) == (0.001, 0.95, {"method": "twice-median"})
    assert [bound.method for bound in entry.bounds] == ["all-thresholds", "gaussian", "given"]
    assert entry.bounds[2].spec == {"method": "given", "threshold": 2.0}
    assert entry.bounds[0].assumes.startswith("given the model, the scores of different records do not depend")
    for bound in entry.bounds:
        assert bound.epsilon == sorted(bound.targets)[2]
    assert set(found.overall.to_json()) == {
        "delta",
        "confidence",
        "lower",
        "attack",
        "method",
        "best_of",
        "accountant",
        "consistent",
        "sentence",
    }
    assert found.overall.lower == entry.bounds[0].epsilon
    assert (found.overall.attack, found.overall.method, found.overall.best_of) == ("lira", "all-thresholds", 1)


def test_targets_are_bound_at_the_corrected_level():
    scores, members = made(targets=4)
    found = asked({"a": scores}, members, methods=[AllThresholds()])
    rng = np.random.default_rng(0)
    alone = bounds(scores, members, AllThresholds(), delta=0.001, confidence=1 - 0.025, rng=rng)
    assert found.attacks["a"].bounds[0].targets == pytest.approx(alone)
    assert found.attacks["a"].combined == {"method": "twice-median"}


def test_the_best_attack_pays_for_the_choice():
    strong, members = made(shift=2.0)
    weak, _ = made(shift=2.0, seed=9)
    alone = asked({"strong": strong}, members).overall
    both = asked({"weak": weak, "strong": strong}, members)
    assert (both.overall.attack, both.overall.best_of) == ("strong", 2)
    assert 0.8 * alone.lower < both.overall.lower < alone.lower
    assert both.overall.lower < both.attacks["strong"].bounds[0].epsilon == alone.lower
    narrower = asked({"strong": strong}, members, confidence=0.975).overall.lower
    assert both.overall.lower == pytest.approx(narrower)


def test_another_attack_or_method_moves_no_random_split():
    scores, members = made()
    one = asked({"b": scores}, members, methods=[Split()]).attacks["b"].bounds[0]
    two = asked({"a": scores, "b": scores}, members, methods=[OneRun(), Split()]).attacks
    assert two["b"].bounds[1] == one
    assert two["a"].bounds[1].targets != one.targets
    assert asked({"b": scores}, members, methods=[Split()], seed=1).attacks["b"].bounds[0] != one


def test_the_methods_that_can_say_something():
    fair = np.arange(1_000)[None] % 2 == 0
    names = [method.method for method in default_methods(fair, 1e-5)]
    assert names == ["all-thresholds", "split", "gaussian", "one-run", "f-dp"]
    assert [method.method for method in default_methods(fair, 0)] == ["all-thresholds", "split", "one-run"]
    assert [method.method for method in default_methods(np.arange(1_000)[None] < 900, 0.1)] == names[:3]
    assert [method.method for method in default_methods(fair, 1e-5, fair=False)] == names[:3]


@pytest.mark.parametrize(("rows", "fair"), [([0, 0, 1], False), ([0, 1], True), ([0, 1, 1, 0], True)])
def test_the_same_odd_number_of_models_for_all_records_is_no_fair_coin(rows, fair):
    """With M odd, each record is in more than half of the models, or in less: its other models give one away."""
    members = np.stack([np.resize(np.roll(rows, i), 12) for i in range(len(rows))]).astype(bool)
    problem = Problem.make(Signals.from_margins(np.zeros(members.shape), np.zeros(12, int)), members)
    assert _fair(problem) is fair
    varied = members.copy()
    varied[0, 0] = not varied[0, 0]
    assert _fair(replace(problem, membership=Membership(varied))) is True


def test_the_accountant_stands_beside_it():
    scores, members = made()
    lower = asked({"a": scores}, members).overall.lower
    promise = Accountant(epsilon=lower + 1, delta=0.001, source="rdp")
    agrees = asked({"a": scores}, members, accountant=promise).overall
    assert (agrees.accountant, agrees.consistent) == (promise, True)
    against = asked({"a": scores}, members, accountant=promise.with_(epsilon=lower / 2)).overall
    assert against.consistent is False
    assert "That contradicts the accountant" in spoken(against).sentence
    other = asked({"a": scores}, members, accountant=Accountant(epsilon=lower / 2, delta=0.1)).overall
    assert (other.consistent, other.accountant.source) == (None, None)


def test_what_the_user_states_is_not_called_an_accountants():
    given = {"epsilon": 8.0, "delta": 1e-5, "source": "given"}
    assert sentence(1.0, 1e-5, 0.95, given).endswith(
        "That does not contradict the promise: epsilon at most 8, as stated by the user, not computed."
    )
    assert sentence(9.0, 1e-5, 0.95, given).endswith(
        "That contradicts the promise: epsilon at most 8, as stated by the user, not computed. Either the training "
        "does not keep it, or this is one of the rare audits that are wrong."
    )
    assert Settings(0, promised=8.0).accountant.source == "given"


def test_consistency_looks_at_both_deltas():
    assert consistent(2.0, 1e-5, Accountant(epsilon=2.0, delta=1e-5)) is True
    assert consistent(2.1, 1e-5, Accountant(epsilon=2.0, delta=1e-6)) is False
    assert consistent(2.1, 1e-5, Accountant(epsilon=2.0, delta=1e-4)) is None
    assert consistent(1.9, 1e-5, Accountant(epsilon=2.0, delta=1e-4)) is True


def test_the_sentences():
    accountant = {"epsilon": 8.0, "delta": 1e-5, "source": "rdp"}
    assert sentence(1.2384, 1e-5, 0.95, None) == (
        "No training with epsilon below 1.23 (at delta 0.00001) could give such results, at 95 % confidence."
    )
    assert sentence(0.0, 0.0, 0.99, accountant) == (
        "This shows nothing about epsilon: at this size the audit cannot rule out epsilon 0 (at delta 0), at 99 % "
        "confidence. That does not contradict the accountant: the accountant proves at most 8.00 (at delta 0.00001, "
        "which says nothing of delta 0)."
    )
    assert sentence(9.0, 1e-5, 0.95, accountant).endswith(
        "That contradicts the accountant: the accountant proves at most 8.00. Either the noise is not added as it "
        "assumes, or another of its assumptions does not hold, or this is one of the rare audits that are wrong."
    )
    assert sentence(9.0, 1e-6, 0.95, accountant).endswith(
        "It cannot be held against the accountant: the accountant proves at most 8.00 (at delta 0.00001), and another "
        "delta is another promise."
    )


@pytest.mark.parametrize("lower", [0.6479, 0.01, 1.2399, 12.399, 123.9])
def test_the_sentence_and_the_card_have_the_same_number(lower):
    accountant = {"epsilon": lower + 1, "delta": 1e-5, "source": "rdp"}
    said = sentence(lower, 1e-5, 0.95, accountant)
    shown = card(EpsilonAudit(lower=lower, delta=1e-5, confidence=0.95, accountant=accountant))
    assert f"epsilon below {shown.value} (at delta" in said
    assert said.rstrip(".").split()[-1] == shown.note.split()[-1]
    assert f"epsilon below {rounded_down(0.00123456)} (at" in sentence(0.00123456, 1e-5, 0.95, None)


@pytest.mark.parametrize(
    ("value", "text"), [(1.2399, "1.23"), (12.39, "12.3"), (0.00123456, "0.00123"), (2.0, "2"), (123.9, "123")]
)
def test_a_lower_limit_is_rounded_down(value, text):
    assert rounded_down(value) == text
    assert float(text) <= value
    assert float(text) > 0.98 * value


def test_numbers_are_written_without_an_exponent():
    assert [digits(value) for value in (1e-12, 0.5, 8.0, 1e-5)] == ["0.000000000001", "0.5", "8", "0.00001"]


def test_errors_name_what_is_wrong():
    scores, members = made(targets=2, records=50)
    with pytest.raises(InputError, match="scores: expected at least one attack, got none"):
        asked({}, members)
    with pytest.raises(ShapeError, match="attack 'a': members: expected shape"):
        asked({"a": scores[:, :40]}, members)
    with pytest.raises(InputError, match="attack 'b': scores: expected finite numbers"):
        asked({"a": scores, "b": np.full(scores.shape, np.nan)}, members)
    with pytest.raises(InputError, match="confidence: expected a number between 0 and 1"):
        asked({"a": scores}, members, confidence=1.0)
    with pytest.raises(InputError, match="delta: expected a number from 0 up to"):
        asked({"a": scores}, members, delta=-0.1)


def test_what_training_proves_stays_beside_what_is_stated():
    members = np.tile([True, False], (4, 50))
    proof = Accountant(epsilon=7.8894, delta=1e-5, source="prv")
    stated = Accountant(epsilon=2.0, delta=1e-5, source="given")
    asked = {"delta": 1e-5, "rng": np.random.default_rng(0), "accountant": stated}
    scores = {"a": np.random.default_rng(1).normal(size=members.shape)}
    told = spoken(audit_epsilon(scores, members, proven=proof, **asked).overall)
    assert (told.accountant, told.proven) == (stated, proof)
    assert "epsilon at most 2, as stated by the user" in told.sentence
    assert "the accountant proves at most 7.89. So the training does not prove the promise." in told.sentence
    assert card(told).note.endswith("; the accountant proves at most 7.89")
    asked["accountant"] = stated.with_(epsilon=8.0)
    kept = spoken(audit_epsilon(scores, members, proven=proof, **asked).overall)
    assert kept.sentence.endswith("So the training proves the promise.")
    assert "proven" not in audit_epsilon(scores, members, **asked).overall.to_json()
    for document, unproven in ((told, True), (kept, False)):
        assert any(isinstance(block, Notice) for block in blocks(document, [], None)) is unproven
