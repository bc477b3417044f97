"""What to do after an audit, each step with the command that does it."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from reticent.auditing.verdict import MATERIAL_AUC, MATERIAL_LIFT
from reticent.findings.audit import AuditDocument, Leak, Reason
from reticent.findings.blind import Known
from reticent.options import OWN, SILENT, AuditConfig, DataOptions, spelled, with_options
from reticent.say.population import CHECK_LABELS
from reticent.spec import as_toml

TABLES = ("defense", "attack", "recipe", "queries")
"""Keys that hold options; a defense may also be a text."""
KEYS = ("dataset", "data_dir", *DataOptions.model_fields, *AuditConfig.model_fields)
SAME = (*dict.fromkeys(key for key in KEYS if key not in {"out", *TABLES}), *TABLES)
"""Keys of an audit that the next command is given, unless its verb refuses them: tables last."""
PARTS = {"objective", "sampler", "procedure", "output"}
"""Keys of a recipe that a defense sets."""
OF_ONE_MODEL = "--model my_net:build --weights model.safetensors --members members.npz --non-members test.npz"
"""What `reticent harden` must be given, by names that stand for the user's."""
SHARPER = {Reason.TOO_SMALL, Reason.FEW_MODELS, Reason.FEW_RECORDS}
"""Why a leak can't be told, where more models would tell."""
SOURCE = "Audit again with members and non-members from one source, drawn at random"
TRAIN = "Train until models do better on their members than naming the largest class does, and audit again"
HALVES = "Audit again with models that are each trained on a random half of the records"
OTHERWISE = {
    Reason.SHIFT: SOURCE,
    Reason.UNCOMPARED: SOURCE,
    Reason.TIES: "Audit again with answers of more digits, which leave fewer records with equal scores",
    Reason.BACKWARDS: "Check who is a member, and audit again",
    Reason.LEARNING_UNKNOWN: "Bring logits or probabilities, which tell whether models learned",
    Reason.SOME_UNLEARNED: TRAIN,
    Reason.MOST_UNLEARNED: TRAIN,
    Reason.WEAK_ATTACKS: "Audit several models, each trained on a random half of the records, with lira or rmia",
    Reason.WEAK_ALONE: HALVES,
    Reason.UNEQUAL: HALVES,
    Reason.COPIES: "Leave out all but one copy of each record, and audit again",
}
"""What helps where it is something else."""
Step = tuple[str, str]
"""What a step does, and its command, or none."""


def after(document: AuditDocument) -> tuple[Step, ...]:
    """Say what to do after an audit: short, and no command that this kind of audit can't be followed by."""
    said = document.verdict
    steps: list[Step] = []
    better = [*_labels(document)] if said.leak is Leak.CANNOT_TELL and document.population.labels_alone else []
    if document.population.labels_in_doubt:
        check = f"Check {CHECK_LABELS}, and attack again"
        return ((check, ""), (f"If they are: {TRAIN[0].lower()}{TRAIN[1:]}", ""), *better)
    if said.exchanged:
        return (("Check who is a member, and attack again", ""),)
    if better:
        steps = better
    elif said.leak is Leak.FOUND:
        steps = [*_by_themselves(document), *_where(document), *_repairs(document)]
    elif said.reason in SHARPER:
        steps = [*_sharper(document)]
    elif said.reason in OTHERWISE:
        steps = [(OTHERWISE[said.reason], "")]
    elif said.reason is Reason.EXCLUDED and (flags := _flags(document, "audit", attacks=None)) is not None:
        steps = [("Try every attack that fits", _command("audit", flags, "--attack all"))]
    return (*steps, *(_gate(document) if said.leak is not Leak.CANNOT_TELL else ()))


def _by_themselves(document: AuditDocument) -> Iterator[Step]:
    """Say how to see that one brought model's members do not differ from the others without it."""
    blind, seen = document.blind, {Known.RECORDS, Known.REFERENCES}
    one = document.data.kind == "outputs" and document.population.models == 1
    if one and blind is not None and blind.by not in seen:  # None where records are too few to tell.
        told = "First see whether members and non-members differ without the model: attack again, with what it saw"
        yield f"{told} (--records FILE, in Python records=)", ""


def _where(document: AuditDocument) -> Iterator[Step]:
    """Say where the leak is looked for: in the records, and in the weights of a network that reticent trains."""
    folder, exposure, verb = document.environment.out, document.exposure, "locate weights"
    flags = _flags(document, verb)
    if folder and exposure is not None and exposure.records:
        yield "Which records, and what is memorised", f"reticent locate records {shlex.quote(folder)}"
    if flags is not None and document.data.unit is None and not _own_training(document):
        yield "Which weights", _command(verb, flags)


