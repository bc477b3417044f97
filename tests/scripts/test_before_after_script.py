"""scripts/before_after: what counts as lost, what is only said otherwise, what a case rests on."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[2] / "scripts" / "before_after"


@pytest.fixture(scope="module")
def script():
    loader = SourceFileLoader("before_after_script", str(FILE))
    module = module_from_spec(spec_from_loader("before_after_script", loader))
    import sys

    sys.modules["before_after_script"] = module
    loader.exec_module(module)
    return module


def test_a_case_follows_what_it_rests_on(script):
    assert script.of("compare-audits") == ["audit-lira", "audit-dpsgd", "compare-audits"]
    assert script.of("gate-fail") == ["audit", "gate-fail"], "@0.1 of a rate names no case"
    names = list(script.CASES)
    assert all(names.index(one) <= names.index(name) for name in names for one in script.of(name))


def test_every_verb_that_there_was_has_a_case(script):
    from reticent.cli import app

    verbs = {name for name in app if not name.startswith("-")}
    assert verbs - {"schema"} <= {line.split()[0] for line in script.CASES.values()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"auc": 0.5}, {"auc": 0.5000000000000001}),
        ({"auc": 0.5}, {}),
        ({"auc": 1}, {"auc": True}),
        ({"tpr": None}, {"tpr": 0.0}),
        ({"leak": "not found"}, {"leak": "cannot tell"}),
        ({"text": "one sentence of many words."}, {"text": 3}),
    ],
)
def test_what_is_lost(script, before, after):
    found = [{"a.json": dict(script.leaves(value))} for value in (before, after)]
    assert script.compared(*found)[0]
    assert script.compared({"a.json": {}}, {})[0] == ["a.json: not written"]


def test_what_is_not_lost(script):
    before = {
        "auc": 0.5,
        "sentence": "It leaks.",
        "said": ["And so on.", "And more."],
        "seconds": 1,
        "environment": {"a": 1},
    }
    after = {"auc": 0.5, "sentence": "This model leaks.", "said": ["And so on."], "seconds": 2, "more": [1]}
    found = [{"a.json": dict(script.leaves(value))} for value in (before, after)]
    lost, new, said = script.compared(*found)
    assert lost == []
    assert new == ["a.json .more.0"]
    assert len(said) == 2


def test_arrays_are_compared_by_their_bits(script, tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros(2), y=np.ones(1))
    np.savez(tmp_path / "b.npz", x=np.zeros(2, np.float32), y=np.ones(1))
    lost = script.compared(*({"a.npz": script.read(tmp_path / name)} for name in ("a.npz", "b.npz")))[0]
    assert len(lost) == 1
    assert lost[0].startswith("a.npz x")
