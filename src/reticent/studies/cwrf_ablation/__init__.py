"""Is it right to rewind the vulnerable weights and train the others, and does it matter which weights those are?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
section 4.4, its figure of A1, A2 and A3 and Table 2. The controls are not the paper's: other masks of the same size, a
new draw in place of the initial values, fine-tuning without rewinding, and RelaxLoss alone for as many epochs as the
fine-tuning has, and for as many as both trainings.
"""

from collections.abc import Iterator
from dataclasses import replace

from reticent.findings.study import Figure
from reticent.studies import cwrf_shared, presets
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.cwrf_ablation.claims import CLAIMS
from reticent.studies.cwrf_ablation.rows import (
    CHOSEN,
    CONTROLS,
    LENGTHS,
    NO_REWINDING,
    PUBLISHED,
    SCRATCH,
    VARIANTS,
    named,
)
from reticent.studies.cwrf_shared import CHOSEN_BY, Chosen, acts
from reticent.studies.excess import NONE, UNDEFENDED
from reticent.studies.measured import Pairs, Recipe, Recipes, measure_all
from reticent.studies.metrics import METRICS, columns, dots, lines


def _rows(bench: Bench, chosen: Chosen) -> Recipes:
    rate, tuned = chosen.rates[CHOSEN_BY], chosen.tuning_epochs
    made = {NONE: UNDEFENDED, SCRATCH: Recipe(chosen.relaxloss, "RelaxLoss alone")}
    for one in bench.options["rates"]:
        for variant, (how, what) in VARIANTS.items():
            made[named(variant, one)] = Recipe(chosen.joined(CHOSEN_BY, how, rate=one), what)
    for name, (how, what) in CONTROLS.items():
        made[name] = Recipe(chosen.joined(CHOSEN_BY, how), f"{what}; r = {100 * rate:g} %")
    made[NO_REWINDING] = Recipe(chosen.joined(CHOSEN_BY, rate=0), "fine-tuned as long, nothing rewound or held")
    for name, epochs in zip(LENGTHS, (tuned, bench.setting.base["epochs"] + tuned), strict=True):
        made[name] = Recipe(chosen.relaxloss, f"RelaxLoss alone, {epochs} epochs", epochs)
    return made


def _pairs(bench: Bench) -> tuple[Pairs, Pairs]:
    """Name the differences that claims ask for: as they are, and of what lies beyond each row's own control."""
    made = {acts(SCRATCH): (SCRATCH, NONE)}
    for rate in bench.options["rates"]:
        rows = {variant: named(variant, rate) for variant in VARIANTS} | {"scratch": SCRATCH}
        for first, second in (("A3", "A2"), ("A2", "A1"), ("A3", "A1"), ("scratch", "A1"), ("A3", "scratch")):
            made[named(f"{first} - {second}", rate)] = rows[first], rows[second]
    return made, {f"A3 - {name}": (CHOSEN, name) for name in (*CONTROLS, NO_REWINDING, *LENGTHS)}


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    chosen = cwrf_shared.choose(bench, (CHOSEN_BY,))
    rows = measure_all(bench, _rows(bench, chosen))
    rate = chosen.rates[CHOSEN_BY]
    same = next(row for row in rows if row.name == named("A3", rate))
    rows.append(replace(same, name=CHOSEN, about=f"A3 at the r that pilots chose, {100 * rate:g} %"))
    return cwrf_shared.concluded(bench, chosen, rows, *_pairs(bench))


DRAWN = ("accuracy", "loss_members", "loss", "auc_lira", "accuracy_rewound")


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy, losses and leak over r, and the controls."""
    names = (CHOSEN, *CONTROLS, NO_REWINDING, *LENGTHS, SCRATCH)
    series = {variant: [(rate, named(variant, rate)) for rate in setting.options["rates"]] for variant in VARIANTS}
    levels, x = (SCRATCH, NO_REWINDING), "share of weights rewound, r"
    over_r = (
        lines(results, setting, metric, x, series, title=METRICS[metric].label, levels=levels, log_x=True)
        for metric in DRAWN
    )
    of_a3 = (
        dots(results, setting, names, metric, f"{METRICS[metric].label}, A3 and controls")
        for metric in ("auc_lira", "excess_auc_lira", "excess_auc_learned")
    )
    yield Figure(name=setting.key, title=f"A1, A2 and A3 over r, {setting.label}", panels=(*over_r, *of_a3))


SCALES = {
    "tiny": Scale(
        (presets.repaired(presets.CWRF_TINY, presets.TINY_REPAIRS, published="ResNet18"),),
        1,
        "A part of Location30, 8 models a row, 1 seed: some minutes on two cores.",
    ),
    "small": Scale(
        (
            presets.repaired(presets.CWRF_LOCATION, presets.REPAIRS, published="ResNet18"),
            presets.repaired(presets.CWRF_FITTED_CNN, presets.FEW_REPAIRS, published="ResNet18"),
        ),
        3,
        "Location30 and a part of CIFAR-10, 8 models a row, 3 seeds: some hours on two cores.",
    ),
    "gpu": Scale(
        (presets.repaired(presets.CWRF_GPU, presets.SHORT_REPAIRS, published="ResNet18"),),
        1,
        "A part of CIFAR-10 with ResNet18, 40 epochs, 8 models a row, 1 seed: for one large GPU.",
    ),
    "paper": Scale(
        (presets.repaired(presets.PAPER_RESNET18, presets.REPAIRS, published="ResNet18"),),
        3,
        "CIFAR-10 with ResNet18, 100 epochs and the chosen length of fine-tuning, 10 models a row, 3 seeds: some days "
        "on one GPU.",
    ),
}
STUDY = Study(
    name="cwrf-ablation",
    title="Should the vulnerable weights be removed, trained, or rewound and held, and does it matter which they are?",
    paper=presets.FANG_AND_KIM,
    scales=SCALES,
    measure=measured,
    columns=columns(
        *("accuracy", "excess_accuracy", "loss_members", "loss", "gap", "accuracy_rewound", "entropy_initial"),
        *("auc_lira", "excess_auc_lira", "tpr_lira_0.01", "auc_rmia", "excess_auc_rmia"),
        *("auc_learned", "excess_auc_learned", "seconds"),
    ),
    claims=CLAIMS,
    published=(PUBLISHED,),
    draw=drawn,
    caution=(
        presets.LOST,
        "The length of the fine-tuning and the r of the controls are chosen on pilots; a note says how.",
    ),
)
