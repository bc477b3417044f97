"""Recipe: how one model is made, complete, frozen and hashable."""

from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field, model_validator

from reticent.spec import RARELY, Spec


class Plain(Spec):
    """Options of plain training: none; one run of the loop from a fresh initialisation."""

    method: ClassVar[str] = "plain"


class Untouched(Spec):
    """Options of answering as the model does: none."""

    method: ClassVar[str] = "none"


def _mlp() -> Spec:
    """Make the usual network's spec when it is asked for: the options of a recipe are told without loading torch."""
    from reticent.models.mlp import MLP

    return MLP()


def _cross_entropy() -> Spec:
    from reticent.objectives.cross_entropy import CrossEntropy

    return CrossEntropy()


def _shuffle() -> Spec:
    from reticent.samplers.shuffle import Shuffle

    return Shuffle()


class Recipe(Spec):
    """How one model is made. A defense is only ever a different recipe."""

    architecture: Spec = Field(default_factory=_mlp)
    """The network: a name or your own module:factory. The names are mlp, fc, cnn, resnet18 to resnet152, resnet20,
    fast-resnet, densenet121, vgg11 to vgg19, vit, atm and transformer. [what suits the data set]"""
    objective: Spec = Field(default_factory=_cross_entropy)
    """What a step minimises, of the table in `reticent.objectives`."""
    sampler: Spec = Field(default_factory=_shuffle)
    """Which records an epoch visits, and in which order, of the table in `reticent.samplers`."""
    procedure: Spec = Plain()
    """How training runs as a whole, of the table in `reticent.procedures`."""
    output: Spec = Untouched()
    """What is done to the model's answers before anyone sees them, of the table in `reticent.outputs`."""
    epochs: Annotated[int, Ge(1), Le(100_000)] = 40
    """Passes over the members."""
    batch_size: Annotated[int, Ge(1), RARELY] = 64
    """Records a step; the last batch of an epoch may be smaller. A single record joins the batch before."""
    optimizer: Annotated[Literal["sgd", "adam", "adamw"], RARELY] = "adam"
    """What takes the steps, in PyTorch's fused form."""
    learning_rate: Annotated[float, Gt(0), RARELY] = 1e-3
    """Peak learning rate."""
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    """For sgd."""
    nesterov: bool = False
    """For sgd."""
    weight_decay: Annotated[float, Ge(0), RARELY] = 0.0
    """Added to the gradient for sgd and adam, decoupled for adamw."""
    schedule: Literal["constant", "cosine", "linear", "multistep"] = "constant"
    """How the learning rate goes on after the warm-up; cosine and linear end at zero."""
    warmup_epochs: Annotated[float, Ge(0)] = 0.0
    """Epochs in which the learning rate grows linearly from zero."""
    milestones: tuple[Annotated[float, Gt(0), Lt(1)], ...] = (0.5, 0.75)
    """For multistep: at which parts of the training the learning rate is multiplied by `decay`."""
    decay: Annotated[float, Gt(0), Le(1)] = 0.1
    """For multistep."""
    augmentation: Annotated[
        Literal[
            "none",
            "flip",
            "crop",
            "flip-crop",
            "cutout",
            "flip-crop-cutout",
            "gaussian",
            "bit-flip",
            "feature-dropout",
            "word-dropout",
        ],
        RARELY,
    ] = "none"
    """What is drawn anew of a record at each visit. Images: flip mirrors half of them, crop shifts them by up to
    `padding` pixels with reflected borders, cutout covers a square. Images and features: gaussian adds noise. Features:
    bit-flip changes bits so that each column's mean stays, feature-dropout puts the column's mean in place of values.
    Tokens: word-dropout puts token 0 in place of some."""
    padding: Annotated[int, Ge(1)] = 4
    """Largest shift of a crop, in pixels."""
    augmentation_strength: Annotated[Annotated[float, Gt(0), Lt(1)] | None, RARELY] = None
    """Of bit-flip the probability that a 1 becomes 0, of the dropouts that of each value, of gaussian the noise in
    standard deviations, of cutout the square's side as a share of the image's. [0.1; for cutout 0.5]"""
    clip_norm: Annotated[float, Gt(0)] | None = None
    """Largest norm of a step's gradient; longer ones are scaled down."""
    patience: Annotated[int, Ge(1)] | None = None
    """Early stopping: end after so many epochs without a lower validation loss, and keep the best epoch's state."""
    stop_after: Annotated[float, Gt(0)] | None = None
    """End after so many epochs (2.5 ends in the middle of the third) of the `epochs` that the schedule is made for."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """bfloat16 runs the forward pass under autocast; weights and signals stay float32."""
    retrain: Annotated[str | None, RARELY] = None
    """Train anew, beside the models that the store has: a name of yours for the new ones, by which the same command
    finds them again. For changes that are not seen, as of an environment variable or an installed package. [none]"""

    @model_validator(mode="after")
    def _consistent(self) -> Any:
        if self.warmup_epochs > self.epochs:
            raise ValueError(f"warmup_epochs at most epochs ({self.epochs}), got {self.warmup_epochs:g}")
        if self.stop_after is not None and self.stop_after > self.epochs:
            raise ValueError(f"stop_after at most epochs ({self.epochs}), got {self.stop_after:g}")
        if self.augmentation_strength is not None and self.augmentation in {"none", "flip", "crop", "flip-crop"}:
            raise ValueError(
                f"augmentation_strength beside noise, a dropout or cutout, got {self.augmentation_strength:g} with "
                f"augmentation {self.augmentation}, which has none"
            )
        if self.nesterov and not self.momentum:
            raise ValueError(f"a positive momentum where nesterov is on, got {self.momentum:g}")
        return self
