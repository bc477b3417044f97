"""What may be said of models that learned, and of models that did not: in the verdict, and of groups of records."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.auditing.grouptext import short
from reticent.auditing.labelling import CLASS
from reticent.auditing.verdict import EXCLUDED
from reticent.auditing.wording import TOO_SMALL, UNKNOWN, UNLEARNED, UNLEARNED_SOME


def of_learners(verdict: Mapping[str, Any], population: Mapping[str, Any]) -> dict[str, Any]:
    """Say in a verdict how many models did not learn; where any did not, low numbers exclude nothing.

    What learned nothing pulls the figures of a population to chance, and serves attacks badly as a reference: that
    would make any leak of the others look smaller, by an amount that is not known.
    """
    said, health = dict(verdict), population.get("health", ())
    if health is None and said["leak"] == "not found":
        said["leak"], said["detail"] = "cannot tell", said["detail"].replace(EXCLUDED, UNKNOWN)
    sick = len(health or ())
    if not sick:
        return said
    if said["leak"] == "found":
        learned = "What they give away is shown all the same; models that work may give away more."
        said["detail"] = f"{sick} of {population['models']} models did not learn. {learned} {said['detail']}"
        return said
    if said["leak"] == "not found":
        said["leak"] = "cannot tell"
    if not _unlearned_most(population):
        said["detail"] = said["detail"].replace(EXCLUDED, UNLEARNED_SOME)
    else:
        for usual, instead in {EXCLUDED: UNLEARNED[TOO_SMALL], **UNLEARNED}.items():
            said["detail"] = said["detail"].replace(usual, instead)
            said["cannot_say"] = [instead if line == usual else line for line in said["cannot_say"]]
    learned = "What learned nothing has nothing to give away, so low numbers say nothing of a model that works."
    said["detail"] = f"{sick} of {population['models']} models did not learn. {learned} {said['detail']}"
    return said


def named_of_learners(
    groups: Sequence[Mapping[str, Any]], leak: str, population: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Name no group as more exposed where most models learned nothing, and nothing else shows a leak."""
    told = [dict(entry) for entry in groups]
    if leak == "found" or not _unlearned_most(population):
        return told
    why = f"{len(population['health'])} of {population['models']} models did not learn"
    for entry in told:
        if any(group["stands_out"] for group in entry["groups"]):
            what = "class" if entry["by"] == CLASS else f"group by {short(entry['by'])}"
            entry["sentence"] = f"No {what} is named as more or less exposed: {why}."
            entry["most_exposed"] = None
            entry["groups"] = [{**group, "stands_out": None} for group in entry["groups"]]
    return told


def _unlearned_most(population: Mapping[str, Any]) -> bool:
    """Tell whether most models are known not to have learned."""
    sick = population.get("health") or ()
    return len(sick) > 0 and 2 * len(sick) > int(population["models"])
