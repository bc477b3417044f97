"""A user's own code by import string ``module:name``: found, run with its errors reported, and hashed.

The hash covers the named module and every module of the user's that it imports, directly or through others, wherever on
Python's path they lie, so that a changed line in a helper file changes the identity of the runs.
"""

import ast
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from reticent import user_files, user_reads
from reticent.errors import InputError, ReticentError, nearest
from reticent.torch_state import fixed

SEEN = "__reticent_source__"
"""Where a loaded module keeps the hash of the file that it was loaded from."""


def is_import_string(text: str) -> bool:
    """Tell whether a text reads as ``module:name`` or ``path/to/file.py:name``."""
    module, colon, name = text.rpartition(":")
    named = all(part.isidentifier() for part in name.split("."))
    return bool(colon) and named and (module.endswith(".py") or _dotted(module)) and not user_files.path(text).exists()


def _dotted(module: str) -> bool:
    return all(part.isidentifier() for part in module.split("."))


def load(text: str) -> Callable[..., Any]:
    """Import a callable; modules are looked for in the working directory first, then as Python does."""
    if not is_import_string(text):
        raise InputError(
            f"{text!r}: expected an import string such as my_module:my_function or folder/file.py:function"
        )
    given, _, name = text.rpartition(":")
    file = user_files.path(given).resolve() if given.endswith(".py") else None
    folder, module_name = (str(file.parent), file.stem) if file else (str(Path.cwd()), given)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    if _missing(module_name) or (file and not file.is_file()):
        raise InputError(f"{text}: no module named {module_name!r}; looked in {folder} and on Python's path")
    with reported(text, InputError), user_reads.noted():
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


def digest(text: str) -> str:
    """Hash the source behind an import string: its module, and what that imports of the user's, step by step.

    Imports are read from the source, so that constants, and modules that are imported inside functions, count too.
    """
    content = hashlib.sha256(text.rpartition(":")[2].encode())
    for name, file in sorted(_files(text).items()):
        source = hashlib.sha256(file.read_bytes()).hexdigest()
        content.update(f"\n{name} {source}".encode())
        loaded = sys.modules.get(name)
        if loaded is not None and vars(loaded).setdefault(SEEN, source) != source:
            raise InputError(f"{text}: {file} changed after this Python process had imported it: restart Python")
    return content.hexdigest()[:20]


def noted(text: str) -> AbstractContextManager[None]:
    """Note which files of the user's the code behind an import string reads until the block ends."""
    return user_reads.noted(_as_it_is(text, sys.modules[_module_name(text)]))


def read(text: str) -> dict[str, str]:
    """Name the files that the code behind an import string read in this process, with their hashes."""
    return user_reads.read(_as_it_is(text, sys.modules[_module_name(text)]), _files(text).values())


@cache
def _as_it_is(text: str, module: ModuleType) -> str:
    """Name code as it was imported, so that what a changed one reads is not mixed with what it read before."""
    return f"{text} {digest(text)}"


def _files(text: str) -> dict[str, Path]:
    """Find the modules of the user's behind an import string."""
    named = sys.modules[_module_name(text)]
    modules = [named, sys.modules.get(getattr(load(text), "__module__", ""), named)]
    return {name: file for module in modules for name, file in _sources(module)}


def _module_name(text: str) -> str:
    given = text.rpartition(":")[0]
    return Path(given).stem if given.endswith(".py") else given


def _missing(module_name: str) -> bool:
    try:
        return importlib.util.find_spec(module_name) is None
    except (ImportError, ValueError):
        return True


def _sources(module: ModuleType) -> list[tuple[str, Path]]:
    """List name and file of a module and of all of the user's that it imports."""
    if getattr(module, "__file__", None) is None:
        return []
    own = Path(str(module.__file__)).resolve()
    if not user_reads.theirs(own):
        return []
    root = own.parent
    depth = module.__name__.count(".") + hasattr(module, "__path__")
    root = root.parents[depth - 1] if depth else root
    found: dict[str, Path] = {}
    waiting = [module.__name__]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        file = _file(root, name) or _elsewhere(name)
        if file is not None:
            found[name] = file
            package = name if file.name == "__init__.py" else name.rpartition(".")[0]
            waiting += [name.rpartition(".")[0], *_imported(file.read_bytes(), package)]
    return sorted(found.items())


def _file(root: Path, name: str) -> Path | None:
    path = root.joinpath(*name.split(".")) if name else root
    candidates = (path.with_suffix(".py"), path / "__init__.py") if name else ()
    return next((file for file in candidates if file.is_file()), None)


def _elsewhere(name: str) -> Path | None:
    """Find a module of the user's in another folder of Python's path."""
    top = name.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top) if top else None
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    places = [*(spec.submodule_search_locations or ()), *([spec.origin] if spec.origin and spec.has_location else [])]
    own = (place for place in map(Path, places) if user_reads.theirs(place.resolve()))
    return next((file for place in own if (file := _file(place.parent.resolve(), name)) is not None), None)


@cache
def _imported(source: bytes, package: str) -> list[str]:
    """Read from a file of a package the names of all modules that it may import, wherever in it."""
    inside = package.split(".") if package else []
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = inside[: len(inside) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names += [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
    return names


@contextmanager
def reported(text: str, error: type[ReticentError]) -> Iterator[None]:
    """Run user code in the one state of torch, and turn an exception of it into a named error with its file and line.

    What the code does to the state of the process is undone when the block ends: the code of one model has no part in
    the next one.
    """
    try:
        with fixed():
            yield
    except ReticentError:
        raise
    except (Exception, SystemExit) as problem:
        raise error(f"{text} failed: {told(problem)}") from problem


def told(problem: BaseException) -> str:
    """Say what an exception was, and where it was raised: in the user's code, if that had a part in it."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [one for one in frames if Path(one.filename).is_absolute() and user_reads.theirs(Path(one.filename))]
    last = (own or frames)[-1]
    file, line = last.filename, last.lineno
    if isinstance(problem, SyntaxError):
        file, line = problem.filename or file, problem.lineno or line
    return f"{type(problem).__name__}: {problem} (in {last.name}, {file}, line {line})"
