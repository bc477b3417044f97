"""The early-stopped control: where the undefended recipe is as accurate as another one."""

import numpy as np
import pytest

from reticent.errors import SpecError
from reticent.jobs.base import Work
from reticent.jobs.comparison import early
from reticent.jobs.comparison.early import FINE, PILOTS, pilots, stop, stopped, stops
from reticent.jobs.config import gather, prepare
from reticent.population.train import train
from reticent.store import Store


@pytest.mark.parametrize(
    ("curve", "accuracy", "epochs", "reached"),
    [
        ([0.1, 0.4, 0.6, 0.7], 0.61, 3.1, True),  # a tenth of the way from the third to the fourth
        ([0.1, 0.4, 0.6, 0.7], 0.7, 4, True),
        ([0.1, 0.4, 0.6, 0.7], 0.4, 2, True),
        ([0.5, 0.4, 0.6], 0.2, 0.25, True),  # before the first, from a chance of 0.1
        ([0.5, 0.4, 0.6], 0.05, 0.01, True),  # below chance
        ([0.3, 0.6, 0.5, 0.65], 0.6, 2, True),  # where it is first reached
    ],
)
def test_where_to_stop(curve, accuracy, epochs, reached):
    found = stop(curve, accuracy, 0.1)
    assert found.epochs == pytest.approx(epochs)
    assert (found.of, found.reached) == (len(curve), reached)
    assert found.expected == pytest.approx(max(accuracy, 0.05))


def test_an_accuracy_that_is_never_reached_takes_the_best_epoch():
    found = stop([0.3, 0.6, 0.5], 0.9)
    assert (found.epochs, found.expected, found.reached) == (2, 0.6, False)


def test_what_is_known_between_two_epochs_bends_the_line():
    assert stop([0.6, 0.7], 0.35, 0.1).epochs == pytest.approx(0.5)
    assert stop([0.6, 0.7], 0.35, 0.1, between={0.5: 0.2}).epochs == pytest.approx(0.69)
    assert stop([0.6, 0.7], 0.35, 0.1, between={0.5: 0.45}).epochs == pytest.approx(0.36)


def test_a_stop_within_the_first_epoch_is_asked_and_not_drawn(tmp_path):
    """Accuracy bends there: a straight line from chance to the first epoch's end misses by many points."""
    made = job(tmp_path, records=500, learning_rate=0.002, batch_size=8, epochs=2)
    wanted = 0.1 + 0.5 * (pilots(made, FINE, 2)[0] - 0.1)
    line = stop(pilots(made, FINE, 2), wanted, 0.1).epochs
    missed = abs(pilots(made, FINE, line)[-1] - wanted)
    assert missed > 0.02
    (found,) = stops(made, [wanted])
    assert abs(pilots(made, FINE, found.epochs)[-1] - wanted) < missed / 2


def job(tmp_path, **values):
    usual = {"records": 200, "models": 4, "epochs": 5, "workers": 1, "attacks": ("loss",), "store": tmp_path / "store"}
    return prepare(gather(None, usual | values))


def test_pilots_are_the_audited_models_and_are_not_trained_twice(tmp_path):
    made = job(tmp_path, models=6)
    seen = []
    curve = pilots(made, work=Work(progress=seen.append))
    assert len(curve) == 5
    assert curve[-1] > curve[0]
    assert seen[-1].total == PILOTS
    again = []
    assert pilots(made, work=Work(progress=again.append)) == curve
    assert again[0].found == PILOTS
    audited = train(made.population, Store(tmp_path / "store").open())
    assert curve[-1] == pytest.approx(np.mean([one.facts.accuracy_non_members for one in audited[:PILOTS]]))
    short = train(stopped(made, 1.5).population, Store(tmp_path / "store").open())
    accuracies = [one.facts.accuracy_non_members for one in short[:PILOTS]]
    assert pilots(made, PILOTS, 1.5)[-1] == pytest.approx(np.mean(accuracies))


def test_a_stopped_job_is_the_beginning_of_the_whole_one(tmp_path):
    made = job(tmp_path)
    short = stopped(made, 2)
    assert short.population.membership is made.population.membership
    store = Store(tmp_path / "store").open()
    kept = {
        name: (store.find(run.training).folder / "log.jsonl").read_text().splitlines()
        for name, run in (("whole", train(made.population, store)[0]), ("short", train(short.population, store)[0]))
    }
    assert kept["short"] == kept["whole"][:2]


def test_patience_ends_no_pilot_and_epochs_are_those_of_the_recipe(tmp_path):
    made = job(tmp_path, validation=20, patience=1, epochs=12, learning_rate=0.05)
    assert len(pilots(made)) == 12
    early = job(tmp_path, epochs=5, stop_after=2)
    found = stops(early, [0.2, 1.0])
    assert [(one.of, one.end) for one in found] == [(5, 2), (5, 2)]
    assert [one.reached for one in found] == [True, False]


def test_patience_does_not_outlive_the_stop(tmp_path):
    made = job(tmp_path, validation=20, patience=2)
    assert stopped(made, 3).population.recipe.patience is None


