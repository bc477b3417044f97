"""A plan against the audit that it is of."""

import math

import numpy as np
import pytest
import torch

import reticent
from reticent.errors import ModelError
from reticent.jobs.plan import AROUND_SECONDS, SPAWN_SECONDS
from reticent.options import AuditConfig
from reticent.say.plan import plan as words

SMALL = {"records": 200, "models": 6, "epochs": 3, "workers": 1, "attacks": ["loss"], "replicates": 100}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    values = SMALL | {"store": folder / "store", "out": folder / "out"}
    before = reticent.plan(**values)
    written = sorted(folder.rglob("*"))
    audited = reticent.audit(**values)
    return before, written, audited, reticent.plan(**values), folder


def test_planning_writes_nothing(planned):
    before, written, *_ = planned
    assert written == []
    assert (before.models, before.finished, before.workers, before.device) == (6, 0, 1, "cpu")


def test_the_smallest_rate_is_one_false_alarm(planned):
    before, _, audited, *_ = planned
    fewest = int((~audited.membership).sum(axis=1).min())
    assert before.smallest_fpr == 1 / fewest
    assert before.records == 200
    assert [rate.fpr for rate in before.rates] == [0.1, 0.01, 0.001, 0.0001]
    for planned_rate, rate in zip(before.rates, audited.document["attacks"][0]["overall"]["tpr_at_fpr"], strict=True):
        assert planned_rate.measurable == rate["measurable"] == (fewest * rate["fpr"] >= 1)
        assert planned_rate.non_members_needed == rate["records_needed"]


def test_a_plan_of_persons_counts_persons(tmp_path):
    x = np.random.default_rng(0).normal(size=(120, 4)).astype(np.float32)
    made = reticent.plan(
        **SMALL | {"records": None, "store": tmp_path},
        dataset={"x": x, "y": np.arange(120) % 2, "columns": {"person": np.arange(120) // 3}},
        unit="person",
    )
    assert (made.records, made.units, made.unit) == (120, 40, "person")
    told = f"has {round(1 / made.smallest_fpr)} non-members among 40 persons"
    assert dict(words(made, ""))["smallest FPR"].endswith(told)


def test_the_disk_is_estimated_within_a_factor_of_two(planned):
    before, _, _, _, folder = planned
    taken = sum(path.stat().st_size for path in (folder / "store").rglob("*") if path.is_file())
    assert taken / 2 < before.disk_bytes < 2 * taken


def test_parameters_are_those_of_the_models(planned):
    before, _, audited, *_ = planned
    assert before.parameters == audited.document["population"]["parameters"]


def test_after_the_audit_all_is_finished(planned):
    *_, after, _ = planned
    assert (after.finished, after.seconds, after.disk_bytes) == (6, 0, 0)


def test_probes_are_planned_until_they_are_there(planned):
    *_, folder = planned
    values = SMALL | {
        "store": folder / "store",
        "attacks": ["label-only"],
        "attack": {"label-only": {"by": "boundary", "steps": 2, "directions": 5}},
    }

    def size():
        return sum(path.stat().st_size for path in (folder / "store").rglob("*") if path.is_file())

    before, taken = reticent.plan(**values), size()
    assert (before.finished, before.seconds > 0) == (0, True)
    reticent.audit(**values, out=folder / "probed")
    assert (size() - taken) / 2 < before.disk_bytes < 2 * (size() - taken)
    after = reticent.plan(**values)
    assert (after.finished, after.seconds, after.disk_bytes) == (6, 0, 0)


def test_an_epoch_counts_as_often_as_there_are_epochs(tmp_path, clock):
    values = SMALL | {"store": tmp_path, "architecture__widths": [8]}
    few, many = (reticent.plan(**values | {"epochs": epochs}) for epochs in (1, 400))
    assert (few.seconds_per_model, many.seconds_per_model) == (1, 400)
    assert (few.seconds, many.seconds) == (6 + 1, 6 * 400 + 1)  # A process begins with an epoch that is thrown away.
    assert isinstance(many.seconds, float)


def test_all_of_an_audit_is_planned_its_loading_report_and_control_too(tmp_path, clock, monkeypatch):
    monkeypatch.setattr("reticent.jobs.plan.seconds", lambda *_: 10.0)
    plain, controlled = (reticent.plan(**SMALL, store=tmp_path, control=control) for control in ("none", "null"))
    assert (plain.seconds_audit, controlled.seconds_audit) == (10.0, 20.0)
    told = dict(words(plain, "store"))["in all"]
    assert told.startswith(
        f"about 0:00:{math.ceil(plain.seconds + 10 + AROUND_SECONDS):02d} with loading and the report"
    )


def test_two_workers_halve_the_models_of_each(tmp_path, clock):
    values = SMALL | {"epochs": 4000, "store": tmp_path}
    one, two = (reticent.plan(**values | {"workers": workers}) for workers in (1, 2))
    assert (one.seconds, two.seconds) == (6 * 4000 + 1, 3 * 4000 + 1 + SPAWN_SECONDS)
    assert two.memory_bytes >= 2 * one.memory_bytes


def test_an_own_training_function_is_run_once_as_a_whole(own_folder, clock):
    (own_folder / "mine_plan.py").write_text(
        "import torch\nfrom reticent.jobs import plan\ncalls = []\n"
        "def train(x, y, seed):\n    calls.append(len(x))\n    plan.time.sleep(0.3)\n"
        "    return torch.nn.Linear(64, 10)\n"
    )
    values = {key: value for key, value in SMALL.items() if key != "epochs"}
    made = reticent.plan(**values, procedure="mine_plan:train", store=own_folder / "s")
    import mine_plan

    assert len(mine_plan.calls) == 1
    assert made.parameters == 650
    assert made.seconds_per_model == pytest.approx(0.3)


def test_values_win_over_a_configuration(tmp_path):
    own = {key: value for key, value in SMALL.items() if key != "epochs"}
    config = AuditConfig(**own, store=str(tmp_path), recipe={"epochs": 1})
    assert (reticent.plan(config).models, reticent.plan(config, models=4).models) == (6, 4)


@pytest.mark.slow
def test_planning_changes_no_result(tmp_path, planned):
    *_, audited, _, _ = planned
    values = SMALL | {"store": tmp_path / "store", "out": tmp_path / "out"}
    reticent.plan(**values)
    again = reticent.audit(**values)
    assert again.document["environment"]["models_found"] == 0
    assert np.array_equal(again.scores["loss"], audited.scores["loss"])


def test_the_search_for_noise_counts_once_a_model(tmp_path, monkeypatch, clock):
    from reticent.procedures.dpsgd import accounting  # needs the opacus_import dp

    known = set()

    def slow(epsilon, steps, accountant):
        if steps not in known:
            clock.sleep(100)
        known.add(steps)
        return 1.0, accounting.Spent(epsilon, accountant)

    monkeypatch.setattr(accounting, "noise_for", slow)
    values = SMALL | {"epochs": 40, "store": tmp_path, "architecture__widths": [8], "defense": "dpsgd:epsilon=4"}
    assert reticent.plan(**values).seconds_per_model == 100 + 40


def test_a_plan_is_of_this_machine_and_needs_its_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    values = SMALL | {"store": tmp_path / "store", "executor": "ray", "device": "cuda"}
    with pytest.raises(ModelError, match=r"device 'cuda': this machine, .*, has no CUDA device"):
        reticent.plan(**values)
