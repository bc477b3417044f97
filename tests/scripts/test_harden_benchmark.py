"""benchmarks/harden.py: the table of docs/harden.md, from the document of a repair."""

import runpy
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "harden.py"


def side(members, others, epsilon):
    accuracy = {"members": {"value": members}, "non_members": {"value": others}}
    return {"accuracy": accuracy, "epsilon": {"lower": epsilon, "delta": 1e-5}}


@pytest.fixture
def document():
    pairs = [
        {"statistic": name, "difference": value, "interval": [value - 0.02, value + 0.05]}
        for name, value in (("auc", 0.072), ("tpr", 0.245), ("accuracy", 0.065))
    ]
    rows = [
        {"auc_attack": attack, "auc": {"mean": auc}, "tpr": {"mean": tpr}}
        for attack, auc, tpr in (("lira", 0.982, 0.671), ("rmia", 0.91, 0.425))
    ]
    difference = {"fpr": 0.01, "rows": rows, "pairs": pairs}
    return {"before": side(1.0, 0.578, 4.77), "after": side(0.986, 0.513, 3.03), "difference": difference}


def test_the_table_says_what_changed_after_less_before(document):
    lines = list(runpy.run_path(str(FILE))["table"](document))
    assert lines[2] == "| accuracy on non-members | 57.8 % | 51.3 % | -6.5 points, -11.5 to -4.5 |"
    assert lines[3] == "| accuracy on members | 100.0 % | 98.6 % | |"
    assert lines[4] == "| members found at 1 % false alarms | 67.1 % | 42.5 % | -24.5 points, -29.5 to -22.5 |"
    assert lines[5] == "| AUC of the strongest attack (lira and rmia) | 0.982 | 0.910 | -0.072, -0.122 to -0.052 |"
    assert lines[6] == "| epsilon at least (delta 0.00001) | 4.77 | 3.03 | |"
