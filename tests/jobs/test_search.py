"""A search tries values on models of its own, chooses by its rule, and says what it cannot."""

import io
import json

import pytest
from rich.console import Console

import reticent
from reticent.cli.search import _values
from reticent.errors import SpecError, UnknownNameError
from reticent.findings.search import SearchDocument, Tried
from reticent.jobs import search as searching
from reticent.jobs.defenses import with_option
from reticent.report import estimates
from reticent.report.kinds.search import search
from reticent.report.render.html import html
from reticent.report.render.terminal import terminal
from reticent.say.search import spoken

MARK = "†"
"""Stands behind a share of members found that equal scores decide."""

TINY = {"models": 4, "records": 240, "epochs": 3, "attacks": ["loss", "lira"], "replicates": 100}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    over = {"level": [0.1, 2.0, 2.2]}
    return reticent.search("relaxloss", over, lost=0.9, out=folder / "o", store=folder / "s", **TINY)


@pytest.mark.slow
def test_all_values_are_tried_and_the_least_leak_is_chosen(found):
    document = found.document
    assert [one["options"] for one in document["tried"]] == [{"level": 0.1}, {"level": 2.0}, {"level": 2.2}]
    idle, *able = document["tried"]
    assert idle["idle"], "three epochs do not bring the loss down to 0.1"
    assert found.chosen == min(able, key=lambda one: one["auc"]["mean"])["defense"]
    assert found.chosen in found.sentence
    assert json.loads((found.files[1]).read_text())["chosen"] == found.chosen
    assert "<svg" in found.files[0].read_text()


@pytest.mark.slow
def test_its_models_are_none_of_the_audit_of_the_same_seed(found, tmp_path):
    seed = found.document["seed"]
    assert seed["audit"] == 0
    assert seed["search"] > 0
    audited = reticent.audit(defense=found.chosen, out=tmp_path / "a", store=found.files[0].parent.parent / "s", **TINY)
    assert audited.document["environment"]["models_found"] == 0
    tried = json.loads(next(found.files[0].parent.glob("tried/relaxloss*/audit.json")).read_text())
    assert tried["population"]["models"] == 4
    assert not {row["run"] for row in tried["population"]["per_model"]} & {
        row["run"] for row in audited.document["population"]["per_model"]
    }


def estimate(mean):
    return {"mean": mean, "std": 0.01, "interval": [mean - 0.02, mean + 0.02], "freedom": None}


def tried(defense, options, auc, accuracy):
    return {
        "defense": defense,
        "options": options,
        "accuracy": estimate(accuracy),
        "auc": estimate(auc),
        "tpr": estimate(auc - 0.5),
        "attack": "lira",
        "epsilon": 0.3,
    }


def document(**changes):
    over = {"level": [0.1, 2.0], "upper": [0.5, 1.0]}
    rows = searching._rows("relaxloss", over)
    plain = {
        "defense": "relaxloss",
        "over": over,
        "lost": 0.02,
        "fpr": 0.01,
        "confidence": 0.95,
        "data": {"name": "<b>digits", "records": 240},
        "chosen": "relaxloss:level=2.0,upper=0.5",
        "seed": {"audit": 0, "search": 7},
        "undefended": tried("none", {}, 0.92, 0.71),
        "tried": [tried(text, o, 0.9 - 0.1 * o["level"], 0.7) for text, o in rows.items()],
        "environment": {"reticent": "0"},
    }
    return spoken(SearchDocument.read(plain | changes, "made up"))


def test_all_combinations_are_tried():
    assert list(searching._rows("relaxloss", {"level": [0.1, 2.0], "upper": [0.5, 1.0]}).values()) == [
        {"level": level, "upper": upper} for level in (0.1, 2.0) for upper in (0.5, 1.0)
    ]


@pytest.mark.words
def test_the_page_shows_both_options_and_the_terminal_the_choice():
    told = document()
    page = html(search(told))
    assert page.count("<svg") == 2 * 3 + 1
    for key in ("level", "upper"):
        assert all(f"{what} against {key}" in page for what in ("accuracy, non-members", "AUC", "members found"))
    assert "chosen: " in page
    assert "least accepted: " in page
    assert "<b>digits" not in page
    assert html(search(told)) == page
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(terminal(search(told)))
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert [line.split()[0] for line in lines if line.endswith("chosen")] == [told.chosen]


@pytest.mark.words
def test_the_page_and_the_terminal_mark_what_equal_scores_decide():
    told = document()
    assert MARK not in html(search(told))
    first, *others = told.tried
    told = told.with_(tried=(first.with_(tpr=first.tpr.with_(tied=True)), *others))
    console = Console(width=300, record=True, file=io.StringIO())
    console.print(terminal(search(told)))
    for text in (html(search(told)), console.export_text()):
        assert text.count(MARK) == 2
        assert estimates.TIES in " ".join(text.split())


def test_a_value_that_loses_too_much_accuracy_is_not_chosen():
    points = [
        Tried(**tried(name, {}, auc, accuracy))
        for accuracy, auc, name in (
            (0.60, 0.55, "weak"),
            (0.69, 0.80, "good"),
            (0.70, 0.80, "same"),
            (0.72, 0.9, "loud"),
        )
    ]
    undefended = Tried(**tried("none", {}, 0.9, 0.70))
    assert searching.choose(points, undefended, 0.02).defense == "good"
    assert searching.choose(points[:1], undefended, 0.02) is None
    assert 0.14 - 0.02 > 0.12  # by rounding
    exact = Tried(**tried("exact", {}, 0.8, 0.12))
    assert searching.choose([exact], Tried(**tried("none", {}, 0.9, 0.14)), 0.02) is exact
    assert document(chosen=None).sentence == (
        "Every value that was tried costs more than 2 percentage points of accuracy (71.0 % without a defense): "
        "nothing is chosen."
    )
    assert document().sentence.startswith(
        "Of the values that cost at most 2 percentage points of accuracy (71.0 % without a defense), "
        "relaxloss:level=2.0,upper=0.5 leaks least: its AUC is 0.700 (lira), that without a defense 0.920 (lira); its "
        "accuracy is 70.0 %. "
    )


