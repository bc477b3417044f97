"""The hash of a user's code changes with every line that its runs may depend on."""

import importlib
import sys

import pytest

from reticent import user_reads, usercode
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


def test_a_module_of_another_folder_counts_and_an_installed_one_does_not(folder, tmp_path_factory, monkeypatch):
    (folder / "zz_away.py").write_text("import zz_far.part\nimport zz_installed\ndef f(): pass\n")
    other = tmp_path_factory.mktemp("other")
    installed = other / "site-packages"
    for place in (other / "zz_far", installed):
        place.mkdir()
    (other / "zz_far" / "__init__.py").touch()
    (other / "zz_far" / "part.py").write_text("import zz_near\n")
    (other / "zz_near.py").write_text("z = 1\n")
    (installed / "zz_installed.py").touch()
    for place in (other, installed):
        monkeypatch.syspath_prepend(place)
    before = digest("zz_away:f")
    (installed / "zz_installed.py").write_text("z = 2\n")
    assert digest("zz_away:f") == before
    (other / "zz_near.py").write_text("z = 2\n")
    assert digest("zz_away:f") != before


def test_an_error_is_placed_in_the_users_code(folder):
    (folder / "zz_wrong.py").write_text("import json\ndef f():\n    json.loads('{')\n")
    function = usercode.load("zz_wrong:f")
    words = r"JSONDecodeError: .* \(in f, .*zz_wrong\.py, line 3\)"
    with pytest.raises(InputError, match=words), usercode.reported("zz_wrong:f", InputError):
        function()


def test_files_read_at_an_import_belong_to_all_code_that_has_the_module(folder, monkeypatch):
    monkeypatch.setattr(user_reads, "_READ", {})
    (folder / "cfg.json").write_text("8")
    (folder / "zz_shared.py").write_text("from pathlib import Path\nWIDTH = Path('cfg.json').read_text()\n")
    for name in ("zz_one", "zz_two"):
        (folder / f"{name}.py").write_text("import zz_shared\ndef f(): pass\n")
    (folder / "zz_three.py").write_text("def f(): pass\n")
    found = {}
    for name in ("zz_one", "zz_two", "zz_three"):
        usercode.load(f"{name}:f")
        found[name] = set(usercode.read(f"{name}:f"))
    assert {"cfg.json", "zz_one.py"} <= found["zz_one"]
    assert {"cfg.json", "zz_two.py"} <= found["zz_two"]
    assert found["zz_three"] == {"zz_three.py"}


def test_a_path_and_a_module_name_find_the_same(folder):
    assert digest("zz_main.py:plain") == digest("zz_main:plain")


def test_code_that_changed_after_its_import_is_refused(folder):
    digest("zz_main:plain")
    (folder / "zz_settings.py").write_text("WIDTH = 4\n")
    with pytest.raises(InputError, match=r"zz_settings\.py changed after this Python process had imported it: restart"):
        usercode.digest("zz_main:plain")


def test_two_functions_of_a_file_differ(folder):
    assert digest("zz_main:plain") != digest("zz_main:lazy")


def test_what_changed_code_reads_is_not_mixed_with_what_it_read_before(folder):
    for config in ("a.json", "b.json"):
        (folder / config).write_text("8")
        (folder / "zz_reads.py").write_text(f"from pathlib import Path\ndef f():\n    Path({config!r}).read_text()\n")
        forget()
        reads = usercode.load("zz_reads:f")
        with usercode.noted("zz_reads:f"):
            reads()
        assert set(usercode.read("zz_reads:f")) == {"zz_reads.py", config}
