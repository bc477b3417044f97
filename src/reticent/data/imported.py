"""Data from a user's own Python: an import string ``module:function`` whose function returns the records."""

import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reticent.data import given
from reticent.data.records import Records
from reticent.errors import DataError, InputError, ReticentError, nearest

PATTERN = re.compile(r"[\w./\\-]+:[A-Za-z_]\w*")
PAIRS = (("x", "y"), ("features", "labels"), ("images", "labels"))
FACTS = ("classes", "class_names", "columns", "mean", "std", "vocabulary", "name", "licence", "citation", "picture")
"""Further keys that a returned dictionary may have: the attributes of `Records`."""


def is_import_string(text: str) -> bool:
    """Tell an import string from a name or a path.

    Args:
        text: what the user gave.

    Returns:
        Whether it looks like ``module:function`` or ``file.py:function``.
    """
    return PATTERN.fullmatch(text) is not None and not Path(text).exists()


def read(text: str) -> Records:
    """Import a function, call it without arguments, and make records of what it returns.

    Args:
        text: ``module:function`` or ``path/to/file.py:function``; the working directory is searched first.

    Returns:
        The records: of a pair ``(x, y)``, a mapping with x and y, `Records`, or a map-style data set of pairs.

    Raises:
        DataError: the import or the call fails; the message has the exception, its file and its line.
        InputError: it returns something else, or arrays that are not what they must be.
    """
    module_name, _, function_name = text.rpartition(":")
    cwd = str(Path.cwd())
    sys.path.insert(0, cwd)
    try:
        with _blaming(text, "import"):
            module = _import(module_name)
        if not hasattr(module, function_name):
            raise DataError(
                f"{text}: {module_name} has no {function_name!r}: {nearest(function_name, _functions(module))}"
            )
        function = getattr(module, function_name)
        with _blaming(text, "call"):
            returned = function() if callable(function) else function
            return _records(text, returned)
    finally:
        sys.path.remove(cwd)


class _blaming:  # noqa: N801 (read as a verb: with _blaming(text, step))
    """Turn an exception of a user's code into a `DataError` that says where it was raised."""

    def __init__(self, text: str, step: str) -> None:
        self.text, self.step = text, step

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, ReticentError) or not isinstance(error, Exception):
            return
        last = traceback.extract_tb(trace)[-1]
        # A syntax error carries the place itself; its traceback ends in the importer.
        file, line = (error.filename, error.lineno) if isinstance(error, SyntaxError) else (last.filename, last.lineno)
        hint = f"; expected a module on the path or in {Path.cwd()}" if isinstance(error, ModuleNotFoundError) else ""
        raise DataError(
            f"{self.text}: the {self.step} failed with {type(error).__name__}: {error} ({file}, line {line}){hint}"
        ) from error


def _import(name: str) -> Any:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _functions(module: Any) -> list[str]:
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def _records(text: str, returned: Any) -> Records:
    if isinstance(returned, Records):
        return returned
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
        features.append(given.array(item[0]))
        labels.append(given.array(item[1]))
        if features[-1].shape != features[0].shape:
            raise InputError(
                f"{text}: item {i} has shape {features[-1].shape}, item 0 {features[0].shape}: expected one size"
            )
    return given.records(np.stack(features), np.stack(labels), name=text)
