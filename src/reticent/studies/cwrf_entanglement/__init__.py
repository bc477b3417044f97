"""Are the weights that give members away those that accuracy needs, and are they few?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
Table 1 and Figure 3. Pearson's correlation of such scores is that of few large ones, so that of their logarithms and
that of their ranks stand beside it. And half of the loss behind vulnerability is the loss behind learnability, so that
the two correlate by construction: a column tells how the unlearning of non-members does by itself. That still shares
the factor |w| and the weights that no gradient reaches; another column is without both.
"""

from collections.abc import Collection, Sequence
from typing import Any

from reticent.jobs.locate.scores import RATES
from reticent.population.worker import Maker
from reticent.studies.cwrf_entanglement.scores import ALL, scored
from reticent.studies.base import Claim, Column, Found, Plain, Published, Results, Scale, Setting, Study
from reticent.studies.bench import Bench
from reticent.studies.judging import Part, better, reaches
from reticent.studies.numbers import Estimate
from reticent.studies.presets import CIFAR_PAPER, CIFAR_SMALL, DIGITS, LOST, UNLIKE_DIGITS, UNLIKE_SMALL

STRONG, APART, MOST = 0.7, 0.05, 0.5
"""What a strong correlation is, by how much two must differ, and what most of the vulnerability is."""
NETWORKS = ("ResNet", "ViT")
"""The kinds of network that Table 1 has."""
MAIN = ("Att+MLP", "Conv")
"""The main part of a network, as the paper has it: the first of these that it has."""
ABOUT = {
    ALL: "all trainable weights",
    "Conv": "convolutions",
    "Att+MLP": "attention and its multilayer perceptrons",
    "Linear": "linear layers beside them",
    "Norm": "normalisation layers",
    **{f"Top {100 * rate:g} %": "the weights of the largest vulnerability" for rate in RATES},
}


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed: each network of an undefended population."""
    job = bench.job()
    found, each = Found(), list[dict[tuple[str, str], float]]()
    with bench.made(job) as (store, made):
        maker = Maker(job.population, store, job.device)
        for one in made:
            bench.tell(f"{bench.setting.label}, seed {bench.seed}: scores of model {one.model}")
            numbers, clouds = scored(maker, store, one, draw=one.model == 0)
            each.append(numbers | _gaps(numbers))
            if clouds:
                found.series["clouds"] = clouds
    keys = [key for key in each[0] if all(key in one for one in each)]
    found.numbers = {key: Estimate.over((one[key] for one in each), partial=True) for key in keys}
    found.rows = {row: ABOUT.get(row, "") for row, _ in keys if " - " not in row}
    return found


def _gaps(numbers: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Subtract the correlation of normalisation layers from that of the main part, network by network."""
    gaps = {}
    for row, metric in list(numbers):
        if row in MAIN and ("Norm", metric) in numbers:
            gaps[f"{row} - Norm", metric] = numbers[row, metric] - numbers["Norm", metric]
    return gaps


def _all(metric: str, name: str) -> Any:
    def parts(results: Results) -> list[Part]:
        return [reaches(f"{name}, {one.label}", results.get(one.key, ALL, metric), STRONG) for one in results.settings]

    return parts


def _main_part(rows: Collection[str]) -> str:
    return next((row for row in MAIN if row in rows), MAIN[-1])


def _main(results: Results) -> list[Part]:
    made: list[Part] = []
    for one in results.settings:
        row = _main_part(results.rows(one.key))
        made.append(reaches(f"Pearson, {row}, {one.label}", results.get(one.key, row, "pearson"), STRONG))
    return made


def _norm(results: Results) -> list[Part]:
    made = []
    for one in results.settings:
        row = _main_part(results.rows(one.key))
        number = results.get(one.key, f"{row} - Norm", "pearson")
        if "Norm" in results.rows(one.key):
            made.append(better(f"Pearson, {row} less norm layers, {one.label}", number, APART, metric="difference"))
    return made


