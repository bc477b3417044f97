"""One record or one model that makes most of the spread that all records share: found, named, and said."""

import io

import numpy as np
import pytest
from rich.console import Console

import reticent
from reticent.auditing.exposure import exposure
from reticent.auditing.outweighing import outweighing
from reticent.data.membership import Membership
from reticent.report.kinds.audit import audit
from reticent.report.render.terminal import terminal
from reticent.signals.matrix import Signals

MODELS, RECORDS = 16, 300
MEMBERSHIP = Membership.draw(MODELS, RECORDS, 0)
LABELS = np.arange(RECORDS) % 3


def margins(law="normal"):
    rng = np.random.default_rng(1)
    drawn = {"normal": rng.normal, "heavy": lambda size: rng.standard_t(5, size=size)}[law](size=(MODELS, RECORDS))
    return drawn + 3 + MEMBERSHIP.matrix


def found(table):
    signals = Signals.from_margins(table, LABELS, 3)
    matrix = MEMBERSHIP.matrix
    return outweighing(signals, matrix, exposure(signals, matrix), 1000 + np.arange(RECORDS))


@pytest.mark.parametrize("law", ["normal", "heavy"])
def test_usual_margins_outweigh_nothing(law):
    assert found(margins(law)) is None
    assert found(np.zeros((MODELS, RECORDS))) is None


def test_one_number_is_found_with_its_record_and_model():
    table = margins()
    table[3, 17] = 100
    told = found(table)
    squares = np.array([sum(((side - side.mean()) ** 2).sum() for side in sides(table, i)) for i in range(RECORDS)])
    assert (told.record, told.model, told.margin) == (1017, 3, 100)
    assert told.share == pytest.approx(squares[17] / squares.sum())


def sides(table, i):
    inside = MEMBERSHIP.matrix[:, i]
    return table[inside, i], table[~inside, i]


def test_one_model_of_another_scale_is_found():
    table = margins()
    table[5] *= 20
    told = found(table)
    assert (told.record, told.model, told.margin) == (None, 5, None)
    assert told.share > 0.6


def shown(document):
    console = Console(file=io.StringIO(), width=80)
    console.print(terminal(audit(document)))
    return console.file.getvalue()


def test_an_audit_says_so_on_the_page_and_on_the_terminal():
    table = margins()
    table[3, 17] = 1e3
    done = reticent.attack(labels=LABELS, membership=MEMBERSHIP, margins=table, attacks=["lira"], replicates=100)
    said = done.findings.outweighing.sentence
    assert said.startswith("Record 17 alone makes 99.5 %")
    assert "(model 3 has it at 1,000)" in said
    assert said in done.findings.verdict.cannot_say
    assert "model 3 has it at 1,000" in " ".join(shown(done.findings).split())
