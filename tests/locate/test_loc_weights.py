import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from reticent.data.records import Records
from reticent.errors import InputError, ModelError, SpecError, TrainingDivergedError
from reticent.locate import working_copy
from reticent.locate.topk_mask import topk_mask
from reticent.locate.weights import Scoring, score
from reticent.locate.working_copy import WorkingCopy
from reticent.training.data import Preparation
from reticent.training.loop import accuracy
from reticent.training.materials import Materials
from reticent.training.optim import optimizer as training_optimizer
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

STREAMS = Streams(3, 1)
PLAIN = Recipe()
FEW = Scoring(steps=6, batch_size=16)


@pytest.fixture(autouse=True)
def _layers_may_draw():
    """Give back what the layers that tests make draw from torch's generator."""
    with torch.random.fork_rng(devices=[]):
        yield


def materials(n=60, members=30, width=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    records = Records.make(rng.normal(size=(n, width)).astype(np.float32), np.arange(n) % classes)
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda ids: prepare.examples(records, np.asarray(ids, dtype=np.int64))  # noqa: E731
    return Materials(take(range(members)), take([]), take(range(members, n)), prepare, classes)


def network(*layers, seed=0):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Sequential(*(layers or (nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
    return model


def state(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def apart(model, seed=9):
    """Another state of the same network."""
    other = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return state(other)


def drawn(count, scoring, name):
    """The rows of each step, as the docs tell them: whole passes, the last smaller batch left out."""
    generator, size, rows = STREAMS.generator(f"scoring/{name}"), min(scoring.batch_size, count), []
    while len(rows) < scoring.steps:
        order = torch.randperm(count, generator=generator)
        rows += [order[i : i + size] for i in range(0, count - size + 1, size)]
    return rows[: scoring.steps]


def adam(parameters, gradients, memory, rate, decay, step):
    for i, (w, g) in enumerate(zip(parameters, gradients, strict=True)):
        g = g + decay * w
        first, second = memory.get(i, (torch.zeros_like(w), torch.zeros_like(w)))
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g * g
        memory[i] = first, second
        w -= rate * (first / (1 - 0.9**step)) / ((second / (1 - 0.999**step)).sqrt() + 1e-8)


def naive(model, vanilla_state, known, scoring):
    """The paper's words, slowly, in float64, with a second model in memory."""
    work, vanilla = copy.deepcopy(model).double(), copy.deepcopy(model).double()
    vanilla.load_state_dict(vanilla_state)
    vanilla.eval()
    parameters = list(work.parameters())
    sums, memory = [torch.zeros_like(p) for p in parameters], {}
    members, others = drawn(len(known.members), scoring, "members"), drawn(len(known.reference), scoring, "reference")
    for step, (rows, out) in enumerate(zip(members, others, strict=True), start=1):
        q = functional.softmax(vanilla(known.reference.x[out].double()), 1).detach()
        work.eval()
        p = functional.softmax(work(known.reference.x[out].double()), 1)
        first, second = (q, p) if scoring.divergence == "vanilla-first" else (p, q)
        distance = (first * (first.log() - second.log())).sum(1).mean()
        # Before members are asked: PyTorch's batch normalisation goes back by the statistics that it finds then.
        away = torch.autograd.grad(distance, parameters)
        work.train()
        entropy = functional.cross_entropy(work(known.members.x[rows].double()), known.members.y[rows])
        toward = torch.autograd.grad(entropy, parameters)
        gradients = [(1 - scoring.unlearning) * a + scoring.unlearning * b for a, b in zip(toward, away, strict=True)]
        with torch.no_grad():
            for total, g, w in zip(sums, gradients, parameters, strict=True):
                total += (g * w).abs() ** scoring.power
            adam(parameters, gradients, memory, scoring.learning_rate, scoring.weight_decay, step)
    return dict(zip((name for name, _ in work.named_parameters()), sums, strict=True))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"power": 2},
        {"divergence": "updated-first"},
        {"unlearning": 0.8, "learning_rate": 0.05, "weight_decay": 0.1},
        {"unlearning": 1.0},
        {"steps": 1, "batch_size": 500},
    ],
)
def test_scores_are_the_papers_sum_over_steps_before_each_update(changes):
    model, known, scoring = network(), materials(), FEW.replace(**changes)
    expected = naive(model, apart(model), known, scoring)
    found = score(model, apart(model), known, scoring, STREAMS, PLAIN)
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name].dtype == torch.float32
        assert torch.allclose(found[name].double(), value, rtol=2e-3, atol=1e-6), name
    assert len(found.member_loss) == len(found.divergence) == scoring.steps


def test_batch_normalisation_learns_from_members_and_judges_non_members_by_what_it_learnt():
    model = network(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    known = materials()
    expected = naive(model, apart(model), known, FEW)
    found = score(model, apart(model), known, FEW, STREAMS, PLAIN)
    assert all(torch.allclose(found[n].double(), v, rtol=5e-3, atol=1e-5) for n, v in expected.items())
    joint = score(model, apart(model), known, FEW.replace(statistics="joint"), STREAMS, PLAIN)
    own = score(model, apart(model), known, FEW.replace(statistics="own"), STREAMS, PLAIN)
    assert not any(
        torch.allclose(a["0.weight"], b["0.weight"]) for a, b in ((found, joint), (found, own), (joint, own))
    )


class Diary(nn.Module):
    """Notes in which mode it is asked, about how many records."""

    lines: list[tuple[bool, int]]

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, x):
        self.lines.append((self.training, len(x)))
        return self.layer(x)


@pytest.mark.parametrize(
    ("statistics", "one"),
    [("frozen", [(False, 7), (True, 7)]), ("own", [(True, 7), (True, 7)]), ("joint", [(True, 14)])],
)
def test_modes_of_each_forward_pass(statistics, one):
    Diary.lines = []
    model = Diary()
    scoring = Scoring(steps=3, batch_size=7, statistics=statistics)
    score(model, state(model), materials(), scoring, STREAMS, PLAIN)
    steps, asked = Diary.lines[:-10], Diary.lines[-10:]
    ahead = len(steps) - 3 * len(one)
    assert all(line == (False, 7) or line[1] < 7 for line in steps[:ahead])
    assert steps[ahead:] == one * 3
    assert asked == [(False, 7), (False, 7), (False, 7), (False, 7), (False, 2)] * 2, "how accurate the copy is"


def test_without_a_weight_vulnerability_is_learnability_and_nothing_else_is_asked():
    model, known = network(nn.Linear(6, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 3)), materials()
    plain = FEW.replace(unlearning=0.0)
    alone = score(model, {}, replace(known, reference=known.validation), plain, STREAMS, PLAIN)
    beside = score(model, apart(model), known, plain, STREAMS, PLAIN)
    assert all(torch.equal(alone[name], beside[name]) for name in alone)
    assert alone.divergence == ()
    both = score(model, apart(model), known, FEW, STREAMS, PLAIN)
    assert both.member_loss[0] == alone.member_loss[0], "the same members and the same dropout at the first step"


def test_an_untrained_network_diverges_from_nothing_at_the_first_step():
    model, known = network(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.ReLU(), nn.Linear(8, 3)), materials()
    once = Scoring(steps=1, batch_size=16, unlearning=0.25)
    found = score(model, state(model), known, once, STREAMS, PLAIN)
    plain = score(model, {}, known, once.replace(unlearning=0.0), STREAMS, PLAIN)
    assert found.divergence[0] == pytest.approx(0, abs=1e-7)
    assert all(torch.allclose(found[n], 0.75 * plain[n], rtol=1e-4, atol=1e-8) for n in plain)


def test_linear_models_scores_by_hand():
    model = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[2.0, -1.0]]))
    records = Records.make(np.array([[1.0, 6.0], [1.0, 6.0]], dtype=np.float32), np.array([0, 1]))
    prepare = Preparation(records, torch.device("cpu"))
    both = prepare.examples(records, np.array([0, 1]))
    known = Materials(both, both, both, prepare, 2)
    slope = 1 / (1 + math.exp(4)) - 0.5
    found = score(model, {}, known, Scoring(steps=1, unlearning=0.0), STREAMS, PLAIN)
    assert found["weight"][0].tolist() == pytest.approx([abs(2 * slope), abs(6 * slope)])
    square = score(model, {}, known, Scoring(steps=1, unlearning=0.0, power=2), STREAMS, PLAIN)
    assert square["weight"][0].tolist() == pytest.approx([(2 * slope) ** 2, (6 * slope) ** 2])


