"""A comparison as page, picture, terminal table, Markdown and files."""

import copy
import csv
import itertools
import json
import re
import xml.etree.ElementTree as ET

import example_compare
import pytest
from reading import read
from shown_comparison import html, markdown, terminal, typed, write

from reticent.findings.comparison import PairTest, Role, Row
from reticent.findings.numbers import Statistic
from reticent.report import svg
from reticent.report.kinds.comparison import difference, measure, ordered
from reticent.report.pictures.comparison import NAMED, _join, _point, _steps, front, kind, panel
from reticent.say.controls import remark

HOSTILE = "\u202eevil</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&|`\n\u0000 😀 {{ 7 * 7 }}"


@pytest.fixture(scope="module")
def shown(compared):
    return html(compared)


def _panels(plain):
    document = typed(plain)
    return [panel(document, ordered(document), one) for one in (Statistic.AUC, Statistic.TPR)]


def _texts(drawing):
    return ["".join(e.itertext()) for e in ET.fromstring(drawing).iter("text")]


def test_page_is_well_formed(shown):
    root = read(shown)
    identifiers = [e.attributes["id"] for e in root.walk() if "id" in e.attributes]
    assert len(identifiers) == len(set(identifiers))
    pointed = re.findall(r'(?:href="#|aria-labelledby="|url\(#)([^"\)]+)', shown)
    assert {name for names in pointed for name in names.split()} <= set(identifiers)
    levels = [int(e.tag[1]) for e in root.walk() if re.fullmatch("h[1-6]", e.tag)]
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert all(table.one("caption").text.strip() for table in root.all("table"))
    assert {head.attributes.get("scope") for head in root.all("th")} == {"col", "row"}


def test_the_finding_comes_first(compared, shown):
    root = read(shown)
    assert root.all("section")[0].one("h1").text == compared["sentence"]
    sections = [e.attributes["id"] for e in root.all("section")]
    assert sections == ["finding", "recipes", "pairs", "details", "limits", "words"]


def test_rows_have_the_documents_numbers(compared, shown):
    table = read(shown).one("table", id="rows-table").one("tbody")
    lines = {
        line.one("th").one("bdi").text: [c.attributes.get("data-key") for c in line.all("td")]
        for line in table.all("tr")
    }
    assert len(lines) == 6
    for row in compared["rows"]:
        keys = lines[row["name"]]
        assert float(keys[0]) == pytest.approx(row["accuracy"]["non_members"]["mean"])
        assert float(keys[2]) == pytest.approx(row["auc"]["mean"])
        assert float(keys[3]) == pytest.approx(row["tpr"]["mean"])


def test_controls_stand_below_what_they_match(compared):
    names = [row.name for row in ordered(typed(compared))]
    assert names == [
        "plain",
        "weight-decay",
        "plain, 12 of 40 epochs",
        "dropout",
        "plain, 16.5 of 40 epochs",
        "dp-sgd",
    ]


def test_a_control_that_matches_two_rows_stands_below_the_first(compared):
    changed = copy.deepcopy(compared)
    changed["rows"][4]["matches"] = ["weight-decay", "dropout"]
    document = typed(changed)
    listed = ordered(document)
    assert len(listed) == 6
    assert listed[2].name == "plain, 12 of 40 epochs"
    assert "more accurate than weight-decay, 0.8 points more accurate than dropout" in remark(document, listed[2])


def test_what_a_control_is_for_is_said_of_the_recipe(compared):
    said = " ".join(terminal(compared, 120).split())
    assert "The recipe is worth its cost only if it leaks less than its control." in said


def test_ties_are_spelt_out_and_differences_name_the_lower(compared, shown):
    table = read(shown).one("table", id="pairs-table").one("tbody")
    said = {
        (line.all("th")[0].text, *(cell.text for cell in line.all("td")[:2])): line.all("td")[2].text
        for line in table.all("tr")
    }
    assert len(said) == len(compared["pairs"]) == 45
    for pair in compared["pairs"]:
        text = said[pair["first"], pair["second"], measure(Statistic(pair["statistic"]), 0.01).replace(" %", "\u00a0%")]
        lower = {"first lower": pair["first"], "second lower": pair["second"]}.get(pair["verdict"])
        assert text == (f"{lower} is lower" if lower else "tie: no difference shown")


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("auc", 0.0123, [0.003, 0.021]), ("+0.012", "+0.003 to +0.021")),
        (("auc", -0.0123, [-0.021, 0.003]), ("−0.012", "−0.021 to +0.003")),
        (("tpr", 0.016, [0.011, 0.02]), ("+1.60 points", "+1.10 to +2.00")),
        (("accuracy", 0.0, [0, 0]), ("0", "exactly equal")),
    ],
)
def test_differences(pair, expected):
    statistic, value, interval = pair
    test = PairTest(
        first="a",
        second="b",
        statistic=statistic,
        difference=value,
        interval=interval,
        p=1,
        p_corrected=1,
        verdict="tie",
    )
    assert difference(test) == expected


