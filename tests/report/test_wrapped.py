import io
import itertools
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from reticent.report.render.terminal import Wrapped

NBSP = "\u00a0"


def _lines(text, width):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(Wrapped(Text(text)))
    return [line.rstrip(" ") for line in console.file.getvalue().splitlines()]


def test_a_number_and_its_percent_sign_stay_together():
    for width in range(12, 40):
        lines = _lines(f"the interval of 95{NBSP}% is 2{NBSP}% to 4.4{NBSP}% and so on", width)
        assert not [line for line in lines if re.match(r"\s*%", line)]
        assert max(map(len, lines)) <= width


def test_lines_of_the_text_are_kept():
    assert _lines("a\n\nb", 20) == ["a", "", "b"]


def test_a_word_wider_than_the_screen_is_folded():
    assert "".join(_lines("x" * 50, 20)) == "x" * 50


@given(st.lists(st.text("ab", min_size=1, max_size=9), min_size=1, max_size=30), st.integers(10, 40))
def test_no_word_is_lost_and_no_line_too_wide(words, width):
    lines = _lines(" ".join(words), width)
    assert " ".join(lines).split() == words
    assert max(map(len, lines)) <= width
    # Greedy: the first word of a line would not have fitted on the line before.
    for before, after in itertools.pairwise(lines):
        assert len(before) + 1 + len(after.split()[0]) > width
