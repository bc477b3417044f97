"""A power law through audits of some sizes: exact where the points lie on one, wider where they do not."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import reticent
from reticent.auditing.roc import allowed
from reticent.auditing.size_curve import leak_curve, predicted
from reticent.errors import InputError
from reticent.findings.numbers import ShareEstimate
from reticent.findings.plan import Plan, SizePoint
from reticent.say.plan import curve as told
from reticent.say.plan import plan


def area(distance):
    return float(ndtr(distance / np.sqrt(2)))


def point(members, distance, half=0.01):
    """A point whose logarithm of the distance has the standard error half / 1.96."""
    ends = (area(distance * np.exp(-half)), area(distance * np.exp(half)))
    return SizePoint(members=members, auc=ShareEstimate(mean=area(distance), interval=ends))


def test_points_on_a_power_law_are_continued_exactly():
    points = [point(n, 20 * n**-0.4) for n in (100, 200, 400)]
    found = leak_curve("lira", points, 3_200)
    assert found.beyond.auc == pytest.approx(area(20 * 3_200**-0.4), abs=1e-12)
    assert found.held_out.auc == pytest.approx(points[-1].auc.mean, abs=1e-12)
    assert found.held is True


def test_the_interval_is_that_of_a_weighted_line():
    # Two points with the same error s, one step apart in log size: one further step has the variance s^2 (4 + 1).
    points = [point(100, 3.0), point(200, 2.0)]
    found = predicted(points, 400, 0.95)
    middle = np.log(2.0) + np.log(2.0 / 3.0)
    s = 0.01 / ndtri(0.975)
    ends = [area(np.exp(middle + sign * ndtri(0.975) * s * np.sqrt(5))) for sign in (-1, 1)]
    assert found.auc == pytest.approx(area(4 / 3), abs=1e-12)
    assert found.interval == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("distances", [(4.0, 3.0, 2.25), (3.0, 2.0, 2.0)], ids=["on the line", "off the line"])
def test_errors_are_widened_by_what_the_line_leaves_and_never_narrowed(distances):
    # Three points of one error s, one step apart: a step further the line has the variance s^2 (1 / 3 + 2^2 / 2), times
    # the squared residuals over s^2, at one degree of freedom, where these are more than 1.
    found = predicted([point(n, d) for n, d in zip((100, 200, 400), distances, strict=True)], 800, 0.95)
    first, second, third = np.log(distances)
    middle, s = (first + second + third) / 3 + third - first, 0.01 / ndtri(0.975)
    wider = max(1.0, (first - 2 * second + third) ** 2 / 6 / s**2)
    ends = [area(np.exp(middle + sign * ndtri(0.975) * s * np.sqrt(wider * 7 / 3))) for sign in (-1, 1)]
    assert found.interval == pytest.approx(ends, rel=1e-6)


def test_points_off_the_line_widen_the_interval_and_fail_the_check():
    found = leak_curve("lira", [point(100, 3.0), point(200, 2.0), point(400, 2.0)], 800)
    plain = predicted([point(n, 20 * n**-0.4) for n in (100, 200, 400)], 800, 0.95)
    assert found.held is False
    assert np.diff(found.beyond.interval) > 5 * np.diff(plain.interval)
    assert any("do not rely on the next line" in line for _, line in told(found))


def test_no_law_is_fitted_where_no_leak_is_resolved():
    faint = SizePoint(members=400, auc=ShareEstimate(mean=0.505, interval=(0.49, 0.52)))
    found = leak_curve("lira", [point(100, 3.0), point(200, 2.0), faint], 800)
    assert (found.held_out, found.beyond, found.held) == (None, None, None)
    assert next(line for label, line in told(found) if label == "all records").startswith("no prediction")


def test_few_records_are_audited_as_a_whole():
    with pytest.raises(InputError, match=r"expected at least 1,600 records to audit, .* got 500: .* as a whole"):
        reticent.size_curve(dataset="digits", records=500, models=4)


@pytest.mark.slow
def test_three_small_audits_of_digits(tmp_path):
    found = reticent.size_curve(dataset="digits", models=4, epochs=4, workers=1, store=str(tmp_path), replicates=100)
    assert [one.members for one in found.points] == [56, 112, 224]
    assert found.beyond is None or found.beyond.members == 1_797


def test_an_auc_of_one_tells_no_distance():
    """Its distance would be infinite, and its error none, so that the line would go through it alone."""
    sure = SizePoint(members=100, auc=ShareEstimate(mean=1.0, interval=(1.0, 1.0)))
    found = leak_curve("lira", [sure, point(200, 2.0), point(400, 1.5)], 800)
    assert found.held_out is found.beyond is None
    assert "or all members are" in dict(told(found))["all records"]


@pytest.mark.parametrize(("non_members", "text"), [(898, "0.00112"), (27, "0.0371"), (100, "0.01"), (3, "0.334")])
def test_the_smallest_rate_that_is_told_is_one_that_can_be_measured(non_members, text):
    known = dict.fromkeys(("models", "workers", "stack", "records", "parameters", "memory_bytes", "disk_bytes"), 1)
    known |= {"finished": 0, "seconds_per_model": 1.0, "seconds": 1.0, "seconds_audit": 1.0, "temporary_bytes": 0}
    known |= {"seconds_around": 1.0}
    made = Plan(**known, device="cpu", smallest_fpr=1 / non_members, rates=())
    rate = dict(plan(made, "here"))["smallest FPR"].partition(":")[0]
    assert rate == text
    assert allowed(float(rate), non_members) >= 1