@pytest.mark.parametrize(("power", "expected"), [(1, [1.0, 3.0]), (2, [1.0, 9.0])])
def test_gradient_times_weight(power, expected):
    weight = nn.Parameter(torch.tensor([2.0, -1.0]))
    mover = WorkingCopy({"w": weight}, Scoring(power=power))
    for _ in range(2):
        weight.grad = torch.tensor([0.5, 3.0])
        mover.take("w", weight)
        assert weight.grad is None
    assert mover.sums["w"].tolist() == [2 * value for value in expected]


@pytest.mark.parametrize("shape", [(), (3,), (4, 3, 2, 2)])
@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_the_copy_moves_as_training_would_move_it(optimizer, shape):
    generator = torch.Generator().manual_seed(0)
    first = torch.randn(shape, generator=generator)
    ours, theirs = nn.Parameter(first.clone()), nn.Parameter(first.clone())
    spec = Scoring(optimizer=optimizer, learning_rate=0.05, weight_decay=0.1, momentum=0.8)
    recipe = Recipe(optimizer=optimizer, learning_rate=0.05, weight_decay=0.1, momentum=0.8)
    usual = training_optimizer(recipe, [theirs])
    with WorkingCopy({"w": ours}, spec) as mover:
        for step in range(5):
            slope = torch.randn(shape, generator=generator)
            if step != 2:
                mover.back((ours * slope / 2).sum(), last=False)
                mover.back((ours * slope / 2).sum(), last=True)
                theirs.grad = slope
            assert ours.grad is None
            usual.step()
            usual.zero_grad()
    assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    (ours * 2).sum().backward()
    assert ours.grad is not None, "outside of the context nothing is taken"


