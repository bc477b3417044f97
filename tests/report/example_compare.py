"""A made-up comparison in the form of ``reticent.comparison/1``."""

from itertools import combinations
from typing import Any

from example_trust import estimate

RECIPES = (
    ("plain", 0.962, 0.640, 0.052),
    ("weight-decay", 0.958, 0.601, 0.036),
    ("dropout", 0.951, 0.588, 0.031),
    ("dp-sgd", 0.905, 0.512, 0.012),
    ("label-smoothing", 0.960, 0.655, 0.058),
    ("mixup", 0.957, 0.592, 0.034),
    ("early", 0.930, 0.552, 0.020),
    ("relaxloss", 0.955, 0.560, 0.022),
    ("hamp", 0.953, 0.563, 0.024),
    ("selena", 0.948, 0.541, 0.017),
    ("distillation", 0.949, 0.545, 0.018),
    ("pruning", 0.944, 0.572, 0.027),
)
ATTACKS = ("lira", "rmia", "loss", "correctness")


def comparison(recipes: int = 4, controls: int = 2, measurable: bool = True) -> dict[str, Any]:
    """Make a comparison of some recipes, of which the first is the baseline, and of some controls."""
    rows = [_row(i, measurable) for i in range(recipes)]
    rows += [_control(rows[1 + i], 12 + 4.5 * i, measurable) for i in range(min(controls, recipes - 1))]
    for row in rows:
        row["pareto"] = not any(_beats(other, row) for other in rows)
    return {
        "schema": "reticent.comparison/1",
        "sentence": "weight-decay leaks less than plain, but no difference is shown between it and the control that "
        "was stopped early to be as accurate; dp-sgd leaks less than plain.",
        "detail": [
            "weight-decay leaks less than plain: at 1 false alarm in 100, 3.6 % and 5.2 % of the training records are "
            "found (difference -1.60 percentage points, 95 % interval -2.10 to -1.10).",
            "In accuracy, no difference is shown between weight-decay and plain.",
        ],
        "data": {"name": "digits", "records": 1797, "classes": 10, "roles": {"audited": 1797}, "digest": "7f1c0a9b"},
        "fpr": 0.01,
        "confidence": 0.95,
        "baseline": "plain",
        "cannot_say": [
            "A tie does not show that two recipes are equal.",
            "Attacks that were not tried may rank them otherwise.",
        ],
        "rows": rows,
        "pairs": _pairs(rows, measurable),
        "environment": {
            "reticent": "0.1.0",
            "python": "3.11.9",
            "started": "2026-11-28T10:15:00+00:00",
            "rows": {row["name"]: {"seconds_per_model": 4.25 + i} for i, row in enumerate(rows)},
        },
    }


def _row(i: int, measurable: bool) -> dict[str, Any]:
    name, accuracy, auc, tpr = RECIPES[i]
    return {
        "name": name,
        "role": "recipe",
        "matches": [],
        "epochs_kept": None,
        "changes": []
        if i == 0
        else [
            {"key": "optimizer.weight_decay", "baseline": 0.0005, "value": 0.01 * i},
            {"key": "objective.method", "baseline": "cross-entropy", "value": name},
            {"key": "epochs", "baseline": 40, "value": None},
        ],
        "models": 16,
        "accuracy": {"members": estimate(min(0.999, accuracy + 0.03), 0.002), "non_members": estimate(accuracy, 0.005)},
        "attack": "lira",
        "auc_attack": "lira",
        "best_of": len(ATTACKS),
        "auc": estimate(auc, 0.008),
        "tpr": estimate(tpr, 0.004) if measurable else None,
        "epsilon": round(8 * (auc - 0.5), 3),
        "accountant": {"epsilon": 3.0, "delta": 1e-5, "source": "rdp"} if name == "dp-sgd" else None,
        "attacks": [
            {
                "name": attack,
                "auc": estimate(auc - 0.01 * k, 0.008),
                "tpr": estimate(tpr / (k + 1), 0.003) if measurable else None,
            }
            for k, attack in enumerate(ATTACKS)
        ],
        "audit": f"{name}/audit.json",
    }


def _control(matched: dict[str, Any], epochs: float, measurable: bool) -> dict[str, Any]:
    accuracy, auc = matched["accuracy"]["non_members"]["mean"], matched["auc"]["mean"]
    tpr = matched["tpr"]["mean"] if measurable else 0.0
    return matched | {
        "name": f"plain, {epochs:g} of 40 epochs",
        "role": "control",
        "matches": [matched["name"]],
        "epochs_kept": epochs,
        "changes": [{"key": "epochs", "baseline": 40, "value": epochs}],
        "accuracy": {"members": estimate(accuracy + 0.01, 0.002), "non_members": estimate(accuracy + 0.001, 0.006)},
        "auc": estimate(auc + 0.018, 0.009),
        "tpr": estimate(tpr + 0.005, 0.004) if measurable else None,
        "accountant": None,
        "audit": None,
    }


def _beats(one: dict[str, Any], other: dict[str, Any]) -> bool:
    key = "tpr" if one["tpr"] else "auc"
    more = one["accuracy"]["non_members"]["mean"] - other["accuracy"]["non_members"]["mean"]
    less = other[key]["mean"] - one[key]["mean"]
    return more >= 0 and less >= 0 and more + less > 0


def _pairs(rows: list[dict[str, Any]], measurable: bool) -> list[dict[str, Any]]:
    made = []
    for first, second in combinations(rows, 2):
        for statistic in ("auc", "tpr", "accuracy") if measurable else ("auc", "accuracy"):
            ends = (first["accuracy"]["non_members"], second["accuracy"]["non_members"])
            a, b = ends if statistic == "accuracy" else (first[statistic], second[statistic])
            gap = a["mean"] - b["mean"]
            differs = abs(gap) > 0.011
            made.append({
                "first": first["name"],
                "second": second["name"],
                "statistic": statistic,
                "difference": gap,
                "interval": [gap - 0.009, gap + 0.009],
                "p": 0.0004 if differs else 0.21,
                "p_corrected": 0.0098 if differs else 1.0,
                "verdict": ("first lower" if gap < 0 else "second lower") if differs else "tie",
                "mcnemar": {"targets": 16, "only_first": 210, "only_second": 402, "p": 1e-9}
                if statistic == "tpr"
                else None,
            })
    return made