def test_pictures_name_every_row_and_say_every_number(compared):
    for drawing, key in zip(_panels(compared), ("auc", "tpr"), strict=True):
        assert {"plain", "weight-decay", "dropout", "dp-sgd", "12 epochs", "16.5 epochs", "chance"} <= set(
            _texts(drawing)
        )
        description = ET.fromstring(drawing).find("desc").text
        for row in compared["rows"]:
            value = row[key]["mean"]
            written = f"{value:.3f}" if key == "auc" else f"{100 * value:.1f}\u00a0%"
            assert re.search(rf"{re.escape(row['name'])}: accuracy [\d.]+\u00a0%, {re.escape(written)}", description)


def test_points_that_coincide_are_both_seen(compared):
    with svg.drawing():
        _, axes = svg.canvas(300)
        for row in typed(compared).rows:
            _point(axes, row, row.auc, (0.9, 0.6), kind(typed(compared), row))
        points = [line for line in axes.lines if line.get_marker() != "None"]
    assert len(points) == len(compared["rows"])
    hollow, filled = ([one for one in points if (one.get_color() == svg.PAPER) is side] for side in (True, False))
    assert len(hollow) == sum(row["role"] == "control" for row in compared["rows"]) > 0
    assert max(one.get_zorder() for one in hollow) < min(one.get_zorder() for one in filled)
    width = hollow[0].get_markeredgewidth()
    assert min(one.get_markersize() for one in hollow) > max(one.get_markersize() for one in filled) + width


def test_labels_do_not_overlap_in_the_drawing(compared):
    for drawing in _panels(compared):
        boxes = []
        for e in ET.fromstring(drawing).iter("text"):
            text = "".join(e.itertext())
            found = re.search(r"translate\(([\d.]+) ([\d.]+)\)", e.attrib.get("transform", ""))
            x, y = (float(v) for v in found.groups()) if found else (float(e.attrib["x"]), float(e.attrib["y"]))
            if text in {"plain", "weight-decay", "dropout", "dp-sgd", "12 epochs", "16.5 epochs"}:
                middle = "middle" in e.attrib["style"]
                width = 5.4 * len(text)
                boxes.append((x - width / 2 if middle else x, y - 8, x + (width / 2 if middle else width), y + 2))
        assert len(boxes) == 6
        for one, other in itertools.combinations(boxes, 2):
            assert not (one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3])


@pytest.mark.slow
def test_many_rows_are_numbered_as_in_the_table():
    document = example_compare.comparison(12, 11)
    assert len(document["rows"]) == 23 > NAMED
    for drawing in _panels(document):
        assert {str(i) for i in range(1, 24)} <= set(_texts(drawing))
    lines = read(html(document)).one("table", id="rows-table").one("tbody").all("th")
    assert [line.one("span", class_="number").text for line in lines] == [str(i) for i in range(1, 24)]


def test_front_is_that_of_the_document(compared):
    points = {(r["accuracy"]["non_members"]["mean"], r["tpr"]["mean"]): r["pareto"] for r in compared["rows"]}
    assert front(list(points)) == sorted(point for point, on in points.items() if on)


@pytest.mark.words
def test_an_unmeasurable_rate_leaves_one_panel():
    document = example_compare.comparison(3, 1, measurable=False)
    root = read(html(document))
    assert len(root.all("figure")) == 1
    assert "found at" not in root.one("table", id="rows-table").text


def test_rows_without_accuracy_are_named_below_the_picture(compared):
    changed = copy.deepcopy(compared)
    changed["rows"][3]["accuracy"] = {"members": None, "non_members": None}
    root = read(html(changed))
    assert "Not drawn, as the accuracy is not known: dp-sgd." in re.sub(
        r"\s+", " ", root.one("section", id="recipes").text
    )
    for row in changed["rows"]:
        row["accuracy"] = {"members": None, "non_members": None}
    assert read(html(changed)).all("figure") == []
    assert "–" in terminal(changed)


