"""What procedures that repair or prune did in a population: which stages or weights, on what evidence, at what cost."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from reticent.findings.population import CwrfRepair, PptpRepair, PrunedPopulation, Repair
from reticent.findings.training import CwrfFacts, PptpFacts, SparsityFacts
from reticent.population.worker import Made


def repairs(made: Sequence[Made]) -> Repair | None:
    """Sum up what the procedures did that repair or prune, where it was done to every model."""
    stages = [one.facts.pptp for one in made if one.facts.pptp is not None]
    weights = [one.facts.cwrf for one in made if one.facts.cwrf is not None]
    sparse = [one.facts.sparsity for one in made if one.facts.sparsity is not None]
    if not made or len(made) not in {len(stages), len(weights), len(sparse)}:
        return None
    return Repair(
        pptp=_stages(stages) if stages else None,
        cwrf=_weights(weights) if weights else None,
        sparsity=_sparsity(sparse) if sparse else None,
    )


def _stages(told: Sequence[PptpFacts]) -> PptpRepair:
    """The stages where PPTP's second training begins, the first risky ones, and the effect measured at these."""
    onsets = [one.onset for one in told if one.onset is not None]
    found = [one.stages[one.index].effect for one in onsets if one.index is not None]
    return PptpRepair(
        chosen=told[0].chosen,
        stages=dict(Counter(one.stage for one in told).most_common()),
        risky=dict(Counter(one.name for one in onsets if one.name is not None).most_common()),
        none_found=sum(one.index is None for one in onsets),
        effect=(min(found), float(np.mean(found)), max(found)) if found else None,
        share_frozen=float(np.mean([one.share_frozen for one in told])),
    )


def _weights(told: Sequence[CwrfFacts]) -> CwrfRepair:
    """The weights that CWRF rewound, in the mean over models, and of which kind they are."""
    kinds: dict[str, float] = {}
    for one in told:
        for kind, counts in one.kinds.items():
            kinds[kind] = kinds.get(kind, 0.0) + counts.rewound / len(told)
    return CwrfRepair(weights=told[0].weights, rewound=float(np.mean([one.rewound for one in told])), kinds=kinds)


def _sparsity(told: Sequence[SparsityFacts]) -> PrunedPopulation:
    return PrunedPopulation(
        rounds=told[0].rounds,
        weights=told[0].weights,
        weights_left=float(np.mean([one.weights_left for one in told])),
        parameters=told[0].parameters,
        parameters_left=float(np.mean([one.parameters_left for one in told])),
    )


def stage_costs(made: Sequence[Made]) -> dict[str, float]:
    """Average what the stages of a procedure took."""
    seconds: dict[str, list[float]] = {}
    for one in made:
        for stage in one.facts.stages:
            seconds.setdefault(stage.name, []).append(stage.seconds)
    return {name: round(float(np.mean(each)), 3) for name, each in seconds.items()}
