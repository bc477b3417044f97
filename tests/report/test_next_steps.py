"""What a report says to do next: commands that exist, of what this kind of audit can be followed by."""

import re
import shlex

import pytest
from audit_forms import html, read, terminal

from reticent.cli import app
from reticent.cli.flags import Flags
from reticent.findings.audit import Leak, Reason
from reticent.findings.blind import Blind
from reticent.findings.environment import Environment
from reticent.jobs.config import gather
from reticent.say import next_steps

FOUND = {Reason.MORE_THAN_CHANCE, Reason.MORE_THAN_SHIFT, Reason.IN_A_GROUP, Reason.IN_RECORDS, Reason.EXCLUDED}
"""Reasons of a verdict that tells."""
BLIND = Blind(auc=0.5, interval=(0.4, 0.6), by="labels", shift=False, confidence=0.95, folds=5, records=100, models=1)
TABLE = {
    "dataset": "my data.csv",
    "label": "out come",
    "not_features": ["id", "no"],
    "rare": {"code": 5},
    "models": 8,
}


def commands(document, leak="found", reason="more-than-chance", out="my report", **config):
    """The commands after an audit of a configuration."""
    found = read(document)
    environment = Environment(out=out, config=config.pop("config", config))
    verdict = found.verdict.with_(leak=leak, reason=reason)
    return [
        command for _, command in next_steps.after(found.with_(verdict=verdict, environment=environment)) if command
    ]


def test_of_one_brought_model_it_is_seen_first_whether_its_members_differ(document):
    def first(kind, models, **blind):
        found = read(document)
        verdict = found.verdict.with_(leak="found", reason="more-than-chance")
        data, population = found.data.with_(kind=kind), found.population.with_(models=models, per_model=())
        known = BLIND.with_(**blind) if blind else None
        return next_steps.after(found.with_(verdict=verdict, data=data, population=population, blind=known))[0][0]

    told = "First see whether members and non-members differ without the model"
    assert first("outputs", 1, by="labels").startswith(told)
    assert not first("outputs", 8, by="labels").startswith("First see")
    assert not first("image", 1).startswith("First see")
    assert not first("outputs", 1, by="records").startswith("First see")
    assert not first("outputs", 1).startswith("First see")  # Of too few records.


@pytest.mark.parametrize(
    ("config", "verbs"),
    [
        ({}, ["locate records", "locate weights", "harden", "compare", "gate"]),
        (TABLE, ["locate records", "locate weights", "harden", "compare", "gate"]),
        (
            {"recipe": {"epochs": 5, "architecture": {"name": "mlp", "hidden": [64, 32], "bias": True}}},
            ["locate records", "locate weights", "harden", "compare", "gate"],
        ),
        ({"defense": "dpsgd:epsilon=8+hamp"}, ["locate records", "locate weights", "harden", "compare", "gate"]),
        ({"recipe": {"objective": {"name": "relaxloss"}}}, ["locate records", "locate weights", "harden", "gate"]),
        ({"dataset": "own data"}, ["locate records", "harden", "gate"]),
        ({"config": None}, ["locate records", "harden", "gate"]),
    ],
)
def test_every_command_after_a_leak_is_one_that_its_verb_takes(document, config, verbs):
    told = commands(document, **config)
    assert [line.removeprefix("reticent ").split(" -")[0].split(" 'my")[0] for line in told] == verbs
    for line in told:
        verb, *words = shlex.split(line)
        assert verb == "reticent"
        function, bound, *_ = app.parse_args(words, exit_on_error=False, print_error=False)
        assert "options" not in bound.kwargs, line  # No word was taken for an option of a defense.
        assert function.__name__ == words[1 if words[0] == "locate" else 0]
    if config is TABLE:
        flags = "--dataset 'my data.csv' --label 'out come' --not-feature id --not-feature no --rare code=5 --models 8"
        assert told[1] == f"reticent locate weights {flags}"


