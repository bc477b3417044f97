"""Plans of procedures that train more than once: each part is scaled by its own epochs, and all runs take room."""

import pytest

import reticent
from reticent.errors import ReticentError
from reticent.jobs.config import called
from reticent.objectives import OBJECTIVES
from reticent.population.train import train
from reticent.procedures import PROCEDURES, cwrf, mist
from reticent.procedures.costs import Short
from reticent.procedures.recipe_checks import check
from reticent.store import Store
from reticent.training.recipe import Recipe

pytestmark = pytest.mark.slow

SMALL = {"records": 200, "models": 6, "epochs": 40, "workers": 1, "reference": 100, "architecture__widths": [8]}
SMALL |= {"attacks": ["loss"], "replicates": 100}


def spec(method, **options):
    return PROCEDURES[method].spec(**options)


def test_a_whole_training_is_made_of_its_parts():
    short = Short(Recipe(), rest=2, times={"training": 10, "tuning": 5}, inside={"choice": 3})
    stages = {"training": 0.5, "choice": 4.0, "tuning": 1.0}
    assert short.first(stages) == 5
    assert short.whole(6.5, stages) == pytest.approx(2 * 1.0 + 5 + (4 + 3 * 4.5) + 5)
    assert Short(Recipe(), rest=7).whole(2, {}) == 14
    assert Short(Recipe()).whole(1, {"scoring": 2.0}) == 2


@pytest.mark.parametrize(
    ("procedure", "short", "times"),
    [
        (spec("cwrf"), {"epochs": 1, "tuning_epochs": 1}, {"training": 20, "tuning": 10}),
        (spec("cwrf", tuning_epochs=30), {"epochs": 1, "tuning_epochs": 1}, {"training": 20, "tuning": 30}),
        (spec("pptp", rewind=3, stage=1), {"epochs": 1, "tuning_epochs": 1}, {"training": 20, "tuning": 10}),
        (spec("pptp", inner=mist.Mist()), {"epochs": 1, "tuning_epochs": 5}, {"training": 20, "tuning": 2}),
        (
            spec("selena", distillation_epochs=100),
            {"epochs": 1, "distillation_epochs": 5},
            {"sub-models": 20, "distillation": 20},
        ),
        (
            spec("selena", distillation_epochs=7),
            {"epochs": 1, "distillation_epochs": 1},
            {"sub-models": 20, "distillation": 7},
        ),
    ],
)
def test_every_part_has_its_own_epochs(procedure, short, times):
    recipe = Recipe(epochs=20, procedure=procedure)
    made = PROCEDURES[procedure.method].short(recipe)
    parts = {part: epochs for part, epochs in made.times.items() if part != "memorisation"}  # a sampler's, if any
    assert parts == pytest.approx(times)
    assert made.rest == 1
    shown = {"epochs": made.recipe.epochs}
    shown |= {k: getattr(made.recipe.procedure, k) for k in short if k != "epochs"}
    assert shown == short


def test_an_early_end_is_that_of_all_parts():
    made = PROCEDURES["cwrf"].short(Recipe(epochs=20, stop_after=5, procedure=spec("cwrf")))
    assert made.times == {"training": 5, "tuning": 2.5, "memorisation": 5}
    assert made.recipe.stop_after is None
    plain = PROCEDURES["plain"].short(Recipe(epochs=20, stop_after=2.5))
    assert (plain.recipe.epochs, plain.rest) == (1, 2.5)


def test_the_second_phase_of_mist_comes_once_a_round():
    made = PROCEDURES["mist"].short(Recipe(epochs=20, procedure=spec("mist")))
    assert (made.recipe.epochs, made.recipe.procedure.cross_epochs, made.rest) == (5, 2, 4)
    long = PROCEDURES["mist"].short(Recipe(epochs=100, procedure=spec("mist", local_epochs=50, cross_epochs=20)))
    assert (long.recipe.epochs, long.recipe.procedure.cross_epochs, long.rest) == (5, 2, 20)


def test_the_trainings_that_choose_a_stage_are_counted():
    def inside(**options):
        return PROCEDURES["pptp"].short(Recipe(epochs=20, procedure=spec("pptp", **options))).inside

    assert inside() == {"choice": 2 * (1 + 2 * 0.5) - 1}
    assert inside(equalise="steps", swap=False, seeds=3, pretraining="cs-kd") == {"choice": 3 * 2}
    assert inside(stage=1) == {}


def test_no_training_that_may_be_run_is_refused_when_it_is_shortened():
    seen = 0
    procedures = [spec(name) for name in PROCEDURES if name != "function"]
    procedures += [spec("pptp", rewind=3, stage=1), spec("pptp", rewind="trained"), spec("mist", local_epochs=2)]
    procedures += [spec("pptp", inner=spec(name)) for name in ("mist", "selena", "dpsgd")]
    procedures += [spec("cwrf", tuning_epochs=2), spec("cwrf", inner=spec("dpsgd"))]
    for procedure in procedures:
        for objective in OBJECTIVES:
            for options in ({"epochs": 4}, {"epochs": 20}, {"epochs": 20, "warmup_epochs": 6.0, "patience": 5}):
                recipe = Recipe(procedure=procedure, objective=OBJECTIVES[objective].spec(), **options)
                try:
                    check(recipe, 100)
                except ReticentError:
                    continue
                check(PROCEDURES[procedure.method].short(recipe).recipe, 100)
                seen += 1
    assert seen > 100


@pytest.mark.parametrize("defense", ["cwrf+mixup-mmd", "pptp:stage=1,rewind=3", "pptp:stage=1+mist"])
def test_what_can_be_trained_can_be_planned(defense, tmp_path):
    assert reticent.plan(**SMALL, defense=defense, store=tmp_path).seconds_per_model > 0


def test_scoring_counts_once_a_model(tmp_path, monkeypatch, clock):
    def slow(*given):
        clock.sleep(1000)
        return mark(*given)

    mark = cwrf.mark
    monkeypatch.setattr(cwrf, "mark", slow)
    assert 1000 < reticent.plan(**SMALL, defense="cwrf", store=tmp_path).seconds_per_model < 2000


def test_room_for_first_stages_is_planned_until_they_are_there(tmp_path, clock):
    values = SMALL | {"epochs": 2, "models": 4, "architecture__widths": [256, 128], "store": tmp_path / "store"}
    both = reticent.plan(**values, defense="cwrf:scoring_steps=5")
    first = _trained(values)
    then = reticent.plan(**values, defense="cwrf:scoring_steps=5")
    assert then.disk_bytes == pytest.approx(_trained(values | {"defense": "cwrf:scoring_steps=5"}) - first, rel=0.05)
    state = 2 * 4 * both.parameters
    assert both.disk_bytes - then.disk_bytes == pytest.approx(4 * state, rel=0.05)
    assert both.seconds == pytest.approx(4 * both.seconds_per_model, rel=0.2)
    assert then.seconds < 4 * then.seconds_per_model
    assert reticent.plan(**values, defense="cwrf:scoring_steps=5").disk_bytes == 0


def test_rounds_that_are_there_take_no_time(tmp_path, clock):
    values = SMALL | {"store": tmp_path / "store", "models": 4}
    _trained(values | {"defense": "imp:rounds=4"})
    made = reticent.plan(**values, defense="imp:rounds=5")
    assert made.seconds < 0.6 * 4 * made.seconds_per_model


def _trained(values):
    """Train a population, and return what the store takes then."""
    folder = values["store"]
    train(called(None, values).population, Store(folder).open())
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
