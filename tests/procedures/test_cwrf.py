"""CWRF: the exact checks of the algorithm (rates, values, masks, bits that stay), its ablations, what is refused."""

import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from random_records import images, noise
from random_records import materials as divided
from torch import nn

from reticent.errors import InputError, ModelError, SpecError
from reticent.jobs.defenses import defended
from reticent.jobs.recipes import build_recipe
from reticent.locate.topk_mask import jaccard, topk_mask
from reticent.locate.weights import Scoring, score
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.user import Factory
from reticent.objectives import OBJECTIVES
from reticent.objectives.relaxloss import RelaxLoss
from reticent.procedures import PROCEDURES, cwrf
from reticent.procedures.base import snapshot
from reticent.procedures.cwrf import CWRF, repair, train
from reticent.procedures.dpsgd import DPSGD
from reticent.procedures.recipe_checks import check, needs
from reticent.procedures.selena import Selena
from reticent.training.loop import accuracy
from reticent.training.materials import forward, untrained
from reticent.training.recipe import Plain, Recipe
from reticent.training.run import Run
from reticent.training.start import Frozen, Start
from reticent.training.streams import Streams

STREAMS = Streams(5, 1)
QUICK = CWRF(rate=0.2, scoring_steps=4, tuning_epochs=3)
SMALL = Recipe(
    architecture=MLP(widths=(8,)), procedure=QUICK, objective=RelaxLoss(level=0.5), epochs=5, batch_size=8,
    learning_rate=0.01,
)  # fmt: skip
PICTURES = SMALL.replace(architecture=CNN(widths=(4,)))
OPTIMIZERS = {
    "sgd": {"optimizer": "sgd", "learning_rate": 0.1, "weight_decay": 0.05},
    "adam": {"weight_decay": 0.05},
    "adamw": {"optimizer": "adamw", "weight_decay": 0.05},
}
VARIANTS = ("cwrf", "remove", "rewind-train-vulnerable")


def materials(records, members=24):
    return divided(records, members)


def test_states_that_are_given_are_let_go_before_the_weights_are_scored(monkeypatch):
    """Two copies of the network, of which the caller need hold none."""
    given = materials(noise(48))
    first, known = plain(SMALL, given), []
    inside = cwrf.mark

    def mark(*others):
        known.extend(one() for one in alive)
        return inside(*others)

    monkeypatch.setattr(cwrf, "mark", mark)
    alive = []

    def copied(state):
        made = {name: value.clone() for name, value in state.items()}
        alive.extend(map(weakref.ref, made.values()))
        return made

    repair(copied(first.model.state_dict()), copied(first.initial), SMALL, given, STREAMS)
    assert len(known) == 2 * len(first.initial)
    assert known == [None] * len(known)


def using(recipe=SMALL, **options):
    return recipe.replace(procedure=recipe.procedure.replace(**options))


def plain(recipe, given, streams=STREAMS):
    """What plain training of the recipe gives."""
    bare = recipe.replace(procedure=Plain(), objective=Recipe().objective)
    return PROCEDURES["plain"].train(bare, given, streams)


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def masks(made):
    return {key.removeprefix("mask/"): value for key, value in made.artefacts.items() if key.startswith("mask/")}


def scores(made):
    return {key.removeprefix("scores/"): value for key, value in made.artefacts.items() if key.startswith("scores/")}


def noted(seen, rewound=cwrf.rewound):
    """Rewind, and note where the fine-tuning begins."""

    def rewind(*given):
        seen.append(rewound(*given))
        return seen[-1]

    return rewind


def started(monkeypatch, recipe, given, streams=STREAMS):
    """Train, and return what came out and where the fine-tuning began."""
    seen = []
    monkeypatch.setattr(cwrf, "rewound", noted(seen))
    made = train(recipe, given, streams)
    return made, seen[-1]


