import numpy as np
import pytest
import torch
from output_contexts import context

from reticent.errors import RolesError
from reticent.outputs.memguard import SLOTS, MemGuard, Search, Surrogate, build, chance, trained
from reticent.procedures.recipe_checks import check, needs
from reticent.training.recipe import Recipe


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def ordered(logits):
    return logits.softmax(dim=1).sort(dim=1, descending=True).values


def logits_of(n, sure, classes=4, seed=0):
    """Answers whose largest logit leads by about `sure`."""
    draw = generator(seed)
    z = torch.randn(n, classes, generator=draw, dtype=torch.float64)
    z[torch.arange(n), torch.randint(0, classes, (n,), generator=draw)] += sure
    return z


@pytest.fixture(scope="module")
def surrogate():
    return trained(ordered(logits_of(200, 7.0)), ordered(logits_of(150, 2.0, seed=1)), (16, 8), 150, generator(2))


def search(surrogate, **changes):
    return Search(surrogate, MemGuard(**changes))


# The surrogate.


@pytest.mark.parametrize("widths", [(5,), (7, 3), (6, 5, 4)])
def test_the_gradient_in_closed_form_is_that_of_autograd(widths):
    network = Surrogate.drawn([4, *widths, 1], generator(), torch.device("cpu"))
    network.biases = [torch.randn(b.shape, generator=generator(1), dtype=torch.float64) for b in network.biases]
    x = ordered(logits_of(50, 1.0)).requires_grad_()
    odds = network(x)
    (expected,) = torch.autograd.grad(odds.sum(), x)
    found, slope = network.with_gradient(x.detach())
    assert torch.allclose(found, odds, rtol=0, atol=1e-13)
    assert torch.allclose(slope, expected, rtol=0, atol=1e-13)
    assert float(expected.abs().max()) > 0


def test_the_surrogate_is_drawn_within_he_s_bounds_and_by_its_generator_alone():
    first, again, other = (Surrogate.drawn([6, 24, 1], generator(s), torch.device("cpu")) for s in (0, 0, 1))
    assert 0.9 < float(first.weights[0].abs().max()) <= 1
    assert float(first.weights[1].abs().max()) <= 0.5
    assert torch.equal(first.weights[0], again.weights[0])
    assert not torch.equal(first.weights[0], other.weights[0])
    assert not any(bool(b.any()) for b in first.biases)


def test_the_surrogate_learns_what_sets_members_apart(surrogate):
    members, others = ordered(logits_of(500, 7.0, seed=8)), ordered(logits_of(500, 2.0, seed=9))
    assert float((surrogate(members) > 0).double().mean()) > 0.9
    assert float((surrogate(others) < 0).double().mean()) > 0.9


def test_more_records_of_one_kind_do_not_move_the_cut():
    members, others = ordered(logits_of(60, 3.0)), ordered(logits_of(60, 2.0, seed=1))
    once = trained(members, others, (8,), 60, generator())
    more = trained(members.repeat(5, 1), others, (8,), 60, generator())
    assert torch.allclose(once(members), more(members), rtol=0, atol=1e-6)


def test_the_surrogate_s_training_is_adam_on_balanced_cross_entropy():
    members, others = ordered(logits_of(30, 3.0)), ordered(logits_of(20, 2.0, seed=1))
    start = Surrogate.drawn([4, 5, 1], generator(), torch.device("cpu"))
    values = [*start.weights, *start.biases]
    moments = [(torch.zeros_like(v), torch.zeros_like(v)) for v in values]
    for step in range(1, 6):
        leaves = [v.clone().requires_grad_() for v in values]
        network = Surrogate(leaves[:2], leaves[2:])
        loss = -network(members).sigmoid().log().mean() - (1 - network(others).sigmoid()).log().mean()
        for i, g in enumerate(torch.autograd.grad(loss, leaves)):
            first, second = moments[i] = (0.9 * moments[i][0] + 0.1 * g, 0.999 * moments[i][1] + 0.001 * g**2)
            values[i] = values[i] - 0.01 * (first / (1 - 0.9**step)) / ((second / (1 - 0.999**step)).sqrt() + 1e-8)
    found = trained(members, others, (5,), 5, generator())
    for value, own in zip(values, [*found.weights, *found.biases], strict=True):
        assert torch.allclose(value, own, rtol=0, atol=1e-9)


# Phase one.


def alone(surrogate, z, c3, limit, steps, label_weight=10.0):
    """Algorithm 1 for one record, by autograd."""
    label, told = int(z.argmax()), z.softmax(dim=0)
    first = float(surrogate(told.sort(descending=True).values[None]))
    best = z
    while c3 <= limit:
        own, e = z, torch.zeros_like(z)
        for count in range(steps + 1):
            e = e.detach().requires_grad_()
            p = (own + e).softmax(dim=0)
            odds = surrogate(p.sort(descending=True).values[None])[0]
            if float(odds.detach()) * first <= 0 and int(p.argmax()) == label:
                break
            if count == steps:
                return best
            others = torch.cat([(own + e)[:label], (own + e)[label + 1 :]])
            lost = torch.relu(others.max() - (own + e)[label])
            loss = odds.abs() + label_weight * lost + c3 * (p - told).abs().sum()
            (g,) = torch.autograd.grad(loss, e)
            e = e - 0.1 * g / g.norm()
        best = (own + e).detach()
        c3 *= 10
    return best


@pytest.mark.parametrize("seed", range(3))
def test_the_search_is_what_one_record_at_a_time_gives(surrogate, seed):
    logits = logits_of(6, 4.0, seed=seed)
    found = search(surrogate, limit=10.0, steps=60)(logits)
    for row, z in enumerate(logits):
        expected = alone(surrogate, z, 0.1, 10.0, 60)
        assert torch.allclose(found[row], expected, rtol=0, atol=1e-8), row
    assert not torch.equal(found, logits)


