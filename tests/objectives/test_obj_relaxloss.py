import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from objective_twins import answers, batches, built, compare, context, evaluate, softmax

from reticent.data.records import Records
from reticent.errors import ReticentError, SpecError, TrainingDivergedError
from reticent.findings.training import ProcedureFacts
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES, Batch
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.objectives.relaxloss import RelaxLoss, check
from reticent.procedures.plain import train
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

PLAIN = built(CrossEntropy())
PAPER = {"variant": "A", "detach": True}
"""The step as the paper reads."""


def twin(level, upper, variant, detach, epoch):
    """RelaxLoss record by record, with gradients by hand: the published steps, one after the other."""

    def of(logits, targets):
        size, classes = logits.shape
        p = [softmax(row) for row in logits]
        losses = [-math.log(p[i][y]) for i, y in enumerate(targets)]
        slope = np.array([p[i] - np.eye(classes)[y] for i, y in enumerate(targets)]) / size
        mean = sum(losses) / size
        if epoch % 2 == 0:
            return (mean - level, slope) if mean > level else (level - mean, -slope)
        if mean > level:
            return mean, slope
        total, gradient = 0.0, np.zeros_like(logits)
        for i, y in enumerate(targets):
            target = np.full(classes, (1 - min(p[i][y], upper)) / (classes - 1))
            target[y] = min(p[i][y], upper)
            soft = -sum(target[j] * math.log(p[i][j]) for j in range(classes))
            bend = p[i] - target
            if not detach and p[i][y] <= upper:
                rise = p[i][y] * (np.eye(classes)[y] - p[i])  # d p_y / d z
                for j in range(classes):
                    bend = bend - (rise if j == y else -rise / (classes - 1)) * math.log(p[i][j])
            if variant == "A":
                total, gradient[i] = total + soft, bend
            else:
                wrong = p[i].argmax() != y
                total += wrong * soft - losses[i]
                gradient[i] = wrong * bend - (p[i] - np.eye(classes)[y])
        return total / size, gradient / size

    return of


@pytest.mark.parametrize("variant", ["A", "B"])
@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize("upper", [1.0, 0.3])
def test_loss_and_gradient_are_those_of_a_slow_twin(variant, detach, upper):
    branches = set()
    for number, batch in enumerate(batches()):
        level = (0.1, 0.6)[number % 2]
        objective = built(RelaxLoss(level=level, upper=upper, variant=variant, detach=detach), batch.classes)
        for epoch in (0, 1):
            compare(objective, twin(level, upper, variant, detach, epoch), batch, epoch)
            branches.add((epoch, evaluate(PLAIN, batch.logits, batch.targets)[0] > level))
    assert branches == {(0, True), (0, False), (1, True), (1, False)}


def test_an_even_epoch_below_the_level_climbs_with_exactly_the_opposite_gradient():
    logits = answers([math.exp(-0.2), 1 - math.exp(-0.2)], [1 - math.exp(-0.2), math.exp(-0.2)])
    plain, slope = evaluate(PLAIN, logits, [0, 1])
    loss, gradient = evaluate(built(RelaxLoss(level=0.5), 2), logits, [0, 1], epoch=4)
    assert (plain, loss) == (pytest.approx(0.2), pytest.approx(0.3))
    assert (gradient == -slope).all()
    assert abs(slope).max() > 0.05


def test_an_even_epoch_at_the_level_has_neither_loss_nor_gradient():
    logits = np.zeros((3, 5))
    level = evaluate(PLAIN, logits, [0, 1, 2])[0]
    objective = OBJECTIVES["relaxloss"].build(RelaxLoss(level=level))
    assert level == pytest.approx(math.log(5))
    loss, gradient = evaluate(objective, logits, [0, 1, 2])
    assert loss == 0
    assert not gradient.any()


def test_an_odd_epoch_below_the_level_learns_the_flattened_target():
    logits = answers([0.4, 0.3, 0.2, 0.1])
    assert evaluate(PLAIN, logits, [0])[0] == pytest.approx(0.916291, abs=1e-6)
    loss, gradient = evaluate(built(RelaxLoss(level=1.0, **PAPER), 4), logits, [0], epoch=1)
    assert loss == pytest.approx(1.389715, abs=1e-6)
    np.testing.assert_allclose(gradient, [[0, 0.1, 0, -0.1]], atol=1e-12)  # p - t, t = (.4, .2, .2, .2)