# The exact checks of the algorithm.


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_at_rate_zero_it_is_plain_fine_tuning_bit_for_bit(optimizer):
    recipe, given = using(SMALL.replace(**OPTIMIZERS[optimizer]), rate=0.0), materials(noise())
    made = train(recipe, given, STREAMS)
    first = plain(recipe, given)
    tuning = recipe.replace(procedure=Plain(), epochs=3)
    then = replace(given, start=Start(snapshot(first.model)))
    tuned = PROCEDURES["plain"].train(tuning, then, STREAMS.child("tuning"))
    assert same(snapshot(made.model), snapshot(tuned.model))
    assert not same(snapshot(made.model), snapshot(first.model))
    assert made.history.loss == first.history.loss + tuned.history.loss
    assert not any(value.any() for value in masks(made).values())


def test_at_rate_zero_statistics_that_are_kept_are_those_of_plain_fine_tuning():
    given = materials(images())
    first = plain(PICTURES, given)
    tuning = PICTURES.replace(procedure=Plain(), epochs=3)
    then = replace(given, start=Start(snapshot(first.model)))
    tuned = snapshot(PROCEDURES["plain"].train(tuning, then, STREAMS.child("tuning")).model)
    kept, reset = (
        snapshot(train(using(PICTURES, rate=0.0, statistics=how), given, STREAMS).model) for how in ("keep", "reset")
    )
    assert same(kept, tuned)
    parameters = dict(untrained(PICTURES, given, STREAMS).named_parameters())
    assert all(torch.equal(reset[name], tuned[name]) == (name in parameters) for name in tuned)


def test_at_rate_zero_dpsgd_is_dpsgd_from_the_trained_weights():
    inner = DPSGD(noise=0.5, accountant="rdp")
    recipe = using(SMALL.replace(objective=Recipe().objective), rate=0.0, inner=inner)
    given = materials(noise())
    then = replace(given, start=Start(snapshot(plain(recipe, given).model)))
    tuned = PROCEDURES["dpsgd"].train(recipe.replace(procedure=inner, epochs=3), then, STREAMS.child("tuning"))
    assert same(snapshot(train(recipe, given, STREAMS).model), snapshot(tuned.model))


@pytest.mark.parametrize("recipe", [SMALL, PICTURES], ids=["mlp", "cnn"])
def test_at_rate_one_the_model_is_the_untrained_one(recipe):
    given = materials(images() if recipe is PICTURES else noise())
    made = train(using(recipe, rate=1.0), given, STREAMS)
    network = untrained(recipe, given, STREAMS)
    assert same(snapshot(made.model), snapshot(network))
    assert accuracy(made.model, given, given.members) == accuracy(network, given, given.members)
    assert len(made.history.loss) == 5
    assert made.history.kept == 4
    assert any("nothing was left" in notice for notice in made.facts.notices)
    removed = train(using(recipe, rate=1.0, variant="remove"), given, STREAMS).model
    assert not any(parameter.any() for parameter in removed.parameters())


@pytest.mark.parametrize("scope", ["global", "layer"])
@pytest.mark.parametrize("mask", ["vulnerability", "random"])
def test_exactly_k_weights_are_rewound(mask, scope):
    given = materials(noise())
    for rate in (0.001, 0.013, 0.5):
        made = train(using(SMALL.replace(epochs=1), mask=mask, scope=scope, rate=rate, tuning_epochs=1), given, STREAMS)
        sizes = [8 * 6 + 8, 8 * 3 + 3]
        expected = round(rate * sum(sizes)) if scope == "global" else sum(round(rate * size) for size in sizes)
        assert sum(int(value.sum()) for value in masks(made).values()) == expected
        facts = made.facts.cwrf
        assert (facts.weights, facts.rewound) == (sum(sizes), expected)
        assert facts.rate == pytest.approx(expected / sum(sizes))
        assert sum(kind.rewound for kind in facts.kinds.values()) == expected
        assert any("rounds to none" in notice for notice in made.facts.notices) == (expected == 0)


