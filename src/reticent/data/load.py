"""Load a data set: by its name in the table, from a user's file, or from a user's Python."""

import os
from pathlib import Path
from typing import Any

from reticent import opening, usercode
from reticent.data import DATASETS, imported, own
from reticent.data.folder import check, find
from reticent.data.forms import SUFFIXES, form
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, UnknownNameError
from reticent.options import DataOptions


def load(
    name_or_path: str | Path,
    *,
    data_dir: Path | str | None = None,
    verify: bool = True,
    **columns: Any,
) -> Records:
    """Load a data set.

    Args:
        name_or_path: a name of `reticent.data.DATASETS`; or a file or a folder of one's own, as `own.read`
            takes it; or an import string ``module:function``.
        data_dir: where official files are looked for first; then ``RETICENT_DATA``, then the user's cache folder.
        verify: whether official files must have the published checksums and counts. Without it, files of the same form
            are taken.
        **columns: how own data are read: keys of `DataOptions`, such as ``label="outcome"``.

    Returns:
        The records.

    Raises:
        UnknownNameError: it is none of the three.
        MissingFileError: a file, or the folder `data_dir`, is not there; the message says how to come by it.
        ChecksumError: an official file has other bytes.
        CorruptFileError: a file cannot be read as what it should be.
        InputError: a user's arrays are not what they must be.
        DataError: a user's function fails.
    """
    text = str(name_or_path)
    if text not in DATASETS or not DATASETS[text].files:  # else the message lists all folders, and the files
        check(data_dir)
    asked = DataOptions(**columns)
    if text in DATASETS:
        asked.check("arrays", text)
        return _official(text, data_dir, verify=verify)
    if usercode.is_import_string(text):
        return imported.read(text, asked)
    path = opening.path(text)
    if path.exists() or form(path) or "/" in text or os.sep in text:
        return own.read(path, asked)
    unknown = UnknownNameError("data set", text, DATASETS)
    raise unknown.retold(f"{unknown} (or give your own: a file, {', '.join(SUFFIXES)}, or module:function)")


def _official(name: str, data_dir: Path | str | None, *, verify: bool) -> Records:
    entry = DATASETS[name]
    folder = find(entry, data_dir) if entry.files else Path()
    try:
        return entry.load(folder, verify=verify)
    except InputError as error:
        raise CorruptFileError(f"{name} in {folder}: {error}") from None
