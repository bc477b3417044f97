"""The document of an audit: what ``audit.json`` holds; all that depends on the run stands under ``environment``."""

import platform
import resource
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from reticent.attacks import ATTACKS
from reticent.auditing.exposed import exposed
from reticent.auditing.labelling import CLASS
from reticent.data.notices import notices as notices_of_features
from reticent.data.reading import FITTED
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.jobs.learners import named_of_learners, of_learners
from reticent.jobs.measure import Measured
from reticent.jobs.repairs import repairs
from reticent.rounding import percent
from reticent.spec import full, identity
from reticent.version import VERSION

if TYPE_CHECKING:
    from reticent.jobs.config import Job
    from reticent.population.population import Population
    from reticent.population.worker import Made

SCHEMA = "reticent.audit/1"
COLUMNS = {
    "k_in": "models_in",
    "k_out": "models_out",
    "mean_in": "margin_in",
    "mean_out": "margin_out",
    "std_in": "margin_std_in",
    "std_out": "margin_std_out",
}
"""What ``records.csv`` calls the parts of an exposure."""


def assemble(
    measured: Measured,
    *,
    data: Mapping[str, Any],
    recipe: Mapping[str, Any] | None,
    population: Mapping[str, Any],
    environment: Mapping[str, Any],
    control: Mapping[str, Any] | None = None,
    non_adaptive: Mapping[str, Any] | None = None,
    cannot_say: Sequence[str] = (),
    left_out: Mapping[str, str] | None = None,
    unproved: str | None = None,
) -> dict[str, Any]:
    """Put the parts of a document together."""
    epsilons = measured.epsilons
    said = of_learners(measured.verdict, population)
    said["cannot_say"] = [*said["cannot_say"], *cannot_say]
    left = left_out or {}
    strong = [name for name in left if ATTACKS[name].strong]
    if strong and not any(audit.strong for audit in measured.audits):
        named = f"{' and '.join(strong)} {'was' if len(strong) == 1 else 'were'}"
        said["detail"] += f" The strongest attacks are missing ({named} left out): the leak may be much larger."
    return {
        "schema": SCHEMA,
        "verdict": said,
        "data": dict(data),
        "recipe": None if recipe is None else dict(recipe),
        "population": dict(population),
        "attacks": [audit.to_json() | {"epsilon": epsilons.attacks[audit.name]} for audit in measured.audits],
        "left_out": [{"name": name, "sentence": sentence} for name, sentence in left.items()],
        "epsilon": epsilons.overall if unproved is None else _unproved(epsilons.overall, unproved),
        "groups": named_of_learners(measured.groups, said["leak"], population),
        "exposure": exposed(measured.exposure, said["confidence"]),
        "non_adaptive": None if non_adaptive is None else dict(non_adaptive),
        "control": None if control is None else dict(control),
        "environment": dict(environment),
    }


