"""A population's measures against slow twins."""

from dataclasses import replace

import numpy as np
import pytest
from toy_study import BASE, bench_in

from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.auditing.bootstrap import MANY
from reticent.auditing.roc import auc
from reticent.data.load import load
from reticent.errors import InputError
from reticent.population.stored_signals import signals
from reticent.signals.correctness import correct
from reticent.studies import measured
from reticent.studies.base import Setting
from reticent.studies.measured import Recipe, collect, measure
from reticent.studies.presets import digit_pictures

SETTING = Setting("digits", "MLP on digits", BASE, {"fpr": 0.1})


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return bench_in(tmp_path_factory.mktemp("measured"), SETTING)


@pytest.fixture(scope="module")
def row(bench):
    return measure(bench, "plain", bench.job())


def test_means_are_those_of_the_signals(bench, row):
    job = bench.job()
    with bench.made(job) as (store, made):
        assert not any(one.fresh for one in made)
        seen, _ = signals(job.population, store, made)
        logits = np.asarray(seen.logits[:, :]).astype(np.float64)
    members, labels = job.population.membership.matrix, seen.labels
    right = logits.argmax(axis=2) == labels
    losses = np.log(np.exp(logits).sum(axis=2)) - logits[:, np.arange(len(labels)), labels]
    for suffix, group in (("_members", members), ("", ~members)):
        for name, cells in (("accuracy", right), ("loss", losses)):
            wanted = [cells[t, group[t]].mean() for t in range(len(group))]
            np.testing.assert_allclose(row.measures[name + suffix].observed, wanted, rtol=1e-5)
    gap = row.measures["loss"].observed - row.measures["loss_members"].observed
    np.testing.assert_allclose(row.measures["gap"].observed, gap)


def test_the_leak_is_that_of_the_attack(bench, row):
    job = bench.job()
    with bench.made(job) as (store, made):
        seen, others = signals(job.population, store, made)
        problem = Problem.make(seen, job.population.membership, population=others)
        scores = score(job.attacks[0], problem, 0)
    np.testing.assert_allclose(row.measures["auc_lira"].observed, auc(scores, problem.membership.matrix))
    assert row.measures["tpr_lira_0.1"].counted == problem.membership.matrix.sum(axis=1).min()


def test_a_row_that_is_not_to_be_attacked_has_no_leak_and_the_same_losses(bench, row):
    quiet = measure(bench, "quiet", bench.job(), attacked=False)
    assert not any(metric.startswith(("auc", "tpr")) for metric in quiet.measures)
    for metric, held in quiet.measures.items():
        np.testing.assert_array_equal(held.observed, row.measures[metric].observed)


def test_rows_may_differ_beside_their_defense(bench, monkeypatch):
    asked = {}
    monkeypatch.setattr(measured, "measure", lambda _, name, job, about: asked.setdefault(name, (job, about)))
    measured.measure_all(bench, {"whole": Recipe(None, "all"), "short": Recipe(None, "few", 1)})
    assert {name: job.population.recipe.epochs for name, (job, _) in asked.items()} == {"whole": 4, "short": 1}


def test_replicates_of_a_mean_are_weighted_means(row):
    """A replicate's mean over records lies around the mean, with the deviation that redrawing records has."""
    measured = row.measures["loss"]
    assert measured.values.shape[1] == len(measured.observed)
    assert abs(measured.values.mean() - measured.observed.mean()) < 0.1 * measured.values.std() + 0.02
    assert measured.values.std(axis=0).min() > 0


def test_a_row_against_itself_is_nothing(bench, row):
    again = measure(bench, "again", bench.job())
    found = collect([row, again], {"same": ("plain", "again")})
    for metric in row.measures:
        number = found.numbers["same", metric]
        assert number.value == 0
        # A difference that never varies is bounded by what so few records allow, and by nothing else.
        assert number.freedom == MANY
        assert np.array_equal(row.measures[metric].values, again.measures[metric].values)
    assert found.numbers["plain", "accuracy"].value == pytest.approx(row.accuracy)
    assert found.numbers["plain", "seconds"].value > 0


def test_accuracy_and_leak_take_the_same_records_in_the_same_replicate(bench, row, monkeypatch):
    """Whether an answer is right, taken for a score, has an AUC made of accuracies: in every replicate, too."""
    job = bench.job()
    monkeypatch.setattr(measured, "score", lambda _, problem, __: correct(problem.signals, problem.targets) * 1.0)
    found = measure(bench, "by labels", job).measures
    inside, outside, leak = (found[name] for name in ("accuracy_members", "accuracy", "auc_lira"))
    np.testing.assert_allclose(leak.observed, 0.5 + (inside.observed - outside.observed) / 2, atol=1e-6)
    np.testing.assert_allclose(leak.values, 0.5 + (inside.values - outside.values) / 2, atol=1e-6)
    assert leak.values.std() > 0


def test_rows_of_other_memberships_are_not_compared(bench, row):
    other = replace(row, name="other", job=bench.job(seed=1))
    with pytest.raises(InputError, match="plain and other were trained on other memberships"):
        collect([row, other], {})
    fewer = replace(row, name="fewer", job=bench.job(reference=100))
    with pytest.raises(InputError, match="the same records, reference"):
        collect([row, fewer], {})


def test_digit_pictures_are_the_digits():
    pictures, digits = digit_pictures(), load("digits")
    assert pictures.kind == "image"
    np.testing.assert_allclose(np.asarray(pictures.x).reshape(1797, 64), np.rint(np.asarray(digits.x) * 240), atol=0.01)
    assert np.array_equal(pictures.y, digits.y)


def test_what_training_says_is_told_once_with_its_rows(row):
    notices = {"x never acted": 4, "models did not learn": 1}
    rows = [
        replace(row, name=name, made=row.made[:1] * 4, notices=said)
        for name, said in (("a", notices), ("b", {"x never acted": 2}))
    ]
    assert collect(rows, {}).notes == [
        "seed 0, in a; b (2 of 4 models): X never acted.",
        "seed 0, in a (1 of 4 models): Models did not learn.",
    ]


def test_a_rate_that_equal_scores_decide_is_told_with_its_attack():
    members = (np.arange(200) < 100)[None]
    free, tied = np.random.default_rng(0).normal(size=(1, 200)), np.ones((1, 200))
    assert measured._ties({"lira": free, "rmia": tied}, members, 0.1) == [
        "Equal scores decide what rmia finds at 0.1: no threshold comes near that false positive rate."
    ]
    assert measured._ties({"rmia": tied}, members, None) == []
