"""Run a study: measure each setting with each seed, or find what was measured; judge the claims; write the files."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reticent import opening
from reticent.ambient import fixed
from reticent.data.load import load
from reticent.data.official import check_folder
from reticent.data.records import Records
from reticent.errors import InputError, UnknownNameError
from reticent.jobs import document
from reticent.population.train import Callback, choose_device
from reticent.report.files import make_folder, replacing
from reticent.report.output import STUDY, Output
from reticent.report.study import write_study
from reticent.spec import identity
from reticent.studies import STUDIES
from reticent.studies.base import Found, Results, Scale, Setting, Study
from reticent.studies.bench import Bench
from reticent.studies.places import MADE
from reticent.studies.told import assemble
from reticent.version import VERSION

log = logging.getLogger(__name__)
FORMAT = 7
"""Of what is kept of a setting and seed; raise it where a number is measured otherwise, so that all are measured again.

A number that is asked for under a new name needs no such care: the names are a part of the file's."""
PARTS = "parts"
"""Folder for what is kept, inside the study's own."""


@dataclass(frozen=True, eq=False)
class Studied:
    """A study that ran.

    Attributes:
        document: what ``study.json`` holds.
        results: the numbers by setting, row and metric.
        files: the page, the section, the figures and the numbers.
    """

    document: dict[str, Any]
    results: Results
    files: tuple[Path, ...] = ()

    @property
    def sentence(self) -> str:
        """How many claims are reproduced, in one sentence."""
        return str(self.document["sentence"])

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdict by key of the claim."""
        return {claim["key"]: claim["verdict"] for claim in self.document["claims"]}


@fixed()
def study(
    name: str | Study,
    *,
    scale: str = "tiny",
    settings: Sequence[str] = (),
    seeds: int | None = None,
    data_dir: str | Path | None = None,
    store: str | Path = "reticent-store",
    out: str | Path | None = None,
    workers: int | None = None,
    device: str = "auto",
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    checked: Callable[[Path], None] | None = None,
) -> Studied:
    """Repeat a paper's table or figure: train, measure, judge each claim, and write our numbers beside the paper's.

    What was measured of a setting and seed lies in ``out``, finished models in the store: the same call after any
    interruption goes on, and nothing is trained twice.

    Args:
        name: of `STUDIES`, or a study of your own.
        scale: tiny (minutes on two cores), small (an hour or so), paper (the paper's own setting, for a GPU), or gpu
            (cwrf-defenses alone: some minutes on one).
        settings: keys of the scale's settings to run; by default all.
        seeds: how many; by default as the scale says.
        data_dir: where official data files lie.
        store: folder of finished models.
        out: folder for study.html, study.md, study.json and the figures; by default ``reticent-study/NAME-SCALE``.
        workers: processes to train in; by default one a core on the CPU.
        device: auto, cpu, cuda or cuda:N.
        progress: called after every model.
        stage: called with words before each part.
        checked: called with the folder, where it holds the report of another study or scale, which this one replaces.

    Returns:
        The study.

    Raises:
        InputError: no seed.
        MissingFileError: there is no folder `data_dir`.

    Example:
        >>> import reticent
        >>> done = reticent.study("cwrf-ablation", scale="tiny")  # doctest: +SKIP
        >>> print(done.sentence)  # doctest: +SKIP
    """
    check_folder(data_dir)
    chosen = known(name) if isinstance(name, str) else name
    given = _scale(chosen.scale(scale), settings, seeds)
    folder = opening.path(out) if out is not None else Path("reticent-study") / f"{chosen.name}-{scale}"
    machine: dict[str, Any] = {"store": str(opening.path(store)), "device": choose_device(device)}
    machine |= {"workers": workers} if workers is not None else {}
    where = None if data_dir is None else str(data_dir)
    data = _data(given.settings, where)
    output = Output.take(folder, STUDY)
    make_folder(folder / PARTS)
    if checked is not None and _of_another(folder, chosen.name, scale):
        checked(folder)
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    runner = _Runner(chosen, data, machine, folder, progress, stage or (lambda _: None))
    found = {one.key: [runner.found(one, seed) for seed in range(given.seeds)] for one in given.settings}
    results = Results(given.settings, found)
    facts = {one.key: data[one.key] for one in given.settings}
    written = assemble(chosen, scale, given, results, facts)
    written["environment"] = document.versions().to_json() | {
        **{key: value for key, value in machine.items() if key != "store"},
        "started": started,
        "seconds": round(time.perf_counter() - clock, 3),
        "parts_found": runner.kept,
        "peak_memory_bytes": document.peak_memory(),
    }
    return Studied(written, results, write_study(output, written))


def known(name: str) -> Study:
    """Look a study up."""
    if name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    return STUDIES[name]


def _of_another(folder: Path, name: str, scale: str) -> bool:
    earlier = STUDY.earlier(folder)
    shown = (earlier or {}).get("scale")
    of = shown.get("name") if isinstance(shown, Mapping) else None
    return earlier is not None and (earlier.get("study"), of) != (name, scale)


def _scale(scale: Scale, settings: Sequence[str], seeds: int | None) -> Scale:
    """Take what was asked for."""
    names = [one.key for one in scale.settings]
    for asked in settings:
        if asked not in names:
            raise UnknownNameError("setting", asked, names)
    if seeds is not None and seeds < 1:
        raise InputError(f"seeds: expected at least 1, got {seeds}")
    kept = tuple(one for one in scale.settings if not settings or one.key in settings)
    return replace(scale, settings=kept, seeds=scale.seeds if seeds is None else seeds)


def _data(settings: Sequence[Setting], data_dir: str | None) -> dict[str, Records]:
    """Load each data set once, all of them before anything is trained."""
    loaded: dict[str, Records] = {}
    for one in settings:
        name = str(one.base["dataset"])
        if name not in loaded:
            loaded[name] = MADE[name]() if name in MADE else load(name, data_dir=data_dir)
    return {one.key: loaded[str(one.base["dataset"])] for one in settings}


@dataclass(frozen=True)
class _Noting(Results):
    """Results without any number, which note what they are asked for."""

    noted: set[tuple[str, str]] = field(default_factory=set)

    def get(self, setting: str, name: str, metric: str) -> None:
        self.noted.add((name, metric))


def asked(study: Study, setting: Setting) -> list[list[str]]:
    """List the numbers that claims and tables ask of a setting: what was kept before one was asked for may lack it."""
    nothing = _Noting((setting,), {setting.key: [Found()]})
    for claim in study.claims:
        claim.parts(nothing)
    return [*map(list, sorted(nothing.noted)), *([column.metric] for column in study.columns)]


class _Runner:
    """Measures settings, or finds what was measured."""

    def __init__(
        self,
        study: Study,
        data: Mapping[str, Records],
        machine: Mapping[str, Any],
        folder: Path,
        progress: Callback | None,
        tell: Callable[[str], None],
    ) -> None:
        self._study, self._data, self._machine, self._folder = study, data, machine, folder
        self._progress, self._tell = progress, tell
        self.kept = 0

    def found(self, setting: Setting, seed: int) -> Found:
        """Measure one setting with one seed, unless that was done."""
        records = self._data[setting.key]
        said = {
            "format": FORMAT,
            "reticent": VERSION,
            "study": self._study.name,
            "base": dict(setting.base),
            "options": dict(setting.options),
            "asked": asked(self._study, setting),
            "seed": seed,
            "data": records.digest,
            "cpu": self._machine["device"] == "cpu",
        }
        path = self._folder / PARTS / f"{setting.key}-{seed}-{identity(said)}.json"
        kept = _read(path)
        if kept is not None:
            self.kept += 1
            return kept
        work = self._folder / PARTS / f"{setting.key}-{seed}"
        bench = Bench(setting, seed, records, self._machine, work, self._progress, self._tell)
        found = self._study.measure(bench)
        with replacing(path) as stream:
            json.dump({"of": said, "found": found.to_json()}, stream, allow_nan=False, ensure_ascii=False)
        return found


def _read(path: Path) -> Found | None:
    """Read what was kept; what cannot be read is measured again."""
    if not path.is_file():
        return None
    try:
        return Found.from_json(json.loads(path.read_text(encoding="utf-8"))["found"])
    except (ValueError, KeyError, TypeError):
        log.warning("%s cannot be read, so that it is measured again", path)
        return None
