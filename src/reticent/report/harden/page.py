"""The page of a repair."""

from collections.abc import Mapping
from typing import Any

from reticent.report.harden.lines import SIDES, alone, attacks, chosen, main, marked
from reticent.report.harden.picture import curves, strongest
from reticent.report.page import columns_read
from reticent.report.pictures import dots
from reticent.report.svg import SERIES
from reticent.report.templating import drawn, render
from reticent.report.view import short, tied
from reticent.report.wording import duration, level, percent, size
from reticent.report.words import GLOSSARY, LEAKS

ORIGINS = {
    "file": "from a file",
    "given": "given",
    "seed": "built again from a seed",
    "fresh draw": "not known: a fresh draw in its place",
}
HIDDEN = ("accuracy_before", "onset")
"""Facts of a method that stand elsewhere on the page, or are too long for it."""


def html(document: Mapping[str, Any]) -> str:
    """Write a repair as one page that loads nothing."""
    model, fpr = document["model"], document["difference"]["fpr"]
    lines, measures = attacks(document), main(document)
    leak = document["leak"]
    series = [
        dots.Series("before", [line["auc"][0] for line in lines], filled=False, colour=SERIES[1], marker="s"),
        dots.Series("after", [line["auc"][1] for line in lines]),
    ]
    heading = "AUC of each attack, before and after the repair"
    values = {
        "name": short(_name(model), 60),
        "data": document["data"],
        "defense": document["repair"]["defense"],
        "sentence": document["sentence"],
        "detail": document["detail"],
        "leak": LEAKS.get(leak, LEAKS["cannot tell"]),
        "lines": measures,
        "notes": [note for note in (chosen(document), alone(document)) if note],
        "ties": {"both": marked(measures), "attacks": tied([line["tpr"] for line in lines])},
        "confidence": level(document["difference"]["confidence"]),
        "attacks": lines,
        "fpr": fpr,
        "found": f"Members found at {level(fpr)}" if fpr else "Members found",
        "curves": drawn(curves(document)),
        "strongest": strongest(document),
        "dots": drawn(dots.beside([line["name"] for line in lines], series, heading, "attacks")),
        "references": document["references"],
        "done": _done(document),
        "facts": _facts(document),
        "columns_read": columns_read(document["data"]),
        "limits_said": document["cannot_say"],
        "what": "page",
        "environment": document["environment"],
        "glossary": GLOSSARY,
    }
    return render("harden.html.j2", values)


def _name(model: Mapping[str, Any]) -> str:
    architecture = model["architecture"]
    return str(architecture.get("factory") or architecture["method"])


def _done(document: Mapping[str, Any]) -> list[str]:
    """Say what the repair did to the model, in sentences."""
    facts, tuned = document["repair"]["facts"], _tuned(document)
    loss = document["repair"]["recipe"]["objective"]["method"]
    rest = f"trained for {tuned} epoch{'s' * (tuned > 1)} with {loss}"
    if "cwrf" in facts:
        cwrf = facts["cwrf"]
        return [
            f"{cwrf['rewound']:,} of {cwrf['weights']:,} weights ({100 * cwrf['rate']:.3g} %) were set back and held; "
            f"the others were {rest}."
        ]
    pptp = facts.get("pptp", {})
    if pptp:
        held = ", ".join(pptp["frozen"]) or "no stage"
        return [
            f"From {pptp['stage']} on ({pptp['chosen']}), the network was set back and {rest}; {held} stayed as it was."
        ]
    return [f"The model was {rest}."]


def _tuned(document: Mapping[str, Any]) -> int:
    """Count the epochs of the second training."""
    recipe = document["repair"]["recipe"]
    return int(recipe["procedure"].get("tuning_epochs") or max(1, int(recipe["epochs"]) // 2))


def _facts(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Gather what stands in the details."""
    model, data, environment, repair = (document[key] for key in ("model", "data", "environment", "repair"))
    recipe = repair["recipe"]
    method = {
        key: {name: value for name, value in item.items() if name not in HIDDEN}
        for key, item in repair["facts"].items()
        if isinstance(item, Mapping)
    }
    return {
        "Model": {
            "architecture": _name(model),
            "weights": model["weights"] or "given",
            "parameters": f"{model['parameters']:,}",
            "initial state": ORIGINS[model["initial"]],
        },
        "Data": {
            "members": f"{data['members']:,}",
            "non-members, audit": f"{data['non_members']:,}",
            "non-members, repair": f"{data['reference']:,}",
            "classes": data["classes"],
        },
        "Method": dict(recipe["procedure"])
        | {"tuning_epochs": _tuned(document), "objective": recipe["objective"]}
        | method,
        "References, trained alike": _references(document),
        "Cost of the repair": _cost(environment["repair"]),
        "Versions": {key: environment[key] for key in ("reticent", "torch", "python", "platform", "device")},
    }


def _references(document: Mapping[str, Any]) -> dict[str, Any]:
    recipe = document["repair"]["recipe"]
    told = {key: recipe[key] for key in ("epochs", "batch_size", "optimizer", "learning_rate", "weight_decay")}
    for side in SIDES:
        accuracy = document[side]["references"]["accuracy"]
        told[f"accuracy, {side}"] = {
            key.replace("_", "-"): percent(accuracy[key]["mean"]) for key in ("members", "non_members")
        }
    return {"models": document["references"], **told}


def _cost(cost: Mapping[str, Any]) -> dict[str, Any]:
    grown = cost["peak_memory_bytes"]
    return {
        "time": duration(cost["seconds"]),
        "training anew, estimated": duration(cost["seconds_training_anew"]),
        "share of it": cost["share_of_training_anew"],
        **({} if grown is None else {"growth of memory": size(grown)}),
        "stages": {stage["name"]: duration(stage["seconds"]) for stage in cost["stages"]},
    }
