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

from reticent import seeds, user_files
from reticent.auditing.claimed_rates import ROUNDING
from reticent.errors import SpecError
from reticent.findings.base import Plain
from reticent.findings.search import SearchDocument, Seeds, Tried
from reticent.jobs.base import Reported, Work
from reticent.jobs.compare import run as compare
from reticent.jobs.comparison.sources import check_arguments
from reticent.jobs.defenses import NONE, parts_of, with_option
from reticent.options import AuditConfig
from reticent.population.train import Callback
from reticent.report.kinds import page
from reticent.report.output import SEARCH, Output
from reticent.say.search import spoken
from reticent.torch_state import fixed

MOST = 60
"""Most combinations of values; each is a population."""
ARGUMENTS = ("defense", "over", "lost", "out", "progress", "stage", "note")


@dataclass(frozen=True, eq=False)
class Searched(Reported[SearchDocument]):
    """A search that ran; among its files are those of the comparison that it is."""

    @property
    def chosen(self) -> str | None:
        """The defense with the chosen values, or None where no value keeps the accuracy."""
        return self.findings.chosen


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
    lowest AUC is chosen; of equal ones the first. A value with which the defense never acted is not chosen. Estimates
    decide, not intervals: the choice is no finding.

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
    output, work = Output.checked(user_files.path(out), SEARCH, [values.get("dataset")]), Work()
    compared = compare(
        defenses=[NONE, *rows],
        early_stopped=False,
        out=user_files.path(out) / "tried",
        progress=progress,
        stage=stage,
        note=note,
        values=values | {"seed": own},
        begin=output.begin,
    )
    found = {row.name: row for row in compared.findings.rows}
    same = {text for text in rows if compared.findings.tests.same(text, NONE)}
    tried = tuple(Tried.of(found[text], options, text in same) for text, options in rows.items())
    undefended = Tried.of(found[NONE], {})
    chosen = choose(tried, undefended, lost)
    written = spoken(
        SearchDocument(
            defense=defense,
            over={key: tuple(values) for key, values in over.items()},
            lost=lost,
            fpr=compared.findings.fpr,
            confidence=compared.findings.confidence,
            data=compared.findings.data,
            chosen=None if chosen is None else chosen.defense,
            seed=Seeds(audit=seed, search=own),
            undefended=undefended,
            tried=tried,
            environment=work.environment(),
        )
    )
    return Searched(written, (*output.write(written, {"search.html": page(written)}), *compared.files))


def _rows(defense: str, over: Mapping[str, Sequence[Any]]) -> dict[str, Plain]:
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


def choose(tried: Sequence[Tried], undefended: Tried, lost: float) -> Tried | None:
    """Choose the least AUC of those that act and keep the accuracy; of equal ones the first."""
    most = lost + ROUNDING
    able = [one for one in tried if not one.idle and undefended.accuracy.mean - one.accuracy.mean <= most]
    return min(able, key=lambda one: one.auc.mean, default=None)
