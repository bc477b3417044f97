"""The gate's JUnit file: well formed, in the order and with the attributes that the schemas in use ask for."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from reticent.errors import StoreError
from reticent.findings.gate import Check as CheckFinding
from reticent.findings.gate import Gate as GateFinding
from reticent.report.junit import clean, junit, write_junit


def Check(name, limit, outcome, message, estimate=None, bound=None, attack=None, **more):
    given = {"estimate": estimate, "bound": bound, "attack": attack, **more}
    return CheckFinding(name=name, limit=limit, outcome=outcome, message=message, **given)


def Gate(outcome, checks, sentence, data):
    return GateFinding(outcome=outcome, checks=checks, sentence=sentence, data=data)


NASTY = "a<b>&\"'\x00\x1b[31m\ud800\ufffe\n\u202e\N{PILE OF POO} 中"
CHECKS = (
    Check("AUC at most 0.6", 0.6, "passed", "the highest is 0.57", 0.55, 0.57, "lira", evidence=("lira: 0.55",)),
    Check("AUC at most 0.5", 0.5, "failed", "above the limit", 0.55, 0.57, "lira", evidence=("lira: 0.55",)),
    Check("TPR at FPR 0.001 at most 0.01", 0.01, "cannot judge", "too small", reason="not-measurable"),
    Check("epsilon at most 3", 3, "skipped", "no accountant (allowed)", reason="no-accountant"),
)
CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase", "system-out", "system-err"],
    "testcase": ["skipped", "error", "failure", "system-out", "system-err"],
    "properties": ["property"],
}
"""Element -> its children, in the order of the Ant schema (windyroad/JUnit-Schema)."""
REQUIRED = {
    "testsuite": {"id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"},
    "testcase": {"name", "classname", "time"},
    "property": {"name", "value"},
    "failure": {"type"},
    "error": {"type"},
}


def gate(checks=CHECKS, data="mine.csv"):
    return Gate("failed", tuple(checks), "Failed: one of four.", data)


def conform(element):
    order = CHILDREN.get(element.tag, [])
    places = [order.index(child.tag) for child in element]
    assert places == sorted(places), element.tag
    assert REQUIRED.get(element.tag, set()) <= set(element.attrib), element.tag
    for child in element:
        conform(child)


def test_the_file_has_the_form_of_the_schema():
    root = ET.fromstring(junit(gate()))
    conform(root)
    suite = root.find("testsuite")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
    assert [suite.find(tag) is not None for tag in ("properties", "system-out", "system-err")] == [True] * 3
    for element in (root, suite):
        counts = [int(element.get(key)) for key in ("tests", "failures", "errors", "skipped")]
        assert counts == [4, 1, 1, 1]


def test_every_outcome_has_its_element():
    cases = ET.fromstring(junit(gate())).findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == [check.name for check in CHECKS]
    assert {case.get("classname") for case in cases} == {"reticent.gate.mine.csv"}
    passed, failed, error, skipped = (case[0] for case in cases)
    assert (passed.tag, passed.text) == ("system-out", "the highest is 0.57\nlira: 0.55")
    assert (failed.tag, failed.get("type"), failed.get("message")) == ("failure", "failed", "above the limit")
    assert failed.text == "above the limit\nlira: 0.55"
    assert (error.tag, error.get("type")) == ("error", "not-measurable")
    assert (skipped.tag, skipped.get("message")) == ("skipped", "no accountant (allowed)")


def test_times_are_told_in_utc():
    told = ET.fromstring(junit(gate())).find("testsuite").get("timestamp")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(f"{told}+00:00")) < timedelta(minutes=1)


def test_hostile_text_stays_text(tmp_path):
    check = Check(NASTY, 0.5, "failed", NASTY, evidence=(NASTY * 1000,))
    path = write_junit(tmp_path / "new" / "out.xml", gate([check], NASTY))
    root = ET.parse(path).getroot()
    conform(root)
    case = root.find("testsuite/testcase")
    assert case.get("name") == clean(NASTY) == "a<b>&\"'\ufffd\ufffd[31m\ufffd\ufffd\n\u202e\N{PILE OF POO} 中"
    assert case.find("failure").text == clean(NASTY) + "\n" + clean(NASTY) * 1000


@pytest.mark.parametrize("code", [0, 8, 0xB, 0x1F, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF])
def test_what_xml_cannot_hold_is_replaced(code):
    assert clean(f"a{chr(code)}b") == "a\ufffdb"


@pytest.mark.parametrize("code", [9, 10, 13, 32, 0x7F, 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x10FFFF])
def test_what_xml_can_hold_is_kept(code):
    assert clean(chr(code)) == chr(code)
    ET.fromstring(junit(gate([Check(chr(code), 0, "failed", chr(code))])))


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "out.xml").mkdir()
    with pytest.raises(StoreError, match=r"out\.xml"):
        write_junit(tmp_path / "out.xml", gate())
    assert [path.name for path in tmp_path.iterdir()] == ["out.xml"]
