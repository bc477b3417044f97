"""From the document to the parts of the page: choosing, naming and grouping, no measuring."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.sections import control, epsilon, repair
from reticent.report.view import (
    confidence,
    measured,
    ordered,
    part_of,
    short,
    shown_recipe,
    tied,
    title,
    unmeasured,
)
from reticent.report.wording import Plain, count, duration, found, level, share, size, span, words, written
from reticent.report.words import COUNTED, NAMES, ROLES
from reticent.rounding import decimals

SPREAD_CAPTION = (
    "Each tick is one audited model, the diamond the mean over models, the bar its interval. "
    "A wide row means that the leak differs from one training run to the next."
)

COLUMNS = 200
"""Most columns of a table that the page lists."""


def parts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the document into the parts of the page."""
    verdict, data = document.get("verdict") or {}, document.get("data") or {}
    population, attacks = document.get("population") or {}, ordered(document)
    environment = document.get("environment") or {}
    return {
        "name": short(data.get("name") or "a model's outputs"),
        "scale": scale(data, population),
        "odds": odds(verdict),
        "power": control.detectable(document.get("control")) if verdict.get("leak") != "found" else None,
        "tiles": [*_tiles(verdict), *filter(None, [epsilon.tile(document)])],
        "ties": tied(document),
        "confidence": confidence(attacks),
        "attacks": attacks,
        "rates": measured(attacks),
        "unmeasured": unmeasured(attacks),
        "population": population,
        "health": population.get("health") or [],
        "per_model": _per_model(population, attacks),
        "recipe": shown_recipe(document.get("recipe")),
        "environment": environment,
        "limits_said": verdict.get("cannot_say") or ["What attacks other than those listed would find."],
        **facts(data, population, attacks, environment),
    }


def odds(verdict: Plain) -> dict[str, Any] | None:
    """Turn the verdict's rates into counts of records, which people judge better than rates."""
    tpr, fpr = verdict.get("tpr"), verdict.get("fpr")
    if tpr is None or not fpr:
        return None
    base = max(1000, round(10 / fpr))
    interval = verdict.get("tpr_interval")
    full = max(tpr, fpr, interval[1] if interval else 0.0) * 1.04
    whisker = (
        [round(100 * interval[0] / full, 2), round(100 * (interval[1] - interval[0]) / full, 2)] if interval else None
    )
    return {
        "base": base,
        "found": round(base * tpr),
        "accused": round(base * fpr),
        "width_found": round(100 * tpr / full, 2),
        "width_accused": round(100 * fpr / full, 2),
        "whisker": whisker,
    }


def roc_caption(attacks: Sequence[Plain]) -> str:
    """Describe the ROC figure."""
    which = "Bands" if len(attacks) <= 3 else "The band, for the attack of the verdict,"
    verb = "are" if len(attacks) <= 3 else "is"
    models = attacks[0]["roc"].get("band") == "targets"
    meaning = f"where {confidence(attacks)} of the models lie" if models else f"the {confidence(attacks)} interval"
    return (
        "How many training records each attack finds (up) at each rate of false alarms (right), both on logarithmic "
        f"axes. The left end is what matters for privacy. {which} {verb} {meaning}."
    )


def histogram_caption(attack: Plain) -> str:
    """Describe one attack's histogram."""
    from reticent.report.figures import spiked

    scale = "; logarithmic axis, since one bar stands far above the others" if spiked(attack) else ""
    return f"{short(title(attack))}: AUC {written(attack['overall']['auc'])}{scale}"


def scale(data: Plain, population: Plain) -> str:
    """Say how large an audit is."""
    parts = [(population.get("models"), "model"), (data.get("records"), "record"), (data.get("classes"), "class")]
    plural = {"model": "models", "record": "records", "class": "classes"}
    said = [f"{count(n)} {what if n == 1 else plural[what]}" for n, what in parts if n is not None]
    return ", ".join(part_of(data) + text if "record" in text else text for text in said)


def _tiles(verdict: Plain) -> list[dict[str, str]]:
    """Choose the numbers that stand beside the sentence."""
    tiles = []
    tpr, fpr = verdict.get("tpr"), verdict.get("fpr")
    if fpr:
        interval = verdict.get("tpr_interval")
        ends = span(interval, True, digits=decimals(fpr))
        note = f"interval {ends}; chance {level(fpr)}" if interval else f"chance {level(fpr)}"
        missing = "This data set has too few non-members to measure it."
        tiles.append({
            "title": f"Found at {share(fpr)} false alarms",
            "value": found({"mean": tpr, "tied": verdict.get("tied")}, decimals(fpr))
            if tpr is not None
            else "not measurable",
            "note": note if tpr is not None else missing,
        })
    if verdict.get("auc") is not None:
        interval = verdict.get("auc_interval")
        note = f"interval {span(interval)}; chance 0.5" if interval else "chance 0.5"
        tiles.append({"title": "AUC", "value": written(verdict["auc"]), "note": note})
    if verdict.get("attack"):
        tiles.append({"title": "Attack", "value": short(verdict["attack"], 30), "note": _chosen(verdict)})
    return tiles


