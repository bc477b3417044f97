"""The claims of `sparsity`; the differences that matter were fixed before anything was measured."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from reticent.findings.study import Reason
from reticent.options import Options
from reticent.studies.base import Claim, Parts, Results, Setting, each
from reticent.studies.excess import UNMATCHED, against, beyond
from reticent.studies.judging import Part, better, no_worse, reaches, voided
from reticent.studies.metrics import AUC, JUDGED, POINTS, Ask, differ
from reticent.studies.sparsity.rows import (
    ALIKE,
    CLAIMED,
    DENSE,
    ENDS,
    FACTORED,
    FIRST,
    LAST,
    SLOPE,
    SLOPE_FROM,
    SMALLER,
    claimed,
    factored,
    less,
    pruned,
)

NETWORKS = ("ResNet",)
"""The kind of network that the paper has."""
LACKS = "a control that the paper lacks"
EVERY = "under LiRA, RMIA and the learned attack each"
Rows = Callable[[Options], list[str]]


def _slope(rows: str) -> Parts:
    """Ask whether the gain in defence is the paper's multiple of the loss in accuracy, within a factor."""

    def ask(results: Results, one: Setting) -> Iterator[Part]:
        lost = reaches(
            f"relative loss of accuracy, {rows}",
            results.get(one.key, rows, "relative_loss"),
            SLOPE_FROM,
            metric="difference",
        )
        void: Reason | None = None if lost.answer() == "yes" else "condition"
        yield voided(lost, void)
        for times, under in zip(ENDS, (False, True), strict=True):
            number = results.get(one.key, less(rows, times), "relative_gain")
            part = reaches(less(rows, times), number, 0.0, lower=under, metric="difference")
            yield voided(part, void)

    return each(ask)


def _beside_dense(rows: Rows, metrics: Iterable[str], ask: Ask) -> Parts:
    """Ask of some rows whether each number is better, or no worse, than in the dense network."""
    return differ(lambda options: [(row, DENSE) for row in rows(options)], *((metric, ask) for metric in metrics))


def _alike(results: Results, one: Setting) -> Iterator[Part]:
    """Ask whether butterfly networks trade as the round of IMP that is nearest in size does, either way."""
    for name in factored(one.options):
        (part,) = against(results, one, name, ALIKE, ("nn",))
        for turned in (False, True):
            label = f"{part.label}, not {'less' if turned else 'more'}"
            yield replace(
                no_worse(label, part.number, AUC, lower=not turned, metric="difference"),
                void=part.void,
            )


def _ours(kind: str, said: str, rows: Rows) -> tuple[Claim, ...]:
    """Make our three claims on a kind of sparse network."""
    return (
        Claim(
            f"{kind}-attacks",
            f"{said} give our strongest attacks less to find than the dense network.",
            f"implied by the abstract; {LACKS}",
            f"In each setting and for each of them: {EVERY}, the AUC is lower by {AUC:g} or more, whatever the "
            "accuracy.",
            _beside_dense(rows, [f"auc_{attack}" for attack in JUDGED], better),
            "ours",
        ),
        Claim(
            f"{kind}-early",
            f"{said} give less away than a dense network that is trained for less and is as accurate.",
            f"implied by the abstract; {LACKS}",
            f"In each setting and for each of them: {EVERY}, the AUC is lower than that of the early-stopped control "
            f"by {AUC:g} or more. {UNMATCHED}",
            beyond(rows),
            "ours",
        ),
        Claim(
            f"{kind}-smaller",
            f"{said} give less away than smaller dense networks of as many parameters, at matched accuracy.",
            f"implied by the abstract; {LACKS}",
            f"In each setting and for each of them: {EVERY}, the AUC less that of its early-stopped control, less the "
            "same of the narrowest dense network of its kind that has at least as many parameters, is below zero by "
            f"{AUC:g} or more. {UNMATCHED}",
            beyond(rows, SMALLER),
            "ours",
        ),
    )


ROUNDS = f"rounds {FIRST} to {LAST} of IMP"
CLAIMS = (
    Claim(
        "slope",
        f"Between 17.3 and 3.4 % of the weights, an accuracy lower by p % goes with a defence better by {SLOPE:g} p %.",
        "abstract",
        f"In each setting: over {ROUNDS}, as far as they are rows, the mean relative gain in defence is more than "
        f"{ENDS[0]:g} and less than {ENDS[1]:g} times the mean relative loss of accuracy, which is the paper's "
        f"{SLOPE:g} within a factor of two; defence is 1 less the balanced accuracy of the discriminator, a network "
        f"fitted on one reference. It can't be told where that loss is not shown to be {100 * SLOPE_FROM:g} % or "
        "more, since there is no slope then.",
        _slope(CLAIMED),
        networks=NETWORKS,
    ),
    Claim(
        "private",
        "Sparse networks are more private than the dense one: its discriminator finds fewer of their members.",
        "abstract",
        f"In each setting, for {ROUNDS} each: the discriminator's defence is higher than that of the dense network by "
        f"{AUC:g} or more.",
        _beside_dense(claimed, ["defence"], better),
        networks=NETWORKS,
    ),
    Claim(
        "comparable",
        "Sparse networks do comparably well at their task.",
        "abstract",
        f"In each setting, for {ROUNDS} each: accuracy is not lower than that of the dense network by more than "
        f"{100 * POINTS:g} points. (The paper gives no number; this is ours.)",
        _beside_dense(claimed, ["accuracy"], no_worse),
        networks=NETWORKS,
    ),
    Claim(
        "butterfly-alike",
        "Butterfly networks trade accuracy for defence as unstructured pruning does.",
        "abstract and key results",
        "In each setting, for each butterfly network and the round of IMP nearest to it in size: at matched accuracy "
        "(each less its early-stopped control), the discriminator's AUC is neither higher nor lower by more than "
        f"{AUC:g}. {UNMATCHED}",
        each(_alike),
        networks=NETWORKS,
    ),
    Claim(
        "butterfly-slope",
        f"Of butterfly networks too, an accuracy lower by p % goes with a defence better by {SLOPE:g} p %.",
        "abstract: similar trade-offs",
        "In each setting: the same of the mean over butterfly networks, whatever their size.",
        _slope(FACTORED),
        networks=NETWORKS,
    ),
    *_ours("imp", "Networks pruned by IMP", pruned),
    *_ours("butterfly", "Butterfly networks", factored),
)
