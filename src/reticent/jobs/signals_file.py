"""The file of outputs: an .npz archive of plain arrays, of which large ones are read piece by piece."""

import difflib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from reticent import scratch, user_files
from reticent.auditing.partition import CLASS
from reticent.data.records import Records
from reticent.data.sources import TABLES
from reticent.data.units import Units, units_of
from reticent.errors import CorruptFileError, SpecError, meant, nearest
from reticent.jobs import grouping
from reticent.jobs.attack import ANSWERS, KEYS, Outputs
from reticent.options import UnitScore

log = logging.getLogger(__name__)

EXPECTED = "an .npz file of plain arrays, the outputs"
PIECE = 2**24
"""Bytes of a large array that are read at once."""


def read_signals(
    path: Path,
    group_by: Sequence[str] = (),
    unit: str | None = None,
    unit_score: UnitScore = "mean",
    records: Records | None = None,
) -> Outputs:
    """Read a file of outputs; `unit` names the array, or else the records' column, that tells whose each record is."""
    path = check_file(path)
    # A stream of one's own: NumPy forgets to close the file if it is broken.
    with user_files.loading(path, EXPECTED), path.open("rb") as stream:
        content = np.load(stream, allow_pickle=False)
        if isinstance(content, np.ndarray):
            raise CorruptFileError(f"{path}: expected {EXPECTED}, got one array, an .npy file")
        arrays = {key: _array(path, content, key) for key in content.files}
    groups = _groups(path, arrays, group_by, {} if records is None else records.columns)
    whose = None if unit is None or unit in KEYS else arrays.pop(unit, None)
    missing = [repr(key) for key in ("labels", "membership") if key not in arrays]
    answers = f"one of {', '.join(ANSWERS)}"
    unanswered = not any(key in arrays for key in ANSWERS)
    if missing or unanswered:
        what = f"expected {answers}, got none of them"
        if missing:
            missing += [answers] * unanswered
            several = f"{len(missing)} arrays are missing, {' and '.join(missing)}"
            what = f"the array {missing[0]} is missing" if len(missing) == 1 else several
        held = f"it holds {', '.join(sorted(arrays)) or 'nothing'}{meant(sorted(arrays.keys() - set(KEYS)), KEYS)}"
        raise SpecError(f"{path}: {what}; {held}")
    ungrouped = _ungrouped(path, arrays)
    units = None if unit is None else _units(path, unit, unit_score, whose, records, ungrouped)
    brought = Outputs(**arrays, groups=groups, ungrouped=ungrouped, units=units)
    return brought if records is None else replace(brought, records=records)


def check_file(path: Path) -> Path:
    """Refuse what is no file that may hold outputs, before anything else is read, and return its path."""
    path = user_files.path(path)
    with user_files.reading(path, EXPECTED):
        user_files.check(path, EXPECTED)
    if path.name.lower().endswith(TABLES):
        raise CorruptFileError(
            f"{path}: expected {EXPECTED}, got a table: read it (by pandas, say), and write numpy.savez('outputs.npz', "
            "logits=..., labels=..., membership=...), of shape (M, N, C), (N,) and (M, N): models, records and classes"
        )
    return path


def _units(
    path: Path,
    unit: str,
    score: UnitScore,
    whose: NDArray[Any] | None,
    records: Records | None,
    further: Sequence[str],
) -> Units:
    """Read whose each record is, from an array of the file, or from a column of the records."""
    if whose is not None:
        return Units.of(unit, whose, score)
    if records is not None and records.columns:
        return units_of(records, unit, score)
    told = f": {nearest(unit, further)}" if further else "; it holds none that has one value a record"
    raise SpecError(f"{path}: unit: there is no array {unit!r} that tells whose each record is{told}")


def _ungrouped(path: Path, arrays: dict[str, NDArray[Any]]) -> tuple[str, ...]:
    """Take out what is no output, and name of it what has one value a record; tell of the rest."""
    further = {key: arrays.pop(key) for key in tuple(arrays) if key not in KEYS}
    one_a_record = [key for key, values in further.items() if values.shape == arrays["labels"].shape[:1]]
    unread = sorted(further.keys() - one_a_record)
    for key in unread:
        if difflib.get_close_matches(key, KEYS, n=1, cutoff=0.8):  # Meant to be read, such as ``target``.
            raise SpecError(
                f"{path}: unknown array {key!r}: {nearest(key, KEYS)} Call it otherwise if it is something else"
            )
    if unread:
        log.warning("%s: %s: not read: expected one of %s", path, ", ".join(unread), ", ".join(KEYS))
    return tuple(one_a_record)


def _array(path: Path, content: "np.lib.npyio.NpzFile", key: str) -> NDArray[Any]:
    """Read an array of an archive; a large one piece by piece."""
    archive = content.zip
    assert archive is not None  # It is open.
    name = key if key in archive.namelist() else f"{key}.npy"
    with user_files.loading(path, EXPECTED, key):
        if archive.getinfo(name).file_size < scratch.LARGE:
            return np.asarray(content[key])
        with archive.open(name) as stream:
            return _large(stream)


def _large(stream: IO[bytes]) -> NDArray[Any]:
    version, form = np.lib.format.read_magic(stream), np.lib.format
    header = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    shape, turned, dtype = header(stream)
    if dtype.hasobject:
        raise ValueError("Object arrays")
    values = scratch.zeros(shape[::-1] if turned else shape, dtype)
    flat = values.reshape(-1).view(np.uint8)
    for start in range(0, len(flat), PIECE):
        piece = flat[start : start + PIECE]
        piece[:] = np.frombuffer(stream.read(len(piece)), np.uint8)
        scratch.release(values)
    stream.read(1)  # Only at its end the archive's sum is checked.
    return values.T if turned else values


def _groups(
    path: Path, arrays: dict[str, NDArray[Any]], group_by: Sequence[str], columns: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Take what records are grouped by out of a file's arrays, or else of the records' columns."""
    further = [key for key in arrays if key not in KEYS]
    asked = [name for name in grouping.once(group_by) if name != CLASS or name in further]
    for name in asked:
        if name not in further and name not in columns:
            raise SpecError(
                f"{path}: group_by: there is no array {name!r} to group records by; besides the outputs it holds "
                f"{', '.join(sorted(further)) or 'nothing'}"
                f"{', and the records have the columns ' * bool(columns)}{', '.join(sorted(columns))}"
                f"{meant([name], [*further, *columns])}"
            )
    return {name: arrays.pop(name) if name in further else columns[name] for name in asked}
