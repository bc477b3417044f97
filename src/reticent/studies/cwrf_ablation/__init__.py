"""Is it right to rewind the vulnerable weights and train the others, and does it matter which weights those are?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
section 4.4, its figure of A1, A2 and A3 and Table 2. The controls are not the paper's: other masks of the same size, a
new draw in place of the initial values, and fine-tuning without rewinding.
"""

from collections.abc import Iterator
from statistics import fmean

from reticent.findings.study import AnyPanel, DotsPanel, Figure, LinesPanel
from reticent.options import Options
from reticent.studies import presets
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.cwrf_ablation.claims import CLAIMS
from reticent.studies.cwrf_ablation.pruning import PRUNED, pruned
from reticent.studies.cwrf_ablation.rows import CONTROLS, NO_REWINDING, PUBLISHED, SCRATCH, VARIANTS, named
from reticent.studies.measured import Measured, Pairs, Recipes, collect, measure_all
from reticent.studies.metrics import METRICS, columns


def _recipes(bench: Bench) -> Recipes:
    """List what is trained: by row, its defense and a word on it."""
    rate = bench.options["rate"]
    made = {
        named(variant, one): (f"rate={one},{how}", what)
        for one in bench.options["rates"]
        for variant, (how, what) in VARIANTS.items()
    }
    made |= {name: (f"rate={rate},{how}", f"{what}; r = {100 * rate:g} %") for name, (how, what) in CONTROLS.items()}
    made[NO_REWINDING] = "rate=0", "fine-tuned as long, nothing rewound or held"
    rows = {name: (f"cwrf:{how}+relaxloss", about) for name, (how, about) in made.items()}
    return {SCRATCH: ("relaxloss", "RelaxLoss alone"), **rows}


def _pairs(bench: Bench) -> Pairs:
    """Name the differences that claims and the page ask for."""
    made: dict[str, tuple[str, str]] = {}
    for rate in bench.options["rates"]:
        rows = {variant: named(variant, rate) for variant in VARIANTS} | {"scratch": SCRATCH}
        for first, second in (("A3", "A2"), ("A2", "A1"), ("A1", "scratch"), ("A3", "scratch")):
            made[named(f"{first} - {second}", rate)] = rows[first], rows[second]
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
    each = [one.facts.cwrf.kinds for one in row.made if one.facts.cwrf is not None]
    if not any(kind.rewound for one in each for kind in one.values()):
        return ""
    return ", ".join(
        f"{fmean(one[kind].rewound for one in each):,.0f} of {total.weights:,} {kind}"
        for kind, total in each[0].items()
    )


DRAWN = ("accuracy", "loss_members", "loss", "auc_lira")


def _lines(results: Results, setting: Setting, metric: str) -> LinesPanel:
    rates, known = tuple(setting.options["rates"]), METRICS[metric]
    rows = {variant: [named(variant, rate) for rate in rates] for variant in VARIANTS}
    return LinesPanel(
        title=known.label,
        x="share of weights rewound, r",
        y=known.label,
        log_x=True,
        form=known.form,
        series=tuple(results.points(setting, names, metric, variant, rates) for variant, names in rows.items()),
        levels=results.levels(setting, (SCRATCH, NO_REWINDING), metric),
    )


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy, losses and leak over r, and the controls."""
    names = (named("A3", setting.options["rate"]), *CONTROLS, NO_REWINDING, SCRATCH)
    masks = DotsPanel(
        title="LiRA AUC with other masks and values",
        x="AUC of LiRA",
        names=names,
        series=(results.points(setting, names, "auc_lira"),),
    )
    panels: list[AnyPanel] = [*(_lines(results, setting, metric) for metric in DRAWN), masks]
    yield Figure(name=setting.key, title=f"A1, A2 and A3 over r, {setting.label}", panels=tuple(panels))


OPTIONS: Options = {"rates": (0.001, 0.01, 0.03, 0.05), "rate": 0.01, "fpr": 0.01, "located": 4}
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
    columns=columns("accuracy", "loss_members", "loss", "gap", "auc_lira", "tpr_lira_0.01", "auc_rmia", "seconds"),
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
