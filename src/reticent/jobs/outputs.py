"""What answers that were brought say of the data and of the models that gave them."""

from typing import Any

import numpy as np

from reticent.attacks.base import Problem
from reticent.jobs import document
from reticent.signals.correct import correct, knows
from reticent.signals.matrix import Signals


def data_facts(signals: Signals, name: str) -> dict[str, Any]:
    """State what the outputs are of.

    Args:
        signals: the outputs.
        name: what they are called.

    Returns:
        Plain values.
    """
    return {"name": name, "kind": "outputs", "records": signals.records, "classes": signals.classes, "class_names": []}


def population_facts(problem: Problem) -> dict[str, Any]:
    """State how the models are, as far as their answers show it.

    Args:
        problem: what is attacked.

    Returns:
        Plain values, as `document.population_facts` has them of models that were trained here.
    """
    facts: dict[str, Any] = {
        "models": problem.signals.models,
        "targets": problem.targets.tolist(),
        "references": len(problem.references),
        "membership_digest": problem.membership.digest,
        "health": _health(problem),
        "per_model": [],
    }
    if not knows(problem.signals):
        return facts
    for model in range(problem.signals.models):
        right, row = correct(problem.signals, np.array([model]))[0], problem.membership.matrix[model]
        facts["per_model"].append({
            "model": model,
            "run": None,
            "members": int(row.sum()),
            "accuracy_members": float(right[row].mean()),
            "accuracy_non_members": float(right[~row].mean()),
        })
    facts["accuracy"] = {
        part: document.spread([row[f"accuracy_{part}"] for row in facts["per_model"]])
        for part in ("members", "non_members")
    }
    return facts


def _health(problem: Problem) -> list[dict[str, Any]] | None:
    """Find models that learned nothing; None where answers do not tell.

    Margins of many classes tell of too few right answers: a margin above zero is right, one below may be. A model that
    is right often enough by these alone has learned.
    """
    signals, found = problem.signals, list[dict[str, Any]]()
    for model in range(signals.models):
        row = problem.membership.matrix[model]
        labels = signals.labels[row]
        if not len(labels):
            continue
        share = float(np.bincount(labels).max() / len(labels))
        if knows(signals):
            right = correct(signals, np.array([model]))[0]
        else:
            right = np.concatenate([signals.margins[[model], block][0, :, 0] > 0 for block in signals.blocks()])
        problem_found = document.unlearned(float(right[row].mean()), share, len(labels))
        if problem_found is not None:
            found.append({"model": model, "problem": problem_found})
    return None if found and not knows(signals) else found
