"""Whatever is trained here trains no wide attacker."""

import pytest


@pytest.fixture(autouse=True)
def narrow(narrow_adv_reg):
    pass
