"""The page, the section, the pictures and the terminal's text of a study's document."""

import io
import re
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from reticent.errors import UnwrittenError
from reticent.findings.study import Figure, Part, Printed, StudyDocument
from reticent.report.kinds.study import study
from reticent.report.output import KINDS, STUDY, Output
from reticent.report.pictures import study as pictures
from reticent.report.pictures.study import described, files, panel
from reticent.report.render import html as pages
from reticent.report.render import markdown as sections
from reticent.report.render import terminal as screens
from reticent.say.study import asked, between, printed, written
from reticent.studies.run import _files

HOSTILE = "evil</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{ 7 * 7 }}|`"


def number(mean, low, high):
    return {"mean": mean, "interval": [low, high], "within": [low, high], "over_seeds": None, "seeds": [mean]}


LINES = {
    "kind": "lines",
    "title": "Accuracy over r",
    "x": "r",
    "y": "accuracy",
    "log_x": True,
    "form": "share",
    "series": [
        {"label": "A1", "x": [0.001, 0.01], "estimates": [number(0.5, 0.4, 0.6), None]},
        {"label": "A2", "x": [0.001, 0.01], "estimates": [number(0.7, 0.6, 0.8), number(0.75, 0.7, 0.8)]},
    ],
    "levels": [{"label": "from scratch", "value": 0.65}],
}
STAGES = LINES | {"log_x": False, "ticks": ["stem", "stage1"], "form": "number"}
STAGES["series"] = [{"label": "effect", "x": [0, 1], "estimates": [number(0.5, 0.49, 0.51), number(0.6, 0.58, 0.62)]}]
DOTS = {
    "kind": "dots",
    "title": "LiRA AUC",
    "x": "AUC",
    "names": ["one", "two"],
    "series": [{"label": "", "estimates": [number(0.8, 0.7, 0.9), None]}],
}
CLOUD = {
    "kind": "cloud",
    "title": "All weights",
    "x": "learnability",
    "y": "vulnerability",
    "points": [[-3, -2, 1000], [-1, -1, 2]],
}
DENSITY = {
    "kind": "density",
    "title": "stage1",
    "x": "distance",
    "edges": [0.0, 1.0, 2.0],
    "series": [{"label": "both", "heights": [1.0, 0.0]}, {"label": "one", "heights": [0.0, 1.0]}],
}
PANELS = [LINES, STAGES, DOTS, CLOUD, DENSITY]
FIGURE = {"name": "toy-a", "title": "All kinds", "panels": PANELS, "svg": "toy-a.svg", "png": "toy-a.png"}
PART = {
    "label": "accuracy, A3 against A2",
    "metric": "points",
    "better": "higher",
    "yes": 0.0,
    "no": 0.05,
    "answer": "yes",
    "reason": None,
    **number(0.1, 0.06, 0.14),
}
MISSED = PART | {"label": "AUC, CNN", "answer": "open", "reason": "unmatched"}
COLUMNS = [
    {"key": "accuracy", "label": "Accuracy", "form": "share"},
    {"key": "auc", "label": "AUC", "form": "number"},
    {"key": "tpr", "label": "never measured", "form": "share"},
]
ROW = {"name": "A3", "about": "CWRF", "values": {"accuracy": number(0.6, 0.55, 0.65), "auc": None, "tpr": None}}


def kind(network, parts, reason=None, counts=True, found=None):
    found = found or ("open" if reason else "yes")
    return {
        "network": network,
        "settings": ["digits"],
        "counts": counts,
        "found": found,
        "reason": reason,
        "parts": parts,
    }


OTHER = kind("CNN", [MISSED], "unmatched", counts=False)


def claim(key, text, origin, verdict, reason, kinds):
    about = ["ResNet"] if origin == "paper" else []
    told = {"key": key, "text": text, "source": "T1", "origin": origin, "networks": about, "rule": "R."}
    return told | {"verdict": verdict, "reason": reason, "kinds": kinds}


