"""Options of CWRF."""

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BeforeValidator

from reticent.locate.weights import Scoring
from reticent.procedures.two_stage import read_inner
from reticent.sparsify.exact import Scope
from reticent.spec import Spec
from reticent.training.recipe import Plain


class CWRF(Spec):
    """Options of CWRF."""

    method: ClassVar[str] = "cwrf"

    rate: Annotated[float, Ge(0), Le(1)] = 0.01
    """Share of the weights that is rewound (the paper's r; its Table 2 has 0.001 to 0.05); at 0 fine-tuning alone is
    left."""
    variant: Literal["cwrf", "remove", "rewind-train-vulnerable"] = "cwrf"
    """cwrf holds the rewound weights and trains the others; remove holds them at zero (the paper's A1);
    rewind-train-vulnerable trains the rewound ones and holds the others (A2)."""
    mask: Literal["vulnerability", "learnability", "magnitude", "random", "random-within"] = "vulnerability"
    """By what the weights are chosen; all but the first are controls: learnability scores, absolute values, chance, or
    chance within each parameter tensor, of which it takes as many as vulnerability does."""
    scope: Scope = "global"
    """global takes the share of all weights together, layer the same share of each layer."""
    value: Literal["initial", "fresh"] = "initial"
    """To what weights are rewound: initial is what they began with; fresh a new draw, a control that keeps their places
    and not their values."""
    tuning_epochs: Annotated[int, Ge(1), Le(100_000)] | None = None
    """Epochs of the fine-tuning, with a schedule of its own; by default half of the recipe's, rounded down."""
    tuning_optimizer: Literal["sgd", "adam", "adamw"] | None = None
    """Of the fine-tuning. [the recipe's]"""
    tuning_learning_rate: Annotated[float, Gt(0)] | None = None
    """Peak learning rate of the fine-tuning. [the recipe's]"""
    statistics: Literal["reset", "initial", "keep"] = "reset"
    """Running statistics of BatchNorm at the rewinding: reset empties them, initial takes those from before training,
    keep leaves the trained ones; other buffers go back to their initial values unless they are kept."""
    scoring_steps: Annotated[int, Ge(1), Le(1_000_000)] = 50
    """Steps over which importance is summed (the paper's T)."""
    scoring_batch_size: Annotated[int, Ge(1)] = 128
    """Records a step of scoring, of the members and of the reference non-members each."""
    unlearning: Annotated[float, Ge(0), Le(1)] = 0.5
    """The part of the reference non-members in the loss that scores (the paper's lambda)."""
    power: Literal[1, 2] = 1
    """Scores sum ``|g w|`` at 1, ``(g w)**2`` at 2."""
    divergence: Literal["vanilla-first", "updated-first"] = "vanilla-first"
    """Direction of the divergence that scores: vanilla-first is KL(initial || updated), updated-first the reverse."""
    scoring_statistics: Literal["frozen", "own", "joint"] = "frozen"
    """How BatchNorm treats reference non-members in scoring: frozen statistics, their own batch, or joint batches."""
    scoring_initial_statistics: Literal["running", "batch"] = "running"
    """How BatchNorm of the initial model is asked in scoring: with its running statistics, which are still empty, or
    those of the batch."""
    scoring_optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    """By what the working copy moves in scoring."""
    scoring_learning_rate: Annotated[float, Gt(0)] = 1e-3
    """Of the working copy in scoring, constant."""
    scoring_momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    """Of the working copy, for sgd."""
    scoring_weight_decay: Annotated[float, Ge(0)] = 5e-4
    """Of the working copy in scoring; it is no part of the gradient that scores."""
    scoring_augmentation: Literal["none", "recipe"] = "none"
    """recipe augments the members in scoring as training does."""
    inner: Annotated[Spec, BeforeValidator(read_inner)] = Plain()
    """What the fine-tuning is: plain, or dpsgd."""

    def scoring(self) -> Scoring:
        """Gather how weights are scored."""
        prefix = "scoring_"
        own = {n.removeprefix(prefix): getattr(self, n) for n in type(self).model_fields if n.startswith(prefix)}
        unlearning = 0.0 if self.mask == "learnability" else self.unlearning
        return Scoring(**own, unlearning=unlearning, power=self.power, divergence=self.divergence)
