"""Options of the learned attack."""

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le

from reticent.attacks.base import Needs
from reticent.spec import Spec


class Learned(Spec):
    """Options of the learned attack."""

    method: ClassVar[str] = "learned"

    learner: Literal["auto", "trees", "logistic"] = "auto"
    """Gradient-boosted trees, or a logistic regression; "auto" takes trees where there are `enough` rows for them."""
    enough: Annotated[int, Ge(1)] = 10_000
    """Rows to learn from, at which "auto" takes trees; a row is one reference and record."""
    rounds: Annotated[int, Ge(1)] = 80
    """How many trees."""
    rate: Annotated[float, Gt(0), Le(1)] = 0.1
    """How much of each tree is added."""
    leaves: Annotated[int, Ge(2)] = 4
    """Most leaves of a tree."""
    folds: Annotated[int, Ge(2)] = 2
    """Parts of the records, each scored by a rule learned from the others."""
    draws: Annotated[int, Ge(1)] = 4
    """How often references are drawn for each target and record; the score is the mean."""


def needs(spec: Learned) -> Needs:
    """Say which references it needs: two of either kind, of which one plays the target. Logits are looked at."""
    return Needs(references_in=2, references_out=2, logits=True)