FACTS = {"models": 4, "rates": [0.1, 0.2]}
DOCUMENT = {
    "schema": "reticent.study/2",
    "study": "toy",
    "title": "What is it?",
    "paper": "Nobody (2026).",
    "scale": {"name": "tiny", "seeds": 1, "about": "Seconds."},
    "confidence": 0.95,
    "over": "models and records",
    "sentence": "toy at scale tiny: of the paper's 2 claims, 1 is reproduced; of our 2 claims, 0 hold.",
    "claims": [
        claim(
            "a", "A.", "paper", "reproduced", None, [kind("ResNet", [PART]), kind("CNN", [MISSED], "unmatched", False)]
        ),
        claim("b", "B.", "paper", "can't tell", "network", []),
        claim("c", "C.", "ours", "does not hold", None, [kind("ResNet", [PART | {"answer": "no"}], found="no")]),
        claim("d", "D.", "ours", "can't tell", "unmeasured", [kind("CNN", [], "unmeasured")]),
    ],
    "tables": [
        {
            "title": "MLP on digits",
            "setting": "digits",
            "columns": COLUMNS,
            "rows": [
                ROW | {"paper": {"auc": {"value": 0.7, "std": 0.01}, "accuracy": {"value": 0.771, "std": 0.0121}}},
                ROW | {"paper": None},
            ],
        }
    ],
    "figures": [FIGURE],
    "published": [
        {
            "title": "Nobody, Table 1",
            "note": "Of other data.",
            "columns": COLUMNS[:2],
            "rows": {"A3": {"auc": {"value": 0.7, "std": None}}},
            "remarks": [{"row": "A3", "column": "auc", "text": "impossible as printed"}],
        }
    ],
    "settings": [
        {
            "key": "digits",
            "label": "MLP on digits",
            "network": "MLP",
            "unlike": "",
            "digest": "0",
            "facts": {"models": 4, "rates": [0.1, 0.2]},
        }
    ],
    "cannot_say": ["All else."],
    "environment": {"reticent": "0", "device": "cpu", "seconds": 3.2},
}


READ = StudyDocument.read(DOCUMENT)
ALL = READ.figures[0]


def html(document):
    return pages.html(study(document))


def markdown(document):
    return sections.markdown(study(document))


def with_panels(*panels):
    """The figure with some of its panels."""
    return Figure.model_validate({**FIGURE, "panels": list(panels)})


def everywhere(value, text):
    """Put a text into every string of a document that is shown."""
    if isinstance(value, dict):
        kept = {
            "key",
            "form",
            "kind",
            "metric",
            "better",
            "answer",
            "verdict",
            "name",
            "svg",
            "png",
            "column",
            "setting",
            "origin",
            "found",
            "reason",
            "schema",
        }
        return {k: v if k in kept and isinstance(v, str) else everywhere(v, text) for k, v in value.items()}
    if isinstance(value, list):
        return [everywhere(item, text) for item in value]
    return text if isinstance(value, str) else value


def test_the_page_says_verdicts_numbers_and_the_papers_beside():
    page = html(READ)
    for said in (
        "Claims of the paper, judged by 95\N{NO-BREAK SPACE}% intervals",
        "1. A.",
        "✓ reproduced",
        "Not measured at this scale: 1 claim",
        "2. B.",
        "Claims of ours, judged by 95\N{NO-BREAK SPACE}% intervals",
        "3. C.",
        "✗ does not hold",
        "ResNet: as the claim says",
        "CNN: open (no control is as accurate); not counted in the verdict",
        "ResNet: not as the claim says",
        "+10.0 points",
        "60.0",
        "paper: 0.700 ± 0.010",
    ):
        assert said in page
    assert "paper: 77.1 ± 1.2" in page
    assert "impossible as printed" in page
    assert "never measured" not in page


def test_the_same_document_gives_the_same_page():
    small = READ.with_(figures=(with_panels(DENSITY),))
    assert html(small) == html(small.with_())


def test_the_page_loads_nothing_and_runs_nothing_from_outside():
    shown = {**DOCUMENT, "figures": [{**FIGURE, "panels": [STAGES, DOTS]}]}
    page = html(StudyDocument.read(everywhere(shown, HOSTILE)))
    assert "default-src 'none'" in page
    assert "<img" not in page
    assert "alert(1)</script>" not in page
    assert page.count("<script>") == 1
    assert not re.search(r"(href|src)=\"(?!#)", page)
    assert "49" not in re.sub(r"<(style|script|svg).*?</\1>", "", page, flags=re.DOTALL)


def test_each_kind_of_panel_is_drawn_and_described_in_numbers():
    for i, one in enumerate(ALL.panels):
        root = ET.fromstring(panel(ALL, i))
        assert root.attrib["role"] == "img"
        title, text = (root.find(tag).text for tag in ("title", "desc"))
        assert title == one.title.replace(" %", "\xa0%")
        assert text == described(one).replace(" %", "\xa0%")
        assert re.search(r"\d", text)
    said = list(map(described, ALL.panels))
    assert "A1: 0.001 50.0 %" in said[0]
    assert "stage1 0.600" in said[1]
    assert "of 1,002 weights" in said[3]
    assert "both: mean 0.500; one: mean 1.500" in said[4]


