"""Networks and data of the studies of PPTP: each with a stage from which on membership shows."""

from dataclasses import replace

from reticent.options import Options
from reticent.studies import presets
from reticent.studies.base import Scale, Setting
from reticent.studies.metrics import CORRECTNESS
from reticent.studies.pptp.premises import NETWORK, TINY_IMAGENET
from reticent.studies.pptp.rows import RELAXLOSS

PAPER = (
    "Fang and Kim, Decoupling generalizability and membership privacy risks in neural networks (PPTP), arXiv "
    "2602.02296."
)
ATTACKS = ("lira", "rmia", CORRECTNESS, "confidence", "entropy", "modified-entropy")
ACTING: Options = {RELAXLOSS: "relaxloss:level=1.5", "Adv-Reg": "adv-reg:weight=3"}
"""Defenses at values of the paper's grid (alpha 1 to 3 and 1 to 5, k = 3), fixed before any attack: RelaxLoss by the
least validation loss of one model (2.015 without, 2.024 at 0.5, 1.976 at 1, 1.943 at 1.5), Adv-Reg at its own."""
SHARED: Options = presets.CIFAR | {"attacks": ATTACKS}
SMALL: Options = SHARED | {
    "architecture": presets.NARROW_RESNET20,
    "records": 1200,
    "reference": 400,
    "epochs": 30,
    "batch_size": 64,
    "models": 8,
}
"""ResNet20, 8 channels wide, on 600 pictures a model: stage 3 is where membership begins to show."""
OPTIONS: Options = {"stage": "stage 3", "defenses": ACTING, "fpr": 0.01}
UNLIKE = (
    "300 or 600 pictures of CIFAR-10 a model without augmentation, a ResNet20 of 8 channels, at most 30 epochs in "
    "batches of 64"
)
TINY_SETTING = Setting(
    "resnet20",
    "ResNet20 on 600 records of CIFAR-10",
    SMALL | {"records": 600, "epochs": 20, "models": 4},
    OPTIONS,
    network="ResNet",
    unlike=UNLIKE,
)
SMALL_SETTING = replace(TINY_SETTING, label="ResNet20 on 1,200 records of CIFAR-10", base=SMALL)
LARGE: Options = SHARED | {
    "architecture": "resnet18",
    "augmentation": "flip-crop",
    "epochs": 100,
    "models": 10,
    "attacks": (*ATTACKS, NETWORK),
}
HUNDRED: Options = OPTIONS | {"defenses": {RELAXLOSS: "relaxloss:level=3", "Adv-Reg": "adv-reg:weight=5"}}
WITH_SELENA: Options = {**HUNDRED["defenses"], "SELENA": "selena:models=25,outside=10,targets=stored"}
GPU_SETTING = Setting(
    "cifar100",
    "ResNet18 on 10,000 records of CIFAR-100",
    LARGE | {"dataset": "cifar100", "records": 10000, "reference": 5000, "epochs": 30, "models": 8},
    HUNDRED,
    network="ResNet",
    unlike="5,000 pictures a model and 30 epochs",
)
CIFAR100 = Setting(
    "cifar100",
    "ResNet18 on CIFAR-100",
    LARGE | {"dataset": "cifar100", "records": 50000, "reference": 10000},
    HUNDRED,
    network="ResNet",
)
TINY_IMAGES = Setting(
    "tinyimagenet",
    "ResNet18 on TinyImageNet",
    LARGE
    | {
        "dataset": "tinyimagenet",
        "architecture": {"name": "resnet18", "stem": "tiny"},
        "records": 90000,
        "reference": 20000,
    },
    HUNDRED | {"stage": "stage 4"},
    TINY_IMAGENET,
    network="ResNet",
)
"""Table 6: freezing stops at stage 3 on CIFAR-100, at stage 4 on TinyImageNet."""


def scales(*, selena: bool = False, cost: str = "") -> dict[str, Scale]:
    """List the scales; SELENA takes part on TinyImageNet alone, as in the paper."""
    last = replace(TINY_IMAGES, options=TINY_IMAGES.options | {"defenses": WITH_SELENA}) if selena else TINY_IMAGES
    return {
        "tiny": Scale((TINY_SETTING,), 1, f"A part of CIFAR-10 with a narrow ResNet20, 4 models a row, 1 seed: {cost}"),
        "small": Scale((SMALL_SETTING,), 3, "The same with more records and epochs, 8 models a row, 3 seeds: hours."),
        "gpu": Scale((GPU_SETTING,), 1, "A part of CIFAR-100 with ResNet18, 8 models a row, 1 seed: hours."),
        "paper": Scale(
            (CIFAR100, last),
            3,
            "CIFAR-100 and TinyImageNet with ResNet18, 100 epochs, 10 models a row, 3 seeds: weeks on one GPU.",
        ),
    }
