"""A user's own code by import string ``module:name``: found, run with its errors reported, and hashed.

The hash covers the named module and every module that it uses, directly or through others, as far as they lie in the
same folder (that of its top package), so that a changed line in a helper file changes the identity of the runs.
"""

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from reticent.errors import InputError, ReticentError, nearest


def is_import_string(text: str) -> bool:
    """Tell whether a text reads as ``module:name``.

    Args:
        text: what the user gave.

    Returns:
        True if both parts are dotted Python names.
    """
    module, colon, name = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in [*module.split("."), *name.split(".")])


def load(text: str) -> Callable[..., Any]:
    """Import a callable; modules are looked for in the working directory first, then as Python does.

    Args:
        text: ``module:name``.

    Returns:
        The callable.

    Raises:
        InputError: the text is no import string, there is no such module or name, or it cannot be called.
    """
    if not is_import_string(text):
        raise InputError(f"{text!r}: expected an import string such as 'my_module:my_function'")
    module_name, _, name = text.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    if _missing(module_name):
        raise InputError(f"{text}: no module named {module_name!r}; looked in {here} and on Python's path")
    with reported(text, InputError):
        value: Any = importlib.import_module(module_name)
    for part in name.split("."):
        if not hasattr(value, part):
            raise InputError(f"{text}: {module_name} has no {part!r}: {nearest(part, vars(value))}")
        value = getattr(value, part)
    if not callable(value):
        raise InputError(f"{text}: expected a function or a class, got {type(value).__name__}")
    return value  # type: ignore[no-any-return]


def digest(function: Callable[..., Any]) -> str:
    """Hash the source behind a callable.

    Args:
        function: a function or class from a file.

    Returns:
        20 hexadecimal digits, over the module and those that it uses in the same folder, by name.
    """
    module = sys.modules[function.__module__]
    content = hashlib.sha256(f"{function.__module__}:{getattr(function, '__qualname__', '')}".encode())
    for name, file in _neighbours(module):
        content.update(f"\n{name}\n".encode())
        content.update(file.read_bytes())
    return content.hexdigest()[:20]


def _missing(module_name: str) -> bool:
    try:
        return importlib.util.find_spec(module_name) is None
    except (ImportError, ValueError):
        return True


def _neighbours(module: ModuleType) -> list[tuple[str, Path]]:
    """List the modules that the given one uses, step by step, as far as they lie below its top folder."""
    root = Path(str(module.__file__)).resolve().parent
    for _ in module.__name__.split(".")[1:]:
        root = root.parent
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        current = waiting.pop()
        file = getattr(current, "__file__", None)
        if current.__name__ in found or file is None or not Path(file).resolve().is_relative_to(root):
            continue
        found[current.__name__] = Path(file).resolve()
        waiting += _used(current)
    return sorted(found.items())


def _used(module: ModuleType) -> list[ModuleType]:
    values = list(vars(module).values())
    named = {getattr(value, "__module__", None) for value in values}
    return [v for v in values if isinstance(v, ModuleType)] + [
        sys.modules[n] for n in sorted(filter(None, named)) if n in sys.modules
    ]


@contextmanager
def reported(text: str, error: type[ReticentError]) -> Iterator[None]:
    """Turn an exception of user code into a named error with its file and line.

    Args:
        text: the import string, for the message.
        error: what to raise.

    Yields:
        Nothing.

    Raises:
        ReticentError: one that the code raised itself, unchanged.
    """
    try:
        yield
    except ReticentError:
        raise
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        last = frames[-1]
        kind = type(problem).__name__
        raise error(
            f"{text} failed: {kind}: {problem} (in {last.name}, {last.filename}, line {last.lineno})"
        ) from problem
