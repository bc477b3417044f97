"""What repairing procedures did in a population: which stages or weights, on what evidence, at what cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reticent.findings.population import CwrfRepair, PptpRepair, Repair
from reticent.population.worker import Made


def repairs(made: Sequence[Made]) -> Repair | None:
    """Sum up what the procedures ``pptp`` and ``cwrf`` did, where every model was repaired."""
    stages, weights = (
        [one.facts[name] for one in made if name in one.facts] if all(name in one.facts for one in made) else []
        for name in ("pptp", "cwrf")
    )
    if not stages and not weights:
        return None
    return Repair(pptp=_stages(stages) if stages else None, cwrf=_weights(weights) if weights else None)


def _stages(told: Sequence[Mapping[str, Any]]) -> PptpRepair:
    """The stages where PPTP's second training begins, the first risky ones, and the effect measured at these."""
    onsets = [one["onset"] for one in told]
    found = [onset["stages"][onset["index"]]["effect"] for onset in onsets if onset and onset["index"] is not None]
    return PptpRepair(
        chosen=told[0]["chosen"],
        stages=dict(Counter(one["stage"] for one in told).most_common()),
        risky=dict(Counter(onset["name"] for onset in onsets if onset and onset["name"] is not None).most_common()),
        none_found=sum(onset is not None and onset["index"] is None for onset in onsets),
        effect=(min(found), float(np.mean(found)), max(found)) if found else None,
        share_frozen=float(np.mean([one["share_frozen"] for one in told])),
    )


def _weights(told: Sequence[Mapping[str, Any]]) -> CwrfRepair:
    """The weights that CWRF rewound, in the mean over models, and of which kind they are."""
    kinds: dict[str, float] = {}
    for one in told:
        for kind, counts in one["kinds"].items():
            kinds[kind] = kinds.get(kind, 0.0) + counts["rewound"] / len(told)
    return CwrfRepair(
        weights=int(told[0]["weights"]), rewound=float(np.mean([one["rewound"] for one in told])), kinds=kinds
    )


def stage_costs(made: Sequence[Made]) -> dict[str, float]:
    """Average what the stages of a procedure took."""
    seconds: dict[str, list[float]] = {}
    for one in made:
        for stage in one.facts.get("stages", ()):
            seconds.setdefault(stage["name"], []).append(float(stage["seconds"]))
    return {name: round(float(np.mean(each)), 3) for name, each in seconds.items()}
