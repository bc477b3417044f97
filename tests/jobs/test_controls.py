"""Which rows have a control, which share one, and what is said of them; nothing is trained here."""

from dataclasses import dataclass, field

import pytest

from reticent.jobs.comparison.controls import control
from reticent.jobs.comparison.early import Stop
from reticent.jobs.comparison.specs import Entrant
from reticent.jobs.config import gather, prepare


@dataclass
class Row:
    name: str
    accuracy: float | None
    aware: bool = True
    matched: list[str] = field(default_factory=list)
    twin: str = ""
    notices: list[str] = field(default_factory=list)

    def area(self, attack):
        return {"correctness": 0.7234}.get(attack)

    def as_right_as(self, other):
        return self.twin == other.name


class Maker:
    """Answers with the stops that it was given, and trains nothing."""

    def __init__(self, places):
        self.places, self.trained = places, []

    def stops(self, job, accuracies):
        assert self.places is None or len(accuracies) == len(self.places)
        return self.places

    def train(self, name, job, where):
        self.trained.append(name)
        return [Row(name, where.expected)]


def job(tmp_path, **values):
    usual = {"records": 300, "models": 4, "epochs": 5, "workers": 1, "attacks": ("loss",), "store": tmp_path / "store"}
    return prepare(gather(None, usual | values))


def told(made, rows, places):
    maker, contenders = Maker(places), [Row("none", 0.9), *rows]
    notes = control(maker, [Entrant("none", made)], contenders, "none")
    return notes, maker.trained, contenders


def at(epochs, end=5.0, *, reached=True):
    return Stop(epochs, 5, end, 0.8, reached)


def test_stops_after_the_same_step_are_one_control(tmp_path):
    """150 of 300 records or so are 3 batches of 64: 1.4 and 1.45 epochs are 4 steps, 1.1 are 3."""
    rows = [Row(name, 0.5) for name in "abc"]
    notes, trained, contenders = told(job(tmp_path), rows, [at(1.1), at(1.4), at(1.45)])
    assert notes == []
    assert trained == ["none, 1.1 of 5 epochs", "none, 1.4 of 5 epochs"]
    assert [one.matched for one in contenders[4:]] == [["a"], ["b", "c"]]


def test_stops_of_another_procedure_are_one_only_where_they_are_equal(tmp_path):
    """DP-SGD and SELENA count steps of their own."""
    rows = [Row(name, 0.5) for name in "abc"]
    made = job(tmp_path, defense="selena:models=3,outside=1")
    _, trained, contenders = told(made, rows, [at(1.4), at(1.45), at(1.4)])
    assert trained == ["none, 1.4 of 5 epochs", "none, 1.45 of 5 epochs"]
    assert [one.matched for one in contenders[4:]] == [["a", "c"], ["b"]]


@pytest.mark.parametrize(
    ("stop_after", "where", "own"),
    [
        (None, at(5.0), ""),
        (None, at(4.9), ""),  # 14.7 of 15 steps: the bits of the baseline
        (1.5, at(1.5, 1.5), " (1.5 of 5 epochs, by its own stop_after)"),
        (4 / 3, at(1.33, 4 / 3), " (1.33333 of 5 epochs, by its own stop_after)"),
    ],
)
def test_the_baseline_as_it_is_is_the_control_of_what_it_is_closest_to(tmp_path, stop_after, where, own):
    notes, trained, contenders = told(job(tmp_path, stop_after=stop_after), [Row("a", 0.8)], [where])
    assert trained == []
    assert contenders[0].matched == ["a"]
    assert notes == [
        f"a has no early-stopped control: none is closest to its accuracy when it is trained to the end{own}, so the "
        "baseline is its control."
    ]


def test_a_row_that_is_more_accurate_than_the_baseline_ever_is_says_so(tmp_path):
    notes, _, contenders = told(job(tmp_path), [Row("a", 0.95)], [at(3.0, reached=False)])
    assert contenders[-1].matched == ["a"]
    assert notes == [
        "none reaches 80.0 % at most, at any epoch of its training, and a "
        "95.0 %: what is less accurate gives away less by that alone, so the control is too hard on a "
        "by so much."
    ]


def test_with_patience_the_end_of_the_schedule_is_no_baseline(tmp_path):
    """It keeps another epoch than the last: a training to the end is a control of its own."""
    made = job(tmp_path, patience=2, validation=20)
    notes, trained, _ = told(made, [Row("a", 0.5), Row("b", 0.93)], [at(5.0), at(2.0)])
    assert trained == ["none, 5 of 5 epochs"]
    (note,) = notes
    assert note.startswith("b has no early-stopped control: it is at least as accurate as none, whose training stops")


def test_what_is_known_of_rows_is_said_where_nothing_can_be_stopped_too(tmp_path):
    rows = [Row("twin", 0.9, twin="none"), Row("margins", None), Row("a", 0.5)]
    notes, trained, contenders = told(job(tmp_path), rows, None)
    assert (trained, contenders[0].matched) == ([], ["twin"])
    assert rows[0].notices == [
        "It is right on the same records as none, which therefore is its control; who sees labels alone finds as much "
        "with it as without (AUC 0.723, attack correctness)."
    ]
    assert [note.split(" ", 3)[:3] for note in notes] == [
        ["margins", "has", "no"],
        ["There", "is", "no"],
    ]
