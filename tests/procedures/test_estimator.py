"""Training functions that return a classifier in scikit-learn's form, asked by hand and in an audit."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

import reticent
from reticent.procedures.estimator import Estimator
from reticent.signals.matrix import margin
from reticent.training.materials import forward

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
Y = np.arange(120) % 3
X[:, :3] += 1.5 * np.eye(3)[Y]


def asked(fitted, x=X, classes=3):
    network = Estimator(fitted, X, classes, "mine:train").eval()
    return forward(network, torch.from_numpy(x), classes).numpy(), network


def test_probabilities_are_preferred_and_give_their_log_odds():
    fitted = LogisticRegression().fit(X, Y)
    found, network = asked(fitted)
    p = fitted.predict_proba(X)
    own = p[np.arange(120), Y]
    assert margin(found, Y) == pytest.approx(np.log(own / (1 - own)), abs=1e-9)
    assert not network.clipped
    assert list(network.state_dict()) == []


def test_decisions_are_logits():
    fitted = LinearSVC(random_state=0).fit(X, Y)
    assert margin(asked(fitted)[0], Y) == pytest.approx(margin(fitted.decision_function(X), Y), abs=1e-9)
    binary = LinearSVC(random_state=0).fit(X, Y > 0)
    found = asked(binary, classes=2)[0]
    assert found[:, 1] - found[:, 0] == pytest.approx(binary.decision_function(X), abs=1e-9)


class Reversed:
    """A classifier that numbers its columns backwards."""

    classes_ = np.array([2.0, 1.0, 0.0])

    def predict_proba(self, x):
        return np.tile([0.2, 0.3, 0.5], (len(x), 1)) + np.linspace(-0.1, 0.1, len(x))[:, None] * [1, 0, -1]


def test_columns_are_those_of_the_classes():
    shares = Reversed().predict_proba(X)
    assert np.exp(asked(Reversed())[0]) == pytest.approx(shares[:, ::-1], abs=1e-12)


@pytest.mark.parametrize("kind", [LogisticRegression(), LinearSVC(random_state=0)])
def test_a_class_that_was_never_seen_has_the_least_probability(kind):
    fitted = kind.fit(X[Y != 1], Y[Y != 1])
    found, network = asked(fitted)
    z = fitted.decision_function(X)
    assert found[:, 2] - found[:, 0] == pytest.approx(z, abs=1e-6)
    assert found[:, 1] == pytest.approx(-54 * np.log(2))
    assert network.clipped


def test_votes_are_told_by_half_a_vote_for_every_record_alike():
    fitted = RandomForestClassifier(20, random_state=0).fit(X, Y)
    others = RNG.normal(size=(50, 6))
    votes = np.rint(20 * fitted.predict_proba(others))
    found, network = asked(fitted, others)
    assert network.told.unit == pytest.approx(1 / 20)
    assert network.clipped
    assert np.exp(found[votes > 0]) == pytest.approx(votes[votes > 0] / 20)
    one = (votes == 0).sum(axis=1) == 1
    assert np.exp(found[one])[votes[one] == 0] == pytest.approx(1 / 40)
    assert asked(fitted, others[7:8])[0] == pytest.approx(found[7:8], abs=1e-12)


def test_pictures_are_flattened_where_the_classifier_was_fitted_on_rows():
    fitted = LogisticRegression().fit(X, Y)
    network = Estimator(fitted, X.reshape(120, 1, 2, 3), 3, "mine:train")
    assert network(torch.from_numpy(X.reshape(120, 1, 2, 3))).numpy() == pytest.approx(asked(fitted)[0])


class Odd:
    def __init__(self, answer, **facts):
        self.answer = answer
        vars(self).update(facts)

    def predict_proba(self, x):
        return self.answer(len(x))


@pytest.mark.parametrize(
    ("fitted", "words"),
    [
        (Odd(lambda n: np.full((n, 4), 0.25)), "mine:train: predict_proba: expected 3 columns, one a class, got 4"),
        (
            Odd(lambda n: [np.full((n, 2), 0.5)] * 3),
            r"got shape \(3, 120, 2\) .*several outputs a record \(multi-label\) are",
        ),
        (Odd(lambda n: np.full((n, 3), np.exp(-2))), "expected rows that sum to 1, .* got 0.406006 for record 0"),
        (Odd(lambda n: np.full((n, 3), np.nan)), "expected numbers from 0 to 1, got nan for record 0"),
        (Odd(lambda n: 1 / 0), "mine:train: predict_proba failed: ZeroDivisionError: division by zero"),
        (
            Odd(lambda n: np.full((n, 2), 0.5), classes_=[1, 7]),
            "classes_: expected integers from 0 to 2, got 7 .*: fit it on",
        ),
        (SVC(decision_function_shape="ovo").fit(X, Y), "decisions between pairs of classes are not supported"),
    ],
)
def test_what_a_classifier_can_get_wrong(fitted, words):
    with pytest.raises(reticent.errors.ReticentError, match=words):
        asked(fitted)
