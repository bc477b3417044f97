"""Which rows have a control, which share one, and what is said of them; nothing is trained here."""

from types import SimpleNamespace

import pytest

from reticent.findings.comparison import ControlNote, Note, Role
from reticent.jobs.comparison.controls import controls
from reticent.jobs.comparison.early import Stop
from reticent.jobs.config import gather, prepare


def row(name, accuracy, twin=""):
    return SimpleNamespace(
        name=name, accuracy=accuracy, role=Role.RECIPE, matches=[], same_labels=lambda other: twin == other.name
    )


def job(tmp_path, **values):
    usual = {"records": 300, "models": 4, "epochs": 5, "workers": 1, "attacks": ("loss",), "store": tmp_path / "store"}
    return prepare(gather(None, usual | values))


def told(made, rows, places):
    """Answer with the stops that are given, and train nothing."""
    trained = []

    def stops(job, accuracies):
        assert places is None or len(accuracies) == len(places)
        return places

    def train(planned):
        trained.extend(name for name, _, _ in planned)
        return [row(name, stop.expected) for name, _, stop in planned]

    baseline = row("none", 0.9)
    more, notes = controls(made, baseline, [baseline, *rows], stops, train)
    return notes, trained, [baseline, *rows, *more]


def at(epochs, end=5.0, *, reached=True):
    return Stop(epochs, 5, end, 0.8, reached)


def test_stops_after_the_same_step_are_one_control(tmp_path):
    """150 of 300 records or so are 3 batches of 64: 1.4 and 1.45 epochs are 4 steps, 1.1 are 3."""
    rows = [row(name, 0.5) for name in "abc"]
    notes, trained, found = told(job(tmp_path), rows, [at(1.1), at(1.4), at(1.45)])
    assert notes == []
    assert trained == ["none, 1.1 of 5 epochs", "none, 1.4 of 5 epochs"]
    assert [one.matches for one in found[4:]] == [["a"], ["b", "c"]]


def test_stops_of_another_procedure_are_one_only_where_they_are_equal(tmp_path):
    """DP-SGD and SELENA count steps of their own."""
    rows = [row(name, 0.5) for name in "abc"]
    made = job(tmp_path, defense="selena:models=3,outside=1")
    _, trained, found = told(made, rows, [at(1.4), at(1.45), at(1.4)])
    assert trained == ["none, 1.4 of 5 epochs", "none, 1.45 of 5 epochs"]
    assert [one.matches for one in found[4:]] == [["a", "c"], ["b"]]


@pytest.mark.parametrize(
    ("stop_after", "where", "own"),
    [
        (None, at(5.0), {}),
        (None, at(4.9), {}),  # 14.7 of 15 steps: the bits of the baseline
        (1.5, at(1.5, 1.5), {"epochs": 1.5, "of": 5}),
        (4 / 3, at(1.33, 4 / 3), {"epochs": 4 / 3, "of": 5}),
    ],
)
def test_the_baseline_as_it_is_is_the_control_of_what_it_is_closest_to(tmp_path, stop_after, where, own):
    notes, trained, found = told(job(tmp_path, stop_after=stop_after), [row("a", 0.8)], [where])
    assert trained == []
    assert found[0].matches == ["a"]
    assert notes == [ControlNote(note=Note.WHOLE, row="a", **own)]


def test_a_row_that_is_more_accurate_than_the_baseline_ever_is_says_so(tmp_path):
    notes, _, found = told(job(tmp_path), [row("a", 0.95)], [at(3.0, reached=False)])
    assert found[-1].matches == ["a"]
    assert notes == [ControlNote(note=Note.TOO_ACCURATE, row="a", reached=0.8)]


def test_with_patience_the_end_of_the_schedule_is_no_baseline(tmp_path):
    """It keeps another epoch than the last: a training to the end is a control of its own."""
    made = job(tmp_path, patience=2, validation=20)
    notes, trained, _ = told(made, [row("a", 0.5), row("b", 0.93)], [at(5.0), at(2.0)])
    assert trained == ["none, 5 of 5 epochs"]
    assert notes == [ControlNote(note=Note.PATIENT, row="b")]


def test_what_is_known_of_rows_is_said_where_nothing_can_be_stopped_too(tmp_path):
    rows = [row("twin", 0.9, twin="none"), row("margins", None), row("a", 0.5)]
    notes, trained, found = told(job(tmp_path), rows, None)
    assert (trained, found[0].matches) == ([], ["twin"])
    assert notes == [
        ControlNote(note=Note.SAME_LABELS, row="twin"),
        ControlNote(note=Note.ACCURACY_UNKNOWN, row="margins"),
        ControlNote(note=Note.NO_EPOCHS),
    ]


def test_outputs_that_were_brought_cannot_be_stopped():
    assert told(None, [row("a", 0.5)], [])[0] == [ControlNote(note=Note.OUTPUTS)]
