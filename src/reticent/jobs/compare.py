"""Compare recipes: train each under the same membership, attack each, and test in pairs what differs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reticent import opening, seeds
from reticent.ambient import fixed
from reticent.auditing.attack_audit import FPRS
from reticent.auditing.comparison.compare import compare as paired
from reticent.errors import InputError
from reticent.jobs import audit as auditing
from reticent.jobs import document
from reticent.jobs.attack import attack
from reticent.jobs.baseline import check_baseline, usual_baseline
from reticent.jobs.config import Job
from reticent.jobs.contenders import Contender, brought, trained, unaware
from reticent.jobs.controls import control
from reticent.jobs.early import Stop, stops
from reticent.jobs.entrants import Entrant, entrants
from reticent.jobs.row_folders import RowFolders
from reticent.jobs.sources import Defenses, Finished, Recipes, check_arguments, check_runs, named, place
from reticent.jobs.using import finished, using
from reticent.jobs.work import Work
from reticent.population.train import Callback
from reticent.report.comparison import write_comparison
from reticent.report.output import AUDIT, Output

SCHEMA = "reticent.comparison/1"
OUTPUTS = "given outputs"
"""What the data of outputs that were brought are called."""
ARGUMENTS = ("recipes", "defenses", "baseline", "early_stopped", "fpr", "progress", "stage", "note")
"""Of `compare`, beside the keys of a configuration."""
REPLICATES = 1000
"""Of the paired bootstrap, where the call does not say."""


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison that ran.

    Attributes:
        document: what ``compare.json`` holds.
        audits: the document of each row's audit, by name.
        files: compare.html, compare.csv and compare.json.
    """

    document: dict[str, Any]
    audits: dict[str, dict[str, Any]]
    files: tuple[Path, ...] = ()

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        return str(self.document["sentence"])


@fixed()
def compare(
    *runs: str | Path | Finished,
    recipes: Recipes = (),
    defenses: Defenses = (),
    baseline: str | None = None,
    early_stopped: bool = True,
    fpr: float | None = None,
    out: str | Path = "reticent-compare",
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    note: Callable[[str], None] | None = None,
    **values: Any,
) -> Compared:
    """Compare recipes, or audits that ran: accuracy against what they give away, with paired tests.

    All are trained under the same membership and random streams, and audited on the same records. Beside each recipe
    stands its control: the baseline, stopped early at the same accuracy. Finished models are found in the store.

    Args:
        *runs: folders of audits, results of `reticent.audit`, or ``.npz`` files of outputs as ``reticent attack`` takes
            them.
        recipes: TOML files of audits, or tables of keys and values; in a list, or by name.
        defenses: names of `reticent defenses`, or one of them, with options as ``dpsgd:epsilon=8`` or in a table with
            ``name``; "none" is the undefended recipe, and comes first where no row is undefended, whatever the
            baseline.
        baseline: name of the undefended one; by default the first, or the only undefended one if the first is defended.
        early_stopped: train the controls.
        fpr: false-positive rate of the comparison; by default the smallest that is well measured.
        out: folder for compare.html, compare.csv and compare.json, and for a folder with each audit.
        progress: called after every model.
        stage: called with a word before each stage.
        note: called with a sentence for each row: how many of its models are in the store, and how many are trained.
        **values: keys of `AuditConfig` or `Recipe` that hold for all, as for `reticent.audit`.

    Returns:
        The comparison.

    Raises:
        UnknownNameError: no row is called as `baseline` says, or an argument that there is not.
        InputError: runs by name, fewer than two, or two that cannot be paired; a rate that audits do not have; or files
            that would be replaced, and are read here or are none of an earlier comparison.
        UnwrittenError: the files cannot be written, or another command wrote others there meanwhile.

    Example:
        >>> import reticent
        >>> recipes = {"plain": {}, "decay": {"weight_decay": 0.01}}
        >>> done = reticent.compare(recipes=recipes, models=8, epochs=5)  # doctest: +SKIP
        >>> print(done.sentence)  # doctest: +SKIP
    """
    check_runs(values)
    check_arguments(values, ARGUMENTS)
    _check_rate(fpr)
    found = entrants(runs, recipes, values, defenses)
    first = usual_baseline(found) if baseline is None else baseline
    check_baseline(first, found)
    kind = str(values.get("format") or "html")
    read = [path for run in runs for path in AUDIT.files(place(run))]
    folders = RowFolders(opening.path(out), [*read, *named(recipes).values(), values.get("dataset")], kind)
    replacing = [folders.take(one.name, one.kind) for one in found]
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with ExitStack() as held:
        owners: dict[tuple[str, str], str] = {}
        for name, job in ((one.name, one.job) for one in found if one.job is not None):
            held.enter_context(using(job.config.store, job.population))
            owner = owners.setdefault((job.config.store, job.population.training_id(0)), name)
            (note or _silent)(_found(name, job, owner))
        for told in filter(None, replacing):
            (note or _silent)(told)
        began = {one.name: Output.begin(folders.of(one.name, one.kind), AUDIT, one.kind) for one in found}
        maker = _Maker(folders, began, progress, stage or _silent, note or _silent, held)
        contenders = [row for one in found for row in maker.contenders(one)]
        notes: list[str] = []
        defended = next(one for one in found if one.name == first).defended
        if early_stopped:
            notes = control(maker, found, contenders, first)
        maker.stage("comparison")
        rate = contenders[0].document["verdict"]["fpr"] if fpr is None else fpr
        written = _document(contenders, first, rate, values, seed=_seed(found, values))
        if defended:
            notes.append(
                f"How the rows stand to an undefended model: the baseline, {first}, is itself defended; give an "
                "undefended one with --baseline."
            )
        written["cannot_say"] = [*_noticed(contenders), *written["cannot_say"], *notes]
        written["environment"] = document.versions().to_json() | {
            "started": started,
            "peak_memory_bytes": document.peak_memory(),
            "rows": {one.name: one.costs() for one in contenders},
        }
        files = write_comparison(folders.output, written)
        for told in folders.left():
            (note or _silent)(told)
        return Compared(written, {one.name: one.document for one in contenders}, files)


