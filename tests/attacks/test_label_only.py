"""Label-only attacks: what models are asked, and what an audit makes of the answers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from attack_cases import problem
from scipy.stats import norm
from torch import nn

import reticent
from reticent.attacks import parse, score
from reticent.attacks.label_only import LabelOnly
from reticent.data.records import Records
from reticent.errors import InputError, ShapeError, SpecError
from reticent.jobs.config import chosen, prepare
from reticent.jobs.runs import scan
from reticent.objectives.base import Examples
from reticent.population.train import train
from reticent.population.worker import Maker
from reticent.signals import label_queries
from reticent.signals.label_queries import turned, wrong
from reticent.signals.probes import Boundary, Noise, Views
from reticent.store import Store
from reticent.training.data import Preparation

pytestmark = pytest.mark.words

MEMGUARD = "memguard:steps=20,training_steps=20"
CPU = torch.device("cpu")


def line(weights, bias):
    """A linear classifier of two classes: class 1 where ``w x + b > 0``."""
    with torch.random.fork_rng(), torch.no_grad():
        network = nn.Linear(len(weights), 2)
        network.weight.copy_(torch.stack([torch.zeros(len(weights)), torch.tensor(weights)]))
        network.bias.copy_(torch.tensor([0.0, bias]))
    return network.eval()


@pytest.fixture(scope="module")
def flat():
    """Records, a line among them, and their signed distances to it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)).astype(np.float32)
    weights, bias = [1.0, -2.0, 0.5], 0.3
    signed = (x @ np.array(weights) + bias) / np.linalg.norm(weights)
    y = (signed > 0).astype(np.int64)
    y[:5] = 1 - y[:5]
    prepare = Preparation(Records.make(x, y, name="flat"), CPU)
    return wrong(line(weights, bias), 2), Examples(torch.from_numpy(x), torch.from_numpy(y)), prepare, np.abs(signed)


def test_shifts_are_the_diamond_and_rotations_all_degrees():
    assert {one[1:] for one in Views(rotations=0).views()} == {(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)}
    assert len(Views(rotations=0, translations=3).views()) == 4 * 3 + 1
    assert sorted(one[0] for one in Views(translations=0).views()) == list(range(-9, 10))
    assert len(Views(rotations=1, translations=0).views()) == 3
    assert Views().views()[0] == (0, 0, 0)
    assert Views().queries == len(set(Views().views())) == 23


def test_a_quarter_turn_moves_pixels_and_a_small_one_hardly():
    x = torch.rand(2, 1, 6, 6, generator=torch.Generator().manual_seed(0))
    np.testing.assert_allclose(turned(x, 90, 0, 0), torch.rot90(x, 1, (2, 3)), atol=1e-5)
    np.testing.assert_allclose(turned(turned(x, 90, 0, 0), -90, 0, 0), x, atol=1e-5)
    wide = torch.zeros(1, 1, 5, 9)
    wide[0, 0, 2, 6] = 1.0  # two pixels right of the middle; a quarter turn to the left brings it two above.
    assert turned(wide, 90, 0, 0)[0, 0, 0, 4] == pytest.approx(1.0, abs=1e-5)
    assert turned(x, 0, 1, 0)[0, 0, 1:].equal(x[0, 0, :-1])


def test_the_boundary_of_a_linear_classifier_is_as_far_as_the_formula_says(flat):
    asked, examples, prepare, distance = flat
    spec = Boundary(steps=12, directions=100)
    found = label_queries.boundary(spec, asked, examples, prepare, torch.Generator().manual_seed(1))[:, 0].numpy()
    assert (found[:5] == 0).all()
    assert (found[5:] >= distance[5:] * (1 - 1e-4)).all()
    assert found[5:] == pytest.approx(distance[5:], rel=0.05, abs=1e-3)


def test_no_more_is_asked_than_the_probe_says(flat):
    asked, examples, prepare, _ = flat
    right = Examples(examples.x[5:6], examples.y[5:6])
    count = 0

    def counted(x, y):
        nonlocal count
        count += len(x)
        return asked(x, y)

    spec = Boundary(steps=3, directions=20)
    label_queries.boundary(spec, counted, right, prepare, torch.Generator())
    starts = len(right)  # The record itself, and as many starts as there are records.
    assert count <= spec.queries + 1 + starts


def test_the_share_of_noisy_copies_is_that_of_a_normal_law(flat):
    asked, examples, prepare, distance = flat
    spread = examples.x.numpy().std(axis=0, dtype=np.float64)
    weights = np.array([1.0, -2.0, 0.5])
    sigma = 0.5 * np.linalg.norm(weights * spread) / np.linalg.norm(weights)
    expected = norm.cdf(distance / sigma)
    expected[:5] = 1 - expected[:5]
    for cls in (Noise, LabelOnly):
        with pytest.raises(SpecError, match="strength: expected"):
            cls(strength=1.0)
    spec = Noise(copies=1000, strength=0.5)
    found = label_queries.noise(spec, asked, examples, prepare, torch.Generator().manual_seed(2))[:, 0].numpy()
    assert np.abs(found - expected).max() < 4.5 * 0.5 / np.sqrt(1000)


