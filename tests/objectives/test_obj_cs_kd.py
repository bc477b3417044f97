"""Class-wise self-distillation."""

import math

import numpy as np
import pytest
import torch
from objective_runs import PICTURES, SMALL, batch, blobs, loss_of, materials, spied, started, state
from objective_twins import batches, context, softmax
from torch.nn import functional

from reticent.data.records import Records
from reticent.objectives import OBJECTIVES
from reticent.objectives._sampling import ClassIndex
from reticent.objectives.cs_kd import CsKd, _distance, _partners


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def test_two_answers_at_temperature_four():
    far = _distance(double([[0.0, 0.0]]), double([[1.0, 0.0]]), 4.0)
    assert far.item() == pytest.approx(0.124030, abs=1e-6)
    assert _distance(double([[0.3, -2.0]]), double([[0.3, -2.0]]), 4.0).item() == 0
    assert _distance(double([[5.0, 4.0]]), double([[1.0, 0.0]]), 4.0).item() == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_the_distance_and_its_slope_are_those_of_a_slow_twin(temperature):
    rng = np.random.default_rng(1)
    for drawn in batches():
        teacher = rng.normal(size=drawn.logits.shape) * 3
        z = torch.tensor(drawn.logits, requires_grad=True)
        loss = _distance(z, torch.tensor(teacher), temperature)
        loss.backward()
        total, slope = 0.0, np.zeros_like(teacher)
        for i in range(drawn.size):
            p, q = softmax(drawn.logits[i] / temperature), softmax(teacher[i] / temperature)
            total += temperature**2 * sum(q * (np.log(q) - np.log(p))) / drawn.size
            slope[i] = temperature * (p - q) / drawn.size
        assert loss.item() == pytest.approx(total, abs=1e-6)
        assert z.grad.numpy() == pytest.approx(slope, abs=1e-6)


def test_partners_are_others_of_the_class_drawn_uniformly():
    labels = torch.tensor([2, 0, 1, 0, 2, 0, 0])
    classes, generator = ClassIndex(labels, 4), torch.Generator().manual_seed(0)
    ids = torch.arange(7).repeat(3000)
    partners = _partners(classes, ids, labels[ids], generator)
    assert torch.equal(labels[partners], labels[ids])
    counts = np.zeros((7, 7), dtype=int)
    np.add.at(counts, (ids.numpy(), partners.numpy()), 1)
    assert counts[2, 2] == 3000  # the only one of its class
    assert (counts[0, 4], counts[4, 0]) == (3000, 3000)
    for row in (1, 3, 5, 6):
        assert counts[row, row] == 0
        others = [c for c in (1, 3, 5, 6) if c != row]
        assert np.all(np.abs(counts[row, others] - 1000) < 5 * math.sqrt(3000 * 2 / 9))


def test_the_teacher_is_the_partner_and_receives_no_gradient():
    run = started(CsKd(weight=2.0, temperature=3.0))
    asked, real = [], run.ask

    def ask(x):
        asked.append((x, torch.is_grad_enabled()))
        return real(x)

    spied(run, ask=ask)
    x, y, known = batch(run, [5, 0, 7, 9])
    logits = run._logits(x)
    loss = run.objective(logits, y, known)
    (partners, gradient), members = asked[0], run.materials.members
    rows = [int((members.x == one).all(dim=1).nonzero()) for one in partners]
    assert not gradient
    assert members.y[rows].tolist() == y.tolist()
    assert all(a != b for a, b in zip(rows, [5, 0, 7, 9], strict=True))
    teacher = run.ask(partners).detach()
    expected = functional.cross_entropy(logits, y) + 2 * _distance(logits, teacher, 3.0)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    got, wanted = (torch.autograd.grad(one, run.parameters, retain_graph=True) for one in (loss, expected))
    assert all(torch.allclose(a, b, atol=1e-7) for a, b in zip(got, wanted, strict=True))


def test_the_second_pass_is_in_training_mode_and_moves_batch_norm_as_the_card_says():
    run = started(CsKd(), PICTURES)
    run.model.train()
    loss_of(run, range(16))
    counts = {int(v) for k, v in state(run.model).items() if k.endswith("num_batches_tracked")}
    assert counts == {2}


def test_the_partner_is_augmented_by_a_stream_of_its_own():
    run = started(CsKd(), PICTURES)
    before = run.noise.get_state()
    seen = []
    context = run._context()
    spied(run, augment=lambda x, noise: seen.append(x.dtype) or context.augment(x, noise))
    loss_of(run, range(16))
    assert seen == [torch.uint8]
    assert torch.equal(before, run.noise.get_state())
    views = [started(CsKd(), PICTURES) for _ in range(2)]
    assert loss_of(views[0], range(16)).item() == loss_of(views[1], range(16)).item()


def test_a_class_of_one_record_has_itself_as_a_teacher():
    records = Records.make(blobs().x[:91], np.append(np.arange(90) % 2, 2), classes=3)
    given = materials(records, 91, 0)
    run = started(CsKd(), SMALL, given)
    alone = torch.tensor([90])
    plain = functional.cross_entropy(run._logits(given.members.x[alone]), given.members.y[alone])
    assert loss_of(run, alone).item() == plain.item()


def test_a_weight_of_zero_draws_and_asks_nothing():
    objective = OBJECTIVES["cs-kd"].build(CsKd(weight=0.0))
    objective.begin(context())
    logits, y = torch.zeros(2, 5), torch.tensor([0, 1])
    assert objective(logits, y, None).item() == pytest.approx(math.log(5))
