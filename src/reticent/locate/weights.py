r"""Which weights give members away: scores by learning members while non-members are pulled back to the initial model.

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
arXiv 2603.13186, section 4.1 and algorithm 1, step 1. No code is public and the formulas of the text are lost; they are
read from its prose and from Molchanov et al. (2019), whose first-order Taylor importance is the learnability score.
What the paper leaves open is an option of `Scoring`.

.. math::
    s_i = \sum_{t=1}^{T} |g_i^{(t)} w_i^{(t)}|^p, \qquad
    g = \nabla [(1 - \lambda)\, CE(f(x_{members}), y) + \lambda\, KL(f_0(x_{reference}) \| f(x_{reference}))]
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt
from torch import Tensor, nn

from reticent.locate.scoring import answers, copied, fill, run
from reticent.locate.steps import Answers
from reticent.locate.topk_mask import Scores
from reticent.spec import Spec
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


class Scoring(Spec):
    """How weights are scored; the defaults are the judgements that the docs state."""

    steps: Annotated[int, Ge(1), Le(1_000_000)] = 50
    """Steps T over which importance is summed."""
    batch_size: Annotated[int, Ge(1)] = 128
    """Records a step, of the members and of the reference non-members each."""
    unlearning: Annotated[float, Ge(0), Le(1)] = 0.5
    """The part of the divergence in the loss (the paper's lambda); at 0 the score is learnability."""
    power: Literal[1, 2] = 1
    """1 sums ``|g w|``; 2 sums ``(g w)**2``, as the code of Molchanov et al. does."""
    divergence: Literal["vanilla-first", "updated-first"] = "vanilla-first"
    """vanilla-first is KL(initial || updated), updated-first the reverse."""
    statistics: Literal["frozen", "own", "joint"] = "frozen"
    """How non-members are asked: frozen asks in eval mode, by the running statistics that members make; own normalises
    the batch by itself, in training mode; joint puts members and non-members into one forward pass."""
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    """By what the working copy moves between the steps."""
    learning_rate: Annotated[float, Gt(0)] = 1e-3
    """Of the working copy, constant."""
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    """For sgd."""
    weight_decay: Annotated[float, Ge(0)] = 5e-4
    """Moves the working copy; it is no part of the gradient that scores."""
    augmentation: Literal["none", "recipe"] = "none"
    """recipe augments the members' batches as training did; non-members are asked about as they are."""


def score(
    model: nn.Module,
    vanilla_state: Mapping[str, Tensor],
    materials: Materials,
    scoring: Scoring,
    streams: Streams,
    recipe: Recipe,
) -> Scores:
    """Score every trainable weight by its part in telling members from non-members.

    A working copy learns the members while its answers about the reference non-members are pulled to those of the
    initial model; at each step ``|gradient * weight|``, both before the update, is added to the weight's score.

    Cost: T steps of two forward and two backward passes each, and one forward pass of the initial model over the
        non-members that are drawn. Beyond the network and the initial state that are given: five copies of the weights
        (adam), which are the one that is worked on, gradients, two moments and scores, and a layer's gradient.
    """
    working = copied(model)
    told: Answers | None = None
    if scoring.unlearning:
        fill(working, vanilla_state, "the initial state")
        told = answers(working, materials, scoring, streams, recipe)
        fill(working, model.state_dict(), "the trained state")
    return run(working, told, materials, scoring, streams, recipe)