@pytest.mark.parametrize(
    ("auc", "told"), [(0.91, ""), (0.92, ", but no less than no defense"), (0.95, ", but no less than no defense")]
)
def test_a_choice_that_leaks_no_less_than_no_defense_is_told(auc, told):
    found = document()
    chosen = next(one for one in found.tried if one.defense == found.chosen)
    assert found.undefended.auc.mean == 0.92
    changed = tuple(one.with_(auc=one.auc.with_(mean=auc)) if one is chosen else one for one in found.tried)
    assert f"{found.chosen} leaks least{told}: its AUC is {auc:.3f} " in spoken(found.with_(tried=changed)).sentence


@pytest.mark.words
def test_a_value_that_never_acted_is_not_chosen_and_is_told_of():
    undefended = Tried(**tried("none", {}, 0.9, 0.70))
    points = [
        Tried(**tried(name, {}, auc, 0.70), idle=idle) for name, auc, idle in (("a", 0.9, True), ("b", 0.95, False))
    ]
    assert searching.choose(points, undefended, 0.02).defense == "b"
    assert searching.choose(points[:1], undefended, 0.02) is None
    assert 0.14 - 0.02 > 0.12  # by rounding
    exact = Tried(**tried("exact", {}, 0.8, 0.12))
    assert searching.choose([exact], Tried(**tried("none", {}, 0.9, 0.14)), 0.02) is exact
    told = document()
    notice = "relaxloss never acted, since training was too short."
    first = told.tried[0].with_(idle=True, notices=(notice,))
    told = spoken(told.with_(tried=(first, *told.tried[1:])))
    end = f"{first.defense} never acted: it gives the same answers as no defense."
    assert told.sentence.endswith(end)
    assert f"{first.defense}: {notice}" in html(search(told))
    alone = told.with_(tried=tuple(one.with_(idle=True) for one in told.tried), chosen=None)
    assert spoken(alone).sentence.startswith("Nothing is chosen: no value that was tried made a difference. ")
    costly = spoken(told.with_(chosen=None)).sentence
    assert costly == (
        "Every value that acted costs more than 2 percentage points of accuracy (71.0 % without a defense): nothing is "
        f"chosen. {end}"
    )


@pytest.mark.parametrize("seed", ["x", 1.5, -1, True])
def test_a_seed_that_is_none_is_told(seed, tmp_path):
    with pytest.raises(SpecError, match="seed: expected"):
        reticent.search("relaxloss", {"level": [1.0]}, seed=seed, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_option_is_answered_by_a_list_without_repetition():
    with pytest.raises(SpecError, match="unknown option 'zzz'") as told:
        with_option("cwrf+relaxloss", "zzz", 1)
    known = str(told.value).partition("expected one of ")[2].split(", ")
    assert known.count("variant") == 1  # which both parts have
    assert len(known) == len(set(known)) > 10


def test_an_option_is_written_beside_the_part_that_has_it():
    assert with_option("relaxloss", "level", 2.0) == "relaxloss:level=2.0"
    assert with_option("relaxloss:level=1,upper=0.5", "level", 2) == "relaxloss:level=2,upper=0.5"
    assert with_option("hamp + temperature", "temperature", 3.0) == "hamp+temperature:temperature=3.0"
    assert with_option("adv-reg+mist", "adv-reg.weight", 2.0) == "adv-reg:weight=2.0+mist"
    with pytest.raises(SpecError, match="both have an option 'weight'"):
        with_option("adv-reg+mist", "weight", 2.0)
    with pytest.raises(SpecError, match="hamp is no part of it"):
        with_option("relaxloss", "hamp.gamma", 1)
    with pytest.raises(SpecError, match="did you mean 'level'"):
        with_option("relaxloss", "leval", 1)


def test_values_on_the_command_line_may_be_lists():
    assert _values("widths=[64,32],[128,64]") == ("widths", [[64, 32], [128, 64]])


@pytest.mark.parametrize(
    ("defense", "over", "error", "words"),
    [
        ("relaxloss", {}, SpecError, "expected values to try"),
        ("relaxloss", {"level": []}, SpecError, "expected values to try"),
        ("none", {"level": [1]}, SpecError, "'none' has no options"),
        ("relaxlos", {"level": [1]}, UnknownNameError, "did you mean 'relaxloss'"),
        ("relaxloss", {"level": [1, 1]}, SpecError, "given twice"),
        ("relaxloss", {"level": list(range(61))}, SpecError, "at most 60 combinations"),
    ],
)
def test_what_is_wrong_is_said_before_training(defense, over, error, words, tmp_path):
    with pytest.raises(error, match=words):
        reticent.search(defense, over, out=tmp_path / "o", store=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_a_fraction_is_expected_of_what_may_be_lost(tmp_path):
    with pytest.raises(SpecError, match="fraction of accuracy"):
        reticent.search("relaxloss", {"level": [1]}, lost=2, out=tmp_path)
