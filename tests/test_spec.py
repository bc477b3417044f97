import re
from typing import Annotated, ClassVar

import pytest
from annotated_types import Ge, MaxLen, MinLen

from reticent.errors import CorruptFileError, MissingFileError, SpecError
from reticent.options import AttackConfig, AuditConfig
from reticent.spec import Spec, as_toml, canonical, full, identity, read_toml, text, toml_or_text, written


class Inner(Spec):
    method: ClassVar[str] = "inner"
    rate: float = 0.5


class Outer(Spec):
    count: Annotated[int, Ge(1)] = 3
    inner: Spec = Inner()
    widths: tuple[int, ...] = (1, 2)


def test_the_canonical_form_leaves_out_defaults():
    assert canonical(Outer()) == {}
    assert canonical(Outer(inner=Inner(rate=0.25))) == {"inner": {"method": "inner", "rate": 0.25}}
    assert canonical(Inner()) == {"method": "inner"}


def test_the_full_form_writes_them_out():
    assert full(Outer()) == {"count": 3, "inner": {"method": "inner", "rate": 0.5}, "widths": [1, 2]}


def test_identity_depends_on_what_was_chosen_only():
    assert identity(Outer()) == identity(Outer(count=3, widths=[1, 2]))
    assert identity(Outer()) != identity(Outer(count=4))
    assert identity({"b": 1, "a": 2}) == identity({"a": 2, "b": 1})


def test_identities_never_change():
    assert identity(Outer(count=4)) == "4a9de8339b4b17290d92"


def test_text_has_no_spaces_and_sorted_keys():
    assert text({"b": (1, 2.5), "a": None}) == '{"a":null,"b":[1,2.5]}'


def test_specs_are_frozen():
    spec = Outer()
    with pytest.raises(Exception, match="frozen"):
        spec.count = 4


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"cuont": 3}, "unknown key 'cuont': did you mean 'count'"),
        ({"count": 0}, "count: expected greater than or equal to 1, got 0"),
        ({"count": "3"}, "count: expected a whole number, got '3'"),
        ({"count": True}, "count: expected a whole number, got true"),
        ({"inner": 4}, "inner"),
    ],
)
def test_the_words_of_each_refusal(values, words):
    with pytest.raises(SpecError, match=words):
        Outer(**values)


@pytest.mark.parametrize(
    ("ends", "words"), [((), "at least 1 value, got []"), ((1, 2, 3), "at most 2 values, got [1,")]
)
def test_how_many_values_are_expected_is_told_in_plain_words(ends, words):
    class Ends(Spec):
        ends: Annotated[tuple[int, ...], MinLen(1), MaxLen(2)] = (0, 1)

    with pytest.raises(SpecError, match=rf"^ends: expected {re.escape(words)}"):
        Ends(ends=ends)


@pytest.mark.parametrize("text", ["[" * 2000 + "]" * 2000, "9" * 5000], ids=["deep", "long"])
def test_what_python_does_not_read_is_refused_and_told_in_short(text, tmp_path):
    (tmp_path / "a.toml").write_text(f"count = {text}")
    with pytest.raises(SpecError, match=r"a\.toml: it holds a number of thousands of digits, or lists in lists"):
        read_toml(tmp_path / "a.toml")
    with pytest.raises(SpecError, match=r"^count: expected a whole number, got '.{56}\.\.\.$"):
        Outer(count=toml_or_text(text))


@pytest.mark.parametrize(
    "value",
    [0.5, 1e-05, float("inf"), True, 3, "relaxloss", "a b", "8", "true", "[a]", [1, 2], ["a,b", "8"], [True, [0.5]]],
)
def test_a_value_is_written_as_it_is_read(value):
    assert toml_or_text(as_toml(value)) == value


def test_tables_and_switches_are_told_in_plain_words():
    with pytest.raises(
        SpecError, match=r"^rare: expected a table, got 4\nalso_non_adaptive: expected true or false, got"
    ):
        AuditConfig(rare=4, also_non_adaptive="yes")


def test_the_seed_has_a_limit_that_json_holds():
    assert AttackConfig(seed=2**53 - 1).seed == 2**53 - 1
    with pytest.raises(SpecError, match=r"^seed: expected less than 9007199254740992, got 9007199254740992$"):
        AttackConfig(seed=2**53)


def test_replace_checks_again():
    assert Outer().replace(count=5).count == 5
    with pytest.raises(SpecError, match="count"):
        Outer().replace(count=-1)


def test_toml_errors_name_the_file(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("count = = 3")
    with pytest.raises(SpecError, match=r"a\.toml: not a TOML file"):
        read_toml(file)
    with pytest.raises(MissingFileError, match="no configuration file"):
        read_toml(tmp_path / "b.toml")
    with pytest.raises(CorruptFileError, match="expected a file, got a folder"):
        read_toml(tmp_path)


def test_values_are_told_as_they_were_written():
    assert written((True, ("a", 2), False)) == "[true, ['a', 2], false]"
    deep = []
    for _ in range(5_000):
        deep = [deep]
    assert written([[[[]]]]) == "[[[[]]]]"
    assert written(deep) == "[[[[...]]]]"
    with pytest.raises(SpecError, match=r"^widths: expected a list, such as \[1, 2\], got 64$"):
        Outer(widths=64)


@pytest.mark.parametrize(
    ("told", "value"), [(".6", 0.6), ("-.5", -0.5), ("5.", 5.0), ("0.6", 0.6), ("1.2.3", "1.2.3"), (".", ".")]
)
def test_numbers_are_read_as_shells_and_python_write_them(told, value):
    read = toml_or_text(told)
    assert (read, type(read)) == (value, type(value))
    assert toml_or_text(as_toml(told)) == told