def test_persons_and_own_trainings_are_followed_by_what_can_follow(document):
    whole = dict(document, data=document["data"] | {"unit": "patient", "units": 9})
    _, defended, _ = told = commands(whole, unit="patient")
    assert [line.split()[1] for line in told] == ["locate", "audit", "gate"]
    assert defended == "reticent audit --unit patient --defense relaxloss --out 'my report-relaxloss'"
    app.parse_args(shlex.split(defended)[1:], exit_on_error=False, print_error=False)
    for config in ({"defense": "hamp"}, {"dataset": "own data"}):
        assert [line.split()[1] for line in commands(whole, unit="patient", **config)] == ["locate", "gate"]
    own = dict(document, recipe=document["recipe"] | {"procedure": {"method": "function", "function": "a:b"}})
    assert [line.split()[1] for line in commands(own)] == ["locate", "harden", "gate"]
    two = dict(document, data=document["data"] | {"classes": 2, "class_names": []})
    assert "relaxloss:level=0.2" in commands(two)[3]


def test_the_commands_are_of_the_models_of_the_audit(document):
    recipe = {"retrain": "2"}
    table = {"workers": 2, "recipe": recipe, "defense": {"name": "relaxloss", "level": 0.5}}
    told = "--set defense.name=relaxloss --set defense.level=0.5 --set 'recipe.retrain=\"2\"'"
    assert commands(document, **table)[1] == f"reticent locate weights {told}"  # Which refuses --workers.
    for defense, words in ((table["defense"], told), ("hamp", "--defense hamp --set 'recipe.retrain=\"2\"'")):
        asked = {"workers": 2, "recipe": recipe, "defense": defense}
        (plan,) = commands(document, "cannot tell", "too-small", **asked)
        assert plan == f"reticent plan --models {2 * document['population']['models']} --workers 2 {words}"
        assert commands(document, "not found", "excluded", **asked)[0] == (
            f"reticent audit --workers 2 {words} --attack all"
        )
    read = gather(None, Flags(set=shlex.split(told)[1::2]).values())
    assert (read.defense, read.recipe) == (table["defense"], recipe)


def test_a_command_has_all_that_its_verb_takes_of_what_the_audit_was_run_with(document):
    asked = {
        "executor": "ray",
        "address": "here:1",
        "population": 50,
        "confidence": 0.99,
        "also_non_adaptive": True,
        "attack": {"lira": {"variance": "pooled"}},
        "queries": {"mirror": True},
    }
    tables = "--set attack.lira.variance=pooled --set queries.mirror=true"
    flags = f"--confidence 0.99 --population 50 --executor ray --address here:1 --also-non-adaptive {tables}"
    weights, compare = (commands(document, **asked)[at] for at in (1, 3))
    assert weights == "reticent locate weights --set queries.mirror=true"
    assert compare == f"reticent compare {flags} --defense relaxloss"
    again, _ = commands(document, "not found", "excluded", attacks=["loss"], unit="patient no", **asked)
    of_persons = flags.replace("--population", "--unit 'patient no' --population")
    assert again == f"reticent audit {of_persons} --attack all"
    for line in (weights, compare, again):
        app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)
    table = {"name": "relaxloss", "level": 0.5, "flip": False}
    assert commands(document, defense=table)[3] == "reticent compare --defense relaxloss:level=0.5,flip=false"


def test_what_is_not_found_or_not_told_is_followed_by_a_sharper_audit(document):
    models = 2 * document["population"]["models"]
    (plan,) = commands(document, "cannot tell", "too-small", dataset="digits")
    assert plan == f"reticent plan --dataset digits --models {models}"
    assert commands(document, "cannot tell", "few-models", config=None) == []
    assert commands(document, "cannot tell", "shift") == []
    every, gate = commands(document, "not found", "excluded")
    assert every == "reticent audit --attack all"
    assert gate == "reticent gate 'my report' --max-auc 0.55 --max-tpr 0.02@0.01"
    for line in (plan, every):
        app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)


def test_the_steps_stand_on_the_page_and_at_the_end_of_the_terminal(small):
    changed = dict(small, environment={"out": "here", "config": {}})
    gate = "reticent gate here --max-auc 0.55"
    assert gate in re.sub("</?span>", "", html(changed))
    assert gate in " ".join(terminal(changed).split("What to do next")[1].split())


@pytest.mark.parametrize("reason", sorted(set(Reason) - FOUND))
def test_what_cannot_be_told_always_has_a_way_forward(document, reason):
    found = read(document)
    verdict = found.verdict.with_(leak=Leak.CANNOT_TELL, reason=reason)
    for population in (found.population, found.population.with_(labels_alone=True)):
        assert next_steps.after(found.with_(verdict=verdict, population=population))
