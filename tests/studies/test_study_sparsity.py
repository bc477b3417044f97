"""What `sparsity` measures, against numbers known by construction, and its claims with numbers for and against them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from toy_study import bench_in

from reticent.jobs.config import gather
from reticent.jobs.defenses import defended
from reticent.jobs.recipes import build_recipe
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.procedures.recipe_checks import check
from reticent.studies import STUDIES, sparsity
from reticent.studies.base import Found, Results, Setting
from reticent.studies.document import judge
from reticent.studies.excess import asked, narrowed, narrowest, parameters, width
from reticent.studies.judging import finding
from reticent.studies.measured import Measured
from reticent.studies.metrics import JUDGED, beside, even
from reticent.studies.numbers import Estimate, Replicated
from reticent.studies.sparsity.rows import (
    ALIKE,
    CLAIMED,
    DENSE,
    ENDS,
    FACTORED,
    SMALLER,
    butterfly,
    factored,
    imp,
    less,
    nearest,
    pruned,
)

STUDY = STUDIES["sparsity"]
SETTINGS = {f"{scale}-{one.key}": one for scale, given in STUDY.scales.items() for one in given.settings}
SHAPES = {"location30": ("tabular", (446,), 30), "cifar10": ("image", (3, 32, 32), 10)}


def job_of(setting, architecture=None):
    """A job that knows the network and the form of the records, which is all that sizes are made of."""
    kind, shape, classes = SHAPES[setting.base["dataset"]]
    base = {key: value for key, value in setting.base.items() if key in {"architecture"}}
    if architecture is not None:
        base = {"architecture": architecture}
    recipe = build_recipe({"architecture": "mlp"}, base)
    records = SimpleNamespace(kind=kind, x=np.empty((0, *shape)), vocabulary=0, classes=classes)
    return SimpleNamespace(records=records, population=SimpleNamespace(recipe=recipe))


@pytest.mark.parametrize("key", SETTINGS)
def test_every_network_can_be_made_and_pruned(key):
    setting = SETTINGS[key]
    job = job_of(setting)
    whole = job.population.recipe.architecture
    sizes = [parameters(job, whole)]
    for table in setting.options["butterfly"].values():
        given = asked(whole) | {"butterfly": table}
        made = job_of(setting, given).population.recipe.architecture
        kind, shape, classes = SHAPES[setting.base["dataset"]]
        with torch.random.fork_rng():
            network = build(ARCHITECTURES[made.method], made, Input(kind, shape), classes)
        sizes.append(sum(one.numel() for one in network.parameters()))
    assert max(sizes[1:]) < 0.75 * sizes[0]
    assert len(set(sizes)) == len(sizes)
    for number in setting.options["rounds"]:
        name = f"imp:rounds={max(setting.options['rounds'])},at={number},rewind={setting.options['rewind']:g}"
        check(build_recipe({"architecture": "mlp"}, defended({}, name)), reference=0)
    specs = gather(None, dict(setting.base)).attack
    assert specs["nn"] == {"references": 1}, "the paper's discriminator has one shadow model"
    assert {*JUDGED, "nn"} <= set(setting.base["attacks"])


SIZED = {key: SETTINGS[key] for key in ("small-location30", "small-cifar10", "small-resnet20", "paper-resnet20")}
SIZED |= {f"wemem-{one.key}": one for one in STUDIES["wemem"].scales["paper"].settings}


@pytest.mark.parametrize("key", SIZED)
@pytest.mark.parametrize("share", [0.3, 0.035, 0.0001])
def test_a_smaller_dense_network_is_the_narrowest_that_is_large_enough(key, share):
    job = job_of(SIZED[key])
    whole = job.population.recipe.architecture
    count = round(share * parameters(job, whole))
    found = narrowest(job, count)
    assert parameters(job, found) >= count
    assert width(found) == 1 or parameters(job, narrowed(whole, width(found) - 1)) < count
    assert narrowest(job, parameters(job, whole)) == whole


def test_resnet20_between_rounds_8_and_16_has_the_shares_of_the_paper():
    job = job_of(SETTINGS["paper-resnet20"])
    count = parameters(job, job.population.recipe.architecture)
    assert count == 272_474
    shares = [round(100 * (1578 + 0.8**m * 270_896) / count, 1) for m in (8, 16)]
    assert shares == [17.3, 3.4]
    assert sparsity.claimed({"rounds": (2, 8, 12, 16, 20)}) == [imp(8), imp(12), imp(16)]


def test_the_nearest_size_is_nearest_by_ratio():
    assert nearest(100, [40, 300]) == 0
    assert nearest(120, [40, 300]) == 1


def replicated(values, noise, seed):
    observed = np.asarray(values, np.float64)
    return Replicated(observed, observed + noise * np.random.default_rng(seed).normal(size=(400, 1)), 1000)


def test_a_change_by_share_has_the_error_of_a_ratio():
    one, other = (replicated([value] * 4, 0.01, seed) for seed, value in enumerate((0.3, 0.6)))
    found = sparsity.Linear.change(one, other)
    assert found.value == pytest.approx(-0.5)
    direct = np.std(one.values.mean(axis=1) / other.values.mean(axis=1), ddof=1)
    assert found.estimate().error == pytest.approx(direct, rel=0.1)
    assert found.estimate().value == found.value
    assert sparsity.Linear.change(one, one).estimate().value == 0


def rows_of(accuracies, defences):
    made = {}
    for seed, (name, accuracy) in enumerate(accuracies.items()):
        measures = {
            "accuracy": replicated([accuracy] * 4, 1e-4, 2 * seed),
            "defence": replicated([defences[name]] * 4, 1e-4, 2 * seed + 1),
        }
        made[name] = Measured(name, "", None, measures, [])
    return made


@pytest.mark.parametrize(
    ("accuracy", "defence", "slope", "wanted"),
    [
        (0.72, 0.4 * 1.36, 3.6, "yes"),
        (0.72, 0.4, 0.0, "no"),
        (0.72, 0.4 * 1.9, 9.0, "no"),
        (0.80, 0.5, None, "open"),
        (0.85, 0.5, None, "open"),
    ],
)
def test_the_slope_is_the_gain_for_each_percent_of_accuracy(accuracy, defence, slope, wanted):
    """Of 80 % dense accuracy 72 is a relative loss of 10 %, and of a defence of 0.4 there is a gain of 36 %."""
    found, rows = Found(), rows_of({DENSE: 0.8, imp(8): accuracy}, {DENSE: 0.4, imp(8): defence})
    sparsity._traded(found, rows, {CLAIMED: [imp(8)], FACTORED: []})
    number = found.numbers.get((CLAIMED, "slope"))
    assert (None if number is None else number.value) == (None if slope is None else pytest.approx(slope))
    assert found.numbers[CLAIMED, "relative_loss"].value == pytest.approx(1 - accuracy / 0.8)
    claim = next(one for one in STUDY.claims if one.key == "slope")
    setting = Setting("resnet20", "ResNet20", {}, {"rounds": (8,), "butterfly": {}}, network="ResNet")
    results = Results((setting,), {"resnet20": [found] * 3})
    assert finding(claim.parts(results)) == (wanted, "condition" if wanted == "open" else None)
    assert judge(claim, results).verdict == {"yes": "reproduced", "no": "not reproduced", "open": "can't tell"}[wanted]


def test_defence_is_one_less_the_balanced_accuracy():
    """Of 4 members 3 are named, and of 2 others 1: a balanced accuracy of (3/4 + 1/2) / 2."""
    members = np.array([[True, True, True, True, False, False]])
    scores = np.array([[2.0, 1.0, 0.5, -0.1, 3.0, -1.0]])
    job = SimpleNamespace(
        population=SimpleNamespace(membership=SimpleNamespace(matrix=members)), config=SimpleNamespace(replicates=50)
    )
    row = Measured("x", "", job, {}, [], scores={"nn": scores})
    found = sparsity._defended(SimpleNamespace(seed=0), row).measures["defence"]
    assert found.observed == pytest.approx([1 - 0.625])
    assert found.values.shape[1] == 1
    assert (found.values >= 0).all()
    assert (found.values <= 1).all()


def numbers(setting, sign):
    """All that claims ask for, in favour of each (1), or against it (-1)."""
    made = {(name, "excess_accuracy"): Estimate(0.0, 1e-3) for name in [*pruned(setting), *factored(setting)]}
    for name in (*pruned(setting), *factored(setting)):
        made |= {(name, f"excess_auc_{attack}"): Estimate(-0.05 * sign, 1e-3) for attack in JUDGED}
        made |= {(beside(name, DENSE), f"auc_{attack}"): Estimate(-0.05 * sign, 1e-3) for attack in JUDGED}
        made |= {(even(name, SMALLER), f"auc_{attack}"): Estimate(-0.05 * sign, 1e-3) for attack in JUDGED}
        made[even(name, SMALLER), "excess_accuracy"] = Estimate(0.0, 1e-3)
        made[beside(name, DENSE), "defence"] = Estimate(0.05 * sign, 1e-3)
        made[beside(name, DENSE), "accuracy"] = Estimate(0.0 if sign > 0 else -0.1, 1e-3)
    for name in factored(setting):
        made[even(name, ALIKE), "excess_accuracy"] = Estimate(0.0, 1e-3)
        made[even(name, ALIKE), "auc_nn"] = Estimate(0.0 if sign > 0 else 0.05, 1e-3)
    for title in (CLAIMED, FACTORED):
        made[title, "relative_loss"] = Estimate(0.1, 1e-3)
        for times in ENDS:
            gain = 0.36 if sign > 0 else 0.0
            made[less(title, times), "relative_gain"] = Estimate(gain - times * 0.1, 1e-3)
    return made


OPTIONS = {"rounds": (4, 8), "butterfly": {"one": {}}}
ONE = Setting("resnet20", "ResNet20", {}, OPTIONS, network="ResNet")


@pytest.mark.parametrize(("sign", "wanted"), [(1, "yes"), (-1, "no")])
def test_claims_hold_where_numbers_favour_them_and_fall_where_they_do_not(sign, wanted):
    results = Results((ONE,), {"resnet20": [Found(numbers=numbers(OPTIONS, sign))] * 3})
    found = {claim.key: finding(claim.parts(results))[0] for claim in STUDY.claims}
    assert found == dict.fromkeys(found, wanted)


def test_leaks_are_not_judged_where_controls_are_less_accurate():
    made = numbers(OPTIONS, 1)
    made |= {key: Estimate(0.05, 1e-3) for key in made if key[1] == "excess_accuracy"}
    results = Results((ONE,), {"resnet20": [Found(numbers=made)] * 3})
    claims = {claim.key: finding(claim.parts(results)) for claim in STUDY.claims}
    for key in ("imp-early", "imp-smaller", "butterfly-early", "butterfly-smaller", "butterfly-alike"):
        assert claims[key] == ("open", "unmatched")
    assert claims["imp-attacks"] == ("yes", None)


def test_a_butterfly_network_that_leaks_less_than_pruning_trades_otherwise_too():
    made = numbers(OPTIONS, 1) | {(even(butterfly("one"), ALIKE), "auc_nn"): Estimate(-0.05, 1e-3)}
    claim = next(one for one in STUDY.claims if one.key == "butterfly-alike")
    assert finding(claim.parts(Results((ONE,), {"resnet20": [Found(numbers=made)] * 3}))) == ("no", None)


TINY = {
    "dataset": "digits",
    "architecture": "mlp",
    "models": 6,
    "records": 160,
    "epochs": 3,
    "replicates": 100,
    **sparsity.ATTACKED,
    "attack.nn.steps": 5,
    "attack.nn.groups": 2,
    "attack.learned.learner": "logistic",
    "attack.learned.draws": 1,
}


@pytest.mark.slow
def test_a_small_part_is_measured_from_networks_to_figures(tmp_path):
    options = sparsity.OPTIONS | {"rounds": (8,), "butterfly": {"all": {"layers": ("0", "2")}}}
    setting = Setting("digits", "MLP on digits", TINY, options, network="MLP", unlike="digits")
    bench = bench_in(tmp_path, setting)
    found = STUDY.measure(bench)
    assert found.numbers[imp(8), "share"].value == pytest.approx(0.8**8, abs=0.01)
    narrow = [name for name in found.rows if name.startswith("Dense,")]
    assert narrow
    for name in narrow:
        assert found.numbers[name, "share"].value < 0.85
    assert {CLAIMED, FACTORED, DENSE, butterfly("all")} <= set(found.rows)
    direct = 1 - found.numbers[imp(8), "accuracy"].value / found.numbers[DENSE, "accuracy"].value
    assert found.numbers[imp(8), "relative_loss"].value == pytest.approx(direct)
    assert found.numbers[CLAIMED, "relative_loss"].value == pytest.approx(direct)
    results = Results((setting,), {"digits": [Found.from_json(found.to_json())]})
    assert all(claim.parts(results) for claim in STUDY.claims)
    (figure,) = STUDY.draw(results, setting)
    assert [panel.x for panel in figure.panels].count("accuracy, non-members") == 2
    trade = figure.panels[-1]
    assert [one.label for one in trade.series] == [
        "IMP",
        "butterfly",
        "smaller dense",
        "dense, stopped early",
        "dense, to the end",
    ]
    assert all(list(one.x) == sorted(one.x) for one in trade.series)
