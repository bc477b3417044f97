"""The names of finished runs are pinned: a run that was trained by an older version is found by a newer one.

If a test here fails, a change of the code would make every user train anew what they have. So:

* a new field of a spec must have a default that changes nothing, and then no identity below changes: look for a default
  that was moved, a field that was renamed, or one that is written out although it equals its default;
* what must change on purpose (the same recipe now trains another model) raises ``reticent.spec.FORMAT``, which forgets
  all runs at once, and is said in the changelog; only then are the values below replaced by those in the message;
* a default that moves changes no identity and is worse: a run of the old default would be taken for one of the new.
  That too raises ``FORMAT``; better keep the default, and suggest the new value where recipes are built;
* a new option stands off its default in one of the recipes below (the last tests say which are missing); a recipe may
  only be added to, or a new one added, never changed.
"""

import numpy as np
import pytest

from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.models.butterfly import Butterfly
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.resnet import ResNet18, ResNet20
from reticent.models.user import Factory
from reticent.objectives.label_smoothing import LabelSmoothing
from reticent.outputs.temperature import Temperature
from reticent.population.population import Population
from reticent.procedures.user import Function
from reticent.samplers.swmr import Swmr
from reticent.signals.queries import Queries
from reticent.spec import canonical, full, identity
from reticent.training.recipe import Recipe

EVERY = Butterfly(layers=("*",))
RECIPES = {
    "default": Recipe(),
    "mlp": Recipe(architecture=MLP(widths=(32,), dropout=0.25), epochs=7, batch_size=16, learning_rate=2e-3),
    "cnn": Recipe(
        architecture=CNN(widths=(8, 16, 16)), optimizer="sgd", momentum=0.5, nesterov=True, weight_decay=5e-4
    ),
    "resnet20": Recipe(
        architecture=ResNet20(width=8), augmentation="flip-crop", padding=2, clip_norm=1.0, precision="bfloat16"
    ),
    "resnet18": Recipe(
        architecture=ResNet18(width=8),
        optimizer="adamw",
        schedule="multistep",
        warmup_epochs=2.5,
        milestones=(0.25, 0.5),
        decay=0.5,
        patience=3,
    ),
    "resnet18-of-sizes": Recipe(architecture=ResNet18(widths=(64, 128, 256, 1024), strides=(1, 2, 2, 1), stem="tiny")),
    "resnet20-of-sizes": Recipe(architecture=ResNet20(widths=(8, 8, 8), strides=(1, 2, 1), stem="imagenet")),
    "stopped": Recipe(epochs=20, stop_after=6.5),
    "noisy": Recipe(augmentation="gaussian", augmentation_strength=0.25),
    "defended": Recipe(objective=LabelSmoothing(smoothing=0.25), output=Temperature(temperature=3.0)),
    "butterfly-mlp": Recipe(architecture=MLP(butterfly=Butterfly(layers=("0",), factors=3, budget=0.25))),
    "butterfly-cnn": Recipe(architecture=CNN(butterfly=EVERY)),
    "butterfly-resnet18": Recipe(architecture=ResNet18(butterfly=EVERY)),
    "butterfly-resnet20": Recipe(architecture=ResNet20(butterfly=EVERY)),
    "butterfly-yours": Recipe(architecture=Factory(factory="mine:net", butterfly=EVERY)),
    "last-mlp": Recipe(architecture=MLP(layout="channels-last")),
    "last-cnn": Recipe(architecture=CNN(layout="channels-last")),
    "last-resnet18": Recipe(architecture=ResNet18(layout="channels-last")),
    "last-resnet20": Recipe(architecture=ResNet20(layout="channels-last")),
    "last-yours": Recipe(architecture=Factory(factory="mine:net", layout="channels-last")),
    "sampled": Recipe(sampler=Swmr(width=30, strength=0.25)),
    "again": Recipe(retrain="after the move"),
    "yours": Recipe(
        architecture=Factory(factory="mine:net", source="0123456789abcdef0123"),
        procedure=Function(function="mine:train", source="fedcba98765432100123"),
    ),
}
QUERIES = {"cnn": Queries(mirror=True), "resnet20": Queries(mirror=True, shifts=1)}

