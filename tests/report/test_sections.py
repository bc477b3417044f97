"""Epsilon, control, groups and the later columns of the records, on the page and in text."""

import copy
import io
import re

import example
import example_trust
import pytest
from reading import read
from reticent.auditing.epsilon.wording import sentence
from rich.console import Console

from reticent.report import dots, view, wording
from reticent.report.html import html
from reticent.report.markdown import markdown
from reticent.report.sections import control, epsilon, groups, records
from reticent.report.tables import terminal


def _light(document):
    """Leave out the figures that take long to draw."""
    for attack in document["attacks"]:
        del attack["roc"], attack["histogram"]
    del document["population"]["accuracy"]
    return document


@pytest.fixture(scope="module")
def older():
    return _light(example.document(models=2, records=300, attacks=3))


@pytest.fixture(scope="module")
def document(older):
    return example_trust.add(older)


@pytest.fixture(scope="module")
def page(document, rows):
    return html(document, rows)


def _changed(document, **changes):
    return copy.deepcopy(document) | changes


def _squeezed(element):
    return re.sub(r"\s+", " ", element.text).strip()


def _shown(document, width=80):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(terminal(document))
    return console.file.getvalue()


def test_epsilon_stands_beside_the_accountants(document, page):
    tile = next(e for e in read(page).all("div", class_="tile") if "Epsilon" in e.text)
    assert wording.at_least(document["epsilon"]["lower"]) in tile.text
    assert "the accountant proves at most 3.00" in tile.text
    bar = read(page).one("div", class_="range")
    assert bar.attributes["role"] == "img"
    assert "accountant" in bar.attributes["aria-label"]


def test_epsilon_has_a_line_an_attack_and_a_column_a_method(document):
    parts = epsilon.parts(document, view.ordered(document))
    assert [method["name"] for method in parts["methods"]] == [
        "every threshold",
        "split",
        "given threshold",
        "Gaussian",
    ]
    bounds = {b["method"]: b for b in document["attacks"][0]["epsilon"]["bounds"]}
    first = parts["lines"][0]
    assert first["name"] == document["attacks"][0]["name"]
    assert first["cells"][3]["epsilon"] == bounds["gaussian"]["epsilon"]
    assert first["cells"][3]["targets"] == (min(bounds["gaussian"]["targets"]), max(bounds["gaussian"]["targets"]))


@pytest.mark.parametrize(
    ("delta", "text"), [(1e-5, "0.00001"), (0.0, "0"), (0.001, "0.001"), (1e-12, "1e-12"), (None, "not stated")]
)
def test_deltas(delta, text):
    assert epsilon.number_of(delta) == text


def test_assumptions_are_listed_once(document):
    parts = epsilon.parts(document, view.ordered(document))
    assert parts["assumptions"] == [
        "“every threshold”, “split”, “given threshold” and “Gaussian” assume that the scores of different records do "
        "not depend on each other"
    ]


def test_the_bound_of_the_sentence_is_told_from_those_of_the_table(document):
    changed = _changed(document)
    changed["epsilon"] |= {"method": "all-thresholds", "attack": "rmia", "best_of": 7}
    told = (
        "Each bound of the table is of one attack by one method, looked at alone. The sentence takes “every "
        "threshold”, the method that was fixed in advance, under rmia, and lowers the bound for the choice among 7 "
        "attacks, so that it is below that of the table."
    )
    assert epsilon.parts(changed, view.ordered(changed))["origin"] == told
    assert f"{told}</p>\n<div" in html(changed, [])
    changed["epsilon"]["lower"] = 0.0
    nothing = epsilon.parts(changed, view.ordered(changed))["origin"]
    assert "under rmia" not in nothing
    assert nothing.endswith("and lowers it for the choice among 7 attacks: then no attack shows more than 0.")
    changed["epsilon"]["lower"] = 0.5
    text = markdown(changed)
    assert f"{told}\n\n| Attack" in text
    assert "“Gaussian” assume that the scores of different records" in text


def test_a_method_that_one_attack_lacks_is_a_dash(document):
    changed = _changed(document)
    del changed["attacks"][0]["epsilon"]["bounds"][1]
    parts = epsilon.parts(changed, view.ordered(changed))
    # The missing one goes to the end, as the first attack fixes the order.
    assert [cell is None for cell in parts["lines"][0]["cells"]] == [False, False, False, True]


def test_a_bound_above_the_accountants_is_an_alarm(document, rows):
    changed = _changed(document)
    changed["epsilon"].update(lower=5.0, consistent=False)
    text = read(html(changed, rows[:3])).one("main").text
    assert "The measured bound lies above what the accountant proves." in text
    assert "one of the two is wrong" in markdown(changed)
    assert epsilon.parts(changed, [])["track"] == {"lower": 100.0, "upper": 60.0}


