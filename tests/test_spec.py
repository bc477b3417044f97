from typing import Annotated, ClassVar

import pytest
from annotated_types import Ge

from reticent.errors import MissingFileError, SpecError
from reticent.spec import Spec, canonical, full, identity, read_toml, text, written


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
    with pytest.raises(SpecError, match="cannot be read"):
        read_toml(tmp_path)


def test_values_are_told_as_they_were_written():
    assert written((True, ("a", 2), False)) == "[true, ['a', 2], false]"
    with pytest.raises(SpecError, match=r"^widths: expected a list, such as \[1, 2\], got 64$"):
        Outer(widths=64)
