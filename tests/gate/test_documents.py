"""A document that was changed or cut: never a traceback, and never a pass that the whole one did not give."""

import json
from collections import Counter
from contextlib import nullcontext

import numpy as np
import pytest
from pydantic import ValidationError

import reticent
from reticent.errors import InputError, ReticentError, SpecError, UnknownNameError
from reticent.findings.numbers import Spread
from reticent.findings.population import Accuracy, ModelFacts, Population

DEEP = []
for _ in range(900):
    DEEP = [DEEP]
VALUES = (-5, None, "x", [], {}, DEEP, True, 1e300)


@pytest.fixture(scope="module")
def done():
    """A real audit of simulated outputs, with a null control, groups and an accountant's epsilon."""
    rng = np.random.default_rng(0)
    membership = rng.permuted(np.tile([True, False], (200, 5)), axis=1).T
    labels = np.arange(200) % 2
    logits = rng.normal(size=(10, 200, 2))
    logits[:, np.arange(200), labels] += 1 + 2 * membership
    settings = {"attacks": ["lira", "loss"], "replicates": 100, "control": "null", "promised_epsilon": 8.0}
    return reticent.attack(logits=logits, labels=labels, membership=membership, **settings)


def paths(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from paths(inner, (*path, key))


def sampled(document):
    """One path of each kind, the first that a list has."""
    kinds = {tuple("#" if isinstance(key, int) else key for key in path): path for path in reversed([*paths(document)])}
    return list(kinds.values())


@pytest.mark.slow
def test_whatever_is_changed_there_is_no_traceback_and_no_new_pass(done):
    document = json.loads(json.dumps(done.document))
    document.pop("exposure")
    for attack in document["attacks"]:
        attack.pop("roc")
        attack.pop("histogram")
    strict = {"max_auc": 0.5, "max_tpr": {0.1: 0.1}, "max_group_auc": 0.5, "max_epsilon": 1, "min_accuracy": 0.99}
    loose = {"max_auc": 1, "max_tpr": {0.1: 1}, "max_group_auc": 1, "max_epsilon": 9, "min_accuracy": 0.1}
    assert {check.outcome for check in reticent.gate(document, **strict).checks} == {"failed"}
    assert reticent.gate(document, **loose).passed
    outcomes = Counter()
    for path in sampled(document):
        *way, last = path
        place = document
        for key in way:
            place = place[key]
        kept = place[last]
        for value in VALUES:
            place[last] = value
            for whole, limits in (("failed", strict), ("passed", loose)):
                found = judged(document, limits)
                assert whole == "passed" or "passed" not in found, (path, value)
                outcomes.update((whole, outcome) for outcome in set(found))
        place[last] = kept
    assert outcomes["failed", "refused"] > 100
    assert outcomes["passed", "cannot judge"] > 10
    assert outcomes["passed", "passed"] > 200


def judged(document, limits):
    try:
        return [check.outcome for check in reticent.gate(document, **limits).checks]
    except ReticentError as error:
        return ["refused"] if len(str(error)) < 300 else ["refused at length"]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("population.health", -5, "population.health: expected a list, got -5"),
        ("attacks.0.overall.tpr_at_fpr", -5, "attacks[0].overall.tpr_at_fpr: expected a list, got -5"),
        ("attacks.0.overall.tpr_at_fpr.1.fpr", "x", "tpr_at_fpr[1].fpr: expected a number, got 'x'"),
        ("attacks.0.targets.0.tpr_at_fpr.0.false_positives_allowed", -1, "expected greater than or equal to 0, got -1"),
        ("attacks.1.name", None, "attacks[1].name: expected text, got null"),
        ("groups.0.groups.1", None, "groups[0].groups[1]: expected an object, got null"),
        ("epsilon.accountant.epsilon", -5, "epsilon.accountant.epsilon: expected greater than or equal to 0, got -5"),
        ("epsilon.consistent", "no", "epsilon.consistent: expected true or false, got 'no'"),
        ("control", {}, "control.passed: it is missing"),
        ("attacks", [], "attacks: expected at least one attack, each name once, got none"),
        (
            "attacks.1.name",
            "lira",
            "attacks: expected at least one attack, each name once, got lira, lira: the document",
        ),
        ("verdict.attack", "rmia", "verdict.attack: expected one of the attacks (lira, loss), got 'rmia'"),
        ("verdict.confidence", 0.01, "verdict.confidence: expected 0.95, as other parts of the document say, got 0.01"),
        ("population.models", 60, "population.models: expected 10, as other parts of the document say, got 60"),
        ("population.per_model.1.model", 0, "population.models: expected 9, as other parts of the document say"),
        ("population.accuracy.non_members.mean", 0.99, "population.accuracy.non_members.mean: expected 0.7"),
    ],
)
def test_the_message_says_where(done, path, value, words):
    document = json.loads(json.dumps(done.document))
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = document
    for key in way:
        place = place[key]
    place[last] = value
    with pytest.raises(InputError) as error:
        reticent.gate(document, max_auc=1)
    assert words in str(error.value)