def test_upper_caps_what_the_target_gives_the_label():
    p = np.full(100, 0.5 / 99)
    p[0] = 0.5
    _, gradient = evaluate(built(RelaxLoss(level=1.0, upper=0.1, **PAPER), 100), answers(p), [0], epoch=1)
    np.testing.assert_allclose(p - gradient[0], [0.1, *[0.9 / 99] * 99], atol=1e-12)


@given(st.lists(st.floats(-30, 30), min_size=4, max_size=4), st.floats(0.01, 1))
def test_flattened_targets_are_probabilities(row, upper):
    logits = np.array([row])
    objective = built(RelaxLoss(level=1.3862, upper=upper, **PAPER), 4)
    plain, slope = evaluate(PLAIN, logits, [0])
    _, gradient = evaluate(objective, logits, [0], epoch=1)
    target = softmax(logits[0]) - gradient[0]
    assert target.sum() == pytest.approx(1)
    assert target.min() >= -1e-12
    if plain <= 1.3862:
        assert target[0] <= upper + 1e-12
        assert np.ptp(target[1:]) < 1e-12
    else:
        assert (gradient == slope).all()


def test_gradients_flow_through_targets_unless_they_are_detached():
    logits = answers([0.6, 0.3, 0.1])
    constant = evaluate(built(RelaxLoss(**PAPER), 3), logits, [0], epoch=1)
    flowing = evaluate(built(RelaxLoss(variant="A"), 3), logits, [0], epoch=1)
    assert constant[0] == flowing[0]
    assert abs(constant[1] - flowing[1]).max() > 0.01


def test_form_b_only_climbs_on_correct_records_and_flattens_wrong_ones_too():
    logits, targets = answers([0.6, 0.3, 0.1], [0.5, 0.4, 0.1]), [0, 1]
    _, slope = evaluate(PLAIN, logits, targets)
    _, a = evaluate(built(RelaxLoss(variant="A"), 3), logits, targets, epoch=1)
    _, b = evaluate(built(RelaxLoss(), 3), logits, targets, epoch=1)
    np.testing.assert_allclose(b[0], -slope[0], atol=1e-15)
    np.testing.assert_allclose(b[1], a[1] - slope[1], atol=1e-15)


def test_form_b_takes_a_tie_for_a_mistake():
    tied = answers([0.4, 0.4, 0.2])
    both = [evaluate(built(RelaxLoss(variant="B"), 3), tied, [label], epoch=1)[0] for label in (0, 1)]
    assert both[0] == pytest.approx(both[1])


def test_the_branch_is_taken_on_the_mean_of_the_whole_batch():
    easy, hard = [0.9, 0.05, 0.05], [0.05, 0.9, 0.05]
    objective = built(RelaxLoss(level=1.0, variant="A"), 3)
    both, _ = evaluate(objective, answers(easy, hard), [0, 0], epoch=1)
    assert both == pytest.approx(evaluate(PLAIN, answers(easy, hard), [0, 0])[0])
    alone, _ = evaluate(objective, answers(easy), [0], epoch=1)
    assert alone > 2 * evaluate(PLAIN, answers(easy), [0])[0]


def test_the_parity_is_that_of_the_epoch_alone_and_starts_again_in_each_run_of_the_loop():
    logits, targets = answers([0.6, 0.3, 0.1]), [0]
    objective = built(RelaxLoss(), 3)
    by_epoch = [evaluate(objective, logits, targets, epoch)[0] for epoch in range(6)]
    assert by_epoch[0] != by_epoch[1]
    assert by_epoch == by_epoch[:2] * 3
    for epoch in (3, 2):  # one that is built anew after an interruption goes on as the old one would have
        assert evaluate(built(RelaxLoss(), 3), logits, targets, epoch)[0] == by_epoch[epoch]
    objective.begin(context(3))  # a second stage, after an odd number of epochs
    assert evaluate(objective, logits, targets, 0)[0] == by_epoch[0]


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_level_of_zero_is_cross_entropy_to_the_bit(epoch):
    for batch in batches(10):
        plain, slope = evaluate(PLAIN, batch.logits, batch.targets)
        loss, gradient = evaluate(built(RelaxLoss(level=0.0), batch.classes), batch.logits, batch.targets, epoch)
        assert loss == plain
        assert (gradient == slope).all()


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_loss_that_is_no_number_stays_one_so_that_the_loop_sees_it(epoch):
    logits = torch.tensor([[math.nan, 0.0, 0.0]])
    for variant in ("A", "B"):
        loss = built(RelaxLoss(variant=variant), 3)(logits, torch.tensor([0]), Batch(torch.arange(1), epoch))
        assert math.isnan(loss)