PINNED = {
    "default": ("0e406cbe7f63d0549094", "b4bac74e4d20868f9069", "5b6c0363ace210bfef60"),
    "mlp": ("dcb76c021a0a87c9e6ec", "319ca21f1ca397c1ca53", "b6265f4f100fa03b218f"),
    "cnn": ("ceb58da544a4cd1793c6", "3cf5732e6cbaf2fce3c2", "f91c3291e070fd5ac6ae"),
    "resnet20": ("c5ea8ddc233e20b9e7e8", "add51e70fe288de3f05f", "9a41f17914b80d11e003"),
    "resnet18": ("26ecc212aeb7addc2dd1", "9e010fba38e47b242553", "bcdd1e735e6e0d1bb41f"),
    "resnet18-of-sizes": ("86f18912dddc20b32f82", "433d4b862caaa0882d6e", "f1e2fd9b90a77541f9e1"),
    "resnet20-of-sizes": ("0a345693914b26575121", "0e540e67df5622ffc7fd", "bab6bdecd48175d49013"),
    "stopped": ("837699209b555dfe6ac7", "05509af59d1d6ef8df1b", "642777b43fc5bb31eb3f"),
    "noisy": ("3be168b9cadc93e0b65b", "4ffac34430c667a148a4", "fcb5088033b3861148dc"),
    "defended": ("40544640d24e396ad58f", "206475a4e46c337bb346", "d78fa1d1de47bae69626"),
    "butterfly-mlp": ("067a0dcd15fc7ff53a17", "524bb359618a1461451f", "328b7a1c1942b060b9d0"),
    "butterfly-cnn": ("083e88ad8ed69087f237", "c11b64c7f9add8a0edf9", "eb9b4d80861202760b35"),
    "butterfly-resnet18": ("09177896e0023db92d58", "7ed8976d10a8d36b80b5", "c4f5c5a2de945cffb89e"),
    "butterfly-resnet20": ("50a74979d5f957f08780", "daf1f0ec5c26069f64d2", "8ca8b8c1dafd5ad24379"),
    "butterfly-yours": ("df7ba7a35c0be5401010", "c51ad2d224c23564e7b7", "340768d702e52564d214"),
    "last-mlp": ("804d479dc1d3023ed4ae", "4f9abc9abbc2b1ae5099", "2c6dbb2671fc072e0de9"),
    "last-cnn": ("18f88b6feab9fc5a6bfc", "d600417f812ddfaecfd3", "b6e245af739e777f00ce"),
    "last-resnet18": ("02b8c399215ef7a9d012", "7ba5576779eb3113ecdb", "5412caf8328e9b75662c"),
    "last-resnet20": ("050642584334fd38d4c9", "fcd3d2c7fd79301c5358", "36c6e04e99f8e051c6eb"),
    "last-yours": ("1096abc043cfb307c194", "48c89f861c2fc5c1af98", "8b82fc37b4ae080a279e"),
    "sampled": ("8bd1e0bd3827cdf8e207", "465ed48562e925660019", "ea8c4e35d63437fc4d42"),
    "again": ("9972078cdafb0a2b26b5", "1cacf256e97ed8b92959", "eba4211133e7539f8110"),
    "yours": ("eb5f5ed7c85c94ce4385", "1e336d2905f9d394bcb3", "adc03ef27a60b9bc6636"),
}


