"""Does what CWRF adds turn with how its paper is read: its main claim under each reading of what the text lost?

Paper: Fang and Kim (2026), section 5 and Table 3. A reading changes one thing of what `cwrf-defenses` runs: the length
of the fine-tuning, its optimizer and rate, the order in the divergence, the power of the importance, how BatchNorm
treats non-members, the initial model and the rewinding, lambda, the steps and records of scoring, or the values that
weights are rewound to.
"""

from collections.abc import Iterator
from dataclasses import replace

from reticent.findings.study import DotsPanel, Figure, Level
from reticent.options import Options
from reticent.studies import cwrf_shared, presets
from reticent.studies.base import Bench, Claim, Found, Results, Scale, Setting, Study, each
from reticent.studies.cwrf_defenses.printed import TITLES, titles
from reticent.studies.cwrf_shared import Chosen, acts, lower, lowers
from reticent.studies.excess import NONE, UNDEFENDED, UNMATCHED
from reticent.studies.judging import Part
from reticent.studies.measured import Pairs, Recipe, Recipes, measure_all
from reticent.studies.metrics import AUC, JUDGED, METRICS, columns

USUAL = "usual reading"
READINGS = {
    "KL(updated, initial)": ("divergence=updated-first",),
    "importance squared": ("power=2",),
    "fine-tuned by SGD at 0.1": ("tuning_optimizer=sgd", "tuning_learning_rate=0.1"),
    "fine-tuned at a tenth of the rate": ("tuning_learning_rate=0.0001",),
    "lambda 0.1": ("unlearning=0.1",),
    "lambda 0.9": ("unlearning=0.9",),
    "500 steps of scoring": ("scoring_steps=500",),
    "a record a step, 500 steps": ("scoring_batch_size=1", "scoring_steps=500"),
    "a share of each layer": ("scope=layer",),
    "new values": ("value=fresh",),
}
"""Reading -> the options of CWRF that it changes."""
OF_BATCH_NORM = {
    "batch statistics": ("scoring_initial_statistics=batch",),
    "non-members by their own batch": ("scoring_statistics=own",),
    "members and non-members in one batch": ("scoring_statistics=joint",),
    "trained statistics kept": ("statistics=keep",),
    "statistics of the initial model": ("statistics=initial",),
}
"""The same, of readings that are none where a network has no BatchNorm."""
NORMED = ("CNN", "ResNet")


def others(setting: Setting) -> dict[str, tuple[str, ...]]:
    """List the readings of a setting that are not of a length."""
    return READINGS | (OF_BATCH_NORM if setting.network in NORMED else {})


def readings(setting: Setting) -> list[str]:
    """Name the readings of a setting: one a length, and the others."""
    return [USUAL, *map(lasting, setting.options["lengths"]), *others(setting)]


def lasting(epochs: int) -> str:
    """Name the reading of a length."""
    return f"{epochs} epochs"


def read(title: str, reading: str) -> str:
    """Name the row of CWRF on a defense by a reading."""
    return f"CWRF on {title}, {reading}"


def alone(title: str, epochs: int) -> str:
    """Name the row of a defense for some epochs."""
    return f"{title}, {epochs} epochs"


def _rows(bench: Bench, chosen: Chosen) -> Recipes:
    made = {NONE: UNDEFENDED}
    for title, name in titles(bench.options["defenses"]).items():
        defense = chosen.named(name)
        made[title] = Recipe(defense, defense)
        for epochs in bench.options["lengths"]:
            made[alone(title, epochs)] = Recipe(defense, f"{defense}, {epochs} epochs", epochs)
            joined = chosen.joined(name, f"tuning_epochs={epochs}")
            made[read(title, lasting(epochs))] = Recipe(joined, joined)
        for reading, options in others(bench.setting).items():
            joined = chosen.joined(name, *options)
            made[read(title, reading)] = Recipe(joined, joined)
    return made


def _pairs(bench: Bench, chosen: Chosen) -> Pairs:
    """Compare each reading with the defense alone, and with the same for as long as its fine-tuning."""
    made: dict[str, tuple[str, str]] = {}
    for title in titles(bench.options["defenses"]):
        lengths = {lasting(epochs): epochs for epochs in bench.options["lengths"]}
        for reading in readings(bench.setting):
            row = read(title, reading)
            made[adds(row)] = row, title
            made[over(row)] = row, alone(title, lengths.get(reading, chosen.tuning_epochs))
    return made


def adds(row: str) -> str:
    """Name the contrast with the defense alone."""
    return f"{row} - alone"