def _hostile(document):
    changed = copy.deepcopy(document)
    names = {row["name"]: f"{HOSTILE}{i}" for i, row in enumerate(changed["rows"])}
    changed.update(sentence=HOSTILE, detail=[HOSTILE] * 6, cannot_say=[HOSTILE], baseline=names[changed["baseline"]])
    changed["data"]["name"] = HOSTILE
    for row in changed["rows"]:
        row.update(name=names[row["name"]], attack=HOSTILE, matches=[names[m] for m in row["matches"]])
        row["changes"] = [{"key": HOSTILE, "baseline": HOSTILE, "value": HOSTILE}]
        for attack in row["attacks"]:
            attack["name"] = HOSTILE + attack["name"]
    for pair in changed["pairs"]:
        pair.update(first=names[pair["first"]], second=names[pair["second"]])
    return changed


def test_user_text_is_escaped(compared):
    page = html(_hostile(compared))
    root = read(page)
    assert page.count("evil") > 60
    assert "<script>alert" not in page
    assert "<img" not in page
    assert len(root.all("script")) == 1
    assert not [e for e in root.walk() for name in e.attributes if name.startswith("on")]
    assert "\u202e" not in page
    assert "\u0000" not in page
    assert "49" not in root.one("h1").text
    for drawing in re.findall(r'<svg class="chart".*?</svg>', page, re.DOTALL):
        ET.fromstring(drawing)


def test_hostile_names_keep_markdown_tables_regular(compared):
    text = markdown(_hostile(compared))
    assert not re.search(r"(?<!\\)<", text.replace("<br>", ""))
    for block in (b for b in text.split("\n\n") if b.startswith("|")):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    shown = terminal(_hostile(compared))
    assert "\u202e" not in shown
    assert "\u0000" not in shown


def test_terminal_fits_80_columns_and_counts_the_ties(compared):
    text = terminal(compared)
    assert max(len(line) for line in text.splitlines()) <= 80
    ties = sum(pair["verdict"] == "tie" for pair in compared["pairs"])
    assert f"{ties} of 45 tests are ties: no difference shown" in " ".join(text.split())
    assert "AUC: weight-decay is below plain by 0.039 (+0.030 to +0.048; corrected p 0.010)" in " ".join(text.split())


def test_markdown_has_rows_changes_and_pairs(compared):
    text = markdown(compared)
    assert "| dp-sgd | 90.5\u00a0% (90.0 to 91.0\u00a0%) | 0.512 (0.504 to 0.520) |" in text
    assert "| weight-decay | optimizer, weight decay | 0.0005 | 0.01 |" in text
    pairs = next(b for b in text.split("\n\n") if b.startswith("| First")).splitlines()
    assert len(pairs) == 2 + 45
    assert "tie: no difference shown" in pairs[-1]


def test_three_files(tmp_path, compared):
    paths = write(tmp_path / "new", compared)
    assert [path.name for path in paths] == ["compare.html", "compare.csv", "compare.json"]
    assert json.loads(paths[2].read_text(encoding="utf-8")) == typed(compared).to_json()
    with paths[1].open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["name"] for line in lines] == [row["name"] for row in compared["rows"]]
    assert [float(line["auc_low"]) for line in lines] == [row["auc"]["interval"][0] for row in compared["rows"]]
    assert lines[4]["matches"] == "weight-decay"
    assert lines[0]["accountant_epsilon"] == ""
    assert {line["pareto"] for line in lines} == {"yes", "no"}
    assert len(list((tmp_path / "new").iterdir())) == 3


@pytest.mark.words
def test_what_depends_on_the_machine_is_read_from_the_environment(tmp_path, compared):
    with write(tmp_path, compared)[1].open(encoding="utf-8", newline="") as stream:
        assert [line["seconds_per_model"] for line in csv.DictReader(stream)][:2] == ["4.25", "5.25"]
    page = html(compared)
    page = page.replace("\N{NO-BREAK SPACE}", " ")
    assert page.count(">4.2 s<") == page.count(">9.2 s<") == 1
    assert "seconds per model" not in page


