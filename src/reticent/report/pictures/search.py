"""The pictures of a search: accuracy and leak against an option, and against each other."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.findings.numbers import Estimate
from reticent.findings.search import SearchDocument, Tried
from reticent.report.render.text import clean
from reticent.report.svg import DASHES, INK, MUTED, PAPER, RULE, SERIES, canvas, drawing, render
from reticent.report.wording import written
from reticent.rounding import decimals, level, percent

PANELS = (("accuracy", "accuracy, non-members"), ("auc", "AUC"), ("tpr", "members found"))
SPREAD = 12
"""Positive values whose largest is more than so many times the smallest lie on a logarithmic axis."""


def trade(document: SearchDocument) -> str:
    """Draw AUC against accuracy, a point a value, joined in the order of the first option."""
    first = next(iter(document.over))
    with drawing():
        figure, axes = canvas(300)
        for i, (name, points) in enumerate(_series(document, first).items()):
            xs, ys = [p.accuracy.mean for p in points], [p.auc.mean for p in points]
            axes.plot(xs, ys, color=SERIES[i % 8], linestyle=DASHES[i % 8], marker="o", markersize=4, label=name)
            for x, y, point in zip(xs, ys, points, strict=True):
                at: Any = (x, y)
                axes.annotate(
                    _word(point.options[first]), at, (4, 4), textcoords="offset points", color=MUTED, fontsize=9
                )
        base = document.undefended
        axes.plot([base.accuracy.mean], [base.auc.mean], "s", color=INK, markeredgecolor=PAPER, label="undefended")
        _ring(axes, document, "accuracy", "auc")
        axes.axvline(
            base.accuracy.mean - document.lost, color=MUTED, linewidth=0.9, dashes=(2, 2), label="least accepted"
        )
        axes.set(xlabel="accuracy on non-members", ylabel="AUC of the strongest attack")
        axes.margins(0.12)
        _percents(axes.xaxis)
        axes.grid(color=RULE)
        _legend(figure, axes)
        said = "; ".join(
            f"{clean(p.defense, 60)}: accuracy {percent(p.accuracy.mean)}, AUC {written(p.auc.mean)}"
            for p in (base, *document.tried)
        )
        return render(figure, "trade", "AUC against accuracy on non-members", f"AUC against accuracy. {said}.")


def sensitivity(document: SearchDocument, key: str, index: int) -> str:
    """Draw accuracy, AUC and members found against an option."""
    panels = [panel for panel in PANELS if any(_of(p, panel[0]) is not None for p in document.tried)]
    values = list(document.over[key])
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    with drawing():
        figure, first = canvas(150 * len(panels) + 40)
        figure.delaxes(first)
        drawn = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (what, title) in zip(drawn, panels, strict=True):
            _panel(axes, document, key, what, numeric)
            axes.set_ylabel(title)
            if what != "auc":
                _percents(axes.yaxis)
        _scale(drawn[-1], values, numeric)
        drawn[-1].set_xlabel(key)
        _legend(figure, drawn[0])
        digits = decimals(document.fpr)
        said = "; ".join(
            f"{key} {_word(p.options[key])}: "
            + ", ".join(
                f"{title} {written(_at(p, what), what != 'auc', digits if what == 'tpr' else None)}"
                for what, title in panels
            )
            for p in document.tried
        )
        return render(figure, f"over-{index}", f"Accuracy and leak against {key}", f"Against {key}. {said}.")


def _panel(axes: Axes, document: SearchDocument, key: str, what: str, numeric: bool) -> None:
    for i, (name, points) in enumerate(_series(document, key).items()):
        places = [_place(document, key, p, numeric) for p in points]
        axes.plot(
            places,
            [_at(p, what) for p in points],
            color=SERIES[i % 8],
            linestyle=DASHES[i % 8],
            marker="o",
            markersize=4,
            label=name,
        )
        for place, point in zip(places, points, strict=True):
            found = _of(point, what)
            if found is not None and found.interval is not None:
                axes.plot([place, place], found.interval, color=SERIES[i % 8], linewidth=1.1, alpha=0.5)
    if _of(document.undefended, what) is not None:
        base = _at(document.undefended, what)
        axes.axhline(base, color=INK, linewidth=1.1, dashes=(5, 3), label="undefended")
        if what == "accuracy":
            axes.axhline(base - document.lost, color=MUTED, linewidth=0.9, dashes=(2, 2), label="least accepted")
    chosen = _chosen(document)
    if chosen is not None and _of(chosen, what) is not None:
        place = _place(document, key, chosen, numeric)
        axes.plot([place], [_at(chosen, what)], "o", markersize=11, color="none", markeredgecolor=INK)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.margins(0.08, 0.14)
    axes.grid(color=RULE)


def _place(document: SearchDocument, key: str, point: Tried, numeric: bool) -> Any:
    """Say where a value lies: at itself if it is a number, else one after the other."""
    return point.options[key] if numeric else document.over[key].index(point.options[key])


def _series(document: SearchDocument, key: str) -> dict[str, list[Tried]]:
    """Group what was tried by the values of all other options; in the order of one option's values."""
    found: dict[str, list[Tried]] = {}
    for point in document.tried:
        rest = ", ".join(f"{name} {_word(value)}" for name, value in point.options.items() if name != key)
        found.setdefault(rest or "tried", []).append(point)
    order = {repr(value): i for i, value in enumerate(_sorted(document.over[key]))}
    return {name: sorted(points, key=lambda point: order[repr(point.options[key])]) for name, points in found.items()}


def _sorted(values: Sequence[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def _scale(axes: Axes, values: Sequence[Any], numeric: bool) -> None:
    if not numeric:
        axes.set_xticks(range(len(values)), [_word(value) for value in values])
        return
    positive = [value for value in values if value > 0]
    if positive and max(positive) > SPREAD * min(positive):
        if min(values) > 0:
            axes.set_xscale("log")
        elif min(values) == 0:
            axes.set_xscale("symlog", linthresh=min(positive))
    if len(values) <= 8:
        axes.set_xticks(list(values), [_word(value) for value in values])
        axes.set_xticks([], minor=True)


def _ring(axes: Axes, document: SearchDocument, across: str, up: str) -> None:
    chosen = _chosen(document)
    if chosen is not None:
        x, y = _at(chosen, across), _at(chosen, up)
        axes.plot([x], [y], "o", markersize=12, color="none", markeredgecolor=INK, label="chosen")


def _chosen(document: SearchDocument) -> Tried | None:
    return next((p for p in document.tried if p.defense == document.chosen), None)


def _of(point: Tried, what: str) -> Estimate | None:
    return {"accuracy": point.accuracy, "auc": point.auc, "tpr": point.tpr}[what]


def _at(point: Tried, what: str) -> float:
    """Return where an estimate is drawn; NaN, which is not drawn, where it is not known."""
    found = _of(point, what)
    return float("nan") if found is None else found.mean


def _percents(axis: Any) -> None:
    axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda x, _: level(round(x, 9)) if 0 <= x <= 1 else ""))


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    columns = 1 if any(len(label) > 14 for label in labels) and len(labels) > 2 else min(3, len(labels))
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, handlelength=2.2, borderpad=0)
