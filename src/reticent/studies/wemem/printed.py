"""What Shang et al. (2025) print: percent there, fractions here; and what always saying "member" reaches."""

from reticent.studies.base import Published
from reticent.studies.wemem.rows import PRUNED, rmr

FLOOR = 22_500 / 30_750
"""Members among the records that network attacks are tested on in the released code, on CIFAR: 73.17 %."""
METRIC_ATTACKS = ("confidence", "entropy", "modified-entropy", "top1-confidence")
NETWORK_ATTACKS = ("samia", "nn", "nn-top3", "nn-cls")
TABLE: dict[str, dict[float, tuple[float, ...]]] = {
    "DenseNet121 on CIFAR-10": {
        0.0: (80.01, 63.91, 62.05, 63.96, 64.33, 78.10, 75.85, 76.08, 78.44),
        0.01: (78.96, 60.69, 58.43, 60.67, 60.78, 76.19, 73.50, 73.41, 76.22),
        0.1: (77.81, 54.60, 53.06, 54.78, 54.84, 73.07, 72.89, 73.17, 73.13),
        1.0: (69.83, 52.14, 50.97, 51.99, 51.93, 72.79, 73.27, 72.04, 73.03),
    },
    "ResNet18 on CIFAR-100": {
        0.0: (42.44, 91.91, 91.02, 92.10, 92.09, 94.39, 93.98, 94.84, 94.36),
        0.01: (41.03, 90.03, 88.68, 90.18, 90.24, 93.17, 92.78, 93.02, 93.58),
        0.1: (37.46, 60.12, 54.69, 60.07, 59.93, 73.30, 73.29, 72.45, 72.91),
        1.0: (10.13, 50.88, 50.07, 50.88, 51.21, 71.32, 72.05, 71.67, 72.37),
    },
}
"""Accuracy on test records and of eight attacks, by network and lambda; 0 is Base."""
COLUMNS = ("accuracy", *(f"printed_{attack}" for attack in (*METRIC_ATTACKS, *NETWORK_ATTACKS)))
SECONDS: dict[str, tuple[int, ...]] = {
    "VGG16 on CIFAR-10": (630, 269, 468, 332, 571, 275, 434, 7 * 3600),
    "ResNet18 on CIFAR-100": (458, 174, 611, 259, 643, 226, 532, 9 * 3600),
    "DenseNet121 on CINIC-10": (1616, 463, 2404, 1498, 1759, 495, 1696, 50 * 3600),
    "FC on Location30": (93, 68, 98, 95, 99, 195, 88, 231),
}
TIMED = (PRUNED, "RSW", "RMR", "SWMR", "PPB", "Adv-Reg", "RelaxLoss", "DP-SGD")
PAPER = "Shang et al. (2025), slides"
ALWAYS = (
    f"SAMIA, NN, Top3-NN and Cl-NN are plain accuracies, in the released code on 22,500 members and 8,250 others, "
    f"where an attack that always says member has {100 * FLOOR:.2f} %; the other four are balanced, where it has 50 %. "
    "With lambda 0.1 and 1 all of these lie within 2 points of that: they show no attack of 73 %, but none that works, "
    "or a worse one."
)


def _row(values: tuple[float, ...]) -> dict[str, tuple[float, None]]:
    return {key: (round(value / 100, 6), None) for key, value in zip(COLUMNS, values, strict=True)}


def _name(strength: float) -> str:
    return rmr(strength) if strength else PRUNED


PUBLISHED = tuple(
    Published(
        f"{PAPER}, table of lambda",
        group,
        {_name(strength): _row(values) for strength, values in rows.items()},
        note=ALWAYS,
    )
    for group, rows in TABLE.items()
) + tuple(
    Published(
        f"{PAPER}, table of time",
        group,
        {name: {"pruning_seconds": (float(value), None)} for name, value in zip(TIMED, values, strict=True)},
        note="Time of iterative pruning, on a machine that is not named, of windows and thresholds that are not said. "
        "Whether memorisation scores are counted is not said either.",
    )
    for group, values in SECONDS.items()
)
