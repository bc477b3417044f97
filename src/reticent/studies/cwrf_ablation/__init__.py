"""Is it right to rewind the vulnerable weights and train the others, and does it matter which weights those are?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
section 4.4, its figure of A1, A2 and A3 and Table 2. The controls are not the paper's: other masks of the same size, a
new draw in place of the initial values, and fine-tuning without rewinding.
"""

from statistics import fmean
from typing import Any

from reticent.findings.study import Column
from reticent.studies import presets
from reticent.studies.base import Bench, Found, Scale, Study
from reticent.studies.cwrf_ablation.claims import CLAIMS
from reticent.studies.cwrf_ablation.figures import drawn
from reticent.studies.cwrf_ablation.pruning import PRUNED, pruned
from reticent.studies.cwrf_ablation.rows import CONTROLS, NO_REWINDING, PUBLISHED, SCRATCH, VARIANTS, named
from reticent.studies.measured import Contrast, Measured, collect, measure

ABOUT = {
    "A1": "vulnerable weights held at zero, the others trained",
    "A2": "vulnerable weights rewound and trained, the others held",
    "A3": "CWRF: vulnerable weights rewound and held, the others trained",
}


def _defense(options: str) -> str:
    return f"cwrf:{options}+relaxloss"


def _recipes(bench: Bench) -> dict[str, tuple[str, str]]:
    """List what is trained: by row, its defense and a word on it."""
    rate = bench.options["rate"]
    rows = {SCRATCH: ("relaxloss", "RelaxLoss alone")}
    for one in bench.options["rates"]:
        for variant, option in VARIANTS.items():
            rows[named(variant, one)] = (_defense(f"rate={one},variant={option}"), ABOUT[variant])
    for name, (option, about) in CONTROLS.items():
        rows[name] = (_defense(f"rate={rate},{option}"), f"{about}; r = {100 * rate:g} %")
    rows[NO_REWINDING] = (_defense("rate=0"), "fine-tuned as long, nothing rewound or held")
    return rows


def _contrasts(bench: Bench) -> dict[str, Contrast]:
    """Name the differences that claims and the page ask for."""
    made: dict[str, Contrast] = {}
    for rate in bench.options["rates"]:
        for first, second in (("A3", "A2"), ("A2", "A1")):
            made[f"{first} - {second}, {rate:g}"] = {named(first, rate): 1.0, named(second, rate): -1.0}
        made[f"A1 - scratch, {rate:g}"] = {named("A1", rate): 1.0, SCRATCH: -1.0}
        made[f"A3 - scratch, {rate:g}"] = {named("A3", rate): 1.0, SCRATCH: -1.0}
    ours = named("A3", bench.options["rate"])
    made |= {f"A3 - {name}": {ours: 1.0, name: -1.0} for name in (*CONTROLS, NO_REWINDING)}
    return made


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    recipes = _recipes(bench)
    jobs = {name: bench.job(defense) for name, (defense, _) in recipes.items()}
    rows = [measure(bench, name, job, recipes[name][1]) for name, job in jobs.items()]
    found = collect(rows, _contrasts(bench))
    found.rows |= {one.name: f"{one.about}; rewound: {counts}" for one in rows if (counts := _counts(one))}
    if bench.options.get("located"):
        pruned(bench, found)
    return found


def _counts(row: Measured) -> str:
    """Count what was rewound of each kind of layer, on average over models: a mask is a choice of kinds, too."""
    each = [one["cwrf"]["kinds"] for one in row.facts if "cwrf" in one]
    if not any(kind["rewound"] for one in each for kind in one.values()):
        return ""
    return ", ".join(
        f"{fmean(one[kind]['rewound'] for one in each):,.0f} of {total['weights']:,} {kind}"
        for kind, total in each[0].items()
    )


COLUMNS = (
    Column(key="accuracy", label="Accuracy, non-members", form="share"),
    Column(key="loss_members", label="Loss, members"),
    Column(key="loss", label="Loss, non-members"),
    Column(key="gap", label="Loss gap"),
    Column(key="auc_lira", label="LiRA AUC"),
    Column(key="tpr_lira_0.01", label="LiRA TPR at 1 %", form="share"),
    Column(key="auc_rmia", label="RMIA AUC"),
    Column(key="seconds", label="Seconds a model", form="seconds"),
)

OPTIONS: dict[str, Any] = {"rates": (0.001, 0.01, 0.03, 0.05), "rate": 0.01, "fpr": 0.01, "located": 4}
FEWER = OPTIONS | {"rates": (0.01, 0.05)}
SCALES = {
    "tiny": Scale(
        (presets.repaired(presets.TINY_LOCATION, FEWER),),
        1,
        "A part of Location30, 8 models a row, 1 seed: some minutes on two cores.",
    ),
    "small": Scale(
        (presets.repaired(presets.SMALL_LOCATION, OPTIONS), presets.repaired(presets.SMALL_CNN, FEWER)),
        3,
        "Location30 with 16 models a row and a part of CIFAR-10 with 8, 3 seeds: about an hour on two cores.",
    ),
    "paper": Scale(
        (presets.repaired(presets.PAPER_RESNET18, OPTIONS),),
        3,
        "CIFAR-10 with ResNet18, 100 epochs and 50 of fine-tuning, 10 models a row, 3 seeds: a day on one GPU.",
    ),
}
STUDY = Study(
    name="cwrf-ablation",
    title="Should the vulnerable weights be removed, trained, or rewound and held, and does it matter which they are?",
    paper=presets.FANG_AND_KIM,
    scales=SCALES,
    measure=measured,
    columns=COLUMNS,
    claims=CLAIMS,
    published=(PUBLISHED,),
    draw=drawn,
    caution=(
        presets.LOST,
        "r of the controls is CWRF's default, 1 %; it was not searched, here or on other data.",
        f"M1, M2, M3 and the control are judged by accuracy on {OPTIONS['located']} models a seed; {100 * PRUNED:g} % "
        "are pruned by learnability, which the paper does not say.",
    ),
)
