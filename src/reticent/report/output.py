"""The folder of a report: taken before the work, written after it, and nothing of anybody else's is lost.

A report is never written over what the same command reads, by whatever link it is named, nor over what reticent did not
write. What another command wrote into the folder during the work stays. All files of a report appear together, or none.
An earlier report is set aside when the work begins, so that nobody takes it for that of a work that failed or was
killed, and goes when the new one is written.
"""

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from reticent import user_files
from reticent.errors import InputError, StoreError, UnwrittenError
from reticent.findings.base import Document
from reticent.report.files import Content, check_writable, move_files, there, write_files

log = logging.getLogger(__name__)

HEAD = 4096
"""A page and a picture say within so many bytes whose they are."""
TENSORS = 2**20
"""So many bytes of the header of tensors are looked at; what is said about them stands before their names."""
EARLIER = "earlier"
"""Folder, within that of a report, where an earlier one lies until the new one is written."""
KINDS = {
    ".html": b'<meta name="generator" content="reticent',
    ".svg": b'<svg xmlns="http://www.w3.org/2000/svg" class="chart"',
    ".png": b"Software\0reticent",
}
"""By a file's ending, the mark of what reticent writes."""


@dataclass(frozen=True)
class Form:
    """The files of one kind of report.

    Attributes:
        numbers: name of the file that holds the document; it is written last.
        schema: how the document's ``schema`` begins.
        others: names of the files that are always beside it.
        section: name of the file that only ``format="md"`` writes.
        sometimes: names of files that only some of these reports have.
        marks: by name, the mark of a file whose kind has none of its own in `KINDS`: how a text begins, or what the
            header of tensors holds. Markdown is also known by its last line, `SEAL`.
    """

    numbers: str
    schema: str
    others: tuple[str, ...]
    section: str | None = None
    sometimes: tuple[str, ...] = ()
    marks: tuple[tuple[str, bytes], ...] = ()

    def names(self, form: str = "md") -> tuple[str, ...]:
        """List the names of the files of such a report."""
        section = (self.section,) if self.section is not None and form == "md" else ()
        return (*self.others, *self.sometimes, *section, self.numbers)

    def files(self, path: Path) -> list[Path]:
        """List what belongs to a report that is read."""
        beside = [path.with_name(name) for name in self.names()] if path.name == self.numbers else []
        return [path, *(path / name for name in self.names()), *beside]

    def earlier(self, folder: Path) -> dict[str, Any] | None:
        """Read the document of a report of this kind."""
        try:
            document = json.loads((folder / self.numbers).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        schema = document.get("schema") if isinstance(document, dict) else None
        return document if isinstance(schema, str) and schema.startswith(self.schema) else None

    def recognised(self, path: Path) -> bool:
        """Say whether a file other than the document is, by itself, one that reticent wrote.

        An interruption may leave such files without their document.
        """
        mark = dict(self.marks).get(path.name) or KINDS.get(path.suffix)
        try:
            return mark is not None and _bears(path, mark)
        except OSError:
            return False


PARQUET = b"reticent.records"
"""What a Parquet file of reticent's holds about itself, at its end."""
RECORDS = b"record,label,label_name,exposure,"
AUDIT = Form(
    "audit.json",
    "reticent.audit/",
    ("report.html", "records.csv"),
    "report.md",
    ("named.csv", "units.csv", "records.parquet"),
    (
        ("records.csv", RECORDS),
        ("units.csv", b"unit,records,exposure,"),
        ("records.parquet", PARQUET),
        ("named.csv", b"target,record,label,p,p_adjusted,"),
        ("report.md", b"## Membership privacy\n"),
    ),
)
COMPARISON = Form(
    "compare.json",
    "reticent.comparison/",
    ("compare.html", "compare.csv"),
    "compare.md",
    marks=(("compare.csv", b"name,role,matches,epochs_kept,"), ("compare.md", b"## Comparison of recipes\n")),
)
SEARCH = Form("search.json", "reticent.search/", ("search.html",))
REPAIRED = {"repaired": "by reticent"}
"""What is said about repaired weights in their file."""
HARDEN = Form(
    "harden.json",
    "reticent.harden/",
    ("harden.html", "repaired.safetensors"),
    sometimes=("compact.safetensors",),
    marks=tuple((name, b'"repaired":"by reticent"') for name in ("repaired.safetensors", "compact.safetensors")),
)
WEIGHTS = Form(
    "weights.json",
    "reticent.locate.weights/",
    ("weights.html", "vulnerability.safetensors", "learnability.safetensors"),
    marks=tuple((f"{what}.safetensors", f'"scores":"{what}"'.encode()) for what in ("vulnerability", "learnability")),
)
LAYERS = Form("layers.json", "reticent.locate.layers/", ("layers.html",))
RECORD_LIST = Form(
    "records.json", "reticent.locate.records/", ("records.html", "records.csv"), marks=(("records.csv", RECORDS),)
)
RANKING = Form(
    "ranking.json",
    "reticent.locate.ranking/",
    ("ranking.html", "records.csv"),
    marks=(("records.csv", b"record,label,label_name,loss_iqr,"),),
)
STUDY = Form("study.json", "reticent.study/", ("study.html", "study.md"), marks=(("study.md", b"## "),))
FORMS = (AUDIT, COMPARISON, SEARCH, HARDEN, WEIGHTS, LAYERS, RECORD_LIST, RANKING, STUDY)


@dataclass(frozen=True)
class Output:
    """A folder that was taken for a report; of kind "md" it has a section in Markdown too."""

    folder: Path
    form: Form
    kind: str = "html"

    @classmethod
    def take(cls, folder: Path, form: Form, inputs: Iterable[Any] = (), kind: str = "html") -> "Output":
        """Check a folder, and begin, where nothing else is refused before the work."""
        return cls.checked(folder, form, inputs, kind).begin()

    @classmethod
    def checked(cls, folder: Path, form: Form, inputs: Iterable[Any] = (), kind: str = "html") -> "Output":
        """Check a folder as `check_folder` does, and that it can be written to; nothing is changed there."""
        check_folder(folder, form, inputs, kind)
        check_writable(folder)
        return cls(folder, form, kind)

    def begin(self) -> "Output":
        """Set aside the report that is there."""
        move_files(_own(self.folder, self.form, self.kind), self.folder / EARLIER)
        return self

    def write(self, document: Document, files: Mapping[str, Content]) -> tuple[Path, ...]:
        """Write the files of a report and, last, its numbers: all of them, or none; Markdown gets its last line."""
        self._check(document)
        try:  # Names that are known only now, such as those of figures. What was measured is kept in the error.
            check_names(self.folder, self.form, [name for name in files if name not in self.form.names(self.kind)])
        except InputError as error:
            raise UnwrittenError(str(error), document.unplaced()) from None
        texts = {name: sealed(content) if name.endswith(".md") else content for name, content in files.items()}
        texts[self.form.numbers] = as_json(document.to_json())
        aside = self.folder / EARLIER
        try:
            write_files(self.folder, texts, _own(aside, self.form)[::-1])  # The numbers, which name others, go last.
        except StoreError as error:
            raise UnwrittenError(str(error), document.unplaced()) from None
        with suppress(OSError):  # It is not there, or holds what is none of reticent's.
            aside.rmdir()
        return tuple(self.folder / name for name in texts)

    def _check(self, document: Document) -> None:
        """Refuse to replace what another command wrote since, unless it says the same."""
        other = self.form.earlier(self.folder)
        if other is not None and _lasting(other) != _lasting(document.to_json()):
            raise UnwrittenError(
                f"out: another command wrote its report into {self.folder} while this one ran: it stays, and this one "
                "is not written. The same command with another --out finds all models that are finished, and writes it",
                document.unplaced(),
            )


def _lasting(document: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what differs between equal runs."""
    return {key: value for key, value in document.items() if key != "environment"}


def check_file(flag: str, path: Path, inputs: Iterable[Any], mark: bytes | None = None) -> None:
    """Refuse to write over a file that the same command reads, by whatever path, link or hard link it is named."""
    for given in inputs:
        if isinstance(given, (str, Path)) and _same(path, given):
            raise InputError(
                f"{flag}: {path} would be written over, and this command reads it (as {given}): give another "
                f"--{flag}; nothing was changed"
            )
    if not there(path):
        return
    if not path.is_file() and not path.is_symlink():
        raise InputError(
            f"{flag}: expected the path of a file, got {path}, which is no plain file; nothing was changed"
        )
    content = b"" if mark is None else _head(path)
    if mark is not None and content and mark not in content:
        raise InputError(
            f"{flag}: {path} is there already, and reticent did not write it: give another --{flag}, or move the file "
            "away; nothing was changed"
        )


def _head(path: Path) -> bytes:
    """Return the beginning of a file; nothing where it cannot be read, so that writing is refused later."""
    try:
        with path.open("rb") as stream:
            return stream.read(HEAD)
    except OSError:
        return b""


def check_folder(folder: Path, form: Form, inputs: Iterable[Any] = (), kind: str = "html") -> None:
    """Refuse a folder where a report would replace an input, or a file that is not of an earlier report of its kind."""
    read = list(inputs)
    for where in (folder, folder / EARLIER):
        for name in form.names(kind):
            check_file("out", where / name, read)
        check_names(where, form, form.names(kind))


def check_names(folder: Path, form: Form, names: Iterable[str]) -> None:
    """Refuse to replace what is there under some names, unless it is of an earlier report of a kind."""
    earlier = form.earlier(folder)
    known = _figures(earlier) if earlier is not None else []
    for path in [folder / name for name in names if there(folder / name)]:
        ours = earlier is not None if path.name == form.numbers else path.name in known or form.recognised(path)
        if ours and not any(path.name in other.names() and other.earlier(folder) for other in FORMS if other != form):
            continue
        if path.suffix == ".md":
            raise InputError(
                f"out: {path} is there already, and its last line does not say that it is word for word what reticent "
                "wrote: move it away, which keeps your changes, or give another folder with --out; nothing was changed"
            )
        raise InputError(
            f"out: {path} is there already, and is not of an earlier report of this kind that reticent wrote into "
            f"{folder}: give another folder with --out, or move the file away; nothing was changed"
        )


def set_aside(folder: Path, form: Form) -> Path | None:
    """Find where an earlier report lies that was set aside, until the one that was begun is written."""
    aside = folder / EARLIER
    return aside if there(aside / form.numbers) else None


def replacing(folder: Path, form: Form) -> str:
    """Say that a report which is set aside will be replaced; empty where there is none."""
    aside = set_aside(folder, form)
    if aside is None:
        return ""
    return f"{folder} holds an earlier report: it lies in {aside} until this one is written, which replaces it"


def _own(folder: Path, form: Form, kind: str = "md") -> list[Path]:
    """List the files of a report that reticent wrote, the numbers first.

    A section that somebody edited is not among them: it stays, which is told as a warning.
    """
    document = form.earlier(folder)
    known = [] if document is None else [form.numbers, *_figures(document)]
    found = [folder / name for name in known if there(folder / name)]
    found += [path for name in form.names() if name not in known and form.recognised(path := folder / name)]
    section = folder / (form.section or "")
    if document is not None and kind != "md" and form.section and there(section) and section not in found:
        log.warning(
            "%s stays, since its last line does not say that it is word for word what reticent wrote: it may tell of "
            "an earlier report",
            section,
        )
    return found


def _figures(document: Mapping[str, Any]) -> list[str]:
    """Name the files of figures that a document lists; only plain names of a picture."""
    figures = document.get("figures")
    drawn = (
        [one.get(kind) for one in figures if isinstance(one, dict) for kind in ("svg", "png")]
        if isinstance(figures, list)
        else []
    )
    return [
        name
        for name in drawn
        if isinstance(name, str) and Path(name).name == name and Path(name).suffix in {".svg", ".png"}
    ]


def _bears(path: Path, mark: bytes) -> bool:
    """Look for the mark where a file of such a kind has it, and nowhere else."""
    with path.open("rb") as stream:
        head = stream.read(HEAD)
        if path.suffix == ".md":
            return head.startswith(mark) and unbroken(head + stream.read())
        if path.suffix == ".parquet":
            stream.seek(-min(TENSORS, path.stat().st_size), os.SEEK_END)
            return mark in stream.read()
        if path.suffix in {".csv", ".svg"}:
            return head.startswith(mark)
        if path.suffix == ".safetensors":
            size = int.from_bytes(head[:8], "little")
            return mark in (head + stream.read(TENSORS))[8 : 8 + size]
        return mark in head


def _same(path: Path, given: str | Path) -> bool:
    try:
        return path.samefile(user_files.path(given))
    except (OSError, ValueError):
        return False


SEAL = "<!-- Written by reticent; SHA-256 of the lines above: {} -->\n"
"""The last line of Markdown: a comment, which shows whether it is word for word what reticent wrote."""
_LENGTH = len(SEAL.format("0" * 64))


def sealed(text: Content) -> str:
    """Put the last line below Markdown."""
    body = (text.decode("utf-8") if isinstance(text, bytes) else "".join(text)).rstrip() + "\n\n"
    return body + SEAL.format(sha256(body.encode("utf-8", "backslashreplace")).hexdigest())


def unbroken(content: bytes) -> bool:
    """Say whether a section is as it was written, so that nothing of a user's is in it."""
    body, line = content[:-_LENGTH], content[-_LENGTH:]
    return line == SEAL.format(sha256(body).hexdigest()).encode("ascii")


def as_json(document: Mapping[str, Any]) -> str:
    """Write the document as JSON that any parser takes: in its own order, without NaN, one newline at the end."""
    try:
        return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    except (ValueError, TypeError) as error:
        where = ".".join(("document", *next(_odd(document), ())))
        raise InputError(f"{where}: expected plain, finite values, got {error}") from None


def _odd(value: Any) -> Iterator[tuple[str, ...]]:
    """Find what JSON lacks, by the keys and places that lead to it."""
    if isinstance(value, (Mapping, list, tuple)):
        for key, one in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from ((str(key), *rest) for rest in _odd(one))
    else:
        try:
            json.dumps(value, allow_nan=False)
        except (ValueError, TypeError):
            yield ()
