"""How alike the memorisation scores of different architectures are, on the members of one model.

Every architecture scores the members twice, each time by half of its sub-models, all drawn apart. Prints Spearman's
correlation of two such scores, and the share of the fifth memorised most that they have in common (chance: a fifth):
of one architecture's two, which noise alone keeps below 1, and the mean over the four pairs of two architectures.
Scores that agree across architectures as well as within one are a trait of the records, not of the network.

    python benchmarks/memorisation.py --dataset location30 --data-dir DATA [--architecture mlp fc] [--models 20]
"""

import argparse
import itertools
import time

import numpy as np
import torch
from scipy.stats import spearmanr

from reticent.locate.memorisation import memorisation
from reticent.seeds import rng
from reticent.torch_state import fixed
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.streams import Streams


def scores(recipe, materials, models, seed, number):
    """Score members twice; three in ten sub-models leave a member out."""
    half = models // 2
    return [
        memorisation(recipe, materials, Streams(seed, 2 * number + part), half, max(1, round(0.3 * half))).scores
        for part in range(2)
    ]


def agreement(pairs):
    """Return the mean correlation, and the mean share of the fifth memorised most in common."""
    tops = [[set(np.argsort(-one.numpy())[: len(one) // 5]) for one in pair] for pair in pairs]
    correlation = np.mean([spearmanr(*pair).statistic for pair in pairs])
    return correlation, np.mean([len(a & b) / len(a) for a, b in tops])


@fixed()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--architecture", nargs="+", default=["mlp", "fc"])
    parser.add_argument("--members", type=int, help="by default half of the records")
    parser.add_argument("--models", type=int, default=20, help="sub-models of an architecture, both halves together")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    from reticent.data.load import load
    from reticent.models import ARCHITECTURES
    from reticent.training.recipe import Recipe

    records = load(args.dataset, data_dir=args.data_dir)
    count = args.members or len(records) // 2
    chosen = np.sort(rng(args.seed, "benchmark", "members").permutation(len(records))[:count])
    prepare = Preparation(records, torch.device("cpu"))
    none = prepare.examples(records, chosen[:0])
    materials = Materials(prepare.examples(records, chosen), none, none, prepare, records.classes)
    found = {}
    for number, name in enumerate(args.architecture):
        spec = ARCHITECTURES[name].spec()
        recipe = Recipe(architecture=spec, epochs=args.epochs, learning_rate=args.learning_rate)
        begun = time.perf_counter()
        found[name] = scores(recipe, materials, args.models, args.seed, number)
        print(f"{name}: mean score {sum(found[name]).mean() / 2:.3f}, {time.perf_counter() - begun:.0f} s", flush=True)
    print(f"\n{args.dataset}, {count:,} members, {args.models} sub-models each, {args.epochs} epochs\n")
    print("| scores by | Spearman's correlation | of the fifth memorised most, in common |")
    print("|---|---:|---:|")
    for one, other in itertools.combinations_with_replacement(found, 2):
        pairs = [found[one]] if one == other else list(itertools.product(found[one], found[other]))
        correlation, common = agreement(pairs)
        print(f"| {one} and {other} | {correlation:.3f} | {common:.2f} |")


if __name__ == "__main__":
    main()
