"""How far a work of several pieces is: which is at work, and what all that are left will take."""

import pytest

from reticent.jobs.base import Work
from reticent.population.train import Progress


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("reticent.jobs.base.time.monotonic", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


def trained(piece, clock, seconds, models=4, found=0, **more):
    """Train a population in a piece of work, so many seconds a model."""
    for done in range(found, models + 1):
        if done > found:
            clock(seconds)
        piece.progress(Progress(done, models, found, 0.0, None, None, **more))


def begun(kind, sizes, **more):
    stages, told = [], []
    work = Work(stages.append, told.append)
    work.divide(kind, sizes, **more)
    return work, stages, told


def test_a_piece_names_itself_and_what_is_left_is_that_of_all(clock):
    work, stages, told = begun("row", [4, 4])
    first = work.piece("none")
    first.tell("training")
    trained(first, clock, 10.0)
    assert stages == ["none (row 1 of 2): training"]
    assert [(one.left, one.of) for one in told] == [(None, ""), *((left, "all rows") for left in (70, 60, 50, 40))]
    first.tell("attack")
    clock(40.0)  # What a row takes beside its models is a part of the pace.
    trained(work.piece("hamp"), clock, 20.0)
    assert [one.left for one in told[5:]] == [80, 60, 40, 20, 0]
    assert str(told[-1]) == "models 4/4"
    work.tell("comparison")
    trained(work, clock, 1.0)
    assert (stages[-1], told[-1].of) == ("comparison", "")  # Of what comes after, nothing is known before.


def test_what_follows_the_pieces_and_cannot_be_counted_yet_is_told_with_each(clock):
    work, stages, told = begun("row", [4, 4], then="controls")
    first = work.piece("none")
    first.tell("training")
    trained(first, clock, 10.0)
    assert (stages, told[-1].of) == (["none (row 1 of 2, then controls): training"], "all rows")


def test_what_is_found_costs_nothing_and_does_not_count(clock):
    work, _, told = begun("row", [0, 2, 4])
    first = work.piece("none")
    trained(first, clock, 0.0, found=4)
    clock(1000.0)
    trained(work.piece("hamp"), clock, 10.0, found=2)
    assert [one.left for one in told[-3:]] == [None, 50, 40]


def test_models_that_are_only_asked_set_no_pace(clock):
    work, _, told = begun("row", [4, 4])
    trained(work.piece("none"), clock, 0.1, asking=True)
    assert {one.of for one in told} == {""}


def test_further_populations_of_a_piece_take_nothing_from_the_others(clock):
    work, _, told = begun("row", [4, 4])
    first = work.piece("none")
    trained(first, clock, 10.0)
    trained(first, clock, 10.0)
    assert told[-1].left == 80


def test_where_a_model_of_a_piece_costs_more_its_size_says_so(clock):
    work, _, told = begun("size", [400, 800])
    trained(work.piece("models of 100 records", model=100), clock, 1.0)
    assert told[-1].left == 8


def test_of_parts_with_models_that_nobody_counted_whole_ones_set_the_pace(clock):
    work, _, told = begun("part", [False, True, True])
    work.piece("seed 0", model=0)
    trained(work.piece("seed 1", model=0), clock, 10.0)
    assert {one.of for one in told} == {""}
    clock(20.0)
    trained(work.piece("seed 2", model=0), clock, 10.0)
    assert [one.left for one in told[5:]] == [60, 50, 40, 30, 20]


def test_a_single_piece_is_told_by_its_name_alone(clock):
    work, stages, told = begun("control", [4])
    only = work.piece("none, 2 of 5 epochs")
    only.tell("training")
    trained(only, clock, 1.0)
    assert stages == ["none, 2 of 5 epochs: training"]
    assert {one.of for one in told} == {""}
