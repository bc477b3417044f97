"""Does CWRF help a defense: each with and without it, under adaptive LiRA and RMIA, at matched accuracy?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
Table 3. Beside each row stands its control, which the paper lacks: the undefended network, stopped early where it is as
accurate. A recipe that costs accuracy looks private by that alone, so what is compared is how far each row lies below
its own control (`reticent.studies.matching`).
"""

from collections.abc import Iterator, Sequence

from reticent.findings.study import DotsPanel, Figure, Level
from reticent.options import Options
from reticent.rounding import fraction, percent
from reticent.studies import presets
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.cwrf_defenses.claims import CLAIMS, acts
from reticent.studies.cwrf_defenses.printed import NONE, PUBLISHED, WITH, titles
from reticent.studies.matching import controls, estimated
from reticent.studies.measured import Measured, Recipes, collect, measure_all
from reticent.studies.metrics import ATTACKS, METRICS, POINTS, columns


def _recipes(bench: Bench) -> Recipes:
    """List what is trained: by row, its defense and a word on it."""
    rate, rows = bench.options["rate"], dict[str, tuple[str | None, str]]()
    for title, name in titles(bench.options["defenses"]).items():
        alone = None if name == "none" else name
        rows[title] = (alone, "cross-entropy alone" if alone is None else name)
        joined = f"cwrf:rate={rate:g}" + ("" if alone is None else f"+{name}")
        rows[title + WITH] = (joined, joined)
    return rows


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    rows = measure_all(bench, _recipes(bench))
    matched = controls(bench, rows[0], rows[1:])
    alone = [row.name for row in rows[::2]]
    pairs = {f"CWRF on {name}": (name + WITH, name) for name in alone}
    pairs |= {acts(name): (name, NONE) for name in alone[1:]}
    found = collect([*rows, *matched.stopped], pairs)
    for metric in ("accuracy", *(f"auc_{attack}" for attack in ATTACKS)):
        # The undefended network, the first row, is its own control.
        excess = {row.name: matched.excess(row, metric) for row in rows[1:]}
        found.numbers |= {(name, f"excess_{metric}"): estimated(parts) for name, parts in excess.items()}
        for name in alone:
            parts = [*excess[name + WITH], *((-weight, part) for weight, part in excess.get(name, []))]
            key = "excess_accuracy" if metric == "accuracy" else metric
            found.numbers[f"CWRF on {name}, matched", key] = estimated(parts)
    if matched.stopped:
        found.notes.append(f"seed {bench.seed}: controls are {_listed(matched.stopped)}.")
    return found


def _listed(stopped: Sequence[Measured]) -> str:
    """List the early-stopped networks, of which each seed has its own, with what they reach."""
    return "; ".join(
        f"{one.name} ({percent(one.accuracy)}, LiRA AUC {fraction(one.measures['auc_lira'].observed.mean())})"
        for one in stopped
    )


BY_ATTACK = (("auc", ""), ("excess_auc", ""), ("tpr", "_0.01"), ("tpr", "_0.001"), ("zero", ""))
DRAWN = ("accuracy", "auc_lira", "auc_rmia", "excess_auc_lira")


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw each defense with and without CWRF, under both attacks, and the accuracies."""
    names = tuple(titles(setting.options["defenses"]))
    level = Level(label="as its control", value=0.0)
    panels = tuple(
        DotsPanel(
            title=METRICS[metric].label,
            x=METRICS[metric].label,
            names=names,
            series=tuple(
                results.points(setting, (name + suffix for name in names), metric, label)
                for label, suffix in (("alone", ""), ("with CWRF", WITH))
            ),
            levels=(level,) if metric.startswith("excess") else (),
            form=METRICS[metric].form,
        )
        for metric in DRAWN
    )
    yield Figure(name=setting.key, title=f"Defenses with and without CWRF, {setting.label}", panels=panels)


OPTIONS: Options = {"defenses": ("none", "relaxloss", "hamp", "ccl", "past"), "rate": 0.01, "fpr": 0.01}
FEWER = OPTIONS | {"defenses": ("none", "relaxloss", "ccl")}
A_PART: Options = {"architecture": "resnet18", "models": 8, "records": 4000, "reference": 1000, "epochs": 20}
STRICT = OPTIONS | {"fpr": 0.001}
SCALES = {
    "tiny": Scale(
        (presets.repaired(presets.TINY_LOCATION, FEWER),),
        1,
        "A part of Location30, 8 models a row, 1 seed: some minutes on two cores.",
    ),
    "small": Scale(
        (presets.repaired(presets.SMALL_LOCATION, OPTIONS), presets.repaired(presets.SMALL_CNN, FEWER)),
        3,
        "Location30 with 16 models a row, a part of CIFAR-10 with 8, 3 seeds: about an hour on two cores.",
    ),
    "gpu": Scale(
        (
            presets.repaired(
                Setting(
                    "cifar10",
                    "ResNet18 on 4,000 records of CIFAR-10",
                    presets.CIFAR_PAPER | A_PART,
                    network="ResNet",
                    unlike="2,000 pictures a model and 20 epochs",
                ),
                FEWER,
            ),
        ),
        1,
        "A part of CIFAR-10 with ResNet18, 20 epochs, 8 models a row, 1 seed: some minutes on one large GPU.",
    ),
    "paper": Scale(
        (
            presets.repaired(presets.PAPER_RESNET18, STRICT, key="resnet18"),
            presets.repaired(
                Setting("vit", "ViT on CIFAR-10", presets.CIFAR_PAPER | {"architecture": "vit"}, network="ViT"),
                STRICT | {"defenses": (*OPTIONS["defenses"], "dpsgd:epsilon=8")},
                published="ViT",
            ),
        ),
        3,
        "CIFAR-10 with ResNet18 and ViT, 100 epochs, 10 models a row, 3 seeds: some days on one GPU.",
    ),
}

STUDY = Study(
    name="cwrf-defenses",
    title="Does CWRF help a defense that it is joined to, under adaptive LiRA and RMIA, at matched accuracy?",
    paper=presets.FANG_AND_KIM,
    scales=SCALES,
    measure=measured,
    columns=columns(
        *("accuracy", "accuracy_members", "excess_accuracy"),
        *(f"{metric}_{attack}{rate}" for attack in ATTACKS for metric, rate in BY_ATTACK),
        "seconds",
    ),
    claims=CLAIMS,
    published=PUBLISHED,
    draw=drawn,
    caution=(
        presets.LOST,
        "r is CWRF's default, 1 %, and each defense has its authors' values for the data set where they give them, "
        "else its own defaults; nothing was searched, here or on other data. "
        "The paper chose r by a grid search, and does not say on which attack.",
        f"AUC is judged at matched accuracy, by early-stopped controls; {NONE.lower()} has none but itself. Where the "
        f"controls miss a row's accuracy by {100 * POINTS:g} points or more, or may do so, its AUC is not judged.",
    ),
)
