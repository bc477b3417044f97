"""The main job on real data, as a user types it; digits with the defaults are also what ``.ci/run`` audits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
THRESHOLDS = {"correctness", "loss", "confidence", "entropy", "modified-entropy"}


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "make_official.py").is_file():
        pytest.skip(f"needs the copies of the real data, which are not at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def cifar10(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cifar10")
    subprocess.run([sys.executable, str(shared / "make_official.py"), str(folder), "cifar10"], check=True)
    return folder


def audit(folder, *flags):
    command = [sys.executable, "-m", "reticent", "audit", *map(str, flags)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800)
    assert result.returncode == 0, result.stderr
    document = json.loads((folder / "reticent-audit" / "audit.json").read_text())
    return document, {attack["name"]: attack["overall"] for attack in document["attacks"]}, result.stdout


@pytest.mark.slow
def test_location30_lira_finds_more_than_every_threshold(shared, tmp_path):
    named = [part for name in sorted(THRESHOLDS | {"lira", "rmia"}) for part in ("--attack", name)]
    document, attacks, printed = audit(
        tmp_path, "--dataset", "location30", "--data-dir", shared, "--models", 16, *named
    )
    assert (document["population"]["models"], document["data"]["roles"]["audited"]) == (16, 5010)
    assert THRESHOLDS | {"lira", "rmia"} <= set(attacks)
    assert not [name for name in attacks if name not in printed]
    best = max(attacks[name]["auc"]["mean"] for name in THRESHOLDS)
    assert attacks["lira"]["auc"]["mean"] > best > 0.6


@pytest.mark.calibration
def test_cifar10_pictures_are_in_the_report(cifar10, tmp_path):
    document, attacks, _ = audit(
        tmp_path,
        *("--dataset", "cifar10", "--data-dir", cifar10, "--architecture", "resnet20"),
        *("--models", 4, "--records", 2000, "--epochs", 3),
    )
    assert (document["population"]["models"], document["data"]["roles"]["audited"]) == (4, 2000)
    assert attacks
    assert (tmp_path / "reticent-audit" / "report.html").read_text().count("data:image/png") >= 10


@pytest.mark.calibration
def test_digits_as_they_come(tmp_path):
    document, attacks, _ = audit(tmp_path)
    assert (document["data"]["name"], document["population"]["models"]) == ("digits", 64)
    assert 0.57 <= attacks["lira"]["auc"]["mean"] <= 0.64
    rates = {rate["fpr"]: rate["tpr"] for rate in attacks["lira"]["tpr_at_fpr"]}
    assert 0.04 <= rates[0.01]["mean"] <= 0.10
