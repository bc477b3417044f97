import inspect
import pickle
import tomllib
from pathlib import Path

from reticent import errors
from reticent.findings.environment import Environment


def test_the_tree_in_the_docstring_is_the_tree():
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, errors.ReticentError)]
    drawn = [
        line.split()[-1] if "──" not in line else line.split("──")[1].split()[0]
        for line in errors.__doc__.splitlines()
        if "Error" in line and "──" in line
    ]
    assert sorted(drawn) == sorted(c.__name__ for c in classes if c is not errors.ReticentError)


def test_an_unknown_name_gives_the_nearest():
    error = errors.UnknownNameError("attack", "lirra", ["lira", "rmia", "loss"])
    assert "unknown attack 'lirra'" in str(error)
    assert "did you mean 'lira'" in str(error)


def test_an_unknown_name_far_from_all_lists_them():
    assert "expected one of lira, rmia" in str(errors.UnknownNameError("attack", "zzz", ["rmia", "lira"]))


def test_errors_with_arguments_of_their_own_survive_pickling_and_prefixing():
    error = errors.UnknownNameError("attack", "lirra", ["lira"])
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is errors.UnknownNameError
    assert str(again) == str(error)
    prefixed = error.prefixed("model 3: ")
    assert type(prefixed) is errors.UnknownNameError
    assert str(prefixed) == f"model 3: {error}"
    assert pickle.loads(pickle.dumps(errors.SpecError("a: wrong", ["a"]).prefixed("b: "))).keys == ("a",)


def test_fields_of_errors_survive_pickling():
    several = errors.SpecError("a: wrong\nb: wrong", ["a", "b"], [errors.SpecError("a: wrong", ["a"])])
    again = pickle.loads(pickle.dumps(several))
    assert (again.keys, [(str(one), one.keys) for one in again.problems]) == (("a", "b"), [("a: wrong", ("a",))])
    assert again.prefixed("model 3: ").problems == ()
    assert pickle.loads(pickle.dumps(errors.ColumnsError("bad", ("how",)))).readings == ("how",)
    unwritten = errors.UnwrittenError("full", Environment(reticent="1", python="3", numpy="2", scipy="1", platform="x"))
    assert pickle.loads(pickle.dumps(unwritten)).document == unwritten.document


def test_a_missing_extra_gives_the_install_line():
    assert "pip install 'pyarrow>=17'" in str(errors.MissingExtraError("pyarrow", "parquet", "reading x.parquet"))


def test_install_lines_are_those_of_the_extras():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert {name: extras[name] for name in errors.EXTRAS} == {name: [what] for name, what in errors.EXTRAS.items()}


def test_the_nearest_name_is_found_whatever_its_case():
    assert errors.nearest("DPSGD", ["dpsgd", "hamp"]) == "did you mean 'dpsgd'?"
    assert errors.nearest("a_mulB", ["A_mulB", "a_mulb"]) == "did you mean 'A_mulB' or 'a_mulb'?"
