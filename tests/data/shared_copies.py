"""The shared copies of real data, written in their official formats."""

import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def made(folder, *names):
    if not (SHARED / "make_official.py").is_file():
        pytest.skip(f"the copies of the real data are not at {SHARED}")
    command = [sys.executable, str(SHARED / "make_official.py"), str(folder), *names]
    subprocess.run(command, check=True, capture_output=True)
    return folder
