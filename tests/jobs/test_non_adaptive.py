"""The attacker who does not know of the defense: without one, he is equal to the one who does; the twin is out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from reticent.attacks.base import Problem
from reticent.data.membership import Membership
from reticent.errors import ShapeError, SpecError
from reticent.findings.audit import Verdict
from reticent.jobs import non_adaptive as module
from reticent.jobs.attacks import build_attacks
from reticent.jobs.base import Work
from reticent.jobs.config import chosen, prepare
from reticent.jobs.defenses import undefended
from reticent.jobs.non_adaptive import Unaware, against, facts
from reticent.jobs.scoring import Settings, attacked
from reticent.objectives.label_smoothing import LabelSmoothing
from reticent.options import AttackConfig
from reticent.outputs.temperature import Temperature
from reticent.procedures.user import Function
from reticent.say import trust
from reticent.signals.composed import substituted
from reticent.signals.matrix import Signals
from reticent.store import Store
from reticent.training.recipe import Recipe

SETTINGS = Settings(seed=1, replicates=100)


def made(models=8, records=120, leak=1.5, shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    membership = Membership.draw(models, records, seed)
    labels = rng.integers(3, size=records)
    logits = rng.normal(size=(models, records, 3))
    own = np.arange(records), labels
    for m in range(models):
        logits[m][own] += shift + leak * membership.matrix[m]
    return Problem.make(Signals.from_logits(logits, labels), membership)


@pytest.mark.parametrize("name", ["loss", "lira", "rmia", "modified-entropy"])
def test_without_a_defense_both_attackers_find_the_same(name):
    problem = made()
    attacks = build_attacks(AttackConfig(attacks=(name,)))
    adaptive, scores, _ = attacked(problem, attacks, SETTINGS)
    naive = against(problem, problem, attacks, SETTINGS)
    np.testing.assert_allclose(naive.scores[name], scores[name], rtol=1e-9, atol=1e-9)
    assert naive.audits[0].auc.mean == pytest.approx(adaptive[0].auc.mean)


def test_the_undefended_twin_of_a_target_gives_nothing_away():
    nothing = made(leak=0.0, seed=3)
    telling = made(leak=50.0, seed=3)
    naive = against(nothing, telling, build_attacks(AttackConfig(attacks=("lira",))), SETTINGS)
    for target, row in enumerate(naive.scores["lira"]):
        base = substituted(telling.signals, nothing.signals, target)
        twin = np.array(telling.signals.margins[:, slice(None)])
        twin[target] = -99.0
        changed = Problem.make(Signals.from_margins(twin, telling.signals.labels, 3), telling.membership)
        again = against(nothing, changed, build_attacks(AttackConfig(attacks=("lira",))), SETTINGS)
        np.testing.assert_array_equal(again.scores["lira"][target], row)
        assert base.margins[target, slice(0, 5)].tolist() == nothing.signals.margins[target, slice(0, 5)].tolist()
        if target == 2:
            break


def test_rows_are_swapped_however_they_are_read():
    one, other = made(seed=1).signals, made(seed=2).signals
    mixed = substituted(one, other, 3)
    every = mixed.margins[:, slice(10, 20)]
    assert every.shape == (8, 10, 1)
    np.testing.assert_array_equal(every[3], other.margins[3, slice(10, 20)])
    np.testing.assert_array_equal(np.delete(every, 3, 0), np.delete(one.margins[:, slice(10, 20)], 3, 0))
    np.testing.assert_array_equal(mixed.margins[np.array([5, 3]), slice(0, 4)][1], other.margins[3, slice(0, 4)])
    np.testing.assert_array_equal(mixed.logits[3, slice(0, 4)], other.logits[3, slice(0, 4)])
    with pytest.raises(ShapeError, match="two populations of one shape"):
        substituted(one, made(models=6).signals, 0)


def verdict(attack):
    return Verdict(attack=attack, best_of=1, fpr=0.1, auc=0.6, confidence=0.95, leak="found")


def test_the_gap_is_put_into_words():
    attacks = build_attacks(AttackConfig(attacks=("loss",)))
    defended, plain = made(seed=5), made(seed=5, shift=2.0)
    scores = attacked(defended, attacks, SETTINGS).scores
    said = verdict("loss")
    told = facts(against(defended, plain, attacks, SETTINGS), defended, scores, said, SETTINGS)
    told = trust.non_adaptive(told, "loss", 0.6)
    assert told.verdict == "tie"
    assert told.sentence.startswith("The attack that finds most, loss, gives the same scores (AUC ")
    assert [row.name for row in told.attacks] == ["loss"]
    weak = {"loss": np.random.default_rng(0).normal(size=scores["loss"].shape)}
    hidden = facts(against(defended, plain, attacks, SETTINGS), defended, weak, said, SETTINGS)
    hidden = trust.non_adaptive(hidden, "loss", 0.5)
    assert hidden.verdict == "first lower"
    assert "the larger number counts" in hidden.sentence


def test_both_attackers_are_compared_by_the_attack_of_the_verdict():
    attacks = build_attacks(AttackConfig(attacks=("loss", "lira")))
    defended, plain = made(seed=5), made(seed=6)
    scores = attacked(defended, attacks, SETTINGS).scores
    # By the largest AUC of each, loss would be on at least one side.
    strong = scores | {"loss": defended.membership.matrix + 0.0}
    found = against(defended, plain, attacks, SETTINGS)
    told = trust.non_adaptive(facts(found, defended, strong, verdict("lira"), SETTINGS), "lira", 0.6)
    assert "(both by lira)" in told.sentence
    areas = {audit.name: audit.auc.mean for audit in found.audits}
    assert f"does not know of the defense reaches an AUC of {areas['lira']:.3f};" in told.sentence
    assert "protects nobody" not in told.sentence


def test_undefended_references_are_kept_while_they_are_used(tmp_path, monkeypatch):
    used = {}

    def found(*_):
        used.update(Store(tmp_path).users())
        return Unaware((), {})

    monkeypatch.setattr(module, "against", found)
    monkeypatch.setattr(module, "facts", lambda *_: None)
    small = {"models": 2, "records": 40, "epochs": 1, "attacks": ["loss"], "output": "temperature", "store": tmp_path}
    job = prepare(chosen(None, small))
    module.non_adaptive(job, None, SimpleNamespace(scores={}, verdict=None), Work())
    plain = replace(job.population, recipe=undefended(job.population.recipe))
    assert set(used) == {run for model in range(2) for run in plain.run_ids(model)}
    assert Store(tmp_path).users() == {}


def test_the_defense_is_taken_out_of_a_recipe():
    recipe = Recipe(objective=LabelSmoothing(), output=Temperature(), epochs=3)
    assert undefended(recipe) == Recipe(epochs=3)
    with pytest.raises(SpecError, match="no defense"):
        undefended(Recipe())
    with pytest.raises(SpecError, match="function of yours"):
        undefended(Recipe(procedure=Function(function="m:f")))
