"""What is measured of any population: how each number is called, written and drawn, and which difference matters.

The smallest differences that matter were fixed before anything was measured.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reticent.findings.study import Column, DotsPanel, Form, Level, LinesPanel
from reticent.options import Options
from reticent.studies.base import Parts, Results, Setting, each
from reticent.studies.judging import Part

LOSS, POINTS, AUC = 0.02, 0.02, 0.01
"""The smallest differences that matter: of a loss in nats, of an accuracy, of an AUC."""
ATTACKS = {"lira": "LiRA", "rmia": "RMIA"}
"""Those of the papers."""
STRONGEST = "learned"
"""Of ours, beside them."""
JUDGED = {**ATTACKS, STRONGEST: "the learned attack"}
WEMEM = {
    "confidence": "Confidence",
    "entropy": "Entropy",
    "modified-entropy": "Modified entropy",
    "top1-confidence": "Hconf",
    "samia": "SAMIA",
    "nn": "NN",
    "nn-top3": "Top3-NN",
    "nn-cls": "Cl-NN",
}
"""Those of WeMem, as it calls them."""
CORRECTNESS = "correctness"
"""The attack that goes by whether the label is right."""


@dataclass(frozen=True)
class Metric:
    """A number of a population; `least` is the smallest difference that matters, 0 where differences are not judged."""

    label: str
    form: Form = "number"
    name: str = ""
    least: float = 0.0
    lower: bool = False


METRICS = {
    "accuracy": Metric("Accuracy, non-members", "share", "accuracy", POINTS),
    "spread": Metric("Its deviation over models", "share"),
    "accuracy_members": Metric("Accuracy, members", "share"),
    "excess_accuracy": Metric("Accuracy that its control misses", "points"),
    "loss_members": Metric("Loss, members"),
    "loss": Metric("Loss, non-members", "number", "test loss", LOSS, lower=True),
    "gap": Metric("Loss gap", "number", "loss gap", LOSS, lower=True),
    "auc_loss": Metric("AUC of a loss threshold", "number", "AUC of a loss threshold", AUC, lower=True),
    "defence": Metric("Defence, discriminator", "number", "the discriminator's defence", AUC),
    "share": Metric("Parameters left", "share"),
    "relative_loss": Metric("Relative loss of accuracy", "difference"),
    "relative_gain": Metric("Relative gain in defence", "difference"),
    "slope": Metric("Gain over loss"),
    "seconds": Metric("Seconds a model", "seconds"),
    "entropy_initial": Metric("Entropy of the initial model, of ln C", "share"),
    "accuracy_rewound": Metric("Accuracy right after rewinding, reference records", "share"),
}
KNOWN = {STRONGEST: "Learned attack", CORRECTNESS: "Correctness", "nasr": "Nasr et al."}
for key, name in (ATTACKS | KNOWN | WEMEM).items():
    METRICS |= {
        f"auc_{key}": Metric(f"{name} AUC", "number", f"{name} AUC", AUC, lower=True),
        f"excess_auc_{key}": Metric(f"{name} AUC less its control's", "difference"),
        f"adds_auc_{key}": Metric(f"What it adds to {name} AUC, matched", "difference"),
        f"over_auc_{key}": Metric("The same against as short a training", "difference"),
        f"tpr_{key}_0.01": Metric(f"{name} TPR at 1 %", "share"),
        f"tpr_{key}_0.001": Metric(f"{name} TPR at 0.1 %", "small share"),
        f"zero_{key}": Metric(f"{name} TPR at 0.001 %", "small share"),
    }


def beside(first: str, second: str) -> str:
    """Name the difference of two rows."""
    return f"{first} - {second}"


def even(first: str, second: str) -> str:
    """Name the difference of what two rows have beyond their early-stopped controls."""
    return f"{first} - {second}, matched"


def columns(*metrics: str) -> tuple[Column, ...]:
    """List columns of a study's tables."""
    return tuple(Column(key=key, label=METRICS[key].label, form=METRICS[key].form) for key in metrics)


Ask = Callable[..., Part]
"""`better` or `no_worse` of `reticent.studies.judging`."""
Rows = tuple[str, str]
"""The row that is taken, and the row that is taken off."""
AS_CONTROL = Level(label="as its control", value=0.0)


def difference(results: Results, one: Setting, pair: str, metric: str, ask: Ask, *, turned: bool = False) -> Part:
    """Ask of the difference of two rows whether the first is better, or no worse; turned, the second."""
    known = METRICS[metric]
    form: Form = "points" if known.form == "share" else "difference"
    label = f"{known.name or known.label}, {pair.replace(' - ', ' against ')}"
    return ask(label, results.get(one.key, pair, metric), known.least, lower=known.lower != turned, metric=form)


def differ(
    rows: Iterable[Rows] | Callable[[Options], Iterable[Rows]], *asks: tuple[str, Ask], turned: bool = False
) -> Parts:
    """Ask such questions, by metric, of each difference of two rows, which may depend on a setting's options."""
    return each(
        lambda results, one: (
            difference(results, one, beside(*pair), metric, ask, turned=turned)
            for pair in (rows(one.options) if callable(rows) else rows)
            for metric, ask in asks
        )
    )


def together(*asks: Parts) -> Parts:
    """Ask one after the other."""
    return lambda results: [part for ask in asks for part in ask(results)]


def dots(
    results: Results,
    setting: Setting,
    names: Sequence[str],
    metric: str,
    title: str = "",
    series: Mapping[str, str] = {},
) -> DotsPanel:
    """Draw one number of some rows, in several series where labels with endings of the rows' names are given.

    The title is by default what the number is called; of what lies beyond a control, rows without one are left out.
    """
    known, levels, endings = METRICS[metric], tuple[Level, ...](), series or {"": ""}
    if metric.startswith("excess"):
        levels = (AS_CONTROL,)
        names = [one for one in names if any(results.get(setting.key, one + e, metric) for e in endings.values())]
    return DotsPanel(
        title=title or known.label,
        x=known.label,
        names=tuple(names),
        series=tuple(
            results.points(setting, [name + ending for name in names], metric, label)
            for label, ending in endings.items()
        ),
        levels=levels,
        form=known.form,
    )


def lines(
    results: Results,
    setting: Setting,
    metric: str,
    x: str,
    series: Mapping[str, Sequence[tuple[float, str]]],
    *,
    title: str = "",
    levels: Sequence[str] = (),
    log_x: bool = False,
    ticks: tuple[str, ...] = (),
) -> LinesPanel:
    """Draw one number of some rows over another: by label, where each row lies; and of other rows as levels."""
    known = METRICS[metric]
    return LinesPanel(
        title=title or f"{known.label} over {x}",
        x=x,
        y=known.label,
        form=known.form,
        log_x=log_x,
        ticks=ticks,
        series=tuple(
            results.points(setting, [name for _, name in rows], metric, label, [place for place, _ in rows])
            for label, rows in series.items()
            if rows
        ),
        levels=results.levels(setting, levels, metric),
    )


def at(results: Results, setting: Setting, names: Sequence[str], metric: str) -> list[tuple[float, str]]:
    """Place rows by a number of theirs; those without it are left out."""
    numbers = {name: results.get(setting.key, name, metric) for name in names}
    return sorted((number.value, name) for name, number in numbers.items() if number is not None)
