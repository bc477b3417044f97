"""Are the weights that give members away those that accuracy needs, and are they few?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
Table 1 and Figure 3. Pearson's correlation of such scores is that of few large ones, so that of their logarithms and
that of their ranks stand beside it. And half of the loss behind vulnerability is the loss behind learnability, so that
the two correlate by construction: a column tells how the unlearning of non-members does by itself. That still shares
the factor |w| and the weights that no gradient reaches; another column is without both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from reticent.findings.study import Column, Figure
from reticent.jobs.locate.scores import RATES
from reticent.population.worker import Maker
from reticent.studies import presets
from reticent.studies.base import Bench, Claim, Found, Parts, Published, Results, Scale, Setting, Study, each
from reticent.studies.cwrf_entanglement.scores import ABOUT, ALL, Numbers, scored
from reticent.studies.judging import Part, better, reaches
from reticent.studies.numbers import Estimate

STRONG, APART, MOST = 0.7, 0.05, 0.5
"""What a strong correlation is, by how much two must differ, and what most of the vulnerability is."""
NETWORKS = ("ResNet", "ViT")
"""The kinds of network that Table 1 has."""
MAIN = ("Att+MLP", "Conv")
"""The main part of a network, as the paper has it: the first of these that it has."""
TOPS = {f"Top {100 * rate:g} %": "the weights of the largest vulnerability" for rate in RATES}


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed: each network of an undefended population."""
    job = bench.job()
    found, networks = Found(), list[Numbers]()
    with bench.made(job) as (store, made):
        maker = Maker(job.population, store, job.executor.device)
        for one in made:
            bench.say(f"scores of model {one.model}")
            numbers, panels = scored(maker, store, one, draw=one.model == 0)
            networks.append(numbers | _gaps(numbers))
            found.panels += tuple(panels)
    keys = [key for key in networks[0] if all(key in one for one in networks)]
    found.numbers = {key: Estimate.over((one[key] for one in networks), partial=True) for key in keys}
    found.rows = {row: (ABOUT | TOPS).get(row, "") for row, _ in keys if " - " not in row}
    return found


def _gaps(numbers: Numbers) -> Numbers:
    """Subtract the correlation of normalisation layers from that of the main part, network by network."""
    return {
        (f"{row} - Norm", metric): number - numbers["Norm", metric]
        for (row, metric), number in numbers.items()
        if row in MAIN and ("Norm", metric) in numbers
    }


def _all(asked: Mapping[str, str]) -> Parts:
    """Ask of correlations over all weights, by metric, whether they are strong."""
    return each(
        lambda results, one: [
            reaches(name, results.get(one.key, ALL, metric), STRONG) for metric, name in asked.items()
        ]
    )


def _main_part(results: Results, one: Setting) -> str:
    return next((row for row in MAIN if row in results.rows(one.key)), MAIN[-1])


def _main(results: Results, one: Setting) -> Iterator[Part]:
    row = _main_part(results, one)
    yield reaches(f"Pearson, {row}", results.get(one.key, row, "pearson"), STRONG)


def _norm(results: Results, one: Setting) -> Iterator[Part]:
    row = _main_part(results, one)
    number = results.get(one.key, f"{row} - Norm", "pearson")
    if "Norm" in results.rows(one.key):
        yield better(f"Pearson, {row} less norm layers", number, APART, metric="difference")


def _few(results: Results, one: Setting) -> Iterator[Part]:
    number = results.get(one.key, list(TOPS)[-1], "vulnerability")
    yield reaches("share of the vulnerability in the top 5 %", number, MOST, metric="share")


