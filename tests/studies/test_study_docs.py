"""The pages of the docs name every study and scale, and every study has a test of its own."""

import re
from pathlib import Path

import pytest

from reticent.studies import STUDIES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
OF_ALL = {"test_study_docs.py", "test_study_run.py", "test_study_table.py", "test_study_page.py"}


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_row_in_the_docs(name):
    assert f"| `{name}` |" in PAGE, "run scripts/generate: it writes the table of docs/studies.md"


@pytest.mark.parametrize("scale", sorted({scale for study in STUDIES.values() for scale in study.scales}))
def test_every_scale_is_explained(scale):
    assert f"| `{scale}` |" in PAGE, f"say in docs/studies.md, in the table of scales, what scale {scale} is"


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_test_of_its_own(name):
    module = name.replace("-", "_")
    own = [path for path in Path(__file__).parent.glob("test_*.py") if path.name not in OF_ALL]
    named = re.compile(rf'"{name}"|studies import .*\b{module}\b|studies\.{module}\b')
    assert any(named.search(path.read_text(encoding="utf-8")) for path in own), (
        f"write tests/studies/test_{module}.py: what {name} measures, against numbers known by construction, and its "
        "claims with numbers that agree with them and that contradict them (test_study_disparity.py is one to follow)"
    )
