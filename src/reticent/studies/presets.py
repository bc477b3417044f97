"""Data and training that several studies share.

What is chosen here was chosen before any study ran: by the papers' own words where they are known, and else by what a
data set is usually trained with (`docs/studies.md`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from reticent.data import conversion
from reticent.data.load import load
from reticent.data.records import Records

LOCATION: dict[str, Any] = {
    "dataset": "location30",
    "architecture": "mlp",
    "reference": 1000,
    "attacks": ("lira", "rmia"),
}
"""Location30 as `reticent data list` suggests it: an MLP, 40 epochs of Adam; 1,000 records are the defender's."""

CIFAR: dict[str, Any] = {
    "dataset": "cifar10",
    "attacks": ("lira", "rmia"),
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "weight_decay": 5e-4,
    "schedule": "cosine",
    "batch_size": 128,
    "augmentation": "none",
}
"""CIFAR-10 as Fang and Kim (2026) train it, Adam and a cosine; what their text has lost is as usual."""

CIFAR_SMALL: dict[str, Any] = CIFAR | {
    "architecture": {"name": "cnn", "widths": (16, 32, 64)},
    "records": 1200,
    "reference": 400,
    "epochs": 30,
    "batch_size": 64,
}
"""A part of CIFAR-10 and a narrow CNN, so that two cores can train many models: 600 members a model."""

CIFAR_PAPER: dict[str, Any] = CIFAR | {"models": 10, "records": 20000, "reference": 5000, "epochs": 100}
"""The paper's: 8 references a target (4 IN, 4 OUT), 100 epochs, half of them in fine-tuning. Its sizes are lost."""


def digit_pictures() -> Records:
    """Make pictures of scikit-learn's digits, which are tabular by themselves."""
    digits = load("digits")
    pixels = np.rint(np.asarray(digits.x) * 16 * 15).astype(np.uint8).reshape(-1, 8, 8)
    return conversion.records(pixels, np.asarray(digits.y), name="digit pictures")


MADE: dict[str, Callable[[], Records]] = {"digit pictures": digit_pictures}
"""Data sets that are made of others."""

DIGITS: dict[str, Any] = {"dataset": "digit pictures", "reference": 300, "epochs": 20, "attacks": ("lira", "rmia")}
"""Digits as pictures, with what suits pictures; 300 are the defender's."""

UNLIKE_DIGITS = "1,797 digits of 8 x 8 pixels, small networks, 20 epochs at a constant learning rate"
UNLIKE_TABLE = "a table and an MLP, at a constant learning rate, without weight decay, in batches of 64"
UNLIKE_SMALL = "at most 600 pictures of CIFAR-10 a model, a narrow network, 30 epochs in batches of 64"
HALF = "fine-tuning has half of the epochs, whatever training loss that ends at, of which the paper prints the values"
"""What makes settings neither the papers' own nor a fair stand-in for them (`Setting.unlike`)."""

LOST = (
    "The paper's steps and batch size of scoring, its lambda, learning rate, weight decay, epochs, r and set sizes are "
    "lost (its text has no formulas and no Table 4), and no code is public: where they matter, the defaults of "
    "docs/methods/cwrf.md stand in their place, so that a number that differs need not be the paper's fault."
)
