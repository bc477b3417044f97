"""Every renderer writes every block, escapes what comes from outside, and keeps every number."""

import io
import re

import example_blocks
import pytest
from reading import read
from rich.console import Console

from reticent.findings.numbers import ShareEstimate
from reticent.report.blocks import (
    MARKDOWN,
    PAGE,
    TERMINAL,
    Banner,
    Cell,
    Code,
    Column,
    Heading,
    Prose,
    Report,
    Strong,
    Table,
    only,
)
from reticent.report.cells import NOTHING, estimate
from reticent.report.render.html import PRINTED, html
from reticent.report.render.markdown import markdown
from reticent.report.render.terminal import terminal


def shown(document, width=200):
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(terminal(document))
    return console.export_text()


def of(*blocks):
    return Report("T", "b", (Banner("about", "sentence"), *blocks), "", "0", "S")


@pytest.fixture(scope="module")
def page():
    return html(example_blocks.document())


@pytest.fixture(scope="module")
def root(page):
    return read(page)


def test_a_page_is_balanced_and_the_same_each_time(page, root):
    assert html(example_blocks.document()) == page
    assert [e.attributes["id"] for e in root.all("section")] == [
        "finding",
        "evidence",
        "records-part",
        "method",
        "limits",
    ]
    assert [(a.text, a.attributes["href"]) for a in root.one("nav").all("a")] == [
        ("Verdict", "#finding"),
        ("Evidence", "#evidence"),
        ("Records", "#records-part"),
        ("Method", "#method"),
        ("Limits", "#limits"),
    ]


def test_what_a_page_refers_to_is_there_once(root):
    ids = [e.attributes["id"] for e in root.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    told = [e.attributes["aria-labelledby"] for e in root.walk() if "aria-labelledby" in e.attributes]
    links = [e.attributes["href"][1:] for e in root.all("a")]
    assert set(told) | set(links) <= set(ids)


def test_a_page_asks_for_nothing(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("<script>") == 1


def test_text_from_outside_is_text_and_nothing_else(page):
    for text in (page, shown(example_blocks.document())):
        assert "\u202e" not in text
        assert "\x1b" not in text
    assert "<script>alert" not in page
    told = markdown(example_blocks.document())
    assert "\\<script\\>alert(1)\\</script\\> \\& \\|\\*\\_\\`" in told
    assert "\u202e" not in told


def test_a_flag_in_a_command_is_not_broken_at_its_hyphens():
    page = html(of(Prose(Code("reticent audit --max-tpr '<b>' -x"))))
    assert "<code>reticent audit <span>--max-tpr</span> &#x27;&lt;b&gt;&#x27; -x</code>" in page


def test_cells_say_their_column_and_their_key(root):
    table = root.one("table", id="groups")
    assert table.attributes["class"] == "sortable stack"
    assert [head.attributes.get("aria-sort") for head in table.all("th", scope="col")] == [None] * 2 + [
        "descending",
        None,
        None,
    ]
    cells = table.all("tr")[4].all("td")
    assert [cell.attributes["data-label"] for cell in cells] == [
        "Class",
        "AUC (chance 0.5)",
        "Found at 1\xa0% false alarms",
        "Differs",
    ]
    assert [cell.attributes.get("data-key") for cell in cells] == [None, "0.503", "0.125", None]
    assert table.attributes["data-texts"] == "2"
    assert [e.attributes["value"] for e in root.one("form").all("option")] == ["", *(f"class {i}" for i in range(12))]


def test_a_footnote_stands_below_its_block(root):
    marks = root.one("table", id="groups").all("a", class_="mark")
    assert [mark.text for mark in marks] == ["†", "‡"]
    for mark, said in zip(marks, ("† Equal scores decide this.", "‡ Few records."), strict=True):
        assert root.one("p", id=mark.attributes["href"][1:]).text == said


def test_few_lines_are_not_searched_and_many_are_told_to_be_cut_on_paper():
    few, many = (html(of(example_blocks.table(rows, choices=()))) for rows in (5, PRINTED + 1))
    assert "<form" not in few
    assert "<form" in many
    assert "On paper" in many
    assert "On paper" not in few


def test_blocks_and_columns_are_shown_where_they_are_for():
    heads = Column("A"), Column("B", only=PAGE), Column("C", only=TERMINAL)
    document = of(
        *only(PAGE, Prose("pageonly"), Heading("paged", "k", "Menu", 2)),
        *only(MARKDOWN, Prose("markedonly"), Heading("marked", "m", "Hidden", 2)),
        *only(PAGE, *only(TERMINAL, Prose("nowhere"))),
        Table("T", heads, ((Cell("first"), Cell("second"), Cell("third")),)),
    )
    page, text, screen = html(document), markdown(document), shown(document)
    assert [word in page for word in ("pageonly", "paged", "markedonly", "Hidden", "second", "third")] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]
    assert [word in text for word in ("pageonly", "markedonly", "second", "third")] == [False, True, False, False]
    assert [word in screen for word in ("pageonly", "markedonly", "second", "third")] == [False, False, False, True]
    assert not any("nowhere" in one for one in (page, text, screen))


def test_markdown_is_tables_lists_and_headings():
    told = markdown(example_blocks.document(5))
    assert told.startswith("## Everything\n\n**Leak found.** ")
    lines = told.splitlines()
    assert "| Group | Class | AUC (chance 0.5) | Found at 1\xa0% false alarms | Differs |" in lines
    assert "| --- | --- | ---: | ---: | --- |" in lines
    row = next(line for line in lines if "more\\_3" in line)
    assert row.endswith("| class 3 | 0.503 (0.403 to 0.603; alone: 0.1) | 12.5\xa0% † ‡ | more |")
    assert "† Equal scores decide this." in lines
    assert "**Not kept. At all.**" in lines
    assert "  - objective: relaxloss" in lines
    assert any(line.startswith("![") and line.endswith("](one.png)") for line in lines)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_terminal_shows_every_number_in_its_width(width):
    text = shown(example_blocks.document(5), width)
    assert max(map(len, text.splitlines())) <= width
    for number in ("0.503", "0.403–0.603", "12.5", "0.714 †", "361", "relaxloss"):
        assert number in text
    assert "▲ Leak found. " in text


def test_an_estimate_is_a_cell():
    cell = estimate(ShareEstimate(mean=0.1234, interval=(0.1, 0.2), tied=True), True)
    page = read(html(of(Table("T", (Column("A"), Column("B")), ((Cell("a"), cell),)))))
    found = page.one("td")
    assert found.attributes["data-key"] == "0.1234"
    assert found.text == "12.3\xa0%†10.0 to 20.0\xa0%"
    assert estimate(None) is NOTHING
    assert estimate(0.5) == Cell("0.500", 0.5)


def test_long_names_are_cut_and_told_in_full():
    document = of(Prose(Strong(example_blocks.Name("x" * 90, 20))))
    name = read(html(document)).all("bdi")[0]
    assert len(name.text) == 20
    assert name.attributes["title"] == "x" * 90
