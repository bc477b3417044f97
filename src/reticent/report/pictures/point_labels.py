"""Write the names of points into a drawing, beside them, so that no name covers another name or a point."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reticent.report.svg import INK, MUTED, settle

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in pixels."""

REACH = (9.0, 15.0, 23.0, 33.0, 46.0, 62.0, 80.0)
"""Distances from the point that are tried, in pixels, the nearest first."""

ANGLES = (0.0, 45.0, -45.0, 90.0, -90.0, 135.0, -135.0, 180.0, 22.0, -22.0, 158.0, -158.0, 67.0, -67.0, 112.0, -112.0)
"""Directions that are tried, in degrees; the right-hand side comes first, as one reads there first."""

LINE = 18.0
"""What it costs to cover a line, in pixels of distance."""

POINT = 5.5
"""Half the width of a point, in pixels."""

SMALL = 10
"""Size of a name, in pixels."""

NEAR = 13.0
"""From this distance on, in pixels, a hairline joins a name to its point."""

Pair = tuple[float, float]


class Mark(NamedTuple):
    """A point with its name, its place in the axes' units, and its error bars across and up."""

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


def place(
    points: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]], area: Box, lines: Sequence[Box] = ()
) -> list[Box] | None:
    """Find a place for each label, the most crowded point first, the nearest place first."""
    blocked = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    placed: dict[int, Box] = {}
    for i in sorted(range(len(points)), key=lambda i: (_room(points, i), i)):
        best, least = None, math.inf
        for reach, angle in itertools.product(REACH, ANGLES):
            box = _beside(points[i], sizes[i], reach, angle)
            if not _inside(box, area) or any(overlap(box, other) for other in [*blocked, *placed.values()]):
                continue
            cost = reach + LINE * sum(overlap(box, line) for line in lines)
            if cost < least:
                best, least = box, cost
        if best is None:
            return None
        placed[i] = best
    return [placed[i] for i in range(len(points))]


def overlap(one: Box, other: Box) -> bool:
    """Tell whether two boxes have a pixel in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _beside(point: tuple[float, float], size: tuple[float, float], reach: float, angle: float) -> Box:
    """Put a box so that its nearest edge or corner lies in a direction from the point."""
    dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    x = point[0] + reach * dx + size[0] / 2 * _side(dx)
    y = point[1] + reach * dy + size[1] / 2 * _side(dy)
    return (x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2)


def _side(part: float) -> float:
    return 0.0 if abs(part) < 0.2 else math.copysign(1.0, part)


def _inside(box: Box, area: Box) -> bool:
    return box[0] >= area[0] and box[1] >= area[1] and box[2] <= area[2] and box[3] <= area[3]


def _room(points: Sequence[tuple[float, float]], i: int) -> float:
    return min((math.dist(points[i], other) for j, other in enumerate(points) if j != i), default=math.inf)