def test_views_are_held_against_the_true_label():
    """A network that looks at one pixel: right where a shift keeps it, wrong for a record with another label."""
    x = np.zeros((3, 1, 5, 5), dtype=np.uint8)
    x[:2, 0, 2, 2] = 255
    records = Records.make(x, np.array([1, 0, 0]), name="dots")
    pixels = torch.zeros(25)
    pixels[12] = 1.0
    network = nn.Sequential(nn.Flatten(), line(pixels.tolist(), 0.0))
    prepare = Preparation(records, CPU)
    examples = prepare.examples(records, np.arange(3))
    middle = prepare(examples.x)[0, 0, 2, 2] / 2 + prepare(examples.x)[2, 0, 2, 2] / 2
    with torch.no_grad():
        network[1].bias[1] = -middle
    spec = Views(rotations=0)
    found = label_queries.views(spec, wrong(network.eval(), 2), examples, prepare).numpy()
    np.testing.assert_array_equal(found, [[1, 0, 0, 0, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]])


def test_scores_are_the_mean_of_the_answers():
    case, spec = problem(3), parse({"method": "label-only", "by": "views"})
    (probe,) = [one for one in case.probed if one.method == "views"]
    np.testing.assert_allclose(score(spec, case), case.probed[probe].mean(axis=2), rtol=1e-12)


def test_outputs_alone_and_answers_of_another_size_are_refused():
    case = problem(3)
    with pytest.raises(InputError, match="label-only: expected what the models say to further questions"):
        score("label-only", replace(case, probed={}))
    with pytest.raises(ShapeError, match=r"probed: expected shape \(12, 60, 1\) \(models, records, answers\)"):
        type(case).make(case.signals, case.membership, probed={Noise(): np.zeros((12, 59, 1))})
    with pytest.raises(
        SpecError, match=r"label-only: looks at more than the plain answers .* leave this attack out here"
    ):
        reticent.audit(dataset="digits", attacks="label-only", defense="relaxloss", also_non_adaptive=True, models=4)
    with pytest.raises(InputError, match="label-only: expected images to turn and shift, got tabular records"):
        reticent.audit(dataset="digits", attacks="label-only", attack={"label-only": {"by": "views"}}, models=4)


@pytest.fixture(scope="module")
def defended(tmp_path_factory):
    """The same models, as they answer and behind two output defenses."""
    folder = tmp_path_factory.mktemp("labels")

    def audited(defense):
        return reticent.audit(
            dataset="digits", records=60, models=4, epochs=3, workers=1, device="cpu", replicates=100,
            attacks=["correctness", "label-only"], attack={"label-only": {"copies": 20}}, defense=defense,
            reference=20, store=folder / "store", out=folder / str(defense).partition(":")[0],
        )  # fmt: skip

    return folder, {defense: audited(defense) for defense in (None, "hamp-output", MEMGUARD)}


def test_output_defenses_change_no_score_of_attacks_that_see_labels(defended):
    _, found = defended
    plain = found[None]
    assert len(np.unique(plain.scores["label-only"])) > 5
    for one in found.values():
        for name, scores in plain.scores.items():
            assert one.scores[name].tobytes() == scores.tobytes()
    assert found[MEMGUARD].document["attacks"][1]["queries"] == 20
    assert "20 questions a record" in (Path(plain.files[0]).parent / "report.html").read_text()


def test_each_model_is_asked_once_whatever_stands_before_it(defended):
    folder, _ = defended
    kinds = [run.kind for run in scan(folder / "store").runs]
    assert (kinds.count("training"), kinds.count("signals"), kinds.count("probe")) == (4, 12, 4)


@pytest.mark.parametrize("defense", ["hamp-output", MEMGUARD])
def test_an_output_defense_changes_no_label_of_a_noisy_copy(defended, defense):
    """So the models behind a defense need not be asked again."""
    folder, _ = defended
    population = prepare(chosen(None, {
        "dataset": "digits", "records": 60, "models": 4, "epochs": 3, "device": "cpu", "attacks": ["label-only"],
        "attack": {"label-only": {"copies": 20}}, "defense": defense, "reference": 20, "store": folder / "store",
    })).population  # fmt: skip
    store = Store(folder / "store").open()
    maker = Maker(population, store, "cpu")
    network = maker.network(train(population, store)[0])
    output = maker.output(0, network)
    recipe = population.recipe.replace(augmentation="gaussian", augmentation_strength=0.5)
    x = maker.prepare(maker.prepare.augmented(maker.audited.x, recipe, torch.Generator().manual_seed(0)))
    with torch.no_grad():
        logits = network(x).double()
    assert output(logits.clone(), x).argmax(dim=1).equal(logits.argmax(dim=1))
