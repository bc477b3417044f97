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
    """Tell whether a text reads as ``module:name`` or ``path/to/file.py:name``.

    Args:
        text: what the user gave.

    Returns:
        True if both parts can be names, and no such file exists.
    """
    module, colon, name = text.rpartition(":")
    named = all(part.isidentifier() for part in name.split("."))
    return bool(colon) and named and (module.endswith(".py") or _dotted(module)) and not Path(text).exists()


def _dotted(module: str) -> bool:
    return all(part.isidentifier() for part in module.split("."))


def load(text: str) -> Callable[..., Any]:
    """Import a callable; modules are looked for in the working directory first, then as Python does.

    Args:
        text: ``module:name`` or ``path/to/file.py:name``.

    Returns:
        The callable.

    Raises:
        InputError: the text is no import string, there is no such module or name, or it cannot be called.
    """
    if not is_import_string(text):
        raise InputError(
            f"{text!r}: expected an import string such as my_module:my_function or folder/file.py:function"
        )
    given, _, name = text.rpartition(":")
    file = Path(given).resolve() if given.endswith(".py") else None
    folder, module_name = (str(file.parent), file.stem) if file else (str(Path.cwd()), given)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    if _missing(module_name) or (file and not file.is_file()):
        raise InputError(f"{text}: no module named {module_name!r}; looked in {folder} and on Python's path")
    with reported(text, InputError):
        value: Any = importlib.import_module(module_name)
    if file and Path(value.__file__).resolve() != file:
        raise InputError(
            f"{text}: a module named {module_name!r} is already loaded from {value.__file__}: rename the file"
        )
    for part in name.split("."):
        if not hasattr(value, part):
            raise InputError(f"{text}: {module_name} has no {part!r}: {nearest(part, _callables(value))}")
        value = getattr(value, part)
    if not callable(value):
        raise InputError(f"{text}: expected a function or a class, got {type(value).__name__}")
    return value  # type: ignore[no-any-return]


def _callables(value: Any) -> list[str]:
    return [name for name, item in vars(value).items() if callable(item) and not name.startswith("_")]


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
    named = {str(getattr(value, "__module__", "")) for value in values}
    loaded = [sys.modules[name] for name in sorted(named) if name in sys.modules]
    return [value for value in values if isinstance(value, ModuleType)] + loaded


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
        raise error(f"{text} failed: {told(problem)}") from problem


def told(problem: Exception) -> str:
    """Say what an exception was, and where it was raised.

    Args:
        problem: the exception.

    Returns:
        Its type, message, function, file and line.
    """
    last = traceback.extract_tb(problem.__traceback__)[-1]
    file, line = last.filename, last.lineno
    if isinstance(problem, SyntaxError):
        file, line = problem.filename or file, problem.lineno or line
    return f"{type(problem).__name__}: {problem} (in {last.name}, {file}, line {line})"
