"""What answers that were brought say of the data and of the models that gave them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Problem
from reticent.data.records import listed
from reticent.jobs import document
from reticent.signals.correct import correct, knows
from reticent.signals.matrix import Signals


def data_facts(signals: Signals, name: str, ids: NDArray[np.int64]) -> dict[str, Any]:
    """State what the outputs are of."""
    facts = {"name": name, "kind": "outputs", "records": signals.records, "classes": signals.classes, "class_names": []}
    return facts | ({"roles": {"audited": len(ids)}} if len(ids) < signals.records else {})


def unaudited_words(ids: NDArray[np.int64], records: int) -> list[str]:
    """Say which records are not audited."""
    left = np.setdiff1d(np.arange(records), ids)
    if not len(left):
        return []
    return [
        f"{len(left):,} of {records:,} records were left out of every attack ({listed(left)}): the strongest attacks "
        "need models that were trained on a record and models that were not, besides the target, and here there are "
        "too few of one kind. How exposed these records are is not known."
    ]


def population_facts(problem: Problem) -> dict[str, Any]:
    """State how the models are, as far as their answers show it."""
    models = range(problem.signals.models)
    facts: dict[str, Any] = {
        "models": problem.signals.models,
        "targets": problem.targets.tolist(),
        "references": len(problem.references),
        "membership_digest": problem.membership.digest,
        "health": None,
        "per_model": [],
    }
    if not knows(problem.signals):
        facts["health"] = None if _unlearned(problem, [_surely(problem, model) for model in models]) else []
        return facts
    for model in models:
        right, row = correct(problem.signals, np.array([model]))[0], problem.membership.matrix[model]
        facts["per_model"].append({
            "model": model,
            "run": None,
            "members": int(row.sum()),
            "accuracy_members": float(right[row].mean()),
            "accuracy_non_members": float(right[~row].mean()),
        })
    facts["health"] = _unlearned(problem, [row["accuracy_members"] for row in facts["per_model"]])
    facts["accuracy"] = {
        part: document.spread([row[f"accuracy_{part}"] for row in facts["per_model"]])
        for part in ("members", "non_members")
    }
    return facts


def _unlearned(problem: Problem, accuracies: Sequence[float]) -> list[dict[str, Any]]:
    """Find models whose accuracy on their members, one each, is no better than naming one class would give."""
    found = []
    for model, accuracy in enumerate(accuracies):
        labels = problem.signals.labels[problem.membership.matrix[model]]
        commonest = np.unique(labels, return_counts=True)[1].max()  # A label may be any number.
        said = document.unlearned(accuracy, float(commonest / len(labels)), len(labels))
        if said is not None:
            found.append({"model": model, "problem": said})
    return found


def _surely(problem: Problem, model: int) -> float:
    """Return the share of a model's members that margins of many classes show to be right: more may be.

    A margin above zero leaves less than half of the probability to all other classes together.
    """
    signals, row = problem.signals, problem.membership.matrix[model]
    right = np.concatenate([signals.margins[[model], block][0, :, 0] > 0 for block in signals.blocks()])
    return float(right[row].mean())
