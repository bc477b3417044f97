import numpy as np
import pytest
import torch
from output_contexts import context

from reticent.errors import RolesError
from reticent.outputs.hamp_output import HampOutput, build
from reticent.procedures.recipe_checks import check, needs
from reticent.training.recipe import Recipe

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (80, 16)).astype(np.float32)
IMAGES = RNG.integers(0, 256, (80, 3, 4, 5), dtype=np.uint8)
TOKENS = RNG.integers(0, 11, (80, 6))


def queries(known, x):
    stored = torch.from_numpy(x)
    return known.ask(stored), known.prepare(stored)


def inputs(known, spec=None, n=80):
    """Random inputs that n different queries lead to."""
    answer = build(spec or HampOutput(), known)
    known.ask.inputs.clear()
    answer(torch.zeros(n, known.classes, dtype=torch.float64), torch.arange(float(n)).view(-1, 1))
    return known.ask.inputs[0]


def test_values_are_those_of_the_random_input_in_the_order_of_the_query():
    known = context(IMAGES)
    logits, x = queries(known, IMAGES)
    known.ask.inputs.clear()
    answers = build(HampOutput(), known)(logits, x)
    random = known.ask(known.ask.inputs[0])
    assert torch.equal(answers.argsort(dim=1), logits.argsort(dim=1))
    assert torch.equal(answers.sort(dim=1).values, random.sort(dim=1).values)
    assert not torch.equal(random.argsort(dim=1), logits.argsort(dim=1))


def test_it_is_what_one_record_at_a_time_gives():
    known = context(BITS)
    logits, x = queries(known, BITS)
    known.ask.inputs.clear()
    answers = build(HampOutput(), known)(logits, x)
    for row, (own, drawn) in enumerate(zip(logits.tolist(), known.ask.inputs[0], strict=True)):
        left = sorted(known.ask(drawn[None])[0].tolist())
        expected = [0.0] * known.classes
        for label in sorted(range(known.classes), key=lambda c: own[c], reverse=True):
            expected[label] = left.pop()
        assert answers[row].tolist() == expected


def test_classes_that_tie_keep_their_order_and_the_top_its_tie():
    known = context(BITS)
    logits = torch.tensor([[1.0, 3.0, 1.0, 2.0], [5.0, 0.0, 5.0, 1.0]], dtype=torch.float64)
    answers = build(HampOutput(), known)(logits, torch.arange(2.0).view(-1, 1))
    assert answers[0].argsort(descending=True).tolist() == [1, 3, 0, 2]
    assert answers[1, 0] == answers[1, 2] > answers[1, 3] > answers[1, 1]


def test_random_pixels_are_bytes_of_the_image_s_shape_and_uniform():
    drawn = inputs(context(IMAGES))
    assert drawn.dtype == torch.uint8
    assert drawn.shape == (80, 3, 4, 5)
    # 4,800 draws: five standard errors of the mean 127.5 and of the share of each quarter.
    assert abs(float(drawn.double().mean()) - 127.5) < 5 * 73.9 / 4800**0.5
    shares = torch.bincount(drawn.flatten().long() // 64, minlength=4) / 4800
    assert float((shares - 0.25).abs().max()) < 5 * (0.25 * 0.75 / 4800) ** 0.5


def test_random_bits_are_fair():
    drawn = inputs(context(BITS), n=500)
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    assert abs(float(drawn.mean()) - 0.5) < 5 * 0.5 / 8000**0.5


def test_random_tokens_are_of_the_vocabulary_and_all_of_it():
    drawn = inputs(context(TOKENS))
    assert drawn.dtype == torch.int64
    assert drawn.shape == (80, 6)
    assert set(drawn.unique().tolist()) == set(range(11))


def test_each_feature_is_drawn_by_what_it_is():
    columns = np.stack([BITS[:, 0], RNG.random(80), RNG.normal(size=80), np.full(80, 0.5)], axis=1).astype(np.float32)
    drawn = inputs(context(columns), n=2000)
    assert set(drawn[:, 0].unique().tolist()) == {0.0, 1.0}
    for uniform in (drawn[:, 1], drawn[:, 3]):
        assert 0 <= float(uniform.min()) < 0.01 < 0.99 < float(uniform.max()) <= 1
    assert abs(float(drawn[:, 2].std()) - 1) < 5 / 4000**0.5
    assert float(drawn[:, 2].min()) < -2


@pytest.mark.parametrize(
    ("features", "low", "high", "spread"), [("bits", 0, 1, 0.5), ("uniform", 0, 1, 0.2887), ("normal", -6, 6, 1.0)]
)
def test_the_rule_can_be_chosen(features, low, high, spread):
    drawn = inputs(context(RNG.normal(size=(80, 4)).astype(np.float32)), HampOutput(features=features), n=1000)
    assert low <= float(drawn.min())
    assert float(drawn.max()) <= high
    assert abs(float(drawn.std()) - spread) < 0.05


def test_columns_come_from_reference_non_members_each_by_itself():
    x = np.arange(320, dtype=np.float32).reshape(80, 4)
    drawn = inputs(context(x), HampOutput(features="columns"), n=300)
    rows = drawn.long() // 4
    assert torch.equal(drawn.long() % 4, torch.arange(4).expand(300, 4))
    assert set(rows.unique().tolist()) == set(range(40, 80))
    assert bool((rows[:, 0] != rows[:, 1]).any())


def test_members_values_have_no_part_in_the_random_inputs():
    x = RNG.normal(size=(80, 4)).astype(np.float32)
    other = x.copy()
    other[:40] *= 3
    assert torch.equal(inputs(context(x)), inputs(context(other)))


def test_repeated_queries_tell_nothing_new_unless_draws_are_fresh():
    known = context(BITS)
    logits, x = queries(known, BITS)
    same, fresh = build(HampOutput(), known), build(HampOutput(fresh=True), known)
    first = same(logits, x)
    assert all(torch.equal(same(logits, x), first) for _ in range(3))
    one, two = fresh(logits, x), fresh(logits, x)
    assert not bool((one == two).all(dim=1).any())
    assert torch.equal(one.argsort(dim=1), two.argsort(dim=1))
    assert torch.equal(build(HampOutput(fresh=True), known)(logits, x), one)


def test_models_have_secrets_of_their_own():
    assert not torch.equal(inputs(context(BITS)), inputs(context(BITS, seed=1)))


def test_one_logit_heads_are_answered_by_the_sign():
    known = context(BITS, classes=2)
    z = torch.tensor([-3.0, 2.0, 1e-9, -40.0], dtype=torch.float64)
    widened = torch.stack([torch.zeros(4, dtype=torch.float64), z], dim=1)
    answers = build(HampOutput(), known)(widened, torch.arange(4.0).view(-1, 1))
    assert torch.equal(answers[:, 1] > answers[:, 0], z > 0)


def test_columns_need_reference_non_members_and_this_is_said_before_training():
    spec = HampOutput(features="columns")
    assert needs(Recipe(output=spec)) == {"hamp-output": ("reference",)}
    assert needs(Recipe(output=HampOutput())) == {}
    with pytest.raises(RolesError, match="hamp-output needs the defender's reference non-members"):
        check(Recipe(output=spec), reference=0)
    check(Recipe(output=HampOutput()), reference=0)
    with pytest.raises(RolesError, match=r"features='columns' expected .* got none: give --reference N"):
        build(spec, context(BITS, reference=[]))
