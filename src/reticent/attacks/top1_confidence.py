"""Top-1 confidence: the more probability the model gives to any class, the more likely a member; one threshold for all.

The attack that Shang (2025, WeMem) calls "Hconf", and Yuan and Zhang (2022, mia_prune) "Top1". Two things carry the
name: the paper's words mean the largest probability; the code that both released takes that of the true label, with one
threshold for all classes. Deviation: the value is the log-odds of the probability, which ranks alike and does not
saturate at 1.
"""

from typing import ClassVar, Literal

import numpy as np

from reticent.attacks.base import AttackEntry, Problem
from reticent.signals.matrix import Floats, margin
from reticent.spec import Spec


class Top1Confidence(Spec):
    """Options of the top-1 confidence attack."""

    method: ClassVar[str] = "top1-confidence"

    of: Literal["top", "label"] = "top"
    """The probability of the likeliest class, as the name says; or of the true label, as the released code has it and
    the published columns "Hconf" and "Top1" hold."""


def score(spec: Top1Confidence, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of the likeliest class, or of its label.

    Scores are in nats; of the likeliest class at least ``-ln(C - 1)``.

    Cost: O(T N C).
    """
    signals, scores = problem.signals, np.empty(problem.shape)
    assert signals.logits is not None
    for block in signals.blocks(2 * signals.classes):
        for row, target in enumerate(problem.targets):
            logits = np.asarray(signals.logits[target, block])
            asked = signals.labels[block] if spec.of == "label" else logits.argmax(axis=1)
            scores[row, block] = margin(logits, asked)
    return scores


ENTRY = AttackEntry(
    spec=Top1Confidence,
    score=score,
    summary="Ranks records by how sure the model is of the class that it predicts.",
    paper="Yuan and Zhang (2022), Membership inference attacks and defenses in neural network pruning",
    access="probabilities",
    usual=False,
)
