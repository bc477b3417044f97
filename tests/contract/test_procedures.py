"""What holds for every procedure of the table: each trains a tiny model, whatever its objective.

A new procedure is taken in by itself. Where its definition needs an exception, the tables below say it and why; a table
that names a procedure that does not exist, or an exception that is not needed, fails.
"""

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import procedure_cases as cases
import pytest
import torch
from procedure_cases import OPTIONS, using
from safetensors.numpy import load, save
from tiny_records import BINARY, IMAGES, SMALL, TOKENS, blobs, images, materials, tokens

from reticent.errors import ReticentError, SpecError
from reticent.findings.training import ProcedureFacts
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES
from reticent.procedures import PROCEDURES, entry
from reticent.procedures.recipe_checks import check
from reticent.store import Store
from reticent.training.loop import accuracy
from reticent.training.streams import Streams

REFUSES = {
    "1 by 16": {"cwrf", "mist", "selena"},
}
"""Cases that a procedure refuses by name: case to procedures."""
OWN_LOSS = {"function"}
"""Procedures that choose their loss, and their network, themselves."""
WITHOUT_BATCH_NORM = {"dpsgd"}
"""Procedures that put something else in the place of BatchNorm, and say so in a notice."""
SECOND = {"cwrf": 6, "imp": 13, "pptp": 6, "prune": 9}
"""Epochs of later trainings, which the history holds behind those of the first."""
STREAMS = Streams(0, 0)

names = pytest.mark.parametrize("name", PROCEDURES)


def state(trained):
    return {key: value.clone() for key, value in trained.model.state_dict().items()}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def trained(name, recipe, given, case="", streams=STREAMS):
    """Train, or return nothing where the procedure is listed as one that refuses this case, and does so by name."""
    recipe = using(name, recipe)
    check(recipe, reference=len(given.reference))
    if name in REFUSES.get(case, ()):
        with pytest.raises(ReticentError, match=name):
            entry(recipe).train(recipe, given, streams)
        return None
    made = entry(recipe).train(recipe, given, streams)
    assert all(torch.isfinite(value).all() for value in made.model.state_dict().values())
    assert np.isfinite(made.history.loss).all()
    assert not any(module.training for module in made.model.modules())
    return made


def told(facts):
    """Facts that are the same in every run of the same seed."""
    return facts.with_(stages=()).to_json()


def moved(made):
    """The network is not what it was at first, where that is known."""
    return not made.initial or not same(state(made), made.initial)


def test_the_tables_name_procedures_that_exist():
    assert {*OPTIONS, *OWN_LOSS, *WITHOUT_BATCH_NORM, *SECOND, *(n for case in REFUSES.values() for n in case)} <= set(
        PROCEDURES
    )


@names
def test_its_own_loss_falls_and_the_model_learns(name):
    given = materials(blobs())
    made = trained(name, SMALL.replace(epochs=13), given)
    assert len(made.history.loss) == (0 if name in OWN_LOSS else 13 + SECOND.get(name, 0))
    assert name in OWN_LOSS or made.history.loss[-1] < 0.8 * made.history.loss[0]
    assert accuracy(made.model, given, given.validation) > 0.7


@names
def test_the_same_seed_gives_the_same_bits_and_another_row_other_ones(name):
    first, again, other = (trained(name, SMALL, materials(blobs()), streams=Streams(0, row)) for row in (0, 0, 1))
    assert same(state(first), state(again))
    assert same(first.initial, again.initial)
    assert same(first.artefacts, again.artefacts)
    assert first.history.loss == again.history.loss
    assert told(first.facts) == told(again.facts)
    assert not same(state(first), state(other))


@names
def test_global_generators_have_no_influence_and_come_back(name):
    dropped = SMALL.replace(architecture=MLP(widths=(16,), dropout=0.25))
    ends = []
    for seed in (1, 2):
        with torch.random.fork_rng():
            torch.manual_seed(seed), random.seed(seed), np.random.seed(seed)  # noqa: NPY002
            before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
            ends.append(state(trained(name, dropped, materials(blobs()))))
            after = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        assert torch.equal(before[0], after[0])
        assert before[1:] == after[1:]
    random.seed(0), np.random.seed(0)  # noqa: NPY002
    assert same(*ends)


@names
def test_images_with_batch_norm(name):
    made = trained(name, IMAGES, materials(images(), 49), "images")
    if made is None:
        return
    assert moved(made)
    counts = [value for key, value in state(made).items() if key.endswith("num_batches_tracked")]
    assert all(count.dtype == torch.int64 for count in counts)
    if name in WITHOUT_BATCH_NORM:
        assert not counts
        assert any("BatchNorm" in notice for notice in made.facts.notices)
    elif name not in OWN_LOSS:
        assert all(count > 0 for count in counts)
        assert counts


@names
def test_a_head_of_one_logit(name):
    given = materials(blobs(classes=2))
    made = trained(name, BINARY.replace(epochs=13), given, "one logit")
    assert made is None or accuracy(made.model, given, given.validation) > 0.7


@names
def test_tokens(name):
    made = trained(name, TOKENS, materials(tokens()), "tokens")
    assert made is None or moved(made)


@names
@pytest.mark.parametrize(("members", "size"), [(33, 16), (9, 1), (1, 16), (9, 2)])
def test_batches_of_one_and_few_records(name, members, size):
    made = trained(name, SMALL.replace(batch_size=size, epochs=2), materials(blobs(), members), f"{members} by {size}")
    assert made is None or moved(made)


