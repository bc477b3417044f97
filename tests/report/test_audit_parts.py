"""Epsilon, control, groups and the records of an audit, on the page and in text."""

import copy
import re

import example
import example_trust
import pytest
from audit_forms import html, markdown, read, terminal
from reading import read as parsed

from reticent.auditing.epsilon import METHODS
from reticent.findings.epsilon import EpsilonAudit
from reticent.report.kinds import epsilon, groups
from reticent.report.pictures import dot_plot
from reticent.rounding import fraction
from reticent.say import epsilon as say
from reticent.say.epsilon import spoken

pytestmark = pytest.mark.words


def _light(document):
    """Leave out the figures that take long to draw."""
    for attack in document["attacks"]:
        attack["roc"] = attack["histogram"] = None
    document["population"]["accuracy"] = None
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


def table(page, caption):
    """List the lines of the table with a caption, a list of texts each."""
    found = next(one for one in parsed(page).all("table") if caption in one.one("caption").text)
    return [[_squeezed(cell) for cell in [*row.all("th"), *row.all("td")]] for row in found.all("tr")]


def test_epsilon_stands_beside_the_accountants(document, page):
    tile = next(e for e in parsed(page).all("div", class_="tile") if "Epsilon" in e.text)
    assert say.least(document["epsilon"]["lower"]) in tile.text
    assert "the accountant proves at most 3.00" in tile.text
    bars = [_squeezed(e) for e in parsed(page).all("span", class_="bar-label")]
    assert "proved by the accountant (rdp): at most 3.00" in bars


def test_epsilon_has_a_line_an_attack_and_a_column_a_method(document, page):
    head, first, *_ = table(page, "Lower bound on epsilon")
    assert head == ["Attack", "every threshold", "split", "given threshold", "Gaussian"]
    bound = {b["method"]: b for b in document["attacks"][0]["epsilon"]["bounds"]}["gaussian"]
    ends = (f"{int(100 * end) / 100:.2f}" for end in (min(bound["targets"]), max(bound["targets"])))
    assert first[0] == document["attacks"][0]["name"]
    assert first[4] == f"{say.least(bound['epsilon'])}models: {' to '.join(ends)}"


def test_every_method_has_a_name():
    assert set(say.METHODS) == set(METHODS)


def test_assumptions_are_listed_once(document, page):
    said = (
        "“every threshold”, “split”, “given threshold” and “Gaussian” assume that the scores of different records do "
        "not depend on each other."
    )
    assert page.count(said) == 1


def test_the_bound_of_the_sentence_is_told_from_those_of_the_table(document):
    changed = _changed(document)
    changed["epsilon"] |= {"method": "all-thresholds", "attack": "rmia", "best_of": 7}
    told = (
        "The bound above is that of rmia, by “every threshold”, the method fixed in advance, and lowered for the "
        "choice among 7 attacks. In the table each bound stands by itself, and so may be higher."
    )
    assert told in html(changed)
    assert f"{told}\n\n| Attack" in markdown(changed)
    changed["epsilon"]["lower"] = 0.0
    nothing = say.origin(read(changed).epsilon)
    assert nothing.startswith(
        "No attack has a bound above 0 by “every threshold”, the method fixed in advance, once that is lowered for the "
        "choice among 7 attacks."
    )


def test_a_method_that_one_attack_lacks_is_a_dash(document):
    changed = _changed(document)
    del changed["attacks"][0]["epsilon"]["bounds"][1]
    # The missing one goes to the end, as the first attack fixes the order.
    assert table(html(changed), "Lower bound on epsilon")[1][4] == "–"


def test_a_bound_above_the_accountants_is_an_alarm(document):
    changed = _changed(document)
    changed["epsilon"].update(lower=5.0, consistent=False)
    page = html(changed)
    assert "The bound lies above what the accountant proves." in page
    assert "The bound lies above what the accountant proves." in markdown(changed)
    assert 'class="bar ruled-out" style="left:0.00%;width:100.00%"' in page
    assert 'class="bar promised" style="left:60.00%;width:0.00%"' in page
    changed["epsilon"]["accountant"]["source"] = "given"
    assert "The bound lies above what was promised." in html(changed)


