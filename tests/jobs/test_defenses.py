"""Defenses by name: what fills which field of the recipe, options, and what is refused with which words."""

import numpy as np
import pytest

from reticent.cli.defenses import defenses
from reticent.errors import InputError, RolesError, SpecError, UnknownNameError
from reticent.findings.clash import Clash
from reticent.jobs.comparison.specs import row_specs
from reticent.jobs.config import called, chosen, gather, prepare
from reticent.jobs.defenses import PARTS, UNDEFENDED, catalogue, defended, explained, has_defense, parts_of
from reticent.objectives.label_smoothing import LabelSmoothing
from reticent.options import AuditConfig
from reticent.outputs.temperature import Temperature
from reticent.procedures.recipe_checks import check
from reticent.say.defenses import goes_with
from reticent.spec import choices
from reticent.training.recipe import Recipe

SMALL = {"models": 4, "records": 200, "epochs": 1}


def test_a_name_fills_the_field_of_its_kind():
    assert parts_of("relaxloss") == {"objective": {"name": "relaxloss"}}
    assert parts_of("temperature") == {"output": {"name": "temperature"}}
    assert parts_of("none") == {}


def test_names_are_joined_and_options_read_as_toml():
    assert parts_of("relaxloss:level=2, upper=0.5 + temperature:temperature=3") == {
        "objective": {"name": "relaxloss", "level": 2, "upper": 0.5},
        "output": {"name": "temperature", "temperature": 3},
    }
    assert parts_of("relaxloss:variant=B")["objective"]["variant"] == "B"
    assert parts_of("relaxloss:detach=false")["objective"]["detach"] is False


def test_an_option_goes_to_the_part_that_has_it():
    parts = parts_of({"name": "hamp+temperature", "temperature": 3.0, "gamma": 0.5})
    assert parts == {
        "objective": {"name": "hamp", "gamma": 0.5},
        "output": {"name": "temperature", "temperature": 3.0},
    }


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("relaxlos", UnknownNameError, "did you mean 'relaxloss'"),
        ("plain", SpecError, "part of the undefended recipe"),
        ("rounding+top-k", SpecError, "both a change of the answers, of which a model has one: compare"),
        ("function", UnknownNameError, "unknown defense"),
        ("+relaxloss", SpecError, "a part of it is empty"),
        ("relaxloss+", SpecError, "a part of it is empty"),
        ("hamp++relaxloss", SpecError, "a part of it is empty"),
        ("hamp+DPSGD", UnknownNameError, "unknown defense 'DPSGD': did you mean 'dpsgd'"),
        ("", SpecError, "expected a name such as relaxloss"),
        ({"level": 2}, SpecError, "expected a name"),
        ("relaxloss+hamp", SpecError, "are both a loss"),
        ("relaxloss:level", SpecError, "name:option=value"),
        ({"name": "relaxloss", "leval": 2}, SpecError, "did you mean 'level'"),
        ({"name": "relaxloss:level=1", "level": 2}, SpecError, "given twice"),
        ({"name": "none", "level": 2}, SpecError, "there are none"),
    ],
)
def test_what_is_wrong_is_said(given, error, words):
    with pytest.raises(error, match=words):
        parts_of(given)


def test_a_recipe_that_names_another_method_is_refused():
    assert defended({"epochs": 3}, "relaxloss") == {"epochs": 3, "objective": {"name": "relaxloss"}}
    options = {"procedure": {"noise": 2.0}}
    assert defended(options, "dpsgd") == {"procedure": {"name": "dpsgd", "noise": 2.0}}
    assert defended(options, "dpsgd:noise=2.0") == {"procedure": {"name": "dpsgd", "noise": 2.0}}
    with pytest.raises(SpecError, match=r"procedure.noise is 2.0, and the defense has noise=1.0: leave one"):
        defended(options, "dpsgd:noise=1.0")
    with pytest.raises(SpecError, match="objective is 'hamp'"):
        defended({"objective": "hamp"}, "relaxloss")
    with pytest.raises(SpecError, match="leave one of the two out"):
        defended({"objective": {"name": "hamp"}}, "none")
    assert defended({"objective": {"name": "cross-entropy"}}, "none")["objective"] == {"name": "cross-entropy"}
    assert defended({"procedure": "mine:train"}, "temperature")["procedure"] == "mine:train"