def test_an_epsilon_that_the_user_states_is_told_once_and_as_a_statement(document, rows):
    changed = _changed(document)
    changed["epsilon"]["sentence"] = sentence(1.0, 1e-5, 0.95, changed["epsilon"]["accountant"])
    assert markdown(changed).count("accountant proves at most") == 1
    changed["epsilon"]["accountant"]["source"] = "given"
    changed["epsilon"]["sentence"] = "No training with epsilon below 1 could give such results."
    page = html(changed, rows[:3])
    assert "at most 3.00 as stated by the user, not computed" in read(page).one("section", id="verdict").text
    assert "accountant" not in read(page).one("div", class_="range").text
    assert "accountant proves" not in markdown(changed)
    changed["epsilon"].update(consistent=False, sentence=None)
    assert "at most 3.00, as stated by the user, not computed." in markdown(changed)
    assert "lies above what was promised" in read(html(changed, rows[:3])).one("main").text


def test_epsilon_without_an_accountant_has_no_bar(document, rows):
    changed = _changed(document)
    changed["epsilon"].update(accountant=None, consistent=None)
    root = read(html(changed, rows[:3]))
    assert root.all("div", class_="range") == []
    assert "accountant proves" not in root.one("section", id="verdict").text


@pytest.mark.parametrize("key", ["epsilon", "control", "groups"])
def test_null_is_as_good_as_missing(older, key):
    rows = example.rows(5)
    assert html(older | {key: None}, rows) == html(older, rows)
    assert markdown(older | {key: None}) == markdown(older)
    assert _shown(older | {key: None}) == _shown(older)


def test_control_shows_real_beside_shuffled(document, page):
    parts = control.parts(document, view.ordered(document))
    null = {entry["name"]: entry for entry in document["control"]["attacks"]}
    assert [line["name"] for line in parts["lines"]] == [a["name"] for a in view.ordered(document)]
    for line in parts["lines"]:
        assert line["null_auc"] == null[line["name"]]["auc"]
    assert parts["fpr"] == 0.01
    table = next(t for t in read(page).all("table") if "shuffled" in t.one("caption").text)
    assert len(table.one("tbody").all("tr")) == 3
    assert "AUC of 0.517, or 1.7\u00a0%" not in page
    changed = copy.deepcopy(document)
    changed["control"]["sentence"] = None
    said = "with a probability of 80\u00a0%: an AUC of 0.517, or 1.7\u00a0% of the training records found at 1 in 100"
    assert said in html(changed, [])


def test_control_says_that_its_intervals_stand_alone_where_the_table_does(document):
    shuffled = len(document["control"]["attacks"])
    told = (
        "Each interval here stands by itself, at 95 %: of so many, a few leave chance out by luck. The outcome above "
        f"allows for having looked at {shuffled} attacks, by wider intervals than these."
    )
    assert told in html(document, []).replace("\u00a0", " ")
    assert told in markdown(document).replace("\u00a0", " ")


@pytest.mark.parametrize(("passed", "word"), [(True, "Passed."), (False, "Not passed."), (None, "Not judged.")])
def test_control_says_how_it_ended(document, rows, passed, word):
    changed = _changed(document)
    changed["control"]["passed"] = passed
    outcomes = [e for e in read(html(changed, rows[:3])).all("p") if "outcome" in e.attributes.get("class", "")]
    assert word in outcomes[0].text
    assert f"**{word}**" in markdown(changed)


def test_a_verdict_without_a_leak_says_what_would_have_been_noticed(document, rows):
    changed = _changed(document)
    changed["verdict"]["leak"] = "not found"
    verdict = read(html(changed, rows[:3])).one("section", id="verdict")
    assert (
        "The smallest leak that an audit of this size would find, with a probability of 80\u00a0%: an AUC"
        in verdict.text
    )
    assert "smallest leak" not in read(html(document, rows[:3])).one("section", id="verdict").text


def test_groups_come_by_falling_auc_and_unmeasured_ones_last(document):
    by_class = groups.parts(document)[0]
    means = [line["auc"]["mean"] if line["auc"] else None for line in by_class["lines"]]
    assert means[-1] is None
    assert means[:-1] == sorted(means[:-1], reverse=True)
    assert {line["name"] for line in by_class["lines"]} == {f"digit {i}" for i in range(10)}


def test_groups_that_stand_out_have_a_sign_and_a_word(document):
    changed = _changed(document)
    for group, state in zip(changed["groups"][1]["groups"], ("more", "less", None), strict=True):
        group["stands_out"] = state
    root = read(html(changed, []))
    cells = [_squeezed(row.all("td")[-1]) for row in root.one("table", id="group-1-table").one("tbody").all("tr")]
    assert sorted(cells) == ["no", "▲ more", "▼ less"]


def test_the_most_exposed_group_is_named_only_if_the_document_names_it(document):
    changed = _changed(document)
    changed["groups"] = changed["groups"][:1]
    changed["groups"][0].update(most_exposed=None, sentence=None)
    assert "Most exposed: " not in read(html(changed, [])).text
    changed["groups"][0].update(most_exposed="5", sentence=None)
    assert "Most exposed: digit 5." in read(html(changed, [])).text


