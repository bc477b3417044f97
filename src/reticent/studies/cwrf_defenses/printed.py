"""Table 3 of Fang and Kim (2026), as printed: percent there, fractions here; mean and deviation of three runs."""

from collections.abc import Iterable

from reticent.studies.base import Published, Setting
from reticent.studies.excess import NONE

WITH = " + CWRF"
TITLES = {
    "none": NONE,
    "relaxloss": "RelaxLoss",
    "hamp": "HAMP",
    "ccl": "CCL",
    "past": "PAST",
    "dpsgd": "DP-SGD",
}
"""Defense -> its name in the table."""
CONTROLS = {
    "r = 0": " + CWRF at r = 0",
    "by chance": " + CWRF by chance",
    "shorter": ", shorter",
    "longer": ", longer",
}
"""Control that the paper lacks -> what stands behind the title in the row's name."""


def titles(defenses: Iterable[str]) -> dict[str, str]:
    """Find the names in the table of defenses with their options."""
    return {TITLES[one.partition(":")[0]]: one for one in defenses}


METRICS = ("accuracy", "auc_lira", "tpr_lira_0.001", "zero_lira", "auc_rmia", "tpr_rmia_0.001", "zero_rmia")
Row = tuple[str, tuple[float, ...], tuple[float, ...]]
RESNET18: tuple[Row, ...] = (
    (NONE, (79.44, 85.00, 2.18, 1.78, 74.76, 5.88, 3.90), (0.23, 2.20, 0.59, 0.34, 1.59, 0.70, 1.31)),
    ("RelaxLoss", (77.10, 70.51, 1.38, 0.52, 66.60, 0.52, 0.12), (1.21, 2.72, 0.42, 0.21, 1.67, 0.34, 0.16)),
    ("RelaxLoss + CWRF", (76.86, 68.31, 0.03, 0.03, 68.18, 1.22, 0.27), (0.29, 0.68, 0.05, 0.05, 1.53, 0.97, 0.19)),
    ("HAMP", (77.79, 79.71, 3.33, 1.80, 80.07, 7.28, 1.93), (0.33, 0.20, 0.73, 1.47, 0.58, 1.64, 1.28)),
    ("HAMP + CWRF", (81.43, 77.96, 0.53, 0.07, 80.26, 4.30, 1.66), (0.15, 0.13, 0.58, 0.06, 0.41, 1.33, 0.65)),
    ("CCL", (79.56, 83.95, 1.50, 0.80, 76.04, 4.23, 2.22), (0.38, 0.36, 0.71, 0.61, 0.39, 0.54, 1.55)),
    ("CCL + CWRF", (77.77, 64.82, 0.22, 0.10, 74.25, 2.80, 0.93), (0.56, 0.32, 0.06, 0.04, 0.36, 0.43, 0.33)),
)
VIT: tuple[Row, ...] = (
    (NONE, (56.45, 82.88, 1.60, 1.92, 84.44, 1.52, 0.45), (0.46, 0.68, 1.14, 0.41, 0.27, 0.81, 0.32)),
    ("DP-SGD", (57.63, 54.97, 0.45, 0.17, 60.86, 0.23, 0.18), (0.29, 0.41, 0.11, 0.06, 0.18, 0.16, 0.06)),
    ("DP-SGD + CWRF", (60.45, 55.68, 0.13, 0.00, 60.46, 0.13, 0.03), (0.37, 0.58, 0.06, 0.00, 1.03, 0.02, 0.05)),
    ("RelaxLoss", (57.21, 73.45, 0.38, 0.37, 72.87, 0.85, 0.23), (0.75, 0.73, 0.18, 0.18, 1.35, 0.72, 0.23)),
    ("RelaxLoss + CWRF", (56.82, 55.88, 0.12, 0.03, 63.30, 0.38, 0.10), (0.15, 0.54, 0.10, 0.05, 0.77, 0.31, 0.11)),
    ("HAMP", (51.62, 50.53, 0.07, 0.00, 54.42, 0.27, 0.05), (0.72, 0.41, 0.09, 0.00, 0.55, 0.12, 0.04)),
    ("HAMP + CWRF", (52.50, 50.15, 0.05, 0.00, 51.50, 0.13, 0.02), (0.39, 0.40, 0.11, 0.00, 1.14, 0.08, 0.02)),
    ("CCL", (54.25, 52.18, 0.02, 0.00, 56.33, 0.12, 0.00), (0.71, 0.53, 0.02, 0.00, 0.83, 0.08, 0.00)),
    ("CCL + CWRF", (53.45, 51.68, 0.00, 0.00, 51.32, 0.07, 0.00), (0.65, 0.36, 0.00, 0.00, 0.57, 0.06, 0.00)),
    ("PAST", (54.84, 54.30, 0.17, 0.08, 62.99, 0.97, 0.25), (0.56, 0.79, 0.10, 0.08, 1.42, 0.25, 0.25)),
    ("PAST + CWRF", (54.66, 53.86, 0.15, 0.08, 62.10, 0.68, 0.22), (0.37, 1.29, 0.19, 0.08, 0.08, 0.31, 0.14)),
)
GRID = (
    "Nearly all of the printed TPRs are averages of three runs on a grid of 0.05 %, so that each was probably counted "
    "on 2,000 members. With about as many non-members, FPR 0.1 % allows two false positives, and FPR 0.001 % (0.1 of "
    "ten thousand) none: that column is the TPR at no false positive. reticent leaves out rates that it can't measure."
)
GREW = (
    "impossible as printed: 1.92 % at FPR 0.001 % is more than 1.60 % at FPR 0.1 %, and a TPR cannot grow as the FPR "
    "shrinks"
)
SPREAD = (
    "impossible as printed: three runs without negative values and with mean 0.05 have a standard deviation of 0.087 "
    "at most, and 0.11 is printed"
)
REMARKS = {(NONE, "zero_lira"): GREW, ("HAMP + CWRF", "tpr_lira_0.001"): SPREAD}