def test_a_defense_is_only_another_recipe():
    job = prepare(chosen(None, SMALL | {"defense": "label-smoothing+temperature", "defense__smoothing": 0.2}))
    assert job.population.recipe.objective == LabelSmoothing(smoothing=0.2)
    assert job.population.recipe.output == Temperature()
    assert has_defense(job.population.recipe)
    assert not has_defense(Recipe())


def test_a_file_may_hold_a_table_and_flags_win(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text('models = 4\n[defense]\nname = "label-smoothing"\nsmoothing = 0.3\n')
    assert gather(file, {}).defense == {"name": "label-smoothing", "smoothing": 0.3}
    assert gather(file, {"defense.smoothing": 0.4}).defense == {"name": "label-smoothing", "smoothing": 0.4}
    assert gather(file, {"defense": "hamp"}).defense == "hamp"


def test_every_line_of_the_tables_is_listed_and_told():
    listed = {one.name: one for one in catalogue()}
    assert set(listed) == {name for table in PARTS.values() for name in table} - {"function", *UNDEFENDED.values()}
    for name in ("relaxloss", "cwrf", "temperature"):
        assert explained(name) == listed[name]
    for name, one in listed.items():
        assert set(one.options) == set(PARTS[one.part][name].spec.model_fields) - {"inner"}
        assert one.paper, name
        assert one.cost, name
    with pytest.raises(UnknownNameError, match="did you mean"):
        explained("hampp")


def test_a_procedure_goes_into_the_second_stage_of_one_that_takes_it():
    for text in ("cwrf:rate=0.05+dpsgd:noise=1.0+relaxloss", "relaxloss+dpsgd:noise=1.0+cwrf:rate=0.05"):
        assert parts_of(text) == {
            "objective": {"name": "relaxloss"},
            "procedure": {"name": "cwrf", "rate": 0.05, "inner": {"name": "dpsgd", "noise": 1.0}},
        }
    parts = parts_of({"name": "cwrf+dpsgd", "noise": 1.0, "rate": 0.05})
    assert parts["procedure"] == {"name": "cwrf", "rate": 0.05, "inner": {"name": "dpsgd", "noise": 1.0}}
    recipe = Recipe(**chosen(None, SMALL | {"defense": "cwrf+dpsgd:noise=1.0"}).recipe)
    job = prepare(gather(None, SMALL | {"defense": "cwrf+dpsgd:noise=1.0"}))
    assert recipe.procedure.method == "plain"
    assert job.population.recipe.procedure.inner.noise == 1.0
    for text in ("dpsgd+selena", "cwrf+pptp", "cwrf+dpsgd+mist"):
        with pytest.raises(SpecError, match="are both a way of training"):
            parts_of(text)


def test_no_name_stands_in_two_tables():
    names = [name for table in PARTS.values() for name in table]
    assert len(set(names)) == len(names)


def test_the_attacker_who_does_not_know_needs_a_defense():
    with pytest.raises(SpecError, match="no defense that references could be trained without"):
        prepare(AuditConfig(also_non_adaptive=True, models=4, records=200))


def test_rows_of_a_comparison_are_defenses_and_the_undefended_comes_first():
    found = row_specs([], [], SMALL | {"also_non_adaptive": True}, ["label-smoothing", "temperature"])
    assert [one.name for one in found] == ["none", "label-smoothing", "temperature"]
    assert [one.job.config.also_non_adaptive for one in found] == [False, True, True]
    assert len({one.job.population.membership.digest for one in found}) == 1
    with pytest.raises(InputError, match="called 'temperature'"):
        row_specs([], [], SMALL, ["temperature", "temperature"])


def test_a_row_may_be_a_table_with_a_name_and_options():
    tables = [{"name": "relaxloss", "level": 2}, {"name": "hamp+temperature", "temperature": 3.0}]
    found = row_specs([], [], SMALL, tables)
    assert [one.name for one in found] == ["none", "relaxloss:level=2", "hamp+temperature:temperature=3.0"]
    assert found[2].job.population.recipe.output == Temperature(temperature=3.0)
    assert [one.name for one in row_specs([], [], SMALL, tables[0])] == ["none", "relaxloss:level=2"]


@pytest.mark.parametrize(("defense", "recipes"), [(["hamp"], ()), ("hamp", ()), (["hamp"], {"a": {}, "b": {}})])
def test_one_defense_for_all_rows_is_not_taken_for_several(defense, recipes):
    with pytest.raises(InputError, match=r"one for all rows, got .*give defenses=\['hamp'\]"):
        row_specs([], recipes, SMALL | {"defense": defense})


def test_a_comparison_of_nothing_says_what_to_give():
    with pytest.raises(InputError, match=r"got 0: give --defense NAME .*--recipe FILE, or folders of audits"):
        row_specs([], [], SMALL)


@pytest.mark.parametrize(("name", "first"), [("hamp+hamp-output", "hamp"), ("dpsgd:epsilon=8", "dpsgd")])
def test_one_defense_is_explained_by_its_name_alone(name, first):
    with pytest.raises(SpecError, match=f"expected one name, without options, such as '{first}', got"):
        explained(name)


def test_all_rows_share_the_reference_records_that_one_of_them_needs():
    found = row_specs([], [], {"models": 4, "epochs": 1}, ["none", "adv-reg"])
    sizes = [one.job.population.roles.sizes() for one in found]
    assert sizes[0] == sizes[1]
    assert sizes[0]["reference"] == 1797 // 5
    with pytest.raises(RolesError, match="give --reference 2 or more, or leave it out"):
        prepare(chosen(None, {"models": 4, "epochs": 1, "defense": "adv-reg", "reference": 0}))


@pytest.mark.parametrize("defense", ["dpsgd", "selena", "mist"])
def test_a_training_function_is_not_silently_replaced(defense):
    with pytest.raises(SpecError, match=f"a function of yours, which stands in the place of {defense}"):
        defended({"procedure": "mine:train"}, defense)


def test_commas_in_lists_and_signs_in_numbers_part_nothing():
    assert parts_of("memguard:widths=[64,32],budget=0.5")["output"] == {
        "name": "memguard",
        "widths": [64, 32],
        "budget": 0.5,
    }
    assert parts_of("past:weight=1e+2+memguard")["objective"] == {"name": "past", "weight": 100.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("none:x=1", "the undefended recipe, which has no options"),
        ("cross-entropy", "part of the undefended recipe"),
        ("relaxloss:level=0.5,level=2", "given twice"),
    ],
)
def test_no_option_is_dropped_in_silence(given, words):
    with pytest.raises(SpecError, match=words):
        parts_of(given)