STEPS = {
    **{name: (options, Plain()) for name, options in OPTIMIZERS.items()},
    "clipped": ({"clip_norm": 0.05, "weight_decay": 0.05}, Plain()),
    "dpsgd": ({"objective": Recipe().objective, "weight_decay": 0.05}, DPSGD(noise=1.0, accountant="rdp")),
    "adv-reg": ({"objective": OBJECTIVES["adv-reg"].spec(attacker_steps=1), "weight_decay": 0.05}, Plain()),
}


@pytest.mark.parametrize(
    ("case", "variant"), [*((c, "cwrf") for c in STEPS), *((c, v) for c in ("adam", "dpsgd") for v in VARIANTS[1:])]
)
def test_after_a_hundred_steps_what_is_held_has_its_bits_and_the_rest_moved(case, variant):
    options, inner = STEPS[case]
    recipe = using(SMALL.replace(**options), variant=variant, tuning_epochs=34, inner=inner)
    given = materials(noise())
    made = train(recipe, given, STREAMS)
    first = snapshot(plain(recipe, given).model)
    for name, value in snapshot(made.model).items():
        marked = masks(made)[name]
        back = torch.zeros_like(value) if variant == "remove" else made.initial[name]
        held, begun = (~marked, first[name]) if variant == "rewind-train-vulnerable" else (marked, back)
        assert torch.equal(value[held], begun[held]), name
        begun = made.initial[name] if variant == "rewind-train-vulnerable" else first[name]
        assert (value[~held] != begun[~held]).all(), name


@pytest.mark.parametrize("case", [name for name in STEPS if name != "clipped"])
def test_masked_gradients_alone_do_not_hold_them(case, monkeypatch):
    monkeypatch.setattr(Frozen, "restore", lambda self: None)
    options, inner = STEPS[case]
    made = train(using(SMALL.replace(**options), inner=inner), materials(noise()), STREAMS)
    partly = [name for name, marked in masks(made).items() if marked.any() and not marked.all()]
    moved = [
        made.model.state_dict()[name][masks(made)[name]] != made.initial[name][masks(made)[name]] for name in partly
    ]
    assert partly
    assert torch.cat(moved).float().mean() > 0.9


def test_without_unlearning_vulnerability_is_learnability():
    given = materials(noise())
    learned, vulnerable = (
        train(using(**options), given, STREAMS) for options in ({"mask": "learnability"}, {"unlearning": 0.0})
    )
    assert same(learned.artefacts, vulnerable.artefacts)
    assert not same(learned.artefacts, train(SMALL, given, STREAMS).artefacts)


def test_the_variants_share_the_mask_and_two_of_them_divide_the_weights(monkeypatch):
    given = materials(noise())
    made, starts = zip(*(started(monkeypatch, using(variant=v), given) for v in VARIANTS), strict=True)
    first = snapshot(plain(SMALL, given).model)
    marked = masks(made[0])
    assert all(same(masks(one), marked) and same(scores(one), scores(made[0])) for one in made)
    for name, mask in marked.items():
        full = torch.ones_like(mask)
        trained = [start.trainable.get(name, full) for start in starts]
        assert torch.equal(trained[0], ~mask)
        assert torch.equal(trained[1], trained[0])
        assert torch.equal(trained[2], mask)
        backs = made[0].initial[name], torch.zeros(mask.shape), made[0].initial[name]
        for start, back in zip(starts, backs, strict=True):
            assert torch.equal(start.state[name], torch.where(mask, back, first[name]))


# Where it begins, what it scores by, and what stays the same.


