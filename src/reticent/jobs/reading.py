"""Read what an audit wrote."""

import json
from pathlib import Path
from typing import Any, NoReturn

from reticent.errors import CorruptFileError, MissingFileError


def read_document(path: Path) -> dict[str, Any]:
    """Read the document of an audit."""
    file = path
    try:
        file = path / "audit.json" if path.is_dir() else path
        document = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(
            f"no file {str(file)!r}: expected the audit.json that `reticent audit` writes, or its folder{_below(path)}"
        ) from None
    except OSError as error:
        raise CorruptFileError(f"{file}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(f"{file}: not the JSON of an audit: {error}") from None
    if not isinstance(document, dict):
        raise CorruptFileError(f"{file}: expected a JSON object, got {type(document).__name__}")
    return document


def _below(path: Path) -> str:
    """Point to the audits in a folder of several, such as a comparison's."""
    found = sorted(one.parent for one in path.glob("*/audit.json")) if path.is_dir() else []
    if not found:
        return ""
    some = ", ".join(repr(str(one)) for one in found[:5]) + (", ..." if len(found) > 5 else "")
    what = "a comparison, whose rows are audits" if (path / "compare.json").is_file() else "audits"
    return f"; the folder holds {what} of their own: give {'one of ' if len(found) > 1 else ''}{some}"


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that an audit may hold")
