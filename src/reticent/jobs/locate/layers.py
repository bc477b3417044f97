"""``locate layers``: at which depth of a network membership begins to show."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Lt

from reticent import seeds
from reticent.auditing.intervals import exact_interval
from reticent.errors import SpecError
from reticent.findings.locate import (
    DistanceMeans,
    Distances,
    Effect,
    LayersData,
    LayersDocument,
    MeanAccuracy,
    OnsetRule,
    ProbeAccuracy,
    StageFound,
    TrainedNetwork,
)
from reticent.findings.training import OnsetFacts
from reticent.jobs import document
from reticent.jobs.base import Reported, Work
from reticent.jobs.config import Job, called
from reticent.jobs.locate.networks import ALL, HALVES, Key, Network, Networks
from reticent.jobs.locate.options import divided, refuse, taken
from reticent.locate.feature_maps import map_distances
from reticent.locate.layers import Contrast, Layers
from reticent.locate.onset import judged
from reticent.locate.probe import Probe, Probed, probe
from reticent.models.stages import stages
from reticent.options import AuditConfig, Options
from reticent.population.train import Callback
from reticent.report.kinds import page
from reticent.report.output import LAYERS
from reticent.say import locate as say
from reticent.spec import full
from reticent.torch_state import fixed
from reticent.training.run import steps

Stages = tuple[StageFound, ...]
OUT = "reticent-layers"
"""Folder for the page and the numbers, where none is given."""
BINS = 40
"""Of each histogram."""
OUTSIDE = 0.0005
"""Share of the distances at either end that the first and the last bin take in, so that a few do not set the scale."""


class LayersOptions(Layers):
    """Options of `locate layers` beside those of the training; the interval's are those of the configuration."""

    test: Annotated[float, Gt(0), Lt(1)] = 0.2
    """Share of the audited records that no network is trained on: accuracies are measured on them."""
    probe: Probe | None = Probe()
    """The linear probe; None leaves it out."""


OWN = tuple(name for name in LayersOptions.model_fields if name not in {"replicates", "confidence"})


@dataclass(frozen=True, eq=False)
class LocatedLayers(Reported[LayersDocument]):
    """What `locate_layers` found.

    Attributes:
        onset: the first risky stage, with its evidence.
        contrasts: the distances behind it, one entry a pair of networks; their records are `ids`.
        ids: of the records that the networks on all records are trained on, in the data set.
        files: layers.html and layers.json.
    """

    onset: OnsetFacts
    contrasts: tuple[Contrast, ...]
    ids: Any


def locate_layers(
    config: AuditConfig | str | Path | None = None,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    **values: Any,
) -> LocatedLayers:
    """Find at which depth of a network membership begins to show, with the evidence.

    Networks are trained on all records and on either half of them, from equal initial weights and in equal order, and
    kept in the store: the same call after any interruption goes on.

    Args:
        config: a configuration, the path of a TOML file, or None.
        progress: called after every network.
        stage: called with a word before each part.
        **values: keys of `LayersOptions` (``seeds=3``, ``stages=("layer1", "layer2", "fc")``, ``probe=None``), and of
            `AuditConfig` or `Recipe` as for `reticent.audit`.

    Returns:
        The finding; its files lie in ``config.out``.

    Example:
        >>> import reticent
        >>> found = reticent.locate_layers(dataset="digits", epochs=5, store="/tmp/s", out="/tmp/o")  # doctest: +SKIP
        >>> print(found.onset.name)  # doctest: +SKIP
    """
    job, options = prepare(config, values)
    return run(job, options, Work(stage, progress))


def prepare(config: AuditConfig | str | Path | None, values: Options) -> tuple[Job, LayersOptions]:
    """Check what was asked for."""
    given, rest = divided(values, OWN)
    trains = "which trains a network on all records and one on each half: give --seeds, how often it repeats that"
    refuse(rest, "locate layers", models=trains)
    job = called(config, rest, units=False)
    return job, _options(given, job)


def _options(given: Options, job: Job) -> LayersOptions:
    chosen = dict(given)
    machine = chosen.get("probe")
    if isinstance(machine, str) and machine in {"none", "svm"}:
        chosen["probe"] = None if machine == "none" else Probe()
    elif isinstance(machine, Mapping):
        chosen["probe"] = Probe(**machine)
    elif machine is not None and not isinstance(machine, Probe):
        raise SpecError(f"probe: expected svm, none or a table of options, got {machine!r}")
    if isinstance(chosen.get("stages"), str):
        chosen["stages"] = (chosen["stages"],)
    return LayersOptions(**chosen, replicates=job.config.replicates, confidence=job.config.confidence)


@fixed()
def run(job: Job, options: LayersOptions, work: Work) -> LocatedLayers:
    """Train what is not finished, compare, and write what was found."""
    planned = Networks(job, options, options.test)
    planned.check_stages()
    out = taken(job.config, OUT, LAYERS, [job.config.dataset])
    with ExitStack() as held:
        stores = planned.stores(held)
        out.begin()
        with work.on("training", "training"):
            networks = planned.finished(stores, work.progress)
        held.enter_context(planned.asking())
        with work.on("measuring", "feature maps"):
            onset, contrasts, found = _measured(planned, networks, options)
    work.tell("report")
    document = _findings(planned, networks, onset, found, work)
    files = out.write(document, {"layers.html": page(document)})
    return LocatedLayers(document, files, onset, contrasts, job.population.roles.audited[~planned.test])


