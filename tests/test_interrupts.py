import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from reticent.cli.run import guarded
from reticent.interrupts import ASKED, PATIENCE, Terminated, heard, held_back
from reticent.report.files import write_files

pytestmark = pytest.mark.usefixtures("not_ignored")


def ask(number):
    """Ask this process to end; a moment passes, in which Python hears of it."""
    os.kill(os.getpid(), number)
    for _ in range(1000):
        pass


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_command_that_is_asked_to_end_says_how_to_go_on(capsys, number, code):
    def ran(*_, **__):
        ask(number)
        pytest.fail("it was not heard")

    before = [signal.getsignal(one) for one in ASKED]
    assert guarded(ran, ["audit", "--models", "4"]) == code
    how = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    said = f"reticent: {how}; finished models are kept: run the same command again to go on\n"
    assert capsys.readouterr().err == said
    assert [signal.getsignal(one) for one in ASKED] == before


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("attack --signals a.npz", "nothing is kept of it: the same command begins anew"),
        ("plan --models 4", "nothing is kept of it"),
        ("plan --models 4 --curve", "finished models are kept"),
        ("study cwrf-ablation", "finished models, and what was measured of whole settings, are kept"),
        ("data fetch location30", "what was downloaded is kept"),
        ("data check digits", "nothing is kept of it"),
        ("locate records", "finished models are kept"),
        ("selftest", "nothing is left behind"),
    ],
)
def test_each_verb_says_what_it_keeps(capsys, words, kept):
    def ran(*_, **__):
        raise KeyboardInterrupt

    assert guarded(ran, words.split()) == 130
    assert capsys.readouterr().err.startswith(f"reticent: interrupted; {kept}")


@pytest.mark.parametrize("made", [KeyboardInterrupt, RuntimeError, asyncio.CancelledError, SystemExit])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_is_known_where_compiled_code_made_another_exception_of_it(capsys, number, code, made):
    def ran(*_, **__):
        try:
            ask(number)
        except KeyboardInterrupt:
            raise made from None

    assert guarded(ran) == code
    assert "ended by" in capsys.readouterr().err


def test_ctrl_c_is_told_as_ctrl_c(capsys):
    assert guarded(lambda *_, **__: ask(signal.SIGINT)) == 130
    assert "reticent: interrupted" in capsys.readouterr().err


def test_ctrl_c_is_told_at_once_where_the_command_ends_later(capsys):
    def ran(*_, **__):
        with held_back():
            ask(signal.SIGINT)
            time.sleep(3 * PATIENCE)
            early.append(capsys.readouterr().err)

    early = []
    assert guarded(ran, ["attack"]) == 130
    assert early[0].startswith("stopping: Ctrl-C was seen, and what must not be cut in two is being finished")
    assert capsys.readouterr().err.startswith("reticent: interrupted")
    assert signal.set_wakeup_fd(-1) == -1


def test_a_second_ctrl_c_ends_at_once():
    code = (
        "import time; from reticent.cli.run import guarded; from reticent.interrupts import held_back\n"
        "def ran(*_, **__):\n"
        " with held_back():\n"
        "  print('at work', flush=True); time.sleep(60)\n"
        "guarded(ran, ['attack'])"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline().startswith("stopping: ")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr.read() == "reticent: ended at once\n"


def test_a_signal_that_is_ignored_stays_ignored_as_nohup_wants_it():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with heard():
            ask(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_hears_nothing_and_fails_at_nothing():
    failed = []

    def run():
        try:
            with heard(), held_back():
                pass
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failed == []


@pytest.fixture
def thread():
    """Another thread, which the system may give a signal to as well as this one."""
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    yield
    end.set()
    other.join()


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_held_back_is_heard_at_the_end(number):
    before, done = signal.getsignal(number), []
    with heard(), pytest.raises(KeyboardInterrupt) as ended:  # noqa: PT012
        with held_back():
            ask(number)
            done.append("whole")
        done.append("not reached")
    assert (done, getattr(ended.value, "signal", signal.SIGINT)) == (["whole"], number)
    assert signal.getsignal(number) is before


@pytest.mark.usefixtures("thread")
def test_a_report_that_appears_is_not_cut_in_two(tmp_path, monkeypatch):
    replace, asked = Path.replace, []
    for name in "ab":
        (tmp_path / name).write_text("old", encoding="utf-8")

    def slow(path, target):
        if not asked:
            asked.append(ask(signal.SIGTERM))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", slow)
    with heard(), pytest.raises(Terminated):
        write_files(tmp_path, dict.fromkeys("ab", "new"))
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}


def test_a_report_that_is_being_written_leaves_the_earlier_one(tmp_path):
    (tmp_path / "a").write_text("old", encoding="utf-8")

    def pieces():
        yield "new"
        ask(signal.SIGTERM)

    with heard(), pytest.raises(Terminated):
        write_files(tmp_path, {"a": pieces()})
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"a": "old"}
