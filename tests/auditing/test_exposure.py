"""Exposure: against a loop over records, exact checks, and what is masked."""

import numpy as np
import pytest

from reticent.auditing.exposure import exposure
from reticent.data.membership import Membership
from reticent.errors import ShapeError
from reticent.signals import matrix as signals_module
from reticent.signals.matrix import Signals


def logit(p):
    return np.log(p) - np.log1p(-np.asarray(p))


def case(models=8, records=40, queries=1, seed=0):
    rng = np.random.default_rng(seed)
    membership = Membership.draw(models, records, seed)
    margins = rng.normal(size=(models, records, queries)) + membership.matrix[:, :, None]
    return Signals.from_margins(margins, rng.integers(0, 3, records), classes=3), membership


def test_equals_a_loop_over_records():
    signals, membership = case(queries=2)
    found = exposure(signals, membership)
    table = np.asarray(signals.margins[:, 0:40])[:, :, 0]
    within = [
        table[known, i].var(ddof=1) for i in range(40) for known in (membership.matrix[:, i], ~membership.matrix[:, i])
    ]
    for i in range(40):
        margins = np.asarray(signals.margins[:, i : i + 1])[:, 0, 0]
        inside, outside = margins[membership.matrix[:, i]], margins[~membership.matrix[:, i]]
        chance = [1 / (1 + np.exp(-group)) for group in (inside, outside)]
        pooled = np.sqrt((3 * inside.var(ddof=1) + 3 * outside.var(ddof=1) + 4 * np.mean(within)) / 10)
        distance = (inside.mean() - outside.mean()) / pooled
        assert found.mean_in[i] == pytest.approx(inside.mean())
        assert found.std_out[i] == pytest.approx(outside.std(ddof=1))
        assert found.exposure[i] == pytest.approx(distance)
        assert found.exposure_error[i] == pytest.approx(np.sqrt(0.5 + distance**2 / 20))
        assert found.memorisation[i] == pytest.approx(chance[0].mean() - chance[1].mean())
        error = np.sqrt(chance[0].var(ddof=1) / 4 + chance[1].var(ddof=1) / 4)
        assert found.memorisation_error[i] == pytest.approx(error)


def test_memorisation_of_tabulated_probabilities():
    chance = np.array([0.9, 0.9, 0.9, 0.1, 0.1, 0.9, 0.1, 0.1])[:, None]
    membership = np.repeat((np.arange(8) < 4)[:, None], 2, axis=1)
    membership[:, 1] = ~membership[:, 1]
    signals = Signals.from_margins(np.repeat(logit(chance), 2, axis=1), [0, 1])
    found = exposure(signals, membership)
    assert found.memorisation.tolist() == pytest.approx([0.4, -0.4])


def test_a_constant_record_has_no_memorisation_and_no_exposure():
    signals = Signals.from_margins(np.full((4, 2), 3.0), [0, 1])
    found = exposure(signals, np.array([[True, False], [True, False], [False, True], [False, True]]))
    assert found.memorisation.tolist() == [0, 0]
    assert found.exposure.tolist() == [None, None]


def test_what_too_few_models_say_is_none():
    by_record = [[True, False, True, False], [True, False, False, False], [True] * 4, [False] * 4]
    membership = np.array(by_record).T
    signals = Signals.from_margins(np.arange(16.0).reshape(4, 4) ** 2 / 10, [0, 1, 0, 1])
    rows = exposure(signals, membership).rows()
    assert [(row["record"], row["k_in"], row["k_out"]) for row in rows] == [(0, 2, 2), (1, 1, 3), (2, 4, 0), (3, 0, 4)]
    assert all(value is not None for value in rows[0].values())
    assert [name for name, value in rows[1].items() if value is None] == ["std_in", "memorisation_error"]
    assert [name for name, value in rows[2].items() if value is None] == [
        "mean_out",
        "std_out",
        "exposure",
        "exposure_error",
        "memorisation",
        "memorisation_error",
    ]
    assert [rows[3][name] for name in ("mean_in", "std_in", "exposure", "memorisation")] == [None] * 4
    found = exposure(signals, membership)
    assert np.isfinite(found.exposure.data).all()
    assert sorted(found.most_exposed(3).tolist()) == [0, 1]


def test_most_exposed_finds_the_planted_record():
    signals, membership = case(models=32, records=200, seed=1)
    margins = np.asarray(signals.margins[:, 0:200]).copy()
    margins[:, 17, 0] += 8 * membership.matrix[:, 17]
    found = exposure(Signals.from_margins(margins, signals.labels, classes=3), membership)
    assert found.most_exposed(1).tolist() == [17]
    order = found.most_exposed(200)
    assert np.all(np.diff(found.exposure[order]) <= 0)


def test_records_whose_few_models_agree_by_chance_are_not_the_most_exposed():
    signals, membership = case(models=4, records=2000, seed=3)
    found = exposure(signals, membership)
    assert found.exposure.max() < 6  # the plain ratio goes beyond 50 here
    assert found.exposure.mean() == pytest.approx(1, abs=0.1)


def test_exposure_estimates_the_distance_within_its_error():
    signals, membership = case(models=64, records=2000, seed=2)
    found = exposure(signals, membership)
    z = (found.exposure - 1) / found.exposure_error
    assert z.mean() == pytest.approx(0, abs=0.1)
    assert z.std() == pytest.approx(1, abs=0.06)


def test_blocks_change_nothing(monkeypatch):
    signals, membership = case()
    whole = exposure(signals, membership).rows()
    monkeypatch.setattr(signals_module, "BLOCK_BYTES", 8 * 8 * 7)
    assert exposure(signals, membership).rows() == whole


def test_shapes_must_agree():
    signals, _ = case()
    with pytest.raises(ShapeError, match=r"membership: expected shape \(8, 40\) \(models, records\), got \(8, 41\)"):
        exposure(signals, Membership.draw(8, 41, 0))
