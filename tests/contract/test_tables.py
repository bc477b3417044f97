"""What holds for every line of every table, and for the package's front door."""

import json
import re
import subprocess
import sys
from typing import get_args

import pytest

import reticent
from reticent.attacks import ATTACKS, parse
from reticent.data.datasets import DATASETS
from reticent.errors import SpecError
from reticent.jobs.recipes import build_recipe
from reticent.models import ARCHITECTURES
from reticent.models.butterfly import Butterfly
from reticent.objectives import OBJECTIVES, past
from reticent.options import described
from reticent.outputs import OUTPUTS
from reticent.procedures import PROCEDURES
from reticent.samplers import SAMPLERS
from reticent.signals.queries import Queries
from reticent.spec import full, identity, text
from reticent.training.recipe import Recipe

TABLES = {
    "attacks": ATTACKS,
    "architectures": ARCHITECTURES,
    "objectives": OBJECTIVES,
    "samplers": SAMPLERS,
    "procedures": PROCEDURES,
    "outputs": OUTPUTS,
    "data sets": DATASETS,
}
LINES = [(table, name) for table, entries in TABLES.items() for name in entries]
NAMED = [(table, name) for table, name in LINES if table != "data sets"]
SPECS = {f"{table}/{name}": TABLES[table][name].spec for table, name in NAMED} | {"recipe": Recipe, "queries": Queries}
REQUIRED = {"factory": "mine:net", "function": "mine:train"}
SIZES = ((8,) * 3, (8,) * 4, (16,) * 4, (8,) * 5)
"""One number for each of so many stages."""
CANDIDATES = (True, False, 1, 2, 3, 0, 0.5, 0.25, 2.5, 20, 16, None, (0.25,), (8,), "auto", "some text", *SIZES)
RARE = (("some text",), PROCEDURES["mist"].spec(), Butterfly(layers=("*",)))
"""Names of stages, a second stage, and a shape of layers."""

BESIDE = {("past", option): {"form": "renormalised"} for option in past.OF_FORM["renormalised"]} | {
    (Recipe.method, "augmentation_strength"): {"augmentation": "gaussian"}
}
"""What an option needs beside it: PAST's forms have options of their own, and flips have no strength."""

SAME = {("imp", "at")}
"""Options that are another way to write one of the others: the round of a number of rounds."""


def default(kind):
    return kind(**{key: value for key, value in REQUIRED.items() if key in kind.model_fields})


def values_of(plain):
    return {key: value for key, value in plain.items() if key != "method"}


def literals(annotation):
    """Texts that stand in an annotation's Literal, however deep."""
    found = [argument for argument in get_args(annotation) if isinstance(argument, str)]
    return found + [text for argument in get_args(annotation) for text in literals(argument)]


def changed(kind):
    """Yield a spec for each field that can be put off its default, on its own or beside what it needs."""
    for name, field in kind.model_fields.items():
        if name in {"architecture", "objective", "sampler", "procedure", "output"} or (kind.method, name) in SAME:
            continue
        usual = default(kind).replace(**BESIDE.get((kind.method, name), {}))
        for value in (*literals(field.annotation), *CANDIDATES, *RARE):
            try:
                other = usual.replace(**{name: value})
            except SpecError:
                continue
            if other != usual:
                yield name, other
                break
        else:
            raise AssertionError(f"no other value was found for {kind.__name__}.{name}")


@pytest.mark.parametrize("table", TABLES)
def test_no_table_is_empty_and_names_are_lower_case_with_hyphens(table):
    assert len(TABLES[table]) > 0
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) for name in TABLES[table])


@pytest.mark.parametrize(("table", "name"), LINES)
def test_every_summary_is_one_sentence(table, name):
    summary = TABLES[table][name].summary
    assert summary[0].isupper()
    assert summary.endswith(".")
    assert ". " not in summary
    assert "\n" not in summary
    assert 20 <= len(summary) <= 110


@pytest.mark.parametrize(("table", "name"), NAMED)
def test_names_are_those_of_the_specs(table, name):
    assert TABLES[table][name].spec.method == name


@pytest.mark.parametrize("name", DATASETS)
def test_names_are_those_of_the_data_sets(name):
    assert DATASETS[name].name == name


def test_no_two_specs_share_a_name():
    methods = [kind.method for kind in SPECS.values()]
    assert len(set(methods)) == len(methods)


@pytest.mark.parametrize("name", SPECS)
def test_every_option_is_told_in_a_sentence(name):
    for option, field in SPECS[name].model_fields.items():
        assert field.description, option
        assert described(field)[0].endswith("."), option


@pytest.mark.parametrize("name", [name for name in SPECS if name != "recipe"])
def test_specs_come_back_from_their_full_form_and_from_their_canonical_text(name):
    kind = SPECS[name]
    for spec in [default(kind), *(other for _, other in changed(kind))]:
        assert kind(**values_of(json.loads(json.dumps(full(spec), allow_nan=False)))) == spec
        assert kind(**values_of(json.loads(text(spec)))) == spec
        assert set(values_of(full(spec))) == set(kind.model_fields)


@pytest.mark.parametrize("name", SPECS)
def test_every_option_changes_the_identity(name):
    kind = SPECS[name]
    identities = [identity(default(kind)), *(identity(other) for _, other in changed(kind))]
    assert len(set(identities)) == len(identities)
    assert len(identities) >= len(kind.model_fields) - 4


def test_recipes_come_back_from_their_full_form():
    def named(value):
        return {"name": value["method"], **values_of(value)} if isinstance(value, dict) else value

    for recipe in [Recipe(), *(other for _, other in changed(Recipe))]:
        written = json.loads(json.dumps(full(recipe)))
        assert build_recipe({}, {key: named(value) for key, value in written.items()}) == recipe


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_read_as_a_file_gives_them(name):
    spec = ATTACKS[name].spec()
    assert parse(full(spec)) == parse(name) == parse({"method": name}) == spec


def test_the_public_names_are_sorted_and_resolve():
    assert reticent.__all__ == sorted(reticent._HOME)
    for name in reticent.__all__:
        assert getattr(reticent, name).__doc__, name
        assert name in dir(reticent)
    with pytest.raises(AttributeError, match="module 'reticent' has no attribute 'aduit'"):
        _ = reticent.aduit


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("reticent, reticent.cli", ["torch", "numpy", "scipy", "sklearn", "matplotlib"]),
        (
            "reticent.attacks, reticent.auditing.attack_audit, reticent.signals.matrix, reticent.data.load, "
            "reticent.data.roles, reticent.store",
            ["torch", "sklearn", "matplotlib"],
        ),
        pytest.param(
            "reticent.population.train, reticent.jobs.measure", ["sklearn", "matplotlib"], marks=pytest.mark.slow
        ),
        pytest.param("reticent.population.executors", ["scipy", "torch._dynamo"], marks=pytest.mark.slow),
    ],
)
def test_imports_load_no_more_than_is_needed(modules, absent):
    script = f"import sys, {modules}; print([name for name in {absent!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "[]"
