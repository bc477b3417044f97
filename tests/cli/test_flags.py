"""Flags, TOML keys and help are one thing: what a flag says is what the spec says."""

import re
from dataclasses import fields

import pytest

from reticent.cli import app
from reticent.cli.flags import GROUPS, RECIPE, Flags
from reticent.cli.locate.layers import layers
from reticent.cli.locate.weights import weights
from reticent.errors import SpecError
from reticent.findings.gate import ALLOWED
from reticent.jobs.locate.layers import Options
from reticent.locate.weights import Scoring
from reticent.models import ARCHITECTURES
from reticent.options import AttackConfig, AuditConfig, DataOptions, described, spelled
from reticent.training.recipe import Recipe

TABLES = {"attack", "recipe", "queries"}
TRAINING = ("audit", "plan", "compare", "search", "locate weights", "locate layers", "locate records")


def arguments(line):
    """Find the flags of a verb, by name without dashes."""
    command = app
    for word in line.split():
        command = command[word]
    found = command.assemble_argument_collection()
    return {one.name.removeprefix("--"): one for one in found if one.name.startswith("--")}


@pytest.mark.parametrize("verb", TRAINING)
def test_every_key_is_a_flag_with_the_specs_text_and_default(verb):
    flags = arguments(verb)
    for key, field in AuditConfig.model_fields.items():
        if key in TABLES | {"out"}:
            continue
        text, usual = described(field)
        told = flags[spelled(key)].parameter.help
        assert told.startswith(text), key
        assert (f"[{usual}]" in told) == (usual not in {"", "False"}), key
    for key in RECIPE:
        assert flags[spelled(key)].parameter.help.startswith(described(Recipe.model_fields[key])[0])


def test_attack_takes_what_concerns_no_training():
    flags = arguments("attack")
    own = {spelled(key) for one in (AttackConfig, DataOptions) for key in one.model_fields if key not in TABLES}
    assert set(flags) == own | {"signals", "out", "scores", "records", "set", "config"}


def test_every_option_of_an_audit_has_a_place_in_its_help():
    grouped = [key for keys in GROUPS.values() for key in keys]
    assert sorted(grouped) == sorted({field.name for field in fields(Flags)} - {"set", "config"})


def test_flags_are_read_as_their_option_is():
    flags = arguments("audit")
    kinds = {
        name: str(flags[name].hint)
        for name in ("models", "delta", "out", "store", "control", "attack", "rare", "defense")
    }
    assert re.fullmatch(r"int \| str \| None", kinds["models"])
    assert re.fullmatch(r"float \| str \| None", kinds["delta"])
    assert "Path" in kinds["out"]
    assert all(re.fullmatch(r"str \| None", kinds[name]) for name in ("store", "control"))
    assert all("list[str]" in kinds[name] for name in ("attack", "rare", "defense"))
    assert Flags(set=["defense=hamp"]).asked({"epsilon": "3"})["defense"] == {"name": "hamp", "epsilon": 3}


@pytest.mark.parametrize(("word", "read"), [("4", 4), ("auto", "auto"), ("2.5", "2.5")])
def test_a_number_or_a_word_is_read(word, read):
    """`--stack 4` was a text once, and refused; the spec says which numbers and words there are."""
    _, bound, _ = app.parse_args(["plan", "--stack", word], exit_on_error=False)
    assert bound.arguments["flags"].stack == read


def test_a_slip_is_answered_with_the_flag_as_it_is_written():
    for slip, flag in (("attackk", "attack"), ("not-featur", "not-feature"), ("batchsize", "batch-size")):
        with pytest.raises(SpecError, match=f"unknown flag --{slip}: did you mean '{flag}'"):
            Flags().asked({slip: "1"})


@pytest.mark.parametrize(
    ("verb", "spec", "names"),
    [
        (layers, Options, ("seeds", "equalise", "margin", "test")),
        (weights, Scoring, ("steps", "unlearning")),
    ],
)
def test_what_is_written_by_hand_says_the_specs_default(verb, spec, names):
    for name in names:
        text = re.search(rf" {name}: ([^\[]*)\[(.*)\]", verb.__doc__)
        assert text[2] == str(spec.model_fields[name].default), name


def test_every_architecture_is_named_where_one_is_asked_for():
    text = described(Recipe.model_fields["architecture"])[0]
    families = {re.sub(r"[0-9]+$", "", name) for name in ARCHITECTURES} - {"import"}
    assert all(re.search(rf"\b{family}", text) for family in families), families


def test_every_doubt_that_may_be_allowed_is_named():
    assert all(doubt in arguments("gate")["allow"].parameter.help for doubt in ALLOWED)
