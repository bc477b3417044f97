import copy
import re
import xml.etree.ElementTree as ET

import pytest

from reticent.findings.attack import Audit, Histogram
from reticent.findings.audit import AuditDocument
from reticent.report import svg
from reticent.report.kinds.attacks import figures as attack_figures
from reticent.report.kinds.attacks import histogram_caption
from reticent.report.pictures import audit as figures


def _texts(drawing):
    return ["".join(e.itertext()) for e in ET.fromstring(drawing).iter("text")]


def _attack(document, **changes):
    return Audit.model_validate(copy.deepcopy(document["attacks"][0]) | changes)


def _attacks(document):
    return [Audit.model_validate(attack) for attack in document["attacks"]]


def test_tick_labels_keep_their_digits(document):
    drawn = {"edges": [0.0, 0.005, 0.01, 0.015], "members": [1.0, 2.0, 1.0], "non_members": [2.0, 1.0, 1.0]}
    labels = _texts(figures.histogram(Histogram.model_validate(drawn), "lira", "h"))
    assert {"0.000", "0.005", "0.010", "0.015"} <= set(labels)


def test_names_in_figures_are_text_and_nothing_else(document):
    name = 'a"b <i> $x$ #0072b2'
    drawing = figures.spread([_attack(document, name=name)])
    assert name in _texts(drawing)


def test_colours_and_fonts_are_the_pages(document):
    drawing = figures.roc(_attacks(document), 0.01)
    assert re.findall(r"#[0-9a-f]{6}", drawing) == []
    assert set(re.findall(r"var\((--[a-z0-9]+)\)", drawing)) <= set(svg.VARIABLES.values())
    assert "font-family" not in drawing
    assert "DejaVu" not in drawing


def test_curves_can_be_told_apart_without_colour(document):
    drawing = figures.roc(_attacks(document)[:7])
    curves = re.findall(
        r"stroke-dasharray: ([^;\"]+)[^\"]*var\(--s(\d)\)|var\(--s(\d)\)[^\"]*stroke-dasharray: ([^;\"]+)", drawing
    )
    patterns = {a or d for a, _, _, d in curves}
    assert len(patterns) == 6


def test_roc_descriptions_have_each_auc(document):
    drawing = figures.roc(_attacks(document))
    for attack in document["attacks"]:
        assert f"{attack['name']}: AUC {attack['overall']['auc']['mean']:.3f}" in drawing


@pytest.mark.parametrize(
    ("non_members", "least"), [(100, "1"), (899, "0.1"), (25_000, "0.001"), (10**7, "0.001"), (3, "10")]
)
def test_roc_starts_at_the_power_of_ten_below_what_the_records_resolve(document, non_members, least):
    attack = _attack(document, targets=[document["attacks"][0]["targets"][0] | {"non_members": non_members}])
    labels = _texts(figures.roc([attack]))
    assert f"{least} %" in labels
    smallest = min(float(text.removesuffix(" %")) for text in labels if text.endswith("%"))
    assert smallest == float(least)


def test_a_curve_that_finds_nothing_still_has_its_name(document):
    flat = {
        "fpr": [0.001, 0.5, 1.0],
        "tpr": [0.0, 0.0, 1.0],
        "low": [0.0, 0.0, 1.0],
        "high": [0.0, 0.0, 1.0],
        "band": "exact",
    }
    assert "lira" in _texts(figures.roc([_attack(document, roc=flat)]))


def test_shares_above_one_have_no_label(document):
    drawn = {"edges": [0.0, 1.0, 2.0], "members": [1.0, 0.0], "non_members": [1.0, 0.0]}
    labels = _texts(figures.histogram(Histogram.model_validate(drawn), "lira", "h"))
    shares = [float(text.removesuffix(" %")) for text in labels if text.endswith("%")]
    assert max(shares) <= 100


def test_one_drawing_is_one_text(document):
    assert figures.spread(_attacks(document)) == figures.spread(_attacks(document))
    assert figures.exposures([0.1, 0.2, 3.0]) != figures.exposures([0.1, 0.2, 4.0])


def test_a_histogram_with_a_spike_has_a_logarithmic_axis_and_says_so(document):
    even = {"edges": [0.0, 1.0, 2.0, 3.0, 4.0], "members": [0.2, 0.3, 0.3, 0.2], "non_members": [0.3, 0.2, 0.2, 0.3]}
    spiked = even | {"members": [0.0, 0.01, 0.09, 0.9]}
    assert not figures.spiked(Histogram.model_validate(even))
    assert "logarithmic" not in figures.histogram(Histogram.model_validate(even), "lira", "h")
    attack = _attack(document, histogram=spiked)
    drawing = figures.histogram(attack.histogram, "lira", "h")
    assert {"1 %", "10 %", "100 %"} <= set(_texts(drawing))
    assert "logarithmic axis" in drawing
    assert "logarithmic axis" in histogram_caption(attack)


def test_many_attacks_leave_room_for_the_curves(document):
    """Of more attacks than colours, the first of the table are drawn, and the caption says so."""
    names = [f"attack-{i}" for i in range(figures.CURVES + 3)]
    whole = AuditDocument.model_validate(document)
    drawn = attack_figures(whole, [_attack(document, name=name) for name in names])[0].figures[0]
    assert f"the first {figures.CURVES} of the {len(names)} attacks" in drawn.caption
    assert set(names) & set(_texts(drawn.draw())) == set(names[: figures.CURVES])
