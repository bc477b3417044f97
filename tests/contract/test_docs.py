"""Every method has a card, and every attack a test (`scripts/check` sees that what is generated is up to date)."""

import re
from pathlib import Path

import pytest

from reticent.attacks import ATTACKS
from reticent.objectives import OBJECTIVES
from reticent.outputs import OUTPUTS
from reticent.procedures import PROCEDURES
from reticent.samplers import SAMPLERS

ROOT = Path(__file__).resolve().parents[2]
METHODS = sorted({*ATTACKS, *OBJECTIVES, *OUTPUTS, *PROCEDURES, *SAMPLERS} - {"none", "function", "shuffle"})
"""Those of the tables that have a card; not "no output defense", nor a user's own training."""


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_card(name):
    path = ROOT / "docs" / "methods" / f"{name}.md"
    assert path.is_file(), (
        f"write {path.relative_to(ROOT)}: what {name} does, when to use it, a command, where it departs from its "
        "paper, the reference (docs/methods/loss.md and docs/methods/label-smoothing.md are ones to follow)"
    )
    card = path.read_text(encoding="utf-8")
    assert card.startswith(f"# {name}\n")
    assert [part for part in ("**Use it**", "\n    reticent ") if part not in card] == []


OF_ALL = {"test_attacks_contract", "test_attack_facts"}


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_has_a_test_of_its_formula(name):
    spec = ATTACKS[name].spec.__name__
    own = [path for path in (ROOT / "tests" / "attacks").glob("test_*.py") if path.stem not in OF_ALL]
    told = [path for path in own if re.search(rf'"{name}"|\b{spec}\b', path.read_text(encoding="utf-8"))]
    assert told, f"write tests/attacks/test_{name.replace('-', '_')}.py: hold {name} against its paper's formula"


def test_the_readme_has_the_two_commands_that_ci_runs():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    install, tests = [line for line in lines if line.startswith("pip install")]
    assert install.endswith("&& reticent audit")
    assert tests.endswith("&& pytest")
