"""How strong a privacy promise the leak rules out: epsilon from below, beside what the accountant proves."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.findings.epsilon import GIVEN, Accountant
from reticent.report.view import short, title
from reticent.report.wording import Plain, at_most, from_below, level, value

METHODS = {
    "all-thresholds": ("every threshold", "all thresholds are tried, and the bound is lowered for that"),
    "split": ("split", "the threshold is picked on some of the records, and the bound is measured on the others"),
    "given": ("given threshold", "the threshold was fixed before looking"),
    "gaussian": (
        "Gaussian",
        "for a mechanism that leaks as Gaussian noise does, at no threshold in particular",
    ),
    "one-run": (
        "one run",
        "the attacker guesses on many records of one model at once, and the number of right guesses counts",
    ),
}
"""Method -> its name in a table, and how it works."""

COMBINED = {
    "twice-median": "their median, each model's bound being made at half the error: that holds however the models "
    "depend on each other",
    "bonferroni": "the highest, each model's bound being made at its share of the error",
}
"""How the targets' bounds became one -> in words."""

MEANING = (
    "Epsilon measures a promise of differential privacy: with epsilon 0 nobody can tell whether a record was used, and "
    "each step up lets an attacker be surer. An attack can only rule out small values: the true epsilon is at least "
    "this large, with the confidence that is stated, and may be larger."
)


def parts(document: Mapping[str, Any], attacks: Sequence[Plain]) -> dict[str, Any] | None:
    """Bring the bounds into a table, an attack a line and a method a column."""
    told = document.get("epsilon") or {}
    found = [(attack, attack["epsilon"]) for attack in attacks if attack.get("epsilon")]
    if not told and not found:
        return None
    methods = list(dict.fromkeys(bound["method"] for _, entry in found for bound in entry.get("bounds") or ()))
    first = found[0][1] if found else {}
    return {
        "sentence": told.get("sentence"),
        "meaning": MEANING,
        "lower": told.get("lower"),
        "accountant": told.get("accountant"),
        "accountant_delta": number_of((told.get("accountant") or {}).get("delta")),
        "stated": (told.get("accountant") or {}).get("source") in GIVEN,
        "consistent": told.get("consistent"),
        "proven": told.get("proven"),
        "unproven": _unproven(told),
        "delta": number_of(told.get("delta", first.get("delta"))),
        "confidence": level(told.get("confidence", first.get("confidence", 0.95))),
        "combined": _combined(first.get("combined")),
        "origin": _origin(told),
        "methods": [_method(name) for name in methods],
        "assumptions": _assumptions(found),
        "lines": [{"name": title(attack), "cells": _cells(entry, methods)} for attack, entry in found],
        "track": _track(told),
    }


def tile(document: Mapping[str, Any]) -> dict[str, str] | None:
    """Choose what stands beside the verdict."""
    told = document.get("epsilon") or {}
    if told.get("lower") is None:
        return None
    note = f"delta {number_of(told.get('delta'))}, {level(told.get('confidence', 0.95))} sure"
    if told["lower"] == 0:
        note = f"no lower bound is shown, so nothing is ruled out ({note})"
    accountant = told.get("accountant")
    if accountant:
        most = _most(accountant, told)
        note += f"; at most {most} as stated by the user, not computed" if (accountant.get("source") in GIVEN) else ""
        note += "" if (accountant.get("source") in GIVEN) else f"; the accountant proves at most {most}"
    if told.get("proven"):
        note += f"; the accountant proves at most {_most(told['proven'], told)}"
    if told.get("unproved"):
        note += "; training proves no upper bound"
    return {"title": "Epsilon, at least", "value": from_below(told["lower"]), "note": note}


def _most(upper: Plain, told: Plain) -> str:
    """Write an upper epsilon, with its delta where that is not the one of the bound from below."""
    at = "" if _same_delta(upper, told) else f" at delta {number_of(upper.get('delta'))}"
    return f"{at_most(upper.get('epsilon'))}{at}"