@pytest.fixture(scope="module")
def alone():
    """The figure as an SVG and a PNG; drawing it takes a second."""
    return files(ALL)


def test_the_files_are_a_light_and_dark_svg_and_a_png(alone):
    svg, png = alone
    root = ET.fromstring(svg)
    style = root.find("{http://www.w3.org/2000/svg}style").text
    used = set(re.findall(r"var\((--\w+)\)", svg))
    light, dark = style.split("@media")
    assert used <= set(re.findall(r"(--\w+):", light)) == set(re.findall(r"(--\w+):", dark))
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert files(with_panels(DENSITY)) == files(with_panels(DENSITY))


def test_figures_of_a_study_replace_none_but_their_own(alone, tmp_path, monkeypatch):
    monkeypatch.setattr("reticent.report.pictures.study.files", lambda _: alone)
    monkeypatch.setattr("reticent.report.render.html.html", lambda _: KINDS[".html"].decode())

    def write():
        return Output.take(tmp_path, STUDY).write(READ, _files(READ))

    written = write()
    before = {path: path.read_bytes() for path in written}
    assert before == {path: path.read_bytes() for path in write()}
    (tmp_path / "study.json").unlink()  # as an interruption leaves it
    assert write() == written
    (tmp_path / "study.json").unlink()
    for name in ("toy-a.svg", "toy-a.png"):
        (tmp_path / name).write_bytes(b"<svg>mine</svg>")
        with pytest.raises(UnwrittenError, match=f"{name} is there already") as raised:
            write()
        assert raised.value.document == READ.to_json()
        assert (tmp_path / name).read_bytes() == b"<svg>mine</svg>"
        assert not (tmp_path / "study.json").exists()
        (tmp_path / name).unlink()


def test_a_figure_without_numbers_can_be_drawn():
    empty = {**LINES, "series": [{"label": "A1", "x": [0.01], "estimates": [None]}], "levels": []}
    figure = with_panels(empty, {**CLOUD, "points": []}, {**DOTS, "names": [], "series": []})
    assert all(panel(figure, i) for i in range(3))


def test_the_section_has_tables_that_markdown_reads():
    text = markdown(READ)
    assert text.startswith("## toy, scale tiny\n")
    order = ("Claims of the paper", "| 1. A.", "- 2. B.", "Claims of ours", "| 3. C.", "- 4. D.")
    assert sorted(order, key=text.index) == list(order)
    assert "| accuracy, A3 against A2 | 1 | +10.0 points (+6.0 to +14.0) | +5.0 points or more | ✓ yes |" in text
    assert "![All kinds](toy-a.png)" in text
    assert "| A3 (CWRF) | 60.0\N{NO-BREAK SPACE}% (55.0 to 65.0\N{NO-BREAK SPACE}%; paper: 77.1 ± 1.2" in text
    tables = [line for line in text.splitlines() if line.startswith("| A3")]
    assert {line.count(" | ") for line in tables} == {2}
    assert "<script>" not in markdown(StudyDocument.read(everywhere(DOCUMENT, HOSTILE)))


def test_what_claims_share_stands_once():
    """A reason that all claims of the paper have, a number, and a rule, with the claims it is of."""
    rule = "The AUC is lower (see Table 1). It can't be told of few."
    kinds = [kind("MLP", [PART | {"label": "AUC", "setting": "MLP on digits"}], found="yes", counts=False)]
    claims = [claim(str(i), f"Claim {i}.", "paper", "can't tell", "network", kinds) for i in range(5)]
    given = [one | {"rule": told} for one, told in zip(claims, [rule, rule, rule, "Else.", "Else."], strict=True)]
    text = markdown(StudyDocument.read(DOCUMENT | {"claims": given}))
    assert text.count("no network of the kind that the claim is about was run") == 1
    assert "not counted in the verdict" not in text
    assert "| AUC | 1 to 5 | +10.0 points" in text
    two = DOCUMENT["settings"] * 2
    assert "| AUC, MLP on digits | 1 to 5 |" in markdown(
        StudyDocument.read(DOCUMENT | {"claims": given, "settings": two})
    )
    assert f"| {rule} | 1 to 3 |\n| Else. | 4, 5 |" in text


