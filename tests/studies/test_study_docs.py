"""The page of the docs says all of a study's document, and names all studies and scales."""

import re
from pathlib import Path

import pytest
from test_study_page import DOCUMENT, PART

from reticent.studies import STUDIES

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
TEXT = re.sub(r"^```.*?^```", "", PAGE, flags=re.DOTALL | re.MULTILINE)
QUOTED = {part for text in re.findall(r"`([^`]+)`", TEXT) for part in re.split(r"[.\[\]]+", text)}
FREE = {"values", "paper", "rows", "facts", "environment", "panels"}


def keys(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in FREE or isinstance(item, list):
                yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)


@pytest.mark.parametrize("key", sorted({*keys({k: v for k, v in DOCUMENT.items() if k != "figures"}), *PART}))
def test_every_key_is_documented(key):
    assert key in QUOTED


def test_every_study_and_scale_is_there():
    assert set(STUDIES) <= QUOTED
    assert {scale for study in STUDIES.values() for scale in study.scales} <= QUOTED
