"""Pages that are printed from the code are the ones that the code prints."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_the_configuration_is_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "configuration"], capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == done.stdout, "run: scripts/configuration > docs/configuration.md"
