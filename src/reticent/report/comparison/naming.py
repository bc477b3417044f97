"""Write the names of points into a drawing, beside them, so that nothing is covered."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reticent.report.comparison.labels import Box, place
from reticent.report.svg import INK, MUTED, settle

SMALL = 10
"""Size of a name, in pixels."""

NEAR = 13.0
"""From this distance on, in pixels, a hairline joins a name to its point."""

Pair = tuple[float, float]


class Mark(NamedTuple):
    """A point with its name.

    Attributes:
        name: what to write.
        at: its place, in the axes' units.
        across: its horizontal error bar, or None.
        up: its vertical one, or None.
    """

    name: str
    at: Pair
    across: Pair | None = None
    up: Pair | None = None


def write_names(
    figure: Figure, axes: Axes, marks: Sequence[Mark], path: Sequence[Pair], chance: float | None, strict: bool
) -> bool:
    """Write the names where they cover no point and no other name, and few lines."""
    settle(figure)
    points = [_pixels(axes, mark.at) for mark in marks]
    sizes = [_size(figure, mark.name) for mark in marks]
    area = axes.bbox.padded(-2)
    boxes = place(points, sizes, (area.x0, area.y0, area.x1, area.y1), _lines(axes, marks, path, chance))
    if boxes is None:
        if strict:
            return False
        boxes = [(x + 7, y - h / 2, x + 7 + w, y + h / 2) for (x, y), (w, h) in zip(points, sizes, strict=True)]
    for mark, point, box in zip(marks, points, boxes, strict=True):
        centre = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        near = min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])
        if (near[0] - point[0]) ** 2 + (near[1] - point[1]) ** 2 > NEAR**2:
            _hairline(axes, point, near)
        written = axes.annotate(
            mark.name, centre, xycoords="figure pixels", ha="center", va="center", fontsize=SMALL, color=INK
        )
        written.set_in_layout(False)
    return True


def _lines(axes: Axes, marks: Sequence[Mark], path: Sequence[Pair], chance: float | None) -> list[Box]:
    """Bound the error bars, the path, and the word at the chance line."""
    ends = [((m.across[0], m.at[1]), (m.across[1], m.at[1])) for m in marks if m.across is not None]
    ends += [((m.at[0], m.up[0]), (m.at[0], m.up[1])) for m in marks if m.up is not None]
    ends += list(itertools.pairwise(path))
    found = [_between(_pixels(axes, start), _pixels(axes, end)) for start, end in ends]
    if chance is not None:
        _, height = _pixels(axes, (0.5, chance))
        right = float(axes.bbox.x1)
        found += [(right - 50, height - 1, right, height + 14)] * 4
    return found


def _between(start: Pair, end: Pair) -> Box:
    (left, right), (bottom, top) = sorted((start[0], end[0])), sorted((start[1], end[1]))
    return left - 1, bottom - 1, right + 1, top + 1


def _pixels(axes: Axes, at: Pair) -> Pair:
    x, y = axes.transData.transform(at)
    return float(x), float(y)


def _hairline(axes: Axes, start: Pair, end: Pair) -> None:
    ends = axes.transData.inverted().transform([start, end])
    axes.plot(ends[:, 0], ends[:, 1], color=MUTED, linewidth=0.6, zorder=1.2, scalex=False, scaley=False)


def _size(figure: Figure, text: str) -> Pair:
    """Measure a name in DejaVu Sans, which is wider than the fonts of most pages."""
    written = figure.text(0, 0, text, fontsize=SMALL)
    extent = written.get_window_extent()
    written.remove()
    return float(extent.width) + 3, SMALL + 3.0