def test_an_epsilon_that_the_user_states_is_told_once_and_as_a_statement(document):
    changed = _changed(document)
    changed["epsilon"]["sentence"] = spoken(EpsilonAudit.model_validate(changed["epsilon"])).sentence
    assert markdown(changed).count("accountant proves at most") == 1
    changed["epsilon"]["accountant"]["source"] = "given"
    changed["epsilon"]["sentence"] = "No training with epsilon below 1 could give such results."
    root = parsed(html(changed))
    assert "at most 3.00, as stated by the user, not computed" in root.one("section", id="finding").text
    assert not any("accountant" in e.text for e in root.all("span", class_="bar-label"))
    assert "accountant proves" not in markdown(changed)


def test_a_promise_that_training_does_not_prove_is_an_alarm(document):
    changed = _changed(document)
    changed["epsilon"]["proven"] = changed["epsilon"]["accountant"] | {"epsilon": 7.885}
    assert (
        "Training does not prove what was promised. Its accountant proves at most 7.89." in parsed(html(changed)).text
    )
    changed["epsilon"]["proven"]["epsilon"] = 2.0
    assert "does not prove" not in html(changed)


def test_epsilon_without_an_accountant_has_no_bar(document):
    changed = _changed(document)
    changed["epsilon"].update(accountant=None, consistent=None)
    root = parsed(html(changed))
    assert len(root.all("div", class_="bars")) == 1
    assert "accountant proves" not in root.one("section", id="finding").text


def test_control_shows_real_beside_permuted(document, page):
    null = {entry["name"]: entry for entry in document["control"]["attacks"]}
    head, *lines = table(page, "The audit and the control")
    assert head == ["Attack", "AUC, audit", "AUC, permuted", *(f"Found at 1 % FPR, {a}" for a in ("audit", "permuted"))]
    assert [line[0] for line in lines] == [attack["name"] for attack in document["attacks"]]
    for line in lines:
        assert line[2].startswith(f"{null[line[0]]['auc']['mean']:.3f}")


def test_control_says_that_its_intervals_stand_alone_where_the_table_does(document):
    told = (
        "Each interval here stands by itself, at 95 %: of so many, a few exclude chance by accident. The outcome above "
        "allows for having looked at 3 attacks, by wider intervals than these."
    )
    assert told in html(document).replace("\u00a0", " ")
    assert told in markdown(document).replace("\u00a0", " ")


@pytest.mark.parametrize(("passed", "word"), [(True, "Passed."), (False, "Not passed.")])
def test_control_says_how_it_ended(document, passed, word):
    changed = _changed(document)
    changed["control"]["passed"] = passed
    assert any(e.text.strip().startswith(word) for e in parsed(html(changed)).all("p"))
    assert f"**{word}**" in markdown(changed)


def test_a_verdict_without_a_leak_says_what_would_have_been_noticed(document):
    size = "finds a leak with a probability of 80\u00a0% if it is as large as an AUC of 0.517, or 1.7"
    assert size not in parsed(html(document)).one("section", id="finding").text
    changed = _changed(document)
    changed["verdict"]["leak"] = "not found"
    assert size in parsed(html(changed)).one("section", id="finding").text


def test_groups_come_by_falling_auc_and_unmeasured_ones_last(document, page):
    _, *lines = table(page, "Every group by class")
    means = [None if line[2] == "–" else float(line[2][:5]) for line in lines]
    assert means[-1] is None
    assert means[:-1] == sorted(means[:-1], reverse=True)
    assert {line[0] for line in lines} == {f"digit {i}" for i in range(10)}


def test_groups_that_stand_out_have_a_sign_and_a_word(document):
    changed = _changed(document)
    for group, state in zip(changed["groups"][1]["groups"], ("more", "less", None), strict=True):
        group["stands_out"] = state
    assert sorted(line[-1] for line in table(html(changed), "Every group by sex")[1:]) == ["no", "▲ more", "▼ less"]


