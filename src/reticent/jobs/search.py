"""Choose an option of a defense by trying values of it, on models that no reported audit is made of.

A value that is chosen by the audit that is then reported looks better than it is. So the values are tried on models of
their own: another membership, other random streams and other roles, drawn from the master seed. What is chosen is then
audited with the master seed itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from reticent import opening, seeds
from reticent.ambient import fixed
from reticent.errors import SpecError
from reticent.jobs import document as documents
from reticent.jobs.compare import compare
from reticent.jobs.comparison.sources import check_arguments
from reticent.jobs.config import AuditConfig
from reticent.jobs.defenses import NONE, parts_of, with_option
from reticent.population.train import Callback
from reticent.report.place import SEARCH, take_folder
from reticent.report.search import write_search
from reticent.report.watch import Watch
from reticent.rounding import decimals, fraction, level, percent

SCHEMA = "reticent.search/1"
MOST = 60
"""Most combinations of values; each is a population."""
ARGUMENTS = ("defense", "over", "lost", "out", "progress", "stage", "note")


@dataclass(frozen=True, eq=False)
class Searched:
    """A search that ran.

    Attributes:
        document: what ``search.json`` holds.
        files: search.html, search.json, and the comparison that the search is.
    """

    document: dict[str, Any]
    files: tuple[Path, ...] = ()

    @property
    def chosen(self) -> str | None:
        """The defense with the chosen values, or None where no value keeps the accuracy."""
        found: str | None = self.document["chosen"]
        return found

    @property
    def sentence(self) -> str:
        """What was chosen, in one sentence."""
        return str(self.document["sentence"])


@fixed()
def search(
    defense: str,
    over: Mapping[str, Sequence[Any]],
    *,
    lost: float = 0.02,
    out: str | Path = "reticent-search",
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    note: Callable[[str], None] | None = None,
    **values: Any,
) -> Searched:
    """Try values of a defense's options on models of their own, and choose the one that leaks least.

    Of the values whose accuracy on non-members is at most `lost` below that of the undefended recipe, the one of the
    lowest AUC is chosen; of equal ones the first. Estimates decide, not intervals: the choice is no finding.

    Args:
        defense: a name of `reticent defenses`, with options, such as ``cwrf+relaxloss``.
        over: option to the values that are tried; with several options, all combinations. An option is named as in the
            defense, or as ``mist.weight`` where several of its parts have one of that name.
        lost: how much accuracy may be lost, a fraction.
        out: folder for search.html and search.json, and for the comparison of all that was tried.
        progress: called after every model.
        stage: called with a word before each stage.
        note: called with a sentence for each row.
        **values: keys of `AuditConfig` or `Recipe` that hold for all, as for `reticent.audit`; ``seed`` is that of the
            audit that is to be reported.

    Returns:
        The search.

    Raises:
        SpecError: no values, too many combinations, an option that the defense does not have, or a seed that is no
            whole number.

    Cost: one population for each combination of values, and one of the undefended recipe.

    Example:
        >>> import reticent
        >>> found = reticent.search("cwrf+relaxloss", {"rate": [0.001, 0.01, 0.05]}, models=8)  # doctest: +SKIP
        >>> reticent.audit(defense=found.chosen)  # doctest: +SKIP
    """
    check_arguments(values, ARGUMENTS)
    if not 0 <= lost < 1:
        raise SpecError(f"lost: expected a fraction of accuracy from 0 to below 1, got {lost}")
    rows = _rows(defense, over)
    seed = values.pop("seed", None)
    seed = AuditConfig().seed if seed is None else AuditConfig(seed=seed).seed
    own = seeds.integer(seed, "search") % 2**31
    watch = Watch.begin(take_folder(opening.path(out), SEARCH, [values.get("dataset")]), SEARCH)
    compared = compare(
        defenses=[NONE, *rows],
        early_stopped=False,
        seed=own,
        out=opening.path(out) / "tried",
        progress=progress,
        stage=stage,
        note=note,
        **values,
    )
    found = {row["name"]: row for row in compared.document["rows"]}
    shown = [_point(text, options, found[text]) for text, options in rows.items()]
    undefended = _point(NONE, {}, found[NONE])
    chosen = _choose(shown, undefended, lost)
    written = {
        "schema": SCHEMA,
        "defense": defense,
        "over": {key: list(tried) for key, tried in over.items()},
        "lost": lost,
        "fpr": compared.document["fpr"],
        "confidence": compared.document["confidence"],
        "data": compared.document["data"],
        "chosen": None if chosen is None else chosen["defense"],
        "sentence": _sentence(chosen, undefended, lost, compared.document["fpr"]),
        "seed": {"audit": seed, "search": own},
        "undefended": undefended,
        "tried": shown,
        "environment": documents.versions(),
    }
    watch.check(written)
    return Searched(written, (*write_search(opening.path(out), written), *compared.files))


def _rows(defense: str, over: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Any]]:
    """List the defenses that are tried, each with the values that make it."""
    if not parts_of(defense):
        raise SpecError("search: 'none' has no options: give a defense, such as cwrf+relaxloss")
    if not over or not all(len(tried) for tried in over.values()):
        raise SpecError("search: expected values to try, such as rate=0.001,0.01,0.05, got none")
    for key, tried in over.items():
        if len({repr(value) for value in tried}) < len(tried):
            raise SpecError(f"search: {key}: a value is given twice in {', '.join(map(str, tried))}")
    combinations = list(product(*over.values()))
    if len(combinations) > MOST:
        raise SpecError(f"search: expected at most {MOST} combinations of values, got {len(combinations)}")
    rows = {}
    for combination in combinations:
        options, text = dict(zip(over, combination, strict=True)), defense
        for key, value in options.items():
            text = with_option(text, key, value)
        rows[text] = options
    return rows


def _point(defense: str, options: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "defense": defense,
        "options": dict(options),
        "accuracy": row["accuracy"]["non_members"],
        "auc": row["auc"],
        "tpr": row["tpr"],
        "attack": row["auc_attack"],
        "epsilon": row["epsilon"],
    }


def _choose(tried: Sequence[dict[str, Any]], undefended: Mapping[str, Any], lost: float) -> dict[str, Any] | None:
    least = undefended["accuracy"]["mean"] - lost
    able = [one for one in tried if one["accuracy"]["mean"] >= least]
    return min(able, key=lambda one: one["auc"]["mean"], default=None)


def _sentence(chosen: Mapping[str, Any] | None, undefended: Mapping[str, Any], lost: float, fpr: float | None) -> str:
    kept = (
        f"an accuracy at most {100 * lost:g} points below the {percent(undefended['accuracy']['mean'])} of no defense"
    )
    if chosen is None:
        return f"No value that was tried keeps {kept}: nothing is chosen."
    found = f"AUC {fraction(chosen['auc']['mean'])}, {fraction(undefended['auc']['mean'])} undefended"
    if chosen["tpr"] is not None and fpr is not None and chosen["tpr"]["mean"] is not None:
        found += f"; {percent(chosen['tpr']['mean'], decimals(fpr))} of members found at {level(fpr)} false alarms"
    return (
        f"Of the values with {kept}, {chosen['defense']} leaks least ({found}; accuracy "
        f"{percent(chosen['accuracy']['mean'])}). This is a choice and no finding: audit it, on other models, with "
        f'reticent audit --defense "{chosen["defense"]}".'
    )
