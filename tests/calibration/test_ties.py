"""The same recipe twice is a tie, a recipe that hides half of the trace is not: populations simulated from a real one.

Sixteen models are trained on digits. A simulated population has a membership of its own and takes the margin of each
model and record from that record's margins in the real models that were, or were not, trained on it, and adds a little
noise, so that values are continuous. Two populations that share a membership are two trainings of one recipe.
"""

import numpy as np
import pytest
from scipy.stats import binom

from reticent.attacks import Problem, parse, score
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.data.membership import Membership
from reticent.jobs.config import called
from reticent.population.stored_signals import signals
from reticent.population.train import train
from reticent.say.comparison import headline
from reticent.signals.matrix import Signals
from reticent.store import Store

MODELS, PAIRS = 16, 100
ATTACKS = (parse({"method": "lira", "variance": "pooled"}), parse("rmia"))
KERNEL = 0.3
"""Standard deviation of the added noise, over that of a record's margins between models."""


class Real:
    """A trained population, from which others are drawn."""

    def __init__(self, folder):
        job = called(None, {"models": MODELS, "epochs": 10, "workers": 1, "store": str(folder), "out": str(folder)})
        store = Store(folder).open()
        made = train(job.population, store, executor=job.executor)
        known, _ = signals(job.population, store, made)
        self.labels, self.classes = known.labels, known.classes
        margins = np.asarray(known.margins[:, :])[:, :, 0].astype(np.float64)
        inside = job.population.membership.matrix
        # In each column, the margins of one kind come first.
        self._pools = {own: np.sort(np.where(inside == own, margins, np.nan), axis=0) for own in (True, False)}
        self._sizes = {own: (inside == own).sum(axis=0) for own in (True, False)}
        self._trace = np.nanmean(self._pools[True], axis=0) - np.nanmean(self._pools[False], axis=0)
        self._noise = KERNEL * np.std(margins - margins.mean(axis=0))

    def draw(self, membership, rng, hidden=0.0):
        """Margins of another population; `hidden` is the share of each record's trace that is taken away."""
        inside = membership.matrix
        values = np.empty(inside.shape)
        for own, pool in self._pools.items():
            rows = (rng.random(inside.shape) * self._sizes[own]).astype(int)
            np.copyto(values, np.take_along_axis(pool, rows, axis=0), where=inside == own)
        return values - hidden * self._trace * inside + self._noise * rng.normal(size=inside.shape)

    def entry(self, name, membership, rng, hidden=0.0):
        margins = self.draw(membership, rng, hidden)
        known = Signals.from_margins(margins.astype(np.float32), self.labels, self.classes)
        problem = Problem.make(known, membership)
        scores = {attack.method: score(attack, problem) for attack in ATTACKS}
        return RowScores(name, scores, membership.matrix, correct=margins > 0)

    def compared(self, seed, hidden=0.0):
        rng = np.random.default_rng([5, seed])
        membership = Membership.draw(MODELS, len(self.labels), seed)
        entries = self.entry("one", membership, rng), self.entry("two", membership, rng, hidden)
        found = compare(entries, fpr=0.01, rng=rng, replicates=400)
        return found.to_json() | {"sentence": headline(found)}


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return Real(tmp_path_factory.mktemp("real"))


@pytest.mark.calibration
def test_the_same_recipe_twice_is_a_tie(real):
    every = [real.compared(seed) for seed in range(PAIRS)]
    # There is a leak to be wrong about.
    for row in every[0]["rows"]:
        assert row["auc"]["mean"] > 0.57
        assert row["tpr"]["interval"][0] > 0.02
    assert {pair["statistic"] for pair in every[0]["pairs"]} == {"auc", "tpr", "accuracy"}
    ties = [all(pair["verdict"] == "tie" for pair in found["pairs"]) for found in every]
    assert sum(ties) >= 95
    # One by one, uncorrected: each test is wrong at most at its rate, and each interval covers 0 at its own.
    for i in range(3):
        wrong = sum(found["pairs"][i]["p"] < 0.05 for found in every)
        missed = sum(not found["pairs"][i]["interval"][0] <= 0 <= found["pairs"][i]["interval"][1] for found in every)
        assert wrong == missed <= binom.ppf(0.999, PAIRS, 0.05)
    assert sum(found["pairs"][1]["mcnemar"]["p"] < 0.05 for found in every) <= binom.ppf(0.999, PAIRS, 0.05)
    # Differences are spread around 0.
    for i in range(3):
        differences = np.array([found["pairs"][i]["difference"] for found in every])
        assert abs(differences.mean()) < 4 * differences.std() / PAIRS**0.5


@pytest.mark.calibration
def test_a_recipe_that_hides_a_fifth_of_the_trace_is_told_apart(real):
    every = [real.compared(seed, hidden=0.2) for seed in range(10)]
    assert all(found["pairs"][0]["verdict"] == "second lower" for found in every)
    by_area_alone = "two leaks less (by the AUC; not shown by the share of members found) than one (AUC "
    for found in every:
        both = found["pairs"][1]["verdict"] == "second lower"
        assert found["sentence"].startswith("two leaks less than one (AUC " if both else by_area_alone)
    half = real.compared(0, hidden=0.5)
    assert [pair["verdict"] for pair in half["pairs"][:2]] == ["second lower", "second lower"]
    assert half["pairs"][1]["mcnemar"]["only_first"] > half["pairs"][1]["mcnemar"]["only_second"]
