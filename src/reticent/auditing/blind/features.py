"""What the blind baseline sees of a record, by kind: columns, statistics of a picture, counts of a text's words.

Only what a model could see too: the number of a row, or a column that is no feature, may tell members apart, but no
attack on the model can find that out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.arrays import Floats

BINS = 8
"""Of the histogram of a channel."""
SIDE = 8
"""Pixels of a side of the thumbnail."""
WORDS = 1000
"""Tokens that are counted: those that most records hold."""


def of_records(kind: str, x: NDArray[Any]) -> Floats:
    """Turn records into features.

    Records are as in `Records`. Of pictures ``(N, D)`` has each channel's mean, standard deviation and histogram, and a
    grey thumbnail; of texts, the logarithms of the counts of frequent tokens, and the length; of tables, the columns as
    they are.
    """
    if kind == "image":
        return _pictures(x)
    return _texts(x) if kind == "tokens" else np.asarray(x, dtype=np.float64)


def with_labels(features: Floats, labels: NDArray[np.int64]) -> Floats:
    """Append a column for each label that occurs, 1 where it is the record's."""
    return np.concatenate([features, labels[:, None] == np.unique(labels)], axis=1)


def _pictures(x: NDArray[np.uint8]) -> Floats:
    flat = x.reshape(*x.shape[:2], -1)
    shares = [((flat >> 5) == step).mean(axis=2) for step in range(BINS)]
    grey = x.mean(axis=1)
    for axis in (1, 2):
        edges = np.linspace(0, grey.shape[axis], min(SIDE, grey.shape[axis]) + 1).astype(int)
        widths = np.diff(edges).reshape((-1, 1) if axis == 1 else (1, -1))
        grey = np.add.reduceat(grey, edges[:-1], axis=axis) / widths
    return np.concatenate([flat.mean(axis=2), flat.std(axis=2), *shares, grey.reshape(len(x), -1)], axis=1)


def _texts(x: NDArray[np.integer[Any]]) -> Floats:
    tokens, codes = np.unique(x, return_inverse=True)
    codes = codes.reshape(x.shape)
    held = np.sort(codes, axis=1)
    first = np.concatenate([np.ones((len(x), 1), bool), np.diff(held, axis=1) > 0], axis=1)
    kept = np.argsort(-np.bincount(held[first], minlength=len(tokens)), kind="stable")[:WORDS]
    place = np.full(len(tokens), -1)
    place[kept] = np.arange(len(kept))
    rows, found = np.repeat(np.arange(len(x)), x.shape[1]), place[codes].ravel()
    counts = np.zeros((len(x), len(kept)))
    np.add.at(counts, (rows[found >= 0], found[found >= 0]), 1)
    return np.concatenate([np.log1p(counts), (x != 0).sum(axis=1, keepdims=True)], axis=1)
