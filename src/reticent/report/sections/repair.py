"""What a repairing procedure did in the models: where PPTP cut, how many weights CWRF rewound."""

from collections.abc import Callable, Mapping
from typing import Any

from reticent.report.wording import Plain, count, duration, number, percent

PLACES = 6
"""Stages that are named; more are counted."""


def facts(population: Plain) -> dict[str, Any]:
    """List what was done, ready to be read."""
    shown: dict[str, Callable[[Plain, int], dict[str, Any]]] = {"pptp": _pptp, "cwrf": _cwrf}
    told = population.get("repair") or {}
    return {name.upper(): say(told[name], population["models"]) for name, say in shown.items() if name in told}


def costs(environment: Plain) -> dict[str, Any]:
    """List what the stages of the procedure took."""
    stages = environment.get("stages") or {}
    return {name: duration(seconds) for name, seconds in stages.items()} if isinstance(stages, Mapping) else {}


def _pptp(told: Plain, models: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "trained again from": _places(told["stages"], models),
        "how it was chosen": "measured in each model" if told["chosen"] == "measured" else "given",
        "weights that stay": percent(told["share_frozen"]),
    }
    if told["effect"] is not None:
        low, mean, high = (number(value) for value in told["effect"])
        said["first risky stage"] = _places(told["risky"], models)
        said["effect there"] = f"{mean} in the mean ({low} to {high}); no trace: 0.5"
    if told["none_found"]:
        said["no stage was risky"] = f"in {count(told['none_found'])} of {count(models)} models"
    return said


def _places(stages: Plain, models: int) -> str:
    places = [f"{name} in {count(many)} of {count(models)} models" for name, many in list(stages.items())[:PLACES]]
    return ", ".join([*places, *([f"{len(stages) - PLACES} other stages"] if len(stages) > PLACES else [])])


def _cwrf(told: Plain, models: int) -> dict[str, Any]:
    del models
    share = percent(told["rewound"] / told["weights"], 2) if told["weights"] else "none"
    kinds = {kind: f"{number(many, 0)} a model" for kind, many in told["kinds"].items()}
    return {"weights rewound": f"{number(told['rewound'], 0)} of {count(told['weights'])} ({share})", **kinds}
