"""benchmarks/defenses.py: what it says beside the table of ratios, and what it counts."""

from argparse import Namespace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "defenses.py"


@pytest.fixture(scope="module")
def benchmark():
    found = spec_from_file_location("defenses_benchmark", FILE)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def costs(train=1.0, once=0.0, search=0.0, output=0.0):
    return {"train": train, "once": once, "search": search, "output": output}


def test_what_is_paid_once_and_what_is_no_training_is_told(benchmark):
    found = {
        "dpsgd": costs(train=3.0, once=2.04, search=0.5),
        "memguard": costs(train=1.5, output=0.5),
        "mixup": costs(train=1.1, once=0.1),
    }
    told = benchmark.beside(found, costs())
    assert "before its first model: `dpsgd` 2.0 s, all others less than 0.5 s. Training" in told
    assert told.endswith(
        "besides:\n\n- `dpsgd`: the search for its noise, 0.5 s; without it the ratio is 2.50."
        "\n- `memguard`: making what its answers go through, 0.5 s; without it the ratio is 1.00."
    )
    told = benchmark.beside({"mixup": costs(train=1.1)}, costs())
    assert "before its first model: all less than 0.5 s." in told
    assert told.endswith("- nothing here.")


@pytest.mark.slow
def test_the_import_of_opacus_is_paid_once_and_the_search_by_each_model(benchmark):
    args = Namespace(dataset="digits", data_dir=None, epochs=1, architecture=None, records=None)
    got = benchmark.measured("dpsgd:epsilon=8", args)
    assert got["once"] > 0.5, "Opacus was imported before, or within the training"
    assert 0 < got["search"] < got["train"]
    assert {"clock", "ask", "train_bytes", "ask_bytes"} < set(got)
