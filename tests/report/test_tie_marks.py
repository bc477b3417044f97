"""Rates that equal scores decide are marked wherever they stand, and the mark is explained there."""

import copy
import csv
import io

import numpy as np
import pytest
import shown_comparison
from audit_forms import html, markdown, terminal
from reading import read
from rich.console import Console

import reticent
from reticent.report import estimates
from reticent.report.render.text import SIGNS


def printed(renderable):
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(renderable)
    return " ".join(console.export_text().split())


@pytest.fixture(scope="module")
def saturated():
    """An audit of outputs of which most are sure to the last digit, so that the scores of most records are equal."""
    rng = np.random.default_rng(0)
    membership = reticent.Membership.draw(8, 600, 0)
    labels = rng.integers(0, 3, 600)
    logits = rng.normal(size=(8, 600, 3))
    logits[:, np.arange(600), labels] += np.where(rng.random((8, 600)) < 0.6, 30.0, 1.0)
    p = np.exp(logits - logits.max(axis=2, keepdims=True)).astype(np.float32)
    p /= p.sum(axis=2, keepdims=True)
    answers = np.log(np.maximum(p, np.float32(1e-7)).astype(np.float64))
    return reticent.attack(
        logits=answers, labels=labels, membership=membership, attacks=["confidence"], replicates=100
    ).document


def test_an_audit_of_saturated_answers_is_marked_in_numbers_and_words(saturated):
    rate = saturated["attacks"][0]["overall"]["tpr_at_fpr"][1]
    assert (rate["fpr"], rate["realised_fpr"]) == (0.01, 0.0)
    assert rate["tpr"]["tied"] is True
    assert "tied" not in saturated["attacks"][0]["overall"]["auc"]
    assert {group["tpr"]["tied"] for group in saturated["groups"][0]["groups"]} == {True}
    said = saturated["verdict"]
    assert (said["leak"], said["tied"]) == ("cannot tell", True)
    assert "a threshold flags either 0.0 % of the non-members or more than 10 %" in said["detail"]
    assert (
        "No attack is shown to do better than chance, but equal scores decide the share found, so a leak that matters "
        "is not excluded."
    ) in said["detail"]
    assert any(line.startswith("Whether there is a leak: too many records have equal") for line in said["cannot_say"])


def audit_page(document):
    return read(html(document))


AUDIT = {
    "terminal": (lambda document: " ".join(terminal(document, 200).split()), f"% {SIGNS[0]}"),
    "Markdown": (lambda document: " ".join(markdown(document).split()), f"% {SIGNS[0]} ("),
    "page": (lambda document: " ".join(audit_page(document).text.split()), f"{SIGNS[0]} Many records"),
}


@pytest.mark.parametrize("medium", AUDIT)
def test_every_form_of_an_audit_marks_it_and_says_why(medium, saturated):
    form, mark = AUDIT[medium]
    text = form(saturated).replace("\u00a0", " ")
    assert mark in text
    assert estimates.TIES in text
    free = copy.deepcopy(saturated)
    clear(free)
    assert SIGNS[0] not in form(free)


def clear(part):
    """Take every mark out of a document."""
    if isinstance(part, dict):
        part.pop("tied", None)
        for value in part.values():
            clear(value)
    elif isinstance(part, list):
        for value in part:
            clear(value)


def test_the_page_marks_attacks_groups_and_the_tile(saturated):
    root = audit_page(saturated)
    marks = root.all("a", class_="mark")
    rates = [rate for rate in saturated["attacks"][0]["overall"]["tpr_at_fpr"] if rate["tpr"] and rate["tpr"]["tied"]]
    assert len(marks) == 1 + len(rates) + len(saturated["groups"][0]["groups"])
    notes = {mark.attributes["href"].removeprefix("#") for mark in marks}
    assert {root.one("p", id=note).text for note in notes} == {f"{SIGNS[0]} {estimates.TIES}"}
    assert any(one.text.strip().endswith(SIGNS[0]) for one in root.all("p", class_="big"))


@pytest.fixture
def compared_with_ties(compared):
    changed = copy.deepcopy(compared)
    for row in changed["rows"]:
        row["tpr"]["tied"] = False
    changed["rows"][1]["tpr"]["tied"] = True
    changed["rows"][1]["attacks"][0]["tpr"]["tied"] = True
    return changed


COMPARISON = {
    "terminal": lambda document: " ".join(shown_comparison.terminal(document, 200).split()),
    "Markdown": lambda document: " ".join(shown_comparison.markdown(document).split()),
    "page": lambda document: " ".join(read(shown_comparison.html(document)).text.split()),
}


@pytest.mark.parametrize("medium", COMPARISON)
def test_every_form_of_a_comparison_marks_it_and_says_why(medium, compared_with_ties, compared):
    text = COMPARISON[medium](compared_with_ties)
    assert f"{SIGNS[0]} {estimates.TIES}" in text
    of_attacks = sum(one["tpr"].get("tied", False) for row in compared_with_ties["rows"] for one in row["attacks"])
    assert of_attacks >= 1
    # On a page, the table of attacks has its own note.
    assert text.count(SIGNS[0]) == 2 + (of_attacks + 1 if medium == "page" else 0)
    assert SIGNS[0] not in COMPARISON[medium](compared)


def test_the_table_of_a_comparison_has_a_column_for_it(compared_with_ties, tmp_path):
    shown_comparison.write(tmp_path, compared_with_ties)
    with (tmp_path / "compare.csv").open(encoding="utf-8") as stream:
        found = [line["tpr_tied"] for line in csv.DictReader(stream)]
    assert found == ["yes" if i == 1 else "no" for i in range(len(compared_with_ties["rows"]))]
