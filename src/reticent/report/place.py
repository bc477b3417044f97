"""Where a report may be written: never over what the same command reads, nor over files that are none of reticent's."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.errors import InputError
from reticent.report.files import make_folder

HEAD = 2**20
"""So many bytes of a file are looked at, to tell whose it is."""
PAGE = b'<meta name="generator" content="reticent'


@dataclass(frozen=True)
class Form:
    """The files of one kind of report.

    Attributes:
        numbers: name of the file that holds the document; it is written last.
        schema: how the document's ``schema`` begins.
        others: names of the files that are always beside it.
        section: name of the file that only ``format="md"`` writes.
        marks: by name, what such a file holds near its beginning. A file without a mark is known by its name, beside
            the document.
        alone: names of files, with a mark, that are written long before the document, so that an interruption leaves
            them without it.
    """

    numbers: str
    schema: str
    others: tuple[str, ...]
    section: str | None = None
    marks: tuple[tuple[str, bytes], ...] = ()
    alone: tuple[str, ...] = ()

    def names(self, form: str = "md") -> tuple[str, ...]:
        """List the names of the files of such a report.

        Args:
            form: "html" leaves the section out.

        Returns:
            The names.
        """
        section = (self.section,) if self.section is not None and form == "md" else ()
        return (*self.others, *section, self.numbers)

    def files(self, path: Path) -> list[Path]:
        """List what belongs to a report that is read.

        Args:
            path: its folder, or the file with its document.

        Returns:
            Paths; not all of them need be there.
        """
        if path.is_dir():
            return [path / name for name in self.names()]
        return [path, *([path.with_name(name) for name in self.names()] if path.name == self.numbers else [])]

    def earlier(self, folder: Path) -> dict[str, Any] | None:
        """Read the document of a report of this kind.

        Args:
            folder: where it may be.

        Returns:
            The document; None if there is none that reticent wrote.
        """
        try:
            document = json.loads((folder / self.numbers).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        schema = document.get("schema") if isinstance(document, dict) else None
        return document if isinstance(schema, str) and schema.startswith(self.schema) else None

    def recognised(self, path: Path) -> bool:
        """Say whether a file beside the document is one that reticent wrote.

        Args:
            path: the file.

        Returns:
            Whether it is; where it cannot be read, it is not.
        """
        mark = dict(self.marks).get(path.name, PAGE if path.suffix == ".html" else b"")
        try:
            with path.open("rb") as stream:
                return mark in stream.read(HEAD)
        except OSError:
            return False


RECORDS = b"record,label,label_name,exposure,"
AUDIT = Form(
    "audit.json",
    "reticent.audit/",
    ("report.html", "records.csv"),
    "report.md",
    (("records.csv", RECORDS), ("report.md", b"## Membership privacy\n")),
)
COMPARISON = Form(
    "compare.json",
    "reticent.comparison/",
    ("compare.html", "compare.csv"),
    "compare.md",
    (("compare.csv", b"name,role,"), ("compare.md", b"## Comparison of recipes\n")),
)
SEARCH = Form("search.json", "reticent.search/", ("search.html",))
HARDEN = Form("harden.json", "reticent.harden/", ("harden.html", "repaired.safetensors"))
WEIGHTS = Form(
    "weights.json",
    "reticent.locate.weights/",
    ("weights.html", "vulnerability.safetensors", "learnability.safetensors"),
    marks=tuple((f"{what}.safetensors", f'"scores":"{what}"'.encode()) for what in ("vulnerability", "learnability")),
    alone=("vulnerability.safetensors", "learnability.safetensors"),
)
LAYERS = Form("layers.json", "reticent.locate.layers/", ("layers.html",))
RECORD_LIST = Form(
    "records.json", "reticent.locate.records/", ("records.html", "records.csv"), marks=(("records.csv", RECORDS),)
)
STUDY = Form("study.json", "reticent.study/", ("study.html", "study.md"), marks=(("study.md", b", scale "),))


def check_file(flag: str, path: Path, inputs: Iterable[Any]) -> None:
    """Refuse to write over a file that the same command reads, by whatever path, link or hard link it is named.

    Args:
        flag: what names the output, such as "scores".
        path: what will be written.
        inputs: what is read; what is no path, such as arrays, is passed over.

    Raises:
        InputError: it is one of the inputs.
    """
    for given in inputs:
        if isinstance(given, (str, Path)) and _same(path, Path(given).expanduser()):
            raise InputError(
                f"{flag}: {path} would be written over, and this command reads it (as {given}): give another "
                f"--{flag}; nothing was changed"
            )


def check_folder(folder: Path, form: Form, inputs: Iterable[Any] = (), kind: str = "html") -> None:
    """Refuse a folder where a report would replace an input, or a file that is not of an earlier report of its kind.

    Args:
        folder: where the report goes; it need not be there.
        form: of the report.
        inputs: what the command reads, as for `check_file`.
        kind: "md" if the section is written too.

    Raises:
        InputError: a file is in the way; the message names it.
    """
    paths = [folder / name for name in form.names(kind)]
    read = list(inputs)
    for path in paths:
        check_file("out", path, read)
    there = [path for path in paths if path.is_symlink() or path.exists()]
    ours = bool(there) and form.earlier(folder) is not None
    for path in there:
        if not (ours or path.name in form.alone) or not form.recognised(path):
            raise InputError(
                f"out: {path} is there already, and is not of an earlier report of this kind that reticent wrote into "
                f"{folder}: give another folder with --out, or move the file away; nothing was changed"
            )


def take_folder(folder: Path, form: Form, inputs: Iterable[Any] = (), kind: str = "html") -> Path:
    """Check a folder as `check_folder` does, and make it.

    Args:
        folder: where the report goes.
        form: of the report.
        inputs: what the command reads.
        kind: "md" if the section is written too.

    Returns:
        The folder.

    Raises:
        InputError: a file is in the way.
        StoreError: the folder cannot be made.
    """
    check_folder(folder, form, inputs, kind)
    make_folder(folder)
    return folder


def left_over(folder: Path, form: Form, written: Iterable[str]) -> list[Path]:
    """List files of an earlier report that a new one does not write, and that would stand beside it with old numbers.

    Args:
        folder: of both reports.
        form: of both.
        written: names of what the new one writes.

    Returns:
        What reticent wrote and may remove: the section, and the figures that the earlier document names.
    """
    document = form.earlier(folder)
    if document is None:
        return []
    names = [form.section] if form.section is not None else []
    figures = document.get("figures")
    for figure in figures if isinstance(figures, list) else []:
        drawn = [figure.get("svg"), figure.get("png")] if isinstance(figure, dict) else []
        names += [name for name in drawn if isinstance(name, str) and Path(name).name == name]
    kept = set(written)
    paths = [folder / name for name in names if name not in kept]
    return [path for path in paths if path.is_file() and form.recognised(path)]


def _same(path: Path, given: Path) -> bool:
    try:
        return path.samefile(given)
    except (OSError, ValueError):
        return False
