import numpy as np
import pytest

from reticent import checks
from reticent.errors import InputError, ShapeError


def test_guards_return_what_they_checked():
    assert checks.integers(y=[0, 1, 2], ndim=1, low=0, high=3).dtype == np.int64
    assert checks.boolean(m=[[True, False]], ndim=2).shape == (1, 2)
    assert checks.floats(x=[1, 2], ndim=1).dtype == np.float64
    assert checks.between(r=0.5, low=0, high=1) == 0.5


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: checks.array(x=[[1], [1, 2]], ndim=2), ShapeError, "x: expected a rectangular array"),
        (
            lambda: checks.array(x=["a"], ndim=1),
            ShapeError,
            "x: expected numbers or booleans, got texts, the first 'a'$",
        ),
        (lambda: checks.array(x=["0.5"], ndim=1), ShapeError, r"'0.5': give numpy.asarray\(x\).astype\(float\)$"),
        (lambda: checks.array(x=["True"], ndim=1), ShapeError, "'True': give numpy.asarray\\(x\\) == \"True\"$"),
        (lambda: checks.array(x=[1], ndim=(2, 3)), ShapeError, "x: expected 2 or 3 axes, got shape \\(1,\\)"),
        (
            lambda: checks.floats(x=[1, np.nan, np.inf], ndim=1),
            InputError,
            "got 2 NaN or infinite of 3, the first is nan at index \\(1,\\)",
        ),
        (lambda: checks.boolean(m=[[0, 1]], ndim=2), ShapeError, "m: expected booleans, got int64"),
        (lambda: checks.integers(y=[0.5], ndim=1), ShapeError, "y: expected integers, got float64"),
        (
            lambda: checks.integers(y=[0, 7], ndim=1, low=0, high=3),
            InputError,
            "expected integers from 0 to 2, got 7 at position 1",
        ),
        (lambda: checks.integers(y=[-1], ndim=1, low=0), InputError, "expected integers of at least 0, got -1"),
        (
            lambda: checks.shape(a=np.zeros((2, 3)), expected=(2, 4), meaning="(models, records)"),
            ShapeError,
            "expected shape \\(2, 4\\)",
        ),
        (lambda: checks.between(r=2, low=0, high=1), InputError, "r: expected a number from 0 to 1, got 2"),
    ],
)
def test_the_words_of_each_refusal(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_a_guard_takes_one_argument():
    with pytest.raises(TypeError, match="exactly one named argument"):
        checks.array(a=[1], b=[2], ndim=1)


class Indexed:
    """What has an index as pandas' frames have."""

    def __init__(self, *labels):
        self.index = type("Index", (tuple,), {"equals": tuple.__eq__})(labels)


def test_an_index_in_another_order_is_refused():
    with pytest.raises(InputError, match=r"^y: rows go together by position, .* give y\.loc\[x\.index\], or y"):
        checks.aligned("x", x=Indexed(3, 1, 2), y=Indexed(1, 2, 3))
    for other in (Indexed(3, 1, 2), Indexed(3, 1, 4), Indexed(1, 3), Indexed(), [1, 2, 3], [], np.arange(3), None):
        checks.aligned("x", x=Indexed(3, 1, 2), y=other)
        checks.aligned("x", x=other, y=Indexed(3, 1, 2))
        checks.aligned("x", x=other, y=Indexed())