@pytest.mark.parametrize("output", ["memguard", "hamp-output"])
def test_a_proof_is_not_put_beside_answers_that_it_does_not_cover(output):
    with pytest.raises(SpecError, match="looks at the members themselves"):
        prepare(chosen(None, SMALL | {"reference": 100, "defense": f"dpsgd:epsilon=8+{output}"}))
    prepare(chosen(None, SMALL | {"reference": 100, "defense": f"dpsgd:epsilon=8+{output}"} | OK[output]))


OK = {"memguard": {"defense": "dpsgd+top-k"}, "hamp-output": {"defense": "dpsgd+hamp-output:features=bits"}}


def test_what_hides_or_teaches_nothing_with_so_many_classes_is_refused_before_training():
    with pytest.raises(SpecError, match=r"less than the number of classes minus one \(9\), got 1000"):
        prepare(chosen(None, SMALL | {"defense": "top-k:k=1000"}))
    with pytest.raises(SpecError, match=r"less than ln C = 2\.303.*such as 0\.8"):
        prepare(chosen(None, SMALL | {"defense": "relaxloss:level=3"}))
    with pytest.raises(SpecError, match="finite number"):
        prepare(chosen(None, SMALL | {"defense": "relaxloss:level=nan"}))
    two = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    for defense, words in (("relaxloss", r"got 1 \(the default\)"), ("top-k", "one probability tells the other")):
        with pytest.raises(SpecError, match=words):
            called(None, {"dataset": two, "models": 4, "defense": defense})


