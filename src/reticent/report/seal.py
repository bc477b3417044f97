"""The last line of a section in Markdown, by which it shows that it is, word for word, what reticent wrote."""

from hashlib import sha256

SEAL = "<!-- Written by reticent; SHA-256 of the lines above: {} -->\n"
"""A comment, which a reader of the section does not see."""
_LENGTH = len(SEAL.format("0" * 64))


def sealed(text: str) -> str:
    """Put the last line below a text."""
    body = text.rstrip() + "\n\n"
    return body + SEAL.format(_digest(body.encode("utf-8", "backslashreplace")))


def unbroken(content: bytes) -> bool:
    """Say whether a file is as it was written, so that nothing of a user's is in it."""
    body, line = content[:-_LENGTH], content[-_LENGTH:]
    return line == SEAL.format(_digest(body)).encode("ascii")


def _digest(body: bytes) -> str:
    return sha256(body).hexdigest()
