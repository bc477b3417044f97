"""Models that imitate one target, for the attack `imia`: a population of their own, in the store like any other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.attacks.base import Imitators
from reticent.attacks.imia import Imia
from reticent.data.membership import Membership
from reticent.jobs.base import Work
from reticent.objectives.imitation import Imitating
from reticent.population import stored_signals
from reticent.population.executors import Executor
from reticent.population.in_store import using
from reticent.population.population import Imitated, Population
from reticent.population.train import train
from reticent.spec import Spec
from reticent.store import Store


def imitators(
    attacks: Sequence[Spec],
    references: Population,
    target: int,
    answers: NDArray[np.float32],
    store: Store,
    executor: Executor,
    work: Work,
) -> Mapping[int, Imitators] | None:
    """Train models that answer as a target does, or find them, if an attack asks for them.

    By the target's logits on the audited records; None where no attack looks at any. Cost: as many plain trainings as
    the attack's `models`, each on a half of the audited records.
    """
    spec = next((one for one in attacks if isinstance(one, Imia)), None)
    if spec is None:
        return None
    how = Imitating(warmup=spec.warmup, margin_weight=spec.margin_weight, temperature=spec.temperature)
    drawn = Membership.draw(spec.models, references.membership.records, seeds.integer(references.seed, "imitators"))
    population = replace(references, membership=drawn, imitated=Imitated(how, answers))
    with work.on("imitators", "imitators"), using(store.address, population):
        made = train(population, store, executor=executor, progress=work.progress)
        signals, _ = stored_signals.signals(population, store, made)
        margins = signals.margins[np.arange(signals.models), slice(None)]
    return {target: Imitators(np.asarray(margins), drawn.matrix)}
