"""How long attacks and the audit of their scores will take on this machine: a probe on made-up records, scaled up."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reticent import scratch, threads
from reticent.attacks import needs_models
from reticent.attacks.base import Problem
from reticent.auditing.bootstrap import affordable
from reticent.auditing.partition import by_class
from reticent.data.membership import Membership
from reticent.jobs.measure import measure
from reticent.jobs.scoring import Settings
from reticent.signals.matrix import Signals
from reticent.spec import Spec

FEW = 400
"""Records of the smaller probe; the larger one has three times as many. With 100 the cost of a record was told at more
than twice what it was."""
FEWEST = 20
"""Records of a probe, at least: so many that models of them can be drawn."""
ALONE = 0.2
"""Share of the work that one core does, however many there are (0.14 of 30,000 records of 256 models)."""
UNCACHED = 1.5
"""What an answer costs where caches do not hold all, in times of the probe's (1.6 of 100,000 records of 256 models)."""
SOON = 60.0
"""Seconds: where the smaller probe foretells less, the larger is left out."""
MOST_MODELS = 64
"""Models of a probe, at most: from there on a model costs about as much as target, however many there are."""
WARM = 8
"""Models of a probe before both, which loads what attacks need and is not counted."""


class Size(NamedTuple):
    """What an audit is of: models, all targets; records; classes whose logits are known, 0 where margins alone are."""

    models: int
    records: int
    classes: int


def seconds(size: Size, attacks: Sequence[Spec], settings: Settings) -> float:
    """Foretell how long attacks and audit take, without attacks that look at more than outputs.

    Cost grows with the records by a constant a record, and something that does not grow: two probes tell both (one,
    if by it all takes less than `SOON`); and in proportion to the models. Probes are too small for more than one core;
    what cores share in a large audit is taken off. What single records that leak cost beside that
    (`auditing.exposure.EXACT`) is not in it.
    """
    told = [spec for spec in attacks if not needs_models(spec)]
    count = affordable(settings.replicates, size.models, size.records)
    probe = replace(settings, replicates=count)
    if not told:
        return 0.0
    few = max(FEWEST, min(FEW, -(-size.records // 3)))
    models = min(size.models, MOST_MODELS, few)
    _measured(size._replace(models=min(models, WARM), records=few), told, probe)
    once = _measured(size._replace(models=models, records=few), told, probe)
    whole = once * (size.records / few) * (size.models / models)
    if whole < SOON:
        return whole
    thrice = _measured(size._replace(models=models, records=3 * few), told, probe)
    each = max(0.0, thrice - once) / (2 * few)
    on_one_core = (once + each * (size.records - few)) * size.models / models
    if size.models * size.records < threads.FEW_CELLS:
        return on_one_core
    return on_one_core * UNCACHED * (ALONE + (1 - ALONE) / min(threads.cores(), threads.MOST))


def temporary_bytes(size: Size, attacks: int) -> int:
    """Foretell what lies in temporary files at once: scores of every attack, p-values, and what one attack needs."""
    scores = 8 * size.models * size.records
    return (attacks + 2) * scores if scores >= scratch.LARGE else 0


def _measured(size: Size, attacks: Sequence[Spec], settings: Settings) -> float:
    """Attack and audit noise."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, max(size.classes, 2), size.records)
    shape = (size.models, size.records)
    if size.classes:
        signals = Signals.from_logits(rng.normal(size=(*shape, size.classes)).astype(np.float32), labels)
    else:
        signals = Signals.from_margins(rng.normal(size=shape).astype(np.float32), labels, 10)
    problem = Problem.make(signals, Membership.draw(size.models, size.records, 0))
    begun = time.perf_counter()
    measure(problem, attacks, settings, ids=np.arange(size.records), partitions=(by_class(labels),))
    return time.perf_counter() - begun