def _repairs(document: AuditDocument) -> Iterator[Step]:
    """Say how a model in use is repaired, and what is tried before the next training."""
    relaxloss = "relaxloss:level=0.2" if document.data.classes == 2 else "relaxloss"  # Its usual level is above ln 2.
    flags, defense = _flags(document, "compare", defense=None), _defense(document)
    if document.data.unit is None:
        yield "Repair one PyTorch model in use", f"reticent harden {OF_ONE_MODEL} --method cwrf --objective {relaxloss}"
    if flags is None or defense is None or _own_training(document):
        return
    if document.data.unit is None:
        told = "Before the next training, hold a defense against stopping early"
        yield told, _command("compare", flags, defense or f"--defense {relaxloss}")
    elif not defense:  # Which `compare` is not of.
        out = shlex.join(["--out", f"{folder}-relaxloss"] if (folder := document.environment.out) else [])
        yield "Before the next training, try a defense", _command("audit", flags, f"--defense {relaxloss}", out)


def _labels(document: AuditDocument) -> Iterator[Step]:
    """Say how more is found where answers are labels alone: by confidences, or by more questions."""
    flags = _flags(document, "audit", attacks=["label-only"])
    asked = "Ask the models more than once, as an attacker can who sees labels alone"
    if flags is None:
        yield "Bring probabilities or logits of the same models: these answers are labels alone", ""
        asked = "Or, where labels are all there is, train models of the same kind that can be asked more than once"
        flags = "--dataset mine.csv --label outcome --attack label-only"
    yield asked, _command("audit", flags)


def _sharper(document: AuditDocument) -> Iterator[Step]:
    """Say what would let the audit tell."""
    models = 2 * document.population.models
    flags = _flags(document, "plan", models=models)
    if flags is None:
        yield "Bring answers of more models, each trained on a random half of the records, or of more records", ""
        return
    told = f"What {models} models cost and resolve; then audit with the same flags"
    yield told, _command("plan", flags)


def _gate(document: AuditDocument) -> Iterator[Step]:
    """Hold the next audit against what would matter."""
    folder, fpr = document.environment.out, document.verdict.fpr
    if folder:
        rate = f"--max-tpr {MATERIAL_LIFT * fpr:g}@{fpr:g}" if fpr else ""
        yield "In CI, with limits of your own", _command("gate", shlex.quote(folder), f"--max-auc {MATERIAL_AUC}", rate)


def _command(verb: str, *parts: str | None) -> str:
    return " ".join(["reticent", verb, *filter(None, parts)])


def _flags(document: AuditDocument, verb: str, **changed: Any) -> str | None:
    """Write the flags by which another verb trains the audit's models, or changed ones; None if none does."""
    config = document.environment.config
    if config is None or config.get("dataset") == OWN:
        return None
    told = {key: value for key, value in {**config, **changed}.items() if key not in SILENT.get(verb, ())}
    tables = {key: value for key in TABLES if isinstance(value := told.get(key), Mapping)}
    words = [word for key in SAME if key not in tables for word in _flag(key, told.get(key))]
    for key, value in _leaves(tables):
        words += ["--set", f"{key}={as_toml(value)}"]
    return shlex.join(words)


def _flag(key: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        value = [f"{column}={number}" for column, number in value.items()]
    if isinstance(value, bool):
        return [f"--{spelled(key)}"] * value
    values = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return [word for one in values for word in (f"--{spelled(key)}", str(one))]


def _leaves(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _own_training(document: AuditDocument) -> bool:
    """Tell whether a function of the user's made the models."""
    procedure: Any = (document.recipe or {}).get("procedure")
    return isinstance(procedure, Mapping) and procedure.get("method") == "function"


def _defense(document: AuditDocument) -> str | None:
    """Write the audit's defense as a flag: empty without one, and None where a flag cannot tell it."""
    config = document.environment.config or {}
    defense, recipe = config.get("defense"), config.get("recipe")
    if isinstance(recipe, Mapping) and PARTS & recipe.keys():
        return None
    if defense is None:
        return ""
    if isinstance(defense, Mapping):
        options = {key: value for key, value in defense.items() if key != "name"}
        if any(isinstance(value, Mapping) for value in options.values()):
            return None
        defense = with_options(str(defense["name"]), options)
    return f"--defense {shlex.quote(str(defense))}"