def test_many_groups_are_drawn_at_both_ends_and_listed_in_full(document):
    changed = example_trust.add(document, classes=100)
    changed["groups"] = changed["groups"][:1]
    parts = groups.parts(changed)[0]
    assert len(parts["drawn"]) == groups.DRAWN
    assert parts["drawn"][0] is parts["lines"][0]
    assert parts["known"] == 99
    drawing = dots.groups(parts["drawn"], parts["known"], "heading", "g")
    assert "69 groups between them are left out" in drawing
    root = read(html(changed, []))
    assert len(root.one("table", id="group-0-table").one("tbody").all("tr")) == 100
    assert "data-quiet" not in root.one("form", data_table="group-0-table").attributes


def test_record_table_has_the_later_columns_with_their_errors(document, rows):
    table = read(html(document, rows)).one("table", id="record-table")
    heads = [head.text for head in table.all("th", scope="col")]
    assert heads[:8] == [
        "Record",
        "Class",
        "sex",
        "Exposure",
        "Distance",
        "Chance of “member”",
        "Memorisation",
        "Memorisation, soft",
    ]
    cells = [cell.text for cell in table.one("tbody").all("tr")[0].all("td")]
    row = rows[0]
    assert cells[1] == row["sex"]
    assert cells[2] == f"{row['exposure']:.2f}±\u00a00.62"
    assert cells[4] == f"{row['probability']:.3f}{row['probability_low']:.2f} to {row['probability_high']:.2f}"
    assert table.attributes["data-texts"] == "3"


def test_groups_of_records_are_found_under_their_prefixed_key(document):
    row = {"record": 1, "group_sex": "female", "sex": "wrong"}
    assert groups.columns(document, row) == [("group_sex", "sex")]
    assert groups.columns(document, {"record": 1}) == []
    assert groups.columns(document, None) == []


def test_filters_offer_each_value_once_in_natural_order():
    rows = [{"record": i, "label": i % 12} for i in range(40)]
    offered = records.parts({}, rows, {})["filters"]
    assert offered == [{"column": 1, "title": "Class", "options": [f"class {i}" for i in range(12)]}]


def test_an_empty_group_can_be_chosen(document):
    rows = [
        {"record": i, "label": 0, "group_sex": value, "exposure": 1.0} for i, value in enumerate(["", " ", "a", None])
    ]
    parts = records.parts(document, rows, {})
    assert parts["filters"] == [{"column": 2, "title": "sex", "options": ["(empty)", "a", "–"]}]
    assert [line["texts"][1] for line in parts["lines"]] == ["(empty)", "(empty)", "a", "–"]


def test_text_forms_repeat_the_sentences(document):
    text = " ".join(_shown(document).split())
    for part in (document[key] for key in ("epsilon", "control", "exposure")):
        assert part["sentence"] in text
    written = markdown(document)
    assert "### Epsilon from below" in written
    assert "### Exposure by class" in written
    assert "### Control with the membership shuffled" in written


def test_markdown_tables_are_regular(document):
    changed = copy.deepcopy(document)
    changed["groups"][1]["groups"][0]["name"] = "a|b\n|`c`<br>"
    blocks = [b for b in markdown(changed).split("\n\n") if b.startswith("|")]
    assert len(blocks) == 5
    for block in blocks:
        lines = block.splitlines()
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(widths) == 1
        assert re.fullmatch(r"\|( -{3}:? \|)+", lines[1])
    assert r"a\|b \|\`c\`\<br\>" in markdown(changed)


def test_terminal_fits_80_columns(document):
    assert max(len(line) for line in _shown(document).splitlines()) <= 80


def test_a_bound_of_zero_is_no_epsilon_of_zero(document):
    changed = document | {"epsilon": document["epsilon"] | {"lower": 0.0}}
    tile = epsilon.tile(changed)
    assert tile["value"] == "none shown"
    assert tile["note"].startswith("no lower bound is shown, so nothing is ruled out")
    assert "measured: no lower bound shown" in html(changed, [])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "chosen from 7 attacks tried"),
        ({"best_by": "tpr", "best_among": 7}, "most found at 1 in 100 false alarms, of 7 attacks tried"),
        ({"best_by": "auc", "best_among": 7}, "the largest AUC, of 7 attacks tried"),
        (
            {"best_by": "auc", "best_among": 2},
            "the largest AUC; 2 of 7 attacks tried do better than chance here",
        ),
        ({"best_by": "tpr", "best_among": 1}, "the only one of 7 attacks tried that does better than chance here"),
    ],
)
def test_the_card_says_by_what_the_attack_was_chosen(document, rows, given, words):
    verdict = {key: item for key, item in document["verdict"].items() if not key.startswith("best_")}
    changed = document | {"verdict": verdict | {"best_of": 7} | given}
    text = read(html(changed, rows[:3])).one("main").text
    assert words in text
    assert "strongest of" not in text.replace("The strongest of", "")
