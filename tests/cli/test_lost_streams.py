"""A closed pipe and a full disk behind standard output or standard error: what was made is kept."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reticent.cli import app
from reticent.cli.run import guarded
from reticent.cli.streams import Steady, steady

ALLOW = "--allow-cannot-judge"
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


class Failing(io.StringIO):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def flush(self):
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_a_stream_that_fails_is_lost_once(number):
    stream = Steady(Failing(number))
    stream.writelines(["a", "b"])
    stream.flush()
    stream.flush()
    assert stream.write("more") == 4
    assert stream.getvalue() == "ab"
    assert stream.failed == (None if number == errno.EPIPE else os.strerror(number))


def test_a_stream_without_a_number_opens_nothing_when_it_fails(monkeypatch):
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("this file would stay open"))
    stream = Steady(Failing(errno.ENOSPC))  # whose fileno() raises
    stream.flush()
    assert stream.failed == os.strerror(errno.ENOSPC)


def test_streams_that_are_closed_from_the_beginning(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    with steady() as (out, err):
        assert (out.write("x"), err.write("y")) == (1, 1)
    assert guarded(app, ["defenses"]) == 0
    assert sys.stdout is None


LOST = "reticent: standard output cannot be written (No space left on device)"


@pytest.mark.parametrize(
    ("end", "made", "code", "told"),
    [
        (None, None, 2, ": send it elsewhere"),
        (None, ["a/report.html", "a/audit.json"], 0, "; what the command does is done: a/report.html, a/audit.json"),
        (0, None, 2, ": send it elsewhere"),
        (1, None, 1, ": send it elsewhere"),
        (2, None, 2, ": send it elsewhere"),
    ],
)
@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_only_what_is_lost_for_good_changes_the_exit_code(monkeypatch, end, made, code, told, number):
    def ran(*_, **__):
        sys.stdout.write("found\n")
        if end is not None:
            raise SystemExit(end)
        return made

    monkeypatch.setattr(sys, "stdout", Failing(number))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    full = number == errno.ENOSPC
    assert guarded(ran) == (code if full else end or 0)
    assert sys.stderr.getvalue() == f"{LOST}{told}\n" * full


def test_a_fault_of_reticent_is_no_answer_of_the_gate(monkeypatch):
    def ran(*_, **__):
        raise RuntimeError("a fault")

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert guarded(ran) == 2
    said = sys.stderr.getvalue().splitlines()
    assert said[0] == "Traceback (most recent call last):"
    assert said[-2:] == [
        "RuntimeError: a fault",
        "reticent: a fault of reticent, and not of yours: please report what is above",
    ]


def piped(words, **streams):
    code = "from reticent.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *words.split()], check=False, timeout=120, **streams)


@needs_full
@pytest.mark.parametrize("words", ["data list", pytest.param("selftest --help", marks=pytest.mark.slow)])
def test_a_full_disk_behind_standard_output(words):
    with Path("/dev/full").open("w") as full:
        done = piped(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@needs_full
def test_what_lies_in_files_is_not_lost_with_standard_output(command, outputs, monkeypatch, tmp_path):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        file = outputs()
        monkeypatch.setattr(sys, "stdout", full)
        code, _, err = command(f"attack --signals {file} --attack loss --out here --scores s.npy")
    assert code == 0
    files = "here/report.html, here/records.csv, here/audit.json, s.npy"
    assert err == f"{LOST}; what the command does is done: {files}"
    assert all(Path(name).is_file() for name in files.split(", "))
    for words, code in ((f"gate here --max-auc 1 {ALLOW}", 2), (f"gate here --max-auc 1 {ALLOW} --junit j.xml", 0)):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            monkeypatch.setattr(sys, "stdout", full)
            assert command(words)[0] == code, words


@pytest.mark.slow
def test_a_closed_pipe_ends_no_audit(tmp_path):
    read, write = os.pipe()
    os.close(read)
    words = "audit --records 60 --models 4 --epochs 1 --workers 1 --attack loss --set replicates=100 --architecture mlp"
    done = piped(words, stdout=write, stderr=write, cwd=tmp_path)
    os.close(write)
    assert done.returncode == 0
    assert (tmp_path / "reticent-audit" / "audit.json").is_file()