@pytest.mark.words
def test_the_auc_has_its_own_attack_in_the_table_and_in_bold(tmp_path, compared):
    changed = copy.deepcopy(compared)
    changed["rows"][0] |= {"attack": "rmia", "auc_attack": "lira"}
    with write(tmp_path, changed)[1].open(encoding="utf-8", newline="") as stream:
        line = next(csv.DictReader(stream))
    assert (line["attack"], line["auc_attack"]) == ("rmia", "lira")
    details = read(html(changed)).one("section", id="details")
    cells = details.one("tbody").all("tr")[0].all("td")
    bold = [[strong.text for strong in cell.all("strong")] for cell in cells]
    auc, tpr = changed["rows"][0]["attacks"][0]["auc"]["mean"], changed["rows"][0]["attacks"][1]["tpr"]["mean"]
    assert bold == [[f"{auc:.3f}"], [f"{100 * tpr:.1f}\u00a0%"], [], []]
    assert "Bold: the largest AUC, and the most members found, under each recipe" in " ".join(details.text.split())


@pytest.mark.words
def test_a_control_says_how_close_it_came(compared):
    changed = copy.deepcopy(compared)
    document = typed(changed)
    assert remark(document, ordered(document)[2]).endswith(", 0.1 points more accurate than weight-decay")
    for mean, words in ((0.9223, "3.6 points less accurate than"), (0.9581, "as accurate as")):
        changed["rows"][4]["accuracy"]["non_members"]["mean"] = mean
        told = f"control: stopped after 12 epochs, {words} weight-decay"
        document = typed(changed)
        assert remark(document, ordered(document)[2]) == told
        assert told in read(html(changed)).one("table", id="rows-table").text
        assert told in markdown(changed)


def test_several_rows_that_nothing_beats_are_no_winner(compared, shown):
    text = " ".join(read(shown).text.split())
    assert "best trade-off" not in text.lower()
    assert "Several lines can be: they are different trade-offs, not one winner." in text
    for written in (terminal(compared), markdown(compared)):
        said = " ".join(written.split())
        assert "Not beaten: no other line is at least as accurate on non-members, leaks at most as much (by the" in said


def test_nothing_is_drawn_beyond_the_last_point():
    points = [(0.9, 0.5), (0.95, 0.7)]
    with svg.drawing():
        _, axes = svg.canvas(300)
        axes.plot(*zip(*points, strict=True), "o")
        corners = _steps(axes, points)
    assert max(y for _, y in corners) == 0.7
    assert corners[-1] == (0.95, 0.7)


def test_same_document_same_page(compared, shown):
    before = copy.deepcopy(compared)
    assert html(compared) == shown
    assert compared == before


@pytest.mark.slow
def test_the_page_of_twelve_recipes_with_controls_is_not_large():
    document = example_compare.comparison(12, 11)
    page = html(document)
    assert len(document["pairs"]) == 759
    assert len(page) < 1_000_000


def test_the_attacker_who_does_not_know_stands_below_the_models_he_attacks(compared):
    document = copy.deepcopy(compared)
    twin = copy.deepcopy(next(row for row in document["rows"] if row["name"] == "dropout"))
    twin |= {"name": "dropout, non-adaptive", "role": "non-adaptive", "matches": ["dropout"], "pareto": False}
    twin["auc"] = example_compare.estimate(0.501, 0.01)
    document["rows"].append(twin)
    rows = document["environment"]["rows"]
    rows["dropout"]["peak_memory_bytes_per_model"] = 3 * 2**20
    next(one for name, one in rows.items() if name != "dropout")["peak_memory_bytes_per_model"] = 1000
    names = [row.name for row in ordered(typed(document))]
    assert names.index("dropout, non-adaptive") == names.index("dropout") + 1
    shown = html(document)
    assert 'class="dot non-adaptive"' in shown
    assert "attacked by one who does not know the defense" in shown
    plain = shown.replace("\N{NO-BREAK SPACE}", " ")
    assert "3 MiB" in plain
    assert "&lt;1 MiB" in plain
    assert ">0 MiB" not in plain
    assert all("dropout, non-adaptive" in one for one in _panels(document))
    assert "what lies between the two is no protection" in shown
    assert "what lies between the two is no protection" not in html(compared)