def over(row: str) -> str:
    """Name the contrast with the defense alone, for as long as the fine-tuning."""
    return f"{row} - shorter"


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    chosen = cwrf_shared.choose(bench, bench.options["defenses"])
    rows = measure_all(bench, _rows(bench, chosen))
    known = {row.name: row for row in rows}
    for title in titles(bench.options["defenses"]):
        same = known[read(title, lasting(chosen.tuning_epochs))]
        rows.append(replace(same, name=read(title, USUAL)))
    plain = {acts(title): (title, NONE) for title in titles(bench.options["defenses"])}
    found = cwrf_shared.concluded(bench, chosen, rows, plain, _pairs(bench, chosen))
    for attack in JUDGED:
        for title in titles(bench.options["defenses"]):
            for row in (read(title, reading) for reading in readings(bench.setting)):
                found.numbers[row, f"adds_auc_{attack}"] = found.numbers[adds(row), f"auc_{attack}"]
                found.numbers[row, f"over_auc_{attack}"] = found.numbers[over(row), f"auc_{attack}"]
    return found


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw what CWRF adds by each reading, against the defense alone and against the same for less time."""
    named = readings(setting)
    panels = tuple(
        DotsPanel(
            title=f"{title}, {METRICS[f'auc_{attack}'].label}",
            x="added AUC, at matched accuracy",
            names=tuple(named),
            series=tuple(
                results.points(setting, [read(title, one) for one in named], f"{what}_auc_{attack}", label)
                for what, label in (("adds", "against it alone"), ("over", "against it alone, as long as fine-tuning"))
            ),
            levels=(Level(label="nothing", value=0.0),),
            form="difference",
        )
        for title in titles(setting.options["defenses"])
        for attack in ("lira", "learned")
    )
    yield Figure(name=setting.key, title=f"What CWRF adds by each reading, {setting.label}", panels=panels)


def _claims(name: str, attack: str) -> tuple[Claim, Claim]:
    title, said = TITLES[name], JUDGED[attack]
    source = "implied by Table 3; readings that the paper lacks"
    condition = f"{UNMATCHED} Nor can it where {title} alone is not shown to lower that AUC by {AUC:g} or more."

    def asked(results: Results, one: Setting, contrast: str) -> Iterator[Part]:
        for reading in readings(one) if title in titles(one.options["defenses"]) else ():
            row = read(title, reading)
            pair = adds(row) if contrast == "adds" else over(row)
            acting = lowers(results, one, title, f"auc_{attack}")
            yield lower(results, one, pair, f"auc_{attack}", f"{reading}, {title}", acting=acting)

    return (
        Claim(
            f"{name}-{attack}",
            f"By whatever reading, CWRF + {title} gives {said} less to find than {title} alone, at matched accuracy.",
            source,
            f"In each setting and by each reading: the AUC of CWRF + {title} less that of its early-stopped control, "
            f"less the same of {title} alone, is below zero by {AUC:g} or more. {condition}",
            each(lambda results, one: asked(results, one, "adds")),
            "ours",
        ),
        Claim(
            f"{name}-{attack}-shorter",
            f"By whatever reading, CWRF + {title} gives {said} less to find than {title} alone for as many epochs as "
            "the fine-tuning has, at matched accuracy.",
            source,
            f"In each setting and by each reading: the same against {title} alone for as many epochs as the "
            f"fine-tuning has, by {AUC:g} or more. {condition}",
            each(lambda results, one: asked(results, one, "over")),
            "ours",
        ),
    )


BOTH: Options = {"defenses": ("relaxloss", "hamp")}
ONE: Options = {"defenses": ("relaxloss",)}
STUDY = Study(
    name="cwrf-readings",
    title="Does what CWRF adds turn with how its paper is read?",
    paper=presets.FANG_AND_KIM,
    scales={
        "tiny": Scale(
            (presets.repaired(presets.CWRF_TINY, ONE | presets.TINY_REPAIRS),),
            1,
            "A part of Location30, RelaxLoss, 8 models a row, 1 seed: some minutes on two cores.",
        ),
        "small": Scale(
            (
                presets.repaired(presets.CWRF_LOCATION, BOTH | presets.REPAIRS),
                presets.repaired(presets.CWRF_FITTED_CNN, ONE | presets.FEW_REPAIRS),
            ),
            3,
            "Location30 with RelaxLoss and HAMP, a part of CIFAR-10 with RelaxLoss, 8 models a row, 3 seeds: some "
            "hours on two cores.",
        ),
        "gpu": Scale(
            (presets.repaired(presets.CWRF_GPU, BOTH | presets.SHORT_REPAIRS),),
            1,
            "A part of CIFAR-10 with ResNet18, 40 epochs, 8 models a row, 1 seed: for one large GPU.",
        ),
        "paper": Scale(
            (presets.repaired(presets.PAPER_RESNET18, BOTH | presets.REPAIRS),),
            3,
            "CIFAR-10 with ResNet18, 100 epochs, 10 models a row, 3 seeds: days on one GPU.",
        ),
    },
    measure=measured,
    columns=columns(
        "accuracy",
        "excess_accuracy",
        "loss_members",
        *(f"{what}auc_{attack}" for attack in JUDGED for what in ("", "adds_", "over_")),
        *("entropy_initial", "accuracy_rewound"),
    ),
    claims=tuple(claim for name in BOTH["defenses"] for attack in JUDGED for claim in _claims(name, attack)),
    draw=drawn,
    caution=(
        presets.LOST,
        f"The {USUAL} is that of cwrf-defenses: length and r are chosen on pilots, as a note says, and each other "
        "reading changes one thing of it and keeps both. A network without BatchNorm answers alike whatever "
        "statistics it is asked by, so that readings of these are left out there.",
        "Lambda is not chosen by the paper's own criterion, that the copy keeps its accuracy on members and loses that "
        "on non-members: each row says how accurate the copy was before and after.",
    ),
)
