"""What may be given to ``reticent.compare``, and one sentence for what may not."""

from pathlib import Path

import pytest

import reticent
from reticent.errors import InputError, UnknownNameError
from reticent.jobs.comparison.sources import named, place
from reticent.jobs.comparison.specs import row_specs

SMALL = {"records": 60, "models": 4, "epochs": 1, "attacks": ("loss",), "workers": 1, "replicates": 100}


def test_recipes_in_a_list_are_named_by_file_or_number():
    decay = {"weight_decay": 0.01}
    assert named([{}, decay, "a/b.toml"]) == {"recipe 1": {}, "recipe 2": decay, "b": "a/b.toml"}
    assert named("a.toml") == {"a": "a.toml"}
    assert named(()) == {}
    found = row_specs((), [{}, decay], SMALL)
    assert [one.name for one in found] == ["recipe 1", "recipe 2"]
    assert found[1].job.population.recipe.weight_decay == 0.01


@pytest.mark.parametrize(
    ("recipes", "words"),
    [
        ([5], "recipes: expected for 'recipe 1' a TOML file or a table of keys and values, got 5"),
        ({"a": 5}, "recipes: expected for 'a' a TOML file or a table"),
        (5, "recipes: expected TOML files, or tables of keys and values, got 5"),
        (None, "recipes: expected TOML files, or tables of keys and values, got NoneType"),
        (["x/a.toml", "y/a.toml"], "recipes: expected files of different names, got x/a.toml, y/a.toml"),
        ({" ": {}}, "recipes: expected a name for each recipe, got an empty one"),
    ],
)
def test_what_is_no_recipe(recipes, words):
    with pytest.raises(InputError) as error:
        reticent.compare(recipes=recipes)
    assert words in str(error.value)


def test_what_is_no_run():
    with pytest.raises(InputError, match=r"got dict; recipes are given as recipes=\{'name': \{\.\.\.\}\}"):
        reticent.compare({"weight_decay": 0.1}, {})
    with pytest.raises(InputError, match=r"expected as runs folders of audits, .*, got int$"):
        reticent.compare(5, 6)


def test_a_wrong_argument_gives_the_nearest():
    with pytest.raises(UnknownNameError, match=r"unknown argument 'baselin': did you mean 'baseline'"):
        reticent.compare(recipes=[{}, {}], baselin="a")
    with pytest.raises(UnknownNameError, match=r"unknown argument 'recipess': did you mean 'recipes'"):
        reticent.compare(recipess=[{}, {}])


@pytest.mark.slow
def test_results_of_audits_are_runs_and_flags_that_contradict_them_are_named(tmp_path):
    made = [
        reticent.audit(**SMALL, weight_decay=decay, store=tmp_path / "store", out=tmp_path / f"out{decay}")
        for decay in (0.0, 0.1)
    ]
    assert place(made[0]) == place(str(tmp_path / "out0.0")) == Path(tmp_path / "out0.0")
    assert [one.name for one in row_specs(made, (), {})] == ["out0.0", "out0.1"]
    with pytest.raises(InputError) as error:
        row_specs(made, (), {"epochs": 5, "delta": 0.001, "recipe.dropout": None})
    assert "out0.0: its models were made of other data, code or options" in str(error.value)
    assert "--epochs would make other ones: leave it out, run reticent audit again" in str(error.value)
    with pytest.raises(InputError, match=r"--seed and --set architecture\.dropout would make other ones"):
        row_specs(made, (), {"seed": 3, "architecture.dropout": 0.5})
