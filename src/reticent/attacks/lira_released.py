"""LiRA as its authors' code computes it, for reproduction; prefer `lira`.

Paper: Carlini et al. (2022); code: tensorflow/privacy, `research/mi_lira_2021/plot.py`. It differs from the paper in
this: centres are medians; every record keeps only as many references, in row order, as the record that has fewest; the
fixed variance is the spread of all margins together, between records too, and online the IN value serves both sides;
offline the test is two-sided, so that a margin far below the OUT references' counts as a member's.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from reticent.attacks import reference_counts
from reticent.attacks.base import AttackEntry, Needs, Problem, Rows
from reticent.signals.matrix import Floats
from reticent.spec import Spec

TINY = 1e-30
"""Added to every standard deviation."""
LOG_ROOT = 0.5 * np.log(2 * np.pi)


class LiraReleased(Spec):
    """Options of the released LiRA."""

    method: ClassVar[str] = "lira-released"

    mode: Literal["online", "offline"] = "online"
    """Compare IN with OUT references, or test against OUT references alone, two-sided."""
    variance: Literal["per-record", "fixed"] = "fixed"
    """A standard deviation for each record and query, or one for all."""
    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record are used; by default all."""


def needs(spec: LiraReleased) -> Needs:
    """Say which references it needs."""
    least = 2 if spec.variance == "per-record" else 1
    offline = spec.mode == "offline"
    return Needs(references_in=0 if offline else least, references_out=least, out_only=offline)


def score(spec: LiraReleased, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the released log-likelihood ratio, or by minus the OUT log-density; a mean over queries.

    Cost: O(T R N Q): each target by itself, since what it is left with depends on it; the signals are read T times, or
    2 T times with the fixed variance.
    """
    queries = spec.queries or problem.signals.queries
    scores = np.zeros(problem.shape)
    for row, target in enumerate(problem.targets):
        _score_one(spec, problem, int(target), queries, scores[row])
    return scores


def _score_one(spec: LiraReleased, problem: Problem, target: int, queries: int, scores: Floats) -> None:
    references = problem.references[problem.references != target]
    count_in, count_out = next(reference_counts.counts(problem.membership, np.array([target]), references))
    enough = needs(spec)
    known = (count_in >= enough.references_in) & (count_out >= enough.references_out)  # Others are guessed.
    keep_in, keep_out = int(count_in[known].min()), int(count_out[known].min())
    fixed_kind = spec.mode == "online"  # online, the IN value serves both sides
    fixed = None
    if spec.variance == "fixed":
        fixed = _fixed(problem, references, known, keep_in if fixed_kind else keep_out, queries, member=fixed_kind)
    for records, margins, inside in _read(problem, np.append(references, target), known, queries):
        own, others, held = margins[-1], margins[:-1], inside[:-1]
        result = _minus_log_density(own, _first(others, ~held, keep_out), fixed)
        if spec.mode == "online":
            result = result - _minus_log_density(own, _first(others, held, keep_in), fixed)
        scores[records] = result.sum(axis=1) / queries


def _read(
    problem: Problem, models: Rows, known: NDArray[np.bool_], queries: int
) -> Iterator[tuple[Rows, Floats, NDArray[np.bool_]]]:
    """Read what models say of known records, by blocks: their numbers, margins ``(K, n, Q)`` and who holds them."""
    for block in problem.signals.blocks(8 * problem.signals.queries):
        records = block.start + np.flatnonzero(known[block])
        margins = np.asarray(problem.signals.margins[models, block], dtype=np.float64)
        yield records, margins[:, known[block], :queries], problem.membership.matrix[np.ix_(models, records)]


def _first(margins: Floats, mask: NDArray[np.bool_], keep: int) -> Floats:
    """Take every record's first `keep` masked references: ``(n, keep, Q)``."""
    chosen = mask & (np.cumsum(mask, axis=0) <= keep)
    return margins.swapaxes(0, 1)[chosen.T].reshape(mask.shape[1], keep, -1)


def _minus_log_density(target: Floats, kept: Floats, fixed: float | None) -> Floats:
    deviation = (kept.std(axis=1) if fixed is None else fixed) + TINY
    return np.asarray(0.5 * ((target - np.median(kept, axis=1)) / deviation) ** 2 + np.log(deviation) + LOG_ROOT)


def _fixed(
    problem: Problem, references: Rows, known: NDArray[np.bool_], keep: int, queries: int, *, member: bool
) -> float:
    """Compute the standard deviation of all kept margins together, in two passes, one record after the other."""
    mean = 0.0
    for power in (1, 2):
        total, count = 0.0, 0
        for _, margins, inside in _read(problem, references, known, queries):
            kept = _first(margins, inside == member, keep)
            each = ((kept - mean) ** power).reshape(len(kept), -1).sum(axis=1)
            total = float(np.add.accumulate(np.concatenate([[total], each]))[-1])
            count += kept.size
        mean = total / count if power == 1 else mean
    return float(np.sqrt(total / count))


ENTRY = AttackEntry(
    spec=LiraReleased,
    score=score,
    needs=needs,
    summary="LiRA as its authors' code computes it, for reproduction.",
    paper="Carlini et al. (2022), tensorflow/privacy, research/mi_lira_2021",
    access="margins",
    strong=True,
    usual=False,
)
