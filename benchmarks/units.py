"""What attacks find of persons, whose records' scores are joined by their mean, their sum or the largest.

Persons of 1 to 20 records and 16 models, simulated: the margin of a record is its own difficulty, noise that the
records of a person share to some part, and a leak of 0.7 standard deviations where the model was trained on the person.
The means over seeds of AUC and TPR at 1 %. Seconds on one core.

    python benchmarks/units.py [--persons 400] [--seeds 8]
"""

import argparse
from dataclasses import replace
from typing import get_args

import numpy as np

from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.attacks.lira import Lira
from reticent.attacks.loss import Loss
from reticent.attacks.rmia import Rmia
from reticent.auditing.roc import auc, roc
from reticent.auditing.units import scores_of_units
from reticent.data.membership import Membership
from reticent.data.units import Units
from reticent.options import UnitScore
from reticent.signals.matrix import Signals

ATTACKS = {"LiRA": Lira(), "RMIA": Rmia(), "loss": Loss()}
MODELS, LEAK, FPR = 16, 0.7, 0.01
WAYS = get_args(UnitScore)


def simulated(persons, shared, seed):
    """Draw a population of models, of which each was trained on half of the persons."""
    rng = np.random.default_rng(seed)
    units = Units.of("person", rng.permutation(np.repeat(np.arange(persons), rng.integers(1, 21, persons))))
    membership = Membership(units.expanded(Membership.draw(MODELS, persons, seed).matrix))
    own, each = rng.normal(size=(MODELS, persons))[:, units.codes], rng.normal(size=membership.matrix.shape)
    noise = np.sqrt(shared) * own + np.sqrt(1 - shared) * each
    margins = noise + 2 * rng.normal(size=membership.records) + LEAK * membership.matrix
    signals = Signals.from_margins(margins, np.zeros(membership.records, int), 2)
    return Problem.make(signals, membership, units=units)


def found(problem, attack):
    """Mean AUC and TPR over targets, by how scores are joined."""
    scores, inside = score(attack, problem, seed=0), problem.members
    for way in WAYS:
        joined = scores_of_units(scores, replace(problem.units, score=way))
        shares = [roc(*one).at_fpr(FPR).tpr for one in zip(joined, inside, strict=True)]
        yield auc(joined, inside).mean(), np.mean(shares)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=8)
    args = parser.parse_args()
    print(f"{args.persons} persons of 1 to 20 records, {MODELS} models, mean of {args.seeds} seeds: AUC, TPR at 1 %")
    print("| attack | noise that records of a person share | " + " | ".join(WAYS) + " |")
    print("|---|---:|" + "---:|" * len(WAYS))
    for shared in (0.0, 0.36):
        problems = [simulated(args.persons, shared, seed) for seed in range(args.seeds)]
        for name, attack in ATTACKS.items():
            means = np.mean([list(found(problem, attack)) for problem in problems], axis=0)
            cells = " | ".join(f"{area:.3f}, {share:.1%}" for area, share in means)
            print(f"| {name} | {shared:.0%} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
