"""An audit of classifiers in scikit-learn's form, which a training function of the user's returns."""

import pytest

import reticent
from reticent.errors import ModelError
from reticent.procedures.estimator import CLIPPED

OWN = """
import numpy as np
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge


def load():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 4)).astype("float32"), np.arange(80) % 2


def forest(x, y, seed):
    return RandomForestClassifier(10, random_state=seed).fit(x, y)


def ridge(x, y, seed):
    return Ridge().fit(x, y)


def logistic(x, y, seed):
    return LogisticRegression


def meta(x, y, seed):
    return torch.nn.Linear(4, 2, device="meta")
"""


def audited(folder, train):
    (folder / "mine_trees.py").write_text(OWN)
    return reticent.audit(
        dataset="mine_trees:load", procedure=f"mine_trees:{train}", models=4, workers=1, replicates=100,
        attacks=["loss"], store=folder / "store", out=folder / "out",
    )  # fmt: skip


def test_an_audit_of_forests_says_what_was_clipped(own_folder):
    document = audited(own_folder, "forest").document
    assert document["population"]["accuracy"]["members"]["mean"] > 0.9
    assert document["attacks"][0]["overall"]["auc"]["mean"] > 0.8
    assert document["population"]["notices"] == [CLIPPED]
    assert document["population"]["parameters"] == 0


@pytest.mark.parametrize(
    ("train", "words"),
    [
        (
            "ridge",
            "expected a torch.nn.Module, or a fitted classifier with predict_proba .*, got Ridge: a regression is not",
        ),
        ("logistic", "or a fitted classifier with .*, got the class LogisticRegression itself"),
        ("meta", "mine_trees:meta: weight is on the meta device, and has no values: .* build it on the CPU"),
    ],
)
def test_what_is_no_classifier(train, words, own_folder):
    with pytest.raises(ModelError, match=words):
        audited(own_folder, train)


def test_layers_are_those_of_a_network(own_folder):
    (own_folder / "mine_trees.py").write_text(OWN)
    with pytest.raises(ModelError, match=r"forest: predict_proba: layers are those of a network, .* torch\.nn\.Module"):
        reticent.locate_layers(
            dataset="mine_trees:load", procedure="mine_trees:forest", seeds=2, workers=1,
            store=own_folder / "store", out=own_folder / "out",
        )  # fmt: skip
