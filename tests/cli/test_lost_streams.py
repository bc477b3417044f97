"""A closed pipe and a full disk behind standard output or standard error: the work is done, the exit code stays."""

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


@pytest.mark.parametrize(("end", "code"), [(None, 2), (0, 0), (1, 1), (2, 2)])
@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_the_exit_code_is_the_outcome_or_that_of_an_error(monkeypatch, end, code, number):
    def ran(*_, **__):
        sys.stdout.write("found\n")
        if end is not None:
            raise SystemExit(end)

    monkeypatch.setattr(sys, "stdout", Failing(number))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert guarded(ran) == (0 if number == errno.EPIPE and end is None else code)
    said = "reticent: standard output cannot be written (No space left on device): send it elsewhere; nothing else was"
    assert sys.stderr.getvalue().startswith(said) == (number == errno.ENOSPC)


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


@pytest.mark.slow
def test_a_closed_pipe_ends_no_audit(tmp_path):
    read, write = os.pipe()
    os.close(read)
    words = "audit --records 60 --models 4 --epochs 1 --workers 1 --attack loss --set replicates=100 --architecture mlp"
    done = piped(words, stdout=write, stderr=write, cwd=tmp_path)
    os.close(write)
    assert done.returncode == 0
    assert (tmp_path / "reticent-audit" / "audit.json").is_file()
