"""BASE1 to BASE4: the worked example, plain loops, and BASE1 beside RMIA's counts."""

import numpy as np
import pytest
from attack_cases import problem, used
from newest_cases import worked
from scipy.stats import rankdata

from reticent.attacks import parse, score
from reticent.errors import SpecError


@pytest.mark.parametrize(
    ("attack", "expected"),
    [
        ({"method": "rmia", "score": "log-ratio", "temperature": 1.0}, 0.139505),
        ({"method": "base2"}, 0.4),
        ({"method": "base3"}, 4.0),
        ({"method": "lira-released", "variance": "per-record"}, 4.0),  # BASE4; the median of two is their mean
    ],
)
def test_worked_example(attack, expected):
    assert worked(attack) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("mode", ["online", "offline"])
def test_equals_the_plain_loops(mode):
    case = problem(3, models=8, records=30, queries=2, targets=[1, 5], population=0)
    scores, known = np.zeros(case.shape), case.membership.matrix
    for row, target in enumerate(case.targets):
        kept = used(case, target, online=mode == "online") & (True if mode == "online" else ~known)
        for query in range(2):
            for i, phi in enumerate(case.signals.margins[target, :, query]):
                values = case.signals.margins[kept[:, i], i, query]
                scores[row, i] += 0.5 * (phi - values.mean()) / values.var()
    found = score(parse({"method": "base2", "mode": mode}), case)
    np.testing.assert_allclose(found, scores, rtol=1e-6)


@pytest.mark.parametrize("attack", ["base2", "base3"])
def test_references_that_agree_give_finite_scores(attack):
    case = problem(6, models=8, population=0)
    case.signals.margins[:] = 1.0
    assert not score(attack, case).any()


@pytest.mark.parametrize("options", [{}, {"mode": "offline", "a": 0.4}, {"temperature": 1.0, "trim": 0.2}])
def test_log_ratios_rank_as_counts_do_and_tie_less(options):
    case = problem(5, records=300, population=40)
    ratios = score(parse({"method": "rmia", "score": "log-ratio", **options}), case)
    for population in ("others", "held-out"):
        counts = score(parse({"method": "rmia", "population": population, **options}), case)
        for one, other in zip(ratios, counts, strict=True):
            assert (np.diff(other[np.argsort(one)]) >= 0).all()
            assert len(np.unique(one)) == 300 >= len(np.unique(rankdata(other)))


def test_a_log_ratio_over_the_population_is_informa_but_for_one_number_a_target():
    """InfoRMIA's exact check: what it adds to the log-ratio is the same for both records."""
    target, marginal = np.array([0.8, 0.25]), np.array([0.545, 0.3])
    target_z, marginal_z = np.array([0.6, 0.2, 0.9]), np.array([0.675, 0.74, 0.48])
    added = np.sum(marginal_z / marginal_z.sum() * np.log(marginal_z / target_z))
    np.testing.assert_allclose(np.log(target / marginal) + added, [0.777461, 0.211313], atol=1e-6)


@pytest.mark.parametrize(
    ("options", "told"),
    [({"gamma": 2.0}, "gamma = 2.0"), ({"population": "held-out"}, "population = held-out")],
)
def test_options_without_meaning_for_log_ratios_are_refused(options, told):
    with pytest.raises(SpecError, match=f"rmia: score = log-ratio does not go with {told}: leave one of them out"):
        score(parse({"method": "rmia", "score": "log-ratio", **options}), problem(1))
    with pytest.raises(SpecError, match="does not go with degree = 3"):
        score(parse({"method": "rmia", "score": "log-ratio", "signal": "taylor", "degree": 3}), problem(1))
