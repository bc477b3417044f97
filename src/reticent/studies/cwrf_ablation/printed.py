"""What the paper printed beside `cwrf-ablation`."""

from reticent.studies.cwrf_ablation.rows import SCRATCH, named
from reticent.studies.base import Published


def _printed() -> dict[str, dict[str, tuple[float, float | None]]]:
    """Give Table 2: mean cross-entropy of members and others by rate; from scratch it holds for all rates."""
    rates = (0.001, 0.01, 0.03, 0.05)
    values = {
        "A2": ((1.2268, 0.8570, 0.4326, 0.4619), (1.3797, 1.2728, 0.9288, 0.9610)),
        "A3": ((0.1502, 0.3376, 0.4473, 0.4815), (0.7720, 0.7433, 0.8044, 0.8330)),
    }
    rows: dict[str, dict[str, tuple[float, float | None]]] = {
        SCRATCH: {"loss_members": (0.8087, None), "loss": (1.5398, None), "gap": (round(1.5398 - 0.8087, 4), None)}
    }
    for variant, (inside, outside) in values.items():
        for rate, one, other in zip(rates, inside, outside, strict=True):
            rows[named(variant, rate)] = {
                "loss_members": (one, None),
                "loss": (other, None),
                "gap": (round(other - one, 4), None),
            }
    return rows


PUBLISHED = Published(
    "Fang and Kim (2026), Table 2",
    "ResNet18",
    _printed(),
    note="Mean cross-entropy; which data set is not said. The gaps are differences of the printed losses, taken here. "
    "At r = 0.1 % the table's gap of A3 is larger than that of A2, though its losses are lower; at 1, 3 and 5 % it is "
    "smaller.",
)
