"""Every objective, procedure and output defense has a card in docs/methods, and tests of its own."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from reticent.attacks import ATTACKS
from reticent.objectives import OBJECTIVES
from reticent.outputs import OUTPUTS
from reticent.procedures import PROCEDURES
from reticent.samplers import SAMPLERS
from reticent.spec import written

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "methods"
ENTRIES = {name: entry for table in (OBJECTIVES, SAMPLERS, PROCEDURES, OUTPUTS) for name, entry in table.items()}
WITHOUT = {"function", "none", "shuffle"}
"""A user's own function, no output defense, and the one sampler that is none."""
SECTIONS = ("Options", "Needs, cost, side effects", "Measured here")
NAMES = [name for name in ENTRIES if name not in WITHOUT]


def sections(name):
    """Text by heading; what comes before the first one by an empty heading."""
    path = FOLDER / f"{name}.md"
    assert path.is_file(), (
        f"docs/methods/{name}.md is missing: write '# {name}', what it does in a sentence, when to use it, and the "
        f"sections {', '.join(SECTIONS)} and Reference, with a row | `option` | default | meaning | for each option"
    )
    first, *others = path.read_text(encoding="utf-8").split("\n## ")
    return {"": first} | dict(part.split("\n", 1) for part in others)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_has_a_card_with_its_sections(name):
    found = sections(name)
    assert found[""].startswith(f"# {name}\n\n"), f"docs/methods/{name}.md: expected to begin with '# {name}'"
    wanted = [*SECTIONS, *(["Reference"] if ENTRIES[name].paper else [])]
    missing = [heading for heading in wanted if heading not in found]
    assert not missing, f"docs/methods/{name}.md: write the sections {', '.join(missing)}"


@pytest.mark.parametrize("name", NAMES)
def test_a_card_has_every_option_with_its_default(name):
    text = sections(name)["Options"]
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")
    ]
    told = {row[0]: row[1] for row in rows if len(row) == 3}
    fields = ENTRIES[name].spec.model_fields
    missing = [option for option in fields if f"`{option}`" not in text]
    assert not missing, f"docs/methods/{name}.md, Options: add a row for {', '.join(missing)}"
    for option, cell in told.items():
        default = fields[option].get_default(call_default_factory=True) if option in fields else None
        wrong = f"docs/methods/{name}.md: the default of {option} is {default}"
        if isinstance(default, bool | str):
            assert cell == (default if isinstance(default, str) else written(default)), wrong
        elif isinstance(default, int | float):
            assert float(Fraction(cell)) == default, wrong


def test_every_card_is_that_of_a_method():
    strays = {path.stem for path in FOLDER.glob("*.md")} - set(NAMES) - set(ATTACKS)
    assert not strays, f"docs/methods: no method is called {', '.join(sorted(strays))}: remove the card, or rename it"


@pytest.mark.parametrize(("folder", "prefix", "name"), [
    *(("objectives", "test_obj", name) for name in OBJECTIVES),
    *(("outputs", "test_out", name) for name in OUTPUTS if name not in WITHOUT),
    *(("samplers", "test", name) for name in SAMPLERS if name not in WITHOUT),
    *(("procedures", "test", name) for name in PROCEDURES if name not in {*WITHOUT, "plain"}),
])  # fmt: skip
def test_every_method_has_tests_of_its_own(folder, prefix, name):
    """The contract tests know no formula: some test of the folder builds the method's spec."""
    spec = ENTRIES[name].spec.__name__
    tests = (Path(__file__).parents[1] / folder).glob("*.py")
    assert any(re.search(rf"\b{spec}\(", path.read_text(encoding="utf-8")) for path in tests), (
        f"write tests/{folder}/{prefix}_{name.replace('-', '_')}.py: the paper's formula as a slow twin, its "
        "limits, and wrong options"
    )
