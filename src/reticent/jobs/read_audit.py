"""Read what an audit wrote."""

import json
from functools import partial
from pathlib import Path
from typing import NoReturn

from reticent import user_files
from reticent.errors import CorruptFileError
from reticent.findings.base import Plain
from reticent.report.output import AUDIT, HARDEN, set_aside

EXPECTED = "the audit.json of `reticent audit` or `reticent attack`, or the harden.json of `reticent harden`"
REMEDY = (
    "give it, or the folder that holds it; outputs in an .npz file are audited first: reticent attack --signals FILE"
)


def read_document(path: Path) -> Plain:
    """Read the document of an audit."""
    with user_files.reading(path, EXPECTED):
        file = _file(path)
    with user_files.reading(file, f"{EXPECTED}, or the folder of either{_below(path)}"):
        if file.suffix.lower() in {".html", ".htm"}:
            raise CorruptFileError(f"{file}: expected {EXPECTED}, got a web page: {REMEDY}")
        user_files.check(file, "the JSON of an audit")
        text = user_files.text(file, EXPECTED, REMEDY)
    try:
        document = json.loads(text, parse_constant=partial(_refuse, file))
    except json.JSONDecodeError as error:
        if not text.lstrip().startswith("{"):
            raise CorruptFileError(f"{file}: expected {EXPECTED}, got text that is no JSON object: {REMEDY}") from None
        place = f"line {error.lineno}, column {error.colno}"
        raise CorruptFileError(f"{file}: not the JSON of an audit: it was cut off or edited at {place}") from None
    except (ValueError, RecursionError):
        raise CorruptFileError(f"{file}: not the JSON of an audit: {user_files.TOO_MUCH}") from None
    if not isinstance(document, dict):
        raise CorruptFileError(f"{file}: expected a JSON object, got {type(document).__name__}")
    return document


def _file(path: Path) -> Path:
    """Find the document that is meant: of a folder, the one that lies in it."""
    if not path.is_dir():
        return path
    audit, harden = path / "audit.json", path / "harden.json"
    return harden if not audit.exists() and harden.is_file() else audit


def _below(path: Path) -> str:
    """Say what a folder without a document holds: a report that was set aside, or several audits."""
    if not path.is_dir():
        return ""
    for form in (AUDIT, HARDEN):
        aside = set_aside(path, form)
        if aside is not None:
            return (
                "; a report into this folder was begun and is not written: run the same command again, which goes on "
                f"where it was (the report of before lies in {str(aside)!r})"
            )
    found = sorted(one.parent for one in path.glob("*/audit.json"))
    if not found:
        return ""
    some = ", ".join(repr(str(one)) for one in found[:5]) + (", ..." if len(found) > 5 else "")
    what = "a comparison, whose rows are audits" if (path / "compare.json").is_file() else "audits"
    return f"; the folder holds {what} of their own: give {'one of ' if len(found) > 1 else ''}{some}"


def _refuse(file: Path, name: str) -> NoReturn:
    raise CorruptFileError(f"{file}: not the JSON of an audit: {name} is not a number that an audit may hold")
