"""Options of PPTP."""

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Lt
from pydantic import BeforeValidator

from reticent.locate.layers import Layers
from reticent.procedures.two_stage import read_inner
from reticent.spec import Spec
from reticent.training.recipe import Plain

AUTO = "auto"
"""The stage is measured."""


class PPTP(Spec):
    """Options of PPTP."""

    method: ClassVar[str] = "pptp"

    stage: Annotated[int, Ge(1)] | str = AUTO
    """First stage that is trained again, by name or number; auto measures where membership begins to show, for each
    model with its own members alone."""
    boundary: Literal["trained", "frozen"] = "trained"
    """What becomes of that stage itself: it is the first that is trained again, or the last that stays."""
    stages: tuple[str, ...] = ()
    """Patterns of module names, one a stage in forward order; by default the network's own stages."""
    pretraining: Literal["cross-entropy", "cs-kd"] = "cross-entropy"
    """What the first training minimises; the recipe's objective is that of the second."""
    rewind: Annotated[int, Ge(1)] | Literal["initial", "trained"] = "initial"
    """Values that the risky stages go back to: the initial ones; those after so many epochs of the first training; or
    trained, which leaves them and so only tunes."""
    tuning_epochs: Annotated[int, Ge(1)] | None = None
    """Epochs of the second training; by default half of the recipe's, rounded down."""
    inner: Annotated[Spec, BeforeValidator(read_inner)] = Plain()
    """Procedure of the second training."""
    seeds: Annotated[int, Ge(1)] = 2
    """For auto: how often the measurement is repeated, with other initial weights, order and halves."""
    swap: bool = True
    """For auto: also train on the other half of the members."""
    equalise: Literal["epochs", "steps"] = "epochs"
    """For auto: what a network on half of the members has as many of as the one on all."""
    margin: Annotated[float, Ge(0), Lt(0.5)] = 0.05
    """For auto: by so much the effect of a risky stage, and of every later one, must exceed one half."""

    def measuring(self) -> Layers:
        """Gather how the first risky stage is measured."""
        return Layers(stages=self.stages, seeds=self.seeds, swap=self.swap, equalise=self.equalise, margin=self.margin)
