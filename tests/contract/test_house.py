"""What keeps the house one that one can live in: decisions are codes, what is found is typed, docstrings have tiers."""

import ast
import re
from pathlib import Path

import pytest

import reticent

SOURCE = Path(reticent.__file__).parent
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
SPOKEN = {"sentence", "detail", "cannot_say", "notices", "message", "problem", "note"}
"""Fields that hold what is said to people."""
METHODS = {"replace", "startswith", "endswith", "find", "index", "split", "partition", "removeprefix", "removesuffix"}
UNTYPED = re.compile(r"\b(?:dict|Mapping)\[str, (?:Any|object|JsonValue)\]|\bPlain\b")
OF_PYDANTIC = {"findings/base.py", "spec.py"}
"""Files that take "Input should be" off the messages of pydantic, which has no codes for what was expected."""
MOST_UNTYPED = 129
"""Lines of `src` that name a mapping of anything; only ever made smaller."""


@pytest.fixture(scope="module")
def trees():
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def _name(node):
    """The field that an expression reads: `x.sentence`, `x["sentence"]`, `sentence`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value
    return node.id if isinstance(node, ast.Name) else None


def _sentence(node):
    """Whether an expression is what is said to people: such a field, or a text of several words with a full stop."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return _name(node) in SPOKEN or (text and " " in node.value.strip() and node.value.rstrip().endswith("."))


def read_back(tree):
    """Lines on which a sentence is compared, searched or edited."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            plain = {type(op) for op in node.ops} <= {ast.Is, ast.IsNot}
            sides = [node.left, *node.comparators]
            whole = all(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops)
            asked = sides[-1:] if whole else sides  # `"x" in sentence`; a sentence in a list is `==` in disguise.
            if not plain and (any(map(_sentence, asked)) or (whole and _sentence(node.left))):
                yield node.lineno
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in METHODS:
            given = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if _sentence(called.value) or any(len(text.split()) > 2 for text in given):
                yield node.lineno


def test_no_sentence_is_read_back(trees):
    lines = [f"{name}:{line}" for name in trees.keys() - OF_PYDANTIC for line in read_back(trees[name])]
    assert not lines, f"{lines} read a sentence: let a code say it (an enum in findings/), and say/ the sentence"


@pytest.mark.parametrize(
    "code",
    [
        "if verdict.sentence == EXCLUDED: pass",
        'if "did not learn" in document["detail"]: pass',
        "if line in cannot_say: pass",
        'detail = said["detail"].replace("a", "b")',
        'x = notice.message.startswith("Nothing")',
        'if text == "No attack did better than chance.": pass',
        'kept = [line for line in lines if not line.startswith("Nothing can be said at")]',
    ],
)
def test_a_sentence_that_is_read_back_is_found(code):
    assert list(read_back(ast.parse(code)))


def test_sentences_hold_no_markup(trees):
    """They stand in JSON, on terminals and pages alike."""
    said = {name: tree for name, tree in trees.items() if name.startswith("say/")}
    assert len(said) > 10
    for name, tree in said.items():
        documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
                assert "`" not in node.value, f"{name}:{node.lineno}"


def test_every_module_says_what_it_is(trees):
    assert len(trees) > 100
    for name, tree in trees.items():
        docstring = ast.get_docstring(tree)
        assert docstring, name
        assert docstring.split("\n\n")[0].rstrip().endswith((".", "?")), name


def test_what_is_private_to_a_folder_or_a_file_stays_there(trees):
    for module, tree in trees.items():
        folder = ".".join(("reticent", *Path(module).parts[:-1]))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("reticent") and node.module != folder:
                above, _, last = node.module.rpartition(".")
                told = f"{module}:{node.lineno}: {node.module}"
                assert not last.startswith("_") or above == folder, told
                assert not any(name.name.startswith("_") for name in node.names), told


def test_what_is_found_is_typed():
    lines = [
        f"{name}:{number}"
        for name, path in FILES.items()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if UNTYPED.search(line)
    ]
    assert len(lines) <= MOST_UNTYPED, f"{len(lines)} lines name mappings of anything: make them findings"


def _documented(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            yield node, ast.get_docstring(node)


def _public():
    for name in reticent.__all__:
        found = getattr(reticent, name)
        if callable(found) and not isinstance(found, type):
            yield name


@pytest.mark.parametrize("name", list(_public()))
def test_public_functions_say_every_argument_what_comes_back_and_what_is_raised(name):
    import inspect

    found = getattr(reticent, name)
    text = inspect.getdoc(found)
    for argument in inspect.signature(found).parameters.values():
        star = {argument.VAR_POSITIONAL: r"\*", argument.VAR_KEYWORD: r"\*\*"}.get(argument.kind, "")
        assert re.search(rf"^\s+{star}{argument.name}: ", text, re.M), f"{name} does not say what {argument.name} is"
    assert "Returns:" in text
    assert "Example" in text
