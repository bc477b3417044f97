"""How many single records leak beyond doubt."""

import math

from reticent.findings.audit import ExposureCount
from reticent.rounding import level, plain
from reticent.say.grammar import agree, plural

NEEDED = "that takes at least three models, some that were trained on the record and some that were not"
"""What a record needs to be tested."""
SAME = (
    "No single record is judged: the models that were trained on a record all say exactly the same of it, and so do "
    "those that were not, so there is nothing to judge their difference by. Were the answers rounded, or is one model "
    "there several times?"
)
ALONE = "Over all records no attack is shown to do better than chance: the leak is of these."
"""What is said where single records alone leak."""


def headline(found: ExposureCount, what: str) -> str:
    """Say how many records leak beyond doubt; `what` is audited."""
    return f"{found.exposed:,} of {found.records:,} {what}s {agree(found.exposed, 'leaks', 'leak')} beyond doubt."


def spoken(found: ExposureCount, unit: str | None = None) -> ExposureCount:
    """Fill in the sentence; of units, a value of that column each, in place of records."""
    return found.with_(sentence=_sentence(found, unit) + _untested(found) + _copies(found))


def _copies(found: ExposureCount) -> str:
    if not found.copies:
        return ""
    return (
        " Models that were trained on nearly the same records, or on nearly all the others, count as one here, "
        f"which takes {plural(found.copies, 'model')} off the count."
    )


def _untested(found: ExposureCount) -> str:
    if not found.untested or not found.records:
        return ""
    verb = agree(found.untested, "is", "are")
    return f" {found.untested:,} of all {found.untested + found.records:,} records {verb} not judged: {NEEDED}."


def _sentence(found: ExposureCount, unit: str | None) -> str:
    if found.same:
        return SAME
    if not found.records:
        return f"No single record is judged: {NEEDED}."
    if found.distance_needed is None:
        return _impossible(found)
    needed = f"{found.distance_needed:.1f} standard errors"
    if found.exposed:
        return (
            f"{found.exposed:,} of {found.records:,} records {agree(found.exposed, 'leaks', 'leak')} beyond doubt "
            f"({level(found.confidence)} sure that none of them is there by chance): the lines of "
            f"{'units' if unit else 'records'}.csv whose distance_p_corrected is at most "
            f"{plain(round(1 - found.confidence, 9))}. A record counts if its margins with and without it differ by "
            f"about {needed}, or by more where the draw of models alone could explain that. Others may leak too."
        )
    return (
        f"No single record is shown to leak: among {found.records:,} records, that takes margins with and without the "
        f"record that differ by about {needed}. A leak that is spread over many records is not excluded."
    )


def enough(found: ExposureCount) -> int:
    """Say from how many models on one record can be counted at all."""
    models, allowed = found.models or 3, 1 - found.confidence
    while found.records / math.comb(models, models // 2) > allowed:
        models += 1
    return models


def _impossible(found: ExposureCount) -> str:
    """Say that no record can be counted, whatever its margins, and from how many models on one could."""
    models, that = found.models or 0, " that count" if found.copies else ""
    if enough(found) <= models:
        return (
            f"No single record can be shown to leak: {models} models{that} could show it if each record were in half "
            f"of them. Here most records are in far fewer or far more, so that among {found.records:,} records one may "
            "look exposed by chance. Single records may leak all the same."
        )
    return (
        f"{plural(models, 'model')}{that} {agree(models, 'is', 'are')} too few to show that a single record leaks: "
        f"among {found.records:,} records, one may look exposed by chance. At least {enough(found)} models{that} are "
        "needed, half of them trained on each record. Single records may leak all the same."
    )
