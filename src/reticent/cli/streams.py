"""Standard output and standard error that may be lost: a closed pipe, a full disk. What a command does goes on."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO


class Steady:
    """A stream whose first failure is noted, and after which all that is written is dropped.

    Where the system's side does not block, a reader who is slow (EAGAIN) is such a failure: what is lost is not known.
    """

    def __init__(self, stream: TextIO) -> None:
        """Stand before a stream.

        Args:
            stream: standard output, or standard error.
        """
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
        """Write a text, unless the stream is lost.

        Args:
            text: what to write.

        Returns:
            Its length.
        """
        if self.error is None:
            with self._noting():
                self._stream.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts.

        Args:
            lines: what to write.
        """
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
    """Keep a command from ending where its standard streams fail, or are closed from the beginning.

    Yields:
        Standard output and standard error.
    """
    before = sys.stdout, sys.stderr
    with contextlib.ExitStack() as opened:
        out, err = (
            Steady(stream if stream is not None else opened.enter_context(Path(os.devnull).open("w", encoding="utf-8")))
            for stream in before
        )
        sys.stdout, sys.stderr = out, err
        try:
            yield out, err
        finally:
            out.flush()
            err.flush()
            sys.stdout, sys.stderr = before
