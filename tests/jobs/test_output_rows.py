"""Membership whose rows or columns are in another order than the answers'."""

import re

import numpy as np
import pytest

import reticent
from reticent.attacks.base import Problem
from reticent.errors import InputError
from reticent.jobs.row_order import check
from reticent.signals.matrix import Signals

MODELS, RECORDS = 8, 400
ORDER = [2, 0, 1, 3, 4, 5, 7, 6]


def world(seed=0, gain=2.0, models=MODELS, records=RECORDS):
    rng = np.random.default_rng(seed)
    membership = rng.random((models, records)) < 0.5
    margins = 2 * rng.normal(size=records) + rng.normal(size=membership.shape) + gain * membership
    return {"labels": np.arange(records) % 10, "membership": membership, "margins": margins}


def attacked(brought, **other):
    return reticent.attack(**brought | other, attacks="loss", replicates=100)


def test_rows_in_the_order_of_other_models_are_refused_with_their_order():
    brought = world(gain=3.0)
    with pytest.raises(InputError, match=r"^membership: its rows .*: 5 of 8 models answer as if trained") as told:
        attacked(brought, membership=brought["membership"][ORDER])
    pairs = re.findall(r"model (\d) on those of row (\d)", str(told.value))
    assert [int(row) for _, row in pairs] == [ORDER.index(int(model)) for model, _ in pairs]
    assert len(pairs) == 5


@pytest.mark.parametrize(("gain", "records"), [(1.0, 400), (0.3, 800)])
def test_rows_that_fit_together_alone_are_refused_too(gain, records):
    brought = world(gain=gain, models=16, records=records)
    with pytest.raises(InputError, match=r"^membership: its rows .*: 16 of 16 models"):
        attacked(brought, membership=np.roll(brought["membership"], 1, axis=0))


def test_a_swap_that_one_of_both_models_speaks_against_is_not_refused():
    brought = world(gain=3.0, records=1600)
    membership = brought["membership"]
    brought["margins"][1] += 0.5 * membership[0] - 3.0 * membership[1]  # It answers as one trained on model 0's.
    attacked(brought, membership=membership[[1, 0, *range(2, MODELS)]])


@pytest.mark.parametrize("places", [1, -3])
def test_columns_that_are_shifted_against_the_records_are_refused_with_the_shift(places):
    brought = world()
    moved = np.roll(brought["membership"], places, axis=1)
    with pytest.raises(InputError, match=rf"^membership: its columns .*numpy.roll\(membership, {-places}, axis=1\)"):
        attacked(brought, membership=moved)


def persons(rng):
    """A hundred records each, which models are surer or less sure of together."""
    matrix, liked = rng.random((MODELS, 20)) < 0.5, rng.normal(size=(MODELS, 20))
    return np.repeat(matrix, 100, axis=1), np.repeat(liked, 100, axis=1)


def checkpoints(rng):
    """Of four runs, the later ones surer of their members."""
    matrix = np.repeat(rng.random((4, 4000)) < 0.5, 2, axis=0)
    return matrix, np.tile([[0.2], [2.0]], (4, 1)) * matrix


def one_defended_too(rng):
    """Of sixteen models four are of the same records, and one of these hardly leaks."""
    rows = rng.random((13, 4000)) < 0.5
    matrix = np.concatenate([rows[[0, 0, 0]], rows])
    return matrix, np.r_[0.1, 3, 3, 3, [2.0] * 12][:, None] * matrix


def one_split(rng):
    matrix = np.tile(rng.random(4000) < 0.5, (MODELS, 1))
    return matrix, np.linspace(0.5, 2, MODELS)[:, None] * matrix


def ever_more(rng):
    """Models of ever more data, the later ones surer of all."""
    matrix, easy = np.arange(4000) / 4000 < np.arange(1, MODELS + 1)[:, None] / (MODELS + 1), rng.normal(size=4000)
    return matrix, np.linspace(-1, 1, MODELS)[:, None] * (1 + easy - 4 * np.arange(4000) / 4000)


@pytest.mark.parametrize("design", [persons, checkpoints, one_defended_too, one_split, ever_more])
def test_what_belongs_together_is_not_taken_for_another_order(design):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix, said = design(rng)
        margins = said + 2 * rng.normal(size=matrix.shape[1]) + rng.normal(size=matrix.shape)
        check(Problem.make(Signals.from_margins(margins, np.arange(matrix.shape[1]) % 10, 10), matrix))


def test_few_drawn_models_beside_many_references_are_in_their_own_order():
    """A row may fit any of the references by chance."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix = np.zeros((256, 400), np.bool_)
        matrix[:16] = rng.random((16, 400)) < 0.5
        margins = 2 * rng.normal(size=400) + rng.normal(size=matrix.shape)
        check(Problem.make(Signals.from_margins(margins, np.arange(400) % 10, 10), matrix, targets=np.arange(16)))


def test_an_ensemble_beside_its_parts_is_not_turned():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix = rng.random((8, 2000)) < 0.5
        margins = 2 * rng.normal(size=2000) + rng.normal(size=matrix.shape) + 2 * matrix
        margins[7] = margins[:7].mean(axis=0)
        check(Problem.make(Signals.from_margins(margins, np.arange(2000) % 10, 10), matrix))


@pytest.mark.parametrize("gain", [0.0, 2.0, -2.0])
def test_the_right_order_one_without_a_leak_and_members_that_are_others_are_not_refused(gain):
    brought = world(gain=gain)
    assert attacked(brought).findings.verdict.leak == ("found" if gain > 0 else "cannot tell")
    hard = brought["margins"].mean(axis=0)
    harder = np.random.default_rng(1).random((MODELS, RECORDS)) < 1 / (1 + np.exp(hard))
    attacked(brought, membership=harder, margins=brought["margins"] - gain * brought["membership"])


def test_of_labels_of_other_records_membership_is_not_told_as_exchanged():
    """A member's loss by a wrong label is larger, the surer the model is of the right one."""
    brought = world()
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(MODELS, RECORDS, 10))
    logits[:, np.arange(RECORDS), brought["labels"]] += 2 + 2 * brought["membership"]
    del brought["margins"]
    found = attacked(brought, logits=logits, labels=rng.permutation(brought["labels"])).findings.verdict
    assert found.sentence.startswith("Each of the 8 models labels its own training records no better than naming one")
    assert "exchanged" not in found.sentence
    turned = attacked(brought, logits=logits, membership=~brought["membership"]).findings.verdict
    assert "exchanged" in turned.sentence


def test_rows_of_some_models_that_say_the_opposite_are_refused_by_name():
    brought = world(gain=3.0)
    turned = brought["membership"].copy()
    turned[[2, 5]] ^= True
    with pytest.raises(InputError, match=r"^membership: 2 of 8 models \(2, 5\) .* exchange True and False"):
        attacked(brought, membership=turned)


def test_of_some_models_that_are_right_about_nothing_the_order_of_records_is_in_doubt():
    rng = np.random.default_rng(0)
    brought = world()
    logits = rng.normal(size=(MODELS, RECORDS, 10))
    logits[:, np.arange(RECORDS), brought["labels"]] += 2 + 2 * brought["membership"]
    logits[4:] = logits[4:, rng.permutation(RECORDS)]
    del brought["margins"]
    found = attacked(brought, logits=logits).findings.verdict
    assert "4 of 8 models did not learn, or their answers are not in the order of the records." in found.detail
