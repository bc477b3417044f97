"""``locate records --without-references``: the members of one training, ranked by risk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from reticent.arrays import Floats, Ints
from reticent.data.membership import Membership
from reticent.errors import SpecError
from reticent.findings.ranking import Agreement, RankedMember, RankedTraining, RankingDocument
from reticent.findings.records import PICTURED
from reticent.findings.training import TrainingFacts
from reticent.jobs import document
from reticent.jobs.base import Reported, Work
from reticent.jobs.config import Job, called
from reticent.jobs.locate.options import refuse, taken
from reticent.locate.last_layer import Answers, answers
from reticent.locate.leverage import last_layer
from reticent.locate.loss_trace import interquartile
from reticent.options import AuditConfig
from reticent.population.in_store import finished, using
from reticent.population.population import Population
from reticent.population.training_run import LOSSES
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES, entry
from reticent.report.csv import table
from reticent.report.kinds import page
from reticent.report.output import RANKING
from reticent.say import ranking as say
from reticent.signals.correctness import hits
from reticent.spec import canonical, full
from reticent.torch_state import fixed
from reticent.training.recipe import Recipe

OUT = "reticent-ranking"
"""Folder for the files, where none is given."""
LISTED = 50
"""Members that the document lists, of the first by each ranking; ``records.csv`` has all."""
TOP = 0.05
"""Share of the members that rankings are compared by."""


@dataclass(frozen=True, eq=False)
class RankedMembers(Reported[RankingDocument]):
    """What `rank_members` found.

    Attributes:
        members: all, the one most at risk by its losses first.
        losses: ``(E + 1, n)``, nats: before training and after each epoch, of the records `ids`.
        ids: of the members, in the data set.
        files: ranking.html, records.csv and ranking.json.
    """

    members: tuple[RankedMember, ...]
    losses: Floats
    ids: Ints


@fixed()
def rank_members(
    config: AuditConfig | str | Path | None = None,
    *,
    stage: Callable[[str], None] | None = None,
    **values: Any,
) -> RankedMembers:
    """Rank the members of one training by risk, without any other model.

    One model is trained on all audited records, or found in the store. A member's risk is the interquartile range of
    its losses over training, and its leverage in the last layer.

    Papers: arXiv 2411.05743 (LT-IQR); arXiv 2602.15919 (leverage).

    Args:
        config: a configuration, the path of a TOML file, or None.
        stage: called with a word before each part.
        **values: keys of `AuditConfig` or `Recipe`, as for `reticent.audit`; the procedure is plain or dpsgd.

    Returns:
        The ranked members; three files lie in ``out``.

    Raises:
        SpecError: a procedure that does not train one network in one go, or a key that means nothing here.

    Example:
        >>> import reticent
        >>> found = reticent.rank_members(dataset="digits", store="/tmp/s", out="/tmp/o")  # doctest: +SKIP
        >>> print(found.members[0].record)  # doctest: +SKIP
    """
    command, trains = "locate records --without-references", "which trains one model: leave it out"
    refuse(values, command, models=trains)
    job = called(config, values, attacked=False, units=False)
    check(job.population.recipe)
    out, work = taken(job.config, OUT, RANKING, [job.config.dataset]), Work(stage)
    ids, records = job.population.roles.audited, job.records
    population = everyone(job)
    with using(job.config.store, population) as store:
        out.begin()
        found = finished(job.config.store, population)
        with work.on("training", "training"):
            maker = Maker(population, store, job.executor.device)
            trained, network = maker.trained(0)
        with work.on("measuring", "members"), population.streams(0).lent("asking"):
            said = answers(network, maker.audited, maker.prepare, records.classes)
            losses = trained.arrays("artefacts.safetensors")[LOSSES].astype(np.float64)
            members = _ranked(job, losses, said)
        facts = trained.read(TrainingFacts)
    work.tell("report")
    right, commonest = float(np.mean([one.correct for one in members])), float(np.bincount(records.y[ids]).max())
    told = RankingDocument(
        training=RankedTraining(
            run=trained.id,
            members=len(ids),
            epochs=len(losses) - 1,
            planned=population.recipe.epochs,
            accuracy_members=right,
            commonest=commonest / len(ids),
            learned=document.learned(right, commonest / len(ids), len(ids)),
            notices=facts.notices,
        ),
        agreement=_agreement(members),
        ranked=tuple(one for one in members if min(one.loss_iqr_rank, one.leverage_rank or len(ids)) <= LISTED),
        data=document.data_facts(records, population.roles),
        recipe=full(population.recipe),
        environment=work.environment(device=job.executor.device, models_found=found, config=canonical(job.config)),
    )
    told = say.ranking(told, tuple(document.data_sentences(records)))
    rows = [one.to_json() for one in members]
    pictures = records.thumbnails(one.record for one in told.ranked[:PICTURED])
    files = out.write(told, {"ranking.html": page(told, pictures), "records.csv": table(rows[0], rows)})
    return RankedMembers(told, files, members, losses, ids)


def check(recipe: Recipe) -> None:
    """Refuse a procedure under which a member has no single course of losses."""
    if not entry(recipe).traced:
        able = " or ".join(sorted(name for name, one in PROCEDURES.items() if one.traced))
        raise SpecError(
            f"procedure: {recipe.procedure.method} does not train one network from its beginning to its end on all "
            "members, so that no member has one course of losses to be ranked by: expected a recipe or defense that "
            f"is trained by {able}; or leave --without-references out, which compares with other models"
        )


def everyone(job: Job) -> Population:
    """Make of a job's population one traced model of all its audited records."""
    all_of_them = np.ones((1, len(job.population.roles.audited)), dtype=np.bool_)
    return replace(job.population, membership=Membership(all_of_them), trace=True, stack=1)