@names
def test_half_precision(name):
    given = materials(blobs())
    made = trained(name, SMALL.replace(precision="bfloat16", epochs=13), given, "bfloat16")
    if made is None:
        return
    assert accuracy(made.model, given, given.validation) > 0.7
    assert {value.dtype for value in made.model.state_dict().values()} == {torch.float32}
    full = trained(name, SMALL.replace(epochs=13), given)
    assert same(state(made), state(full)) == (name in OWN_LOSS)


@names
def test_early_stopping_keeps_an_epoch_that_was(name):
    made = trained(name, SMALL.replace(epochs=60, learning_rate=0.05, patience=2), materials(blobs()), "patience")
    if made is None or name in OWN_LOSS:
        return
    assert 0 <= made.history.kept < len(made.history.loss) < 60


@names
@pytest.mark.parametrize("records", [blobs, images])
def test_records_stay_as_they_are(name, records):
    given, before = (replace(m, watched=m.validation) for m in (materials(records()), materials(records())))
    trained(name, IMAGES if records is images else SMALL, given)
    for role in ("members", "reference", "validation"):
        one, other = getattr(given, role), getattr(before, role)
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.y, other.y)


@names
def test_watched_records_have_no_part_in_training(name):
    given = materials(blobs())
    watching = trained(name, SMALL, replace(given, watched=given.validation))
    assert same(state(watching), state(trained(name, SMALL, given)))
    assert len(watching.history.accuracy) in {0, len(watching.history.loss)}


def refused(name, objective):
    """Tell what has no meaning: a loss beside a function of its own, of the batch under DP-SGD, in two runs in MIST."""
    line = OBJECTIVES[objective]
    return {
        "dpsgd": not line.per_record,
        "function": objective != "cross-entropy",
        "mist": line.build(line.spec()).then() is not None,
    }.get(name, False)


@names
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_any_objective_is_taken_or_refused_by_name_before_training(name, objective):
    recipe = using(name, SMALL.replace(epochs=2, objective=OBJECTIVES[objective].spec()))
    if refused(name, objective):
        with pytest.raises(SpecError, match=f"^{objective} cannot be "):
            check(recipe, reference=30)
        return
    check(recipe, reference=30)
    made = entry(recipe).train(recipe, materials(blobs()), STREAMS)
    assert np.isfinite(made.history.loss).all()
    assert moved(made)


@names
def test_a_run_holds_all_that_was_made_and_its_weights_fit_into_the_network(name, tmp_path):
    store = Store(tmp_path / "store").open()
    maker = cases.maker(name, store)
    made = maker.make(1)
    run = store.find(made.training)
    recipe = maker.population.recipe
    direct = entry(recipe).train(recipe, maker.materials(1), Streams(0, 1))
    weights = run.arrays("weights.safetensors")
    assert {key: value.numpy().tobytes() for key, value in state(direct).items()} == {
        key: value.tobytes() for key, value in weights.items()
    }
    for kind, tensors in (("initial", direct.initial), ("artefacts", direct.artefacts)):
        assert (f"{kind}.safetensors" in run.files) == bool(tensors)
        assert all(
            len(tensors[key]) == len(value)
            for key, value in load(save({key: value.numpy() for key, value in tensors.items()})).items()
        )
    assert told(ProcedureFacts.model_validate(run.facts, extra="ignore")) == told(direct.facts)
    assert ("stages" in run.facts) == bool(direct.facts.stages)
    handed = ("accountant", "notices", "cwrf", "pptp")
    assert all(getattr(made.facts, key) == getattr(direct.facts, key) for key in handed)
    assert all(notice.endswith(".") for notice in direct.facts.notices)
    loaded = maker._load(1, run)
    signals = store.find(made.signals).arrays("signals.safetensors")
    assert np.array_equal(maker.ask(loaded, 1).logits, signals["logits"])


def bytes_of(store, made):
    """What a model's two runs hold, but for times and versions."""
    found = {}
    for run in (store.find(made.training), store.find(made.signals)):
        facts = {k: v for k, v in run.facts.items() if k not in {"seconds", "peak_memory_bytes", "finished", "stages"}}
        found[run.id] = {name: run.file(name).read_bytes() for name in run.files} | {"facts": facts}
    return found


@pytest.mark.parametrize(
    "name",
    # One among the slow ones, which has most to restore; the others take too long for CI.
    [pytest.param(n, marks=pytest.mark.slow if n == "mist" else pytest.mark.calibration) for n in PROCEDURES],
)
def test_a_training_that_is_killed_ends_with_the_same_bits_when_it_is_run_again(name, tmp_path):
    whole = Store(tmp_path / "whole").open()
    with cases.Steps() as steps:
        uninterrupted = cases.maker(name, whole).make(0)
    assert steps.count > 10
    for step in (steps.count // 2, steps.count - 1):
        folder = tmp_path / f"killed-{step}"
        command = [sys.executable, cases.__file__, name, str(folder), str(step)]
        with subprocess.Popen(command, cwd=Path(cases.__file__).parent, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "here\n"
            process.kill()
        assert process.returncode == -9
        store = Store(folder).open()
        assert store.find(uninterrupted.training) is None
        assert (folder / "runs" / f"{uninterrupted.training}.partial").is_dir()
        again = cases.maker(name, store).make(0)
        assert again.fresh
        assert bytes_of(store, again) == bytes_of(whole, uninterrupted)
