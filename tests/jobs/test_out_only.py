"""Outputs whose references were trained on none of the audited records, as in the offline LiRA of its paper."""

import numpy as np
import pytest

import reticent
from reticent.attacks import Problem
from reticent.attacks.complements import complements
from reticent.auditing.exposure import count_exposed, exposure
from reticent.data.membership import Membership
from reticent.errors import InputError, TooFewReferencesError
from reticent.jobs import row_order
from reticent.signals.matrix import Signals

N = 400
pytestmark = pytest.mark.filterwarnings("error")


def world(seed, targets, others, leak, whole=0):
    """Give targets of which each holds half, models that hold no record, and models that hold all."""
    rng = np.random.default_rng([seed, targets, others])
    labels, members = rng.integers(0, 4, N), np.zeros((targets + others + whole, N), dtype=bool)
    if targets == 1:
        members[0] = rng.permutation(N) < N // 2
    else:
        members[:targets] = Membership.draw(targets, N, seed).matrix
    members[targets + others :] = True
    logits = rng.normal(size=(*members.shape, 4))
    logits[:, np.arange(N), labels] += rng.normal(2, 1, N) + leak * members
    return {"logits": logits, "labels": labels, "membership": members, "targets": list(range(targets))}


def run(brought, **other):
    return reticent.attack(**brought, **({"replicates": 100} | other)).findings


@pytest.mark.parametrize(("targets", "others"), [(1, 4), (1, 8), (1, 32), (4, 8)])
def test_a_leak_is_found_and_none_is_not(targets, others):
    found = [run(world(seed, targets, others, 0.0)).verdict.leak.value == "found" for seed in range(6)]
    assert sum(found) <= 1
    done = run(world(0, targets, others, 1.5))
    assert done.verdict.leak.value == "found"
    modes = {one.name: one.spec["mode"] for one in done.attacks if one.strong}
    assert {"lira", "rmia"} <= modes.keys()
    assert set(modes.values()) == {"offline" if targets == 1 else "online"}


def test_facts_of_models_without_members_are_told_as_unknown(tmp_path):
    done = run(world(0, 1, 4, 1.0, whole=1), out=tmp_path / "out", format="md")
    told = [(one.accuracy_members is None, one.accuracy_non_members is None) for one in done.population.per_model]
    assert told == [(False, False), *[(True, False)] * 4, (False, True)]
    assert done.population.health == ()
    assert done.population.shares is None
    assert (done.near_complements, done.exposure.exposed, done.exposure.models) == (None, 0, 1)
    assert "nan" not in (tmp_path / "out/audit.json").read_text().lower()


def test_a_model_without_members_that_did_not_learn_is_named_by_the_others():
    brought = world(0, 1, 4, 1.0)
    brought["logits"][3] = np.random.default_rng(1).normal(size=(N, 4))
    (bad,) = run(brought).population.health
    assert bad.model == 3
    assert "of 400 records correctly" in bad.problem


def test_what_may_be_audited_is_named():
    brought = world(0, 2, 3, 0.0)
    del brought["targets"]
    with pytest.raises(InputError, match=r"3 models \(2, 3, 4\) have all 400 records false.* give targets = \[0, 1\]$"):
        run(brought)
    with pytest.raises(InputError, match=r"model 4 has all 400 records false.* give targets = \[0\]$"):
        run(brought | {"targets": [0, 4]})
    with pytest.raises(InputError, match=r"model 4 has all 400 records false.* give targets = \[0, 1\]$"):
        run(brought | {"targets": [4]})
    nobody = np.zeros((5, N), bool)
    with pytest.raises(InputError, match=r"expected members and non-members of every audited model$"):
        run(brought | {"membership": nobody})


def test_attacks_that_learn_from_members_say_that_there_are_none():
    brought = world(0, 1, 8, 1.5)
    assert run(brought, attacks="attack-r").verdict.leak.value == "found"
    for name in ("pmia", "confidence", "nn"):
        with pytest.raises(TooFewReferencesError, match="that hold some of the records and not others, got 0"):
            run(brought, attacks=name)
    assert run(world(0, 4, 8, 1.5), attacks="pmia").verdict.leak.value == "found"
    assert {"bavaria", "learned"} <= {one.name for one in run(brought).left_out}


def test_the_null_control_permutes_what_was_drawn():
    with pytest.raises(InputError, match="one model alone was given that holds some of the records"):
        run(world(0, 1, 8, 3.0), control="null")
    assert run(world(0, 6, 4, 3.0), control="null", attacks="rmia").control.passed


def test_models_in_no_draw_make_no_record_exposed():
    rng = np.random.default_rng(0)
    members = np.zeros((80, 60), dtype=bool)
    members[:40] = Membership.draw(40, 60, 0).matrix
    margins = rng.normal(size=members.shape) + 3.0 * (np.arange(80) < 40)[:, None]
    found = exposure(Signals.from_margins(margins, np.arange(60) % 3), members)
    assert count_exposed(found).exposed == 0


def test_a_row_of_one_kind_is_near_no_other():
    members = np.zeros((5, 400), dtype=bool)
    members[0, ::2] = members[1, 1::2] = members[4] = True
    every = np.arange(5)
    near = complements(Membership(members), every, every)
    assert near[0, 1]
    assert near.sum() == 2


def test_the_row_of_another_model_is_found_among_models_of_none():
    brought = world(0, 1, 8, 4.0)
    brought["membership"] = brought["membership"][[1, 0, 2, 3, 4, 5, 6, 7, 8]]
    brought["targets"] = [1]
    problem = Problem.make(
        Signals.from_logits(brought["logits"], brought["labels"]), brought["membership"], brought["targets"]
    )
    with pytest.raises(InputError, match="model 0 on those of row 1"):
        row_order.check(problem)
