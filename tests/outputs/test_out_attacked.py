"""Attacks on defended answers: ties, equal rows and saturated answers are no accident there."""

import itertools

import numpy as np
import pytest
import torch
from output_contexts import context

from reticent.attacks import ATTACKS, needs_models, score
from reticent.attacks.base import Problem
from reticent.attacks.lira import Lira
from reticent.attacks.rmia import Rmia
from reticent.auditing.roc import auc
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.errors import InputError, ModelError
from reticent.outputs import OUTPUTS
from reticent.outputs.rounding import Rounding
from reticent.outputs.temperature import Temperature
from reticent.outputs.top_k import TopK
from reticent.signals.ask import ask
from reticent.signals.matrix import Signals
from reticent.signals.queries import Queries
from reticent.training.data import Preparation

MODELS, RECORDS = 10, 60


def leaking(classes, seed=0):
    """Logits of models that are surer of what they were trained on, and who was trained on what."""
    rng = np.random.default_rng(seed)
    membership, labels = Membership.draw(MODELS, RECORDS, seed), np.arange(RECORDS) % classes
    logits = rng.normal(size=(MODELS, RECORDS, classes))
    logits[:, np.arange(RECORDS), labels] += 1 + 2 * membership.matrix + rng.normal(size=RECORDS)
    return logits, labels, membership


def defended(spec, logits):
    """Signals as they are stored, behind a defense that is a function of the logits alone."""
    classes = logits.shape[2]
    answer = OUTPUTS[spec.method].build(spec, context(np.zeros((2 * classes, 3), dtype=np.float32), classes=classes))
    rows = [answer(torch.from_numpy(z), torch.zeros(len(z), 3)).numpy() for z in logits]
    return np.stack(rows)


def problem(logits, labels, membership):
    signals = Signals.from_logits(logits, labels)
    odds = np.exp(signals.logits - signals.logits.max(axis=2, keepdims=True))
    taught = np.where(membership.matrix[:, :, None], odds / odds.sum(axis=2, keepdims=True), np.nan)
    return Problem.make(signals, membership, replicas=taught)


VARIANTS = [
    *(Lira(mode=m, variance=v, centre=c) for m, v, c in itertools.product(
        ("online", "offline"), ("per-record", "pooled"), ("mean", "median"))),
    *(Rmia(mode=m, signal=s) for m, s in itertools.product(
        ("online", "offline"), ("softmax", "taylor", "soft-margin", "sm-taylor"))),
    *(ATTACKS[name].brief.replace(**{"steps": 4} if ATTACKS[name].fitted else {}) for name in sorted(ATTACKS)
      if name == "selena-replica" or (name not in {"lira", "rmia"} and not needs_models(name))),
]  # fmt: skip


@pytest.mark.parametrize("spec", VARIANTS, ids=lambda spec: f"{spec.method} {spec}")
@pytest.mark.parametrize("case", ["rounded", "one number", "saturated", "all the same"])
def test_scores_are_finite_and_the_null_is_not_beaten_where_nothing_is_told(case, spec):
    logits, labels, membership = leaking(5)
    made = {
        "rounded": lambda: defended(Rounding(digits=1), logits),
        "one number": lambda: defended(TopK(k=1), logits),
        "saturated": lambda: defended(Temperature.model_construct(temperature=1e-5), logits),
        "all the same": lambda: defended(Rounding(digits=1), np.tile(logits[:1, :1], (MODELS, RECORDS, 1))),
    }[case]()
    if case in {"one number", "all the same"} and getattr(spec, "signal", "").endswith("taylor"):
        with pytest.raises(InputError, match="these are logarithms of probabilities"):
            score(spec, problem(made, labels, membership))
        return
    scores = score(spec, problem(made, labels, membership))
    assert np.isfinite(scores).all()
    if case == "all the same":
        # Each target's members and non-members are scored alike, whatever the number of references of each kind.
        audited = [float(auc(row, inside)) for row, inside in zip(scores, membership.matrix, strict=True)]
        assert abs(np.mean(audited) - 0.5) < 0.1


@pytest.mark.parametrize("spec", [Lira(), Lira(mode="offline"), Lira(variance="per-record")], ids=str)
def test_temperature_holds_no_adaptive_attacker_up(spec):
    """Two classes: the margin is divided by a constant, in target and references alike."""
    logits, labels, membership = leaking(2)
    plain, hidden = (score(spec, problem(z, labels, membership)) for z in (logits, defended(Temperature(), logits)))
    for own, other, inside in zip(plain, hidden, membership.matrix, strict=True):
        first, second = (float(auc(row, inside)) for row in (own, other))
        assert first == pytest.approx(second, abs=1e-12)
        assert first > 0.6


@pytest.mark.parametrize("classes", [3, 10])
def test_with_more_classes_temperature_changes_little_for_an_adaptive_attacker(classes):
    logits, labels, membership = leaking(classes)
    plain, hidden = (
        np.mean([
            float(auc(row, inside))
            for row, inside in zip(score("lira", problem(z, labels, membership)), membership.matrix, strict=True)
        ])
        for z in (logits, defended(Temperature(), logits))
    )
    assert plain > 0.75
    assert abs(plain - hidden) < 0.03


def test_a_model_that_answers_probabilities_is_found_out_behind_a_defense_too():
    data = Records.make(np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32), np.arange(30) % 3)
    prepare = Preparation(data, torch.device("cpu"))
    examples, known = prepare.examples(data, np.arange(30)), context(data.x, classes=3)
    network = torch.nn.Softmax(dim=1).eval()
    for spec in (None, Temperature(), TopK(k=1)):
        output = None if spec is None else OUTPUTS[spec.method].build(spec, known)
        with pytest.raises(ModelError, match=r"these are probabilities, .*: leave its only layer \(Softmax\) out"):
            ask(network, examples, prepare, 3, Queries(), output)
