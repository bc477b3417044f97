"""Networks made of a population's models: `cwrf-removal` (Fig. 1) and `cwrf-location` (Fig. 4: M1, M2 and M3)."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from toy_study import BASE, bench_in

from reticent.population.worker import Maker
from reticent.procedures import plain
from reticent.studies import STUDIES, cwrf_location, cwrf_removal, derived_networks
from reticent.studies.base import Found, Results, Setting
from reticent.studies.judging import finding
from reticent.studies.metrics import beside
from reticent.studies.numbers import Estimate

OPTIONS = {"located": 2, "sparsities": (0.5, 0.9), "shares": (0.02,), "tuned": 2}
SETTING = Setting("digits", "MLP on digits", BASE | {"reference": 100, "attacks": ("loss",)}, OPTIONS, "MLP")
LOCATION, REMOVAL = STUDIES["cwrf-location"], STUDIES["cwrf-removal"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return bench_in(tmp_path_factory.mktemp("derived"), SETTING)


@pytest.fixture(scope="module")
def located(bench):
    return LOCATION.measure(bench)


@pytest.fixture(scope="module")
def one(bench):
    job = bench.job()
    with bench.made(job) as (store, made):
        maker, population = Maker(job.population, store, "cpu"), job.population
        return derived_networks.Model(
            maker.network(made[0]),
            derived_networks.initial(store, made[0]),
            population.recipe,
            maker.materials(0),
            population.streams(0),
        )


def test_m1_to_m3_are_what_they_are_called(one, monkeypatch):
    starts, original = [], plain.train

    def noted(recipe, materials, streams):
        starts.append(materials.start)
        return original(recipe, materials, streams)

    monkeypatch.setattr(derived_networks.plain, "train", noted)
    m1, m2, m3, chance, fresh = cwrf_location.networks(one)
    assert m1 is one.network
    kept = starts[0].trainable
    assert sum(int(mask.sum()) for mask in kept.values()) == round(0.15 * sum(mask.numel() for mask in kept.values()))
    for name, mask in kept.items():
        for network in (m2, m3, fresh):
            assert not network.state_dict()[name][~mask].any()
        assert torch.equal(m3.state_dict()[name][mask], m1.state_dict()[name][mask])
        assert torch.equal(starts[0].state[name][mask], one.initial[name][mask])
        assert mask.sum() == starts[1].trainable[name].sum()  # As many of each tensor.
        assert torch.equal(starts[2].trainable[name], mask)
    assert not torch.equal(starts[2].state["0.weight"], starts[0].state["0.weight"])
    assert not torch.equal(starts[1].trainable["0.weight"], kept["0.weight"])
    assert not chance.training


def test_differences_are_those_of_the_rows_and_m1_is_the_plain_network(bench, located):
    assert list(located.rows) == list(cwrf_location.ROWS)
    for name, (first, second) in cwrf_location.PAIRS.items():
        for metric in ("accuracy", "gap", "auc_loss"):
            wanted = located.numbers[first, metric].value - located.numbers[second, metric].value
            assert located.numbers[name, metric].value == pytest.approx(wanted)
    with bench.made(bench.job()) as (_, made):
        wanted = np.mean([known.facts.accuracy_non_members for known in made[:2]])
    assert located.numbers["M1", "accuracy"].value == pytest.approx(wanted)
    gap = located.numbers["M1", "loss"].value - located.numbers["M1", "loss_members"].value
    assert located.numbers["M1", "gap"].value == pytest.approx(gap)
    members = bench.job().population.membership.matrix[:2]
    right = located.numbers["M1", "accuracy"].value
    assert located.numbers["M1", "accuracy"].error > 0.5 * (right * (1 - right) / (~members).sum(axis=1).max()) ** 0.5


def test_networks_are_made_once_whatever_interrupts_and_with_one_thread(bench, tmp_path):
    bench, seen, before = replace(bench, folder=tmp_path / "none yet"), [], torch.get_num_threads()
    most = [1]

    def make(model):
        if len(seen) == most[0]:
            raise KeyboardInterrupt
        seen.append(torch.get_num_threads())
        return [model.network]

    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            derived_networks.derived(bench, {"M1": ""}, make, {})
        (kept,) = (tmp_path / "none yet").iterdir()
        whole, most[0] = kept.read_bytes(), 2
        once = derived_networks.derived(bench, {"M1": ""}, make, {})
        assert seen == [1, 1]  # One of the first model, one of the second.
        assert derived_networks.derived(bench, {"M1": ""}, make, {}).numbers == once.numbers
        kept.write_bytes(whole[:40])
        most[0] = 3
        assert derived_networks.derived(bench, {"M1": ""}, make, {}).numbers == once.numbers
        assert seen == [1, 1, 1]
        assert kept.read_bytes() == whole
    finally:
        torch.set_num_threads(before)


def test_what_is_removed_is_the_least_learnable_or_the_most_vulnerable(bench, one, monkeypatch):
    masks, rows, pairs = [], [], []

    def noted(_, keep, *rest):
        masks.append((keep, bool(rest)))
        return one.network

    monkeypatch.setattr(derived_networks.Model, "cut", noted)
    monkeypatch.setattr(derived_networks.Model, "tuned", noted)
    monkeypatch.setattr(cwrf_removal, "derived", lambda _, r, make, p: (rows.append(r), pairs.append(p), make(one)))
    REMOVAL.measure(bench)
    assert len(masks) == len(rows[0]) - 1
    assert [tuned for _, tuned in masks] == [False, True] * (len(masks) // 2)
    assert [name.endswith(cwrf_removal.TUNED) for name in list(rows[0])[1:]] == [tuned for _, tuned in masks]
    size = sum(p.numel() for p in one.network.parameters())
    left = [sum(int(mask.sum()) for mask in keep.values()) for keep, _ in masks]
    few = size - round(0.02 * size)
    assert left == [round(0.5 * size)] * 2 + [round(size * 0.1)] * 2 + [few] * 4
    vulnerable, chance = masks[4][0], masks[6][0]
    assert all(vulnerable[name].sum() == chance[name].sum() for name in vulnerable)
    assert any(not torch.equal(vulnerable[name], chance[name]) for name in vulnerable)
    assert all(first in rows[0] and second in rows[0] for first, second in pairs[0].values())


@pytest.mark.slow
def test_removal_is_measured(bench):
    found = REMOVAL.measure(bench)
    for name in found.rows:
        assert 0 <= found.numbers[name, "accuracy"].value <= 1
    accuracy = {name: found.numbers[name, "accuracy"].value for name in found.rows}
    assert accuracy["Vulnerable, 2 %"] < accuracy["By chance, 2 %"] - 0.1
    tuned = [name for name in accuracy if name.endswith(cwrf_removal.TUNED)]
    assert len(tuned) == 4
    assert all(accuracy[name] != accuracy[name.removesuffix(cwrf_removal.TUNED)] for name in tuned)


def answers(study, numbers):
    results = Results((SETTING,), {"digits": [Found(numbers={key: Estimate(v, 0.001) for key, v in numbers.items()})]})
    return {claim.key: finding(claim.parts(results))[0] for claim in study.claims}


@pytest.mark.parametrize(("sign", "wanted"), [(1, "yes"), (-1, "no")])
def test_claims_on_places_go_with_the_numbers(sign, wanted):
    good = {"M2 - M1": 0.0, "M2 - M3": 0.3, "M2 - M2 at random": 0.05, "M2 - M2 from new values": 0.0}
    bad = {"M2 - M1": -0.3, "M2 - M3": 0.0, "M2 - M2 at random": 0.0, "M2 - M2 from new values": 0.3}
    numbers = {(name, "accuracy"): value for name, value in (good if sign > 0 else bad).items()}
    assert answers(LOCATION, numbers) == dict.fromkeys(("pruned", "value", "place"), wanted)


@pytest.mark.parametrize(("sign", "wanted"), [(1, "yes"), (-1, "no")])
def test_claims_on_removal_go_with_the_numbers(sign, wanted):
    numbers = {}
    for share in OPTIONS["sparsities"]:
        pair = f"{cwrf_removal.sparse(share)}{cwrf_removal.TUNED} - {cwrf_removal.WHOLE}"
        numbers |= {(pair, "accuracy"): 0.0 if sign > 0 else -0.1, (pair, "gap"): 0.3 * sign}
    for share in OPTIONS["shares"]:
        numbers[beside(*cwrf_removal._two(share, "")), "accuracy"] = -0.3 * sign
        pair = beside(*cwrf_removal._two(share, cwrf_removal.TUNED))
        numbers |= {(pair, "auc_loss"): -0.1 * sign, (pair, "accuracy"): 0.0}
    wanted = dict.fromkeys(("sparse-accurate", "sparse-leaks", "few-needed", "few-private"), wanted)
    assert answers(REMOVAL, numbers) == wanted
