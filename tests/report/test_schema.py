import re
from pathlib import Path

import pytest

from reticent.findings.records import COLUMNS

SCHEMA = Path(__file__).parents[2] / "docs" / "schema.md"


def _keys(value, free=("recipe", "spec")):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in free:
                yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


@pytest.fixture(scope="module")
def documented():
    quoted = re.findall(r"`([^`\n]+)`", SCHEMA.read_text(encoding="utf-8"))
    return {part for text in quoted for part in re.split(r"[.\[\]]+", text)}


def test_every_key_is_documented(document, documented):
    keys = set(_keys(document))
    assert len(keys) > 60
    assert keys - documented == set()


def test_every_column_is_documented(documented):
    assert set(COLUMNS) - documented == set()


def test_the_documented_version_is_the_documents(document, documented):
    assert document["schema"] in SCHEMA.read_text(encoding="utf-8")