def test_the_search_turns_the_surrogate_s_decision_and_never_the_label(surrogate):
    logits = torch.cat([logits_of(200, 7.0), logits_of(200, 1.0, seed=4)])
    found = search(surrogate)(logits)
    assert torch.equal(found.argmax(dim=1), logits.argmax(dim=1))
    before, after = surrogate(ordered(logits)), surrogate(ordered(found))
    changed = (found != logits).any(dim=1)
    assert float(changed.double().mean()) > 0.5
    assert bool((before * after <= 0)[changed].all())
    assert torch.equal(found[~changed], logits[~changed])
    assert float(after[changed].abs().mean()) < 0.3 * float(before[changed].abs().mean())


def test_more_queries_than_slots_are_all_served_and_each_by_itself(surrogate):
    logits = logits_of(SLOTS + 40, 6.0)
    quick = search(surrogate, steps=20, limit=1.0)
    found = quick(logits)
    assert torch.equal(quick(logits[SLOTS:]), found[SLOTS:])
    assert torch.equal(quick(logits.flip(0)).flip(0), found)
    assert quick(logits[:0]).shape == (0, 4)


def test_an_undecided_surrogate_and_a_saturated_answer_leave_everything(surrogate):
    flat = Surrogate([torch.zeros_like(w) for w in surrogate.weights], [torch.zeros_like(b) for b in surrogate.biases])
    logits = logits_of(5, 4.0)
    assert torch.equal(search(flat)(logits), logits)
    saturated = torch.tensor([[1e37, 0.0, -1e37, 5.0], [800.0, 0.0, 0.0, 1.0]], dtype=torch.float64)
    assert torch.equal(search(surrogate, steps=30)(saturated), saturated)


# Phase two, and the whole.

FEATURES = np.random.default_rng(0).normal(size=(120, 6)).astype(np.float32)


def test_the_chance_is_the_budget_over_the_distance(surrogate):
    logits = torch.tensor([[3.0, 0.0, 0.0, 0.0], [7.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    found = search(surrogate)(logits)
    distance = (found.softmax(dim=1) - logits.softmax(dim=1)).abs().sum(dim=1)
    assert bool((distance > 0).all())
    for budget in (1e-3, 5e-2, 2.0):
        expected = [min(1.0, budget / float(d)) for d in distance]
        assert torch.allclose(chance(surrogate, logits, found, budget), torch.tensor(expected, dtype=torch.float64))


def test_no_noise_is_added_that_leaves_the_surrogate_as_sure(surrogate):
    sure = torch.tensor([[9.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    unsure = search(surrogate)(sure)
    assert chance(surrogate, sure, unsure, 2.0).tolist() == [1.0]
    assert chance(surrogate, unsure, sure, 2.0).tolist() == [0.0]
    assert chance(surrogate, sure, sure, 2.0).tolist() == [0.0]


def test_the_expected_distance_is_the_budget():
    known = context(FEATURES)
    logits = known.ask(torch.from_numpy(FEATURES[:1])).repeat(4000, 1)
    x = torch.arange(24000.0).view(4000, 6)
    whole = build(MemGuard(budget=2.0), known)(logits[:1], x[:1])
    largest = float((whole.softmax(dim=1) - logits[:1].softmax(dim=1)).abs().sum())
    assert largest > 0
    budget = 0.3 * largest
    answers = build(MemGuard(budget=budget), known)(logits, x)
    distances = (answers.softmax(dim=1) - logits.softmax(dim=1)).abs().sum(dim=1)
    assert sorted({round(d, 12) for d in distances.tolist()}) == [0.0, round(largest, 12)]
    # The share of noisy answers is binomial with 0.3: five standard errors.
    assert abs(float(distances.mean()) - budget) < 5 * largest * (0.3 * 0.7 / 4000) ** 0.5


def test_the_same_query_gets_the_same_draw_and_other_models_other_draws():
    def noisy(known):
        logits, x = known.ask(torch.from_numpy(FEATURES)), known.prepare(torch.from_numpy(FEATURES))
        answer = build(MemGuard(budget=0.05, steps=60, limit=1.0, training_steps=60), known)
        return answer(logits, x), answer(logits, x), (answer(logits, x) != logits).any(dim=1)

    first, again, drawn = noisy(context(FEATURES))
    assert torch.equal(first, again)
    assert 0 < float(drawn.double().mean()) < 1
    assert not torch.equal(drawn, noisy(context(FEATURES, seed=1))[2])


def test_no_budget_is_no_defense_and_asks_the_model_nothing():
    known = context(FEATURES, reference=[])
    logits = logits_of(5, 3.0)
    assert build(MemGuard(budget=0.0), known)(logits, torch.zeros(5, 6)) is logits
    assert known.ask.inputs == []


def test_the_surrogate_is_trained_on_members_and_reference_and_nobody_else():
    known = context(FEATURES, members=range(10, 50), reference=range(60, 90))
    build(MemGuard(training_steps=1), known)
    assert torch.equal(torch.cat(known.ask.inputs), torch.from_numpy(np.r_[FEATURES[10:50], FEATURES[60:90]]))


def test_reference_non_members_are_needed_and_this_is_said_before_training():
    assert needs(Recipe(output=MemGuard())) == {"memguard": ("reference",)}
    with pytest.raises(RolesError, match="memguard needs the defender's reference non-members"):
        check(Recipe(output=MemGuard()), reference=0)
    with pytest.raises(RolesError, match="at least one of each, got 60 and 0: give --reference N"):
        build(MemGuard(), context(FEATURES, reference=[]))
