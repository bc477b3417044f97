"""A made-up audit, simulated from Gaussian scores, in the form of ``reticent.audit/1``."""

from typing import Any

import numpy as np
from scipy.stats import beta, norm

FPRS = (0.1, 0.01, 0.001, 0.0001)
SHIFTS = {
    "lira": 0.36,
    "rmia": 0.33,
    "modified-entropy": 0.2,
    "loss": 0.19,
    "confidence": 0.19,
    "entropy": 0.05,
    "correctness": 0.04,
}


def document(models: int = 16, records: int = 1797, measurable: bool = True, attacks: int = 7) -> dict[str, Any]:
    """Simulate an audit whose attacks see members' scores shifted by a known amount."""
    rng = np.random.default_rng(7)
    members = records // 2
    scored = [
        _attack(name, shift, models, members, records - members, measurable, rng)
        for name, shift in list(SHIFTS.items())[:attacks]
    ]
    return {
        "schema": "reticent.audit/1",
        "verdict": _verdict(scored[0], len(scored), models, members),
        "data": _data(records),
        "recipe": _recipe(),
        "population": _population(models, members, rng),
        "attacks": scored,
        "environment": _environment(),
    }


def rows(records: int = 1797, classes: int = 10, seed: int = 3) -> list[dict[str, Any]]:
    """Simulate one row a record, the most exposed first."""
    rng = np.random.default_rng(seed)
    exposure = np.sort(rng.normal(0.6, 1.0, records) + rng.exponential(0.9, records))[::-1]
    order = rng.permutation(records)
    label = rng.integers(0, classes, records)
    out = 4.5 - 0.8 * exposure + rng.normal(0, 0.6, records)
    inside = out + np.maximum(exposure, 0) * 1.1 + rng.normal(0, 0.2, records)
    return [
        {
            "record": int(order[i]),
            "label": int(label[i]),
            "label_name": f"digit {label[i]}",
            "exposure": float(exposure[i]),
            "memorisation": float(np.clip(exposure[i] / 12, -0.1, 0.9)),
            "margin_in": float(inside[i]),
            "margin_out": float(out[i]),
            "models_in": 8,
            "models_out": 8,
        }
        for i in range(records)
    ]


