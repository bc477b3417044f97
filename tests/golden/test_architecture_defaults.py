"""Defaults of every architecture are pinned: see ``test_identities.py`` for what to do."""

import json
from pathlib import Path

import pytest

from reticent.models import ARCHITECTURES
from reticent.spec import full, identity, text

PINNED = json.loads((Path(__file__).parent / "architectures.json").read_text(encoding="utf-8"))
NAMES = [name for name in ARCHITECTURES if name != "import"]


@pytest.mark.parametrize("name", NAMES)
def test_defaults_and_identities_stay(name):
    spec = ARCHITECTURES[name].spec()
    assert name in PINNED, "a new architecture: run scripts/generate, which pins its defaults in architectures.json"
    assert full(spec) == PINNED[name]["defaults"]
    assert identity(spec) == PINNED[name]["identity"]
    assert json.loads(text(spec)) == {"method": name}


def test_no_architecture_is_gone():
    assert not set(PINNED) - set(NAMES)