@pytest.mark.parametrize("recipe", [SMALL, PICTURES], ids=["mlp", "cnn"])
def test_the_first_training_is_the_plain_one_and_a_repair_of_it_is_the_whole(recipe):
    given = materials(images() if recipe is PICTURES else noise())
    whole, first = train(recipe, given, STREAMS), plain(recipe, given)
    assert whole.history.loss[:5] == first.history.loss
    assert same(whole.initial, first.initial)
    state, initial = snapshot(first.model), dict(first.initial)
    repaired = repair(state, initial, recipe, given, STREAMS)
    assert same(snapshot(repaired.model), snapshot(whole.model))
    assert same(repaired.artefacts, whole.artefacts)
    assert repaired.history.loss == whole.history.loss[5:]
    assert repaired.facts.cwrf == whole.facts.cwrf
    assert same(state, snapshot(first.model))
    assert same(initial, first.initial)
    assert [stage.name for stage in repaired.facts.stages] == ["scoring", "tuning"]
    assert [stage.name for stage in whole.facts.stages] == ["training", "scoring", "tuning"]
    assert all(stage.seconds > 0 for stage in whole.facts.stages)


def test_scores_and_mask_are_those_of_locate_for_the_same_model():
    given = materials(noise())
    first = plain(SMALL, given)
    found = score(first.model, first.initial, given, QUICK.scoring(), STREAMS, SMALL)
    made = train(SMALL, given, STREAMS)
    assert same(scores(made), dict(found))
    assert jaccard(masks(made), topk_mask(found, 0.2)) == 1.0
    facts = made.facts.cwrf
    assert facts.member_loss == (found.member_loss[0], found.member_loss[-1])
    assert facts.divergence == (found.divergence[0], found.divergence[-1])
    assert facts.positive_scores == sum(int((value > 0).sum()) for value in found.values())
    assert facts.accuracy_before["members"] == accuracy(first.model, given, given.members)
    assert facts.accuracy_before["reference"] == accuracy(first.model, given, given.reference)
    assert facts.accuracy_scored == found.accuracy
    back = first.model
    marked = masks(made)
    with torch.no_grad():
        for name, parameter in back.named_parameters():
            parameter.copy_(torch.where(marked[name], first.initial[name], parameter))
    assert facts.accuracy_rewound["members"] == accuracy(back, given, given.members)
    assert facts.accuracy_rewound["reference"] == accuracy(back, given, given.reference)
    assert facts.initial_entropy == found.entropy


def test_the_fine_tuning_may_have_an_optimizer_and_a_rate_of_its_own():
    given, chosen = materials(noise()), using(tuning_optimizer="sgd", tuning_learning_rate=0.5)
    (_, usual), (_, its) = (cwrf.METHOD.second(recipe) for recipe in (using(), chosen))
    assert its == usual.replace(optimizer="sgd", learning_rate=0.5)
    made, other = (train(recipe, given, STREAMS) for recipe in (using(), chosen))
    assert same(masks(made), masks(other))
    assert made.history.loss[:5] == other.history.loss[:5]
    assert not same(snapshot(made.model), snapshot(other.model))


def test_by_default_weights_are_scored_as_locate_does():
    assert CWRF().scoring() == Scoring()
    for spec in (CWRF, Scoring):  # the paper's lambda has one name
        assert {"unlearning", "weight", "lambda"} & set(spec.model_fields) == {"unlearning"}
    assert CWRF(mask="learnability", unlearning=0.3).scoring().unlearning == 0
    other = CWRF(scoring_steps=7, scoring_batch_size=9, scoring_optimizer="sgd", scoring_learning_rate=0.5, power=2,
                 scoring_momentum=0.1, scoring_weight_decay=0.2, scoring_augmentation="recipe", unlearning=0.25,
                 divergence="updated-first", scoring_statistics="joint", statistics="keep",
                 scoring_initial_statistics="batch")  # fmt: skip
    assert other.scoring() == Scoring(
        steps=7, batch_size=9, optimizer="sgd", learning_rate=0.5, power=2, momentum=0.1, weight_decay=0.2,
        augmentation="recipe", unlearning=0.25, divergence="updated-first", statistics="joint",
        initial_statistics="batch",
    )  # fmt: skip


def test_an_option_of_the_same_name_as_one_of_scoring_is_not_taken_for_it():
    class More(CWRF):
        steps: int = 3
        momentum: float = 0.1

    assert More(scoring_momentum=0.7).scoring() == Scoring(momentum=0.7)


