"""Standard output and standard error as they come: a closed pipe, a full disk, a terminal with few characters."""

import codecs
import contextlib
import errno
import io
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

PLAIN = dict.fromkeys("–—−", "-") | dict.fromkeys("“”", '"') | dict.fromkeys("‘’", "'") | dict.fromkeys("×✗", "x")
PLAIN |= {"±": "+-", "≤": "<=", "≥": ">=", "†": "+", "▲": "!", "▼": "v", "✓": "*", "\N{REPLACEMENT CHARACTER}": "?"}
"""Characters that reticent writes -> what stands for each where a stream has not got it."""
PLAINLY = "reticent.plainly"
"""Name, among Python's ways to treat what an encoding lacks, of `plainly`."""


def plainly(error: UnicodeError) -> tuple[str, int]:
    """Write what an encoding has not got in ASCII: by `PLAIN`, without its accents, or as Python escapes it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(one: str) -> str:
    text = "".join(PLAIN.get(part, part) for part in unicodedata.normalize("NFKD", PLAIN.get(one, one)))
    kept = "".join(part for part in text if not unicodedata.combining(part))
    return kept if kept.isascii() and kept else one.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error(PLAINLY, plainly)


class Steady:
    """A stream whose first failure is noted, and after which all that is written is dropped.

    Where the system's side does not block, a reader who is slow (EAGAIN) is such a failure: what is lost is not known.
    """

    def __init__(self, stream: TextIO) -> None:
        """Stand before a stream."""
        self._stream = stream
        self.error: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def failed(self) -> str | None:
        """What the operating system said, if more was lost than a reader who did not want to read on."""
        if self.error is None or self.error.errno == errno.EPIPE:
            return None
        return self.error.strerror or str(self.error)

    def write(self, text: str) -> int:
        """Write a text, unless the stream is lost."""
        if self.error is None:
            with self._noting():
                self._stream.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Bring to the system what was written, unless the stream is lost."""
        if self.error is None:
            with self._noting():
                self._stream.flush()

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = error
            # What is still held back goes nowhere, or Python would fail on it when it ends.
            with contextlib.suppress(OSError, ValueError):
                number = self._stream.fileno()
                nowhere = os.open(os.devnull, os.O_WRONLY)
                try:
                    os.dup2(nowhere, number)
                finally:
                    os.close(nowhere)
                self._stream.flush()


@contextlib.contextmanager
def steady() -> Iterator[tuple[Steady, Steady]]:
    """Keep a command going where its standard streams fail, lack a character, or are closed."""
    before = sys.stdout, sys.stderr
    with contextlib.ExitStack() as opened:
        out, err = (
            Steady(stream if stream is not None else opened.enter_context(Path(os.devnull).open("w", encoding="utf-8")))
            for stream in before
        )
        for stream in before:
            opened.enter_context(_lenient(stream))
        sys.stdout, sys.stderr = out, err
        try:
            yield out, err
        finally:
            out.flush()
            err.flush()
            sys.stdout, sys.stderr = before


@contextlib.contextmanager
def _lenient(stream: TextIO | None) -> Iterator[None]:
    """Let a stream write plainly what its encoding lacks; one that is no file of the system has none."""
    if not isinstance(stream, io.TextIOWrapper):
        yield
        return
    errors = stream.errors
    stream.reconfigure(errors=PLAINLY)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # What is held back is written first, and may fail.
            stream.reconfigure(errors=errors)
