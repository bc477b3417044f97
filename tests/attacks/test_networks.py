"""Attacks that fit a network: each is its paper's network, and learns what it may."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from attack_cases import auc, problem
from scipy.special import expit, log_softmax, softmax

import reticent
from reticent import seeds
from reticent.attacks import ATTACKS, fitting, networks, parse, score
from reticent.attacks.base import Problem
from reticent.attacks.cross_fitting import folds, words
from reticent.attacks.fitting import Answers, Schedule, top_three
from reticent.data.membership import Membership
from reticent.errors import SpecError, TooFewReferencesError
from reticent.objectives.adv_reg import Attacker, fit_loss
from reticent.signals.matrix import Signals

FITTED = [name for name, entry in ATTACKS.items() if entry.fitted]
WIDTHS = {"nn": 5, "nn-top3": 3, "nn-cls": 10}


@pytest.fixture(autouse=True)
def _own_draws():
    with torch.random.fork_rng():
        yield


def said(rng, rows=40, classes=5):
    probabilities = softmax(rng.normal(0, 2, (rows, classes)), axis=1)
    return Answers(probabilities, rng.integers(0, classes, rows), np.empty((rows, 0)))


def layers(network):
    return [
        (m.weight.detach().double().numpy(), m.bias.detach().double().numpy())
        for m in network.modules()
        if isinstance(m, torch.nn.Linear)
    ]


def through(parts, x):
    """A slow twin of layers with ReLU between them."""
    for place, (weight, bias) in enumerate(parts):
        x = np.maximum(x, 0) if place else x
        x = (
            np.array([
                [
                    sum(row * w for row, w in zip(one, unit, strict=True)) + b
                    for unit, b in zip(weight, bias, strict=True)
                ]
                for one in x
            ])
            if len(x) < 4
            else x @ weight.T + bias
        )
    return x


def caught(monkeypatch, spec, case):
    """What an attack builds, and what it is given: networks, and inputs of each fit."""
    seen, fit = [], fitting.fit
    monkeypatch.setattr(
        fitting,
        "fit",
        lambda network, inputs, *rest: (seen.append((network, inputs, rest)), fit(network, inputs, *rest)),
    )
    score(spec, case)
    return seen


def test_the_three_largest_probabilities_are_sorted_whichever_classes_have_them():
    p = np.array([[0.1, 0.4, 0.2, 0.3], [0.7, 0.1, 0.15, 0.05]])
    np.testing.assert_array_equal(top_three(p), [[0.4, 0.3, 0.2], [0.7, 0.15, 0.1]])
    np.testing.assert_array_equal(top_three(p[:, [2, 0, 3, 1]]), top_three(p))
    np.testing.assert_array_equal(top_three(np.array([[0.2, 0.8]])), [[0.8, 0.2, 0.0]])
    assert said(np.random.default_rng(0)).labelled.sum(axis=1).tolist() == [1.0] * 40


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", WIDTHS)
def test_the_networks_of_the_pruning_paper_have_its_shapes_and_say_what_a_slow_twin_says(name, monkeypatch):
    rng = np.random.default_rng(1)
    case = problem(1, models=4, records=30, population=0, targets=[0])
    seen = caught(monkeypatch, {"method": name, "steps": 1, "groups": 2}, case)
    network, inputs, _ = seen[0]
    width = WIDTHS[name] if name == "nn-top3" else {"nn": 3, "nn-cls": 6}[name]
    assert inputs[0].shape[1:] == (width,)
    parts = layers(network)
    assert [weight.shape for weight, _ in parts] == [(512, width), (256, 512), (128, 256), (2, 128)]
    assert [type(one).__name__ for one in network] == [
        *("Linear", "ReLU", "Dropout", "Linear", "ReLU", "Dropout", "Linear", "ReLU"),
        "Linear",
        "LogOdds",
    ]
    assert [one.p for one in network if isinstance(one, torch.nn.Dropout)] == [0.2, 0.2]
    x = rng.random((40, width))
    two, member = through(parts, x), rng.integers(0, 2, 40)
    found = fitting.ask(network, (x,))
    np.testing.assert_allclose(found, two[:, 1] - two[:, 0], rtol=1e-6, atol=1e-9)
    loss = fitting.cross_entropy(torch.as_tensor(found), torch.as_tensor(member.astype(float)))
    assert float(loss) == pytest.approx(-log_softmax(two, axis=1)[np.arange(40), member].mean(), rel=1e-6)


@pytest.mark.parametrize("name", WIDTHS)
def test_what_the_networks_are_given(name, monkeypatch):
    case = problem(1, models=4, records=30, population=0, targets=[0])
    rows = []
    read = fitting.answers
    monkeypatch.setattr(fitting, "answers", lambda *at: rows.append((at[1], at[2])) or read(*at))
    (_, inputs, (truth, *_)), *_ = caught(monkeypatch, {"method": name, "steps": 1, "groups": 2}, case)
    models, records = rows[0]
    p = softmax(case.signals.logits[models, records], axis=1)
    label = np.eye(3)[case.signals.labels[records]]
    expected = {"nn": p, "nn-top3": -np.sort(-p, axis=1), "nn-cls": np.concatenate([p, label], axis=1)}[name]
    np.testing.assert_allclose(inputs[0].numpy(), expected, rtol=1e-6)
    np.testing.assert_array_equal(truth.numpy(), case.membership.matrix[models, records])


def test_first_weights_are_xaviers():
    torch.manual_seed(3)
    for network in (networks.mlp(100), networks.drawn(Attacker(100, torch.Generator().manual_seed(0)))):
        for layer in network.modules():
            if isinstance(layer, torch.nn.Linear) and layer.weight.numel() > 100:
                assert float(layer.weight.detach().std()) == pytest.approx(
                    np.sqrt(2 / sum(layer.weight.shape)), rel=0.15
                )
                assert not layer.bias.any()


def test_salems_network_has_one_layer_of_64_units():
    network = networks.one_layer(3)
    parts, x = layers(network), np.random.default_rng(0).random((20, 3))
    assert [weight.shape for weight, _ in parts] == [(64, 3), (2, 64)]
    two = through(parts, x)
    np.testing.assert_allclose(fitting.ask(network, (x,)), two[:, 1] - two[:, 0], rtol=1e-6)


def test_shokris_networks_are_one_a_class_and_learn_as_if_alone():
    """Under plain gradient steps on sums, the networks of all classes together go where each alone does."""
    rng = np.random.default_rng(4)
    given, member = said(rng, 60, 3), torch.as_tensor(rng.integers(0, 2, 60).astype(np.float64))
    together = networks.PerClass(3).double()
    alone = []
    for one in range(3):
        network = networks.one_layer(3).double()
        with torch.no_grad():
            network[0].weight.copy_(together.first[one].T)
            network[2].weight.copy_(together.last[one].T)
        alone.append(network)
    x, label = torch.as_tensor(given.probabilities), torch.as_tensor(given.labels)
    for _ in range(5):
        steps = [(together, (x, label), member)]
        steps += [(alone[c], (x[label == c],), member[label == c]) for c in range(3)]
        for network, inputs, truth in steps:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(network(*inputs), truth, reduction="sum")
            for parameter, slope in zip(
                network.parameters(), torch.autograd.grad(loss, list(network.parameters())), strict=True
            ):
                parameter.data -= 0.01 * slope
    for c in range(3):
        parts = layers(alone[c])
        two = through(parts, given.probabilities[given.labels == c])
        found = together(x[label == c], label[label == c]).detach().numpy()
        np.testing.assert_allclose(found, two[:, 1] - two[:, 0], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(together.first[c].T.detach(), parts[0][0], rtol=1e-9)


def test_shokris_attack_finds_members_of_a_class_that_are_less_sure_than_others():
    """In one class members are surer than others and in the other one less sure, which needs a network of each."""
    rng, records = np.random.default_rng(5), 400
    membership = Membership.draw(8, records, 3)
    labels = np.arange(records) % 2
    sure = 2 + np.where(labels == 0, 1.5, -1.5) * (membership.matrix - 0.5) + 0.3 * rng.normal(size=(8, records))
    logits = np.stack([np.where(labels == 0, sure, 0), np.where(labels == 1, sure, 0)], axis=2)
    case = Problem.make(Signals.from_logits(logits, labels), membership, targets=[2])
    found = {name: score(ATTACKS[name].brief.replace(steps=200), case)[0] for name in ("shokri", "nn-top3")}
    for label in (0, 1):
        assert auc(found["shokri"][labels == label], membership.matrix[2][labels == label]) > 0.95
    assert auc(found["nn-top3"], membership.matrix[2]) < 0.8


@pytest.mark.usefixtures("wide")
def test_nasrs_network_has_its_shapes_and_says_what_a_slow_twin_says():
    network = Attacker(5, torch.Generator().manual_seed(1))
    given, member = said(np.random.default_rng(5)), np.random.default_rng(6).integers(0, 2, 40)
    networks.drawn(network)
    parts = layers(network)
    shapes = [(5, 1024), (1024, 512), (512, 64), (5, 128), (128, 64)]
    shapes += [(128, 512), (512, 256), (256, 128), (128, 64), (64, 1)]
    assert [weight.shape[::-1] for weight, _ in parts] == shapes
    relu = lambda x: np.maximum(x, 0)  # noqa: E731
    both = np.concatenate(
        [relu(through(parts[:3], given.probabilities)), relu(through(parts[3:5], given.labelled))], axis=1
    )
    twin = through(parts[5:], both)[:, 0]
    found = fitting.ask(network, (given.probabilities, given.labels))
    np.testing.assert_allclose(found, twin, rtol=1e-6, atol=1e-9)
    odds, truth = torch.as_tensor(found), torch.as_tensor(member.astype(float))
    assert float(fit_loss(odds, truth, "mse")) == pytest.approx(np.mean((expit(twin) - member) ** 2), rel=1e-6)
    expected = -np.mean(np.where(member, np.log(expit(twin)), np.log(1 - expit(twin))))
    assert float(fit_loss(odds, truth, "bce")) == pytest.approx(expected, rel=1e-6)


def test_nasrs_first_weights_are_the_papers_on_the_papers_schedule(monkeypatch):
    monkeypatch.setattr(fitting, "fit", lambda network, *_: network.eval())
    case = problem(1, models=4, records=30, population=0, targets=[0])
    flat = {kind: np.ptp(score({"method": "nasr", "schedule": kind}, case)) for kind in ("published", "bounded")}
    assert flat["published"] < 1e-6 < flat["bounded"]


@pytest.mark.parametrize(
    ("schedule", "make"),
    [
        (fitting.MIA_PRUNE, lambda p: torch.optim.SGD(p, 1e-3, 0.9, 0, 5e-4)),
        (Schedule("adam", 1e-2, 8, steps=30), lambda p: torch.optim.Adam(p, 1e-2)),
    ],
    ids=["published", "bounded"],
)
def test_a_fit_is_a_plain_loop(schedule, make):
    rng = np.random.default_rng(7)
    x, y = (
        torch.as_tensor(rng.normal(size=(21, 4)).astype(np.float32)),
        torch.as_tensor((rng.random(21) < 0.5).astype(np.float32)),
    )
    schedule = replace(schedule, batch=8)
    found = []
    for twin in (False, True):
        torch.manual_seed(5)
        network = networks.one_layer(4)
        torch.manual_seed(6)
        if not twin:
            fitting.fit(network, (x,), y, fitting.cross_entropy, schedule)
            assert not network.training
        else:
            optimizer = make(network.parameters())
            epochs = schedule.epochs or 15
            for epoch in range(epochs):
                if schedule.epochs:
                    optimizer.param_groups[0]["lr"] = 1e-3 * (0.1 if epoch >= 50 else 1) * (0.1 if epoch >= 75 else 1)
                order = torch.randperm(21)
                for batch in (order[:8], order[8:16]):
                    optimizer.zero_grad()
                    torch.nn.functional.binary_cross_entropy_with_logits(network(x[batch]), y[batch]).backward()
                    optimizer.step()
        found.append(network(x).detach())
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-6)


def test_the_state_is_kept_that_does_best_on_what_is_held_out():
    """What is held out is the opposite of what is learned: each step makes it worse."""
    x, truth = torch.linspace(-1, 1, 40)[:, None], (torch.linspace(-1, 1, 40) > 0).float()
    found = []
    for other in (None, ((x,), 1 - truth), ((x,), truth)):
        torch.manual_seed(1)
        network = networks.one_layer(1)
        fitting.fit(network, (x,), truth, fitting.cross_entropy, Schedule("adam", 1e-2, 20, steps=40, looks=10), other)
        found.append(float(fitting.cross_entropy(network(x), truth).detach()))
    assert found[0] == found[2] < 0.8 * found[1]


@pytest.mark.parametrize("name", FITTED)
def test_shuffled_references_tell_nothing_and_true_ones_do(name):
    """The same answers, told of other members: accuracy at zero and AUC are one half within binomial error."""
    rng, records = np.random.default_rng(8), 800
    case = problem(8, models=12, records=records, population=0, effect=2.5)
    spec = ATTACKS[name].brief.replace(steps=60)
    one = replace(case, targets=np.array([4]))
    assert auc(score(spec, one)[0], case.membership.matrix[4]) > 0.6
    mixed = replace(one, membership=Membership(rng.permuted(case.membership.matrix, axis=0)))
    scores, members = score(spec, mixed)[0], mixed.membership.matrix[4]
    assert abs(auc(scores, members) - 0.5) < 3 * np.sqrt((records + 1) / (12 * members.sum() * (~members).sum()))
    right = ((scores > 0)[members].mean() + (scores <= 0)[~members].mean()) / 2
    assert abs(right - 0.5) < 3 * 0.5 / np.sqrt(records)


def test_the_discriminator_is_fitted_on_one_reference_and_others_change_nothing_else(monkeypatch):
    case = problem(1, models=8, records=60, population=0, targets=[0])
    rows = []
    read = fitting.answers
    monkeypatch.setattr(fitting, "answers", lambda *at: rows.append(at[1]) or read(*at))
    score({"method": "nn", "references": 1, "steps": 2}, case)
    assert {len(set(models.tolist())) for models in rows} == {1}
    assert parse("salem").references == 1
    with pytest.raises(
        TooFewReferencesError, match="nn: expected at least 9 reference models besides the target, got 7"
    ):
        score({"method": "nn", "references": 9}, case)


def test_who_knows_half_of_the_members_is_told_nothing_of_the_records_that_are_scored():
    """Each half of the records is scored by what is known of the other; turned over, known halves find the same."""
    case = problem(8, models=3, records=400, population=0, effect=2.5, targets=[1])
    spec = parse({"method": "nasr", "known": "half", "steps": 120})
    scores, known = score(spec, case)[0], case.membership.matrix
    assert auc(scores, known[1]) > 0.6
    fold = folds(words(case, seeds.rng(0, "attack", "nasr")), 2)
    for part in range(2):
        turned = known.copy()
        turned[1, fold == part] = ~turned[1, fold == part]
        turned[[0, 2]] = ~turned[[0, 2]]
        again = score(spec, replace(case, membership=Membership(turned)))[0]
        np.testing.assert_array_equal(again[fold == part], scores[fold == part])
        assert not np.array_equal(again, scores)


@pytest.mark.parametrize("options", [{"references": 2}, {"groups": 3}, {"folds": 5}])
def test_who_knows_half_of_the_members_is_given_no_references_groups_or_folds(options):
    with pytest.raises(SpecError, match="no references, groups or folds where known is half"):
        parse({"method": "nasr", "known": "half", **options})
    assert parse({"method": "nasr", **options})


def test_near_complements_of_a_target_are_not_learned_from(monkeypatch):
    first = np.random.default_rng(0).random((4, 200)) < 0.5
    known = np.stack([first, ~first], axis=1).reshape(8, 200)
    case = problem(1, records=200, membership=known, population=0, targets=[3])
    seen = []
    draw = fitting.pairs
    monkeypatch.setattr(fitting, "pairs", lambda *at: seen.append(at[1]) or draw(*at))
    score({"method": "nn", "steps": 1}, case)
    assert seen
    assert not any({2, 3} & set(references.tolist()) for references in seen)


def test_no_pairs_are_too_few_references():
    labels = np.arange(20) % 2
    case = problem(1, models=2, records=20, population=0)
    known = np.stack([labels == 0, np.arange(20) < 10])
    signals = replace(case.signals, labels=labels)
    with pytest.raises(TooFewReferencesError, match="nn: expected references of which one was trained on a record"):
        score(
            {"method": "nn", "steps": 1},
            replace(case, signals=signals, membership=Membership(known), targets=np.array([1])),
        )


def test_networks_are_fitted_in_one_place():
    folder = Path(reticent.__file__).parent / "attacks"
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        steps = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "backward"]
        assert not steps or path.name == "fitting.py", (
            f"{path.name} takes gradients: fit networks by attacks/fitting.py"
        )
