"""What `wemem` trains and attacks at each scale."""

from reticent.options import Options
from reticent.studies import presets
from reticent.studies.base import Scale, Setting
from reticent.studies.metrics import JUDGED
from reticent.studies.wemem.printed import METRIC_ATTACKS, NETWORK_ATTACKS
from reticent.studies.wemem.rows import HIGH, LOW

RATE = 0.01
"""False positive rate at which members are counted by memorisation."""
FEW: Options = {
    "attacks": (*JUDGED, *METRIC_ATTACKS, "nn"),
    "attack.top1-confidence.of": "label",
    "attack.nn.groups": 2,
    "attack.nn.steps": 300,
}
"""Hconf as the released code has it; and few fits of NN, each on half of the references."""
SOME: Options = FEW | {
    "attacks": (*JUDGED, *METRIC_ATTACKS, "nn", "nn-cls"),
    "attack.nn-cls.groups": 2,
    "attack.nn-cls.steps": 300,
}
ALL: Options = {"attacks": (*JUDGED, *METRIC_ATTACKS, *NETWORK_ATTACKS), "attack.top1-confidence.of": "label"}
PAPER_ADAM: Options = {
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "weight_decay": 5e-4,
    "batch_size": 128,
    "patience": 5,
    "epochs": 100,
}
"""As the released code trains."""
OPTIONS: Options = {
    "fpr": RATE,
    "rate": 0.6,
    "rates": (0.5, 0.7),
    "strengths": (0.01, 0.1, 1.0),
    "strength": 0.1,
    "threshold": 0.6,
    "joined": 2,
    "baselines": ("ppb", "adv-reg", "relaxloss", "dpsgd"),
    "skip": (),
    "tuning_epochs": 21,
    "sub_models": 10,
    "outside": 3,
}
FC: Options = {"skip": ("6",), "windows": ((30, 1, HIGH), (40, 1, HIGH), (15, 1, HIGH), (30, 1, LOW), (30, 3, HIGH))}
"""The paper's windows on Location30; of its network the first two layers are pruned."""
LOCATION: Options = {"dataset": "location30", "architecture": "fc", "reference": 1000, "validation": 400} | PAPER_ADAM


def _pictures(width: int, stride: int) -> Options:
    """Give windows of 4/9, 2/3 and 2/9 of a class, the paper's shares, by the width of the first."""
    wide, narrow = round(1.5 * width), round(0.5 * width)
    return {
        "windows": ((width, stride, HIGH), (wide, stride, HIGH), (narrow, stride, HIGH), (width, stride, LOW)),
        "threshold": 0.5,
    }


PART: Options = (
    {
        "dataset": "cifar10",
        "models": 8,
        "records": 1200,
        "validation": 400,
        "reference": 400,
        "augmentation": "none",
    }
    | PAPER_ADAM
    | {"batch_size": 64, "epochs": 30}
)
UNLIKE = "600 pictures of CIFAR-10 a model, a narrow network, 30 epochs at most in batches of 64, and 6 of fine-tuning"
SHORT: Options = {"tuning_epochs": 8, "sub_models": 5, "outside": 2}
SHORTER: Options = SHORT | {"tuning_epochs": 6, "rates": (), "joined": 1}
WHOLE: Options = {
    "dataset": "cifar10",
    "architecture": "densenet121",
    "models": 10,
    "records": 45000,
    "validation": 5000,
    "reference": 5000,
    "augmentation": "none",
} | PAPER_ADAM
"""22,500 members a model, as in the paper."""
PRINTED_WINDOWS: Options = {
    "windows": (
        (1000, 50, HIGH),
        (1500, 50, HIGH),
        (500, 50, HIGH),
        (1000, 50, LOW),
        (500, 100, HIGH),
    ),
    "threshold": 0.5,
}


def _location(rows: Options) -> Setting:
    """Location30 with the paper's network and sizes, and so many of its rows."""
    return Setting(
        "location30",
        "FC on Location30",
        LOCATION | rows | {"models": 16, "records": 3600},
        OPTIONS | FC,
        published="FC on Location30",
        network="FC",
    )


SCALES = {
    "tiny": Scale(
        (
            Setting(
                "location30",
                "FC on 2,000 records of Location30",
                LOCATION | FEW | {"models": 8, "records": 2000, "epochs": 40},
                OPTIONS
                | FC
                | {
                    "windows": ((15, 2, HIGH), (22, 2, HIGH), (7, 2, HIGH), (15, 2, LOW)),
                    "rates": (),
                    "joined": 1,
                    "baselines": ("relaxloss",),
                }
                | SHORT,
                network="FC",
                unlike="1,000 records a model, 40 epochs, 8 of fine-tuning, and scores by 5 sub-models",
            ),
        ),
        1,
        "A part of Location30, 8 models a row, 1 seed: some minutes on two cores.",
    ),
    "small": Scale(
        (
            _location(SOME),
            Setting(
                "cifar10",
                "CNN on 1,200 records of CIFAR-10",
                PART | FEW | {"architecture": presets.NARROW_CNN},
                OPTIONS | _pictures(26, 4) | SHORTER | {"baselines": ("ppb", "adv-reg", "relaxloss")},
                network="CNN",
                unlike=UNLIKE,
            ),
            Setting(
                "resnet20",
                "ResNet20 on 1,200 records of CIFAR-10",
                PART | FEW | {"architecture": presets.NARROW_RESNET20},
                OPTIONS | _pictures(26, 4) | SHORTER | {"baselines": ("relaxloss",)},
                network="ResNet",
                unlike=UNLIKE,
                seeds=1,
            ),
        ),
        3,
        "Location30 with the paper's network, 16 models a row, and parts of CIFAR-10 with 8; 3 seeds, ResNet20 one.",
    ),
    "paper": Scale(
        (
            Setting(
                "densenet121",
                "DenseNet121 on CIFAR-10",
                WHOLE | ALL,
                OPTIONS | PRINTED_WINDOWS,
                published="DenseNet121 on CIFAR-10",
                network="DenseNet",
            ),
            _location(ALL),
        ),
        3,
        "CIFAR-10 with DenseNet121 and Location30 with FC, 100 epochs and 105 of tuning, 3 seeds: days on one GPU.",
    ),
}
