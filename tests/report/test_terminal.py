"""What the terminal shows of documents of all kinds, at any width and in any encoding."""

import io
import sys
from pathlib import Path

import example
import example_compare
import example_trust
import pytest
from audit_forms import blocks
from shown_comparison import typed

from reticent.cli.run import guarded
from reticent.cli.screen import NARROWEST, say, stdout
from reticent.report import blocks as b
from reticent.report.kinds.comparison import comparison
from reticent.report.render.terminal import terminal


@pytest.fixture(scope="module")
def documents():
    """What is laid out for the terminal."""
    return [
        terminal(blocks(example_trust.add(example.document(models=4, records=600)))),
        terminal(comparison(typed(example_compare.comparison(recipes=4, controls=2)))),
    ]


@pytest.fixture
def shown(monkeypatch):
    """Show a document as a verb does; answers what came through and what was said on standard error."""

    def show(found, encoding="utf-8"):
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", io.StringIO())

        def verb(*_, **__):
            stdout().print(found)
            say(path := Path("here/audit.json"))
            return [path]

        assert guarded(verb) == 0, sys.stderr.getvalue()
        out.flush()
        return out.buffer.getvalue().decode(encoding)

    return show


def numbers(text):
    return sorted(word for word in text.split() if any(map(str.isdigit, word)) and "." in word)


@pytest.mark.parametrize("size", [None, "0", "abc", "-3", "²", "1", "20", "79", "99999999999"])
def test_any_number_of_columns_shows_every_number(documents, shown, monkeypatch, size):
    for name in ("COLUMNS", "LINES"):
        monkeypatch.setenv(name, size or "400")
    for found in documents:
        text = shown(found)
        monkeypatch.setenv("COLUMNS", "400")
        assert numbers(text) == numbers(shown(found))
        assert "here/audit.json" in text
        assert max(map(len, text.splitlines())) >= NARROWEST - 8


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_any_encoding_shows_every_number(documents, shown, encoding):
    for found in documents:
        plain = shown(found).translate(str.maketrans("–−\u00a0", "-- "))
        assert numbers(shown(found, encoding).translate(str.maketrans("–−\u00a0", "-- "))) == numbers(plain)


@pytest.mark.parametrize("name", ["TERM", "NO_COLOR"])
def test_a_dumb_terminal_has_no_colours(documents, shown, monkeypatch, name):
    monkeypatch.setenv(name, "dumb")
    assert all("\x1b" not in shown(found) for found in documents)


def test_a_documents_long_table_is_begun_and_the_rest_counted(shown, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    many = example_compare.comparison(recipes=12, controls=11)
    text = shown(terminal(comparison(typed(many))))
    assert len(text.splitlines()) < 90
    assert "of 40 epochs" not in text.split("Not beaten:")[0].split("Recipe ")[1]
    rows = b.table("T", ("Row", "Number"), ((f"row {i}", str(i)) for i in range(40)))
    assert "row 39" in shown(terminal(rows))
    assert "row 39" not in shown(terminal(b.Report("T", "t", (rows,), "", None)))
