"""What a row gives away beyond an undefended network of its accuracy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_study import BASE, bench_in

from reticent.studies.base import Setting
from reticent.studies.matching import KNOWN, MOST, Controls, _spread, controls, estimated
from reticent.studies.measured import Measured, measure
from reticent.studies.numbers import Estimate, Replicated, combined

TARGETS, REPLICATES = 6, 300


def constant(value, spread, seed):
    rng = np.random.default_rng(seed)
    observed = value + spread * (noise := rng.normal(size=TARGETS)) - spread * noise.mean()
    return Replicated(observed, observed + spread * rng.normal(size=(REPLICATES, TARGETS)), 100)


def network(name, accuracy, auc, spread=0.0, seed=0):
    measures = {"accuracy": constant(accuracy, spread, seed), "auc": constant(auc, spread, seed + 100)}
    return Measured(name, "", None, measures, [])


def line(accuracy):
    """The leak of undefended networks, of which each point of accuracy costs more than a defense may spare."""
    return 0.4 + 0.8 * accuracy


def along(*accuracies):
    return Controls(tuple(network(f"stopped {a}", a, line(a), seed=i) for i, a in enumerate(accuracies)), {})


@given(st.floats(0.36, 0.6), st.floats(-0.1, 0.1))
def test_on_a_straight_line_what_is_beyond_it_is_found_whatever_the_accuracy(accuracy, beyond):
    row = network("row", accuracy, line(accuracy) + beyond)
    found = combined(along(0.4, 0.5, 0.6).excess(row, "auc"))
    assert found.value == pytest.approx(beyond, abs=1e-9)


def test_the_nearest_control_alone_would_tell_another_story():
    """As it was on Location30: a control two points less accurate than its row makes the row look bad."""
    row, near = network("row", 0.495, line(0.495)), network("control", 0.474, line(0.474))
    assert combined([(1.0, row.measures["auc"]), (-1.0, near.measures["auc"])]).value > 0.016
    assert combined(along(0.474, 0.511).excess(row, "auc")).value == pytest.approx(0, abs=1e-9)


def test_one_stopped_network_is_the_control_as_it_is():
    row = network("row", 0.5, 0.7)
    assert combined(along(0.45).excess(row, "auc")).value == pytest.approx(0.7 - line(0.45))


def test_of_many_rows_the_ends_and_some_between_have_a_control_of_their_own():
    few = [0.5, 0.3, 0.5]
    assert _spread(few) == [0.3, 0.5]
    many = [0.3 + 0.01 * place for place in range(29)]
    chosen = _spread(many)
    assert len(chosen) == MOST
    assert (chosen[0], chosen[-1]) == (many[0], many[-1])
    assert max(np.diff(chosen)) <= 0.04 + 1e-9


def test_networks_that_are_as_accurate_tell_no_slope():
    """Two networks half a point apart, one of which leaks far more: a line through them would be all noise."""
    pair = (network("a", 0.500, 0.60), network("b", 0.505, 0.90), network("c", 0.6, 0.7))
    found = combined(Controls(pair, {}).excess(network("row", 0.501, 0.61), "auc"))
    assert found.value == pytest.approx(0.61 - (0.60 + 0.1 * 0.01), abs=1e-9)


def test_far_below_the_controls_the_line_ends():
    row = network("row", 0.2, 0.6)
    held = along(0.4, 0.5)
    assert combined(held.excess(row, "auc")).value == pytest.approx(0.6 - line(0.35))
    assert combined(held.excess(row, "accuracy")).value == pytest.approx(0.2 - 0.35)
    assert not held.drawn_on(row)


def test_above_the_most_accurate_control_no_line_is_drawn():
    """As it was with a ResNet20 that pruning made more accurate than any undefended one: the line went beyond 1."""
    steep = Controls((network("a", 0.26, 0.608), network("b", 0.287, 0.952)), {})
    row = network("row", 0.295, 0.68)
    assert steep.above(row)
    assert not steep.drawn_on(row)
    assert combined(steep.excess(row, "auc")).value == pytest.approx(0.68 - 0.952)
    assert combined(steep.excess(row, "accuracy")).value == pytest.approx(0.008)


def test_not_knowing_the_accuracy_widens_the_result():
    row = network("row", 0.5, line(0.5) + 0.05, 0.01, 5)
    noisy = Controls(tuple(network(f"s{i}", a, line(a), 0.01, i) for i, a in enumerate((0.45, 0.55))), {})
    parts = noisy.excess(row, "auc")
    full, leak = combined(parts), combined(parts[:3])
    assert full.value == pytest.approx(leak.value, abs=1e-9)
    assert full.error > leak.error


def test_a_row_that_training_to_the_end_matches_is_held_against_the_whole():
    whole = network("whole", 0.7, 0.9)
    held = Controls(along(0.4, 0.5).stopped, {"row": whole})
    assert combined(held.excess(network("row", 0.7, 0.85), "auc")).value == pytest.approx(-0.05)


def test_what_a_control_misses_is_told_unless_it_is_read_off():
    held = Controls(along(0.4, 0.5).stopped, {"whole": network("w", 0.6, 0.7)})
    assert held.excess(network("row", 0.45, 0.6), "accuracy") == []
    assert estimated([]) == Estimate(0.0, KNOWN)
    assert estimated(held.excess(network("row", 0.9, 0.95), "accuracy")).value == pytest.approx(0.4)
    assert estimated(held.excess(network("whole", 0.63, 0.7), "accuracy")).value == pytest.approx(0.03)
    assert estimated(along(0.45).excess(network("row", 0.4, 0.6), "accuracy")).value == pytest.approx(-0.05)


@pytest.mark.slow
def test_the_controls_are_stopped_near_the_rows_accuracy(tmp_path):
    bench = bench_in(tmp_path, Setting("digits", "MLP on digits", BASE, {"fpr": 0.1}))
    baseline = measure(bench, "plain", bench.job())
    weak = measure(bench, "weak", bench.job(epochs=1))
    made = controls(bench, baseline, [weak, baseline])
    assert made.whole == {"plain": baseline}
    (control,) = made.stopped
    assert control.about == "undefended, stopped early"
    assert abs(control.accuracy - weak.accuracy) < 0.15
    assert estimated(made.excess(weak, "accuracy")).value == pytest.approx(weak.accuracy - control.accuracy)
    assert control.accuracy < baseline.accuracy
