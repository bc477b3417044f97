"""A study in a few lines: does training for longer raise accuracy, and does it give more away?"""

from dataclasses import replace

from reticent.data.load import load
from reticent.findings.study import DotsPanel, Figure
from reticent.studies.base import Bench, Claim, Published, Scale, Setting, Study
from reticent.studies.judging import better, no_worse
from reticent.studies.measured import collect, measure
from reticent.studies.metrics import columns

BASE = {"dataset": "digits", "models": 4, "records": 120, "epochs": 4, "attacks": ("lira",), "replicates": 100}
ROWS = {"long": 4, "short": 1}
SETTING = Setting("digits", "MLP on digits", BASE, {"fpr": 0.1}, published="MLP", network="MLP")


def bench_in(folder, setting, records=None):
    """Make the bench of a setting, on digits as they are or as the given records hold them."""
    machine = {"store": str(folder / "store"), "workers": 1, "device": "cpu"}
    return Bench(setting, 0, load("digits") if records is None else records, machine, folder / "work")


def measured(bench):
    rows = [measure(bench, name, bench.job(epochs=epochs), f"{epochs} epochs") for name, epochs in ROWS.items()]
    return collect(rows, {"long - short": ("long", "short")})


def drawn(results, setting):
    points = results.points(setting, ROWS, "auc_lira", "LiRA")
    panel = DotsPanel(title="AUC", x="AUC", names=tuple(ROWS), series=(points,))
    yield Figure(name=setting.key, title="What is given away", panels=(panel,))


STUDY = Study(
    name="toy",
    title="Does training for longer raise accuracy?",
    paper="Nobody (2026), Nothing.",
    scales={"tiny": Scale((SETTING,), 2, "Seconds.")},
    measure=measured,
    columns=columns("accuracy", "auc_lira", "seconds"),
    claims=(
        Claim(
            "longer",
            "Longer is more accurate.",
            "Table 1",
            "In each setting: accuracy is higher by 5 points or more.",
            lambda results: [
                better("accuracy", results.get("digits", "long - short", "accuracy"), 0.05, metric="points")
            ],
            networks=("MLP",),
        ),
        Claim(
            "free",
            "Longer gives no more away.",
            "Table 2",
            "In each setting: the AUC is not higher by more than 0.5.",
            lambda results: [no_worse("AUC", results.get("digits", "long - short", "auc_lira"), 0.5, lower=True)],
            networks=("MLP",),
        ),
        Claim(
            "unmeasured",
            "Longer costs money.",
            "Table 3",
            "In each setting: not measured.",
            lambda _: [],
            networks=("MLP",),
        ),
    ),
    published=(
        Published("Nobody (2026), Table 1", "MLP", {"long": {"accuracy": (0.9, 0.01)}}, {("long", "accuracy"): "odd"}),
    ),
    draw=drawn,
    caution=("It is a toy.",),
)


def counted(study=STUDY):
    """Count how often each seed is measured; answers the study and the list of seeds."""
    seeds = []

    def measure_and_count(bench):
        seeds.append(bench.seed)
        return study.measure(bench)

    return replace(study, measure=measure_and_count), seeds