def test_training_by_a_function_of_the_users_cannot_be_stopped(tmp_path, monkeypatch):
    (tmp_path / "pipeline_of_mine.py").write_text(
        "from torch import nn\n\n\ndef train(x, y, seed):\n    return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert pilots(job(tmp_path, train="pipeline_of_mine:train", epochs=None)) is None
    with pytest.raises(SpecError, match="epochs: not used, since models are made by pipeline_of_mine:train"):
        job(tmp_path, train="pipeline_of_mine:train")


def test_pilot_accuracy_is_measured_on_records_that_the_pilot_did_not_see(tmp_path):
    noise = np.random.default_rng(0).normal(size=(120, 30)).astype(np.float32)
    np.savez(tmp_path / "noise.npz", x=noise, y=np.arange(120) % 2)
    curve = pilots(job(tmp_path, dataset=str(tmp_path / "noise.npz"), records=None, epochs=30, learning_rate=0.01))
    assert curve[-1] == pytest.approx(0.5, abs=0.2)


def test_what_few_models_reach_early_is_looked_for_to_the_end_of_all(tmp_path, monkeypatch):
    """The few are lucky: they have 0.95 after 3 epochs of 12, all together after 9, and 0.97 never."""
    few = [0.5, 0.9, 0.95, *[0.98] * 9]
    every = [0.4, 0.8, 0.91, 0.92, 0.925, 0.93, 0.935, 0.94, 0.95, 0.955, 0.956, 0.955]
    asked = []

    def told(job, models, epochs=None, work=None):
        asked.append((models, epochs))
        return few if models == PILOTS else every if epochs is None else every[: int(epochs)]

    monkeypatch.setattr(early, "pilots", told)
    made = job(tmp_path, models=8, epochs=12)
    (found,) = stops(made, [0.95])
    assert (found.epochs, found.reached, found.end) == (9, True, 12)
    assert asked == [(4, None), (8, 6), (8, None)]
    never = stops(made, [0.95, 0.97])[1]
    assert (never.epochs, never.reached) == (11, False)
    asked.clear()
    assert stops(made, [0.8])[0].epochs == 2
    assert asked == [(4, None), (8, 4)]


def test_where_accuracy_goes_up_and_down_the_nearest_of_what_was_asked_is_taken(tmp_path, monkeypatch):
    """Half an epoch further it is lower again, so that the line leads astray: epoch 2 is nearest."""
    curve = [0.4, 0.638, 0.66, 0.67, 0.67]
    asked = []

    def told(job, models, epochs=None, work=None):
        if epochs is None or float(epochs).is_integer():
            return curve[: int(epochs or 5)]
        asked.append(epochs)
        return [*curve[:2], 0.60]

    monkeypatch.setattr(early, "pilots", told)
    (found,) = stops(job(tmp_path, models=8, batch_size=4), [0.641])
    assert len(asked) == 3
    assert (found.epochs, found.expected, found.end) == (2, 0.638, 5)


def test_a_recipe_that_ends_within_an_epoch_has_its_last_accuracy_there(tmp_path, monkeypatch):
    assert stop([0.4, 0.6], 0.5, 0.1, 5, end=1.5).epochs == pytest.approx(1.25)
    assert stop([0.4, 0.6], 0.6, 0.1, 5, end=1.5).epochs == 1.5
    never = stop([0.4, 0.6], 0.9, 0.1, 5, end=1.5)
    assert (never.epochs, never.end, never.reached) == (1.5, 1.5, False)
    monkeypatch.setattr(
        early, "pilots", lambda job, models, epochs=None, work=None: [0.4, 0.6 if epochs is None else 0.5]
    )
    found = stops(job(tmp_path, models=8, batch_size=4, stop_after=1.5), [0.5, 0.9])
    assert [one.epochs for one in found] == [1.25, 1.5]
    assert [one.end for one in found] == [1.5, 1.5]


@pytest.mark.parametrize(
    ("defense", "epochs"),
    [("selena:models=4,outside=2,distillation_epochs=4", 8), ("cwrf:scoring_steps=2", 4)],
)
def test_a_training_of_more_or_fewer_epochs_than_its_recipe_has_no_stops(tmp_path, monkeypatch, defense, epochs):
    """After some of its epochs it isn't what a recipe that ends there is; a stop may not even be one."""
    followed = []
    kept = early.pilots
    monkeypatch.setattr(early, "pilots", lambda *a, **o: followed.append(kept(*a, **o)) or followed[-1])
    assert stops(job(tmp_path, records=100, reference=20, epochs=epochs, defense=defense), [0.3]) is None
    (curve,) = followed
    assert len(curve) != epochs


def test_pilots_that_would_end_after_the_same_step_are_not_asked_twice(tmp_path, monkeypatch):
    """100 members in 2 batches: within an epoch there is but one place to stop."""
    curve, asked = [0.4, 0.7, 0.8, 0.8, 0.8], []

    def told(job, models, epochs=None, work=None):
        if epochs is None or float(epochs).is_integer():
            return curve[: int(epochs or 5)]
        asked.append(epochs)
        return [*curve[:1], 0.5]

    monkeypatch.setattr(early, "pilots", told)
    (found,) = stops(job(tmp_path, models=8), [0.56])
    assert len(asked) == 1
    assert found.epochs == asked[0]


def test_the_nearest_moments_are_the_one_before_and_the_one_after():
    assert early._around([1.0, 1.5], 0.6) == [1.0]
    assert early._around([3.0, 1.0, 2.0], 2) == [1.0, 2.0]
    assert early._around([1.0, 2.0, 2.3], 2.2) == [2.0, 2.3]
    assert early._around([1.0], 1.5) == [1.0]


def test_a_stop_beyond_the_last_epoch_is_told_in_one_line(tmp_path):
    with pytest.raises(SpecError, match=r"^[^{}]*expected stop_after at most epochs \(5\), got 99$"):
        job(tmp_path, stop_after=99)