def _unproved(overall: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Say where epsilon is read why none is proved."""
    return {**overall, "unproved": why, "sentence": f"{overall['sentence']} {why}"}


def data_facts(records: Records, roles: Roles) -> dict[str, Any]:
    """State what was audited."""
    return {
        "name": records.name,
        "kind": records.kind,
        "records": len(records),
        "shape": list(records.x.shape[1:]),
        "classes": records.classes,
        "class_names": list(records.class_names),
        "digest": records.digest,
        "duplicates": records.duplicates,
        "roles": roles.sizes(),
        "roles_digest": identity(roles.to_json()),
        "licence": records.licence,
        "citation": records.citation,
        **columns_facts(records),
    }


def columns_facts(records: Records) -> dict[str, Any]:
    """State how the columns of a table were read, and on what that was fitted."""
    if not records.readings:
        return {}
    return {"columns": [reading.to_json() for reading in records.readings], "fitted": FITTED}


def data_sentences(records: Records) -> list[str]:
    """Say what of the features stands against trusting the numbers."""
    return [f"{said[0].upper()}{said[1:]}." for said in notices_of_features(records)]


def population_facts(population: "Population", made: "Sequence[Made]") -> dict[str, Any]:
    """State how the models are: who was trained on how much, how well they do, and which are not healthy."""
    per_model = [
        {
            "model": one.model,
            "run": one.training,
            "members": one.facts["members"],
            "accuracy_members": one.facts["accuracy_members"],
            "accuracy_non_members": one.facts["accuracy_non_members"],
        }
        for one in made
    ]
    repaired = repairs(made)
    return {
        "models": population.models,
        "seed": population.seed,
        "parameters": made[0].facts["parameters"],
        "membership_digest": population.membership.digest,
        "queries": full(population.queries),
        "accuracy": {
            "members": spread([row["accuracy_members"] for row in per_model]),
            "non_members": spread([row["accuracy_non_members"] for row in per_model]),
        },
        "health": health(made),
        "per_model": per_model,
        **({"repair": repaired} if repaired else {}),
    }


def accountant(made: "Sequence[Made]") -> dict[str, Any] | None:
    """State the epsilon that training proves: the largest of all models, at the largest delta."""
    told = [one.facts.get("accountant") for one in made]
    known = [one for one in told if one is not None and one.get("epsilon") is not None]
    if not known or len(known) < len(told):
        return None
    return {
        "epsilon": max(float(one["epsilon"]) for one in known),
        "delta": max(float(one["delta"]) for one in known),
        "source": " and ".join(sorted({str(one["source"]) for one in known})),
    }


def notices(made: "Sequence[Made]") -> list[str]:
    """Gather what training has to say of its models, each sentence once."""
    said = Counter(sentence for one in made for sentence in dict.fromkeys(map(str, one.facts.get("notices", ()))))
    every = len(made)
    return [
        sentence if held == every else f"In {held} of {every} models: {sentence}" for sentence, held in said.items()
    ]


def health(made: "Sequence[Made]") -> list[dict[str, Any]]:
    """Find models that label their own members no better than the largest class would."""
    told = (
        (one.model, unlearned(one.facts["accuracy_members"], one.facts["largest_class_share"], one.facts["members"]))
        for one in made
    )
    return [{"model": model, "problem": problem} for model, problem in told if problem is not None]


def unlearned(accuracy: float, share: float, members: int) -> str | None:
    """Tell that a model labels its own members no better than naming one class would, by more than chance allows."""
    chance = share + 3 * (share * (1 - share) / members) ** 0.5
    if accuracy > chance:
        return None
    return (
        f"labels {percent(accuracy)} of its own training records correctly; always guessing one class gives "
        f"{percent(share)}, and by chance up to {percent(min(1.0, chance))} of {members:,}"
    )


def health_sentences(population: Mapping[str, Any], leak: str | None = None) -> list[str]:
    """Say what unhealthy models do to an audit."""
    if population["health"] is None:
        nothing = "a model that learned nothing has nothing to give away"
        return [
            "Whether the models learned: margins alone do not tell it here, and "
            f"{'models that work may give away more' if leak == 'found' else nothing}."
        ]
    sick = [str(row["model"]) for row in population["health"]]
    if not sick:
        return []
    which = ", ".join(sick[:8]) + (", ..." if len(sick) > 8 else "")
    what = (
        "a model that learned nothing has nothing to give away, so low numbers here say nothing of a model that works"
    )
    if leak == "found":
        what = "models that work may give away more than is found here"
    return [
        f"{len(sick)} of {population['models']} models did not learn (model {which}): {what}. Train longer, or with "
        "another learning rate."
    ]


def environment_facts(job: "Job", times: Mapping[str, float], found: int, started: str) -> dict[str, Any]:
    """State where, when and at what cost."""
    return versions() | {
        "device": job.device,
        "workers": job.workers,
        "models_found": found,
        "started": started,
        **{f"seconds_{name}": round(value, 3) for name, value in times.items()},
        "peak_memory_bytes": peak_memory(),
        "command": sys.argv[1:] if sys.argv and sys.argv[0].endswith("reticent") else [],
    }


def versions() -> dict[str, Any]:
    """State the versions that numbers may depend on."""
    torch = sys.modules.get("torch")
    return {
        "reticent": VERSION,
        "python": platform.python_version(),
        "torch": str(torch.__version__) if torch is not None else None,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "platform": platform.platform(),
    }


def peak_memory() -> int:
    """Return the largest memory that this process and its ended children held, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    own = sys.modules.get("reticent.training.memory")
    largest = own.peak_of_process() if own else unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(largest) + unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def record_rows(
    measured: Measured, ids: NDArray[np.int64], labels: NDArray[np.int64], names: Sequence[str]
) -> list[dict[str, Any]]:
    """List every record with its exposure and its groups, the most exposed first."""
    rows = [
        {
            "record": int(record),
            "label": int(label),
            "label_name": names[label] if len(names) else str(int(label)),
            **{COLUMNS.get(key, key): value for key, value in row.items() if key not in {"record", "label"}},
            **further,
        }
        for record, label, row, further in zip(ids, labels, measured.exposure.rows(), _further(measured), strict=True)
    ]
    return sorted(rows, key=lambda row: (row["exposure"] is None, -(row["exposure"] or 0.0), row["record"]))


def _further(measured: Measured) -> list[dict[str, Any]]:
    """List each record's probability of membership and its groups."""
    count = len(measured.exposure.label)
    believed = measured.probability
    columns: dict[str, list[Any]] = {
        "probability": [None] * count if believed is None else believed.probability.tolist(),
        "probability_low": [None] * count if believed is None else believed.low.tolist(),
        "probability_high": [None] * count if believed is None else believed.high.tolist(),
    }
    for labelling in measured.labellings:
        if labelling.by != CLASS:
            columns[f"group_{labelling.by}"] = labelling.values()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Summarise one number a model."""
    return {"mean": float(np.mean(values)), "std": float(np.std(values, ddof=1))}
