"""Whole audits in processes of their own."""

import json
import os
import subprocess
import sys


def start(folder, *words, **environment):
    """Begin an audit in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "reticent", "audit", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def finish(process, folder):
    """Wait until an audit has ended well: its document without the environment, and the environment."""
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    document = json.loads((folder / "reticent-audit" / "audit.json").read_text())
    return {key: value for key, value in document.items() if key != "environment"}, document["environment"]
