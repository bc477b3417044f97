"""Checks of the engine on a small real audit: eight models on 400 of the bundled digits, in a temporary folder."""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from reticent.jobs.audit import Audited, run
from reticent.jobs.config import Job, called
from reticent.jobs.selftest.line import Line, Lines, within
from reticent.jobs.selftest.made import SEED
from reticent.population.worker import Maker
from reticent.store import Store

MODELS = 8
ACCURACY = 0.85
BAND = (0.58, 0.75)
"""LiRA's AUC on the small audit: 0.64 to 0.69 for a dozen seeds; without references (loss) 0.57 to 0.59."""


def engine() -> Lines:
    """Train, attack, report, do it again, and train one model elsewhere."""
    with tempfile.TemporaryDirectory(prefix="reticent-selftest-") as folder:
        root = Path(folder)
        job = _job(root, "first")
        audited = run(job)
        accuracy = float(audited.document["population"]["accuracy"]["non_members"]["mean"])
        yield within(
            "accuracy", ACCURACY, 1.0, accuracy,
            "Models do not learn: the optimizer, the order of the records or the labels are wrong.",
        )  # fmt: skip
        area = float(audited.document["attacks"][0]["overall"]["auc"]["mean"])
        yield within(
            "leak", *BAND, area,
            "An audit of real models is off: too low is a sign or a blind attack; too high is a target among its own "
            "references, or members that are told by something else than training.",
        )  # fmt: skip
        yield _files(audited)
        yield _resumed(audited, run(_job(root, "second")))
        yield _same_bits(job, audited, root)


def _job(root: Path, out: str) -> Job:
    values = {"models": MODELS, "records": 400, "epochs": 30, "batch_size": 64, "learning_rate": 2e-3, "seed": SEED}
    runs = {"workers": 1, "device": "cpu", "store": str(root / "store"), "out": str(root / out)}
    return called(None, {"dataset": "digits", "attacks": ["lira", "loss"], "replicates": 200, **values, **runs})


def _files(audited: Audited) -> Line:
    sizes = {path.name: path.stat().st_size if path.is_file() else 0 for path in audited.files}
    missing = [name for name in ("report.html", "records.csv", "audit.json") if not sizes.get(name)]
    path = next((path for path in audited.files if path.name == "audit.json"), None)
    if not missing and path is not None and json.loads(path.read_text(encoding="utf-8")) != audited.document:
        missing = ["audit.json as it was returned"]
    got = f"missing: {', '.join(missing)}" if missing else "all three"
    text = "The report is not written whole: what is read from disk is not what was measured."
    return Line("report", "report.html, records.csv, audit.json", got, not missing, text)


def _resumed(first: Audited, second: Audited) -> Line:
    found = second.document["environment"]["models_found"]
    same = _facts(first) == _facts(second)
    got = f"{found} found, {'the same' if same else 'another'} audit"
    text = "Finished models are not found, or an audit of the same models says something else."
    return Line("resume", f"{MODELS} found, the same audit", got, found == MODELS and same, text)


def _facts(audited: Audited) -> dict[str, Any]:
    return {key: value for key, value in audited.document.items() if key != "environment"}


def _same_bits(job: Job, audited: Audited, root: Path) -> Line:
    """Train the second model again, in a store of its own."""
    Maker(job.population, Store(root / "again").open(), "cpu").make(1)
    run_id = audited.document["population"]["per_model"][1]["run"]
    digests = {
        hashlib.sha256((root / store / "runs" / run_id / "weights.safetensors").read_bytes()).hexdigest()
        for store in ("store", "again")
    }
    got = "the same bits" if len(digests) == 1 else "other bits"
    text = "Training is not deterministic on this CPU: the same seed gives another model, so no audit can be repeated."
    return Line("same-bits", "the same bits", got, got == "the same bits", text)
