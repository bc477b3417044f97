"""The help of a verb is short enough to read; --help-all leaves nothing out; which flags are usual is said once."""

import shlex

import docstring_parser
import pytest

from reticent.cli import app
from reticent.cli.flags import FIELDS, GROUPS
from reticent.cli.help import first, rare
from reticent.cli.run import guarded
from reticent.options import spelled
from reticent.spec import RARELY

LONGEST = 45
"""Lines of a short help at 100 columns."""


def verbs(group, before=()):
    """List every verb, by the words that call it."""
    for name in (name for name in group if not name.startswith("-")):
        below = list(verbs(group[name], (*before, name)))
        yield from below or [" ".join((*before, name))]


VERBS = list(verbs(app))


def flags(verb):
    """Find a verb's command and the flags that a help may show."""
    command = app
    for word in verb.split():
        command = command[word]
    return command, [one for one in command.assemble_argument_collection(parse_docstring=True) if one.show]


def shown(line, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert guarded(app, line.split()) == 0
    return capfd.readouterr().out


def named(text):
    """Find the flags that a help has a line for."""
    lines = (line.strip("│* ").split() for line in text.splitlines() if line.startswith("│ "))
    return {words[0] for words in lines if words and words[0].startswith("--")}


@pytest.mark.parametrize("verb", VERBS)
def test_a_help_is_short_the_full_one_has_every_flag_in_full_and_examples_can_be_read(verb, capfd, monkeypatch):
    command, found = flags(verb)
    assert len(found) == len({one.name for one in found}), "no flag has two lines"
    every = {one.name for one in found if one.name.startswith("--")}
    usual = every - {one.name for one in found if rare(one)}
    short, full = (shown(f"{verb} {word}", capfd, monkeypatch) for word in ("--help", "--help-all"))
    assert len(short.splitlines()) <= LONGEST
    on_lines = {one.name for one in found if one.index is None}
    assert named(short) >= usual & on_lines
    assert not named(short) - usual
    assert named(full) >= every & on_lines
    flat = " ".join(word for word in full.split() if word != "│" and not word.startswith("--no-"))
    for one in found:
        for sentence in one.parameter.help.replace("`", "").split(". "):
            assert " ".join(sentence.split()).rstrip(".") in flat, one.name
    assert short.splitlines()[-1].endswith(f"All of them, in full: reticent {verb} --help-all.") == (usual < every)
    assert (short == full) == (usual == every)
    told = docstring_parser.parse(command.default_command.__doc__ or "").examples
    lines = "\n".join(one.description for one in told).splitlines()
    assert lines or not any(map(rare, found))
    assert all(f"  {line}\n" in text for line in lines for text in (short, full))
    for example in "\n".join(lines).replace("\\\n", "").splitlines():
        words = shlex.split(example)
        assert words[: 1 + len(verb.split())] == ["reticent", *verb.split()]
        app.parse_args(words[1:], exit_on_error=False, print_error=False)


def test_help_is_one_in_either_spelling_and_as_before_in_the_list_of_verbs(capfd, monkeypatch):
    before = shown("--help", capfd, monkeypatch)
    assert shown("audit -h", capfd, monkeypatch) == shown("audit --help", capfd, monkeypatch)
    assert shown("--help-all", capfd, monkeypatch) == shown("--help", capfd, monkeypatch) == before


def test_every_group_of_flags_has_one_that_most_runs_need():
    assert FIELDS.keys() - {"attack", "recipe", "queries"} <= set().union(*GROUPS.values())
    marked = {key for key, field in FIELDS.items() if RARELY in field.metadata}
    assert all(keys - marked for keys in GROUPS.values())
    usual = {spelled(one) for one in FIELDS.keys() - marked}
    assert {"dataset", "models", "defense", "attack", "out"} <= usual


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("One. Two. [x]", "One. [x]"),
        ("One; two [x, y] of it.", "One."),
        ("Of docs/a.md (one; two. Three), or 0.5.\n[none]", "Of docs/a.md (one; two. Three), or 0.5. [none]"),
        ("option=value,value,...; repeat it.", "option=value,value,..."),
        ("No stop", "No stop."),
    ],
)
def test_the_first_sentence_of_a_text_is_kept_with_what_stands_for_no_value(text, short):
    assert first(text) == short


def test_the_short_help_of_attack_names_the_arrays_of_the_file(capfd, monkeypatch):
    told = " ".join(shown("attack --help", capfd, monkeypatch).replace("│", " ").split())
    for array in ("labels (N,)", "membership (M, N) of booleans", "logits (M, N, C)", "probabilities (M, N, C)"):
        assert array in told
    for array in ("margins (M, N)", "records (N, ...)"):
        assert array in told


@pytest.mark.parametrize("verb", VERBS)
def test_a_short_text_is_not_cut_inside_a_list(verb):
    for one in flags(verb)[1]:
        text = " ".join((one.parameter.help or "").split())
        rest = text.removeprefix(first(text).rstrip("."))
        assert not (rest.startswith(";") and ";" in rest[1:].split(". ")[0]), one.name
