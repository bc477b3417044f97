"""Terminals and pipes that lack characters: every verb shows what it has to show, and files are UTF-8."""

import io
import sys

import numpy as np
import pytest

from reticent.cli import app
from reticent.cli.run import guarded
from reticent.cli.screen import show
from reticent.cli.streams import PLAINLY
from reticent.report.blocks import Banner, table, words


class Narrow(io.TextIOWrapper):
    """A terminal, or a pipe, of few characters; it remembers what came through."""

    def __init__(self, encoding):
        super().__init__(io.BytesIO(), encoding=encoding, errors="strict", write_through=True)

    @property
    def text(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def narrow(monkeypatch):
    """Opens standard output and standard error of an encoding, strict as Python does."""

    def made(encoding="ascii"):
        monkeypatch.setattr(sys, "stdout", Narrow(encoding))
        monkeypatch.setattr(sys, "stderr", Narrow(encoding))
        return sys.stdout, sys.stderr

    return made


@pytest.mark.parametrize(
    ("text", "ascii_text", "latin"),
    [
        ("0.1–0.2 −3 × 2 ≥ 1 ≤ 2 ± 1", "0.1-0.2 -3 x 2 >= 1 <= 2 +- 1", "0.1-0.2 -3 × 2 >= 1 <= 2 ± 1"),
        ("95\u00a0% “é” ‘ü’ † …", "95 % \"e\" 'u' + ...", "95\u00a0% \"é\" 'ü' + ..."),
        ("▲ ✓ ▼ ✗ \ufffd 10⁻³", "! * v x ? 10-3", "! * v x ? 10-³"),
        ("日 \U0001f600 \udc80", "\\u65e5 \\U0001f600 \\udc80", "\\u65e5 \\U0001f600 \\udc80"),
    ],
)
def test_what_an_encoding_lacks_is_written_plainly(text, ascii_text, latin):
    assert text.encode("ascii", PLAINLY).decode() == ascii_text
    assert text.encode("latin-1", PLAINLY).decode("latin-1") == latin
    assert "\u00e9 \udc80".encode("utf-8", PLAINLY).decode() == "\u00e9 \\udc80"


@pytest.mark.parametrize(
    "line",
    ["--help", "audit --help", "data list", "data show adult", "data check digits", "defenses", "defenses dpsgd",
     "study", "runs list", "gate nothing-here --max-auc 0.6", "audit --dataset größe.npz", "no-such-verb –"],
)  # fmt: skip
def test_verbs_that_train_nothing(narrow, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    plain = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", plain[0])
    monkeypatch.setattr(sys, "stderr", plain[1])
    code = guarded(app, line.split())
    for encoding in ("ascii", "latin-1"):
        out, err = narrow(encoding)
        assert guarded(app, line.split()) == code
        assert out.errors == err.errors == "strict"
        assert "Traceback" not in err.text
        assert [len(text.text.split()) > 0 for text in (out, err)] == [bool(text.getvalue()) for text in plain]


@pytest.mark.words
def test_an_audit_and_its_gate_and_the_files_are_utf_8(narrow, outputs, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    groups = np.array(["größe", "日本"] * 30)
    words = ["attack", "--signals", outputs(groß=groups), "--group-by", "groß", "--attack", "loss", "--format", "md"]
    out, err = narrow()
    assert guarded(app, [*words, "--out", "here"]) == 0, err.text
    assert "0.5" in out.text
    assert "gro" in out.text
    for file in (tmp_path / "here").iterdir():
        assert "größe" in file.read_text(encoding="utf-8")
    out, _ = narrow()
    assert guarded(app, ["gate", "here", "--max-group-auc", "0.5"]) == 1
    assert "failed" in out.text


def test_what_is_piped_is_not_filled_up_to_the_width(capsys):
    show(table("t", words("name", "of"), [("a", "b"), ("long", "longer")]), Banner("x", "A sentence."))
    assert capsys.readouterr().out == "\nname of\na    b\nlong longer\n\nA sentence.\n"
