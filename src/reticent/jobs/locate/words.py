"""Sentences of the document of weights, and stability as plain values."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.jobs.locate.scores import Scored
from reticent.locate.weights import Scoring
from reticent.report.wording import number
from reticent.rounding import level, percent

SURE = 0.5
"""Below this share of log C, the initial model's answers are far from guesses."""


def sentence(
    table: Sequence[Mapping[str, Any]], largest: Sequence[Mapping[str, Any]], unlearning: float = Scoring().unlearning
) -> str:
    """Say what was found."""
    whole = table[0]
    if largest[0]["vulnerability"] is None:
        return "No weight has any score: nothing that was asked of the network gives it a gradient."
    middle = next((row for row in largest[1:] if row["shared"] is not None), None)
    if middle is None:
        return f"The network has too few weights to take {level(largest[-1]['rate'])} of them; all have their scores."
    if not unlearning:
        return (
            f"{level(middle['rate'])} of the weights hold {percent(middle['learnability'])} of the learnability. With "
            "unlearning at 0 both scores are that, so nothing is said of privacy vulnerability."
        )
    return (
        f"{level(middle['rate'])} of the weights hold {percent(middle['vulnerability'])} of the privacy vulnerability; "
        f"{percent(middle['shared'])} of them are also among the {level(middle['rate'])} that the network learns by "
        f"most (correlation {number(whole['pearson'], 2)}, of ranks {number(whole['spearman'], 2)})."
    )


def stability(overlap: Mapping[float, Sequence[float]], seeds: int) -> dict[str, Any] | None:
    """Say how much the largest scores depend on the draw of batches."""
    if not overlap:
        return None
    rows = [
        {"rate": rate, "mean": sum(values) / len(values), "least": min(values), "chance": rate / (2 - rate)}
        for rate, values in overlap.items()
    ]
    return {"seeds": seeds, "pairs": len(next(iter(overlap.values()))), "rows": rows}


def unlearned(right: float, commonest: float) -> str:
    """Say that a model does not know its members."""
    return (
        f"The model labels {percent(right)} of its members correctly, no more than chance may by naming the largest "
        f"class ({percent(commonest)}), so that its scores rank little: check its weights, the members, and that "
        "inputs are normalised as in its training."
    )


def limits(scoring: Scoring, found: Scored) -> list[str]:
    """Say what scores do not show."""
    said = [
        "How much the model gives away: scores rank weights inside one model. `reticent audit` measures the leak.",
        "What a weight of zero does: its score is zero, whatever its gradient.",
        "That changing the largest weights protects members: `reticent compare` shows what a repair is worth.",
    ]
    if len(found.vulnerability) < 2:
        said.append("How much of the ranking is the draw of batches: give --seeds 3.")
    if found.unused:
        said.append(f"Anything of {len(found.unused)} parameters without a gradient, such as {found.unused[0]}.")
    if found.entropy is not None and found.entropy < SURE:
        said.append(
            f"What pulling non-members back to guesses would show: the initial model is not guessing (entropy "
            f"{percent(found.entropy)} of the most), so they are pulled to its particular answers."
        )
    if scoring.unlearning == 0:
        said.append("Privacy vulnerability: with unlearning at 0 both scores are learnability.")
    return said
