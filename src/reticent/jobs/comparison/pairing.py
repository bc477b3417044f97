"""What two rows of a comparison must share, and what is said where they do not."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.errors import InputError

Facts = Mapping[str, Any]
"""What a row's numbers rest on, but how its models were made; by what a message calls it."""
ROLES = "the roles of the records"
RECORDS = "their records"
LABELS = "their labels"
MEMBERSHIP = "who trained on what"
TARGETS = "which models are audited"
REFERENCES = "which models the attacks may learn from"
SEEDS = "their seeds"
QUERIES = "the views of a record"
ATTACKS = "their attacks"
CONFIDENCE = "the confidence of their intervals"
ADVICE = {
    RECORDS: "give both the same --dataset",
    LABELS: "give outputs of the same records, in the same order",
    MEMBERSHIP: "give both the same --models and --seed",
    TARGETS: "give outputs with the same targets",
    REFERENCES: "give outputs with the same references",
    SEEDS: "give both the same --seed",
    QUERIES: "give both the same [queries]",
    ATTACKS: "give both the same attacks and options, for example with --attack",
    CONFIDENCE: "give both the same confidence",
}
"""What may differ, and what to do then."""


def check_pairs(rows: Sequence[tuple[str, Facts]]) -> None:
    """Refuse two rows that differ in anything but how their models were made."""
    (first, facts), *rest = rows
    for other, found in rest:
        for what, value in found.items():
            if what in facts and facts[what] != value:
                advice = _of_roles(facts[what], value) if what == ROLES else ADVICE[what]
                raise InputError(
                    f"{first} and {other} cannot be compared, they differ in {what}: a comparison is paired; {advice}"
                )


def _of_roles(one: Mapping[str, Sequence[int]], other: Mapping[str, Sequence[int]]) -> str:
    """Say which roles are of other sizes, and by which flags they become the same."""
    apart = [role for role in one if len(one[role]) != len(other[role])]
    flags = {role: f"--{'records' if role == 'audited' else role}" for role in apart}
    if not flags:
        return "give both the same --seed"
    sizes = ", ".join(f"{flag} {len(one[role]):,} and {len(other[role]):,}" for role, flag in flags.items())
    usual = " (left out, it is a fifth of the records for a defense that needs them, and 0 for others)"
    given = [flag for role, flag in flags.items() if role != "reference"]
    given += [f"--reference{usual}"] if "reference" in flags else []
    return f"they have {sizes}: give both the same {' and '.join(given)}"