@pytest.mark.parametrize("population", [{"models": 6}, {"models": 6, "health": None}])
def test_an_audit_that_does_not_say_whether_its_models_learned_cannot_be_judged(done, population):
    document = done.document | {"population": population}
    check, _ = reticent.gate(document, max_auc=1).checks
    assert (check.outcome, check.reason) == ("cannot judge", "did-not-learn")
    assert check.message.startswith("the audit does not say whether its models learned")
    assert reticent.gate(document, max_auc=1, allow="did-not-learn").passed
    assert reticent.gate(document, max_auc=0.5).outcome == "failed"


def test_a_spread_that_is_missing_is_not_a_small_one(done):
    document = json.loads(json.dumps(done.document))
    document["population"]["accuracy"]["non_members"]["std"] = None  # as of one model
    check = reticent.gate(document, min_accuracy=0.1).checks[0]
    assert (check.outcome.value, check.reason.value) == ("cannot judge", "no-accuracy")


def test_the_result_of_an_audit_is_taken_as_it_is(done):
    assert reticent.gate(done, max_auc=1) == reticent.gate(done.document, max_auc=1)
    assert reticent.gate(done, max_auc=1).passed


@pytest.mark.parametrize(
    ("audit", "limits", "kind", "words"),
    [
        (None, {"max_acu": 0.6}, UnknownNameError, "unknown argument 'max_acu': did you mean 'max_auc'?"),
        (5, {"max_auc": 0.6}, InputError, "audit: expected what reticent.audit returned, its document, or the path"),
        (None, {"max_auc": 0.6, "junit": 5}, InputError, "junit: expected a path, got int"),
        (None, {"max_tpr": 0.02}, SpecError, 'max_tpr: expected limits by false-positive rate, such as "0.02@0.01"'),
        (None, {"max_tpr": [(0.01,)]}, SpecError, "max_tpr: expected limits by false-positive rate"),
        (None, {"max_auc": "high"}, SpecError, "max_auc: expected a number, got 'high'"),
        (None, {"max_auc": 0.6, "allow": 5}, SpecError, "allow: expected"),
    ],
)
def test_what_python_gets_wrong_is_one_sentence(done, audit, limits, kind, words):
    with pytest.raises(kind) as error:
        reticent.gate(done if audit is None else audit, **limits)
    assert words in str(error.value)


def test_a_mean_of_rounded_numbers_is_told_from_a_changed_one():
    """A mean that ends in a half at its seventh decimal is rounded in two ways."""
    each = tuple(
        ModelFacts(model=model, members=400, accuracy_members=0.7, accuracy_non_members=0.6) for model in range(2)
    )
    spread = Spread(mean=0.6)
    for mean, fits in ((0.7, True), (0.700001, True), (0.70001, False)):
        accuracy = Accuracy(members=spread.with_(mean=mean), non_members=spread)
        with nullcontext() if fits else pytest.raises(ValidationError, match=r"accuracy\.members\.mean: expected 0.7"):
            Population(models=2, per_model=each, accuracy=accuracy)
