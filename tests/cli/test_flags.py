"""Flags, TOML keys and help are one thing: what a flag says is what the spec says."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from reticent.cli import app
from reticent.cli.flags import GROUPS, RECIPE, Flags
from reticent.cli.locate.layers import layers
from reticent.cli.locate.weights import weights
from reticent.errors import MissingExtraError, SpecError
from reticent.findings.gate import ALLOWED
from reticent.jobs.locate.layers import LayersOptions
from reticent.locate.weights import Scoring
from reticent.models import ARCHITECTURES
from reticent.options import SILENT, AttackConfig, AuditConfig, DataOptions, described, spelled
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


HIDDEN = {
    "audit": set(),
    "plan": set(),
    "compare": {"unit", "unit_score", "config"},
    "search": {"unit", "unit_score", "config"},
    **{
        f"locate {verb}": {"unit", "unit_score", *SILENT[f"locate {verb}"]} for verb in ("weights", "layers", "records")
    },
}


@pytest.mark.parametrize("verb", TRAINING)
def test_a_help_shows_the_flags_that_a_verb_takes_and_the_others_are_refused(verb, command, tmp_path):
    found = arguments(verb)
    hidden = {name for name, one in found.items() if not one.show}
    assert hidden == {spelled(key) for key in HIDDEN[verb] if spelled(key) in found}
    (tmp_path / "a.toml").write_text("")
    given = {"config": "a.toml", "executor": "inline", "control": "null", "format": "md", "records-format": "parquet"}
    given["unit-score"] = "sum"
    for name in hidden:
        value = [] if name == "also-non-adaptive" else [given.get(name, "4")]
        more = ["--defense", "hamp"] * (verb in {"compare", "search"}) + ["--over", "gamma=0.1,0.2"] * (
            verb == "search"
        )
        code, _, err = command(verb, *more, "--records", "60", "--epochs", "1", f"--{name}", *value)
        refused = rf"{name.replace('-', '_')}s?: means nothing to reticent {verb}|only reticent audit and attack are of"
        assert (code, bool(re.search(rf"{refused}|--config holds one audit", err))) == (2, True), err
    assert not (tmp_path / "reticent-store").exists()


def test_what_says_nothing_of_a_model_that_is_given_is_refused(command):
    for flag in ("--models 4", "--records 60", "--validation 10", "--stack 2"):
        code, _, err = command(f"locate weights --weights w.pt --members m.npy {flag}")
        assert (code, "means nothing to reticent locate weights --weights" in err) == (2, True), err


@pytest.mark.parametrize("verb", ["audit", "locate weights"])
def test_a_data_set_without_its_flag_is_answered_with_it(verb, command):
    assert command(f"{verb} digits")[2] == "reticent: not expected: digits: a data set is given as --dataset digits"
    assert command(f"{verb} nothing")[2].startswith("reticent: not expected: nothing (see --help;")


@pytest.mark.parametrize("wrong", ['optimizer = "adamm"', 'defense = "hampp"', '[attack.lira]\nmodee = "online"'])
def test_what_is_wrong_in_a_file_is_told_with_its_name(wrong, command, tmp_path):
    (tmp_path / "audit.toml").write_text(wrong)
    code, _, err = command("audit --config audit.toml")
    assert (code, err.startswith("reticent: audit.toml: ")) == (2, True), err


def test_how_opacus_is_installed_is_said_in_one_way():
    line = str(MissingExtraError("opacus", "dp", "DP-SGD")).rpartition(": ")[2]
    pages = [Path(__file__).parents[2] / name for name in ("README.md", "docs/methods/dpsgd.md")]
    assert all(line in page.read_text(encoding="utf-8") for page in pages)


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
        (layers, LayersOptions, ("seeds", "equalise", "margin", "test")),
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
