"""The later keys of ``reticent.audit/1`` for the made-up audit: epsilon, control, groups, more columns."""

from typing import Any

import numpy as np

METHODS = ("all-thresholds", "split", "given", "gaussian")
PEOPLE = ("female", "male", "not stated")


def add(document: dict[str, Any], classes: int = 10, accountant: float | None = 3.0) -> dict[str, Any]:
    """Give a document the keys that an audit with every option has."""
    rng = np.random.default_rng(11)
    attacks = [attack | {"epsilon": _bounds(attack, rng)} for attack in document["attacks"]]
    names = [f"digit {i}" for i in range(classes)]
    data = document["data"] | {"classes": classes, "class_names": names}
    return document | {
        "data": data,
        "attacks": attacks,
        "epsilon": _epsilon(attacks, accountant),
        "groups": [
            _grouping("class", [str(i) for i in range(classes)], data["records"], rng),
            _grouping("sex", list(PEOPLE), data["records"], rng, clear=False),
        ],
        "control": _control(attacks, rng),
        "exposure": {
            "records": data["records"],
            "exposed": 12,
            "confidence": 0.95,
            "test": "Student, one-sided",
            "correction": "Holm",
            "distance_needed": 6.1,
            "sentence": f"12 of {data['records']} records give themselves away beyond doubt.",
        },
    }


def extend(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give record rows the later columns, and a group."""
    rng = np.random.default_rng(13)
    made = []
    for row in rows:
        distance = row["exposure"] * 1.9
        probability = float(1 / (1 + np.exp(-row["exposure"])))
        made.append(
            row
            | {
                "distance": distance,
                "probability": probability,
                "probability_low": max(probability - 0.09, 0.0),
                "probability_high": min(probability + 0.07, 1.0),
                "memorisation": float(np.clip(row["memorisation"] * 0.8, -1, 1)),
                "memorisation_error": 0.11,
                "memorisation_soft": row["memorisation"],
                "memorisation_soft_error": 0.05,
                "exposure_error": 0.62,
                "group_sex": PEOPLE[int(rng.integers(3))],
            }
        )
    return made


def estimate(mean: float, half: float, low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    """Make an estimate around a mean."""
    return {"mean": mean, "std": half / 2, "interval": [max(mean - half, low), min(mean + half, high)]}


def _bounds(attack: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    strength = max(0.0, 8 * (attack["overall"]["auc"]["mean"] - 0.52))
    bounds = []
    for k, method in enumerate(METHODS):
        targets = np.clip(strength * (0.7 + 0.1 * k) + rng.normal(0, 0.08, len(attack["targets"])), 0, None)
        bounds.append({
            "method": method,
            "spec": {"threshold": method},
            "assumes": "the scores of different records do not depend on each other",
            "epsilon": float(np.median(targets)),
            "targets": targets.tolist(),
        })
    return {"delta": 1e-5, "confidence": 0.95, "combined": {"method": "twice-median"}, "bounds": bounds}


def _epsilon(attacks: list[dict[str, Any]], accountant: float | None) -> dict[str, Any]:
    lower = max(bound["epsilon"] for bound in attacks[0]["epsilon"]["bounds"])
    return {
        "delta": 1e-5,
        "confidence": 0.95,
        "lower": lower,
        "attack": attacks[0]["name"],
        "method": "gaussian",
        "best_of": len(attacks),
        "accountant": None if accountant is None else {"epsilon": accountant, "delta": 1e-5, "source": "rdp"},
        "consistent": None if accountant is None else lower <= accountant,
        "sentence": f"With 95 % confidence no epsilon below {lower:.2f} holds for these models at a delta of 0.00001.",
    }


def _grouping(by: str, names: list[str], records: int, rng: np.random.Generator, clear: bool = True) -> dict[str, Any]:
    groups = []
    for i, name in enumerate(names):
        size = max(4, int(records / len(names) * rng.uniform(0.4, 1.6)))
        auc = float(np.clip(0.56 + rng.normal(0, 0.025) + (0.12 if clear and i == len(names) // 2 else 0), 0.4, 0.95))
        half = float(min(0.25, 0.9 / np.sqrt(size)))
        gap = auc - 0.565
        stands = ("more" if gap > 0 else "less") if abs(gap) > half else None
        tiny = i == len(names) - 1 and clear
        groups.append({
            "name": name,
            "records": size,
            "members": size / 2,
            "non_members": size - size / 2,
            "auc": None if tiny else estimate(auc, half),
            "tpr": None if tiny else estimate(max(0.0, (auc - 0.5) / 3), half / 4),
            "exposure": estimate(auc * 2, half * 2, -9, 9),
            "memorisation": estimate(auc - 0.5, half / 2, -1),
            "difference": None
            if tiny
            else {
                "mean": gap,
                "interval": [gap - half, gap + half],
                "p": 0.02,
                "p_corrected": min(1.0, 0.0002 / abs(gap)),
            },
            "stands_out": None if tiny else stands,
        })
    most = next((g["name"] for g in groups if g["stands_out"] == "more"), None)
    said = "stands out after the correction." if most is not None else "No group can be told from the others."
    return {
        "by": by,
        "attack": "lira",
        "fpr": 0.01,
        "confidence": 0.95,
        "groups": groups,
        "most_exposed": most,
        "sentence": f"{by} {most} {said}" if most is not None else said,
    }


def _control(attacks: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, Any]:
    shuffled = [
        {
            "name": attack["name"],
            "auc": estimate(0.5 + float(rng.normal(0, 0.002)), 0.009),
            "tpr_at_fpr": [
                {
                    "fpr": rate["fpr"],
                    "measurable": rate["measurable"],
                    "tpr": estimate(rate["fpr"], 0.004) if rate["measurable"] else None,
                }
                for rate in attack["overall"]["tpr_at_fpr"]
            ],
        }
        for attack in attacks
    ]
    return {
        "kind": "null",
        "attacks": shuffled,
        "passed": True,
        "detectable": {"attack": "lira", "auc": 0.517, "tpr": 0.0168, "fpr": 0.01, "power": 0.8},
        "sentence": "With the membership shuffled, no attack finds more than chance.",
    }
