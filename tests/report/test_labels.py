from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.report.pictures.point_labels import POINT, overlap, place

AREA = (0.0, 0.0, 300.0, 240.0)


def _covered(points, boxes):
    dots = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    return [pair for pair in combinations(boxes, 2) if overlap(*pair)] + [
        (box, dot) for box in boxes for dot in dots if overlap(box, dot)
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 0, 2, 2), (1, 1, 3, 3), True),
        ((0, 0, 2, 2), (2, 0, 3, 2), False),
        ((0, 0, 4, 4), (1, 1, 2, 2), True),
        ((0, 0, 2, 2), (0, 3, 2, 4), False),
    ],
)
def test_overlap(one, other, expected):
    assert overlap(one, other) is expected
    assert overlap(other, one) is expected


def test_a_lonely_label_stands_to_the_right_at_half_height():
    (box,) = place([(100.0, 100.0)], [(40.0, 12.0)], AREA)
    assert box == (109.0, 94.0, 149.0, 106.0)


def test_at_the_right_edge_it_moves_elsewhere():
    (box,) = place([(290.0, 100.0)], [(40.0, 12.0)], AREA)
    assert box[2] <= 300


def test_lines_are_kept_clear_where_that_is_cheap():
    line = (100.0, 99.0, 160.0, 101.0)
    (box,) = place([(100.0, 100.0)], [(40.0, 12.0)], AREA, [line])
    assert not overlap(box, line)


def test_no_room_is_said():
    assert place([(20.0, 20.0)], [(400.0, 12.0)], AREA) is None
    assert place([(50.0, 50.0)] * 60, [(60.0, 12.0)] * 60, (0.0, 0.0, 100.0, 100.0)) is None


@given(st.lists(st.tuples(st.floats(10, 290), st.floats(10, 230)), min_size=1, max_size=10))
def test_nothing_is_covered(points):
    boxes = place(points, [(46.0, 13.0)] * len(points), AREA)
    if boxes is not None:
        assert _covered(points, boxes) == []
        assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= 300 and b[3] <= 240 for b in boxes)


@given(st.lists(st.tuples(st.floats(20, 280), st.floats(20, 220)), min_size=1, max_size=4, unique=True))
def test_few_numbers_always_find_room(points):
    boxes = place(points, [(16.0, 13.0)] * len(points), AREA)
    assert boxes is not None
    assert _covered(points, boxes) == []
