"""``locate layers``: at which depth of a network membership begins to show."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from reticent import seeds
from reticent.ambient import fixed
from reticent.errors import SpecError
from reticent.jobs.config import Job, called
from reticent.jobs.locate._layers_document import Measured, Options, assemble
from reticent.jobs.locate._probes import ALL, HALVES, Key, Probes
from reticent.jobs.locate.options import ATTACKING, divided, refuse, taken
from reticent.locate.feature_maps import map_distances
from reticent.locate.layers import Contrast, Onset
from reticent.locate.onset import judged
from reticent.locate.probe import Probe, Probed, probe
from reticent.models.stages import Stage, stages
from reticent.options import AuditConfig
from reticent.population.train import Callback
from reticent.report.locate.layers import write_layers
from reticent.report.output import LAYERS

__all__ = ["LocatedLayers", "Options", "locate_layers", "prepare", "run"]

OUT = "reticent-layers"
"""Folder for the page and the numbers, where none is given."""
SILENT = (*ATTACKING, "models", "queries")
"""Keys of an audit that mean nothing here."""


OWN = tuple(name for name in Options.model_fields if name not in {"replicates", "confidence"})


@dataclass(frozen=True, eq=False)
class LocatedLayers:
    """What `locate_layers` found.

    Attributes:
        onset: the first risky stage, with its evidence.
        document: what ``layers.json`` holds.
        contrasts: the distances behind it, one entry a pair of networks; their records are `ids`.
        ids: of the records that the networks on all records are trained on, in the data set.
        files: layers.html and layers.json.
    """

    onset: Onset
    document: dict[str, Any]
    contrasts: tuple[Contrast, ...]
    ids: Any
    files: tuple[Path, ...] = ()

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        return self.onset.sentence


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
        **values: keys of `Options` (``seeds=3``, ``stages=("layer1", "layer2", "fc")``, ``probe=None``), and keys of
            `AuditConfig` or `Recipe` as for `reticent.audit`.

    Returns:
        The finding; its files lie in ``config.out``.

    Example:
        >>> import reticent
        >>> found = reticent.locate_layers(dataset="digits", epochs=5, store="/tmp/s", out="/tmp/o")  # doctest: +SKIP
        >>> print(found.onset.name)  # doctest: +SKIP
    """
    job, options = prepare(config, values)
    return run(job, options, progress=progress, stage=stage)


def prepare(config: AuditConfig | str | Path | None, values: Mapping[str, Any]) -> tuple[Job, Options]:
    """Check what was asked for."""
    given, rest = divided(values, OWN)
    refuse(rest, "locate layers", SILENT)
    job = called(config, rest)
    return job, _options(given, job)


def _options(given: dict[str, Any], job: Job) -> Options:
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
    return Options(**chosen, replicates=job.config.replicates, confidence=job.config.confidence)


@fixed()
def run(
    job: Job,
    options: Options,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    checked: Callable[[Path], None] | None = None,
) -> LocatedLayers:
    """Train what is not finished, compare, and write what was found."""
    tell, clock = stage or (lambda _: None), [time.perf_counter()]
    started = datetime.now(UTC).isoformat(timespec="seconds")
    probes = Probes(job, options, options.test)
    _try_stages(probes, options)
    out = taken(job.config, OUT, LAYERS, [job.config.dataset], checked)
    tell("training")
    with probes.finished(progress), probes.asking():
        clock.append(time.perf_counter())
        tell("feature maps")
        measured = _measured(probes, options)
        clock.append(time.perf_counter())
    seconds = dict(zip(("training", "measuring"), np.diff(clock).tolist(), strict=True))
    tell("report")
    written = assemble(probes, options, measured, seconds, started)
    audited = job.population.roles.audited
    ids = audited[~probes.split.test]
    return LocatedLayers(measured.onset, written, measured.contrasts, ids, write_layers(out, written))


def _measured(probes: Probes, options: Options) -> Measured:
    """Compare the network on all records with those on half of them, in each repetition."""
    seen = ~probes.split.test
    contrasts, probed = list[Contrast](), list[Probed]()
    shown, sizes, parameters = list[Stage](), tuple[int, ...](), tuple[int, ...]()
    for repetition in range(options.seeds):
        key: Key = (repetition, ALL)
        maker, whole = probes.maker(key), probes.network(key)
        shown, classes = stages(whole, options.stages), probes.job.records.classes
        parameters = tuple(sum(p.numel() for name, p in whole.named_parameters() if one.holds(name)) for one in shown)
        everything = maker.materials(probes.made(key).model).members
        for half in HALVES[: 2 if options.swap else 1]:
            network = probes.network((repetition, half))
            gap = map_distances(whole, network, everything.x, maker.prepare, classes, shown)
            contrasts.append(Contrast(gap.distances, ~probes.split.row((repetition, half))[seen]))
            sizes = gap.sizes
        if options.probe is not None:
            test = maker.prepare.examples(probes.job.records, probes.job.population.roles.audited[probes.split.test])
            streams = probes.populations[0].streams(probes.made(key).model)
            probed.append(probe(whole, shown, everything, test, maker.prepare, classes, options.probe, streams))
    rng = seeds.rng(probes.job.config.seed, "layers", "bootstrap")
    onset = judged([one.name for one in shown], sizes, contrasts, options, rng)
    return Measured(onset, tuple(shown), parameters, tuple(contrasts), tuple(probed))


def _try_stages(probes: Probes, options: Options) -> None:
    """Ask an untrained network about two records, so that stages that cannot be compared are known before training."""
    made = probes.untrained()
    if made is None:
        return
    network, maker = made
    job = probes.job
    two = maker.prepare.examples(job.records, job.population.roles.audited[:2])
    map_distances(network, network, two.x, maker.prepare, job.records.classes, stages(network, options.stages))
