"""Questions to the document that every form of the report asks: which attacks, which rates, which names."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.render.text import clean
from reticent.report.wording import Plain, count, level, middle


def ordered(document: Mapping[str, Any]) -> list[Plain]:
    """Put the attacks in the order of the report: the verdict's first, then by falling AUC."""
    first = (document.get("verdict") or {}).get("attack")
    attacks: list[Plain] = list(document.get("attacks") or ())
    return sorted(attacks, key=lambda a: (a["name"] != first, -(middle(a["overall"]["auc"]) or 0.0)))


def confidence(attacks: Sequence[Plain]) -> str:
    """Say how sure the intervals are."""
    return level(attacks[0].get("confidence", 0.95) if attacks else 0.95)


def rates(attacks: Sequence[Plain]) -> list[float]:
    """List the false-positive rates that any attack has an entry for."""
    return sorted({rate["fpr"] for attack in attacks for rate in attack["overall"].get("tpr_at_fpr", ())}, reverse=True)


def measured(attacks: Sequence[Plain]) -> list[float]:
    """List the false-positive rates at which at least one attack has a number."""
    entries = ((rate, rate.get("tpr")) for attack in attacks for rate in attack["overall"].get("tpr_at_fpr", ()))
    known = {rate["fpr"] for rate, tpr in entries if tpr is not None}
    return [fpr for fpr in rates(attacks) if fpr in known]


def unmeasured(attacks: Sequence[Plain]) -> list[tuple[float, Plain]]:
    """List the false-positive rates at which no attack has a number."""
    known = measured(attacks)
    entries = {rate["fpr"]: rate for attack in attacks for rate in attack["overall"].get("tpr_at_fpr", ())}
    return [(fpr, entries[fpr]) for fpr in rates(attacks) if fpr not in known]


def rate_at(overall: Plain, fpr: float) -> Plain | None:
    """Find one rate of an attack."""
    return next((rate for rate in overall.get("tpr_at_fpr", ()) if rate["fpr"] == fpr), None)


def tied(part: Any) -> bool:
    """Tell whether equal scores decide a rate anywhere in a document, so that its mark must be explained."""
    if isinstance(part, Mapping):
        return part.get("tied") is True or any(map(tied, part.values()))
    return isinstance(part, (list, tuple)) and any(map(tied, part))


def own_training(recipe: Plain | None) -> str | None:
    """Name the function of the user's that made the models."""
    procedure = (recipe or {}).get("procedure")
    if not isinstance(procedure, Mapping) or procedure.get("method") != "function":
        return None
    return str(procedure.get("function"))


def shown_recipe(recipe: Plain | None) -> Plain:
    """Leave out of a recipe what was not used, since the models were made by a function of the user's."""
    own = own_training(recipe)
    if own is None or recipe is None:
        return recipe or {}
    return {"trained": f"by {own}", "source": recipe["procedure"].get("source"), "output": recipe.get("output")}


def part_of(data: Plain) -> str:
    """Say how many of the records were audited, where not all were."""
    records, audited = data.get("records"), (data.get("roles") or {}).get("audited")
    return f"{count(audited)} of " if records is not None and audited is not None and audited < records else ""


def title(attack: Plain) -> str:
    """Name an attack for people."""
    return str(attack.get("title") or attack["name"])


def label(row: Plain) -> str:
    """Name a record's class."""
    name, number = row.get("label_name"), str(row.get("label", ""))
    return f"class {number}" if name in {None, "", number} else str(name)


def short(text: Any, most: int = 80) -> str:
    """Cut long text, and take out what does not print or would turn the direction of the line."""
    return clean(str(text), most).strip()