CLAIMS = (
    Claim(
        "correlated",
        "Vulnerability and learnability of weights are strongly correlated.",
        "Table 1: 0.83 and 0.77 over all weights",
        f"In each setting: Pearson's correlation over all weights is above {STRONG:g}.",
        _all({"pearson": "Pearson, all weights"}),
        networks=NETWORKS,
    ),
    Claim(
        "main-part",
        "The main part of a network (convolutions, or attention and MLP) has a strong correlation.",
        "Table 1: 0.94 and 0.91",
        f"In each setting: Pearson's correlation over these weights is above {STRONG:g}.",
        each(_main),
        networks=NETWORKS,
    ),
    Claim(
        "norm-lowest",
        "Normalisation layers have a lower correlation than the main part.",
        "Table 1: 0.68 and 0.73",
        f"In each setting with such layers: the main part's Pearson correlation is higher by {APART:g} or more.",
        each(_norm),
        networks=NETWORKS,
    ),
    Claim(
        "few",
        "Vulnerability lies in a very small part of the weights.",
        "sections 1 and 4.2; the paper has no number",
        f"In each setting: the 5 % of the weights with the largest scores hold more than {100 * MOST:g} % of the sum. "
        "(Both numbers are ours.)",
        each(_few),
        networks=NETWORKS,
    ),
    Claim(
        "ranks",
        "The correlation is not that of few large scores alone.",
        "a control that the paper lacks",
        f"In each setting: Spearman's correlation over all weights is above {STRONG:g}.",
        _all({"spearman": "Spearman, all weights"}),
        "ours",
    ),
    Claim(
        "not-by-construction",
        "Unlearning non-members by itself ranks weights as learning members does, and not for what the scores share.",
        "a control that the paper lacks",
        f"In each setting: Spearman's correlation of learnability and the score at lambda = 1, which is without the "
        f"members' loss, is above {STRONG:g}; and so is the partial one over weights with both scores above zero, with "
        f"that of the absolute values of weights, a factor of both scores, held fixed.",
        _all({"spearman_alone": "Spearman, unlearning alone", "spearman_partial": "Spearman, that with |w| fixed"}),
        "ours",
    ),
)

COLUMNS = (
    Column(key="pearson", label="Pearson"),
    Column(key="log_pearson", label="Pearson of logarithms"),
    Column(key="spearman", label="Spearman"),
    Column(key="pearson_alone", label="Pearson, unlearning alone"),
    Column(key="spearman_alone", label="Spearman, unlearning alone"),
    Column(key="spearman_partial", label="Spearman, unlearning alone, |w| fixed"),
    Column(key="spearman_magnitude", label="Spearman of learnability and |w|"),
    Column(key="proportion", label="Share of weights", form="small share"),
    Column(key="vulnerability", label="Share of vulnerability", form="share"),
    Column(key="overlap", label="Overlap with most learnable"),
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


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw the weights of one network, by both scores."""
    title = f"Vulnerability against learnability of each weight, {setting.label} (one network)"
    yield Figure(name=setting.key, title=title, panels=results.found[setting.key][0].panels)


SMALL_VIT = {"name": "vit", "dim": 64, "depth": 3, "heads": 4, "hidden": 64}


TINY_VIT = replace(presets.TINY_CNN, key="vit", label="ViT on digits", network="ViT")
SMALLER_VIT = replace(presets.SMALL_CNN, key="vit", label="ViT on 1,200 records of CIFAR-10", network="ViT")
RESNET18 = replace(presets.PAPER_RESNET18, key="resnet18", label="ResNet18 on CIFAR-100")
PAPER_VIT = replace(RESNET18, key="vit", label="ViT on CIFAR-100", network="ViT")


def _four(setting: Setting, published: str, **base: Any) -> Setting:
    return replace(setting, base={**setting.base, **base, "models": 4}, published=published)


SCALES = {
    "tiny": Scale(
        (_four(presets.TINY_CNN, "ResNet18"), _four(TINY_VIT, "ViT", architecture=SMALL_VIT | {"patch": 2})),
        3,
        "The 1,797 digits that come with scikit-learn, as pictures; 4 networks of each kind a seed, 3 seeds: some "
        "minutes.",
    ),
    "small": Scale(
        (_four(presets.SMALL_RESNET20, "ResNet18"), _four(SMALLER_VIT, "ViT", architecture=SMALL_VIT)),
        3,
        "A part of CIFAR-10, 4 networks of each kind, 3 seeds: about an hour on two cores.",
    ),
    "paper": Scale(
        (
            _four(RESNET18, "ResNet18", dataset="cifar100"),
            _four(PAPER_VIT, "ViT", dataset="cifar100", architecture="vit"),
        ),
        3,
        "CIFAR-100 with ResNet18 and ViT, 100 epochs, 4 networks each, 3 seeds: some hours on one GPU.",
    ),
}

STUDY = Study(
    name="cwrf-entanglement",
    title="Are the weights that give members away those that accuracy needs, and are they few?",
    paper=presets.FANG_AND_KIM,
    scales=SCALES,
    measure=measured,
    columns=COLUMNS,
    claims=CLAIMS,
    published=PUBLISHED,
    draw=drawn,
    caution=(
        presets.LOST,
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
