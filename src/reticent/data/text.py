"""Texts as tokens: words by a fixed hash, or characters; no vocabulary is learned, so tokens tell of no other record.

Papers: Weinberger et al. (2009), "Feature hashing for large scale multitask learning"; Zhang et al. (2015),
"Character-level convolutional networks for text classification", for characters in lower case.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

PADDING = 0
"""The token that fills up short texts."""
VOCABULARY = 2**14
"""Number of tokens of words, by default: two words share one now and then."""
CHARACTERS = 97
"""Number of tokens of characters: padding, any other character, and the 95 from the space to the tilde."""
WORD = re.compile(r"\w+|[^\w\s]")


def words(texts: Sequence[str], length: int = 64, vocabulary: int = VOCABULARY) -> NDArray[np.int64]:
    """Turn texts into tokens of words and punctuation marks, in lower case."""
    known: dict[str, int] = {}

    def tokens(text: str) -> Iterable[int]:
        for word in WORD.findall(text.lower())[:length]:
            if word not in known:
                known[word] = zlib.crc32(word.encode("utf-8", "replace")) % (vocabulary - 1) + 1
            yield known[word]

    return _filled(texts, length, tokens)


def characters(texts: Sequence[str], length: int = 256) -> NDArray[np.int64]:
    """Turn texts into tokens of characters, in lower case."""
    return _filled(texts, length, lambda text: [_code(character) for character in text.lower()[:length]])


def _code(character: str) -> int:
    return ord(character) - 30 if " " <= character <= "~" else 1


def _filled(texts: Sequence[str], length: int, tokens: Callable[[str], Iterable[int]]) -> NDArray[np.int64]:
    rows = np.full((len(texts), length), PADDING, dtype=np.int64)
    for row, text in zip(rows, texts, strict=True):
        found = np.fromiter(tokens(text), dtype=np.int64)
        row[: len(found)] = found
    return rows
