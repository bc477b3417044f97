"""How well the rankings of `locate records --without-references` find what a population of models finds exposed.

The members of one training on all records are ranked, and the exposure of the same records is measured by models on
random halves. Of the members that a ranking puts first, the share that is among the 5 % most exposed (chance: 0.05),
and the rank correlation with exposure.

    python benchmarks/ranking.py --dataset location30 --data-dir DIR --models 16 --store STORE [--epochs 40]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

SHARES = (0.01, 0.05)


def label_leverage(options, found):
    """Compute the leverage of logits with the label, which no command reports."""
    from reticent.jobs.config import called
    from reticent.jobs.locate.ranking import everyone
    from reticent.locate.last_layer import answers
    from reticent.locate.leverage import last_layer
    from reticent.population.worker import Maker
    from reticent.store import Store

    job = called(None, options, attacked=False)
    maker = Maker(everyone(job), Store(Path(job.config.store)), job.executor.device)
    _, network = maker.trained(0)
    said = answers(network, maker.audited, maker.prepare, job.records.classes)
    np.testing.assert_array_equal(job.population.roles.audited, found.ids)
    return last_layer(said.features, np.exp(said.log_probabilities), "label")


def share_at_risk(scores, risky, share):
    """Of the records that a ranking puts first, one at least, count the share that is truly at risk."""
    order = np.argsort(-scores, kind="stable")
    return risky[order[: max(1, round(share * len(order)))]].mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--store", required=True)
    given = {key: value for key, value in vars(parser.parse_args()).items() if value is not None}

    from scipy.stats import spearmanr

    import reticent

    models = given.pop("models")
    with tempfile.TemporaryDirectory() as folder:
        found = reticent.rank_members(**given, out=f"{folder}/ranking")
        population = reticent.locate_records(**given, models=models, out=f"{folder}/records")
    members = sorted(found.members, key=lambda one: one.record)
    by_id = {row["record"]: row["exposure"] for row in population.rows}
    exposed = np.array([by_id[one.record] for one in members])
    risky = exposed >= np.quantile(exposed, 0.95)
    scores = {
        "spread of the loss": np.array([one.loss_iqr for one in members]),
        "leverage": np.array([one.leverage for one in members]),
        "final loss": np.array([one.loss for one in members]),
        "label leverage": label_leverage(given, found)[np.argsort(found.ids)],
    }
    print(f"{given['dataset']}: {len(members)} members, {found.findings.training.epochs} epochs, {models} models")
    print("| ranking | of the first 1 % | of the first 5 % | rank correlation |\n|---|---|---|---|")
    for name, score in scores.items():
        shares = " | ".join(f"{share_at_risk(score, risky, share):.2f}" for share in SHARES)
        print(f"| {name} | {shares} | {spearmanr(score, exposed).statistic:.2f} |")


if __name__ == "__main__":
    main()
