"""``reticent data``: which data sets there are, what they hold, whether the files are right, and how to get them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import cyclopts

from reticent.cli.flags import DataFlags
from reticent.cli.screen import say, show, stderr
from reticent.report import blocks as b

if TYPE_CHECKING:
    from reticent.data.entry import DatasetEntry
    from reticent.data.records import Records
    from reticent.findings.population import ColumnReading

app = cyclopts.App(name="data")


@app.command(name="list")
def list_(*, data_dir: str | None = None) -> None:
    """List the data sets, and say which are here.

    Args:
        data_dir: Folder of official data files. [RETICENT_DATA, then the cache folder]
    """
    from reticent.data.datasets import DATASETS

    rows = []
    for name, entry in DATASETS.items():
        here = "yes" if _where(entry, data_dir) else "no"
        rows.append((name, entry.kind, f"{entry.records:,}", str(entry.classes), here, entry.summary))
    columns: b.Heads = (*b.words("name", "kind"), "records", "classes", *b.words("here", "what"))
    show(b.table("Data sets", columns, rows))
    say("To get one that is not here: reticent data fetch NAME. Your own: a file, a folder, module:function.")


@app.command(name="show")
def show_(name: str, /, *, data_dir: str | None = None) -> None:
    """Show what is known of a data set: files, addresses, checksums, licence, what to cite.

    Args:
        name: A name that `reticent data list` shows.
        data_dir: Folder of official data files. [RETICENT_DATA, then the cache folder]

    Raises:
        UnknownNameError: no such data set.
    """
    from reticent.data.datasets import DATASETS
    from reticent.errors import UnknownNameError

    if name not in DATASETS:
        raise UnknownNameError("data set", name, DATASETS)
    entry = DATASETS[name]
    rows = {
        "title": entry.title,
        "what": entry.summary,
        "kind": entry.kind,
        "records": f"{entry.records:,}",
        "classes": str(entry.classes),
        "licence": entry.licence,
        "cite": entry.citation,
        "suggested": ", ".join(f"{key} = {value}" for key, value in entry.suggested.items()),
        "here": _where(entry, data_dir) or "no",
    }
    _print(rows)
    say(*_file_lines(entry))


@app.command
def check(
    name: str,
    /,
    *,
    reading: DataFlags = DataFlags(),  # noqa: B008
    unit: str | None = None,
    data_dir: str | None = None,
) -> None:
    """Load a data set, compare its checksums, count what it holds, and list what each column of a table becomes.

    Examples:
        reticent data check mine.csv --label outcome
        reticent data check mine.csv --label outcome --not-feature patient --unit patient

    Args:
        name: A name that `reticent data list` shows, a file or a folder of your own, or module:function.
        reading: how a table's columns, or a folder's pictures, are read.
        unit: A column whose values name persons, or other units of several records, as `reticent audit` takes it.
        data_dir: Folder of official data files. [RETICENT_DATA, then the cache folder]

    Raises:
        ColumnsError: columns of a table cannot be features as they are; how all are read is shown first.
    """
    from reticent.data.datasets import DATASETS
    from reticent.data.load import load
    from reticent.data.persons import person_columns
    from reticent.data.units import units_of
    from reticent.errors import ColumnsError
    from reticent.options import flag
    from reticent.say.population import person_number

    try:
        records = load(name, data_dir=data_dir, **reading.values())
    except ColumnsError as error:
        _print_readings(error.readings)
        raise
    rows = _count(records)
    if unit is not None:
        units = units_of(records, unit)
        rows["units"] = f"{units.count:,} by {unit}, of up to {units.largest:,} records"
    if name in DATASETS:
        entry = DATASETS[name]
        rows["checksums"] = _checked(entry)
        if len(records) != entry.records:
            rows["records"] += f", a part of {entry.records:,}"
    _print(rows)
    _print_readings(records.readings)
    for one in () if unit is not None else person_columns(records):
        say(f"{person_number(one)}: with {flag('unit', one.column)}, reticent audit is of persons.")


@app.command
def fetch(name: str, /, *, data_dir: str | None = None) -> Sequence[Path]:
    """Download a data set's official files, check them, and unpack them.

    Args:
        name: A name that `reticent data list` shows.
        data_dir: Folder that the files go into. [RETICENT_DATA, then the cache folder]

    Returns:
        Those files.
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from reticent.data.fetch import fetch as download
    from reticent.data.official import folders

    folder = folders(data_dir)[0]
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr(), transient=True) as bar:
        tasks = {}

        def advance(file: str, done: int, total: int | None) -> None:
            if file not in tasks:
                tasks[file] = bar.add_task(file, total=total)
            bar.update(tasks[file], completed=done)

        paths = download(name, folder, advance)
    if not paths:
        say(f"nothing to do: {name} comes with scikit-learn")
    say(*paths)
    return paths


def _file_lines(entry: "DatasetEntry") -> list[str]:
    """What to download, then what lies below the data folder, one a line with its checksum."""
    archives = {file.archive.name: file.archive for file in entry.files if file.archive}
    lines = [f"download {archive.address} ({archive.checksum})" for archive in archives.values()]
    lines += [f"download {file.address}" for file in entry.files if not file.archive]
    return lines + [f"file {file.path} ({file.checksum or 'no checksum is published'})" for file in entry.files]


def _where(entry: "DatasetEntry", data_dir: "str | Path | None") -> str:
    """The folder that holds an entry's files, or an empty text."""
    from reticent.data.official import check_folder, folders, locate

    check_folder(data_dir)
    if not entry.files:
        return "comes with scikit-learn"
    for folder in folders(data_dir):
        if all(locate(folder, file) for file in entry.files):
            return str(folder)
    return ""


def _count(records: "Records") -> dict[str, str]:
    import numpy as np

    from reticent.report.render.text import clean

    sizes = np.bincount(records.y, minlength=records.classes)
    names = [clean(name, 20) for name in records.class_names[:10]]
    called = f": {', '.join(names)}{', ...' if records.classes > len(names) else ''}" if names else ""
    return {
        "name": records.name,
        "kind": records.kind,
        "records": f"{len(records):,}",
        "classes": f"{records.classes}, of {sizes.min():,} to {sizes.max():,} records{called}",
        "shape": " x ".join(str(n) for n in records.x.shape[1:]) + f" {records.x.dtype}",
        "exact duplicates": f"{records.duplicates:,}",
        "columns": ", ".join(name or "''" for name in records.columns) or "none",
        "licence": records.licence,
        "digest": records.digest,
    }


def _print_readings(readings: "Sequence[ColumnReading]") -> None:
    """List what each column of a table becomes."""
    from reticent.data.records import FITTED

    if not readings:
        return
    rows = []
    for one in readings:
        counts = ("" if one.values is None else f"{one.values:,}", f"{one.missing:,}", f"{one.features:,}")
        note = b.Cell(one.note, tone="bad" if one.read_as == "refused" else "strong" if one.telling else "usual")
        rows.append((b.Name(one.column or "''", 40), one.read_as, *counts, note))
    columns: b.Heads = (*b.words("column", "read as"), "values", "missing", "features", *b.words("note"))
    show(b.table("Columns", columns, rows))
    say(FITTED)


def _checked(entry: "DatasetEntry") -> str:
    if not entry.files:
        return "none: the data come with scikit-learn"
    summed = sum(bool(file.checksum) for file in entry.files)
    if summed == len(entry.files):
        return f"right ({summed} of {summed} official files)"
    return "none is published for the unpacked files; their form is right"


def _print(rows: dict[str, str]) -> None:

    show(b.Facts((("", tuple(rows.items())),)))
