"""Questions to the document that every form of the report asks: which attacks, which rates, which names."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.wording import Plain, count, level, middle


def ordered(document: Mapping[str, Any]) -> list[Plain]:
    """Put the attacks in the order of the report: the verdict's first, then by falling AUC.

    Args:
        document: the audit.

    Returns:
        Its attacks.
    """
    first = (document.get("verdict") or {}).get("attack")
    attacks: list[Plain] = list(document.get("attacks") or ())
    return sorted(attacks, key=lambda a: (a["name"] != first, -(middle(a["overall"]["auc"]) or 0.0)))


def confidence(attacks: Sequence[Plain]) -> str:
    """Say how sure the intervals are.

    Args:
        attacks: the document's ``attacks``.

    Returns:
        For example ``95 %``.
    """
    return level(attacks[0].get("confidence", 0.95) if attacks else 0.95)


def rates(attacks: Sequence[Plain]) -> list[float]:
    """List the false-positive rates that any attack has an entry for.

    Args:
        attacks: the document's ``attacks``.

    Returns:
        The rates, the largest first.
    """
    return sorted({rate["fpr"] for attack in attacks for rate in attack["overall"].get("tpr_at_fpr", ())}, reverse=True)


def measured(attacks: Sequence[Plain]) -> list[float]:
    """List the false-positive rates at which at least one attack has a number.

    Args:
        attacks: the document's ``attacks``.

    Returns:
        The rates, the largest first.
    """
    entries = ((rate, rate.get("tpr")) for attack in attacks for rate in attack["overall"].get("tpr_at_fpr", ()))
    known = {rate["fpr"] for rate, tpr in entries if tpr is not None}
    return [fpr for fpr in rates(attacks) if fpr in known]


def unmeasured(attacks: Sequence[Plain]) -> list[tuple[float, Plain]]:
    """List the false-positive rates at which no attack has a number.

    Args:
        attacks: the document's ``attacks``.

    Returns:
        Each rate with an entry of ``tpr_at_fpr`` that says how many records it needs.
    """
    known = measured(attacks)
    entries = {rate["fpr"]: rate for attack in attacks for rate in attack["overall"].get("tpr_at_fpr", ())}
    return [(fpr, entries[fpr]) for fpr in rates(attacks) if fpr not in known]


def rate_at(overall: Plain, fpr: float) -> Plain | None:
    """Find one rate of an attack.

    Args:
        overall: an attack's ``overall``.
        fpr: the false-positive rate.

    Returns:
        The entry of ``tpr_at_fpr``, or None if the attack has none.
    """
    return next((rate for rate in overall.get("tpr_at_fpr", ()) if rate["fpr"] == fpr), None)


def tied(attacks: Sequence[Plain]) -> list[tuple[Plain, Plain]]:
    """List the rates at which an attack finds nothing because its scores tie.

    Args:
        attacks: the document's ``attacks``.

    Returns:
        Attack and entry of ``tpr_at_fpr``: false positives are allowed, and none is possible without too many.
    """
    return [
        (attack, rate)
        for attack in attacks
        for rate in attack["overall"].get("tpr_at_fpr", ())
        if rate.get("tpr") is not None
        and middle(rate["tpr"]) == 0
        and rate.get("realised_fpr") == 0
        and (rate.get("false_positives_allowed") or 0) > 0
    ]


def tie_note(attacks: Sequence[Plain]) -> str:
    """Say why an attack whose scores tie finds nothing at low rates.

    Args:
        attacks: the document's ``attacks``.

    Returns:
        A sentence; empty if no attack is concerned.
    """
    names = list(dict.fromkeys(short(title(attack), 40) for attack, _ in tied(attacks)))
    if not names:
        return ""
    verb = "gives" if len(names) == 1 else "give"
    return (
        f"{', '.join(names)} {verb} so many records the same score that every threshold accuses either nobody or more "
        f"non-members than allowed. So it finds none at this rate; that is no sign of safety."
    )


def own_training(recipe: Plain | None) -> str | None:
    """Name the function of the user's that made the models.

    Args:
        recipe: the document's ``recipe``, or None.

    Returns:
        Its import string; None where reticent trained them.
    """
    procedure = (recipe or {}).get("procedure")
    if not isinstance(procedure, Mapping) or procedure.get("method") != "function":
        return None
    return str(procedure.get("function"))


def shown_recipe(recipe: Plain | None) -> Plain:
    """Leave out of a recipe what was not used, since the models were made by a function of the user's.

    Args:
        recipe: the document's ``recipe``, or None.

    Returns:
        What the report lists.
    """
    own = own_training(recipe)
    if own is None or recipe is None:
        return recipe or {}
    return {"trained": f"by {own}", "source": recipe["procedure"].get("source"), "output": recipe.get("output")}


def part_of(data: Plain) -> str:
    """Say how many of the records were audited, where not all were.

    Args:
        data: the document's ``data``.

    Returns:
        For example ``800 of``, with a space; empty where all were.
    """
    records, audited = data.get("records"), (data.get("roles") or {}).get("audited")
    return f"{count(audited)} of " if records is not None and audited is not None and audited < records else ""


def title(attack: Plain) -> str:
    """Name an attack for people.

    Args:
        attack: an entry of ``attacks``.

    Returns:
        Its title if it has one, or its name.
    """
    return str(attack.get("title") or attack["name"])


def label(row: Plain) -> str:
    """Name a record's class.

    Args:
        row: a record row.

    Returns:
        The class's name if it has one, or ``class`` and its number.
    """
    name, number = row.get("label_name"), str(row.get("label", ""))
    return f"class {number}" if name in {None, "", number} else str(name)


def short(text: Any, most: int = 80) -> str:
    """Cut long text, and take out what does not print or would turn the direction of the line.

    Args:
        text: text from outside.
        most: characters to keep.

    Returns:
        At most that many characters, not escaped yet.
    """
    clean = "".join(c if c.isprintable() else " " for c in str(text)[: most + 1]).strip().replace(" %", "\u00a0%")
    return clean if len(str(text)) <= most else clean[: most - 1].rstrip() + "…"