def _ranked(job: Job, losses: Floats, said: Answers) -> tuple[RankedMember, ...]:
    """Score every member in both ways, and order them by their losses."""
    ids, records = job.population.roles.audited, job.records
    y = records.y[ids]
    logs = said.log_probabilities
    spread = interquartile(losses)
    leverage = None if said.features is None else last_layer(said.features, np.exp(logs))
    by_spread, by_leverage = _ranks(spread), None if leverage is None else _ranks(leverage)
    loss, correct = -logs[np.arange(len(y)), y], hits(said.logits, y)
    members = [
        RankedMember(
            record=int(record),
            label=int(y[i]),
            label_name=records.class_names[y[i]] if records.class_names else str(y[i]),
            loss_iqr=float(spread[i]),
            loss_iqr_rank=by_spread[i],
            leverage=None if leverage is None else float(leverage[i]),
            leverage_rank=None if by_leverage is None else by_leverage[i],
            loss=float(loss[i]),
            correct=bool(correct[i]),
        )
        for i, record in enumerate(ids)
    ]
    return tuple(sorted(members, key=lambda one: one.loss_iqr_rank))


def _ranks(scores: Floats) -> list[int]:
    """Number records from 1, the largest score, equal ones by their place."""
    order = np.argsort(-scores, kind="stable")
    ranks: list[int] = (np.argsort(order) + 1).tolist()
    return ranks


def _agreement(members: Sequence[RankedMember]) -> Agreement | None:
    """Compare the two rankings: all places, and who is put first."""
    both = [(one.loss_iqr, one.leverage) for one in members if one.leverage is not None]
    if not both:
        return None
    scores = np.array(both).T
    top = max(1, round(TOP * len(members)))
    return Agreement(
        spearman=float(spearmanr(*scores).statistic) if np.ptp(scores, axis=1).all() else None,
        top=top,
        shared=sum(one.loss_iqr_rank <= top and (one.leverage_rank or 0) <= top for one in members),
        chance=top * top / len(members),
    )
