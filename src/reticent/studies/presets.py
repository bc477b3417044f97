"""Data and training that several studies share.

What is chosen here was chosen before any study ran: by the papers' own words where they are known, and else by what a
data set is usually trained with (`docs/studies.md`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from reticent.data import conversion
from reticent.data.load import load
from reticent.data.records import Records
from reticent.options import Options
from reticent.studies.base import Setting
from reticent.studies.metrics import STRONGEST

LOCATION: Options = {
    "dataset": "location30",
    "architecture": "mlp",
    "reference": 1000,
    "attacks": ("lira", "rmia"),
}
"""Location30 as `reticent data list` suggests it: an MLP, 40 epochs of Adam; 1,000 records are the defender's."""

TRAINING: Options = {
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "weight_decay": 5e-4,
    "schedule": "cosine",
    "batch_size": 128,
}
"""As Fang and Kim (2026) train, Adam and a cosine; what their text has lost is as usual."""

CIFAR: Options = {"dataset": "cifar10", "attacks": ("lira", "rmia"), "augmentation": "none"} | TRAINING
"""CIFAR-10, trained so."""

NARROW_CNN: Options = {"name": "cnn", "widths": (16, 32, 64), "layout": "channels-last"}
NARROW_RESNET20: Options = {"name": "resnet20", "width": 8, "layout": "channels-last"}

CIFAR_SMALL: Options = CIFAR | {
    "architecture": NARROW_CNN,
    "records": 1200,
    "reference": 400,
    "epochs": 30,
    "batch_size": 64,
}
"""A part of CIFAR-10 and a narrow CNN, so that two cores can train many models: 600 members a model."""

CIFAR_PAPER: Options = CIFAR | {"models": 10, "records": 20000, "reference": 5000, "epochs": 100}
"""8 references a target (4 IN, 4 OUT), as in the paper, whose epochs and sizes are lost."""


def digit_pictures() -> Records:
    """Make pictures of scikit-learn's digits, which are tabular by themselves."""
    digits = load("digits")
    pixels = np.rint(np.asarray(digits.x) * 16 * 15).astype(np.uint8).reshape(-1, 8, 8)
    return conversion.records(pixels, np.asarray(digits.y), name="digit pictures")


MADE: dict[str, Callable[[], Records]] = {"digit pictures": digit_pictures}
"""Data sets that are made of others."""

DIGITS: Options = {"dataset": "digit pictures", "reference": 300, "epochs": 20, "attacks": ("lira", "rmia")}
"""Digits as pictures, with what suits pictures; 300 are the defender's."""

UNLIKE_DIGITS = "1,797 digits of 8 x 8 pixels, small networks, 20 epochs at a constant learning rate"
UNLIKE_TABLE = "a table and an MLP, at a constant learning rate, without weight decay, in batches of 64"
UNLIKE_SMALL = "at most 600 pictures of CIFAR-10 a model, a narrow network, 30 epochs in batches of 64"
"""What makes settings neither the papers' own nor a fair stand-in for them (`Setting.unlike`)."""

