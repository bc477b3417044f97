"""A network that changes its input in place gives the numbers of the one that copies it first, on every road.

Of a road two things are asked: the bits are the same, and the records are as they were.
"""

from dataclasses import replace

import numpy as np
import pytest
import state_networks
import torch
from state_networks import blobs, pictures, texts

import reticent
from reticent.data.load import of_python as own
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.locate.feature_maps import map_distances
from reticent.locate.probe import Probe, probe
from reticent.locate.weights import Scoring, score
from reticent.models.stages import stages
from reticent.models.user import Factory
from reticent.objectives import OBJECTIVES
from reticent.outputs import OUTPUTS
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES
from reticent.procedures.plain import train
from reticent.signals.ask import ask
from reticent.signals.queries import Queries
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.loop import fit
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

KINDS = {"features": blobs, "pictures": pictures, "tokens": texts}
PARTS = {
    "cwrf": {"rate": 0.2, "scoring_steps": 2},
    "dpsgd": {"noise": 0.5, "micro_batch": 3},
    "function": {"function": "state_networks:fit_changing"},
    "mist": {"parts": 2, "local_epochs": 1},
    "pptp": {"stage": 2},
    "selena": {"models": 3, "outside": 1},
    "adv-reg": {"attacker_steps": 1, "warmup_epochs": 0},
    "mixup-mmd": {"gap": 0.0},
    "past": {"form": "renormalised", "after": 0.3},
    "hamp-output": {"features": "bits"},
    "memguard": {"steps": 3, "training_steps": 3, "widths": (4,)},
    "top-k": {"k": 1},
}
"""Options that make a part act early, and small."""
UNMIXABLE = {("mixup", "tokens"), ("mixup-mmd", "tokens")}
"""What is refused by name: tokens have no blend."""


def recipe(network, **parts):
    return Recipe(
        architecture=Factory(factory=f"state_networks:{network}"), epochs=3, batch_size=8, learning_rate=0.02, **parts
    )


def spec(table, name):
    return table[name].spec(**PARTS.get(name, {}))


def materials(data):
    prepare = Preparation(data, torch.device("cpu"))
    take = lambda start, stop: prepare.examples(data, np.arange(start, stop))  # noqa: E731
    return Materials(take(0, 21), take(21, 30), take(30, 42), prepare, data.classes, watched=take(21, 30))


def tensors(given):
    return [t for part in (given.members, given.validation, given.reference, given.watched) for t in (part.x, part.y)]


def both(road, data, *, validated=True):
    """Go a road with either network, on records of their own; they are as before, and the answers are equal."""
    answers = []
    for network in ("copying", "changing"):
        given = materials(data)
        given = given if validated else replace(given, validation=given.validation.take(torch.arange(0)))
        before = [t.clone() for t in tensors(given)]
        answers.append(road(network, given))
        assert all(torch.equal(a, b) for a, b in zip(before, tensors(given), strict=True))
    first, second = answers
    assert first.keys() == second.keys()
    assert all(torch.equal(torch.as_tensor(first[key]), torch.as_tensor(second[key])) for key in first)


def state(trained):
    history = trained.history
    return {
        **trained.model.state_dict(),
        **{f"artefact {name}": value for name, value in trained.artefacts.items()},
        "history": torch.tensor([*history.loss, *history.validation_loss, *history.accuracy]),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_on_every_kind_of_records(objective, kind):
    if (objective, kind) in UNMIXABLE:
        return

    def road(network, given):
        made = recipe(network, objective=spec(OBJECTIVES, objective), patience=2)
        return state(train(made, given, Streams(0, 0)))

    both(road, Records.make(*KINDS[kind]()))


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_every_procedure(procedure):
    def road(network, given):
        made = recipe(network, procedure=spec(PROCEDURES, procedure))
        return state(PROCEDURES[procedure].train(made, given, Streams(0, 0)))

    both(road, Records.make(*blobs()), validated=False)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_augmented_pictures(precision):
    def road(network, given):
        made = recipe(network, augmentation="flip-crop", padding=1, precision=precision)
        return state(train(made, given, Streams(0, 0)))

    both(road, Records.make(*pictures()))


def built(network, given, *, trained=False):
    made = recipe(network)
    model = PROCEDURES["plain"].network(made, given, Streams(0, 0))
    if trained:
        fit(model, made, given, OBJECTIVES["cross-entropy"].build(None), Streams(0, 0))
    return model.eval()


@pytest.mark.parametrize("kind", KINDS)
def test_every_view_of_a_record_is_asked_about_the_record(kind):
    views = Queries(mirror=True, shifts=1) if kind == "pictures" else Queries()

    def road(network, given):
        seen = ask(built(network, given), given.members, given.prepare, given.classes, views)
        return {"logits": seen.logits, "margins": seen.margins}

    both(road, Records.make(*KINDS[kind]()))


def test_an_output_defense_that_changes_what_it_is_given_changes_neither_records_nor_the_models_own_answers():
    given = materials(Records.make(*blobs()))
    model, before = built("copying", given), given.members.x.clone()

    def spoiling(logits, x):
        answer = logits * 2
        logits.zero_()
        x.zero_()
        return answer

    asked = (given.members, given.prepare, given.classes, Queries())
    plain, spoilt = ask(model, *asked), ask(model, *asked, spoiling)
    assert torch.equal(given.members.x, before)
    assert np.array_equal(spoilt.logits, 2 * plain.logits)


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_defense(output, tmp_path):
    data, arrays = Records.make(*blobs(60)), []
    for network in ("copying", "changing"):
        roles = Roles.split(data, 0, reference=10, population=10)
        made = recipe(network, output=spec(OUTPUTS, output))
        population = Population(made, data, roles, Membership.draw(2, len(roles.audited), 0), 0)
        store = Store(tmp_path / network).open()
        run = store.find(Maker(population, store, "cpu").make(0).signals)
        arrays.append(run.arrays("signals.safetensors"))
    assert arrays[0].keys() == arrays[1].keys()
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])


