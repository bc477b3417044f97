"""What `imia` finds of single models beyond attacks that train nothing for the target, and what its imitators cost.

Models of one population are the targets, one by one, and all others its references; imitators are trained for each of
them without the defense. Everything that is not an option here goes to `reticent audit`: the same population is found
in the store. Differences are paired over records, and their interval redraws targets and records.

    python benchmarks/imia.py --dataset location30 --data-dir DIR --models 16 --store STORE [--targets 4] [--defense D]
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

OTHERS = ("lira", "rmia", "bavaria", "learned")
RATES = (None, 0.01, 0.001)
REPLICATES = 400


def scored(options, targets, imitators):
    """Scores of the first targets by attack, their members, and the seconds of a target's imitators."""
    from reticent.attacks import Problem, parse, score
    from reticent.jobs.base import Work
    from reticent.jobs.config import called
    from reticent.jobs.defenses import has_defense, undefended
    from reticent.jobs.imitators import imitators as imitated
    from reticent.population.stored_signals import signals
    from reticent.population.train import train
    from reticent.store import Store

    job, spec = called(None, options), parse({"method": "imia", "models": max(2, imitators)})
    store, population = Store(Path(options["store"])).open(), job.population
    answers, _ = signals(population, store, train(population, store, executor=job.executor))
    plain = replace(population, recipe=undefended(population.recipe)) if has_defense(population.recipe) else population
    every, seconds, known = slice(0, answers.records), [], {}
    for target in range(targets * bool(imitators)):
        started = time.perf_counter()
        known |= imitated([spec], plain, target, answers.logits[target, every], store, job.executor, Work())
        seconds.append(time.perf_counter() - started)
    given = Problem.make(answers, population.membership, range(targets), imitators=known or None)
    scores = {name: score(name, given) for name in OTHERS} | ({"imia": score(spec, given)} if imitators else {})
    return scores, given.members, seconds


def measured(scores, members, fpr):
    """Mean AUC, or TPR at a rate, of an attack, and its bootstrap."""
    from reticent.auditing.bootstrap import bootstrap
    from reticent.auditing.roc import auc, roc

    each = zip(scores, members, strict=True)
    found = auc(scores, members) if fpr is None else np.array([roc(*one).at_fpr(fpr).tpr for one in each])
    rates = () if fpr is None else (fpr,)
    return np.asarray(found), bootstrap(scores, members, rates, REPLICATES, np.random.default_rng(0), oracle=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--records", type=int)
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--targets", type=int, default=4)
    parser.add_argument("--imitators", type=int, default=10, help="of a target; 0 leaves imia out")
    parser.add_argument("--defense")
    parser.add_argument("--store", required=True)
    given = vars(parser.parse_args())
    targets, imitators = given.pop("targets"), given.pop("imitators")

    from reticent.auditing.comparison.paired import bootstrapped
    from reticent.auditing.weighted_roc import FIXED

    options = {key: value for key, value in given.items() if value is not None}
    scores, members, seconds = scored({**options, "workers": 1, "device": "cpu"}, targets, imitators)
    best_of = [name for name in OTHERS if name in scores]
    print(f"| statistic | {' | '.join(scores)} | imia less the best of the others |\n|---|{'---:|' * len(scores)}---|")
    for fpr in RATES:
        found = {name: measured(own, members, fpr) for name, own in scores.items()}
        means = {name: float(own[0].mean()) for name, own in found.items()}
        cells = [f"{means[name]:.3f}" for name in scores]
        gap = ""
        if "imia" in scores:
            best = max(best_of, key=means.get)
            column = FIXED.index("auc") if fpr is None else len(FIXED)
            counted = int(members.sum(axis=1).min())
            pair = bootstrapped(found["imia"][::-1], found[best][::-1], column, counted, 0.95)
            low, high = pair.interval
            gap = f"{pair.difference:+.3f} ({low:+.3f} to {high:+.3f}), {best}"
        print(f"| {'AUC' if fpr is None else f'TPR at {100 * fpr:g} % FPR'} | {' | '.join(cells)} | {gap} |")
    told = f"; {np.mean(seconds):.0f} s for the {imitators} imitators of a target" if seconds else ""
    print(f"\n{targets} targets of {given['models']} models, {members.shape[1]:,} records{told}")


if __name__ == "__main__":
    main()