def test_a_gradient_that_only_the_first_part_reaches_is_taken_too():
    a, b = nn.Parameter(torch.tensor([2.0])), nn.Parameter(torch.tensor([3.0]))
    with WorkingCopy({"a": a, "b": b}, FEW) as mover:
        mover.back((5 * a).sum(), last=False)
        assert not mover.sums
        mover.back((7 * b).sum(), last=True)
    assert {name: float(value) for name, value in mover.sums.items()} == {"a": 10, "b": 21}
    assert a.grad is None


def test_sparse_gradients_are_scored_as_dense_ones():
    found = []
    for sparse in (False, True):
        table = nn.Embedding(5, 2, sparse=sparse)
        with torch.no_grad():
            table.weight.copy_(torch.arange(10.0).reshape(5, 2))
        with WorkingCopy({"w": table.weight}, FEW) as mover:
            mover.back((table(torch.tensor([1, 1, 3])) ** 2).sum(), last=True)
        found.append((mover.sums["w"], table.weight.detach()))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    assert found[0][0].count_nonzero() == 4


def test_blocks_of_the_sum_change_no_bit(monkeypatch):
    model, known = network(), materials()
    whole = score(model, apart(model), known, FEW, STREAMS, PLAIN)
    monkeypatch.setattr(working_copy, "BLOCK", 13)
    assert all(torch.equal(v, whole[n]) for n, v in score(model, apart(model), known, FEW, STREAMS, PLAIN).items())


def test_the_network_that_is_given_is_not_changed():
    model = network(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).eval()
    model[0].weight.grad = torch.ones(8, 6)
    model[3].bias.requires_grad_(False)
    before, vanilla = state(model), apart(model)
    kept = {name: value.clone() for name, value in vanilla.items()}
    found = score(model, vanilla, materials(), FEW, STREAMS, PLAIN)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(torch.equal(value, kept[name]) for name, value in vanilla.items())
    assert not model.training
    assert torch.equal(model[0].weight.grad, torch.ones(8, 6))
    assert "3.bias" not in found, "what is not trained is not scored"


def test_how_accurate_the_copy_is_after_the_last_step_is_said():
    """A copy that hardly moves is as accurate as its model; one that moves learns the members' labels."""
    model, known = network(), materials()
    still = score(model, apart(model), known, FEW.replace(learning_rate=1e-9), STREAMS, PLAIN)
    kinds = {"members": known.members, "reference": known.reference}
    assert still.accuracy == {kind: accuracy(model, known, records) for kind, records in kinds.items()}
    moved = score(model, apart(model), known, FEW.replace(learning_rate=0.02, steps=200), STREAMS, PLAIN)
    assert moved.accuracy["members"] > max(still.accuracy["members"], moved.accuracy["reference"]) + 0.2
    assert score(model, apart(model), known, FEW.replace(unlearning=0.0), STREAMS, PLAIN).accuracy == {}


