"""Does CWRF help a defense: each with and without it, beside the controls that would explain a gain otherwise?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
Table 3 and Fig. 5. What the paper lacks: the undefended network stopped early where it is as accurate as a row, below
which each row's leak is counted (`reticent.studies.matching`); CWRF without rewinding and with a mask by chance; and
the same defense alone for as many epochs as the fine-tuning has, and for as many as CWRF has in all.
"""

import math
from collections.abc import Iterator

import numpy as np

from reticent.findings.study import Figure
from reticent.options import Options
from reticent.studies import cwrf_shared, presets
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.cwrf_defenses.claims import CLAIMS, against, alone, matched
from reticent.studies.cwrf_defenses.printed import CONTROLS, PUBLISHED, WITH, titles
from reticent.studies.cwrf_shared import BY_CHANCE, Chosen, acts
from reticent.studies.excess import NONE, UNDEFENDED
from reticent.studies.measured import Measured, Pairs, Recipe, Recipes, measure_all
from reticent.studies.metrics import ATTACKS, POINTS, columns, dots
from reticent.studies.numbers import Estimate


def _rows(bench: Bench, chosen: Chosen) -> Recipes:
    tuned, controlled, made = chosen.tuning_epochs, bench.options["controls"], Recipes()
    for title, name in titles(bench.options["defenses"]).items():
        alone = UNDEFENDED if name == "none" else Recipe(chosen.named(name), chosen.named(name))
        joined = {WITH: chosen.joined(name)}
        lengths = {"shorter": tuned}
        if controlled:
            joined[CONTROLS["r = 0"]] = chosen.joined(name, rate=0)
            joined[CONTROLS["by chance"]] = chosen.joined(name, BY_CHANCE)
            lengths["longer"] = bench.setting.base["epochs"] + tuned
        made[title] = alone
        made |= {title + suffix: Recipe(defense, defense) for suffix, defense in joined.items()}
        for length, epochs in lengths.items():
            made[title + CONTROLS[length]] = Recipe(alone.defense, f"{alone.about}, {epochs} epochs", epochs)
    return made


def _pairs(bench: Bench) -> tuple[Pairs, Pairs]:
    """Name the differences that claims ask for: as they are, and of what lies beyond each row's own control."""
    names = list(titles(bench.options["defenses"]))
    plain = {alone(name): (name + WITH, name) for name in names} | {acts(name): (name, NONE) for name in names[1:]}
    kept = CONTROLS if bench.options["controls"] else {"shorter": CONTROLS["shorter"]}
    made = {matched(name): (name + WITH, name) for name in names}
    made |= {against(name, one): (name + WITH, name + suffix) for name in names for one, suffix in kept.items()}
    return plain, made


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    chosen = cwrf_shared.choose(bench, bench.options["defenses"])
    rows = measure_all(bench, _rows(bench, chosen))
    plain, even = _pairs(bench)
    found = cwrf_shared.concluded(bench, chosen, rows, plain, even)
    by_name = {row.name: _spread(row) for row in rows}
    found.numbers |= {(name, "spread"): Estimate(value) for name, value in by_name.items()}
    for pair, (first, second) in plain.items():
        if by_name[first] and by_name[second]:
            found.numbers[pair, "spread"] = Estimate(math.log(by_name[first] / by_name[second]))
    return found


def _spread(row: Measured) -> float:
    return float(np.std(row.measures["accuracy"].observed, ddof=1))


