"""The threshold attacks: the rule, its leave-one-out form, and the values."""

from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from attack_cases import problem
from scipy.stats import rankdata

from reticent.attacks import Problem, parse, score, thresholds
from reticent.attacks.entropy import log_entropy
from reticent.attacks.softmax import log_modified_entropy, log_probabilities
from reticent.data.membership import Membership
from reticent.errors import InputError
from reticent.signals.matrix import Signals

SEEDS = range(5)


def best(train, test):
    """The rule of the attacks, where nobody is left out."""
    is_member = np.arange(len(train) + len(test)) < len(train)
    values = np.array([*train, *test], dtype=float)
    return thresholds._learn(values, is_member, np.zeros(len(values), dtype=int), np.array([-1]))[0]


def rule(train, test):
    """Song and Mittal's loop: a later value must be strictly better."""
    chosen, most = 0.0, 0
    for value in [*train, *test]:
        accuracy = sum(v >= value for v in train) * len(test) + sum(v < value for v in test) * len(train)
        if accuracy > most:
            chosen, most = value, accuracy
    return chosen


def test_rule_of_the_algorithms_page():
    assert best([0.9, 0.8, 0.6], [0.7, 0.5, 0.4]) == 0.8
    assert best([0.6, 0.8, 0.9], [0.7, 0.5, 0.4]) == 0.6
    assert best([0.1], [0.9]) == 0.1
    assert np.isnan(best([], [0.1, 0.2]))


