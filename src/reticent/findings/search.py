"""The document of a search: what `search.json` holds."""

from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from reticent.findings.base import Document, Empty, Finding, Number
from reticent.findings.comparison import Row
from reticent.findings.environment import Environment
from reticent.findings.numbers import Estimate, Share, ShareEstimate
from reticent.findings.population import Data

SCHEMA: Final = "reticent.search/1"


class Tried(Finding):
    """A defense with one combination of values."""

    defense: str
    options: dict[str, JsonValue] = Field(default_factory=dict)
    accuracy: Estimate
    "On non-members."
    auc: ShareEstimate
    "Of `attack`."
    tpr: ShareEstimate | None = None
    "Of the attack that finds most; `null` if not measurable."
    attack: str
    "The attack with the largest AUC."
    epsilon: Number | None = None
    "The lower bound of its audit."
    idle: Annotated[bool, Empty] = False
    "Only where all attacks give every record the same score as without a defense: it never acted, so is never chosen."
    notices: Annotated[tuple[str, ...], Empty] = ()
    "What training had to say of its models, for people."

    @classmethod
    def of(cls, row: Row, options: dict[str, JsonValue], idle: bool = False) -> "Tried":
        """Take what a comparison found of one defense."""
        assert row.accuracy.non_members is not None
        return cls(
            defense=row.name,
            options=options,
            accuracy=row.accuracy.non_members,
            auc=row.auc,
            tpr=row.tpr,
            attack=row.auc_attack,
            epsilon=row.epsilon,
            idle=idle,
            notices=row.notices,
        )


class Seeds(Finding):
    """Master seeds."""

    audit: int
    "Of the audit that is to be reported."
    search: int
    "Of the models that were tried."


class SearchDocument(Document):
    """What `search.json` holds."""

    schema_: Annotated[Literal["reticent.search/1"], Field(alias="schema")] = SCHEMA
    defense: str
    "Whose options were tried."
    over: dict[str, tuple[JsonValue, ...]]
    "Option to the values tried; all combinations."
    lost: Share
    "How much accuracy may be lost against no defense."
    fpr: Share | None = None
    "The false-positive rate of every `tpr`; `null` if none is measurable."
    confidence: Number
    "Of every interval."
    data: Data
    chosen: str | None = None
    "The defense with the chosen values: the least AUC of those that act and lose no more; `null` if there are none."
    sentence: str = ""
    "The choice, for people."
    seed: Seeds
    undefended: Tried
    tried: tuple[Tried, ...]
    environment: Environment
