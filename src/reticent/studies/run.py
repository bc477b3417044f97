"""Run a study: measure each setting with each seed, or find what was measured; judge the claims; write the files."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent import user_files
from reticent.data.load import load
from reticent.data.official import check_folder
from reticent.data.records import Records
from reticent.errors import InputError, UnknownNameError
from reticent.findings.study import StudyDocument, Verdict
from reticent.jobs.base import Reported, Work
from reticent.options import DataOptions, Options
from reticent.population.train import Callback
from reticent.population.worker import choose_device
from reticent.report.files import make_folder, write_file
from reticent.report.output import EARLIER, STUDY, Output, replacing
from reticent.say.grammar import sentence
from reticent.say.study import beforehand
from reticent.spec import identity
from reticent.store import at
from reticent.studies import STUDIES, own_table
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.document import assemble
from reticent.studies.presets import MADE
from reticent.torch_state import fixed
from reticent.version import VERSION

log = logging.getLogger(__name__)
FORMAT = 9
"""Of what is kept of a setting and seed; raise it where a number is measured otherwise, so that all are measured again.

Another column, or a claim with another rule, needs no such care: they are a part of the file's name."""
PARTS = "parts"
"""Folder for what is kept, inside the study's own."""


@dataclass(frozen=True, eq=False)
class Studied(Reported[StudyDocument]):
    """A study that ran, with its numbers by setting, row and metric."""

    results: Results

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdict by key of the claim."""
        return {claim.key: claim.verdict for claim in self.findings.claims}


@fixed()
def study(
    name: str | Study,
    *,
    scale: str = "tiny",
    settings: Sequence[str] = (),
    seeds: int | None = None,
    dataset: Any = None,
    data_dir: str | Path | None = None,
    store: str | Path = "reticent-store",
    out: str | Path | None = None,
    workers: int | None = None,
    device: str = "auto",
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    note: Callable[[str], None] | None = None,
    **reading: Any,
) -> Studied:
    """Repeat a paper's table or figure: train, measure, judge each claim, and write our numbers beside the paper's.

    What was measured of a setting and seed lies in ``out``, finished models in the store: the same call after any
    interruption goes on, and nothing is trained twice.

    Args:
        name: of `STUDIES`, or a study of your own.
        scale: tiny (minutes on two cores), small (hours), paper (the paper's own setting, for a GPU), or gpu
            (a part of it, for one GPU; of the studies of CWRF and PPTP that train defenses).
        settings: keys of the scale's settings to run; by default all.
        seeds: how many; by default as the scale says.
        dataset: a table of your own, in the place of the scale's: a file, a pair (x, y), or whatever else
            `reticent.audit` takes. It alone is run; the defender has 1,000 of its records, or a fifth if that is less.
        data_dir: where official data files lie.
        store: folder of finished models.
        out: folder for study.html, study.md, study.json and the figures; by default ``reticent-study/NAME-SCALE``, and
            with `dataset` its name behind that.
        workers: processes to train in; by default one a core on the CPU.
        device: auto, cpu, cuda or cuda:N.
        progress: called after every model.
        stage: called with words before each part.
        note: called with sentences, before anything is trained: which claims cannot be told at this scale, and that
            ``out`` holds the report of another study or scale, which this one replaces.
        **reading: keys of `DataOptions`, how `dataset` is read: ``label``, ``not_features`` ...

    Returns:
        The study.

    Raises:
        InputError: no seed; `dataset` is no table, or the scale has no MLP on a table.
        MissingFileError: there is no folder `data_dir`.

    Example:
        >>> import reticent
        >>> done = reticent.study("cwrf-ablation", scale="tiny")  # doctest: +SKIP
        >>> print(done.sentence)  # doctest: +SKIP
    """
    check_folder(data_dir)
    if isinstance(name, str) and name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    chosen = STUDIES[name] if isinstance(name, str) else name
    where = None if data_dir is None else str(data_dir)
    given, data = _settings(chosen, scale, settings, seeds, dataset, DataOptions(**reading), where)
    folder = user_files.path(out) if out is not None else Path("reticent-study") / named(chosen.name, scale, dataset)
    machine: Options = {"store": str(store), "device": choose_device(device)}
    machine |= {"workers": workers} if workers is not None else {}
    output = Output.checked(folder, STUDY)
    at(machine["store"]).open()
    output.begin()
    make_folder(folder / PARTS)
    work, clock, tell = Work(stage, progress), time.perf_counter(), note or log.info
    if _of_another(folder / EARLIER, chosen.name, scale):
        tell(replacing(folder, STUDY))
    if told := beforehand(*chosen.untellable(given)):
        tell(sentence(told))
    benches = [
        Bench(one, seed, data[one.key], machine, folder / PARTS / f"{one.key}-{seed}")
        for one in given.settings
        for seed in range(one.seeds or given.seeds)
    ]
    paths = [_part(chosen, bench) for bench in benches]
    earlier = [_read(path) for path in paths]
    kept = sum(one is not None for one in earlier)
    # How many models a part trains is not known before, so that only whole parts are counted.
    work.divide("part", [one is None for one in earlier])
    found: dict[str, list[Found]] = {one.key: [] for one in given.settings}
    for bench, path, before in zip(benches, paths, earlier, strict=True):
        piece = work.piece(f"{bench.setting.label}, seed {bench.seed}", model=0)
        found[bench.setting.key].append(before or _measured(chosen, replace(bench, work=piece), path))
    results = Results(given.settings, found)
    where_run = {key: value for key, value in machine.items() if key != "store"}
    environment = work.environment(**where_run, seconds=round(time.perf_counter() - clock, 3), parts_found=kept)
    written = assemble(chosen, scale, given, results, data).with_(environment=environment)
    return Studied(written, output.write(written, _files(written)), results)


def named(study: str, scale: str, dataset: Any = None) -> str:
    """Name the folder of what a study finds at a scale."""
    return f"{study}-{scale}" if dataset is None else f"{study}-{scale}-{own_table.key(dataset)}"


def _files(document: StudyDocument) -> dict[str, str | bytes]:
    from reticent.report.kinds import study as kind  # draws with Matplotlib, which takes half a second to import
    from reticent.report.pictures.study import files
    from reticent.report.render.html import html
    from reticent.report.render.markdown import markdown

    blocks = kind.study(document)
    made: dict[str, str | bytes] = {"study.html": html(blocks), "study.md": markdown(blocks)}
    for figure in document.figures:
        made[figure.svg], made[figure.png] = files(figure)
    return made


def _of_another(folder: Path, name: str, scale: str) -> bool:
    earlier = STUDY.earlier(folder)
    shown = (earlier or {}).get("scale")
    of = shown.get("name") if isinstance(shown, Mapping) else None
    return earlier is not None and (earlier.get("study"), of) != (name, scale)


def _settings(
    study: Study,
    scale: str,
    settings: Sequence[str],
    seeds: int | None,
    dataset: Any,
    reading: DataOptions,
    data_dir: str | None,
) -> tuple[Scale, dict[str, Records]]:
    """Take the settings that are run, with their data."""
    whole = study.scale(scale)
    if dataset is None:
        for key in reading.given():
            raise InputError(f"{key}: says how a table of your own is read, and no dataset is given: give one")
        given = _scale(whole, settings, seeds)
        return given, _data(given.settings, data_dir)
    replaced = own_table.table(study, scale)
    own = own_table.read(dataset, reading, data_dir)
    about = f"{own.called}, trained, defended and attacked as the scale has it of {replaced.label}."
    given = _scale(replace(whole, settings=(own.setting(replaced),), about=about), settings, seeds)
    return given, {own.key: own.records}


def _scale(scale: Scale, settings: Sequence[str], seeds: int | None) -> Scale:
    names = [one.key for one in scale.settings]
    for asked in settings:
        if asked not in names:
            raise UnknownNameError("setting", asked, names)
    if seeds is not None and seeds < 1:
        raise InputError(f"seeds: expected at least 1, got {seeds}")
    kept = tuple(one for one in scale.settings if not settings or one.key in settings)
    if seeds is None:
        return replace(scale, settings=kept)
    return replace(scale, settings=tuple(replace(one, seeds=None) for one in kept), seeds=seeds)


def _data(settings: Sequence[Setting], data_dir: str | None) -> dict[str, Records]:
    """Load each data set once, all of them before anything is trained."""
    loaded: dict[str, Records] = {}
    for one in settings:
        name = str(one.base["dataset"])
        if name not in loaded:
            loaded[name] = MADE[name]() if name in MADE else load(name, data_dir=data_dir)
    return {one.key: loaded[str(one.base["dataset"])] for one in settings}


def _part(study: Study, bench: Bench) -> Path:
    """Name the file that keeps what one setting gave with one seed, by all that it depends on."""
    said = {
        "format": FORMAT,
        "reticent": VERSION,
        "study": study.name,
        "base": dict(bench.setting.base),
        "options": dict(bench.options),
        "asked": [*([one.key, one.rule] for one in study.claims), *(column.key for column in study.columns)],
        "seed": bench.seed,
        "data": bench.records.digest,
        "cpu": bench.machine["device"] == "cpu",
    }
    return bench.folder.with_name(f"{bench.folder.name}-{identity(said)}.json")


def _measured(study: Study, bench: Bench, path: Path) -> Found:
    found = study.measure(bench)
    write_file(path, found.to_json())
    return found


def _read(path: Path) -> Found | None:
    """Read what was kept; what cannot be read is measured again."""
    try:
        return Found.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        log.warning("%s cannot be read, so that it is measured again", path)
        return None
