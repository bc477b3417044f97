"""Options of a defense given as flags or keys of their own: taken where they can be, and told where they belong."""

import pytest

import reticent
from reticent.cli.flags import Flags
from reticent.errors import SpecError


@pytest.mark.parametrize(
    ("written", "options", "defense"),
    [
        ('[defense]\nname = "dpsgd"\nepsilon = 3\n', {"epsilon": "2"}, {"name": "dpsgd", "epsilon": 2}),
        ('[defense]\nname = "dpsgd"\n', {"max-norm": "0.5"}, {"name": "dpsgd", "max_norm": 0.5}),
        ('defense = "dpsgd"\n', {"epsilon": "2"}, {"name": "dpsgd", "epsilon": 2}),
        (
            'defense = "dpsgd:epsilon=3,max_norm=1"\n',
            {"epsilon": "2"},
            {"name": "dpsgd:epsilon=2,max_norm=1"},
        ),
    ],
)
def test_a_flag_changes_an_option_of_the_defense_that_the_file_names(tmp_path, written, options, defense):
    file = tmp_path / "audit.toml"
    file.write_text(written)
    assert Flags(config=file).asked(options) == {"defense": defense}


def test_a_flag_is_no_option_where_the_file_names_no_defense(tmp_path):
    file = tmp_path / "audit.toml"
    file.write_text("epochs = 2\n")
    with pytest.raises(SpecError, match="option of the defense dpsgd, and none is given"):
        Flags(config=file).asked({"epsilon": "2"})


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--defense dpsgd:max_norm=1 --epsilon 8", "write --defense dpsgd:max_norm=1,epsilon=8"),
        ("--defense relaxloss --epsilon 8", "write --defense dpsgd:epsilon=8"),
        ("--epochss 8", "did you mean 'epochs'? (options of a defense are given with its name"),
    ],
)
def test_a_comparison_says_where_an_option_belongs(command, line, words):
    code, _, err = command(f"compare {line}")
    assert code == 2
    assert words in err


def test_python_callers_are_told_where_an_option_belongs():
    with pytest.raises(
        SpecError, match="option of the defense dpsgd: give it with the name, defense='dpsgd:epsilon=8'"
    ):
        reticent.audit(defense="dpsgd", epsilon=8)
