"""What `cwrf-entanglement` and `pptp-disparity` ask of a network."""

import numpy as np
import pytest
import torch
from toy_study import bench_in

from reticent.locate.correlation import agreement
from reticent.locate.scoring import Scores
from reticent.population.worker import Maker
from reticent.studies import STUDIES
from reticent.studies.base import Found, Results, Setting
from reticent.studies.cwrf_entanglement import scores
from reticent.studies.judging import finding
from reticent.studies.numbers import FEW, Estimate
from reticent.studies.pptp_disparity.claims import LEVELS, against
from reticent.studies.pptp_disparity.levelling import levelling, places, rivals
from reticent.studies.presets import DIGITS, digit_pictures

TINY = DIGITS | {
    "architecture": {"name": "cnn", "widths": (4, 6)},
    "models": 2,
    "records": 200,
    "reference": 100,
    "epochs": 2,
    "attacks": ("loss",),
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return bench_in(tmp_path_factory.mktemp("questions"), Setting("cnn", "CNN", TINY), digit_pictures())


@pytest.mark.slow
def test_scores_are_compared_by_kind_of_layer(bench):
    found = STUDIES["cwrf-entanglement"].measure(bench)
    rows = ["All", "Conv", "Linear", "Norm", "Top 0.1 %", "Top 1 %", "Top 5 %"]
    assert list(found.rows) == rows
    kinds = ["Conv", "Linear", "Norm"]
    for metric in ("proportion", "vulnerability"):
        assert sum(found.numbers[row, metric].value for row in kinds) == pytest.approx(1)
    for row in ["All", *kinds]:
        for metric in (
            "pearson",
            "log_pearson",
            "spearman",
            "pearson_alone",
            "spearman_alone",
            "spearman_partial",
            "spearman_magnitude",
        ):
            assert -1 <= found.numbers[row, metric].value <= 1
    gap = found.numbers["Conv", "pearson"].value - found.numbers["Norm", "pearson"].value
    assert found.numbers["Conv - Norm", "pearson"].value == pytest.approx(gap)
    held = [found.numbers[row, "vulnerability"].value for row in rows[4:]]
    assert held == sorted(held)
    cloud = found.panels[0]
    with bench.made(bench.job()) as (store, made):
        size = sum(p.numel() for p in Maker(bench.job().population, store, "cpu").network(made[0]).parameters())
    assert cloud.title == "All weights"
    assert sum(point[2] for point in cloud.points) == size


def test_equal_scores_agree_wholly(bench, monkeypatch):
    """With all three scores the same, every correlation is 1 and the most vulnerable are the most learnable."""
    rng, before, threads = np.random.default_rng(0), torch.get_num_threads(), []

    def same(network, *_):
        threads.append(torch.get_num_threads())
        fixed = np.random.default_rng(int(rng.integers(1)))
        return Scores({
            n: torch.from_numpy(fixed.random(tuple(p.shape), dtype=np.float32)) for n, p in network.named_parameters()
        })

    monkeypatch.setattr(scores, "score", same)
    job = bench.job()
    with bench.made(job) as (store, made):
        torch.set_num_threads(2)
        try:
            numbers, _ = scores.scored(Maker(job.population, store, "cpu"), store, made[0], draw=False)
        finally:
            torch.set_num_threads(before)
    assert threads == [1, 1, 1]
    assert numbers["All", "pearson"] == pytest.approx(1)
    assert numbers["All", "spearman_alone"] == pytest.approx(1)
    assert numbers["Top 5 %", "overlap"] == 1.0


def test_scores_that_share_but_the_weight_and_dead_weights_agree_by_construction_alone():
    """Independent gradients: the plain correlation is high by |w| and zeros, the partial one over live weights is 0."""
    rng = np.random.default_rng(0)
    network = torch.nn.utils.skip_init(torch.nn.Linear, 300, 100, bias=False)
    weight = np.exp(2 * rng.normal(size=(100, 300)))
    network.weight.data = torch.from_numpy(weight * rng.choice([-1, 1], weight.shape)).float()
    dead = rng.random(weight.shape) < 0.4
    one, other = (
        Scores({"weight": torch.from_numpy(np.where(dead, 0, weight * rng.exponential(size=weight.shape)))})
        for _ in range(2)
    )
    assert agreement(one, other, ["weight"]).spearman > 0.8
    found = scores._beside_magnitude(network, one, other, ["weight"])
    assert abs(found["spearman_partial"]) < 0.05
    assert found["spearman_magnitude"] > 0.8
    shared = scores._beside_magnitude(network, one, one, ["weight"])
    assert shared["spearman_partial"] == pytest.approx(1)


def test_a_partial_correlation_is_that_of_what_is_left_of_two_regressions():
    x, y, z = np.random.default_rng(1).normal(size=(3, 500))
    x, y = x + z, y - 0.5 * z + 0.3 * x
    left = [one - np.polyval(np.polyfit(z, one, 1), z) for one in (x, y)]
    pairs = [np.corrcoef(*pair)[0, 1] for pair in ((x, y), (x, z), (y, z))]
    assert scores.partial(*pairs) == pytest.approx(np.corrcoef(*left)[0, 1])
    assert scores.partial(0.5, 1.0, 0.5) is None
    assert scores.partial(0.5, None, 0.5) is None


def test_agreement_by_construction_is_none(bench):
    claim = next(one for one in STUDIES["cwrf-entanglement"].claims if one.key == "not-by-construction")
    for left, wanted in ((0.9, "yes"), (0.1, "no"), (None, "open")):
        numbers = {("All", "spearman_alone"): Estimate(0.9, 0.01)}
        numbers |= {("All", "spearman_partial"): Estimate(left, 0.01)} if left is not None else {}
        results = Results((bench.setting,), {"cnn": [Found(numbers=numbers)]})
        assert finding(claim.parts(results))[0] == wanted


@pytest.mark.slow
def test_stages_are_measured_in_order(bench):
    study = STUDIES["pptp-disparity"]
    found = study.measure(bench)
    names = list(found.rows)
    assert names[-1] == "head"
    assert found.numbers["first stage", "effect"] == found.numbers[names[0], "effect"]
    assert found.numbers["last stage", "effect"] == found.numbers[names[-2], "effect"]
    assert all(0 <= found.numbers[name, "probe"].value <= 1 for name in names)
    results = Results((bench.setting,), {"cnn": [found]})
    _, distances = study.draw(results, bench.setting)
    assert [panel.kind for panel in distances.panels] == ["density"] * len(names)
    for panel in distances.panels:
        for series in panel.series:
            assert sum(series.heights) == pytest.approx(1)


def test_levelling_off_is_the_gain_between_stages_before_less_that_after():
    levels = [0.1, 0.4, 0.7, 0.72, 0.74]
    found = levelling(levels, 3, 10_000)
    assert found.value == pytest.approx((0.7 - 0.1) / 2 - (0.74 - 0.7) / 2)
    weights, shares = np.array([-1 / 2, 1 / 2 + 1 / 2, -1 / 2]), np.array([0.1, 0.7, 0.74])
    assert found.error == pytest.approx((weights**2 @ (shares * (1 - shares) / 10_000)) ** 0.5)
    others = rivals(levels, 3, 10_000)
    assert {place: one.value for place, one in others.items()} == pytest.approx({
        2: found.value - (0.3 - 0.34 / 3),
        4: found.value - (0.62 / 3 - 0.02),
    })
    assert all(one.partial for one in (found, *others.values()))


def judged(bench, levels, onset, records):
    numbers = {(LEVELS, "probe"): levelling(levels, onset, records)}
    others = rivals(levels, onset, records)
    numbers |= {(against(f"stage {place}"), "probe"): one for place, one in others.items()}
    claim = next(one for one in STUDIES["pptp-disparity"].claims if one.key == "levels-off")
    return finding(claim.parts(Results((bench.setting,), {"cnn": [Found(numbers=numbers)] * FEW})))[0]


@pytest.mark.parametrize("records", [400, 1_000_000])
@pytest.mark.parametrize("levels", [[0.6, 0.7, 0.8, 0.9], [0.95, 0.96, 0.97, 0.98], [0.35, 0.45, 0.55, 0.65, 0.75]])
def test_a_probe_that_grows_all_the_way_levels_off_nowhere(bench, levels, records):
    """Chance is far below all of these; a difference to it made the claim hold at every stage."""
    found = {judged(bench, levels, onset, records) for onset in places(len(levels))}
    assert "yes" not in found
    if records > 400:
        assert found == {"no"}


def test_a_probe_that_levels_off_does_so_at_one_place_alone(bench):
    levels = [0.2, 0.5, 0.8, 0.81, 0.82]
    assert [judged(bench, levels, onset, 100_000) for onset in places(5)] == ["no", "yes", "no"]
    assert judged(bench, [0.2, 0.5, 0.51], 2, 100_000) == "open"
    assert list(places(2)) == []


def test_levelling_off_is_open_where_a_seed_has_no_onset(bench):
    claim = next(one for one in STUDIES["pptp-disparity"].claims if one.key == "levels-off")
    known, other = (
        Found(numbers={(name, "probe"): Estimate(0.2, 0.01) for name in (LEVELS, against(stage))})
        for stage in ("stage 2", "stage 3")
    )
    assert finding(claim.parts(Results((bench.setting,), {"cnn": [known, known]})))[0] == "yes"
    for second in (Found(), other):  # One without an onset, and one whose onset is elsewhere.
        assert finding(claim.parts(Results((bench.setting,), {"cnn": [known, second]})))[0] == "open"


def test_the_main_part_of_a_network_with_attention_is_its_attention():
    claims = {claim.key: claim for claim in STUDIES["cwrf-entanglement"].claims}
    settings = tuple(Setting(key, key, {}) for key in ("cnn", "vit"))
    found = {}
    for key, rows in (("cnn", ("All", "Conv", "Norm")), ("vit", ("All", "Conv", "Att+MLP", "Norm"))):
        numbers = {(row, "pearson"): Estimate(0.9, 0.01) for row in rows}
        numbers |= {(f"{row} - Norm", "pearson"): Estimate(0.2, 0.01) for row in rows[1:-1]}
        found[key] = [Found(rows=dict.fromkeys(rows, ""), numbers=numbers)]
    results = Results(settings, found)
    for key, words in (("main-part", "Pearson, {}"), ("norm-lowest", "Pearson, {} less norm layers")):
        parts = claims[key].parts(results)
        assert [part.label for part in parts] == [words.format("Conv"), words.format("Att+MLP")]
        assert [part.setting for part in parts] == ["cnn", "vit"]
        assert finding(parts)[0] == "yes"
