"""Where an attack found what it found, and which references it was not given."""

from enum import StrEnum

from reticent.findings.base import Finding, Number
from reticent.findings.numbers import Count, Share


class Family(StrEnum):
    """What of a model's answer a feature looks at."""

    LABEL = "true label"
    OTHERS = "other classes"
    CERTAINTY = "certainty"
    CORRECTNESS = "correctness"


class FamilyImportance(Finding):
    """How much an attack loses without one family of features."""

    family: Family
    lost: Number
    "By how much the AUC falls if the family's features are permuted among records and models; below 0 by chance."
    share: Share
    "Of what is lost over all families, each by itself, negative losses counted as none."


class Importance(Finding):
    """What a learned attack looks at: judged on references that play the target, on records it did not learn from."""

    auc: Share
    "With all features."
    families: tuple[FamilyImportance, ...]
    "Those that the answers allow, the most important first."
    sentence: str = ""


class Outweighing(Finding):
    """One record, or one model, that makes much of the spread of margins that several attacks pool over records."""

    share: Share
    "Its part of the squared distances of all margins from the mean of their record's models of the same kind."
    record: Count | None = None
    "`null` if it is a model."
    model: Count
    "Of a record, the one whose margin is the farthest from the others'."
    margin: Number | None = None
    "That margin; `null` if it is a model."
    sentence: str = ""


class NearComplements(Finding):
    """References that targets are not compared with, since their training records all but follow from the target's."""

    targets: Count
    "Audited models that lack at least one reference for that reason."
    references: Count
    "Most that one of them lacks."
    sentence: str = ""