def _chosen(verdict: Plain) -> str:
    """Say by what the verdict's attack was chosen; documents of before do not tell."""
    best = verdict.get("best_of")
    many = len(best) if isinstance(best, (list, tuple)) else best
    if not many or many < 2:
        return "the only attack tried"
    by, among = verdict.get("best_by"), verdict.get("best_among", many)
    if by is None:
        return f"chosen from {count(many)} attacks tried"
    most = "the largest AUC" if by == "auc" else f"most found at {share(verdict['fpr'])} false alarms"
    if among == many:
        return f"{most}, of {count(many)} attacks tried"
    if among == 1:
        return f"the only one of {count(many)} attacks tried that does better than chance here"
    return f"{most}; {count(among)} of {count(many)} attacks tried do better than chance here"


def _per_model(population: Plain, attacks: Sequence[Plain]) -> list[dict[str, Any]]:
    """Join each model's accuracy with the strongest attack's AUC on it."""
    found = {target.get("model"): target.get("auc") for target in (attacks[0].get("targets", ()) if attacks else ())}
    sizes = {
        target.get("model"): target.get("members") for target in (attacks[0].get("targets", ()) if attacks else ())
    }
    known = {model.get("model"): model for model in population.get("per_model") or ()}
    return [
        {
            "model": model,
            "members": known.get(model, {}).get("members", sizes.get(model)),
            "inside": known.get(model, {}).get("accuracy_members"),
            "outside": known.get(model, {}).get("accuracy_non_members"),
            "auc": found.get(model),
        }
        for model in {**known, **found}
    ]


def facts(data: Plain, population: Plain, attacks: Sequence[Plain], environment: Plain) -> dict[str, Any]:
    """Group what the method section lists."""
    apart = {"class_names", "roles", "columns", "fitted"}
    about = {_fact_name(key): _fact(key, item) for key, item in data.items() if key not in apart}
    names = list(data.get("class_names") or ())
    if names:
        about["class names"] = [short(name, 40) for name in names[:12]] + (["…"] if len(names) > 12 else [])
    shown = {"accuracy", "health", "notices", "per_model", "repair"}
    stages = repair.costs(environment)
    strapped: Plain = next((attack["bootstrap"] for attack in attacks if attack.get("bootstrap")), {})
    return {
        "facts_data": about,
        "columns_read": columns_read(data),
        "facts_roles": {ROLES.get(key, words(key)): count(many) for key, many in (data.get("roles") or {}).items()},
        "facts_models": {_fact_name(key): _fact(key, item) for key, item in population.items() if key not in shown},
        "facts_repair": repair.facts(population),
        "specs": {f"{i + 1}. {title(attack)}": _spec(attack) for i, attack in enumerate(attacks)},
        "facts_statistics": {f"bootstrap {words(key)}": _fact(key, item) for key, item in strapped.items()},
        "facts_environment": {
            _fact_name(key): _fact(key, item)
            for key, item in environment.items()
            if key != "stages" and item not in (None, [], "")
        }
        | ({"time of one model's training": stages} if stages else {}),
    }


def columns_read(data: Plain) -> dict[str, Any] | None:
    """Choose which columns of the table the page lists, and in which words."""
    columns = data.get("columns")
    if not columns:
        return None
    return {"rows": columns[:COLUMNS], "left": len(columns) - COLUMNS, "fitted": data.get("fitted")}


def _fact_name(key: str) -> str:
    return f"time: {words(key.removeprefix('seconds_'))}" if key.startswith("seconds_") else NAMES.get(key, words(key))


def _fact(key: str, item: Any) -> Any:
    """Write one fact with its unit; what is no number of things or seconds stays as it is."""
    if key == "command" and isinstance(item, Sequence) and not isinstance(item, str):
        return shlex.join(["reticent", *map(str, item)])
    number_like = isinstance(item, (int, float)) and not isinstance(item, bool)
    if number_like and key.startswith("seconds_"):
        return duration(item)
    if number_like and key.endswith("_bytes"):
        return size(item)
    return count(item) if number_like and key in COUNTED else item


def _spec(attack: Plain) -> Any:
    settings = {key: item for key, item in (attack.get("spec") or {}).items() if key != "method"}
    return settings or "no settings"