def test_the_largest_weights_are_the_mask_by_magnitude():
    given = materials(noise())
    made = train(using(mask="magnitude"), given, STREAMS)
    values = {name: p.detach().abs() for name, p in plain(SMALL, given).model.named_parameters()}
    least = min(float(values[name][marked].min()) for name, marked in masks(made).items() if marked.any())
    assert least >= max(float(values[name][~marked].max()) for name, marked in masks(made).items() if (~marked).any())
    assert not scores(made)


def test_random_masks_grow_with_the_rate_and_differ_from_model_to_model():
    given = materials(noise())
    few, many = (masks(train(using(mask="random", rate=rate), given, STREAMS)) for rate in (0.1, 0.4))
    assert all((few[name] <= many[name]).all() for name in few)
    other = masks(train(using(mask="random", rate=0.4), given, Streams(5, 2)))
    assert jaccard(many, other) < 0.5


def test_random_masks_within_tensors_have_the_counts_of_vulnerability_and_other_weights():
    """Half of the norm layers' weights may be vulnerable; a draw from all takes hardly any of them."""
    given = materials(images())
    usual, within = (train(using(PICTURES, mask=mask), given, STREAMS) for mask in ("vulnerability", "random-within"))
    for name, marked in masks(usual).items():
        assert int(masks(within)[name].sum()) == int(marked.sum())
    assert jaccard(masks(usual), masks(within)) < 0.5
    assert not scores(within)
    assert within.facts.cwrf.kinds == usual.facts.cwrf.kinds
    with pytest.raises(InputError, match="reference non-members"):
        train(using(PICTURES, mask="random-within"), materials(images(), members=len(images().y)), STREAMS)


def test_a_fresh_draw_keeps_the_places_and_not_the_values(monkeypatch):
    given = materials(noise())
    usual, before = started(monkeypatch, SMALL, given)
    made, start = started(monkeypatch, using(value="fresh"), given)
    assert same(masks(usual), masks(made))
    assert same(usual.initial, made.initial)
    for name, marked in masks(made).items():
        assert torch.equal(start.state[name][~marked], before.state[name][~marked])
        assert (start.state[name][marked] != before.state[name][marked]).all()
    assert [notice for notice in made.facts.notices if not notice.startswith("relaxloss never acted")] == []


def test_the_original_weights_survive_and_not_those_that_scoring_damaged(monkeypatch):
    given = materials(noise())
    recipe = using(SMALL, scoring_learning_rate=0.5)
    made, start = started(monkeypatch, recipe, given)
    first = snapshot(plain(recipe, given).model)
    assert all(torch.equal(start.state[n][~m], first[n][~m]) for n, m in masks(made).items())


# Statistics, tied and unused parameters, networks with a seed of their own.


@pytest.mark.parametrize("how", ["reset", "initial", "keep"])
def test_statistics_and_other_buffers_at_the_rewinding(how, monkeypatch):
    given = materials(images())
    recipe = using(PICTURES.replace(architecture=Factory(factory="test_cwrf:counting")), statistics=how)
    initial = snapshot(untrained(recipe, given, STREAMS))
    initial["1.running_mean"] += 0.25
    first = plain(recipe, replace(given, start=Start(initial))).model
    state = snapshot(first)
    assert state["1.num_batches_tracked"] == 15
    assert state["4.seen"] > 0
    seen = []
    monkeypatch.setattr(cwrf, "rewound", noted(seen))
    made = repair(state, initial, recipe, given, STREAMS).model.state_dict()
    begun = seen[0].state
    fresh = {"reset": torch.zeros(4), "initial": torch.full((4,), 0.25), "keep": state["1.running_mean"]}
    assert torch.equal(begun["1.running_mean"], fresh[how])
    assert begun["1.num_batches_tracked"] == (15 if how == "keep" else 0)
    assert made["1.num_batches_tracked"] == (15 if how == "keep" else 0) + 9
    assert begun["4.seen"] == (state["4.seen"] if how == "keep" else 0)


