"""Does CWRF help a defense: each with and without it, under adaptive LiRA and RMIA, at matched accuracy?

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
Table 3. Beside each row stands its control, which the paper lacks: the undefended network, stopped early where it is as
accurate. A recipe that costs accuracy looks private by that alone, so what is compared is how far each row lies below
its own control (`reticent.studies.matching`).
"""

from collections.abc import Sequence
from typing import Any

from reticent.rounding import fraction, percent
from reticent.studies.cwrf_defenses.claims import ATTACKS, POINTS, acts, claims
from reticent.studies.cwrf_defenses.printed import NONE, PUBLISHED, TITLES, WITH
from reticent.studies.base import Column, Found, Plain, Results, Scale, Setting, Study
from reticent.studies.bench import Bench
from reticent.studies.matching import controls, missing
from reticent.studies.measured import Measured, collect, measure
from reticent.studies.numbers import combined
from reticent.studies.presets import CIFAR_PAPER, CIFAR_SMALL, HALF, LOCATION, LOST, UNLIKE_SMALL, UNLIKE_TABLE


def _recipes(bench: Bench) -> dict[str, tuple[str | None, str]]:
    """List what is trained: by row, its defense and a word on it."""
    rate, rows = bench.options["rate"], dict[str, tuple[str | None, str]]()
    for name in bench.options["defenses"]:
        plain = None if name == "none" else name
        rows[TITLES[name.partition(":")[0]]] = (plain, "cross-entropy alone" if plain is None else name)
        joined = f"cwrf:rate={rate:g}" + ("" if plain is None else f"+{name}")
        rows[TITLES[name.partition(":")[0]] + WITH] = (joined, joined)
    return rows


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    recipes = _recipes(bench)
    jobs = {name: bench.job(defense) for name, (defense, _) in recipes.items()}
    rows: list[Measured] = [measure(bench, name, job, recipes[name][1]) for name, job in jobs.items()]
    matched = controls(bench, rows[0], rows[1:])
    joined = {row.name: {row.name + WITH: 1.0, row.name: -1.0} for row in rows[::2]}
    contrasts = {f"CWRF on {name}": weights for name, weights in joined.items()}
    contrasts |= {acts(row.name): {row.name: 1.0, NONE: -1.0} for row in rows[2::2]}
    found = collect([*rows, *matched.stopped], contrasts)
    missed = {row.name: matched.missed(row) for row in rows[1:]}
    found.numbers |= {(name, "excess_accuracy"): missing(parts) for name, parts in missed.items()}
    for name in joined:
        parts = [*missed[name + WITH], *((-weight, part) for weight, part in missed.get(name, []))]
        found.numbers[f"CWRF on {name}, matched", "excess_accuracy"] = missing(parts)
    for attack in ATTACKS:
        metric = f"auc_{attack}"
        beside = {row.name: matched.beside(row, metric) for row in rows[1:]}
        for name, parts in beside.items():
            found.numbers[name, f"excess_{metric}"] = combined(parts)
        for name in joined:
            # The undefended network is its own control.
            without = [(-weight, part) for weight, part in beside.get(name, [])]
            found.numbers[f"CWRF on {name}, matched", metric] = combined([*beside[name + WITH], *without])
    if matched.stopped:
        found.notes.append(f"seed {bench.seed}: controls are {_listed(matched.stopped)}.")
    return found


def _listed(stopped: Sequence[Measured]) -> str:
    """List the early-stopped networks, of which each seed has its own, with what they reach."""
    return "; ".join(
        f"{one.name} ({percent(one.accuracy)}, LiRA AUC {fraction(one.measures['auc_lira'].observed.mean())})"
        for one in stopped
    )


COLUMNS = (
    Column("accuracy", "Accuracy, non-members", "share"),
    Column("accuracy_members", "Accuracy, members", "share"),
    Column("excess_accuracy", "Accuracy that its control misses", "points"),
    Column("auc_lira", "LiRA AUC"),
    Column("excess_auc_lira", "LiRA AUC less its control's", "difference"),
    Column("tpr_lira_0.01", "LiRA TPR at 1 %", "share"),
    Column("tpr_lira_0.001", "LiRA TPR at 0.1 %", "small share"),
    Column("zero_lira", "LiRA TPR at 0.001 %", "small share"),
    Column("auc_rmia", "RMIA AUC"),
    Column("excess_auc_rmia", "RMIA AUC less its control's", "difference"),
    Column("tpr_rmia_0.01", "RMIA TPR at 1 %", "share"),
    Column("tpr_rmia_0.001", "RMIA TPR at 0.1 %", "small share"),
    Column("zero_rmia", "RMIA TPR at 0.001 %", "small share"),
    Column("seconds", "Seconds a model", "seconds"),
)


