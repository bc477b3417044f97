"""Label-only attacks: how far a record can be changed before the model labels it wrongly; its label alone is seen.

Paper: Choquette-Choo et al. (2021), "Label-only membership inference attacks". The model is asked about changed copies
of a record, and the score is how well its label lasts: the share of noisy copies that are labelled correctly, the share
of rotated and shifted views, or the distance to the nearest input found that is labelled otherwise (0 for a record that
is labelled wrongly itself). Correct is what agrees with the true label. Their gap attack is `correctness`. Deviations:
views are counted, and not weighed by a network; borders are reflected; the threshold is that of every attack.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.signals.matrix import Floats
from reticent.signals.probes import Boundary, Noise, Probe, Views
from reticent.spec import Spec


class LabelOnly(Spec):
    """Options of the label-only attack."""

    method: ClassVar[str] = "label-only"

    by: Literal["noise", "views", "boundary"] = "noise"
    """What models are asked: noisy copies; images rotated and shifted; or whatever leads to the boundary
    (HopSkipJump), which tokens have not."""
    copies: Annotated[int, Ge(1)] = 100
    """How many noisy copies of each record; the paper asks for up to 5,000."""
    strength: Annotated[float, Gt(0), Lt(1)] = 0.1
    """Of the noise: the standard deviation, in those of pixels or of the feature; or the probability that a feature of
    bits changes, or that a word is left out."""
    rotations: Annotated[int, Ge(0), Le(180)] = 9
    """Largest rotation to either side in degrees, by steps of one."""
    translations: Annotated[int, Ge(0)] = 1
    """Images are shifted by so many pixels down and right together."""
    steps: Annotated[int, Ge(1)] = 10
    """Of the walk along the boundary."""
    directions: Annotated[int, Ge(2)] = 50
    """In which the boundary is looked for at each step."""


def probe(spec: LabelOnly) -> Probe:
    """Say what models are asked."""
    if spec.by == "noise":
        return Noise(copies=spec.copies, strength=spec.strength)
    if spec.by == "views":
        return Views(rotations=spec.rotations, translations=spec.translations)
    return Boundary(steps=spec.steps, directions=spec.directions)


def score(spec: LabelOnly, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by how well its label lasts.

    Scores are a share from 0 to 1, or a distance.

    Cost: O(T N Q), the queries apart.
    """
    told, scores = problem.probed[probe(spec)], np.empty(problem.shape)
    for block in problem.signals.blocks(told.shape[2]):
        scores[:, block] = np.asarray(told[problem.targets, block], dtype=np.float64).mean(axis=2)
    return scores


ENTRY = AttackEntry(
    spec=LabelOnly,
    score=score,
    needs=lambda spec: Needs(probes=(probe(spec),)),
    summary="Asks about changed copies of a record, and ranks records by how well their label lasts.",
    paper="Choquette-Choo et al. (2021), Label-only membership inference attacks",
    access="labels",
    usual=False,
)