def _noticed(contenders: Sequence[Contender]) -> list[str]:
    """Pass on what there is to say of rows: models that did not learn, a defense that never acted."""
    return [f"{row.name}: {sentence}" for row in contenders for sentence in row.notices]


def _silent(_: str) -> None:
    """Tell nobody."""


def _found(name: str, job: Job, owner: str) -> str:
    """Say how many models of a row are in the store, and how many are not; or whose they are, if an earlier row's."""
    total, store = job.population.models, job.config.store
    there = finished(store, job.population)
    if there == total:
        return f"{name}: all {total} models are in the store {store}"
    if owner != name:
        return f"{name}: uses the models of {owner}: no other ones are trained"
    return (
        f"{name}: {there} of {total} models are in the store {store}, so {total - there} will be trained "
        "(if they are in another folder, give it with --store)"
    )


class _Maker:
    """Makes the audit of one row, and tells how far it is."""

    def __init__(
        self,
        folders: RowFolders,
        began: Mapping[str, Output],
        progress: Callback | None,
        tell: Callable[[str], None],
        note: Callable[[str], None],
        held: ExitStack,
    ) -> None:
        self._folders, self._began, self._held = folders, began, held
        self._progress, self._tell, self._note = progress, tell, note
        self._prefix = ""

    def stage(self, word: str) -> None:
        """Tell a stage, after the name of the row that it belongs to."""
        self._tell(f"{self._prefix}{word}")

    def contenders(self, entrant: Entrant) -> list[Contender]:
        """Audit one entrant, and write its report; by one attacker, or by two."""
        if entrant.job is not None:
            return self.train(entrant.name, entrant.job)
        assert entrant.brought is not None
        self._prefix = f"{entrant.name}: "
        arrays: dict[str, Any] = dict(entrant.brought.arrays)
        config = entrant.brought.config
        arrays |= {key: getattr(config, key) for key in config.model_fields_set - {"attack", "group_by"}}
        arrays |= {"options": config.attack, "name": entrant.name}
        done = attack(**arrays, out=self._folders.of(entrant.name, entrant.kind), stage=self.stage)
        self._prefix = ""
        return [brought(entrant.name, done)]

    def train(self, name: str, job: Job, where: Stop | None = None) -> list[Contender]:
        """Train, or find, one population, audit it, and write its report."""
        self._prefix = f"{name}: "
        if where is not None:  # Populations of recipes are held from the start.
            self._held.enter_context(using(job.config.store, job.population))
        output = self._began.get(name)
        if output is None:
            kind = job.config.format
            output = Output.begin(self._folders.of(name, kind, self._note), AUDIT, kind)
        evaluated = auditing.evaluate(job, Work(self.stage, self._progress))
        done = auditing.write(evaluated, output)
        self._prefix = ""
        row = trained(name, evaluated, done, where)
        other = unaware(row, evaluated)
        return [row] if other is None else [row, other]

    def stops(self, job: Job, accuracies: Sequence[float]) -> list[Stop] | None:
        """Find where the undefended recipe has each accuracy."""
        return stops(job, accuracies, progress=self._progress, stage=self.stage)


def _check_rate(fpr: float | None) -> None:
    """Refuse a rate that no audit here measures, of finished models either: their attacks run anew."""
    if fpr is not None and fpr not in FPRS:
        raise InputError(f"fpr: expected one of {', '.join(f'{rate:g}' for rate in FPRS)}, got {fpr}")


def _seed(found: Sequence[Entrant], values: Mapping[str, Any]) -> int:
    return next((one.job.config.seed for one in found if one.job is not None), int(values.get("seed") or 0))


def _document(
    contenders: Sequence[Contender], baseline: str, fpr: float | None, values: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Put the paired tests and the facts of the rows together, in the order of ``docs/schema.md``."""
    by_name = {one.name: one for one in contenders}
    confidence = contenders[0].document["attacks"][0]["confidence"]
    body = paired(
        [one.entry() for one in contenders],
        fpr=fpr,
        rng=seeds.rng(seed, "comparison"),
        confidence=confidence,
        replicates=int(values.get("replicates") or REPLICATES),
        baseline=baseline,
    )
    facts = {name: one.facts(by_name[baseline]) for name, one in by_name.items()}
    data = contenders[0].document["data"]
    keys = ("sentence", "detail", "fpr", "confidence", "baseline", "cannot_say")
    return {
        "schema": SCHEMA,
        # Outputs that were brought are called as their file, which is but one row's name.
        "data": data | ({"name": OUTPUTS} if data["kind"] == "outputs" else {}),
        **{key: body[key] for key in keys},
        "rows": [row | facts[row["name"]] for row in body["rows"]],
        "pairs": body["pairs"],
    }