def test_many_groups_are_drawn_at_both_ends_and_listed_in_full(document):
    changed = example_trust.add(document, classes=100)
    changed["groups"] = changed["groups"][:1]
    page = html(changed)
    assert "69 groups between them not drawn" in page
    assert len(table(page, "Every group by class")) == 101
    assert parsed(page).one("form", data_table="group-0-table")
    assert "75 groups with a lower AUC are left out here." in markdown(changed)
    few = read(changed).groups[0].groups[: groups.DRAWN]
    assert "not drawn" not in dot_plot.groups([(one.name, one) for one in few], len(few), "heading", "g")


def test_record_table_has_the_later_columns_with_their_errors(rows, page):
    found = parsed(page).one("table", id="record-table")
    head, first, *_ = table(page, "Records, the most exposed first")
    assert head[:8] == [
        "Record",
        "Class",
        "sex",
        "Exposure",
        "Distance",
        "Probability of membership",
        "Memorisation",
        "Memorisation, soft",
    ]
    row = rows[0]
    assert first[2] == row["group_sex"]
    assert first[3] == f"{row['exposure']:.2f}± 0.62"
    low, high = (fraction(row[f"probability_{end}"]) for end in ("low", "high"))
    assert first[5] == f"{row['probability']:.3f}{low} to {high}"
    assert found.attributes["data-texts"] == "3"


def test_filters_offer_each_value_once_in_natural_order(document):
    rows = [example.rows(1)[0] | {"record": i, "label": i % 12, "label_name": str(i % 12)} for i in range(40)]
    offered = parsed(html(document, rows)).one("select", data_column="1").all("option")
    assert [one.text for one in offered] == ["all", *(f"class {i}" for i in range(12))]


def test_an_empty_group_can_be_chosen(document):
    one = example.rows(1)[0]
    rows = [one | {"record": i, "group_sex": value} for i, value in enumerate(["", " ", "a", "b"])]
    page = html(document, rows)
    assert [option.text for option in parsed(page).one("select", data_column="2").all("option")] == [
        "all",
        "(empty)",
        "a",
        "b",
    ]
    assert [line[2] for line in table(page, "Records, the most")[1:]] == ["(empty)", "(empty)", "a", "b"]


def test_text_forms_repeat_the_sentences(document):
    text = " ".join(terminal(document).split()).replace("\u00a0", " ")
    for part in (document[key] for key in ("control", "exposure")):
        assert part["sentence"] in text
    assert say.measured(read(document).epsilon) in text
    written = markdown(document)
    assert "#### How large epsilon is at least" in written
    assert "#### By class" in written
    assert "#### Control: the same audit with permuted membership" in written


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
    assert max(len(line) for line in terminal(document).splitlines()) <= 80


def test_a_bound_of_zero_is_no_epsilon_of_zero(document):
    changed = document | {"epsilon": document["epsilon"] | {"lower": 0.0}}
    card = epsilon.card(read(changed).epsilon)
    assert card.value == "none shown"
    assert card.note.startswith("nothing is ruled out")
    assert "measured: no lower bound shown" in html(changed)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"best_by": "tpr", "best_among": 7}, "most found at 1\u00a0% FPR, of 7 attacks tried"),
        ({"best_by": "auc", "best_among": 7}, "the largest AUC, of 7 attacks tried"),
        (
            {"best_by": "auc", "best_among": 2, "shown_by": ["auc"]},
            "the largest AUC; 2 of 7 attacks tried show a leak here",
        ),
        (
            {"best_by": "tpr", "best_among": 1},
            "the only one of 7 attacks tried that is shown to do better than chance here",
        ),
    ],
)
def test_the_card_says_by_what_the_attack_was_chosen(document, given, words):
    changed = document | {"verdict": document["verdict"] | {"best_of": 7} | given}
    assert words in parsed(html(changed)).one("main").text
