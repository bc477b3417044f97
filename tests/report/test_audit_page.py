import copy
import itertools
import re
import xml.etree.ElementTree as ET

import example
import pytest
from audit_forms import html, markdown
from reading import read

from reticent.findings.records import PICTURED
from reticent.report.kinds.attacks import HISTOGRAMS
from reticent.report.kinds.record_table import ROWS

HOSTILE = "\u202eevil</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&|`\n\u0000 😀 {{ 7 * 7 }}"


def test_page_is_well_formed_and_has_one_of_each_identifier(page):
    root = read(page)
    identifiers = [e.attributes["id"] for e in root.walk() if "id" in e.attributes]
    assert len(identifiers) == len(set(identifiers)) > 20
    pointed = re.findall(r'(?:href="#|aria-labelledby="|url\(#)([^"\)]+)', page)
    missing = {name for names in pointed for name in names.split()} - set(identifiers)
    assert missing == set()


def test_headings_go_down_one_level_at_a_time_from_one_h1(page):
    levels = [int(e.tag[1]) for e in read(page).walk() if re.fullmatch("h[1-6]", e.tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_the_page_lists_what_the_models_were_fed(page):
    rows = read(page).one("table", id="columns-table").all("tr")
    cells = [[cell.text.strip() for cell in [*row.all("th"), *row.all("td")]] for row in rows[1:]]
    assert cells == [
        ["(no name)", "not a feature", "–", "0", "0", ""],
        ["day", "date", "84", "3", "2", "Check this: in days"],
    ]
    assert "Medians are taken over all records, members or not." in page


def test_order_is_verdict_next_steps_evidence_method_limits(page):
    sections = [e.attributes["id"] for e in read(page).all("section")]
    assert sections == ["finding", "next", "evidence", "groups", "records", "method", "limits", "words"]


@pytest.mark.slow
def test_an_older_document_has_none_of_the_later_parts(older, rows):
    root = read(html(older, example.rows(20)))
    sections = [e.attributes["id"] for e in root.all("section")]
    assert sections == ["finding", "next", "evidence", "records", "method", "limits", "words"]
    later = {"epsilon-title", "control-title", "groups-title"}
    assert later.isdisjoint(e.attributes.get("id") for e in root.walk())
    heads = [head.text for head in root.one("table", id="record-table").all("th", scope="col")]
    assert heads == [
        "Record",
        "Class",
        "Exposure",
        "Memorisation",
        "Margin with it",
        "Margin without it",
        "Models with it",
        "Models without it",
    ]


def test_verdict_says_sentence_state_and_interval(document, page):
    verdict = read(page).one("section", id="finding")
    assert verdict.one("h1").text == document["verdict"]["sentence"].replace(" %", "\u00a0%")
    assert "Leak found" in verdict.text
    low, high = document["verdict"]["auc_interval"]
    assert f"interval {low:.3f} to {high:.3f}; chance 0.5" in verdict.text
    found = round(1000 * document["verdict"]["tpr"])
    head = "Of 1,000 training records, and of 1,000 others"
    assert re.search(rf"{head}{found} training records are found\s*10 others are taken for them", verdict.text)


@pytest.mark.parametrize(("leak", "word"), [("not found", "No leak found"), ("cannot tell", "Cannot tell")])
def test_states_have_a_word_and_an_icon_of_their_own(small, rows, leak, word):
    changed = copy.deepcopy(small)
    changed["verdict"]["leak"] = leak
    badge = read(html(changed, rows[:5])).one("p", class_="badge")
    assert badge.text.strip() == word
    assert badge.one("svg").attributes["aria-hidden"] == "true"


@pytest.mark.words
def test_more_of_models_that_learn_nothing_are_not_said_to_settle_it(small, rows):
    changed = copy.deepcopy(small)
    changed["verdict"]["leak"], changed["population"]["health"] = "cannot tell", []
    assert "or more models, may settle it" in html(changed, rows[:5])
    changed["population"]["health"] = [{"model": 0, "problem": "learned nothing"}]
    page = html(changed, rows[:5])
    assert "models that all learn may settle it" in page
    assert "or more models, may settle it" not in page


def test_attack_table_has_the_documents_numbers(document, page):
    table = read(page).one("table", class_="stack", id="table-1")
    lines = {line.one("th").all("bdi")[0].text: line for line in table.one("tbody").all("tr")}
    assert len(lines) == 7
    for attack in document["attacks"]:
        auc = attack["overall"]["auc"]
        cells = [re.sub(r"\s+", " ", cell.text).strip() for cell in lines[attack["name"]].all("td")]
        assert cells[0] == f"{auc['mean']:.3f}{auc['interval'][0]:.3f} to {auc['interval'][1]:.3f}"
        tpr = attack["overall"]["tpr_at_fpr"][0]["tpr"]["mean"]
        assert cells[1].startswith(f"{100 * tpr:.1f} %")
    assert "Found at 0.01\u00a0% FPR: not measurable (needs 10,000 non-members)." in page


@pytest.mark.words
def test_a_rate_that_only_some_attacks_miss_keeps_its_column(small, rows):
    changed = copy.deepcopy(small)
    rate = changed["attacks"][1]["overall"]["tpr_at_fpr"][1]
    rate.update(measurable=False, tpr=None)
    table = read(html(changed, rows[:5])).one("table", class_="stack", id="table-1")
    assert "not measurable (needs 100 non-members)" in table.text
    assert len(table.one("thead").all("th")) == 6


@pytest.mark.words
def test_attacks_come_strongest_first(document, rows):
    changed = copy.deepcopy(document)
    changed["attacks"].reverse()
    for attack in changed["attacks"]:
        attack["roc"] = attack["histogram"] = None
    table = read(html(changed, rows[:5])).one("table", id="table-1")
    names = [row.one("th").all("bdi")[0].all("bdi")[-1].text for row in table.one("tbody").all("tr")]
    aucs = {attack["name"]: attack["overall"]["auc"]["mean"] for attack in document["attacks"]}
    assert names == ["lira", *sorted(set(names) - {"lira"}, key=lambda name: -aucs[name])]


@pytest.mark.slow
def test_the_verdicts_histogram_is_always_drawn_and_what_is_left_out_is_named(document, rows):
    changed = copy.deepcopy(document)
    first = changed["attacks"][0]
    changed["attacks"] = [copy.deepcopy(first) | {"name": f"attack-{i}"} for i in range(11)]
    changed["attacks"][10]["overall"]["auc"]["mean"] = 0.5
    changed["verdict"]["attack"] = "attack-10"
    root = read(html(changed, rows[:5]))
    drawn = [e.text for e in root.all("figcaption") if ": AUC 0." in e.text]
    assert len(drawn) == HISTOGRAMS == 9
    assert drawn[0].strip().startswith("attack-10: AUC 0.500")
    notes = [" ".join(note.text.split()) for note in root.all("p", class_="note")]
    assert "Not drawn here, but in audit.json: attack-8, attack-9." in notes


@pytest.mark.words
def test_a_part_of_the_records_is_said_to_be_a_part(small, rows):
    changed = copy.deepcopy(small)
    changed["data"] |= {"records": 1797, "roles": {"audited": 800}}
    assert "2 models, 800 of 1,797 records, 10 classes" in read(html(changed, rows[:5])).one("p", class_="about").text
    assert "- Records: 800 of 1,797" in markdown(changed)
    changed["data"]["roles"]["audited"] = 1797
    assert "2 models, 1,797 records" in read(html(changed, rows[:5])).one("p", class_="about").text


def test_figures_have_text_alternatives_and_are_xml(page):
    drawings = re.findall(r'<svg class="chart".*?</svg>', page, re.DOTALL)
    assert len(drawings) == 14
    for drawing in drawings:
        root = ET.fromstring(drawing)
        assert root.attrib["role"] == "img"
        title, description = root.find("title"), root.find("desc")
        assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {description.attrib['id']}"
        assert len(title.text) > 15
        assert re.search(r"\d", description.text)
    assert len(read(page).all("figure")) == 14
    assert all(e.attributes["alt"] for e in read(page).all("img"))


def test_pictures_are_shown_for_the_most_exposed(page, rows):
    shown = read(page).one("ol", class_="gallery").all("img")
    assert len(shown) == PICTURED
    assert shown[0].attributes["alt"] == f"Record {rows[0]['record']}, labelled {rows[0]['label_name']}"
    assert all(e.attributes["src"].startswith("data:image/png;base64,") for e in shown)


@pytest.mark.parametrize("thumbnails", [None, {}])
@pytest.mark.words
def test_data_without_pictures_has_no_gallery(small, rows, thumbnails):
    page = html(small, rows, thumbnails)
    assert "gallery" not in {e.attributes.get("class") for e in read(page).walk()}
    assert "<img" not in page


@pytest.mark.words
def test_classes_without_names_are_called_by_their_number(small, rows):
    plain = [rows[0] | {"label_name": "7", "label": 7}, rows[1] | {"label_name": ""}, rows[2]]
    table = read(html(small, plain)).one("table", id="record-table").one("tbody")
    assert [row.all("td", class_="text")[0].text for row in table.all("tr")] == [
        "class 7",
        f"class {rows[1]['label']}",
        rows[2]["label_name"],
    ]


def test_colour_pictures(small, rows):
    pictures = example.thumbnails([rows[0]["record"]], colour=True)
    assert len(read(html(small, rows, pictures)).all("img")) == 1


def test_nothing_is_loaded(page):
    assert not re.search(r"""(?:src|href|srcset|action|poster|data)\s*=\s*["']?\s*(?:https?:|//|file:)""", page)
    assert not re.search(r"""url\(\s*["']?(?!#)""", page)
    assert "@import" not in page
    assert "<link" not in page
    policy = read(page).one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_the_policy_allows_exactly_the_pages_script(page):
    import base64
    import hashlib

    scripts = read(page).all("script")
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.replace("&#39;", "'")


def _hostile(document, rows):
    changed = copy.deepcopy(document)
    changed["data"].update(name=HOSTILE, class_names=[HOSTILE] * 3, citation=HOSTILE, licence=HOSTILE)
    changed["verdict"].update(sentence=HOSTILE, detail=HOSTILE, attack=HOSTILE, cannot_say=[HOSTILE])
    changed["data"]["fitted"] = HOSTILE
    changed["data"]["columns"][1].update(column=HOSTILE, read_as=HOSTILE, note=HOSTILE)
    changed["recipe"] = {HOSTILE: {HOSTILE: HOSTILE}, "list": [HOSTILE, {"a": HOSTILE}]}
    changed["population"]["health"] = [{"model": 1, "problem": HOSTILE}]
    changed["environment"].update({HOSTILE: HOSTILE})
    changed["attacks"][0].update(name=HOSTILE, access=HOSTILE, spec={HOSTILE: HOSTILE})
    for part in ("epsilon", "control"):
        if part in changed:
            changed[part]["sentence"] = HOSTILE
    if "epsilon" in changed:
        changed["epsilon"]["accountant"]["source"] = HOSTILE
        changed["control"]["attacks"][0]["name"] = HOSTILE
    for grouping in changed.get("groups", []):
        grouping.update(sentence=HOSTILE, attack=HOSTILE, most_exposed=HOSTILE)
        for group in grouping["groups"]:
            group["name"] = HOSTILE
    if "groups" in changed:
        changed["groups"][1]["by"] = HOSTILE
    return changed, [row | {"label_name": HOSTILE, f"group_{HOSTILE}": HOSTILE} for row in rows]


@pytest.mark.slow
def test_user_text_is_escaped(document, rows):
    changed, listed = _hostile(document, rows[:20])
    page = html(changed, listed, example.thumbnails([rows[0]["record"]]))
    assert page.count("evil") > 60
    root = read(page)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "49" not in root.one("h1").text
    assert len(root.all("script")) == 1
    assert not [e for e in root.walk() for name in e.attributes if name.startswith("on")]
    assert "\u202e" not in page
    assert "\u0000" not in page
    for drawing in re.findall(r'<svg class="chart".*?</svg>', page, re.DOTALL):
        ET.fromstring(drawing)


def test_endless_names_are_cut(small, rows):
    changed = copy.deepcopy(small)
    changed["data"].update(name="n" * 10_000, class_names=["c" * 10_000] * 10)
    page = html(changed, [row | {"label_name": "x" * 10_000} for row in rows])
    texts = [part for e in read(page).one("main").walk() for part in e.own if isinstance(part, str)]
    assert max(len(word) for text in texts for word in text.split()) <= 300


@pytest.mark.slow
def test_same_input_same_bytes(document, rows, page):
    pictures = example.thumbnails([row["record"] for row in rows[:30]])
    assert html(copy.deepcopy(document), copy.deepcopy(rows), pictures) == page


def test_input_is_left_as_it_was(small, rows):
    before = copy.deepcopy((small, rows))
    html(small, rows)
    assert (small, rows) == before


def test_unknown_values_are_dashes(small, rows):
    known = ("record", "label", "label_name", "models_in", "models_out", "group_sex")
    blank = [{key: row[key] if key in known else None for key in row} for row in rows[:4]]
    table = read(html(small, blank)).one("table", id="record-table")
    cells = [cell.text for cell in table.one("tbody").all("tr")[0].all("td")]
    assert cells[2:] == [*["–"] * 4, "8", "8"]


def test_equal_exposures_and_scores_draw(small, rows):
    changed = copy.deepcopy(small)
    changed["attacks"] = changed["attacks"][:1]
    attack = changed["attacks"][0]
    attack["histogram"] = {"edges": [0.0, 1.0], "members": [0.0], "non_members": [0.0]}
    attack["roc"] = {key: [0.0, 1.0] for key in ("fpr", "tpr", "low", "high")} | {"band": "exact"}
    page = html(changed, [row | {"exposure": 1.5} for row in rows[:3]])
    assert len(read(page).all("figure")) == 5


@pytest.mark.words
def test_of_many_records_the_page_shows_the_most_exposed_and_says_what_it_leaves_out(small):
    few = example.rows(100)
    many = [few[i % 100] | {"record": i} for i in range(20_000)]
    page = html(small, many)
    assert f"The {ROWS:,} most exposed of 20,000 records" in page
    assert len(read(page).one("table", id="record-table").one("tbody").all("tr")) == ROWS
    assert len(page) < 1_500_000


def test_figures_leave_the_users_settings_alone(small, rows):
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 31.0, "svg.fonttype": "path", "axes.grid": True}):
        before = dict(mpl.rcParams)
        changed = html(small, rows[:50])
        assert dict(mpl.rcParams) == before
    assert changed == html(small, rows[:50])


def test_a_users_outputs_have_no_recipe(rows):
    given = example.document(models=1, records=100, measurable=False, attacks=1) | {"recipe": None}
    given["population"]["per_model"] = []
    given["population"]["accuracy"] = None
    root = read(html(given, rows[:5]))
    assert "not measurable" in root.one("section", id="finding").text
    assert "trained elsewhere" in root.text
    assert "nan" not in root.text.lower().split()


def test_an_audit_without_records_has_no_table_of_them(small):
    assert read(html(small)).all("table", id="record-table") == []


def test_the_command_can_be_given_again(small):
    shown = html(small | {"environment": {"command": ["audit", "--out", "my folder"]}})
    assert "reticent audit --out &#x27;my folder&#x27;" in shown
