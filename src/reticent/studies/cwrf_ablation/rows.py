"""The rows of `cwrf-ablation`, as its tables, claims and figures name them, and what the paper prints of them."""

from reticent.studies.base import Published

SCRATCH, CHOSEN = "From scratch", "A3, chosen r"
VARIANTS = {
    "A1": ("variant=remove", "vulnerable weights held at zero, the others trained"),
    "A2": ("variant=rewind-train-vulnerable", "vulnerable weights rewound and trained, the others held"),
    "A3": ("variant=cwrf", "CWRF: vulnerable weights rewound and held, the others trained"),
}
CONTROLS = {
    "Random mask": ("mask=random", "A3 with as many weights, drawn by chance from all"),
    "Random within": ("mask=random-within", "A3 with as many weights of each parameter tensor, drawn by chance"),
    "Magnitude mask": ("mask=magnitude", "A3 with the weights of the largest absolute values"),
    "Learnability mask": ("mask=learnability", "A3 with the weights of the largest learnability scores"),
    "Fresh values": ("value=fresh", "A3 with a new draw in place of the initial values"),
}
"""Both: name -> CWRF's option, and what it is."""
CHANCE = ("Random mask", "Random within")
"""The first differs from A3 in the kinds of layer that it takes from too, the second in the weights alone."""
NO_REWINDING = "r = 0"
LENGTHS = ("From scratch, shorter", "From scratch, longer")
"""RelaxLoss alone for as many epochs as the fine-tuning has, and for as many as both trainings."""


def named(what: str, rate: float) -> str:
    """Name a row, or a difference of rows, at a rate."""
    return f"{what}, r = {100 * rate:g} %"


RATES = (0.001, 0.01, 0.03, 0.05)
"""Of the paper's Table 2."""
LOSSES = {
    "A2": ((1.2268, 0.8570, 0.4326, 0.4619), (1.3797, 1.2728, 0.9288, 0.9610)),
    "A3": ((0.1502, 0.3376, 0.4473, 0.4815), (0.7720, 0.7433, 0.8044, 0.8330)),
}
"""Mean cross-entropy of members and of others, by rate."""


def _printed(inside: float, outside: float) -> dict[str, tuple[float, None]]:
    return {"loss_members": (inside, None), "loss": (outside, None), "gap": (round(outside - inside, 4), None)}


PUBLISHED = Published(
    "Fang and Kim (2026), Table 2",
    "ResNet18",
    {SCRATCH: _printed(0.8087, 1.5398)}
    | {
        named(variant, rate): _printed(*both)
        for variant, losses in LOSSES.items()
        for rate, *both in zip(RATES, *losses, strict=True)
    },
    note="Mean cross-entropy; which data set is not said. The gaps are differences of the printed losses, taken here. "
    "At r = 0.1 % the table's gap of A3 is larger than that of A2, though its losses are lower; at 1, 3 and 5 % it is "
    "smaller.",
)