def test_options_tell_the_words_that_they_may_be():
    listed = {one.name: one for one in catalogue()}
    assert listed["hamp-output"].options["features"][0].startswith("auto, bits, uniform, normal, columns. For tabular")
    assert listed["cwrf"].options["variant"][0].startswith("cwrf, remove, rewind-train-vulnerable. ")
    for one in listed.values():
        for key, field in PARTS[one.part][one.name].spec.model_fields.items():
            words = choices(field.annotation) if key in one.options else ()
            assert all(str(word) in one.options[key][0].partition(". ")[0] for word in words), (one.name, key)


@pytest.mark.parametrize(
    ("clashes", "words"),
    [
        ({}, "any loss or choice of records, joined by +"),
        ({"dpsgd": Clash(), "mist": Clash()}, "any loss or choice of records, joined by +, but not with dpsgd or mist"),
        ({"mist": Clash(True, "mist:a=1")}, "any loss or choice of records, joined by +; not with mist if mist:a=1"),
        ({"mist": Clash(False, "b:c=1")}, "any loss or choice of records, joined by +; with mist only if b:c=1"),
    ],
)
def test_what_a_defense_goes_with_is_a_sentence(clashes, words):
    assert goes_with(["a loss", "a choice of records"], clashes) == words


def test_what_a_defense_does_not_go_with_is_what_the_check_refuses():
    listed = {one.name: one for one in catalogue()}
    unless = Clash(False, "hamp-output:features=bits or uniform or normal or columns")
    assert listed["dpsgd"].clashes["hamp-output"] == listed["hamp-output"].clashes["dpsgd"] == unless
    tuned = Clash(False, "past:form=renormalised or past:weight=0 or mist:parts=1")
    samplers = dict.fromkeys(("rsw", "rmr", "swmr"), Clash())
    assert listed["mist"].clashes == {"mixup-mmd": Clash(True, "mist:local_epochs=1"), "past": tuned, **samplers}
    assert listed["mixup-mmd"].clashes["pptp"] == Clash(True, "pptp:tuning_epochs=1")
    assert listed["dpsgd"].clashes["relaxloss"] == Clash()
    for name, one in listed.items():
        for other, clash in one.clashes.items():
            option, _, value = clash.options.partition(":")[2].partition("=")
            owner = clash.options.partition(":")[0] or name
            given = {key: {"name": key} for key in (name, other)}
            if clash.options:
                word = value.split(" or ")[0].rstrip(",")
                given[owner][option] = int(word) if word.isdigit() else word
            parts = {listed[key].part: spec_of(options) for key, options in given.items()}
            if clash.options and not clash.defaults:
                check(Recipe(**parts), reference=2)
            else:
                with pytest.raises(SpecError):
                    check(Recipe(**parts), reference=2)


def spec_of(options):
    name = options.pop("name")
    return next(table[name].spec(**options) for table in PARTS.values() if name in table)


def test_the_command_says_where_the_card_is_and_what_goes_with_what(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    defenses("mist")
    said = capsys.readouterr().out
    assert "in the repository: docs/methods/mist.md" in said
    assert "; not with mixup-mmd if mist:local_epochs=1; with past only if " in " ".join(said.split())


def test_a_loss_beside_a_function_of_ones_own_is_refused_by_the_name_that_was_given():
    for procedure in ("own:train", {"name": "own:train"}):
        with pytest.raises(SpecError, match=r"defense 'relaxloss': relaxloss is a loss, which is not used.*own:train"):
            defended({"procedure": procedure}, "relaxloss")
