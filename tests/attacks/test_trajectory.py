"""The loss-trajectory attack: what students say, what the network is given, and its limit without students."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from attack_cases import auc, problem
from scipy.stats import spearmanr
from torch import nn
from torch.nn import functional

import reticent
from reticent.attacks import parse, score
from reticent.attacks.fitting import Answers
from reticent.attacks.trajectory import Trajectory, losses, network
from reticent.data.records import Records
from reticent.errors import InputError
from reticent.jobs.config import chosen, prepare
from reticent.jobs.runs import scan
from reticent.models.mlp import MLP
from reticent.population.train import train
from reticent.signals import students
from reticent.signals.probes import Students
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


def test_the_network_and_its_input_have_the_papers_shapes():
    with torch.random.fork_rng():
        widths = [layer.out_features for layer in network(101) if isinstance(layer, nn.Linear)]
    assert widths == [512, 128, 32, 2]
    said = Answers(np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([0, 0]), np.array([[3.0, 2.0], [5.0, 4.0]]))
    np.testing.assert_allclose(losses(said), [[3.0, 2.0, -np.log(0.7)], [5.0, 4.0, -np.log(0.2)]])


def test_without_students_it_is_a_loss_attack():
    """E = 0: one feature, so that scores are a function of the loss, and the AUC is that of the loss attack."""
    case = problem(3, models=6, records=400)
    spec = parse({"method": "trajectory", "epochs": 0, "steps": 200, "groups": 2})
    found, plain = score(spec, case), score("loss", case)
    for row, truth, own in zip(found, case.membership.matrix, plain, strict=True):
        assert auc(row, truth) == pytest.approx(auc(own, truth), abs=0.02)
        assert spearmanr(row, own).statistic > 0.98
    same = replace(case.signals, logits=case.signals.logits[:, :, ::-1] * 1.0, labels=2 - case.signals.labels)
    np.testing.assert_allclose(score(spec, replace(case, signals=same)), found, rtol=1e-6, atol=1e-9)


@pytest.fixture(scope="module")
def taught():
    """A model, records that it is asked about, others, and the losses of a student of three epochs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 4)).astype(np.float32)
    y = (x[:, 0] + 0.5 * x[:, 1] > 0).astype(np.int64)
    prepare_ = Preparation(Records.make(x, y, name="made"), torch.device("cpu"))
    records = Records.make(x, y, name="made")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        teacher = nn.Linear(4, 2).eval()
    parts = [prepare_.examples(records, ids) for ids in (np.arange(60), np.arange(60, 120))]
    return teacher, parts, prepare_


def noted(taught, epochs, output=None, recipe=None):
    teacher, (audited, others), prepare_ = taught
    return students.losses(
        Students(epochs=epochs), teacher, audited, others, prepare_, 2, recipe or Recipe(batch_size=20),
        Streams(0, 0, ("student",)), output,
    )  # fmt: skip


def test_a_warmup_that_is_longer_than_a_students_training_is_all_of_that(taught):
    recipe = Recipe(batch_size=20, epochs=100, warmup_epochs=40)
    assert noted(taught, 2, recipe=recipe).isfinite().all()


def test_a_student_draws_nearer_to_its_teacher_than_to_the_labels(taught):
    teacher, (audited, _), prepare_ = taught
    with torch.no_grad():
        wanted = functional.cross_entropy(teacher(prepare_(audited.x)), audited.y, reduction="none")
    found = noted(taught, 60, recipe=Recipe(batch_size=20, learning_rate=5e-3))
    assert found.shape == (60, 60)
    first, last = ((found[:, epoch] - wanted).abs().mean() for epoch in (0, -1))
    assert last < 0.1 * wanted.mean() + 0.05
    assert last < first / 2


def test_losses_are_those_after_each_epoch_in_eval_mode(taught):
    """A longer distillation begins as a shorter one does; dropout is off when the student is asked."""
    recipe = Recipe(batch_size=20, architecture=MLP(widths=(8,), dropout=0.5))
    three, five = (noted(taught, epochs, recipe=recipe) for epochs in (3, 5))
    np.testing.assert_array_equal(five[:, :3], three)
    np.testing.assert_array_equal(noted(taught, 5, recipe=recipe), five)


def test_students_learn_what_the_output_defense_lets_out(taught):
    plain, flat = noted(taught, 3), noted(taught, 3, output=lambda logits, _: logits / 100)
    assert not torch.equal(plain, flat)
    assert (flat[:, -1] - np.log(2)).abs().mean() < (plain[:, -1] - np.log(2)).abs().mean() + 0.2


CONFIG = {
    "dataset": "digits", "records": 120, "population": 60, "models": 4, "epochs": 3, "device": "cpu",
    "attacks": ["trajectory"],
    "attack": {"trajectory": {"epochs": 3, "steps": 20, "groups": 2}},
}  # fmt: skip


def test_an_audit_distils_each_model_once_and_again_behind_a_defense(tmp_path):
    common = {"workers": 1, "replicates": 100, "store": tmp_path / "store"}
    for out in ("first", "second"):
        found = reticent.audit(**CONFIG, **common, out=tmp_path / out)
        assert [run.kind for run in scan(tmp_path / "store").runs].count("probe") == 4
    assert found.scores["trajectory"].shape == (4, 120)
    behind = prepare(chosen(None, {**CONFIG, "defense": "temperature"})).population
    (probe,) = behind.probes
    plain = prepare(chosen(None, CONFIG)).population
    assert behind.training_id(0) == plain.training_id(0)
    assert behind.probe_id(0, probe) != plain.probe_id(0, probe)
    assert train(plain, Store(tmp_path / "store").open())[0].probes == (plain.probe_id(0, probe),)


def test_records_that_no_model_sees_are_asked_for():
    with pytest.raises(InputError, match=r"trajectory: expected records that no model sees.* give --population N"):
        prepare(chosen(None, {**CONFIG, "population": 0}))
    assert Trajectory(epochs=0).epochs == 0