@pytest.mark.parametrize("statistics", ["frozen", "own", "joint"])
def test_scores_of_weights(statistics):
    def road(network, given):
        model, scoring = built(network, given, trained=True), Scoring(steps=4, batch_size=8, statistics=statistics)
        initial = built(network, given).state_dict()
        return dict(score(model, initial, given, scoring, Streams(0, 0), recipe(network)))

    both(road, Records.make(*blobs()))


def test_feature_maps_and_the_probe():
    def road(network, given):
        one, other = built(network, given, trained=True), built(network, given)
        shown, asked = stages(one, None), (given.prepare, given.classes)
        gap = map_distances(one, other, given.members.x, *asked, shown)
        found = probe(one, shown, given.members, given.validation, *asked, Probe(), Streams(0, 0))
        return {"distances": gap.distances, "correct": found.correct}

    both(road, Records.make(*blobs()))


CALLERS = {
    "pair": lambda x, y: (x, y),
    "mapping": lambda x, y: {"x": x, "y": y, "columns": {"group": y}},
    "tensors": lambda x, y: (torch.from_numpy(x), torch.from_numpy(y)),
    "records": lambda x, y: Records(x=x, y=y, classes=3, kind="tabular" if x.ndim == 2 else "image", **scale(x)),
    "data set": lambda x, y: list_of(x, y),
}


def scale(x):
    return {} if x.ndim == 2 else {"mean": (0.5,) * 3, "std": (0.25,) * 3}


class list_of:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("caller", CALLERS)
def test_records_share_no_memory_with_what_a_caller_holds(caller, kind):
    x, y = KINDS[kind]()
    if caller == "records" and kind == "tokens":
        return
    made, group = own("mine", CALLERS[caller](x, y)), y.copy()
    before = made.x.copy(), made.y.copy()
    x[:] = 0
    y[:] = 0
    assert np.array_equal(made.x, before[0])
    assert np.array_equal(made.y, before[1])
    assert all(np.array_equal(column, group) for column in made.columns.values())


@pytest.mark.parametrize("data", ["held", "held_pictures"])
def test_a_training_function_that_changes_the_arrays_behind_the_data_changes_no_record(data, tmp_path, monkeypatch):
    monkeypatch.setattr(state_networks, "HELD", blobs())
    monkeypatch.setattr(state_networks, "SEEN", pictures())
    arrays = {"held": state_networks.HELD, "held_pictures": state_networks.SEEN}[data]
    right = Records.make(*(array.copy() for array in arrays)).digest
    records = own(data, getattr(state_networks, data)())
    roles = Roles.split(records, 0)
    function = "state_networks:fit_held" if data == "held" else "state_networks:fit_held_pictures"
    population = Population(
        Recipe(procedure=PROCEDURES["function"].spec(function=function)),
        records, roles, Membership.draw(2, len(roles.audited), 0), 0,
    )  # fmt: skip
    Maker(population, Store(tmp_path).open(), "cpu").make(0)
    assert not arrays[0].any()
    assert Records.make(records.x, records.y).digest == right


def test_a_training_function_has_arrays_of_its_own():
    def road(network, given):
        name = {"copying": "fit", "changing": "fit_changing"}[network]
        made = Recipe(procedure=PROCEDURES["function"].spec(function=f"state_networks:{name}"))
        return state(PROCEDURES["function"].train(made, given, Streams(0, 0)))

    both(road, Records.make(*blobs()))


def test_a_network_of_inference_tensors_is_scored_as_any_other(tmp_path, pages):
    del pages

    def scores(folder, network, initial):
        where = {"dataset": blobs(), "members": np.arange(20), "device": "cpu", "out": str(folder)}
        found = reticent.locate_weights(network=network, initial=initial, scoring__steps=2, **where)
        return found.vulnerability

    with torch.random.fork_rng(devices=[]):
        plain, initial = (state_networks.copying((6,), 3, 0).eval() for _ in range(2))
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        frozen, before = (state_networks.copying((6,), 3, 0).eval() for _ in range(2))
        frozen.load_state_dict(plain.state_dict())
        before.load_state_dict(initial.state_dict())
    one = scores(tmp_path / "one", plain, initial.state_dict())
    other = scores(tmp_path / "other", frozen, before.state_dict())
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