def _construction(results: Results) -> list[Part]:
    alone, fixed = (
        _all("spearman_alone", "Spearman, unlearning alone"),
        _all("spearman_partial", "Spearman, that with |w| fixed"),
    )
    return [*alone(results), *fixed(results)]


def _few(results: Results) -> list[Part]:
    return [
        reaches(
            f"share of the vulnerability in the top 5 %, {one.label}",
            results.get(one.key, f"Top {100 * RATES[-1]:g} %", "vulnerability"),
            MOST,
            metric="share",
        )
        for one in results.settings
    ]


CLAIMS = (
    Claim(
        "correlated",
        "Vulnerability and learnability of weights are strongly correlated.",
        "Table 1: 0.83 and 0.77 over all weights",
        f"In each setting: Pearson's correlation over all weights is above {STRONG:g}.",
        _all("pearson", "Pearson, all weights"),
        networks=NETWORKS,
    ),
    Claim(
        "main-part",
        "The main part of a network (convolutions, or attention and MLP) has a strong correlation.",
        "Table 1: 0.94 and 0.91",
        f"In each setting: Pearson's correlation over these weights is above {STRONG:g}.",
        _main,
        networks=NETWORKS,
    ),
    Claim(
        "norm-lowest",
        "Normalisation layers have a lower correlation than the main part.",
        "Table 1: 0.68 and 0.73",
        f"In each setting with such layers: the main part's Pearson correlation is higher by {APART:g} or more.",
        _norm,
        networks=NETWORKS,
    ),
    Claim(
        "few",
        "Vulnerability lies in a very small part of the weights.",
        "sections 1 and 4.2; the paper has no number",
        f"In each setting: the 5 % of the weights with the largest scores hold more than {100 * MOST:g} % of the sum.",
        _few,
        networks=NETWORKS,
    ),
    Claim(
        "ranks",
        "The correlation is not that of few large scores alone.",
        "a control that the paper lacks",
        f"In each setting: Spearman's correlation over all weights is above {STRONG:g}.",
        _all("spearman", "Spearman, all weights"),
        "ours",
    ),
    Claim(
        "not-by-construction",
        "Unlearning non-members by itself ranks weights as learning members does, and not for what the scores share.",
        "a control that the paper lacks",
        f"In each setting: Spearman's correlation of learnability and the score at lambda = 1, which is without the "
        f"members' loss, is above {STRONG:g}; and so is the partial one over weights with both scores above zero, with "
        f"that of the absolute values of weights, a factor of both scores, held fixed.",
        _construction,
        "ours",
    ),
)

COLUMNS = (
    Column("pearson", "Pearson"),
    Column("log_pearson", "Pearson of logarithms"),
    Column("spearman", "Spearman"),
    Column("pearson_alone", "Pearson, unlearning alone"),
    Column("spearman_alone", "Spearman, unlearning alone"),
    Column("spearman_partial", "Spearman, unlearning alone, |w| fixed"),
    Column("spearman_magnitude", "Spearman of learnability and |w|"),
    Column("proportion", "Share of weights", "small share"),
    Column("vulnerability", "Share of vulnerability", "share"),
    Column("overlap", "Overlap with most learnable"),
)

PRINTED = {
    "ResNet18": {"All": (0.8329, 1.0), "Conv": (0.9410, 0.9950), "Linear": (0.8096, 0.0045), "Norm": (0.6776, 0.0005)},
    "ViT": {"All": (0.7667, 1.0), "Att+MLP": (0.9068, 0.9939), "Linear": (0.8642, 0.0054), "Norm": (0.7336, 0.0007)},
}
NOTES = {
    "ResNet18": "Which data set is not said. The shares need a head of 100 classes (51,200 of 11.2 million weights): "
    "probably CIFAR-100.",
    "ViT": "Which data set and which sizes of the network is not said.",
}
PUBLISHED = tuple(
    Published(
        "Fang and Kim (2026), Table 1",
        group,
        {row: {"pearson": (value, None), "proportion": (share, None)} for row, (value, share) in rows.items()},
        note=NOTES[group],
    )
    for group, rows in PRINTED.items()
)


