"""No leak, no finding: membership drawn apart from the signals, through the whole path of an audit."""

import numpy as np
import pytest
from attack_cases import imitating, inputs, probed
from scipy.stats import binom

import reticent
from reticent.attacks import ATTACKS, Problem, needs_models
from reticent.data.membership import Membership
from reticent.jobs.scoring import Settings, attacked
from reticent.signals.matrix import Signals

pytestmark = pytest.mark.slow

SEEDS = range(4)
MODELS, RECORDS, CLASSES = 16, 600, 5


def outputs(seed):
    """Make models that learn, of records that are easy and hard; who was trained on what is drawn afterwards."""
    rng = np.random.default_rng([seed, 5])
    labels = rng.integers(0, CLASSES, RECORDS)
    logits = rng.normal(size=(MODELS, RECORDS, CLASSES)) + rng.normal(size=(RECORDS, CLASSES))
    logits[:, np.arange(RECORDS), labels] += 2 + rng.normal(0, 1, RECORDS)
    membership = rng.permuted(np.tile([True, False], (RECORDS, MODELS // 2)), axis=1).T
    return {"logits": logits, "labels": labels, "membership": membership}


@pytest.fixture(scope="module")
def intervals():
    """95 % intervals of the AUC over models, by attack: one a seed."""
    found = {name: [] for name in ATTACKS}
    brought = [name for name in ATTACKS if not needs_models(name)]
    for seed in SEEDS:
        short = {name: ATTACKS[name].short.model_dump(exclude_unset=True) for name in brought if ATTACKS[name].fitted}
        done = reticent.attack(**outputs(seed), attacks=brought, options=short, seed=seed, replicates=100)
        for attack in done.document["attacks"]:
            found[attack["name"]].append(attack["overall"]["auc"]["interval"])
        rest = [ATTACKS[name].brief for name in ATTACKS if name not in brought]
        for audit in attacked(whole(seed), rest, Settings(seed, replicates=100)).audits:
            found[audit.name].append(audit.auc.interval)
    return found


def whole(seed):
    """Make the same models, with all that attacks may look at besides: replicas, imitators, answers to probes."""
    given = outputs(seed)
    near = np.exp(given["logits"] + np.random.default_rng([seed, 6]).normal(0, 0.1, given["logits"].shape))
    told = np.where(given["membership"][:, :, None], near / near.sum(axis=2, keepdims=True), np.nan)
    signals, known = Signals.from_logits(given["logits"], given["labels"]), Membership(given["membership"])
    mimics = imitating(signals, known, seed)
    briefs = [entry.brief for entry in ATTACKS.values()]
    seen = inputs(np.random.default_rng(seed), RECORDS, 0)
    return Problem.make(signals, known, replicas=told, imitators=mimics, probed=probed(signals, briefs), inputs=seen)


@pytest.mark.parametrize("name", ATTACKS)
def test_shuffled_membership_gives_an_interval_that_holds_one_half(name, intervals):
    """Of n intervals that each hold the truth with probability 0.95, at least this many do, with probability 0.99."""
    least = int(binom.ppf(0.01, len(SEEDS), 0.95))
    held = sum(low <= 0.5 <= high for low, high in intervals[name])
    assert held >= least, intervals[name]
    assert all(high - low < 0.06 for low, high in intervals[name])


@pytest.mark.parametrize("models", [4, 5])
def test_few_models_with_heavy_tails_are_not_called_a_leak(models):
    """LiRA on skewed and heavy-tailed margins: at 5 % a verdict, three or more of twelve are a fault (2 %)."""
    found, bounds = 0, 0
    for seed in range(12):
        rng = np.random.default_rng([seed, models])
        noise = rng.lognormal(size=(models, 1500)) if seed % 2 else rng.standard_t(4, (models, 1500))
        margins = 2 * rng.normal(size=1500) + np.exp(rng.normal(0, 0.5, 1500)) * noise
        membership = reticent.Membership.draw(models, 1500, seed)
        said = reticent.attack(
            labels=np.arange(1500) % 5,
            membership=membership,
            margins=margins,
            classes=5,
            attacks="lira",
            replicates=100,
        ).document
        found += said["verdict"]["leak"] == "found"
        bounds += said["epsilon"]["lower"] > 0
    assert found < 3
    assert bounds == 0