def test_the_terminal_shows_verdicts_in_a_sentence_each_and_no_table():
    console = Console(file=io.StringIO(), width=140)
    console.print(screens.terminal(study(READ)))
    shown = console.file.getvalue().replace("\N{NO-BREAK SPACE}", " ")
    joined = " ".join(shown.split())
    for said in (
        DOCUMENT["sentence"],
        "Claims of the paper, judged by 95 % intervals",
        "- ✓ reproduced: A. ResNet: as the claim says [+10.0 points (+6.0 to +14.0)]; CNN: open (no control is as "
        "accurate); not counted in the verdict [+10.0 points (+6.0 to +14.0)].",
        "- ? can't tell: B. No network of the kind that the claim is about was run. Claims",
        "Claims of ours, judged by 95 % intervals",
        "- ✗ does not hold: C.",
        "- ? can't tell: D. This scale does not measure it. CNN: open.",
    ):
        assert said in joined
    assert "MLP on digits" not in joined
    assert "paper:" not in joined
    assert len(shown.splitlines()) < 20


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        (0.123, "share", "12.3 %"),
        (-0.021, "points", "\N{MINUS SIGN}2.1 points"),
        (0.02, "difference", "+0.020"),
        (74.2, "seconds", "1 min 14 s"),
        (2**20, "bytes", "1.0 MiB"),
        (0.5, "number", "0.500"),
        (None, "share", "–"),
    ],
)
def test_numbers_are_written_by_their_form(value, how, text):
    assert written(value, how) == text


def test_intervals_of_shares_stay_within_0_and_1():
    assert between((-0.1, 1.2), "share") == "0.0 to 100.0 %"
    assert between((0.1, 0.2), "seconds") == ""
    assert between((0.5, 0.5), "number") == ""
    assert between((-0.01, 0.02), "points") == "\N{MINUS SIGN}1.0 to +2.0"


def test_what_is_asked_is_told_in_the_numbers_own_direction():
    part = Part.model_validate(PART)
    assert asked(part) == "+5.0 points or more"
    lower = part.with_(better="lower", metric="difference", no=-0.01)
    assert asked(lower) == "\N{MINUS SIGN}0.010 or less"
    assert asked(lower.with_(yes=-0.01)) == "below \N{MINUS SIGN}0.010"
    assert asked(part.with_(yes=-0.02, no=-0.02)) == "above \N{MINUS SIGN}2.0 points"


def test_a_papers_number_without_a_deviation_stands_alone():
    assert printed(Printed(value=0.7), "number") == "0.700"
    assert printed(Printed(value=0.771, std=0.0121), "share") == "77.1 ± 1.2 %"
    assert printed(None, "number") == ""


def test_bars_of_shares_end_where_shares_do():
    estimates = [{"mean": 0.99, "interval": [0.96, 1.02]}, {"mean": 0.5, "interval": None}, None]
    series = [{"label": "a", "x": [0, 1, 2], "estimates": estimates}]
    for form, end in (("share", 1.0), ("number", 1.02)):
        one = with_panels({**LINES, "form": form, "series": series}).panels[0]
        assert pictures._known(one, one.series[0].x, one.series[0].estimates) == [
            (0, 0.99, (0.96, end)),
            (1, 0.5, None),
        ]


def test_bytes_are_drawn_in_mib_and_not_below_0():
    series = [{"label": "", "estimates": [number(3 * 2**20, -(2**20), 7 * 2**20)]}]
    one = with_panels(DOTS | {"form": "bytes", "x": "memory", "names": ["one"], "series": series}).panels[0]
    assert pictures._known(one, [0], one.series[0].estimates) == [(0, 3, (0, 7))]
    assert ">memory, MiB<" in panel(with_panels(DOTS | {"form": "bytes", "x": "memory"}), 0)


def test_names_of_rows_stand_once_where_panels_have_the_same():
    svg, _ = files(with_panels(DOTS, DOTS, DOTS | {"names": ["three", "four"]}))
    assert [svg.count(f">{name}<") for name in ("one", "two", "three", "four")] == [1, 1, 1, 1]


def test_a_panel_of_one_series_without_a_label_is_told_without_one():
    series = [{"label": "", "estimates": [{"mean": 0.5, "interval": None}]}]
    (one,) = with_panels({"kind": "dots", "title": "AUC", "names": ["a"], "series": series}).panels
    assert described(one) == "AUC. a 0.500."


def test_labels_on_a_logarithmic_axis_leave_room_for_each_other():
    places = {0.17, 0.172, 0.394, 0.397, 0.411, 0.695}
    assert pictures._apart(places) == [0.17, 0.394, 0.695]
    assert pictures._apart({0.1}) == [0.1]
    assert pictures._apart({0.001, 0.01, 0.03, 0.05}) == [0.001, 0.01, 0.03, 0.05]
