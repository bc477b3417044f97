"""A rule for membership that is learned from the references, who are known to be members or not, of the whole output.

LiRA and RMIA see the margin of the true label, through one formula each. Here every reference plays the target once:
its answer is compared with those of IN and of OUT references, as the target's will be (`features`), and gradient-
boosted trees learn from these comparisons who was trained on the record. The score is the rule's log-odds. No paper.

What keeps it honest, besides what `cross_fitting` says:

* No target is a reference, of the comparisons or of the rule, in its own fit (`pretenders.groups`).
* A record is compared with as many IN as OUT references, equally many whoever plays the target or is it.
* Near-complements of a target are among no references (`complements`), nor those of a reference that plays it.

To read from the bottom up: `options`, `features`, `pretenders`, `trees`, `learner`, and `score` and `importance` here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reticent import scratch
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.cross_fitting import folds, words
from reticent.attacks.hashed_draws import Words
from reticent.attacks.learned import learner, pretenders
from reticent.attacks.learned.features import Scales
from reticent.attacks.learned.options import Learned, needs
from reticent.attacks.learned.pretenders import Group
from reticent.findings.evidence import Family, FamilyImportance, Importance
from reticent.signals.matrix import Floats
from reticent.threads import each, one_thread

__all__ = ["ENTRY", "Learned", "importance", "score"]


class _Learned(NamedTuple):
    """What was learned for a group of targets: how far references differ; turn by turn, folds and a rule for each."""

    group: Group
    known: Scales
    turns: list[tuple[NDArray[np.int64], list[learner.Rule]]]


def score(spec: Learned, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership under a rule learned from references.

    Of margins without logits, what is made of margins is all that is looked at; `rng` draws which references are
    compared with, and how records are divided into folds.

    Cost: for each group of targets, at most 8, two passes over the signals, O(P R N C) for comparisons of references
    that play the target, P for each record (P N about 150,000 at most, and P at most R by the draws), and a fit a fold
    and turn; groups are scored side by side, one a core. Memory, for each of these: some 45 single-precision numbers
    for each of P N rows, and a block.
    """
    word, scores = words(problem, rng), scratch.zeros(problem.shape)
    order = np.argsort(word, kind="stable")
    place, fits = {int(target): row for row, target in enumerate(problem.targets)}, dict[int, _Learned]()

    def learned(one: tuple[int, Group]) -> None:
        at, group = one
        known, turned = pretenders.scales(problem, group, order), group.turns(word)
        dealt = [folds(one, spec.folds) for one in turned]
        rows, members, _ = _rows(problem, group, turned, order, known)
        rules = [
            [_rule(spec, seen, inside, group.known[order] & (fold[order] != part)) for part in range(spec.folds)]
            for fold, seen, inside in zip(dealt, np.split(rows, len(dealt)), np.split(members, len(dealt)), strict=True)
        ]
        fits[at] = _Learned(group, known, list(zip(dealt, rules, strict=True)))

    def judged(one: tuple[_Learned, slice]) -> None:
        (group, known, turns), block = one
        found = pretenders.compared(problem, group, block, word, known, spec.draws)
        for fold, rules in turns:
            for part, rule in enumerate(rules):
                asked = np.flatnonzero(fold[block] == part)
                told = rule(found[:, :, asked].reshape(-1, found.shape[3])).reshape(*found.shape[:2], len(asked))
                for target, own in zip(group.targets.tolist(), told, strict=True):
                    for draw in own:
                        scores[place[target], block.start + asked] += draw / len(turns)
        scratch.release(scores)

    each(learned, enumerate(pretenders.groups(problem)), step="rules")
    each(judged, [(fits[at], block) for at in sorted(fits) for block in pretenders.blocks(problem)], step="scores")
    for (row,) in scratch.rows(scores):
        np.divide(row, spec.draws, out=row)
    return scores


def importance(spec: Learned, problem: Problem, rng: np.random.Generator) -> Importance:
    """Tell how much of the rule's AUC each family of features carries: what is lost if it is permuted over all rows.

    No target is looked at: references play it, and are judged on records that the rule was not learned from.

    Cost: one fit, and one more judgement a family.
    """
    with one_thread():
        word = words(problem, rng)
        order = np.argsort(word, kind="stable")
        group = pretenders.everyone(problem)
        rows, members, families = _rows(problem, group, word[None], order, pretenders.scales(problem, group, order))
        held = folds(word, spec.folds)[order] == 0
        rule = _rule(spec, rows, members, group.known[order] & ~held)
        judged = group.known[order] & held
        asked, truth = rows[:, judged].reshape(-1, rows.shape[2]), members[:, judged].ravel()
        whole, lost = _auc(rule(asked), truth), {}
        for family in Family:
            columns = np.flatnonzero([one is family for one in families])
            if len(columns):
                moved = asked.copy()
                moved[:, columns] = asked[rng.permutation(len(asked))[:, None], columns]
                lost[family] = whole - _auc(rule(moved), truth)
    total = sum(max(0.0, one) for one in lost.values())
    found = [
        FamilyImportance(family=family, lost=one, share=max(0.0, one) / total if total else 0.0)
        for family, one in sorted(lost.items(), key=lambda item: -item[1])
    ]
    return Importance(auc=whole, families=tuple(found))


def _rows(
    problem: Problem, group: Group, turned: Words, order: NDArray[np.int64], known: Scales
) -> tuple[learner.Features, NDArray[np.bool_], list[Family]]:
    """Compare references that play the target, turn by turn, records in an order of their own.

    Returns ``(P, N, F)``, members ``(P, N)``, and each column's family.
    """
    rows, families = None, list[Family]()
    for block, place, found, families in pretenders.played(problem, group, turned, known):  # noqa: B007
        if rows is None:
            rows = np.empty((len(turned) * group.plays, len(order), found.shape[1]), dtype=np.float32)
        rows[place, block] = found
    assert rows is not None
    players = np.concatenate([group.players(word) for word in turned])
    members = problem.membership.matrix[group.references[players], np.arange(len(order))]
    return rows[:, order], members[:, order], families


def _rule(spec: Learned, rows: learner.Features, members: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> learner.Rule:
    """Learn from some records ``(N,)`` of all rows, from as many of a record's members as of its non-members.

    Else a rule would know of each kind of record how many of the references were trained on it, which in an exact half
    tells of the target's members.
    """
    members = members[:, chosen]
    inside = members.sum(axis=0)
    rank = np.where(members, members.cumsum(axis=0), (~members).cumsum(axis=0))
    kept = (rank <= np.minimum(inside, len(members) - inside)) | (len(members) == 1)
    return learner.learn(spec, rows[:, chosen][kept], members[kept])


def _auc(scores: Floats, members: NDArray[np.bool_]) -> float:
    """Compute the area under the ROC curve, ties half."""
    from scipy.stats import rankdata

    inside = int(members.sum())
    if inside in {0, len(members)}:
        return 0.5
    above = rankdata(scores)[members].sum() - inside * (inside + 1) / 2
    return float(above / (inside * (len(members) - inside)))


ENTRY = AttackEntry(
    spec=Learned,
    score=score,
    needs=needs,
    summary="Learns from references that play the target how members' answers differ, in the whole output.",
    paper="reticent (2026), docs/methods/learned.md",
    access="margins",
    strong=True,
    most=2**24,
    importance=importance,
    enough=pretenders.check,
)