def thumbnails(ids: list[int], side: int = 8, colour: bool = False, seed: int = 5) -> dict[int, np.ndarray]:
    """Draw a small blob for each record."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:side, 0:side] / side
    made = {}
    for record in ids:
        centre = rng.uniform(0.25, 0.75, (3, 2))
        blobs = np.stack([np.exp(-(((x - cx) ** 2 + (y - cy) ** 2) * 14)) for cx, cy in centre], axis=2)
        picture = np.clip(blobs * 255, 0, 255).astype(np.uint8)
        made[record] = picture if colour else np.max(picture, axis=2)
    return made


def _interval(k: int, n: int) -> list[float]:
    low = 0.0 if k == 0 else float(beta.ppf(0.025, k, n - k + 1))
    return [low, 1.0 if k == n else float(beta.ppf(0.975, k + 1, n - k))]


def _rate(scores_in: np.ndarray, scores_out: np.ndarray, fpr: float, measurable: bool) -> dict[str, Any]:
    n = scores_out.size
    allowed = int(fpr * n)
    entry: dict[str, Any] = {
        "fpr": fpr,
        "measurable": bool(measurable and allowed >= 1),
        "records_needed": round(1 / fpr),
        "non_members": n,
        "false_positives_allowed": allowed,
        "realised_fpr": allowed / n,
        "tpr": None,
    }
    if entry["measurable"]:
        threshold = np.sort(scores_out)[::-1][allowed]
        hits = int((scores_in > threshold).sum())
        entry |= {"tpr": hits / scores_in.size, "interval": _interval(hits, scores_in.size)}
    return entry


def _summary(values: list[float]) -> dict[str, Any]:
    mean, std = float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.01
    half = 1.96 * std / np.sqrt(len(values)) + 0.004
    return {
        "mean": mean,
        "std": std if len(values) > 1 else None,
        "interval": [max(mean - half, 0.0), min(mean + half, 1.0)],
    }


def _target(model: int, scores_in: np.ndarray, scores_out: np.ndarray, measurable: bool) -> dict[str, Any]:
    both = np.concatenate([scores_in, scores_out])
    ranks = np.argsort(np.argsort(both))[: scores_in.size]
    auc = float((ranks.sum() - scores_in.size * (scores_in.size - 1) / 2) / (scores_in.size * scores_out.size))
    cut = np.sort(both)
    oracle = max((np.mean(scores_in > c) + np.mean(scores_out <= c)) / 2 for c in cut[:: max(1, cut.size // 200)])
    return {
        "model": model,
        "members": scores_in.size,
        "non_members": scores_out.size,
        "auc": {"value": auc, "interval": [auc - 0.026, auc + 0.026]},
        "tpr_at_fpr": [_rate(scores_in, scores_out, fpr, measurable) for fpr in FPRS],
        "balanced_accuracy": {"transferred": float(oracle - 0.01), "oracle": float(oracle)},
    }


def _attack(
    name: str, shift: float, models: int, members: int, others: int, measurable: bool, rng: np.random.Generator
) -> dict[str, Any]:
    drawn = [(rng.normal(shift, 1.1, members), rng.normal(0, 1, others)) for _ in range(models)]
    targets = [_target(i, a, b, measurable) for i, (a, b) in enumerate(drawn)]
    rates = []
    for k in range(len(FPRS)):
        entry = {key: item for key, item in targets[0]["tpr_at_fpr"][k].items() if key != "interval"}
        if entry["measurable"]:
            entry["tpr"] = _summary([t["tpr_at_fpr"][k]["tpr"] for t in targets])
        rates.append(entry)
    grid = np.geomspace(1 / others, 1, 100)
    curve = norm.cdf((shift + norm.ppf(np.minimum(grid, 1 - 1e-12))) / 1.1)
    curve[-1] = 1.0
    edges = np.linspace(-4, 5, 37)
    return {
        "name": name,
        "spec": {"method": name} | ({"variance": "pooled", "centre": "mean", "online": True} if name == "lira" else {}),
        "access": "labels" if name == "correctness" else "probabilities",
        "confidence": 0.95,
        "overall": {
            "auc": _summary([t["auc"]["value"] for t in targets]),
            "tpr_at_fpr": rates,
            "balanced_accuracy": {
                "transferred": _summary([t["balanced_accuracy"]["transferred"] for t in targets]),
                "oracle": _summary([t["balanced_accuracy"]["oracle"] for t in targets]),
            },
        },
        "targets": targets,
        "roc": {
            "fpr": grid.tolist(),
            "tpr": curve.tolist(),
            "low": (curve * (0.86 + 0.14 * grid)).tolist(),
            "high": np.minimum(curve * 1.15 + 0.0006, 1).tolist(),
            "band": "targets",
        },
        "histogram": {
            "edges": edges.tolist(),
            "members": np.histogram(np.concatenate([a for a, _ in drawn]), edges, density=True)[0].tolist(),
            "non_members": np.histogram(np.concatenate([b for _, b in drawn]), edges, density=True)[0].tolist(),
        },
        "bootstrap": {"replicates": 1000, "over": "models, then records"},
    }


def _verdict(first: dict[str, Any], count: int, models: int, members: int) -> dict[str, Any]:
    auc = first["overall"]["auc"]
    rate = first["overall"]["tpr_at_fpr"][1]
    shared = {
        "attack": first["name"],
        "best_of": count,
        "fpr": 0.01,
        "auc": auc["mean"],
        "auc_interval": auc["interval"],
        "confidence": 0.95,
        "cannot_say": [
            "What an attacker with more reference models, or with a newer attack, would find.",
            "Whether a record's content (not only its presence in the training set) can be recovered.",
            f"Rates below 1 false alarm in {members:,}: this data set has too few records for them.",
        ],
    }
    if rate["tpr"] is None:
        return shared | {
            "sentence": "This audit has too few records to say what an attacker finds at 1 false alarm in 100.",
            "detail": f"The strongest of {count} attacks has an AUC of {auc['mean']:.3f}.",
            "tpr": None,
            "tpr_interval": None,
            "leak": "cannot tell",
        }
    found = rate["tpr"]["mean"]
    return shared | {
        "sentence": f"An attacker who accepts 1 false alarm in 100 finds {100 * found:.1f} % of the training records; "
        "chance is 1 %.",
        "detail": f"The strongest of {count} attacks is {first['name']}. Each of {models} models was a target.",
        "tpr": found,
        "tpr_interval": rate["tpr"]["interval"],
        "leak": "found",
    }


def _data(records: int) -> dict[str, Any]:
    return {
        "name": "digits",
        "kind": "image",
        "records": records,
        "classes": 10,
        "class_names": [f"digit {i}" for i in range(10)],
        "digest": "7f1c0a9be2d34f5a8c61",
        "duplicates": 0,
        "roles": {"audited": records, "validation": 0, "reference": 0, "population": 0},
        "licence": "CC BY 4.0",
        "citation": "Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI",
        "columns": [
            {
                "column": "",
                "read_as": "not a feature",
                "values": None,
                "missing": 0,
                "features": 0,
                "note": "",
                "telling": False,
            },
            {
                "column": "day",
                "read_as": "date",
                "values": 84,
                "missing": 3,
                "features": 2,
                "note": "in days",
                "telling": True,
            },
        ],
        "fitted": "Medians are taken over all records, members or not.",
    }


def _recipe() -> dict[str, Any]:
    return {
        "architecture": {"method": "mlp", "hidden": [128, 128], "dropout": 0.0},
        "optimizer": {"method": "sgd", "rate": 0.1, "momentum": 0.9, "weight_decay": 0.0005},
        "schedule": {"method": "cosine", "warmup": 0},
        "objective": {"method": "cross-entropy"},
        "epochs": 40,
        "batch": 64,
        "precision": "float32",
        "augmentation": None,
    }


def _population(models: int, members: int, rng: np.random.Generator) -> dict[str, Any]:
    inside, outside = rng.normal(0.997, 0.002, models).clip(0, 1), rng.normal(0.962, 0.008, models).clip(0, 1)
    return {
        "models": models,
        "seed": 0,
        "parameters": 26122,
        "queries": {"mirror": False, "shift": [0, 0]},
        "accuracy": {
            "members": {"mean": float(inside.mean()), "std": float(inside.std())},
            "non_members": {"mean": float(outside.mean()), "std": float(outside.std())},
        },
        "health": [{"model": 3, "problem": "labels 31 % of its own training records correctly"}],
        "per_model": [
            {
                "model": i,
                "run": f"{i:02x}c41e99a07b2d5f8e13"[:20],
                "members": members,
                "accuracy_members": float(inside[i]),
                "accuracy_non_members": float(outside[i]),
            }
            for i in range(models)
        ],
    }


def _environment() -> dict[str, Any]:
    return {
        "reticent": "0.1.0",
        "python": "3.11.9",
        "torch": "2.13.0",
        "numpy": "2.3.1",
        "platform": "Linux-6.8-x86_64",
        "device": "cpu",
        "workers": 2,
        "peak_memory_bytes": 412_000_000,
        "seconds_training": 74.2,
        "seconds_scoring": 1.9,
        "started": "2026-11-27T10:15:00+00:00",
    }
