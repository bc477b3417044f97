"""Paths and files as users give them: the home folder, encodings, gzip, and files that are not what their name says."""

import gzip
import zlib
from pathlib import Path

from reticent.errors import CorruptFileError

BOMS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""How a text may begin that is not UTF-8 and says so; the longer ones first."""
GZIP = b"\x1f\x8b"
TOO_MUCH = "it holds a number of thousands of digits, or lists in lists too deep to be read: take that out"
"""What is said of a file in TOML or JSON that Python does not read, though nothing is wrong with its form."""
LOOKED_AT = 1024
"""So many of the first bytes tell what a file is not."""


def path(given: str | Path) -> Path:
    """Take the path of a file or a folder as its user means it: ``~`` is the home folder."""
    try:
        return Path(given).expanduser()
    except RuntimeError:
        return Path(given)


def check(file: Path) -> None:
    """Refuse a file in which no data can be, with the remedy."""
    with file.open("rb") as stream:
        head = stream.read(LOOKED_AT)
    if not head:
        raise CorruptFileError(f"{file} is empty (0 bytes): copy or download it again")
    if head.startswith(b"version https://git-lfs"):
        raise CorruptFileError(
            f"{file} is a git-LFS pointer, a text that stands for the file: run `git lfs pull` where it lies"
        )
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")):
        raise CorruptFileError(
            f"{file} is a web page (HTML), most often an error of the download: open it in a browser, then download "
            "it again"
        )


def text(file: Path) -> str:
    """Read a text: UTF-8 with or without a mark, or UTF-16 or UTF-32 with one; gzip is unpacked, whatever the name."""
    content = file.read_bytes()
    if content.startswith(GZIP):
        try:
            content = gzip.decompress(content)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CorruptFileError(f"{file}: its gzip is cut off or damaged ({error}): download it again") from None
    encoding = next((name for mark, name in BOMS.items() if content.startswith(mark)), "utf-8-sig")
    if encoding == "utf-8-sig" and b"\0" in content:
        raise CorruptFileError(
            f"{file}: expected UTF-8 text, got zero bytes: it is no text, or UTF-16 without a mark, which is written "
            f"anew by iconv -f UTF-16LE -t UTF-8 {file.name} > NEW"
        )
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorruptFileError(_undecoded(file, content, error)) from None


def _undecoded(file: Path, content: bytes, error: UnicodeDecodeError) -> str:
    line = content.count(b"\n", 0, error.start) + 1
    if error.encoding.startswith("utf-8"):
        return (
            f"{file}: expected UTF-8 text, got the byte 0x{content[error.start]:02x} in line {line}, as Latin-1 and "
            f"Windows-1252 have it: write it anew, for example by iconv -f WINDOWS-1252 -t UTF-8 {file.name} > NEW"
        )
    return f"{file}: begins as {error.encoding.upper()} text and is cut off or damaged in line {line}: copy it again"
