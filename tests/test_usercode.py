"""The hash of a user's code changes with every line that its runs may depend on."""

import importlib
import sys

import pytest

from reticent import usercode
from reticent.errors import InputError

FILES = {
    "zz_main.py": "import functools\nfrom zz_settings import WIDTH\nimport zz_pkg.deep\nfrom zz_deco import wrap\n"
    "def plain(): return WIDTH\n"
    "part = functools.partial(plain)\n"
    "@wrap\ndef wrapped(): return 1\n"
    "def lazy():\n    import zz_lazy\n    return zz_lazy.x\n",
    "zz_settings.py": "WIDTH = 3\n",
    "zz_deco.py": "def wrap(f):\n    def inner(*a): return f(*a)\n    return inner\n",
    "zz_lazy.py": "x = 1\n",
    "zz_pkg/__init__.py": "",
    "zz_pkg/deep.py": "from . import sibling\nfrom .sibling import y\n",
    "zz_pkg/sibling.py": "y = 2\n",
    "zz_other.py": "z = 1\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    forget()


def forget():
    for name in [n for n in sys.modules if n.startswith("zz_")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def digest(text):
    forget()
    usercode.load(text)
    return usercode.digest(text)


@pytest.mark.parametrize("name", ["plain", "part", "wrapped", "lazy"])
@pytest.mark.parametrize("changed", sorted(set(FILES) - {"zz_other.py"}))
def test_every_line_that_may_matter_changes_the_hash(folder, name, changed):
    before = digest(f"zz_main:{name}")
    assert digest(f"zz_main:{name}") == before
    (folder / changed).write_text(FILES[changed] + "# a line\n")
    assert digest(f"zz_main:{name}") != before


def test_files_that_are_not_imported_do_not(folder):
    before = digest("zz_main:plain")
    (folder / "zz_other.py").write_text("z = 2\n")
    assert digest("zz_main:plain") == before


def test_a_path_and_a_module_name_find_the_same(folder):
    assert digest("zz_main.py:plain") == digest("zz_main:plain")


def test_code_that_changed_after_its_import_is_refused(folder):
    digest("zz_main:plain")
    (folder / "zz_settings.py").write_text("WIDTH = 4\n")
    with pytest.raises(InputError, match=r"zz_settings\.py changed after this Python process had imported it: restart"):
        usercode.digest("zz_main:plain")


def test_two_functions_of_a_file_differ(folder):
    assert digest("zz_main:plain") != digest("zz_main:lazy")
