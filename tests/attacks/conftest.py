"""Networks of attacks are narrow in these tests: how wide they are is another question (`test_networks.py`)."""

import pytest


@pytest.fixture
def wide():
    """Networks as wide as they are."""


@pytest.fixture(autouse=True)
def narrow(request, monkeypatch):
    if "wide" not in request.fixturenames:
        monkeypatch.setattr("reticent.attacks.networks.HIDDEN", (16, 16, 8))
        request.getfixturevalue("narrow_adv_reg")