@pytest.mark.parametrize("seed", SEEDS)
def test_rule_equals_the_plain_loop_with_many_ties(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        train, test = rng.integers(0, 6, rng.integers(1, 9)) / 4, rng.integers(0, 6, rng.integers(1, 9)) / 4
        assert best(train, test) == rule(train, test)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("decimals", [0, 9])
def test_class_wise_thresholds_equal_the_plain_loop(seed, decimals):
    case = problem(seed, models=6, records=24, population=0, references=[0, 2, 3, 5])
    case = replace(case, signals=replace(case.signals, margins=np.round(case.signals.margins, decimals)))
    fast, values = score("confidence", case), case.signals.margins[:, :, 0]
    for target in range(6):
        others = [m for m in (0, 2, 3, 5) if m != target]
        for label in range(3):
            ids = np.flatnonzero(case.signals.labels == label)
            train = [values[m, i] for m in others for i in ids if case.membership.matrix[m, i]]
            test = [values[m, i] for m in others for i in ids if not case.membership.matrix[m, i]]
            np.testing.assert_array_equal(fast[target, ids], values[target, ids] - rule(train, test))


def test_a_class_without_members_takes_the_threshold_of_all():
    labels = np.array([0, 0, 1, 1])
    known = np.array([[True, False, True, False], [True, False, False, False], [False, True, False, False]])
    margins = np.array([[2.0, -1.0, 3.0, -3.0], [1.0, -2.0, 0.5, 0.0], [-1.0, 2.0, -0.5, 0.25]])
    case = Problem.make(Signals.from_margins(margins, labels), known, targets=[0])
    values = margins
    overall = best([values[1, 0], values[2, 1]], [*values[1, 1:], values[2, 0], values[2, 2], values[2, 3]])
    own = best([values[1, 0], values[2, 1]], [values[1, 1], values[2, 0]])
    np.testing.assert_array_equal(score("confidence", case)[0], values[0] - np.array([own, own, overall, overall]))


def test_confidence_with_a_global_threshold_ranks_as_the_loss_attack():
    case = problem(3)
    spec = parse({"method": "confidence", "threshold": "global"})
    np.testing.assert_array_equal(rankdata(score(spec, case), axis=1), rankdata(score("loss", case), axis=1))


def test_loss_is_the_cross_entropy():
    case = problem(3)
    z = case.signals.logits[4]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    cross_entropy = -np.log(p[np.arange(60), case.signals.labels])
    np.testing.assert_allclose(score("loss", case)[4], -cross_entropy, rtol=1e-12)


def test_entropies_of_the_algorithms_page():
    log_p = np.log([0.7, 0.2, 0.1])
    assert np.exp(log_entropy(log_p)) == pytest.approx(0.801819, abs=5e-7)
    values = np.exp(log_modified_entropy(np.stack([log_p] * 3), np.arange(3)))
    np.testing.assert_allclose(values, [0.162167, 2.140867, 2.959736], atol=5e-7)
    assert log_modified_entropy(np.log([0.5, 0.5]), np.array(0)) == pytest.approx(np.log(np.log(2)), abs=1e-15)


def test_entropies_of_a_sure_answer_do_not_saturate():
    logits = np.array([[[60.0, 0.0], [60.0, 0.0]], [[800.0, 0.0], [800.0, 0.0]]])
    labels = np.array([0, 1])
    case = Problem.make(Signals.from_logits(logits, labels), [[True, False], [False, True]])
    modified = -score(parse({"method": "modified-entropy", "threshold": "global"}), case)
    plain = -score(parse({"method": "entropy", "threshold": "global"}), case)
    # p_0 = 1 to all digits, p_1 = exp(-60) or 0: M(y=1) = 2 (z_0 - z_1), M(y=0) = 2 p_1^2, H = (z_0 + 1) p_1.
    np.testing.assert_allclose(modified[:, 1], np.log([120.0, 1600.0]), rtol=1e-12)
    np.testing.assert_allclose(modified[:, 0], np.log(2) - [120.0, 1600.0], rtol=1e-12)
    np.testing.assert_allclose(plain, np.log([[61.0] * 2, [801.0] * 2]) - [[60.0] * 2, [800.0] * 2], rtol=1e-12)


def digits(logits, label):
    """The logarithms of the entropy and of the modified entropy, in 400 digits."""
    with localcontext(prec=400):
        odds = [Decimal(float(z)).exp() for z in logits]
        p = [one / sum(odds) for one in odds]
        entropy = -sum(one * one.ln() for one in p)
        rest = sum(one * (1 - one).ln() for j, one in enumerate(p) if j != label)
        return float(entropy.ln()), float((-(1 - p[label]) * p[label].ln() - rest).ln())


@pytest.mark.parametrize("scale", [1, 10, 100])
def test_entropies_equal_those_in_many_digits(scale):
    rng = np.random.default_rng(scale)
    for _ in range(8):
        logits, label = scale * rng.normal(size=4), int(rng.integers(4))
        signals = Signals.from_logits(logits[None, None], np.array([label]))
        ((_, log_p),) = log_probabilities(signals, np.array([0]))
        entropy, modified = digits(logits, label)
        assert log_entropy(log_p)[0, 0] == pytest.approx(entropy, rel=1e-11, abs=1e-11)
        assert log_modified_entropy(log_p, np.array([[label]]))[0, 0] == pytest.approx(modified, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("method", ["confidence", "entropy", "modified-entropy"])
def test_sure_answers_are_told_apart_by_scores_as_by_their_margins(method):
    """Margins of 20 to 80, as overfitted models have, beside some of 1: in float32 all probabilities above 17 are 1."""
    rng = np.random.default_rng(0)
    margins = np.where(rng.random((6, 400)) < 0.8, rng.uniform(20, 80, (6, 400)), 1.0 + rng.random((6, 400)))
    membership = Membership.draw(6, 400, 0)
    logits = np.zeros((6, 400, 2), dtype=np.float32)
    logits[:, :, 0] = margins
    case = Problem.make(Signals.from_logits(logits, np.zeros(400, dtype=int)), membership)
    scores = score(method, case)
    for row, own in zip(scores, logits[:, :, 0], strict=True):
        assert len(np.unique(row)) == len(np.unique(own))
        np.testing.assert_array_equal(np.argsort(row), np.argsort(own))


@pytest.mark.parametrize("seed", SEEDS)
def test_entropies_equal_the_plain_formulas(seed):
    case = problem(seed)
    z, y = case.signals.logits, case.signals.labels
    p = np.exp(z) / np.exp(z).sum(axis=2, keepdims=True)
    for m in (0, 11):
        for i in (0, 30, 59):
            row, label = p[m, i], y[i]
            others = [j for j in range(3) if j != label]
            expected = (1 - row[label]) * np.log(row[label]) + sum(row[j] * np.log(1 - row[j]) for j in others)
            got = score(parse({"method": "modified-entropy", "threshold": "global"}), case)[m, i]
            assert got == pytest.approx(-np.log(-expected), rel=1e-9)
            got = score(parse({"method": "entropy", "threshold": "global"}), case)[m, i]
            assert got == pytest.approx(-np.log(-(row * np.log(row)).sum()), rel=1e-9)


def test_top_1_confidence_is_that_of_the_label_where_all_are_correct_and_not_where_one_is_wrong():
    p = np.array([[[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]], [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2]]])
    known, label = [[True, False], [False, True]], parse({"method": "top1-confidence", "of": "label"})
    right = Problem.make(Signals.from_logits(np.log(p), [0, 1]), known)
    np.testing.assert_allclose(score("top1-confidence", right), score(label, right), atol=1e-12)
    np.testing.assert_allclose(1 / (1 + np.exp(-score(label, right))), [[0.7, 0.8], [0.5, 0.6]], atol=1e-12)
    wrong = Problem.make(Signals.from_logits(np.log([[[0.9, 0.1]] * 2] * 2), [1, 0]), known)
    for of, expected in (("top1-confidence", 0.9), (label, 0.1)):
        np.testing.assert_allclose(1 / (1 + np.exp(-score(of, wrong)[:, 0])), expected, atol=1e-12)


def test_gap_attack_in_closed_form():
    labels = np.arange(20) % 3
    members = np.arange(20) < 10
    predicted = np.where(members | (np.arange(20) < 18), labels, (labels + 1) % 3)
    known = np.stack([members, ~members])
    case = Problem.make(Signals.from_logits(2 * np.eye(3)[[predicted, labels]] - 1, labels), known, targets=[0])
    scores = score("correctness", case)[0]
    accuracy_in, accuracy_out = scores[members].mean(), scores[~members].mean()
    assert (accuracy_in, accuracy_out) == (1.0, 0.8)
    assert 0.5 * (np.mean(scores[members] == 1) + np.mean(scores[~members] == 0)) == pytest.approx(0.6, abs=1e-15)


def test_output_that_keeps_the_order_of_classes_changes_no_correctness():
    case = problem(5)
    softer = replace(case, signals=Signals.from_logits(np.tanh(case.signals.logits / 9), case.signals.labels))
    assert score("correctness", softer).tobytes() == score("correctness", case).tobytes()


def test_a_tie_for_the_largest_logit_is_a_mistake_for_every_class():
    logits = np.array([[[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]] * 2)
    known = np.array([[True, False, True, False], [False, True, False, True]])
    signals = Signals.from_logits(logits, np.array([0, 1, 1, 1]))
    np.testing.assert_array_equal(score("correctness", Problem.make(signals, known))[0], [0, 0, 1, 0])
    margins = Signals.from_margins(signals.margins, signals.labels)
    np.testing.assert_array_equal(score("correctness", Problem.make(margins, known))[0], [0, 0, 1, 0])


@pytest.mark.parametrize("method", ["correctness", "entropy", "modified-entropy", "top1-confidence"])
def test_margins_alone_are_refused_by_name(method):
    known = Membership(np.arange(4)[:, None] % 2 == np.arange(6) % 2)
    case = Problem.make(Signals.from_margins(np.zeros((4, 6)), np.arange(6) % 3), known)
    with pytest.raises(InputError, match=f"{method}: expected logits of all 3 classes, got margins only"):
        score(method, case)