def test_the_same_streams_give_the_same_bits_and_others_do_not():
    model, known = network(nn.Linear(6, 8), nn.Dropout(0.4), nn.Linear(8, 3)), materials()
    vanilla = apart(model)
    before = torch.random.get_rng_state()
    first, again = (score(model, vanilla, known, FEW, STREAMS, PLAIN) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), before), "no global generator moves"
    other = score(model, apart(model), known, FEW, STREAMS.child("locate", 1), PLAIN)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["0.weight"], other["0.weight"])


class Odd(nn.Module):
    """Two names for one weight, a head that nothing uses, and a layer of zeros."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6, bias=False)
        self.second = nn.Linear(6, 6, bias=False)
        self.second.weight = self.first.weight
        self.last = nn.Linear(6, 3)
        self.unused = nn.Linear(6, 2)

    def forward(self, x):
        return self.last(torch.tanh(self.second(torch.tanh(self.first(x)))))


def test_tied_weights_stand_once_unused_ones_are_zero_and_so_are_weights_of_zero():
    model, known = Odd(), materials()
    with torch.no_grad():
        model.last.weight[0].zero_()
    once = Scoring(steps=1, batch_size=500, unlearning=0.0)
    found = score(model, {}, known, once, STREAMS, PLAIN)
    assert list(found) == ["first.weight", "last.weight", "last.bias", "unused.weight", "unused.bias"]
    assert found.unused == {"unused.weight", "unused.bias"}
    assert not found["unused.weight"].any()
    loss = functional.cross_entropy(model(known.members.x), known.members.y)
    tied, last = torch.autograd.grad(loss, [model.first.weight, model.last.weight])
    assert torch.allclose(found["first.weight"], (tied * model.first.weight).abs(), atol=1e-7)
    assert last[0].abs().min() > 0
    assert not found["last.weight"][0].any()
    marks = topk_mask(found, 1.0)
    assert not marks["unused.weight"].any()
    assert sum(int(mask.sum()) for mask in marks.values()) == sum(v.numel() for v in found.values()) - 14


def test_half_precision_adds_up_in_float32():
    model, known = network(), materials()
    half = copy.deepcopy(model).bfloat16()
    rounded = half.float()
    many = Scoring(steps=20, batch_size=30, learning_rate=1e-6, weight_decay=0.0)
    expected = score(rounded, apart(model), known, many, STREAMS, PLAIN)
    found = score(copy.deepcopy(model).bfloat16(), apart(model), known, many, STREAMS, PLAIN)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    cast = score(rounded, apart(model), known, many, STREAMS, PLAIN.replace(precision="bfloat16"))
    assert all(value.dtype == torch.float32 for value in cast.values())
    whole = sum(float(v.sum()) for v in expected.values())
    assert sum(float(v.sum()) for v in cast.values()) == pytest.approx(whole, rel=0.05)


def test_float64_networks_are_summed_in_float64():
    model, known = network().double(), materials()
    expected = naive(model, apart(model), known, FEW)
    found = score(model, apart(model), known, FEW, STREAMS, PLAIN)
    assert all(torch.allclose(found[n].double(), v, rtol=1e-6, atol=1e-12) for n, v in expected.items())


def test_the_initial_model_is_asked_by_the_statistics_of_the_batch_where_that_is_chosen():
    """With empty statistics a small network says what it says of small numbers; those of the batch scale them up."""
    model, known = network(nn.Linear(6, 10), nn.BatchNorm1d(10), nn.Dropout(0.5), nn.Linear(10, 3)), materials()
    first = apart(model)
    first["0.weight"] *= 0.01
    found = [
        score(model, first, known, FEW.replace(initial_statistics=one, batch_size=size), STREAMS, PLAIN)
        for one, size in (("running", 16), ("batch", 16), ("batch", 29))
    ]
    vanilla = copy.deepcopy(model)
    vanilla.load_state_dict(first)
    vanilla.eval()
    vanilla[1].train()
    told = vanilla(known.prepare(known.reference.x)).detach().softmax(dim=1)  # Batches of 29 of 30: all are one.
    entropy = float(-(told * told.log()).sum(dim=1).mean()) / math.log(3)
    assert found[2].entropy == pytest.approx(entropy, rel=1e-5)
    assert found[0].entropy != pytest.approx(found[1].entropy, rel=1e-3)
    assert not torch.equal(found[0]["0.weight"], found[1]["0.weight"])
    without = network()
    same = [
        score(without, apart(without), known, FEW.replace(initial_statistics=one), STREAMS, PLAIN)
        for one in ("running", "batch")
    ]
    assert all(torch.allclose(same[0][name], same[1][name], rtol=1e-5) for name in same[0])


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_the_first_step_does_not_depend_on_what_moves_the_copy(optimizer):
    model, known = network(), materials()
    once = Scoring(steps=1, batch_size=16)
    first = score(model, apart(model), known, once, STREAMS, PLAIN)
    assert all(
        torch.equal(v, first[n])
        for n, v in score(model, apart(model), known, once.replace(optimizer=optimizer), STREAMS, PLAIN).items()
    )
    two = [score(model, apart(model), known, FEW.replace(optimizer=o), STREAMS, PLAIN) for o in ("adam", optimizer)]
    assert not torch.equal(two[0]["0.weight"], two[1]["0.weight"])


def test_augmentation_of_members_is_off_unless_asked_for():
    rng = np.random.default_rng(0)
    records = Records.make(rng.integers(0, 256, (30, 8, 8, 1), dtype=np.uint8), np.arange(30) % 3)
    prepare = Preparation(records, torch.device("cpu"))
    parts = [prepare.examples(records, np.arange(a, b)) for a, b in ((0, 15), (0, 0), (15, 30))]
    known = Materials(*parts, prepare, 3)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    flipping = PLAIN.replace(augmentation="flip")
    plain, still = (score(model, apart(model), known, FEW, STREAMS, r) for r in (PLAIN, flipping))
    turned = score(model, apart(model), known, FEW.replace(augmentation="recipe"), STREAMS, flipping)
    assert torch.equal(plain["1.weight"], still["1.weight"])
    assert not torch.equal(plain["1.weight"], turned["1.weight"])
    assert turned.divergence[0] == plain.divergence[0], "non-members are asked about as they are"


def test_a_planted_leak_is_found_in_the_weights_that_hold_it():
    """Members carry a mark that only the first half of the inputs shows, and only its weights know labels by it."""
    rng = np.random.default_rng(0)
    marks = rng.normal(size=(80, 8)) * 3
    x = np.concatenate([marks, rng.normal(size=(80, 8))], axis=1).astype(np.float32)
    x[40:, :8] = 0
    records = Records.make(x, np.arange(80) % 2)
    prepare = Preparation(records, torch.device("cpu"))
    parts = [prepare.examples(records, np.arange(a, b)) for a, b in ((0, 40), (0, 0), (40, 80))]
    model = nn.Linear(16, 2, bias=False)
    with torch.no_grad():
        model.weight.fill_(0.1)
    found = score(model, state(model), Materials(*parts, prepare, 2), FEW, STREAMS, PLAIN)
    share = found["weight"][:, :8].sum() / found["weight"].sum()
    assert share > 0.7
    assert topk_mask(found, 0.25)["weight"][:, :8].sum() == 8


def test_wrong_input_is_refused_with_what_to_do():
    model, known = network(), materials()
    with pytest.raises(InputError, match=r"needs reference non-members.*--reference N"):
        score(model, apart(model), replace(known, reference=known.validation), FEW, STREAMS, PLAIN)
    with pytest.raises(InputError, match="at least 2 members, got 1"):
        score(model, apart(model), replace(known, members=known.members.take(torch.tensor([0]))), FEW, STREAMS, PLAIN)
    with pytest.raises(ModelError, match="the initial state: expected a state of this network: "):
        score(model, {"0.weight": torch.zeros(1)}, known, FEW, STREAMS, PLAIN)
    broken = {name: value * float("nan") for name, value in apart(model).items()}
    with pytest.raises(ModelError, match="initial model answers NaN"):
        score(model, broken, known, FEW, STREAMS, PLAIN)
    with pytest.raises(ModelError, match="nothing to score"):
        score(copy.deepcopy(model).requires_grad_(False), apart(model), known, FEW, STREAMS, PLAIN)
    with torch.no_grad():
        model[0].weight[0, 0] = float("inf")
    with pytest.raises(TrainingDivergedError, match="step 1 of scoring"):
        score(model, apart(network()), known, FEW, STREAMS, PLAIN)
    with pytest.raises(SpecError, match="power"):
        Scoring(power=3)


class Uncopied(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 6))
        self.cached = self.weight * 2

    def forward(self, x):
        return x @ self.weight.T


def test_a_network_that_cannot_be_copied_is_refused():
    with pytest.raises(ModelError, match="cannot be copied"):
        score(Uncopied(), {}, materials(), FEW.replace(unlearning=0.0), STREAMS, PLAIN)