TINY_CNN = Setting("cnn", "CNN on digits", DIGITS | {"architecture": "cnn"}, network="CNN", unlike=UNLIKE_DIGITS)
TINY_LOCATION = Setting(
    "location30",
    "MLP on 2,000 records of Location30",
    LOCATION | {"models": 8, "records": 2000},
    network="MLP",
    unlike=UNLIKE_TABLE,
)
SMALL_LOCATION = Setting(
    "location30", "MLP on Location30", LOCATION | {"models": 16}, network="MLP", unlike=UNLIKE_TABLE
)
SMALL_CNN = Setting(
    "cifar10",
    "CNN on 1,200 records of CIFAR-10",
    CIFAR_SMALL | {"models": 8},
    network="CNN",
    unlike=UNLIKE_SMALL,
)
SMALL_RESNET20 = Setting(
    "resnet20",
    "ResNet20 on 1,200 records of CIFAR-10",
    CIFAR_SMALL | {"architecture": NARROW_RESNET20},
    network="ResNet",
    unlike=UNLIKE_SMALL,
)
CWRF_TABLE: Options = LOCATION | TRAINING | {"models": 8, "epochs": 100}
"""Location30, trained as Fang and Kim train pictures."""
CWRF_TINY = Setting(
    "location30",
    "MLP on 2,000 records of Location30",
    CWRF_TABLE | {"records": 2000, "epochs": 40},
    network="MLP",
    unlike="1,000 records of a table a model, and an MLP",
)
CWRF_LOCATION = Setting("location30", "MLP on Location30", CWRF_TABLE, network="MLP", unlike="a table and an MLP")
CWRF_CNN = Setting(
    "cifar10",
    "CNN on 2,000 records of CIFAR-10",
    CIFAR_SMALL | TRAINING | {"models": 8, "records": 2000, "reference": 400, "epochs": 100},
    network="CNN",
    unlike="1,000 pictures of CIFAR-10 a model, and a narrow network",
)
CWRF_FITTED_CNN = replace(
    CWRF_CNN,
    base=CWRF_CNN.base | {"batch_size": 32},
    unlike=f"{CWRF_CNN.unlike}, in batches of 32",
)
"""Of 1,000 pictures an epoch has 8 batches of 128, and the mean loss of none falls to the level of RelaxLoss that the
loss on records left out chooses: in batches of 32 it does."""
CWRF_GPU = Setting(
    "resnet18",
    "ResNet18 on 4,000 records of CIFAR-10",
    CIFAR | {"architecture": "resnet18", "models": 8, "records": 4000, "reference": 1000, "epochs": 40},
    network="ResNet",
    unlike="2,000 pictures of CIFAR-10 a model, and 40 epochs",
)
SMALL_VIT: Options = {"name": "vit", "dim": 128, "depth": 4, "heads": 4, "hidden": 256}
CWRF_GPU_VIT = Setting(
    "vit",
    "a small ViT on 4,000 records of CIFAR-10",
    CWRF_GPU.base | {"architecture": SMALL_VIT},
    network="ViT",
    unlike=f"{CWRF_GPU.unlike}, by a small ViT",
)
PAPER_RESNET18 = Setting(
    "resnet18", "ResNet18 on CIFAR-10", CIFAR_PAPER | {"architecture": "resnet18"}, network="ResNet"
)
PAPER_VIT = Setting("vit", "ViT on CIFAR-10", CIFAR_PAPER | {"architecture": "vit"}, network="ViT")
PAPER_CIFAR100 = Setting(
    "cifar100",
    "ResNet18 on CIFAR-100",
    CIFAR_PAPER | {"dataset": "cifar100", "architecture": "resnet18"},
    network="ResNet",
)
PAPER_CINIC10 = Setting(
    "cinic10",
    "ResNet18 on CINIC-10",
    CIFAR_PAPER | {"dataset": "cinic10", "architecture": "resnet18", "records": 40000},
    network="ResNet",
)


def repaired(setting: Setting, options: Options, **more: Any) -> Setting:
    """Ask of a setting what a study of CWRF asks, under the attacks of the paper and the strongest one."""
    base = setting.base | {"attacks": (*setting.base["attacks"], STRONGEST)}
    return replace(setting, **{"base": base, "options": options, **more})


def asked(setting: Setting, options: Options) -> Setting:
    """Ask of a setting's models what needs no attack of references."""
    return replace(setting, base=setting.base | {"attacks": ("loss",)}, options=options)


def lengths(epochs: int) -> tuple[int, ...]:
    """List the lengths of CWRF's fine-tuning that are tried, which are 5, 10, 25 and 50 of 100 epochs."""
    return tuple(max(2, round(share * epochs)) for share in (0.05, 0.1, 0.25, 0.5))


REPAIRS: Options = {"rates": (0.001, 0.01, 0.03, 0.05), "lengths": lengths(100), "fpr": 0.01}
"""r, as in the paper's Table 2, lengths of the fine-tuning and the rate of false positives."""
TINY_REPAIRS: Options = REPAIRS | {"rates": (0.01, 0.05), "lengths": lengths(40)[1:3]}
LEVELS: Options = {"levels": (0.25, 0.5, 1.0, 1.5)}
"""Of RelaxLoss, where its level is chosen."""
FEW_REPAIRS: Options = REPAIRS | LEVELS | {"rates": (0.001, 0.05)}
SHORT_REPAIRS: Options = REPAIRS | {"lengths": lengths(40)}

FANG_AND_KIM = (
    "Fang and Kim (2026), Learnability and privacy vulnerability are entangled in a few critical weights, ICLR."
)
LOST = (
    "The paper's steps and batch size of scoring, its lambda, learning rate, weight decay, epochs, r and set sizes are "
    "lost (its text has no formulas and no Table 4), and no code is public: where they matter, the defaults of "
    "docs/methods/cwrf.md stand in their place, so that a number that differs need not be the paper's fault."
)
