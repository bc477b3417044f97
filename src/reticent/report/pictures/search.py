"""The pictures of a search: accuracy and leak against an option, and against each other."""

from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import MaxNLocator

from reticent.findings.numbers import Estimate
from reticent.findings.search import SearchDocument, Tried
from reticent.findings.study import Figure, Form, Level, LinesPanel, Points, SeedsEstimate
from reticent.report.estimates import written
from reticent.report.render.text import clean
from reticent.report.svg import DASHES, INK, MUTED, PAPER, RULE, SERIES, canvas, drawing, render
from reticent.rounding import level, percent

PANELS: tuple[tuple[str, str, Form], ...] = (
    ("accuracy", "accuracy, non-members", "share"),
    ("auc", "AUC", "number"),
    ("tpr", "members found", "share"),
)


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
        base, chosen = document.undefended, _chosen(document)
        axes.plot([base.accuracy.mean], [base.auc.mean], "s", color=INK, markeredgecolor=PAPER, label="undefended")
        if chosen is not None:
            x, y = chosen.accuracy.mean, chosen.auc.mean
            axes.plot([x], [y], "o", markersize=12, color="none", markeredgecolor=INK, label="chosen")
        accepted = base.accuracy.mean - document.lost
        axes.axvline(accepted, color=MUTED, linewidth=0.9, dashes=(2, 2), label="least accepted")
        axes.set(xlabel="accuracy on non-members", ylabel="AUC of the strongest attack")
        axes.margins(0.12)
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(lambda x, _: level(round(x, 9)) if 0 <= x <= 1 else "")
        axes.grid(color=RULE)
        handles, labels = axes.get_legend_handles_labels()
        columns = 1 if any(len(label) > 14 for label in labels) and len(labels) > 2 else min(3, len(labels))
        figure.legend(handles, labels, loc="outside upper left", ncols=columns, handlelength=2.2, borderpad=0)
        said = "; ".join(
            f"{clean(p.defense, 60)}: accuracy {percent(p.accuracy.mean)}, AUC {written(p.auc.mean)}"
            for p in (base, *document.tried)
        )
        return render(figure, "trade", "AUC against accuracy on non-members", f"AUC against accuracy. {said}.")


def sensitivity(document: SearchDocument, key: str, index: int) -> Figure:
    """Draw accuracy, AUC and members found over an option's values, each a panel of its own."""
    values, base, chosen = _sorted(document.over[key]), document.undefended, _chosen(document)
    panels = []
    for what, title, form in PANELS:
        if all(_of(point, what) is None for point in document.tried):
            continue
        own = _of(base, what)
        levels = [] if own is None else [Level(label="undefended", value=own.mean)]
        if what == "accuracy":
            levels.append(Level(label="least accepted", value=base.accuracy.mean - document.lost))
        series = _series(document, key) | ({} if chosen is None else {"chosen": [chosen]})
        panels.append(
            LinesPanel(
                title=f"{title} against {key}",
                x=key,
                y=title,
                form=form,
                ticks=tuple(map(_word, values)),
                series=tuple(_points(name, points, key, values, what) for name, points in series.items()),
                levels=tuple(levels),
            )
        )
    return Figure(name=f"over-{index}", title=f"Accuracy and leak against {key}", panels=tuple(panels))


def _points(name: str, points: Sequence[Tried], key: str, values: Sequence[Any], what: str) -> Points:
    found = [_of(point, what) for point in points]
    return Points(
        label=name,
        x=tuple(float(values.index(point.options[key])) for point in points),
        estimates=tuple(None if one is None else SeedsEstimate(mean=one.mean, interval=one.interval) for one in found),
    )


def _series(document: SearchDocument, key: str) -> dict[str, list[Tried]]:
    """Group what was tried by the values of all other options; in the order of one option's values."""
    found: dict[str, list[Tried]] = {}
    values = _sorted(document.over[key])
    for point in sorted(document.tried, key=lambda point: values.index(point.options[key])):
        rest = ", ".join(f"{name} {_word(value)}" for name, value in point.options.items() if name != key)
        found.setdefault(rest or "tried", []).append(point)
    return found


def _sorted(values: Sequence[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def _chosen(document: SearchDocument) -> Tried | None:
    return next((p for p in document.tried if p.defense == document.chosen), None)


def _of(point: Tried, what: str) -> Estimate | None:
    return {"accuracy": point.accuracy, "auc": point.auc, "tpr": point.tpr}[what]


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
