"""The rows of `cwrf-ablation`, as its tables, claims and figures name them."""

SCRATCH = "From scratch"
VARIANTS = {"A1": "remove", "A2": "rewind-train-vulnerable", "A3": "cwrf"}
"""Variant -> CWRF's option."""
CONTROLS = {
    "Random mask": ("mask=random", "A3 with as many weights, drawn by chance from all"),
    "Random within": ("mask=random-within", "A3 with as many weights of each parameter tensor, drawn by chance"),
    "Magnitude mask": ("mask=magnitude", "A3 with the weights of the largest absolute values"),
    "Learnability mask": ("mask=learnability", "A3 with the weights of the largest learnability scores"),
    "Fresh values": ("value=fresh", "A3 with a new draw in place of the initial values"),
}
"""Row -> CWRF's option, and what it is."""
CHANCE = ("Random mask", "Random within")
"""The first differs from A3 in the kinds of layer that it takes from too, the second in the weights alone."""
NO_REWINDING = "r = 0"


def named(variant: str, rate: float) -> str:
    """Name a row."""
    return f"{variant}, r = {100 * rate:g} %"