def drawn(results: Results) -> list[Plain]:
    """Draw each defense with and without CWRF, under both attacks, and the accuracies."""
    figures: list[Plain] = []
    for one in results.settings:
        names = [TITLES[name.partition(":")[0]] for name in one.options["defenses"]]
        panels = []
        for metric, title, form in (
            ("accuracy", "Accuracy on non-members", "share"),
            ("auc_lira", "LiRA AUC", "number"),
            ("auc_rmia", "RMIA AUC", "number"),
            ("excess_auc_lira", "LiRA AUC less that of its control", "number"),
        ):
            series = []
            for label, suffix in (("alone", ""), ("with CWRF", WITH)):
                numbers = [results.get(one.key, name + suffix, metric) for name in names]
                plain = [None if number is None else number.to_json() for number in numbers]
                series.append({"label": label, "estimates": plain})
            levels = [{"label": "as its control", "value": 0.0}] if metric.startswith("excess") else []
            panels.append({
                "kind": "dots",
                "title": title,
                "x": title,
                "names": names,
                "series": series,
                "levels": levels,
                "form": form,
            })
        figures.append({"name": one.key, "title": f"Defenses with and without CWRF, {one.label}", "panels": panels})
    return figures


ALL = ("none", "relaxloss", "hamp", "ccl", "past")
OPTIONS: dict[str, Any] = {"defenses": ALL, "rate": 0.01, "fpr": 0.01}
SCALES = {
    "tiny": Scale(
        (
            Setting(
                "location30",
                "MLP on 2,000 records of Location30",
                LOCATION | {"models": 8, "records": 2000},
                OPTIONS | {"defenses": ("none", "relaxloss", "ccl")},
                "ResNet18",
                "MLP",
                f"{UNLIKE_TABLE}; {HALF}",
            ),
        ),
        1,
        "A part of Location30, 8 models a row, 1 seed: some minutes on two cores.",
    ),
    "small": Scale(
        (
            Setting(
                "location30",
                "MLP on Location30",
                LOCATION | {"models": 16},
                OPTIONS,
                "ResNet18",
                "MLP",
                f"{UNLIKE_TABLE}; {HALF}",
            ),
            Setting(
                "cifar10",
                "CNN on 1,200 records of CIFAR-10",
                CIFAR_SMALL | {"models": 8},
                OPTIONS | {"defenses": ("none", "relaxloss", "ccl")},
                "ResNet18",
                "CNN",
                f"{UNLIKE_SMALL}; {HALF}",
            ),
        ),
        3,
        "Location30 with 16 models a row, a part of CIFAR-10 with 8, 3 seeds: about an hour on two cores.",
    ),
    "gpu": Scale(
        (
            Setting(
                "cifar10",
                "ResNet18 on 4,000 records of CIFAR-10",
                CIFAR_PAPER
                | {"architecture": "resnet18", "models": 8, "records": 4000, "reference": 1000, "epochs": 20},
                OPTIONS | {"defenses": ("none", "relaxloss", "ccl")},
                "ResNet18",
                "ResNet",
                f"2,000 pictures a model and 20 epochs; {HALF}",
            ),
        ),
        1,
        "A part of CIFAR-10 with ResNet18, 20 epochs, 8 models a row, 1 seed: some minutes on one large GPU.",
    ),
    "paper": Scale(
        (
            Setting(
                "resnet18",
                "ResNet18 on CIFAR-10",
                CIFAR_PAPER | {"architecture": "resnet18"},
                OPTIONS | {"fpr": 0.001},
                "ResNet18",
                "ResNet",
                HALF,
            ),
            Setting(
                "vit",
                "ViT on CIFAR-10",
                CIFAR_PAPER | {"architecture": "vit"},
                OPTIONS | {"fpr": 0.001, "defenses": (*ALL, "dpsgd:epsilon=8")},
                "ViT",
                "ViT",
                HALF,
            ),
        ),
        3,
        "CIFAR-10 with ResNet18 and ViT, 100 epochs, 10 models a row, 3 seeds: some days on one GPU.",
    ),
}

STUDY = Study(
    name="cwrf-defenses",
    title="Does CWRF help a defense that it is joined to, under adaptive LiRA and RMIA, at matched accuracy?",
    paper="Fang and Kim (2026), Learnability and privacy vulnerability are entangled in a few critical weights, ICLR.",
    scales=SCALES,
    measure=measured,
    columns=COLUMNS,
    claims=claims(),
    published=PUBLISHED,
    draw=drawn,
    caution=(
        LOST,
        "r is CWRF's default, 1 %, and each defense has its authors' values for the data set where they give them, "
        "else its own defaults; nothing was searched, here or on other data. "
        "The paper chose r by a grid search, and does not say on which attack.",
        f"AUC is judged at matched accuracy, by early-stopped controls; {NONE.lower()} has none but itself. Where the "
        f"controls miss a row's accuracy by {100 * POINTS:g} points or more, or may do so, its AUC is not judged.",
    ),
)