def _measured(
    planned: Networks, networks: Mapping[Key, Network], options: LayersOptions
) -> tuple[OnsetFacts, tuple[Contrast, ...], Stages]:
    """Compare the network on all records with those on half of them, in each repetition."""
    records, audited = planned.job.records, planned.job.population.roles.audited
    contrasts, probed = list[Contrast](), list[Probed]()
    for repetition in range(options.seeds):
        network = networks[repetition, ALL]
        whole, maker, row = network.module(), network.maker, network.made.model
        shown, members = stages(whole, options.stages), maker.materials(row).members
        for half in HALVES[: 1 + options.swap]:
            other = networks[repetition, half].module()
            gap = map_distances(whole, other, members.x, maker.prepare, records.classes, shown)
            contrasts.append(Contrast(gap.distances, ~planned.rows[repetition, half][~planned.test]))
        if options.probe is not None:
            test, streams = maker.prepare.examples(records, audited[planned.test]), maker.population.streams(row)
            arguments = maker.prepare, records.classes, options.probe, streams
            probed.append(probe(whole, shown, members, test, *arguments))
    rng = seeds.rng(planned.job.config.seed, "layers", "bootstrap")
    onset = judged([one.name for one in shown], gap.sizes, contrasts, options, rng)
    sizes = [sum(p.numel() for name, p in whole.named_parameters() if one.holds(name)) for one in shown]
    probes = [_probe(probed, i, options.confidence) for i in range(len(shown))]
    found = tuple(
        StageFound(
            name=one.name,
            output=shown[i].output,
            size=one.size,
            parameters=sizes[i],
            share=sizes[i] / sum(sizes),
            effect=Effect(mean=one.effect, interval=(one.low, one.high)),
            effects=one.runs,
            ks=one.ks,
            above=one.above,
            risky=onset.index is not None and i >= onset.index,
            probe=after,
            gain=None if after is None or before is None else after.mean - before.mean,
            distances=_distances(contrasts, i),
        )
        for i, (one, before, after) in enumerate(zip(onset.stages, [None, *probes[:-1]], probes, strict=True))
    )
    return onset, tuple(contrasts), found


def _findings(
    planned: Networks, networks: Mapping[Key, Network], onset: OnsetFacts, found: Stages, work: Work
) -> LayersDocument:
    job, made = planned.job, [one.made for one in networks.values()]
    whole = [one.accuracy for (_, what), one in networks.items() if what == ALL]
    told = LayersDocument(
        onset=OnsetRule(
            stage=onset.name,
            index=onset.index,
            safe=onset.safe,
            risky=onset.risky,
            margin=onset.margin,
            confidence=onset.confidence,
            contrasts=len(onset.stages[0].runs),
        ),
        stages=found,
        accuracy=MeanAccuracy(mean=float(np.mean(whole)), repetitions=tuple(whole)),
        models=tuple(_network(key, one, len(planned.test)) for key, one in networks.items()),
        data=LayersData(
            **dict(document.data_facts(job.records, job.population.roles)),
            trained_on=int((~planned.test).sum()),
            test=int(planned.test.sum()),
        ),
        options=full(planned.options),
        recipe=full(job.population.recipe),
        environment=work.trained(job, made),
    )
    return say.layers(told, (*document.data_sentences(job.records), *document.notices(made)))


def _probe(probed: Sequence[Probed], index: int, confidence: float) -> ProbeAccuracy | None:
    """State the probe's accuracy; the interval is that of one repetition's test records, which the mean beats."""
    if not probed:
        return None
    shares = [float(one.correct[index].mean()) for one in probed]
    count, mean = probed[0].correct.shape[1], float(np.mean(shares))
    settled = all(one.settled[index] for one in probed)
    interval = exact_interval(round(mean * count), count, confidence)
    return ProbeAccuracy(mean=mean, interval=interval, repetitions=tuple(shares), settled=settled)


def _distances(contrasts: Sequence[Contrast], index: int) -> Distances:
    """Count the distances of all contrasts, of records seen by both networks and of those seen by one."""
    both = np.concatenate([one.distances[index][~one.one] for one in contrasts])
    single = np.concatenate([one.distances[index][one.one] for one in contrasts])
    low, high = np.quantile(np.concatenate([both, single]), (OUTSIDE, 1 - OUTSIDE))
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    counts = [np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist() for values in (both, single)]
    means = DistanceMeans(both=float(both.mean()), one=float(single.mean()))
    return Distances(edges=edges.tolist(), both=counts[0], one=counts[1], means=means)


def _network(key: Key, network: Network, audited: int) -> TrainedNetwork:
    members, recipe, epochs = network.made.facts.members, network.recipe, network.epochs()
    alone = recipe.procedure.method == "plain" and recipe.sampler.method == "shuffle"
    return TrainedNetwork(
        repetition=key[0],
        trained_on=key[1],
        run=network.made.training,
        members=members,
        epochs=epochs or None,
        steps=steps(recipe, members, epochs) if alone else None,
        accuracy_members=network.made.facts.accuracy_members,
        accuracy_test=network.accuracy,
        learned=not document.health([network.made], audited),
    )