class Counting(nn.Module):
    """Counts the records that it sees in training."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.seen += len(x)
        return x


def counting(input_shape, classes):
    return nn.Sequential(nn.Conv2d(input_shape[0], 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), Counting(),
                         nn.Linear(4 * 6 * 6, classes))  # fmt: skip


class Tied(nn.Module):
    """Two layers that are one, a head that is not used, and a number that stands alone."""

    def __init__(self, width, classes):
        super().__init__()
        self.unused = nn.Linear(width, 200)
        self.first = nn.Linear(width, width)
        self.again = nn.Linear(width, width)
        self.again.weight = self.first.weight
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.again(torch.relu(self.first(x))) * self.scale)


def tied(input_shape, classes):
    return Tied(input_shape[0], classes)


@pytest.mark.parametrize("mask", ["vulnerability", "magnitude", "random", "random-within"])
def test_tied_weights_count_once_and_unused_ones_are_never_taken(mask):
    given = materials(noise())
    recipe = using(SMALL.replace(architecture=Factory(factory="test_cwrf:tied")), mask=mask, rate=0.03)
    made = train(recipe, given, STREAMS)
    assert "again.weight" not in masks(made)
    assert not masks(made)["unused.weight"].any()
    total = sum(value.numel() for value in masks(made).values())
    assert made.facts.cwrf.weights == total == 200 * 7 + 36 + 12 + 1 + 21
    assert made.facts.cwrf.rewound == round(0.03 * total)
    state = made.model.state_dict()
    assert torch.equal(state["first.weight"], state["again.weight"])
    marked = masks(made)["first.weight"]
    assert torch.equal(state["first.weight"][marked], made.initial["first.weight"][marked])
    assert masks(made)["scale"].shape == (1,)
    everything = train(recipe.replace(procedure=recipe.procedure.replace(rate=1.0)), given, STREAMS)
    used = [name for name in state if not name.startswith("unused")]
    assert all(torch.equal(everything.model.state_dict()[name], everything.initial[name]) for name in used)
    assert everything.facts.cwrf.rewound == 70


class Features(nn.Module):
    """Random features that no state holds."""

    def __init__(self, width, classes):
        super().__init__()
        self.drawn = torch.randn(width, 16)
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(torch.cos(x @ self.drawn))


def features(input_shape, classes):
    return Features(input_shape[0], classes)


def test_the_network_that_is_tuned_is_the_one_that_was_trained():
    given = materials(noise())
    recipe = SMALL.replace(architecture=Factory(factory="test_cwrf:features"))
    made = train(recipe, given, STREAMS).model
    loaded = PROCEDURES["cwrf"].network(recipe, given, STREAMS)
    loaded.load_state_dict(made.state_dict())
    assert torch.equal(made.drawn, loaded.drawn)
    assert torch.equal(made(given.members.x), loaded.eval()(given.members.x))


def seeded(input_shape, classes):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return nn.Linear(input_shape[0], classes)


def test_a_network_with_a_seed_of_its_own_has_no_fresh_draw_and_says_so():
    recipe = using(SMALL.replace(architecture=Factory(factory="test_cwrf:seeded")), value="fresh")
    made = train(recipe, materials(noise()), STREAMS)
    assert any("draws the same values" in notice for notice in made.facts.notices)


# The fine-tuning: epochs, rates, objectives, early stopping, dpsgd.


def test_the_fine_tuning_starts_again_with_the_rate_the_epochs_and_the_objective(monkeypatch):
    seen = []
    whole = Run.epoch

    def noted(self, epoch, batches):
        loss = whole(self, epoch, batches)
        context = self.objective.context
        seen.append((self.recipe.objective.method, epoch, context.epochs, self.optimizer.rate))
        return loss

    monkeypatch.setattr(Run, "epoch", noted)
    recipe = SMALL.replace(epochs=8, schedule="cosine", warmup_epochs=2.0)
    train(recipe, replace(materials(noise()), validation=materials(noise()).members), STREAMS)
    train(using(recipe, tuning_epochs=None), materials(noise()), STREAMS)
    steps = 3
    for tuning, part in ((3, seen[:11]), (4, seen[11:])):
        assert [row[:3] for row in part[:8]] == [("cross-entropy", epoch, 8) for epoch in range(8)]
        assert [row[:3] for row in part[8:]] == [("relaxloss", epoch, tuning) for epoch in range(tuning)]
        warm = 2.0 * tuning / 8 * steps
        for epoch, row in enumerate(part[8:]):
            step = steps * epoch + 2
            cosine = 0.5 * (1 + np.cos(np.pi * (step - warm) / (steps * tuning - warm)))
            assert row[3] == pytest.approx(0.01 * ((step + 1) / (warm + 1) if step < warm else cosine))


def test_stopping_early_and_within_an_epoch_hold_for_both_trainings():
    given = materials(noise())
    patient = train(using(SMALL.replace(epochs=60, learning_rate=0.05, patience=2), tuning_epochs=50), given, STREAMS)
    first = plain(SMALL.replace(epochs=60, learning_rate=0.05, patience=2), given)
    count = len(first.history.loss)
    assert patient.history.validation_loss[:count] == first.history.validation_loss
    assert count <= patient.history.kept < len(patient.history.loss) == len(patient.history.validation_loss) < 110
    stopped = train(using(SMALL.replace(epochs=8, stop_after=4.0), tuning_epochs=4), given, STREAMS)
    assert len(stopped.history.loss) == 4 + 2


def test_watched_records_are_noted_in_both_trainings():
    given = materials(noise())
    made = train(SMALL, replace(given, watched=given.validation), STREAMS)
    assert len(made.history.accuracy) == len(made.history.loss) == 8
    assert made.history.accuracy[-1] == accuracy(made.model, given, given.validation)


def test_dpsgd_covers_the_fine_tuning_alone_and_claims_nothing():
    given = materials(images())
    recipe = using(PICTURES.replace(objective=Recipe().objective), inner=DPSGD(noise=0.5, accountant="rdp"))
    made = train(recipe, given, STREAMS)
    assert "accountant" not in made.facts
    assert made.facts.notices[0].startswith("There is no guarantee and no epsilon")
    assert any("GroupNorm" in notice for notice in made.facts.notices)
    assert not PROCEDURES["cwrf"].proves
    assert not any("running_mean" in name for name in (*made.initial, *made.model.state_dict()))
    assert set(PROCEDURES["cwrf"].network(recipe, given, STREAMS).state_dict()) == set(made.initial)
    logits = forward(made.model, given.prepare(given.members.x), 2)
    assert torch.isfinite(logits).all()


def test_the_names_of_a_defense_fill_both_stages():
    recipe = build_recipe({}, defended({}, "cwrf:rate=0.05,unlearning=0.3+dpsgd:noise=1.0+label-smoothing"))
    assert recipe.procedure == CWRF(rate=0.05, unlearning=0.3, inner=DPSGD(noise=1.0))
    assert recipe.objective.method == "label-smoothing"
    assert needs(recipe) == {"cwrf": ("reference",)}
    check(recipe, 2, 3)


# What is refused, and before anything is trained.


@pytest.mark.parametrize(
    ("options", "changes", "words"),
    [
        ({"variant": "rewind-train-vulnerable", "rate": 0.0}, {}, "nothing would be trained"),
        ({"variant": "remove", "value": "fresh"}, {}, "value=fresh would change nothing"),
        ({"inner": Selena()}, {}, "selena cannot be the second stage of cwrf, which takes plain, dpsgd"),
        ({"inner": DPSGD()}, {}, "relaxloss cannot be trained with dpsgd"),
        ({"tuning_epochs": 1}, {"objective": OBJECTIVES["mixup-mmd"].spec()}, "at least 2 with mixup-mmd, got 1"),
    ],
)
def test_what_has_no_meaning_is_refused_by_the_recipe_alone(options, changes, words):
    with pytest.raises(SpecError, match=words):
        check(using(SMALL.replace(**changes), **options), reference=10)


def test_an_unknown_second_stage_is_named():
    with pytest.raises(InputError, match="unknown second stage 'dpsgdd': did you mean 'dpsgd'"):
        CWRF(inner={"method": "dpsgdd"})


@pytest.mark.parametrize(
    ("options", "changes", "error", "words"),
    [
        ({"variant": "rewind-train-vulnerable", "rate": 1e-4}, {}, SpecError, "83 weights rounds to none"),
        ({}, {"members": 1}, SpecError, "at least 2 members, to score by, got 1"),
        ({}, {"reference": 0}, InputError, "cwrf needs reference non-members"),
        ({"inner": DPSGD(noise=1.0, delta=0.1)}, {}, SpecError, "delta: expected less than 1 / members"),
    ],
)
def test_what_a_later_stage_would_refuse_is_found_before_training(options, changes, error, words, monkeypatch):
    monkeypatch.setattr(Run, "epoch", lambda *_: pytest.fail("it was trained"))
    given = materials(noise())
    given = replace(given, **{key: getattr(given, key).take(torch.arange(n)) for key, n in changes.items()})
    recipe = using(SMALL.replace(objective=Recipe().objective), **options)
    with pytest.raises(error, match=words):
        train(recipe, given, STREAMS)


def test_a_network_without_anything_to_train_is_refused(monkeypatch):
    monkeypatch.setattr(Run, "epoch", lambda *_: pytest.fail("it was trained"))
    with pytest.raises(ModelError, match="nothing to train"):
        train(SMALL.replace(architecture=Factory(factory="test_cwrf:fixed")), materials(noise()), STREAMS)


def fixed(input_shape, classes):
    return nn.Linear(input_shape[0], classes).requires_grad_(False)


def test_layers_that_dpsgd_refuses_are_found_before_the_first_training(monkeypatch):
    monkeypatch.setattr(Run, "epoch", lambda *_: pytest.fail("it was trained"))
    architecture = Factory(factory="test_cwrf:instance")
    recipe = SMALL.replace(architecture=architecture, objective=Recipe().objective)
    with pytest.raises(ModelError, match="InstanceNorm"):
        train(using(recipe, inner=DPSGD(noise=1.0, accountant="rdp")), materials(images()), STREAMS)


def instance(input_shape, classes):
    return nn.Sequential(
        nn.Conv2d(input_shape[0], 4, 3), nn.InstanceNorm2d(4, affine=True, track_running_stats=True), nn.Flatten(),
        nn.Linear(4 * 6 * 6, classes),
    )  # fmt: skip


def test_states_of_another_network_are_named():
    given = materials(images())
    state = snapshot(untrained(PICTURES, given, STREAMS))
    private = using(PICTURES.replace(objective=Recipe().objective), inner=DPSGD(noise=1.0, accountant="rdp"))
    with pytest.raises(ModelError, match=r"the initial state: expected a state of this .*GroupNorm from the beginning"):
        repair(state, state, private, given, STREAMS)
    with pytest.raises(ModelError, match="the trained state: expected a state of this network: "):
        repair({}, state, PICTURES, given, STREAMS)
    broken = {name: value.clone() for name, value in state.items()}
    broken["0.weight"][0] = torch.nan
    with pytest.raises(ModelError, match=r"the trained state: 0\.weight: expected finite numbers"):
        repair(broken, state, PICTURES, given, STREAMS)


def test_scores_of_zero_that_are_taken_are_said():
    given = materials(noise())
    state = snapshot(untrained(SMALL, given, STREAMS))
    zeros = {name: torch.zeros_like(value) for name, value in state.items()}
    made = repair(zeros, state, using(scoring_steps=1), given, STREAMS)
    assert made.facts.cwrf.positive_scores == 0
    assert any("Only 0 of the 17 rewound weights" in notice for notice in made.facts.notices)
