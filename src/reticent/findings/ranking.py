"""The document of `reticent locate records --without-references`: members of one training, ranked by risk."""

from typing import Annotated, Final, Literal

from pydantic import Field

from reticent.findings.base import Finding, Number, Plain, Spoken
from reticent.findings.environment import Environment
from reticent.findings.numbers import Count, Share
from reticent.findings.population import Data

SCHEMA: Final = "reticent.locate.ranking/1"


class RankedMember(Finding):
    """One member: a line of `records.csv`."""

    record: Count
    "Its id in the data set."
    label: int
    label_name: str
    loss_iqr: Number
    "Interquartile range of its losses (nats), before training and after every epoch."
    loss_iqr_rank: Count
    "From 1, the most at risk; equal scores go by their place in the data."
    leverage: Number | None = None
    "In the last layer; `null` where the network does not end in one."
    leverage_rank: Count | None = None
    "As `loss_iqr_rank`."
    loss: Number
    "Of the trained model (nats)."
    correct: bool
    "Whether the trained model labels it correctly."


class Agreement(Finding):
    """How far the two rankings agree."""

    spearman: Number | None
    "Correlation of the ranks; `null` where a score does not vary."
    top: Count
    "How many members each puts first."
    shared: Count
    "Those that both put first."
    chance: Number
    "How many that would be of unrelated rankings."


class RankedTraining(Finding):
    """The training whose members are ranked."""

    run: str
    "Its folder in the store."
    members: Count
    epochs: Count
    "After how many the losses were taken; once more before training."
    planned: Count
    "How many the recipe has: early stopping ends before, and an objective with a tuning of its own after."
    accuracy_members: Share
    commonest: Share
    "Share of the largest class among the members."
    learned: bool
    "False where it labels its members no better than naming one class would, by more than chance allows."
    notices: tuple[str, ...] = ()
    "What the training says of itself."


class RankingDocument(Spoken):
    """What `ranking.json` holds."""

    schema_: Annotated[Literal["reticent.locate.ranking/1"], Field(alias="schema")] = SCHEMA
    detail: tuple[str, ...] = ()
    "What stands against trusting it, for people."
    training: RankedTraining
    agreement: Agreement | None
    "`null` without leverage."
    ranked: tuple[RankedMember, ...]
    "Members that either ranking puts among its first 50, by `loss_iqr_rank`; `records.csv` has all."
    data: Data
    recipe: Plain
    cannot_say: tuple[str, ...] = ()
    "Sentences on what this does not show."
    environment: Environment
