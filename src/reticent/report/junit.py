"""A gate as JUnit XML, the form in which build servers take test results."""

import io
import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

from reticent.findings.gate import Check, Gate
from reticent.report.files import make_folder, write_file

NAME = "reticent gate"
MARK = f'<testsuites name="{NAME}"'.encode()
"""What every such file begins with, behind the line that says that it is XML."""
ELEMENTS = {"failed": "failure", "cannot judge": "error", "skipped": "skipped"}
"""Outcome of a check -> its element; a test case without one has passed."""
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, gate: Gate) -> Path:
    """Write a gate's checks as test cases; the file appears complete or not at all."""
    text = junit(gate)
    make_folder(path.parent)
    write_file(path, text)
    return path


def junit(gate: Gate) -> str:
    """Write a gate's checks as test cases of one suite.

    A check that failed has a ``failure``, one that cannot be judged an ``error``, and one for which that was allowed is
    ``skipped``. All attributes and elements that any of the usual schemas asks for are there, in their order.
    """
    counts = {
        "tests": len(gate.checks),
        "failures": sum(check.outcome == "failed" for check in gate.checks),
        "errors": sum(check.outcome == "cannot judge" for check in gate.checks),
        "skipped": sum(check.outcome == "skipped" for check in gate.checks),
    }
    facts = {key: str(value) for key, value in counts.items()} | {"time": "0"}
    root = ET.Element("testsuites", {"name": NAME, **facts})
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    places = {"id": "0", "package": "reticent", "hostname": "localhost", "timestamp": moment}
    suite = ET.SubElement(root, "testsuite", {"name": NAME, **places, **facts})
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="data", value=clean(gate.data))
    for check in gate.checks:
        _case(suite, gate, check)
    ET.SubElement(suite, "system-out").text = clean(gate.sentence)
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    stream = io.BytesIO()
    ET.ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
    return stream.getvalue().decode("utf-8") + "\n"


def _case(suite: ET.Element, gate: Gate, check: Check) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=clean(f"reticent.gate.{gate.data}"), name=clean(check.name), time="0"
    )
    told = clean("\n".join([check.message, *check.evidence]))
    element = ELEMENTS.get(check.outcome)
    if element is None:
        ET.SubElement(case, "system-out").text = told
        return
    kind = {} if element == "skipped" else {"type": check.reason or check.outcome}
    ET.SubElement(case, element, {"message": clean(check.message), **kind}).text = told


def clean(text: str) -> str:
    """Replace what XML cannot hold: control characters, halves of surrogate pairs, U+FFFE and U+FFFF."""
    return _FORBIDDEN.sub("\ufffd", text)