def drawn(results: Results) -> Sequence[Plain]:
    """Draw the weights of one network a setting, by both scores."""
    figures = []
    for one in results.settings:
        clouds = results.series(one.key, "clouds")
        panels = [
            {
                "kind": "cloud",
                "title": f"{row} weights" if row == ALL else f"{row}: {ABOUT.get(row, row.lower())}",
                "x": "learnability, of its largest",
                "y": "vulnerability, of its largest",
                "points": points,
            }
            for row, points in (clouds[0] if clouds else {}).items()
        ]
        title = f"Vulnerability against learnability of each weight, {one.label} (one network)"
        figures.append({"name": one.key, "title": title, "panels": panels})
    return figures


SMALL_VIT = {"name": "vit", "dim": 64, "depth": 3, "heads": 4, "hidden": 64}
SCALES = {
    "tiny": Scale(
        (
            Setting(
                "cnn",
                "CNN on digits",
                DIGITS | {"architecture": "cnn", "models": 4},
                beside="ResNet18",
                network="CNN",
                unlike=UNLIKE_DIGITS,
            ),
            Setting(
                "vit",
                "ViT on digits",
                DIGITS | {"architecture": SMALL_VIT | {"patch": 2}, "models": 4},
                beside="ViT",
                network="ViT",
                unlike=UNLIKE_DIGITS,
            ),
        ),
        3,
        "The 1,797 digits that come with scikit-learn, as pictures; 4 networks of each kind a seed, 3 seeds: some "
        "minutes.",
    ),
    "small": Scale(
        (
            Setting(
                "resnet20",
                "ResNet20 on 1,200 records of CIFAR-10",
                CIFAR_SMALL | {"architecture": {"name": "resnet20", "width": 8}, "models": 4},
                beside="ResNet18",
                network="ResNet",
                unlike=UNLIKE_SMALL,
            ),
            Setting(
                "vit",
                "ViT on 1,200 records of CIFAR-10",
                CIFAR_SMALL | {"architecture": SMALL_VIT, "models": 4},
                beside="ViT",
                network="ViT",
                unlike=UNLIKE_SMALL,
            ),
        ),
        3,
        "A part of CIFAR-10, 4 networks of each kind, 3 seeds: about an hour on two cores.",
    ),
    "paper": Scale(
        (
            Setting(
                "resnet18",
                "ResNet18 on CIFAR-100",
                CIFAR_PAPER | {"dataset": "cifar100", "architecture": "resnet18", "models": 4},
                beside="ResNet18",
                network="ResNet",
            ),
            Setting(
                "vit",
                "ViT on CIFAR-100",
                CIFAR_PAPER | {"dataset": "cifar100", "architecture": "vit", "models": 4},
                beside="ViT",
                network="ViT",
            ),
        ),
        3,
        "CIFAR-100 with ResNet18 and ViT, 100 epochs, 4 networks each, 3 seeds: some hours on one GPU.",
    ),
}

STUDY = Study(
    name="cwrf-entanglement",
    title="Are the weights that give members away those that accuracy needs, and are they few?",
    paper="Fang and Kim (2026), Learnability and privacy vulnerability are entangled in a few critical weights, ICLR.",
    scales=SCALES,
    measure=measured,
    columns=COLUMNS,
    claims=CLAIMS,
    published=PUBLISHED,
    draw=drawn,
    caution=(
        LOST,
        "The members' loss is a part of both scores, in the same batches, so that they correlate by construction; the "
        "columns on unlearning alone are without it. These share still more: each score is a sum of |g w|, so a factor "
        "|w|, and zero for weights that no gradient reaches. The column with |w| fixed is without these, as far as "
        "ranks tell; what gradients share, such as an active input, is left in it.",
        "The networks of a seed share all records, and any two of them about half of their members; the intervals of "
        "one seed take them as independent, and so say nothing of other records, and too little of other networks. "
        "From 3 seeds on the spread over seeds stands beside them.",
        "A correlation of scores says nothing of what an attack would find if these weights were changed: that is "
        "cwrf-ablation's question.",
    ),
    over="networks alone, with the records as they are",
)
