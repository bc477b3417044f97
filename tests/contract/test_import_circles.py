"""No two files of the package import each other, by whatever way around: one can read them from the bottom up.

Every import counts: those inside functions, and those that only the type checker sees.
"""

import ast
from pathlib import Path

import pytest

import reticent

SOURCE = Path(reticent.__file__).parent


def imports(source: Path, package: str) -> dict[str, dict[str, int]]:
    """By module of a package: the modules that it imports, each with the line of the first import."""
    files = {}
    for path in source.rglob("*.py"):
        parts = [package, *path.relative_to(source).with_suffix("").parts]
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph = {name: {} for name in files}
    for name, path in files.items():
        above = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = above[: len(above) - node.level + 1] if node.level else []
                base = ".".join([*base, *([node.module] if node.module else [])])
                inside = [f"{base}.{alias.name}" for alias in node.names]
                found = [one if one in files else base for one in inside]
            else:
                continue
            for one in found:
                if one in files and one != name:
                    graph[name].setdefault(one, node.lineno)
    return graph


def circles(graph: dict[str, dict[str, int]]) -> list[set[str]]:
    """Find the strongly connected components of more than one module (Tarjan 1972)."""
    order, low, stack, found = {}, {}, [], []

    def visit(name):
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            at = stack.index(name)
            found.append(set(stack[at:]))
            del stack[at:]

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return [component for component in found if len(component) > 1]


def closing(graph, circle):
    """The imports between the files of a circle, as lines for a person."""
    return [
        f"  {name}:{line} imports {to}" for name in sorted(circle) for to, line in graph[name].items() if to in circle
    ]


@pytest.fixture(scope="module")
def graph():
    return imports(SOURCE, "reticent")


def test_no_file_is_in_a_circle_of_imports(graph):
    found = circles(graph)
    told = "\n".join(f"{len(circle)} files in a circle:\n" + "\n".join(closing(graph, circle)) for circle in found)
    assert not found, f"{told}\nMove what both need into a file below both (a spec at the bottom of its folder)."


def test_the_package_is_read(graph):
    assert len(graph) > 100
    assert "reticent.spec" in graph["reticent.training.recipe"]


@pytest.mark.parametrize(
    "form",
    [
        "import p.a.c",
        "from p.a import c",
        "from . import c",
        "from .c import x",
        "if 0:\n    from p.a.c import x",
        "def f():\n    from p.a.c import x",
    ],
)
def test_a_planted_circle_is_found_whatever_form_the_import_has(tmp_path, form):
    (tmp_path / "a").mkdir()
    for name, text in {
        "__init__": "",
        "b": form,
        "c": "from p.a.d import y",
        "d": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a.b import z",
        "e": "import p.a.b",
    }.items():
        (tmp_path / "a" / f"{name}.py").write_text(text, encoding="utf-8")
    graph = imports(tmp_path, "p")
    assert circles(graph) == [{"p.a.b", "p.a.c", "p.a.d"}]
    assert len(closing(graph, {"p.a.b", "p.a.c", "p.a.d"})) == 3
