"""Data from a user's own Python: an import string ``module:function`` whose function returns the records."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent import arrays, usercode
from reticent.data import arrow, given, table
from reticent.data.notices import tell
from reticent.data.records import Records
from reticent.errors import DataError, InputError, nearest
from reticent.options import DataOptions

PAIRS = (("x", "y"), ("features", "labels"), ("images", "labels"))
FACTS = ("classes", "class_names", "columns", "mean", "std", "vocabulary", "name", "licence", "citation", "picture")
"""Further keys that a returned dictionary may have: the attributes of `Records`."""


def read(text: str, asked: DataOptions | None = None) -> Records:
    """Import a function, call it without arguments, and make records of what it returns."""
    function = usercode.load(text)
    with usercode.reported(text, DataError):
        return records(text, function(), asked)


def records(text: str, returned: Any, asked: DataOptions | None = None) -> Records:
    """Make records of what a user's Python holds, as a copy: what is done to it later changes no record."""
    asked = asked or DataOptions()
    pair = _pair(returned)
    if arrow.is_frame(returned) or (pair and arrow.is_frame(pair[0])):
        frame, y = pair or (returned, None)
        asked.check("table", "a data frame")
        return tell(table.of_frame(text, frame, asked, y))
    asked.check("arrays", "data as they are")
    return tell(_records(text, returned))


def _pair(returned: Any) -> tuple[Any, Any] | None:
    """Find features and labels that stand side by side."""
    if isinstance(returned, (tuple, list)) and len(returned) == 2:
        return returned[0], returned[1]
    if isinstance(returned, Mapping):
        return next(((returned[x], returned[y]) for x, y in PAIRS if {x, y} == returned.keys()), None)
    return None


def _records(text: str, returned: Any) -> Records:
    if isinstance(returned, Records):
        return returned.take(np.arange(len(returned)))
    if isinstance(returned, Mapping):
        return _from_mapping(text, returned)
    if isinstance(returned, (tuple, list)) and len(returned) == 2:
        return given.records(returned[0], returned[1], name=text)
    if (
        hasattr(returned, "__getitem__")
        and hasattr(returned, "__len__")
        and not isinstance(returned, (tuple, list, str))
    ):
        if isinstance(returned, np.ndarray) or hasattr(returned, "detach"):
            raise InputError(f"{text}: returned one array of shape {tuple(returned.shape)}: expected a pair (x, y)")
        return _from_dataset(text, returned)
    raise InputError(
        f"{text}: returned {type(returned).__name__}: expected a pair of arrays (x, y), a mapping with x and y, "
        "reticent.Records, or a map-style data set of such pairs"
    )


def _from_mapping(text: str, returned: Mapping[Any, Any]) -> Records:
    for x, y in PAIRS:
        if x in returned and y in returned:
            facts = {str(key): value for key, value in returned.items() if key not in {x, y}}
            for key in facts:
                if key not in FACTS:
                    raise InputError(f"{text}: returned an unknown key {key!r}: {nearest(key, FACTS)}")
            return given.records(returned[x], returned[y], **{"name": text, **facts})
    raise InputError(f"{text}: returned a mapping with {sorted(map(str, returned))}: expected x and y")


def _from_dataset(text: str, dataset: Any) -> Records:
    if len(dataset) == 0:
        raise InputError(f"{text}: the data set has no items")
    features, labels = [], []
    for i in range(len(dataset)):
        item = dataset[i]
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise InputError(f"{text}: item {i} is {type(item).__name__}: expected a pair (x, label)")
        features.append(arrays.array(item[0], f"{text}: item {i}"))
        labels.append(arrays.array(item[1], f"{text}: label of item {i}"))
        if features[-1].shape != features[0].shape:
            raise InputError(
                f"{text}: item {i} has shape {features[-1].shape}, item 0 {features[0].shape}: expected one size"
            )
    return given.records(np.stack(features), np.stack(labels), name=text)