def _same_delta(upper: Plain, told: Plain) -> bool:
    """Tell whether two bounds speak of the same delta; documents that lack one are taken to."""
    return None in {upper.get("delta"), told.get("delta")} or upper["delta"] == told["delta"]


def _unproven(told: Plain) -> bool:
    """Tell whether the user states more than training proves."""
    accountant, proven = told.get("accountant"), told.get("proven")
    return bool(accountant and proven and not Accountant(**proven).covers(Accountant(**accountant)))


def number_of(delta: Any) -> str:
    """Write a delta."""
    if delta is None:
        return "not stated"
    return value(delta) if 0 < delta < 1e-9 else f"{delta:.12f}".rstrip("0").rstrip(".")


def _origin(told: Plain) -> str:
    """Say how the bounds of the table and the one of the sentence belong together: the table may show higher ones."""
    alone = "Each bound of the table is of one attack by one method, looked at alone."
    many = told.get("best_of")
    choice = f"the choice among {many} attacks" if isinstance(many, int) and many > 1 else ""
    if not told.get("method"):
        return f"{alone} That of the sentence is lowered once more for the choice among attacks."
    method = f"“{_method(told['method'])['name']}”, the method that was fixed in advance"
    if told.get("lower") == 0:
        lowered = f", and lowers it for {choice}: then no attack shows more than 0" if choice else ", and shows none"
        return f"{alone} The sentence takes {method}{lowered}."
    by = f", under {short(told['attack'], 40)}" if told.get("attack") else ""
    lowered = f", and lowers the bound for {choice}, so that it is below that of the table" if choice else ""
    return f"{alone} The sentence takes {method}{by}{lowered}."


def _method(name: str) -> dict[str, str]:
    known, how = METHODS.get(name, (short(name, 40), ""))
    return {"name": known, "how": how}


def _cells(entry: Plain, methods: Sequence[str]) -> list[dict[str, Any] | None]:
    """Find each method's bound, and how far it goes from one target to the next."""
    bounds: dict[str, Plain] = {bound["method"]: bound for bound in entry.get("bounds") or ()}
    cells: list[dict[str, Any] | None] = []
    for name in methods:
        bound = bounds.get(name)
        if bound is None:
            cells.append(None)
            continue
        targets = [epsilon for epsilon in bound.get("targets") or () if epsilon is not None]
        ends = (min(targets), max(targets)) if len(targets) > 1 else None
        cells.append({"epsilon": bound["epsilon"], "targets": ends})
    return cells


def _assumptions(found: Sequence[tuple[Plain, Plain]]) -> list[str]:
    """List what the methods assume, each assumption once, after the methods that need it."""
    needed: dict[str, list[str]] = {}
    for _, entry in found:
        for bound in entry.get("bounds") or ():
            if bound.get("assumes"):
                names = needed.setdefault(str(bound["assumes"]), [])
                names += [name for name in [_method(bound["method"])["name"]] if name not in names]
    return [f"{_listed(who)} assume{'s' * (len(who) == 1)} that {short(text, 300)}" for text, who in needed.items()]


def _listed(names: Sequence[str]) -> str:
    """Name methods inside a sentence, where "one run" and "split" would not be taken for names."""
    quoted = [f"“{name}”" for name in names]
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def _combined(combined: Any) -> str | None:
    """Say how the targets' bounds became one."""
    name = combined.get("method") if isinstance(combined, Mapping) else combined
    return COMBINED.get(str(name), short(name, 60).replace("-", " ")) if name else None


def _track(told: Plain) -> dict[str, Any] | None:
    """Place the audited bound and the accountant's on one line that begins at 0; at two deltas they are on none."""
    accountant = (told.get("accountant") or {}).get("epsilon")
    lower = told.get("lower")
    if accountant is None or lower is None or accountant <= 0 or not _same_delta(told["accountant"], told):
        return None
    full = max(accountant, lower)
    return {"lower": round(100 * lower / full, 2), "upper": round(100 * accountant / full, 2)}