@pytest.mark.parametrize(("away", "lines"), [(0.0499, 1), (0.05, 0)])
def test_a_control_that_missed_by_far_is_not_joined(away, lines):
    drawn = []

    class Axes:
        def plot(self, *given, **style):
            drawn.append(given)

    row = Row(**typed(example_compare.comparison(2, 0)).rows[0].to_json())
    rows = {1: row.with_(name="a"), 2: row.with_(name="c", role=Role.CONTROL, matches=("a",))}
    _join(Axes(), rows, {1: (0.5, 0.6), 2: (0.5 + away, 0.7)})
    assert len(drawn) == lines


@pytest.mark.words
def test_of_outputs_that_were_brought_no_training_is_told(compared):
    words = "with the same random streams"
    assert words in html(compared)
    brought = copy.deepcopy(compared)
    brought["data"]["kind"] = "outputs"
    page = html(brought)
    assert words not in page
    assert "The models of all rows were trained on the same records, row by row of the same membership" in page


@pytest.mark.words
def test_how_many_models_is_a_column_only_where_lines_differ(compared):
    same = copy.deepcopy(compared)
    for row in same["rows"]:
        row["models"] = 12
    page = html(same)
    assert 'data-label="Audited models"' not in page
    assert "<li>12 audited models of every line.</li>" in page
    same["rows"][0]["models"] = 13
    page = html(same)
    assert page.count('data-label="Audited models"') == len(same["rows"])
    assert "models of every line" not in page


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({"leak": "less", "by": ["auc", "tpr"], "missed": None, "settled": True}, "leaks less than its control"),
        ({"leak": "more", "by": ["auc"], "missed": 0.02, "settled": True}, "leaks more than its control, by AUC alone"),
        ({"leak": "tie", "by": [], "missed": None, "settled": True}, "not told apart from its control"),
        (
            {"leak": "more", "by": ["auc"], "missed": -0.0157, "settled": False},
            "not judged: its control is 1.6 points less accurate",
        ),
        (
            {"leak": "less", "by": ["auc", "tpr"], "missed": None, "settled": False},
            "leaks less than its control, at an accuracy that is not known",
        ),
        (
            {"leak": "more", "by": ["auc"], "missed": 0.02, "settled": False, "unlearned": "control"},
            "not judged: most models of its control did not learn",
        ),
    ],
)
@pytest.mark.words
def test_a_recipes_line_says_how_it_stands_to_its_control(compared, held, words):
    told = copy.deepcopy(compared)
    (row, *_) = [row for row in told["rows"] if row["role"] == "recipe" and row["name"] != told["baseline"]]
    control = next(one["name"] for one in told["rows"] if one["role"] == "control")
    row["control"] = held | {"name": control}
    assert _remark(told, row["name"]) == words
    assert words in html(told)
    assert words in markdown(told)
    row["control"] |= {"name": told["baseline"]} | ({"unlearned": told["baseline"]} if "unlearned" in held else {})
    assert _remark(told, row["name"]) == words.replace("its control", "the baseline")


def _remark(plain, name):
    document = typed(plain)
    return remark(document, next(row for row in document.rows if row.name == name))


@pytest.mark.words
def test_a_long_name_breaks_where_its_parts_end(compared):
    changed = copy.deepcopy(compared)
    changed["rows"][1]["name"] = changed["rows"][4]["matches"][0] = "selena:models=3,outside=1+<b>"
    assert "<bdi>selena:<wbr>models=3,<wbr>outside=1+<wbr>&lt;b&gt;</bdi>" in html(changed)


def test_notices_and_standing_are_on_the_terminal_and_in_the_table(compared, tmp_path):
    told = copy.deepcopy(compared)
    (row, *_) = [row for row in told["rows"] if row["role"] == "recipe" and row["name"] != told["baseline"]]
    row["notices"] = ["the defense never acted"]
    control = next(one["name"] for one in told["rows"] if one["role"] == "control")
    row["control"] = {"name": control, "leak": "more", "by": ["auc"], "missed": -0.02, "settled": False}
    assert f"{row['name']}: the defense never acted" in terminal(told)
    write(tmp_path, told)
    with (tmp_path / "compare.csv").open() as stream:
        line = next(line for line in csv.DictReader(stream) if line["name"] == row["name"])
    assert (line["control"], line["leaks"], line["shown_by"], line["control_missed"]) == (
        control,
        "more",
        "auc",
        "-0.02",
    )
    assert (line["settled"], line["notices"]) == ("no", "the defense never acted")