BY_ATTACK = (("auc", ""), ("excess_auc", ""), ("tpr", "_0.01"), ("tpr", "_0.001"), ("zero", ""))
DRAWN = ("accuracy", "auc_lira", "auc_rmia", "excess_auc_lira", "excess_auc_learned")
SERIES = {"alone": "", "with CWRF": WITH, "alone, as long as the fine-tuning": CONTROLS["shorter"]}


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw each defense with and without CWRF, and for the length of its fine-tuning."""
    names = tuple(titles(setting.options["defenses"]))
    panels = tuple(dots(results, setting, names, metric, series=SERIES) for metric in DRAWN)
    yield Figure(name=setting.key, title=f"Defenses with and without CWRF, {setting.label}", panels=panels)


MAIN: Options = {"defenses": ("none", "relaxloss"), "controls": True}
ALL: Options = MAIN | {"defenses": (*MAIN["defenses"], "hamp", "ccl", "past")}
STRICT = ALL | presets.REPAIRS | {"fpr": 0.001}
GPU = MAIN | {"defenses": (*MAIN["defenses"], "hamp")} | presets.SHORT_REPAIRS
PRIVATE = "dpsgd:epsilon=8"
SCALES = {
    "tiny": Scale(
        (presets.repaired(presets.CWRF_TINY, MAIN | presets.TINY_REPAIRS),),
        1,
        "A part of Location30, 8 models a row, 1 seed: some minutes on two cores.",
    ),
    "small": Scale(
        (
            presets.repaired(presets.CWRF_LOCATION, ALL | presets.REPAIRS),
            presets.repaired(presets.CWRF_FITTED_CNN, MAIN | {"controls": False} | presets.REPAIRS | presets.LEVELS),
        ),
        3,
        "Location30 with all rows and a part of CIFAR-10 with the main ones, 8 models a row, 3 seeds: some hours on "
        "two cores.",
    ),
    "gpu": Scale(
        (
            presets.repaired(presets.CWRF_GPU, GPU, published="ResNet18"),
            presets.repaired(presets.CWRF_GPU_VIT, GPU | {"defenses": ("none", PRIVATE)}, published="ViT"),
        ),
        1,
        "A part of CIFAR-10 with ResNet18 and a small ViT, 40 epochs, 8 models a row, 1 seed: for one large GPU.",
    ),
    "paper": Scale(
        (
            presets.repaired(presets.PAPER_RESNET18, STRICT, published="ResNet18"),
            presets.repaired(presets.PAPER_VIT, STRICT | {"defenses": (*ALL["defenses"], PRIVATE)}, published="ViT"),
            presets.repaired(presets.PAPER_CIFAR100, STRICT),
            presets.repaired(presets.PAPER_CINIC10, STRICT),
        ),
        3,
        "CIFAR-10 with ResNet18 and ViT, CIFAR-100 and CINIC-10 with ResNet18, 100 epochs, 10 models a row, 3 seeds: "
        "weeks on one GPU.",
    ),
}

STUDY = Study(
    name="cwrf-defenses",
    title="Does CWRF help a defense that it is joined to, and more than the same defense trained for less time?",
    paper=presets.FANG_AND_KIM,
    scales=SCALES,
    measure=measured,
    columns=columns(
        *("accuracy", "spread", "accuracy_members", "loss_members", "excess_accuracy"),
        *(f"{metric}_{attack}{rate}" for attack in ATTACKS for metric, rate in BY_ATTACK),
        *("auc_learned", "excess_auc_learned", "tpr_learned_0.01"),
        *("entropy_initial", "accuracy_rewound", "seconds"),
    ),
    claims=CLAIMS,
    published=PUBLISHED,
    draw=drawn,
    caution=(
        presets.LOST,
        "Each defense has its authors' values for the data set where they give them, else its own defaults; of "
        "RelaxLoss the level is chosen where a note says so. HAMP's loss is a mean over records, and its alpha that of "
        "the authors times the number of classes C: C times the loss that the paper's official code has, which under "
        "Adam moves the weights alike but for weight decay, of C times less effect.",
        "The paper chose r by a grid search, and says neither over which rates nor on which attack. Here pilots choose "
        "it of the rates of Table 2, by LiRA beyond an undefended network of the row's accuracy; the paper's claims "
        "are judged by AUCs as they are, and RMIA at the same r.",
        f"What is beyond a row's accuracy is judged by early-stopped controls; {NONE.lower()} has none but itself. "
        f"Where the controls miss a row's accuracy by {100 * POINTS:g} points or more, or may do so, it is not judged.",
    ),
)
