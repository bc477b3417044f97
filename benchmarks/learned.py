"""What `learned` finds beyond LiRA and RMIA on one population, with intervals of paired differences, and what it costs.

Everything that is not an option here goes to `reticent audit`: the same population is found in the store, not trained
again. A difference is to the better of LiRA and RMIA by that statistic; its interval redraws models and records, and is
not corrected for the choice. Several seeds give more models of the same records, and are counted as such: an attack
sees the models of one seed alone, and the interval redraws the models of all.

    python benchmarks/learned.py --dataset location30 --data-dir DIR --models 8 --store STORE [--defense selena]
                                 [--seeds 0 1 2]
"""

import argparse
import contextlib
import tempfile
import time
from unittest import mock

import numpy as np

NAMES = ("lira", "rmia", "learned")
REPLICATES = 400


def audited(options, folder):
    """Audit with the three attacks; also the seconds of processor time that each one took."""
    import reticent
    from reticent.jobs import scoring

    took, original = {}, scoring.score

    def timed(attack, *given):
        start = time.process_time()
        scores = original(attack, *given)
        took[attack.method] = time.process_time() - start
        return scores

    with mock.patch.object(scoring, "score", timed):
        return reticent.audit(**options, attacks=NAMES, replicates=100, out=folder), took


def differences(scores, members, fpr):
    """AUC, or TPR at a rate, of `learned` less that of the better of the others: mean and interval."""
    from reticent.auditing.bootstrap import bootstrap
    from reticent.auditing.comparison.paired import bootstrapped
    from reticent.auditing.roc import auc, roc
    from reticent.auditing.weighted_roc import FIXED

    column, rates = (FIXED.index("auc"), ()) if fpr is None else (len(FIXED), (fpr,))
    measured = {}
    for name in NAMES:
        each = zip(scores[name], members, strict=True)
        found = auc(scores[name], members) if fpr is None else np.array([roc(*one).at_fpr(fpr).tpr for one in each])
        drawn = bootstrap(scores[name], members, rates, REPLICATES, np.random.default_rng(0), oracle=False)
        measured[name] = (drawn, np.asarray(found))
    best = max(NAMES[:2], key=lambda name: measured[name][1].mean())
    counted = int(members.sum(axis=1).min())
    gap = bootstrapped(measured["learned"], measured[best], column, counted, 0.95)
    means = {name: found.mean() for name, (_, found) in measured.items()}
    return means, best, gap


def number(text):
    """Read a number, or leave the text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    known, rest = parser.parse_known_args()
    options = {key[2:].replace("-", "_"): value for key, value in zip(rest[::2], rest[1::2], strict=True)}
    options = {key: number(value) for key, value in options.items()}
    audits = []
    for seed in known.seeds:
        with tempfile.TemporaryDirectory() as folder:
            audits.append(audited(options | {"seed": seed}, folder))
    if any(not np.array_equal(done.ids, audits[0][0].ids) for done, _ in audits):
        raise SystemExit("seeds: each audits other records, whose models cannot be counted together")
    members = np.concatenate([done.membership for done, _ in audits])
    scores = {name: np.concatenate([done.scores[name] for done, _ in audits]) for name in NAMES}
    targets, records = audits[0][0].membership.shape
    print(" ".join(rest), f"({targets} models, {records:,} records; seeds {' '.join(map(str, known.seeds))})")
    print("| | " + " | ".join(NAMES) + " | learned less the better one, 95 % interval |")
    print("|---|" + "---:|" * 4)
    for fpr in (None, 0.01, 0.001):
        if fpr is not None and fpr * (~members).sum(axis=1).min() < 1:
            continue
        means, best, gap = differences(scores, members, fpr)
        name = "AUC" if fpr is None else f"TPR at {fpr:.1%} FPR"
        cells = " | ".join(f"{means[one]:.3f}" for one in NAMES)
        low, high = gap.interval
        print(f"| {name} | {cells} | {gap.difference:+.4f} ({low:+.4f} to {high:+.4f}), to {best} |", flush=True)
    seconds = (f"{np.mean([took[one] for _, took in audits]):.1f}" for one in NAMES)
    print("| seconds | " + " | ".join(seconds) + " | of one core |")
    for done, _ in audits:
        for one in done.findings.attacks:
            if one.importance is not None:
                print(one.importance.sentence)


if __name__ == "__main__":
    main()
