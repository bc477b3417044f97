import sys
from pathlib import Path

import pytest
from entrances import PAGES


@pytest.fixture
def pages(monkeypatch):
    """Write no pages, which takes longer than all the rest; networks are found by their module's name."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    for owner, name, instead in PAGES:
        monkeypatch.setattr(owner, name, instead)
