"""Files that are something else than their name says, told by their first bytes."""

from pathlib import Path

LOOKED_AT = 1024
"""Bytes."""


def impostor(path: Path) -> str | None:
    """Say what a file is in which no data can be.

    Args:
        path: a plain file.

    Returns:
        A clause to follow its name, with the remedy; None if it may be what its name says.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        head = stream.read(LOOKED_AT)
    if not head:
        return "is empty (0 bytes): copy or download it again"
    if head.startswith(b"version https://git-lfs"):
        return "is a git-LFS pointer, a text that stands for the file: run `git lfs pull` where it lies"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")):
        return "is a web page (HTML), most often an error of the download: open it in a browser, then download again"
    return None