def test_very_sure_answers_give_finite_losses_and_gradients():
    logits = np.array([[200.0, 0, -200], [-200, 0, 200.0]])
    for variant in ("A", "B"):
        for detach in (True, False):
            for upper in (1.0, 0.3):
                objective = built(RelaxLoss(variant=variant, detach=detach, upper=upper, level=1.0), 3)
                for rows in (logits[:1], logits):
                    loss, gradient = evaluate(objective, rows, [0] * len(rows), epoch=1)
                    assert np.isfinite(loss)
                    assert np.isfinite(gradient).all()


def trained(objective, **options):
    rng = np.random.default_rng(0)
    y = np.arange(48) % 3
    records = Records.make((rng.normal(size=(48, 6)) + 3 * np.eye(6)[y]).astype(np.float32), y)
    prepare = Preparation(records, torch.device("cpu"))
    members, none = (prepare.examples(records, np.arange(count)) for count in (48, 0))
    recipe = Recipe(architecture=MLP(widths=(16,)), objective=objective, batch_size=16, learning_rate=0.01)
    made = train(
        recipe.replace(**({"epochs": 21} | options)), Materials(members, none, none, prepare, 3), Streams(0, 0)
    )
    with torch.no_grad():
        return made, torch.nn.functional.cross_entropy(made.model(members.x), members.y).item()


@pytest.mark.parametrize("variant", ["A", "B"])
def test_training_holds_the_level_where_plain_training_goes_on_down(variant):
    assert trained(CrossEntropy())[1] < 0.1
    for level in (0.3, 0.6):
        made, loss = trained(RelaxLoss(level=level, variant=variant, detach=variant == "A"))
        assert loss == pytest.approx(level, abs=0.15)
        assert made.facts == ProcedureFacts()


def test_a_level_that_is_never_reached_leaves_plain_training_to_the_bit():
    plain, relaxed = (trained(objective, epochs=4)[0] for objective in (CrossEntropy(), RelaxLoss(level=1e-3)))
    states = (made.model.state_dict() for made in (plain, relaxed))
    assert all(torch.equal(a, b) for a, b in zip(*(state.values() for state in states), strict=True))
    assert list(relaxed.facts.notices) == [
        "relaxloss never acted, since the mean loss of no batch fell to the level of 0.001: what was minimised "
        "is cross-entropy alone. Give a higher level, or train longer."
    ]
    assert trained(RelaxLoss(level=0.0), epochs=1)[0].facts == ProcedureFacts()


def test_a_climb_without_bound_ends_with_an_error_that_says_what_to_do():
    with pytest.raises(TrainingDivergedError, match="clip the gradient"):
        trained(RelaxLoss(level=1.0, variant="B"), optimizer="sgd", learning_rate=1e20)


def test_the_default_is_the_released_form_b_of_which_the_gradients_are_not_detached():
    assert (RelaxLoss().variant, RelaxLoss().detach) == ("B", False)
    rng = np.random.default_rng(1)
    apart = []
    for _ in range(5):
        logits, targets = rng.normal(size=(32, 30)), rng.integers(0, 30, 32)
        logits[np.arange(32), targets] += 4
        form_a, form_b = ({"variant": v} for v in "AB")
        for options in (form_a, form_b):
            objective = built(RelaxLoss(level=2.0, **options), 30)
            _, gradient = evaluate(objective, logits, targets, epoch=1)
            _, slope = twin(2.0, 1.0, options["variant"], False, 1)(logits, targets)
            np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-9)
        _, released = evaluate(built(RelaxLoss(level=2.0, variant="A"), 30), logits, targets, epoch=1)
        _, paper = evaluate(built(RelaxLoss(level=2.0, **PAPER), 30), logits, targets, epoch=1)
        apart.append(np.linalg.norm(paper - released) / np.linalg.norm(released))
    assert min(apart) > 0.3  # detaching is another method, not a detail


def test_a_level_that_chance_already_meets_is_refused():
    with pytest.raises(
        SpecError, match=r"level: expected less than ln C = 0\.6931.* 2 classes .*got 1 .*nothing would be"
    ):
        check(RelaxLoss(), 2)
    with pytest.raises(ReticentError, match=r"ln C = 2\.303"):
        check(RelaxLoss(level=math.log(10)), 10)
    check(RelaxLoss(level=0.69), 2)


@pytest.mark.parametrize("options", [{"level": -0.1}, {"upper": 0.0}, {"upper": 1.1}, {"variant": "C"}])
def test_options_out_of_range_are_refused_by_name(options):
    with pytest.raises(SpecError, match=f"relaxloss: {next(iter(options))}: expected"):
        RelaxLoss(**options)
