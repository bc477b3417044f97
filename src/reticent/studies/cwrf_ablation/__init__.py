"""Is it right to rewind the vulnerable weights and train the others, and does it matter which weights those are?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
section 4.4, its figure of A1, A2 and A3 and Table 2. The controls are not the paper's: other masks of the same size, a
new draw in place of the initial values, and fine-tuning without rewinding.
"""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

from reticent.findings.study import AnyPanel, Column, DotsPanel, Figure, Form, Level, LinesPanel, Points
from reticent.studies import presets
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.cwrf_ablation.claims import CLAIMS
from reticent.studies.cwrf_ablation.pruning import PRUNED, pruned
from reticent.studies.cwrf_ablation.rows import CONTROLS, NO_REWINDING, PUBLISHED, SCRATCH, VARIANTS, named
from reticent.studies.measured import Measured, Pairs, Recipes, collect, measure_all

ABOUT = {
    "A1": "vulnerable weights held at zero, the others trained",
    "A2": "vulnerable weights rewound and trained, the others held",
    "A3": "CWRF: vulnerable weights rewound and held, the others trained",
}


def _defense(options: str) -> str:
    return f"cwrf:{options}+relaxloss"


def _recipes(bench: Bench) -> Recipes:
    """List what is trained: by row, its defense and a word on it."""
    rate = bench.options["rate"]
    rows: dict[str, tuple[str | None, str]] = {SCRATCH: ("relaxloss", "RelaxLoss alone")}
    for one in bench.options["rates"]:
        for variant, option in VARIANTS.items():
            rows[named(variant, one)] = (_defense(f"rate={one},variant={option}"), ABOUT[variant])
    for name, (option, about) in CONTROLS.items():
        rows[name] = (_defense(f"rate={rate},{option}"), f"{about}; r = {100 * rate:g} %")
    rows[NO_REWINDING] = (_defense("rate=0"), "fine-tuned as long, nothing rewound or held")
    return rows


def _pairs(bench: Bench) -> Pairs:
    """Name the differences that claims and the page ask for."""
    made: dict[str, tuple[str, str]] = {}
    for rate in bench.options["rates"]:
        one, two, three = (named(variant, rate) for variant in VARIANTS)
        made |= {f"A3 - A2, {rate:g}": (three, two), f"A2 - A1, {rate:g}": (two, one)}
        made |= {f"A1 - scratch, {rate:g}": (one, SCRATCH), f"A3 - scratch, {rate:g}": (three, SCRATCH)}
    ours = named("A3", bench.options["rate"])
    return made | {f"A3 - {name}": (ours, name) for name in (*CONTROLS, NO_REWINDING)}


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    rows = measure_all(bench, _recipes(bench))
    found = collect(rows, _pairs(bench))
    found.rows |= {one.name: f"{one.about}; rewound: {counts}" for one in rows if (counts := _counts(one))}
    if bench.options.get("located"):
        pruned(bench, found)
    return found


def _counts(row: Measured) -> str:
    """Count what was rewound of each kind of layer, on average over models: a mask is a choice of kinds, too."""
    each = [one.cwrf.kinds for one in row.facts if one.cwrf is not None]
    if not any(kind.rewound for one in each for kind in one.values()):
        return ""
    return ", ".join(
        f"{fmean(one[kind].rewound for one in each):,.0f} of {total.weights:,} {kind}"
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

PANELS: tuple[tuple[str, str, Form], ...] = (
    ("accuracy", "Accuracy on non-members", "share"),
    ("loss_members", "Loss of members", "number"),
    ("loss", "Loss of non-members", "number"),
    ("auc_lira", "LiRA AUC", "number"),
)


def _lines(results: Results, setting: Setting, metric: str, title: str, form: Form) -> LinesPanel:
    rates = tuple(setting.options["rates"])
    known = {name: results.get(setting.key, name, metric) for name in (SCRATCH, NO_REWINDING)}
    return LinesPanel(
        title=title,
        x="share of weights rewound, r",
        y=title,
        log_x=True,
        form=form,
        series=tuple(
            Points(
                label=variant,
                x=rates,
                estimates=results.drawn(setting.key, (named(variant, rate) for rate in rates), metric),
            )
            for variant in VARIANTS
        ),
        levels=tuple(Level(label=name.lower(), value=one.value) for name, one in known.items() if one is not None),
    )


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy, losses and leak over r, and the controls."""
    names = (named("A3", setting.options["rate"]), *CONTROLS, NO_REWINDING, SCRATCH)
    masks = DotsPanel(
        title="LiRA AUC with other masks and values",
        x="AUC of LiRA",
        names=names,
        series=(Points(estimates=results.drawn(setting.key, names, "auc_lira")),),
    )
    panels: list[AnyPanel] = [*(_lines(results, setting, *panel) for panel in PANELS), masks]
    yield Figure(name=setting.key, title=f"A1, A2 and A3 over r, {setting.label}", panels=tuple(panels))


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
