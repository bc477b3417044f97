"""What attacks find with few models: LiRA by each record alone, LiRA with a shared shift, and RMIA, on digits.

Every population is trained by itself (a membership, models and streams of its own), so that a row says what somebody
finds who can afford so many models. Means over seeds, and beside them the standard error over seeds.

    python benchmarks/few_models.py [--models 4 8 16 32] [--seeds 4]
"""

import argparse
import statistics
import tempfile
from pathlib import Path

WAYS = {
    "LiRA": {"attacks": ["lira"]},
    "LiRA, shared shift": {"attacks": ["lira"], "attack": {"lira": {"shift": "shared"}}},
    "RMIA": {"attacks": ["rmia"]},
}


def found(folder, models, seed, way):
    """AUC, and TPR at a false-positive rate of 0.01, of one population under one attack."""
    import reticent

    audited = reticent.audit(
        dataset="digits",
        models=models,
        seed=seed,
        replicates=100,
        store=str(folder / "store"),
        out=folder / "out",
        **way,
    )
    (attack,) = audited.document["attacks"]
    rate = next(one for one in attack["overall"]["tpr_at_fpr"] if one["fpr"] == 0.01)
    return attack["overall"]["auc"]["mean"], rate["tpr"]["mean"]


def told(values):
    """Mean and standard error."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return f"{statistics.mean(values):.3f} ± {error:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, nargs="+", default=[4, 8, 16, 32])
    parser.add_argument("--seeds", type=int, default=4)
    args = parser.parse_args()
    print("| models | attack | AUC | TPR at FPR 0.01 |\n|---:|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for models in args.models:
            for name, way in WAYS.items():
                pairs = [found(Path(folder), models, seed, way) for seed in range(args.seeds)]
                areas, rates = (told([pair[at] for pair in pairs]) for at in (0, 1))
                print(f"| {models} | {name} | {areas} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
