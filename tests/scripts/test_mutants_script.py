"""scripts/mutants: which faults it plants, and where."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "scripts" / "mutants"
SOURCE = '''"""A docstring with 1 + 2."""


def spread(x: "list[int]", é: float = 0.5) -> float:
    if len(x) < 2 or not x:
        raise ValueError(f"got {len(x) + 1}")
    return é * x.var(ddof=1) / (len(x) - 1)
'''


@pytest.fixture(scope="module")
def script():
    loader = SourceFileLoader("mutants_script", str(FILE))
    module = module_from_spec(spec_from_loader("mutants_script", loader))
    import sys

    sys.modules["mutants_script"] = module
    loader.exec_module(module)
    return module


def test_every_fault_is_one_change_that_still_is_python(script, tmp_path):
    path = tmp_path / "spread.py"
    path.write_text(SOURCE, encoding="utf-8")
    found = list(script.faults(path))
    assert {(fault.before, fault.after) for fault in found} == {
        ("0.5", "(1.5)"),
        ("len(x) < 2 or not x", "(len(x) < 2 and (not x))"),
        ("len(x) < 2", "(len(x) <= 2)"),
        ("2", "(3)"),
        ("not x", "(x)"),
        ("é * x.var(ddof=1) / (len(x) - 1)", "(é * x.var(ddof=1) * (len(x) - 1))"),
        ("é * x.var(ddof=1)", "(é / x.var(ddof=1))"),
        ("x.var(ddof=1)", "(x.var())"),
        ("len(x) - 1", "(len(x) + 1)"),
        ("1", "(2)"),
    }
    for fault in found:
        planted = fault.planted(SOURCE)
        compile(planted, "spread.py", "exec")
        assert planted != SOURCE
        assert len(planted) - len(SOURCE) == len(fault.after) - len(fault.before)


def test_the_same_seed_draws_the_same_faults(script):
    import argparse

    asked = argparse.Namespace(folders=["src/reticent/auditing/epsilon"], at=None, seed=3, count=5)
    first = script.drawn(asked)
    assert len(first) == 5
    assert first == script.drawn(asked)
    asked.at = first[0].place
    assert first[0] in script.drawn(asked)


def test_tests_that_fail_without_a_fault_are_told_before_any_is_planted(script, monkeypatch):
    planted = []

    def failing(fault, _):
        planted.append(fault.after == fault.before)
        return "tests/test_x.py::test_y"

    monkeypatch.setattr(script, "noticed", failing)
    monkeypatch.setattr("sys.argv", ["mutants", "--count", "3"])
    with pytest.raises(SystemExit, match=r"fail without any fault: tests/test_x\.py::test_y"):
        script.main()
    assert planted == [True]
