"""Defaults of every objective, sampler, procedure and output are pinned: see ``test_identities.py`` for what to do.

A default that moves changes no identity, so a run of the old default would be taken for one of the new. A new method or
option is added to the table below, with its default; nothing in it is ever changed.
"""

import json
from pathlib import Path

import pytest

from reticent.objectives import OBJECTIVES
from reticent.outputs import OUTPUTS
from reticent.procedures import PROCEDURES
from reticent.samplers import SAMPLERS
from reticent.spec import full, identity, text

TABLES = {"objectives": OBJECTIVES, "samplers": SAMPLERS, "procedures": PROCEDURES, "outputs": OUTPUTS}
PINNED = json.loads((Path(__file__).parent / "methods.json").read_text(encoding="utf-8"))
REQUIRED = {"function": {"function": "mine:train"}}
NAMES = [(table, name) for table, entries in TABLES.items() for name in entries]


@pytest.mark.parametrize(("table", "name"), NAMES)
def test_defaults_and_identities_stay(table, name):
    spec = TABLES[table][name].spec(**REQUIRED.get(name, {}))
    assert f"{table}/{name}" in PINNED, "a new method: run scripts/generate, which pins its defaults in methods.json"
    pinned = PINNED[f"{table}/{name}"]
    assert full(spec) == pinned["defaults"]
    assert identity(spec) == pinned["identity"]
    assert json.loads(text(spec)) == {"method": name, **REQUIRED.get(name, {})}


def test_no_method_is_gone():
    assert not set(PINNED) - {f"{table}/{name}" for table, name in NAMES}
