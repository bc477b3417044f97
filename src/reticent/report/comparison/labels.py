"""Where to write names beside points so that no name covers another name or a point."""

import itertools
import math
from collections.abc import Sequence

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
    """Return the distance to the nearest other point."""
    return min((math.dist(points[i], other) for j, other in enumerate(points) if j != i), default=math.inf)
