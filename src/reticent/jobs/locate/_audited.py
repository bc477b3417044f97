"""A finished audit as the source of its records: what its folder says of each."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.data.load import load
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, MissingFileError, ReticentError
from reticent.jobs.config import OWN
from reticent.jobs.reading import read_document
from reticent.options import DataOptions

WHOLE = frozenset({"record", "label", "models_in", "models_out"})
"""Columns of whole numbers."""
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Finished:
    """What a folder holds.

    Attributes:
        folder: of the audit.
        document: ``audit.json``.
        rows: ``records.csv``, in its order.
        records: the data set, if it is where it was and is what it was; for pictures only.
    """

    folder: Path
    document: dict[str, Any]
    rows: list[Row]
    records: Records | None


def read(path: Path) -> Finished:
    """Read a finished audit."""
    document = read_document(path)
    if "exposure" not in document or "data" not in document:
        raise InputError(f"{path}: expected the audit.json of an audit, got another document: give an audit's folder")
    folder = path if path.is_dir() else path.parent
    return Finished(folder, document, read_rows(folder / "records.csv"), _data(document))


def read_rows(path: Path) -> list[Row]:
    """Read ``records.csv``."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            if reader.fieldnames is None or "record" not in reader.fieldnames or "exposure" not in reader.fieldnames:
                raise CorruptFileError(f"{path}: expected the columns record and exposure, got {reader.fieldnames}")
            return [{key: _value(key, text) for key, text in line.items()} for line in reader]
    except FileNotFoundError:
        raise MissingFileError(
            f"no file {str(path)!r}: expected the records.csv that reticent audit writes beside its audit.json"
        ) from None
    except OSError as error:
        raise CorruptFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, csv.Error) as error:
        raise CorruptFileError(f"{path}: not the records.csv of an audit: {error}") from None


def _value(key: str, text: str) -> Any:
    if key == "label_name" or key.startswith("group_"):
        return text or None
    if text == "":
        return None
    return int(text) if key in WHOLE else float(text)


def _data(document: Mapping[str, Any]) -> Records | None:
    """Load the data set again, for its pictures; anything that hinders it leaves only the pictures out."""
    config = (document.get("environment") or {}).get("config")
    if not isinstance(config, Mapping) or config.get("dataset") == OWN:
        return None
    given = {key: config[key] for key in ("data_dir", *DataOptions.model_fields) if config.get(key) is not None}
    try:
        records = load(config.get("dataset", "digits"), **given)
    except ReticentError:
        return None
    return records if records.digest == document["data"].get("digest") else None
