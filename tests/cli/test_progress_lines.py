"""What is told of training where no bar can be shown: lines for every population, not for the first alone."""

import time
from io import StringIO

from rich.console import Console

from reticent.cli.job import Screen
from reticent.population.train import Progress
from reticent.progress import counted, heard
from reticent.report.output import AUDIT
from reticent.threads import FEW_CELLS, each, ordered


def told(err, *calls):
    screen = Screen(AUDIT)
    with screen:
        for name, *given in calls:
            getattr(screen, name)(*given)
    return err.readouterr().err.splitlines()


def far(done):
    return "model", Progress(done, 4, 0, 1.0, None, None)


def test_every_population_has_its_line_under_its_stage_and_no_line_a_model(capfd):
    lines = told(
        capfd,
        ("stage", "none: training"),
        far(0),
        far(2),
        far(4),
        ("stage", "relaxloss [b]: training"),
        far(0),
        far(4),
        ("stage", "finding where the early-stopped controls stop, by 2.5 of 40 epochs"),
        far(0),
    )
    assert lines == [
        "none: training: models 0/4",
        "none: training: models 4/4",
        "relaxloss [b]: training: models 0/4",
        "relaxloss [b]: training: models 4/4",
        "finding where the early-stopped controls stop, by 2.5 of 40 epochs: models 0/4",
    ]


def test_another_population_of_the_same_stage_has_its_line_too(capfd):
    assert told(capfd, ("stage", "training"), far(0), far(4), far(0), far(4)) == ["models 0/4", "models 4/4"] * 2


def test_how_far_a_population_is_is_told_again_once_nothing_was_told_for_long(capfd, monkeypatch):
    monkeypatch.setattr("reticent.cli.job.QUIET", 0.3)
    with Screen(AUDIT) as screen:
        for done in range(4):
            screen.model(far(done)[1])
        told, deadline = "", time.monotonic() + 60
        while told.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
            told += capfd.readouterr().err
    assert told.splitlines() == ["models 0/4", "models 3/4"]


def test_a_terminal_of_80_columns_has_the_stage_and_all_that_is_known_of_the_models(monkeypatch):
    console = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr("reticent.cli.job.stderr", lambda: console)
    with Screen(AUDIT) as screen:
        screen.stage("relaxloss:level=0.3 (row 2 of 3): training")
        screen.model(Progress(3, 8, 2, 1.0, 52.0, 0.911, of="all rows"))
        screen.bar.refresh()
    shown = console.file.getvalue().replace("\xa0", " ")
    assert "relaxloss:level=0.3 (row 2 of 3): training" in shown
    assert "models 3/8, 2 found, 0:00:52 left for all rows, accuracy 91.1 % on non-members" in shown


def test_models_that_are_there_are_asked_and_not_trained(capfd):
    asking = "model", Progress(0, 4, 0, 1.0, None, None, asking=True)
    assert told(capfd, ("stage", "training"), asking, ("stage", "relaxloss: training"), asking) == [
        "asking models 0/4",
        "relaxloss: training: asking models 0/4",
    ]


def test_a_stage_is_told_while_it_goes_on_once_nothing_was_told_for_long(capfd, monkeypatch):
    monkeypatch.setattr("reticent.cli.job.QUIET", 0.3)
    screen = Screen(AUDIT)
    with screen:
        screen.stage("attack lira (1 of 2)")
        screen.stage("attack nasr (2 of 2)")
        told, deadline = "", time.monotonic() + 60
        while not told.endswith("\n") and time.monotonic() < deadline:
            time.sleep(0.01)
            told += capfd.readouterr().err
        assert told == "attack nasr (2 of 2)\n"
        monkeypatch.setattr("reticent.cli.job.QUIET", 60.0)
        screen.stage("report")
        waiting = screen._waiting
        assert waiting.is_alive()
    waiting.join(5)
    assert not waiting.is_alive()
    assert capfd.readouterr().err == ""


def test_a_long_step_tells_how_far_it_is_once_nothing_was_told_for_long(capfd, monkeypatch):
    screen = Screen(AUDIT)
    with screen, heard(screen.step):
        screen.stage("attack learned (2 of 5)")
        each(lambda part: None, range(20), FEW_CELLS, step="scores")
        assert capfd.readouterr().err == ""
        monkeypatch.setattr("reticent.cli.job.QUIET", 0.0)
        for work in (each, ordered):
            list(work(lambda part: None, range(20), FEW_CELLS, step="scores") or [])
        list(counted("", range(20), 20))
    lines = capfd.readouterr().err.replace("\xa0", " ").splitlines()
    shares = [line.split(",")[0] for line in lines]
    assert shares == [f"attack learned (2 of 5): scores {share} %" for share in range(5, 101, 5)] * 2
    assert lines[0].endswith("0:00:00 left")
    assert lines[-1].endswith("100 %")


def test_time_left_is_that_of_the_parts_to_come(monkeypatch):
    clock = iter([0.0, 2.0, 3.0, 3.0])
    monkeypatch.setattr("reticent.progress.time.monotonic", lambda: next(clock))
    told = []
    with heard(told.append):
        assert list(counted("scores", "ab", 4)) == ["a", "b"]
    assert told == [("scores", 1, 4, 6.0), ("scores", 2, 4, 3.0)]
    assert list(counted("scores", "ab", 4)) == ["a", "b"]  # No one listens.
