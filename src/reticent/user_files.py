"""Paths and files as users give them: the home folder, encodings, gzip, and files that are not what their name says."""

import gzip
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent.errors import CorruptFileError, MissingFileError, ReticentError

BOMS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""How a text may begin that is not UTF-8 and says so; the longer ones first."""
GZIP = b"\x1f\x8b"
PICKLE = "a pickle"
ARRAYS = {b"PK": "a zip archive", b"\x93NUMPY": "an .npy file", b"\x80": PICKLE}
"""How files may begin that NumPy writes, and what they then are."""
BINARY = {
    b"PK\x03\x04": "a zip archive, as .npz, .pt and .xlsx files are",
    b"\x93NUMPY": "an .npy file",
    b"PAR1": "a Parquet file",
    b"\x89HDF": "an HDF5 file",
    **{bytes((0x80, protocol)): PICKLE for protocol in range(2, 6)},
}
"""How files may begin that are no text, and what they then are."""
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


@contextmanager
def reading(file: Path, expected: str) -> Iterator[None]:
    """Say of a file that it is not there, or why the system does not give it."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"no file {str(file)!r}: expected {expected}") from None
    except OSError as error:
        raise CorruptFileError(f"{file}: cannot be read: {error.strerror or error}") from None


def check_plain(file: Path, expected: str = "a file") -> None:
    """Refuse what is no plain file: a folder, or a pipe, which would be waited for until somebody writes into it."""
    mode = file.stat().st_mode
    if stat.S_ISDIR(mode):
        raise CorruptFileError(f"{file}: expected {expected}, got a folder: give a file, such as one that lies in it")
    if not stat.S_ISREG(mode):
        kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        raise CorruptFileError(
            f"{file}: expected {expected}, got {kind}: write what comes out of it into a file, and give that"
        )


def check(file: Path, expected: str = "a file") -> None:
    """Refuse a file in which no data can be, with the remedy."""
    check_plain(file, expected)
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


def text(file: Path, expected: str = "a text", remedy: str = "write it as text") -> str:
    """Read a text: UTF-8 with or without a mark, or UTF-16 or UTF-32 with one; gzip is unpacked, whatever the name.

    Of a file that is no text, messages say what was expected and what to do.
    """
    check_plain(file)
    content = file.read_bytes()
    if content.startswith(GZIP):
        try:
            content = gzip.decompress(content)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CorruptFileError(f"{file}: its gzip is cut off or damaged ({error}): download it again") from None
    if kind := _binary(content):
        raise CorruptFileError(f"{file}: expected {expected}, got {kind}: {remedy}")
    encoding = next((name for mark, name in BOMS.items() if content.startswith(mark)), "utf-8-sig")
    if encoding == "utf-8-sig" and b"\0" in content:
        count, line = content.count(0), content.count(b"\n", 0, content.index(0)) + 1
        raise CorruptFileError(
            f"{file}: expected UTF-8 text, got NUL bytes ({count:,} of {len(content):,}), the first in line {line}: "
            f"if every second byte is one, it is UTF-16 without a mark, which is written anew by iconv -f "
            f"UTF-16LE -t UTF-8 {file.name} > NEW; if they are few, it was damaged: make it again, or take them out by "
            f"tr -d '\\000' < {file.name} > NEW and look at that line"
        )
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorruptFileError(_undecoded(file, content, error)) from None


def _binary(content: bytes) -> str:
    """Say what a file is that is no text; empty where that is not known."""
    if content[8:9] == b"{" and int.from_bytes(content[:8], "little") < len(content):
        return "a .safetensors file"
    return next((kind for mark, kind in BINARY.items() if content.startswith(mark)), "")


def _undecoded(file: Path, content: bytes, error: UnicodeDecodeError) -> str:
    line = content.count(b"\n", 0, error.start) + 1
    if error.encoding.startswith("utf-8"):
        return (
            f"{file}: expected UTF-8 text, got the byte 0x{content[error.start]:02x} in line {line}, as Latin-1 and "
            f"Windows-1252 have it: write it anew, for example by iconv -f WINDOWS-1252 -t UTF-8 {file.name} > NEW"
        )
    return f"{file}: begins as {error.encoding.upper()} text and is cut off or damaged in line {line}: copy it again"


@contextmanager
def loading(file: Path, expected: str, name: str = "") -> Iterator[None]:
    """Turn what NumPy says of a file of arrays, or of one of its arrays, into what was got and what to do.

    NumPy's own advice is to load a pickle all the same.
    """
    try:
        yield
    except ReticentError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever a broken file makes NumPy raise)
        if isinstance(error, OSError) and error.errno:
            got = f"an error of reading it ({error.strerror})"
        elif "Object arrays" in str(error):
            called = name or "x"
            got = (
                f"{f'{name!r}, ' * bool(name)}an array of Python objects (dtype object), which stands there as a "
                "pickle; nothing was unpickled, since that may run code: save it as numbers, booleans or texts, by "
                f"numpy.savez(..., {called}=numpy.array({called}.tolist()))"
            )
        else:
            got = _no_arrays(file, error)
        raise CorruptFileError(f"{file}: expected {expected}, got {got}") from None


def _no_arrays(file: Path, error: Exception) -> str:
    with file.open("rb") as stream:
        head = stream.read(LOOKED_AT)
    kind = next((kind for mark, kind in ARRAYS.items() if head.startswith(mark)), "")
    anew = f"write it anew by numpy.save{'' if file.suffix.lower() == '.npy' else 'z'}"
    if kind == PICKLE:
        return f"a pickle, which may run code when it is loaded; nothing was unpickled: {anew}"
    if kind:
        return f"{kind} that is cut off or damaged ({error}): copy or download it again, or {anew}"
    return f"what is none, and begins with {head[:12]!r}: {anew}"
