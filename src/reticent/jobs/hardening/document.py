"""The document of a repair: what ``harden.json`` holds; all that depends on the run stands under ``environment``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reticent import seeds
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.auditing.intervals import clopper_pearson
from reticent.jobs import document
from reticent.jobs.hardening import words
from reticent.jobs.hardening.ready import Ready
from reticent.jobs.hardening.repair import Repaired
from reticent.jobs.hardening.sides import Side
from reticent.jobs.locate.given import Weights
from reticent.say import epsilon as say_epsilon
from reticent.say.comparison import limits
from reticent.spec import canonical, full

SCHEMA = "reticent.harden/1"
COSTS = ("stages", "seconds", "peak_memory_bytes", "kind", "model", "data", "notices")
"""Facts of the repair that stand elsewhere in the document."""


def assemble(
    ready: Ready, repaired: Repaired, before: Side, after: Side, weights: Weights, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """Put the document together."""
    compared = _compared(ready, before, after)
    sides = {"before": _side(ready, before), "after": _side(ready, after)}
    records, known = ready.sorted.records, ready.sorted
    facts = {key: value for key, value in repaired.facts.items() if key not in COSTS}
    why = words.doubt(len(known.members), len(known.others), before.blind)
    return {
        "schema": SCHEMA,
        "sentence": words.sentence(compared, sides, why),
        "detail": words.detail(compared, sides, before.blind, why),
        "leak": "cannot tell" if why else after.verdict.leak.value,
        "model": {
            "architecture": full(ready.after.recipe.architecture),
            "weights": str(weights) if isinstance(weights, (str, Path)) else None,
            "parameters": after.made[0].facts["parameters"],
            "initial": ready.origin,
        },
        "data": {
            "name": records.name,
            "kind": records.kind,
            "shape": list(records.x.shape[1:]),
            "classes": records.classes,
            "members": len(known.members),
            "non_members": len(known.others),
            "reference": len(known.reference),
            "digest": records.digest,
            **{
                key: value
                for key, value in document.data_facts(records).to_json().items()
                if key in {"columns", "fitted"}
            },
        },
        "repair": {"defense": ready.defense, "recipe": full(ready.after.recipe), "run": repaired.run, "facts": facts},
        "references": ready.target,
        **sides,
        "difference": compared,
        "blind": {"auc": before.blind[0], "interval": list(before.blind[1])},
        "cannot_say": words.limits(ready, repaired, before, after, compared),
        "environment": _environment(ready, repaired, before, after, seconds),
    }


def _compared(ready: Ready, before: Side, after: Side) -> dict[str, Any]:
    """Compare the two models on the same records, by paired tests."""
    members, settings = ready.membership.matrix[[ready.target]], ready.config
    body = compare(
        [
            RowScores(name, side.scores, members, correct=side.correct[None])
            for name, side in (("before", before), ("after", after))
        ],
        fpr=before.verdict.fpr,
        rng=seeds.rng(settings.seed, "harden"),
        confidence=settings.confidence,
        replicates=settings.replicates,
    )
    # One model was repaired, which is said in full elsewhere.
    return body.to_json() | {"cannot_say": limits(body, several=False)}


def _side(ready: Ready, side: Side) -> dict[str, Any]:
    row, level = ready.membership.matrix[ready.target], ready.config.confidence
    return {
        "accuracy": {
            "members": _share(side.correct[row], level),
            "non_members": _share(side.correct[~row], level),
        },
        "verdict": {key: side.verdict.to_json()[key] for key in ("sentence", "leak", "attack", "best_of", "fpr")},
        "attacks": [audit.with_(epsilon=side.epsilons.attacks[audit.name]).to_json() for audit in side.audits],
        "epsilon": say_epsilon.spoken(side.epsilons.overall).to_json(),
        "references": {
            "members": float(np.mean([one.facts["members"] for one in side.made])),
            "accuracy": {
                key: document.spread([one.facts[f"accuracy_{key}"] for one in side.made]).to_json()
                for key in ("members", "non_members")
            },
            "health": [one.to_json() for one in document.health(side.made)],
            "runs": [one.training for one in side.made],
        },
    }


def _share(right: Any, confidence: float) -> dict[str, Any]:
    low, high = clopper_pearson(int(right.sum()), len(right), confidence)
    return {"value": float(right.mean()), "interval": [float(low), float(high)]}


def _environment(
    ready: Ready, repaired: Repaired, before: Side, after: Side, seconds: Mapping[str, float]
) -> dict[str, Any]:
    scratch = _scratch(ready, before)
    took = float(repaired.facts["seconds"])
    return document.versions().to_json() | {
        "device": ready.device,
        "workers": ready.workers,
        "models_found": sum(not one.fresh for side in (before, after) for one in side.made),
        "repair_found": not repaired.fresh,
        **{f"seconds_{name}": round(value, 3) for name, value in seconds.items()},
        "repair": {
            "seconds": round(took, 3),
            "peak_memory_bytes": repaired.facts["peak_memory_bytes"],
            "stages": repaired.facts.get("stages", []),
            "seconds_training_anew": None if scratch is None else round(scratch, 3),
            "share_of_training_anew": None if not scratch else round(took / scratch, 3),
        },
        "config": canonical(ready.config),
    }


def _scratch(ready: Ready, before: Side) -> float | None:
    """Estimate the seconds of plain training on as many members: the references' mean, in proportion to members."""
    known = [(one.facts["seconds"], one.facts["members"]) for one in before.made if "seconds" in one.facts]
    if not known:
        return None
    return float(np.mean([seconds / members for seconds, members in known])) * len(ready.sorted.members)
