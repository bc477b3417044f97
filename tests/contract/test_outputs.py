"""What holds for every output defense: the label stays to the last record, answers are finite, rows stand alone."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reticent.attacks import ATTACKS, needs_models, score
from reticent.attacks.base import Problem
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.models.mlp import MLP
from reticent.outputs import OUTPUTS, Context
from reticent.outputs.hamp_output import HampOutput
from reticent.population import stored_signals
from reticent.population.population import Population
from reticent.population.train import train
from reticent.signals.queries import Queries
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.recipe import Recipe

NAMES = sorted(OUTPUTS)
OF_LOGITS = {"rounding", "temperature", "top-k"}
"""Functions of the logits alone: `tests/outputs/test_out_attacked.py` has every attack look at what they answer."""
CHOSEN = {"memguard": {"steps": 5, "training_steps": 5, "widths": (6,)}, "top-k": {"k": 1}}
"""Options that make a search short, and that hide something of three classes."""
EXTREMES = (0.0, -0.0, 1.0, 1.0 + 2**-30, 1e-40, -1e-40, 1e37, -1e37, 1e37 * (1 - 1e-7), 300.0, -800.0, 1e-300)


def spec_of(name, **options):
    return OUTPUTS[name].spec(**CHOSEN.get(name, {}), **options)


def records(kind, classes=3, n=60):
    rng, n = np.random.default_rng(7), max(n, classes)
    x = {
        "image": lambda: rng.integers(0, 256, (n, 1, 4, 4), dtype=np.uint8),
        "tabular": lambda: rng.normal(size=(n, 5)).astype(np.float32),
        "bits": lambda: rng.integers(0, 2, (n, 14)).astype(np.float32),
        "tokens": lambda: rng.integers(0, 11, (n, 6)),
    }[kind]()
    return Records.make(x, np.arange(n) % classes)


def context(kind="tabular", classes=3):
    """A model that is linear in each record alone, bit for bit, whatever else is in the batch."""
    data = records(kind, classes)
    prepare = Preparation(data, torch.device("cpu"))
    width = int(np.prod(data.x.shape[1:]))
    weights = torch.randn(classes, width, generator=torch.Generator().manual_seed(3), dtype=torch.float64)

    def ask(x):
        assert x.dtype == torch.from_numpy(data.x).dtype
        assert x.shape[1:] == data.x.shape[1:]
        return (prepare(x).double().flatten(1)[:, None, :] * weights).sum(dim=2)

    members, reference = (prepare.examples(data, ids) for ids in (np.arange(30), np.arange(30, 60)))
    return Context(ask, classes, prepare, members, reference, stream), data


def stream(name):
    return torch.Generator().manual_seed(sum(map(ord, name)))


def queries(data, known, n=24):
    stored = torch.from_numpy(data.x[:n])
    return known.ask(stored), known.prepare(stored)


NUMBERS = st.one_of(st.floats(-30, 30), st.sampled_from(EXTREMES))


@st.composite
def some_logits(draw):
    shape = (draw(st.integers(1, 5)), draw(st.sampled_from([2, 3, 4, 7, 30, 100])))
    return torch.from_numpy(draw(arrays(np.float64, shape, elements=NUMBERS, fill=st.floats(-30, 30))))


def stored_top(logits):
    """Which columns share the largest number once stored."""
    stored = logits.float()
    return stored == stored.amax(dim=1, keepdim=True)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(logits=some_logits())
def test_the_largest_columns_stay_the_largest_and_answers_are_finite(name, logits):
    known, _ = context(classes=logits.shape[1])
    x = torch.arange(len(logits) * 5, dtype=torch.float32).view(-1, 5)
    before = logits.clone()
    answers = OUTPUTS[name].build(spec_of(name), known)(logits, x)
    assert torch.equal(logits, before)
    assert answers.dtype == torch.float64
    assert answers.shape == logits.shape
    assert bool((answers.abs() <= 1e37).all())
    assert torch.equal(stored_top(answers), stored_top(logits))


@pytest.mark.parametrize("kind", ["image", "tabular", "bits", "tokens"])
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_record_is_answered_with_the_model_s_label(name, kind):
    known, data = context(kind)
    logits, x = queries(data, known)
    answers = OUTPUTS[name].build(spec_of(name), known)(logits, x)
    assert torch.equal(answers.argmax(dim=1), logits.argmax(dim=1))
    assert bool(torch.isfinite(answers).all())


@pytest.mark.parametrize("kind", ["image", "bits"])
@pytest.mark.parametrize("name", NAMES)
def test_the_same_query_gets_the_same_answer_in_any_batch_and_any_order(name, kind):
    known, data = context(kind)
    logits, x = queries(data, known)
    asked = OUTPUTS[name].build(spec_of(name), known)
    whole = asked(logits, x)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(5))
    assert torch.equal(asked(logits[order], x[order]), whole[order])
    assert torch.equal(asked(logits[3:4], x[3:4]), whole[3:4])
    again = OUTPUTS[name].build(spec_of(name), known)
    assert torch.equal(again(logits, x), whole)
    doubled = asked(torch.cat([logits, logits]), torch.cat([x, x]))
    assert torch.equal(doubled[: len(x)], doubled[len(x) :])


@pytest.mark.parametrize("name", NAMES)
def test_two_classes_are_served(name):
    known, data = context(classes=2)
    logits, x = queries(data, known)
    widened = torch.stack([torch.zeros(len(x), dtype=torch.float64), logits[:, 1] - logits[:, 0]], dim=1)
    answers = OUTPUTS[name].build(spec_of(name), known)(widened, x)
    assert torch.equal(answers[:, 1] > answers[:, 0], widened[:, 1] > 0)


@pytest.mark.parametrize("name", NAMES)
def test_no_global_random_number_is_drawn_and_no_record_is_changed(name):
    known, data = context("bits")
    logits, x = queries(data, known)
    kept, state = x.clone(), torch.random.get_rng_state()
    before = known.members.x.clone(), known.reference.x.clone()
    OUTPUTS[name].build(spec_of(name), known)(logits, x)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(x, kept)
    assert torch.equal(known.members.x, before[0])
    assert torch.equal(known.reference.x, before[1])


# Through the population, with real networks.

TINY = Recipe(architecture=MLP(widths=(16,)), epochs=10, batch_size=8, learning_rate=1e-2)
LIVE = {"memguard": {"steps": 80, "training_steps": 60, "widths": (6,)}, "top-k": {"k": 1}}
"""Options with which every defense changes some answers of these networks."""


def live(name):
    return OUTPUTS[name].spec(**LIVE.get(name, {}))


def population(output, data, model=None, *, mirror=False, models=4):
    roles = Roles.split(data, 0, audited=len(data) - 30, reference=30)
    membership = Membership.draw(models, len(roles.audited), 0)
    recipe = TINY if output is None else TINY.replace(output=output)
    recipe = recipe if model is None else recipe.replace(architecture=model)
    return Population(recipe, data, roles, membership, 0, Queries(mirror=mirror))


def seen(made, store):
    done = train(made, store)
    return stored_signals.signals(made, store, done)[0], done


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("outputs") / "store").open()


@pytest.mark.parametrize("kind", ["image", "bits"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "none"])
def test_accuracy_and_the_label_only_attack_do_not_move_by_one_bit(name, kind, shared):
    data = records(kind, n=150)
    mirror = kind == "image"
    plain, defended = population(None, data, mirror=mirror), population(live(name), data, mirror=mirror)
    for model in range(4):
        assert defended.training_id(model) == plain.training_id(model)
        assert defended.signals_id(model) != plain.signals_id(model)
    before, first = seen(plain, shared)
    after, second = seen(defended, shared)
    assert not any(one.fresh for one in second)
    for one, other in zip(first, second, strict=True):
        for fact in ("accuracy_members", "accuracy_non_members", "largest_class_share"):
            assert getattr(one.facts, fact) == getattr(other.facts, fact)
    assert after.queries == before.queries == (2 if mirror else 1)
    assert not np.array_equal(before.margins[:, :], after.margins[:, :])
    scores = [attacked("correctness", plain, one) for one in (before, after)]
    assert np.array_equal(scores[0], scores[1])
    assert 0 < scores[0].mean() < 1


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_LOGITS])
def test_no_attack_stumbles_over_what_a_defense_answers(name, shared):
    made = population(None if name == "none" else live(name), records("bits", n=150), models=6)
    signals, _ = seen(made, shared)
    for attack in sorted(name for name in ATTACKS if not needs_models(name)):
        scores = attacked(attack, made, signals)
        assert scores.shape == (6, 120), attack
        assert np.isfinite(scores).all(), attack


def attacked(name, made, signals):
    entry = ATTACKS[name]
    spec = entry.brief.replace(steps=4) if entry.fitted else entry.brief  # A network need not learn anything here.
    return score(spec, Problem.make(signals, made.membership))


def test_answers_of_one_model_say_nothing_to_another_about_its_draws(shared):
    data = records("bits", n=150)
    signals, _ = seen(population(HampOutput(), data), shared)
    ranks = np.sort(np.asarray(signals.logits[np.arange(4), slice(0, 120)]), axis=2)
    assert len({ranks[model].tobytes() for model in range(4)}) == 4