def _rows(printed: tuple[Row, ...]) -> dict[str, dict[str, tuple[float, float | None]]]:
    return {
        name: {
            metric: (round(mean / 100, 6), round(std / 100, 6))
            for metric, mean, std in zip(METRICS, means, stds, strict=True)
        }
        for name, means, stds in printed
    }


RISEN = {
    "ResNet18": "Printed AUCs that are larger with CWRF: RMIA's with RelaxLoss, from 66.60 to 68.18 %; RMIA's with "
    "HAMP, from 80.07 to 80.26 %.",
    "ViT": "Printed AUCs that are larger with CWRF: LiRA's with DP-SGD, from 54.97 to 55.68 %.",
}
PUBLISHED = tuple(
    Published("Fang and Kim (2026), Table 3", group, _rows(rows), remarks, f"CIFAR-10. {GRID} {RISEN[group]}")
    for group, rows, remarks in (("ResNet18", RESNET18, {}), ("ViT", VIT, REMARKS))
)
TABLES = {table.group: table.rows for table in PUBLISHED}
KINDS = {"ResNet18": "ResNet", "ViT": "ViT"}
"""Group of the table -> its kind of network."""
BETTER = {
    "cinic10": {"auc_lira": ("relaxloss", "hamp", "ccl"), "auc_rmia": ("relaxloss", "hamp")},
    "cifar100": {"auc_lira": ("relaxloss", "ccl"), "auc_rmia": ("relaxloss",)},
}
"""Data set -> AUC -> defenses of which section 5.2 says that CWRF lowers it; their figures have no printed numbers."""
KEPT = {"cinic10": ("relaxloss", "hamp"), "cifar100": ("relaxloss",)}
"""Data set -> defenses of which section 5.2 says that CWRF makes them more accurate; HAMP on CIFAR-100 fails alone."""


def falls(group: str, name: str, metric: str) -> bool:
    """Say whether a part of Table 3 prints a number as lower with CWRF, and the defense alone as lowering the AUC."""
    rows, title = TABLES[group], TITLES[name]
    if title not in rows:
        return False
    auc = f"auc_{metric.split('_')[1]}"
    acts = rows[title][auc][0] < rows[NONE][auc][0]
    return acts and rows[title + WITH][metric][0] < rows[title][metric][0]


def networks(name: str, metric: str) -> tuple[str, ...]:
    """List the kinds of network with which the paper says that CWRF lowers a number of a defense."""
    told = {"ResNet"} if any(name in numbers.get(metric, ()) for numbers in BETTER.values()) else set()
    told |= {kind for group, kind in KINDS.items() if falls(group, name, metric)}
    return tuple(kind for kind in KINDS.values() if kind in told)


def lowered(one: Setting, name: str, metric: str) -> bool:
    """Say whether a claim on a number of a defense is asked in a setting; where the paper is silent, always."""
    if one.published is not None:
        return falls(one.published, name, metric)
    data = one.base["dataset"]
    return name in BETTER[data].get(metric, ()) if data in BETTER else True


def kept(one: Setting, name: str) -> bool:
    """Say whether it is asked that the accuracy of a defense is kept; where the paper is silent, always."""
    if one.published is not None:
        return TITLES[name] in TABLES[one.published]
    data = one.base["dataset"]
    return name in KEPT[data] if data in KEPT else True