DEFAULTS = {
    "Recipe": (
        Recipe(),
        {
            "architecture": {
                "method": "mlp",
                "butterfly": None,
                "layout": None,
                "widths": [256, 256],
                "dropout": 0.0,
            },
            "objective": {"method": "cross-entropy"},
            "sampler": {"method": "shuffle"},
            "procedure": {"method": "plain"},
            "output": {"method": "none"},
            "epochs": 40,
            "batch_size": 64,
            "optimizer": "adam",
            "learning_rate": 0.001,
            "momentum": 0.9,
            "nesterov": False,
            "weight_decay": 0.0,
            "schedule": "constant",
            "warmup_epochs": 0.0,
            "milestones": [0.5, 0.75],
            "decay": 0.1,
            "augmentation": "none",
            "padding": 4,
            "augmentation_strength": None,
            "clip_norm": None,
            "patience": None,
            "stop_after": None,
            "precision": "float32",
            "retrain": None,
        },
    ),
    "MLP": (MLP(), {"butterfly": None, "layout": None, "widths": [256, 256], "dropout": 0.0}),
    "CNN": (CNN(), {"butterfly": None, "layout": None, "widths": [32, 64, 128]}),
    "ResNet18": (
        ResNet18(),
        {"butterfly": None, "layout": None, "width": 64, "widths": [], "strides": [], "stem": "cifar"},
    ),
    "ResNet20": (
        ResNet20(),
        {"butterfly": None, "layout": None, "width": 16, "widths": [], "strides": [], "stem": "cifar"},
    ),
    "Factory": (Factory(factory="m:f"), {"butterfly": None, "layout": None, "factory": "m:f", "source": ""}),
    "Butterfly": (EVERY, {"layers": ["*"], "factors": 2, "budget": None}),
    "Function": (Function(function="m:f"), {"function": "m:f", "source": ""}),
    "Queries": (Queries(), {"mirror": False, "shifts": 0}),
}


def population(name):
    x = (np.arange(40 * 36) * 37 % 251).astype(np.uint8).reshape(40, 6, 6)
    records = Records.make(x, np.arange(40) % 4)
    roles = Roles.split(records, 3, audited=24, validation=6, population=5)
    queries = QUERIES.get(name, Queries())
    return Population(RECIPES[name], records, roles, Membership.draw(4, 24, 3), 3, queries)


@pytest.mark.parametrize("name", RECIPES)
def test_identities_stay(name):
    made = population(name)
    assert (identity(made.recipe), made.training_id(2), made.signals_id(2)) == PINNED[name]


def test_identities_differ():
    everything = [value for pinned in PINNED.values() for value in pinned]
    assert len(set(everything)) == 3 * len(RECIPES)


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_stay(name):
    spec, values = DEFAULTS[name]
    assert {key: value for key, value in full(spec).items() if key != "method"} == values


def test_every_option_of_a_recipe_is_pinned_off_its_default():
    changed = {key for recipe in RECIPES.values() for key in canonical(recipe)}
    assert set(Recipe.model_fields) - changed - {"objective"} == set()


@pytest.mark.parametrize("kind", [MLP, CNN, ResNet18, ResNet20, Factory, Function, Queries])
def test_every_option_inside_is_pinned_off_its_default(kind):
    inside = [*(recipe.architecture for recipe in RECIPES.values()), *QUERIES.values(), RECIPES["yours"].procedure]
    changed = {key for spec in inside if type(spec) is kind for key in canonical(spec)}
    assert set(kind.model_fields) - changed == set()


@pytest.mark.parametrize(
    "change",
    [{"seed": 4}, {"recipe": Recipe(epochs=41)}, {"membership": Membership.draw(4, 24, 4)}],
)
def test_what_changes_a_model_changes_its_name(change):
    made = population("default")
    fields = {name: getattr(made, name) for name in ("recipe", "records", "roles", "membership", "seed", "queries")}
    other = Population(**fields | change)
    assert other.training_id(2) != made.training_id(2)
    assert other.signals_id(2) != made.signals_id(2)
    assert made.training_id(1) != made.training_id(2)


def test_other_queries_change_the_signals_only():
    made = population("default")
    other = Population(made.recipe, made.records, made.roles, made.membership, made.seed, Queries(mirror=True))
    assert other.training_id(2) == made.training_id(2)
    assert other.signals_id(2) != made.signals_id(2)
