"""What a defense is held against in a comparison, and what is said of configurations that contradict themselves."""

import pytest

import reticent
from reticent.errors import InputError, SpecError, UnknownNameError
from reticent.jobs.comparison.specs import baseline_of, row_specs
from reticent.jobs.config import gather

SMALL = {"records": 120, "models": 4, "epochs": 1, "attacks": ("loss",), "workers": 1}
RELAXED = {"relax": {"defense": "relaxloss:level=1.5"}}


def names(recipes, defenses, runs=()):
    found = row_specs(runs, recipes, SMALL, defenses)
    return [one.name for one in found], baseline_of(found, None).name


def test_a_defense_is_held_against_none_where_no_recipe_is_undefended():
    assert names(RELAXED, ["top-k:k=1"]) == (["none", "relax", "top-k:k=1"], "none")
    assert names({}, ["top-k:k=1"]) == (["none", "top-k:k=1"], "none")
    assert names(RELAXED, ["top-k:k=1", "none"]) == (["relax", "top-k:k=1", "none"], "none")
    assert names({"plain": {}}, ["top-k:k=1"]) == (["plain", "top-k:k=1"], "plain")
    assert names(RELAXED | {"plain": {}}, "top-k:k=1") == (["relax", "plain", "top-k:k=1"], "plain")
    found = row_specs((), RELAXED, SMALL, ["top-k:k=1"])
    assert [one.defended for one in found] == [False, True, True]


def test_the_undefended_row_shares_the_roles_of_the_others():
    found = row_specs((), {"adv": {"defense": "adv-reg"}}, SMALL, ["top-k:k=1"])
    assert [one.name for one in found] == ["none", "adv", "top-k:k=1"]
    assert len({len(one.job.population.roles.reference) for one in found}) == 1


@pytest.mark.slow
def test_a_defense_is_held_against_none_where_no_run_is_undefended(tmp_path):
    reticent.audit(**SMALL, replicates=100, defense="relaxloss", store=tmp_path / "store", out=tmp_path / "relaxed")
    assert names({}, ["top-k:k=1"], [tmp_path / "relaxed"])[0] == ["none", "relaxed", "top-k:k=1"]


def test_a_defended_recipe_of_that_name_is_told_apart():
    with pytest.raises(InputError, match="held against the undefended recipe, which is called 'none', as a defended"):
        row_specs((), {"none": {"defense": "hamp"}}, SMALL, ["top-k:k=1"])


def test_a_baseline_that_no_row_is_says_how_to_have_it():
    two = RELAXED | {"hamp": {"defense": "hamp"}}
    with pytest.raises(UnknownNameError, match=r"unknown baseline 'none': .* with --defense none \(defenses="):
        reticent.compare(recipes=two, baseline="none", **SMALL)
    with pytest.raises(UnknownNameError, match=r"unknown baseline 'relaxed': did you mean 'relax'\?$"):
        reticent.compare(recipes=two, baseline="relaxed", **SMALL)


def test_one_defense_for_all_beside_defenses_of_their_own_is_refused():
    with pytest.raises(InputError, match=r"defense: it is one for all rows, got 'hamp': .* give defenses=\['hamp'\]"):
        row_specs((), (), SMALL | {"defense": "hamp"}, ["top-k:k=1"])


def test_roles_that_differ_are_named_with_their_sizes():
    with pytest.raises(InputError) as caught:
        row_specs((), [{"reference": 0}, {"reference": 359}], SMALL)
    assert "they differ in the roles of the records: a comparison is paired; they have --reference 0 and 359" in str(
        caught.value
    )
    assert "give both the same --reference (left out, it is a fifth of the records for a defense" in str(caught.value)
    with pytest.raises(InputError, match=r"have --records 120 and 130, --validation 0 and 9: .* --records and --valid"):
        row_specs((), [{"records": 120}, {"records": 130, "validation": 9}], {"models": 4})
    with pytest.raises(InputError, match=r"roles of the records: a comparison is paired; give both the same --seed"):
        row_specs((), [{}, {"seed": 5}], SMALL)


def test_runs_by_name_are_refused_with_the_way_to_write_them():
    with pytest.raises(InputError, match=r"by their place, not by name: write reticent\.compare\('a1', 'a2'\)"):
        reticent.compare(runs=["a1", "a2"])
    with pytest.raises(InputError, match=r"got 0: .*as in reticent\.compare\('audit-a', 'audit-b'\)"):
        reticent.compare()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('defense = "hamp"\n[recipe]\nobjective = {method = "relaxloss"}', "objective is 'relaxloss', and the defense"),
        ('defense = "hamp"\n[recipe]\nobjective = "relaxloss"', "objective is 'relaxloss', and the defense 'hamp'"),
        ("[defense]\nepsilon = 8", "defense: expected a name such as relaxloss, or a table with a name"),
        ('defense = "hampp"', "unknown defense 'hampp'"),
    ],
)
def test_a_file_that_contradicts_itself_is_named(tmp_path, text, words):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        gather(file, {"epochs": 2})
    assert str(caught.value).startswith(f"{file}: {words}")


def test_a_file_is_named_where_a_flag_contradicts_it_and_not_where_the_flag_is_wrong(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[recipe]\nobjective = "relaxloss"')
    with pytest.raises(SpecError) as caught:
        gather(file, {"defense": "hamp"})
    assert str(caught.value).startswith(f"{file}: objective is 'relaxloss'")
    with pytest.raises(UnknownNameError, match=r"^unknown defense 'hampp'"):
        gather(file, {"defense": "hampp"})
    file.write_text('defense = "hamp"\n[recipe]\nobjective = "relaxloss"')
    assert gather(file, {"defense": "relaxloss"}).defense == "relaxloss"
