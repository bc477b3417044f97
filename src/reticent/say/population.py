"""What is to be said of the models, and of the records that they were trained on."""

from collections.abc import Mapping, Sequence

import numpy as np

from reticent.arrays import Ints
from reticent.data.persons import person
from reticent.data.records import listed
from reticent.data.units import Units
from reticent.findings.audit import Leak
from reticent.findings.population import PersonColumn, Population
from reticent.findings.training import Stacking
from reticent.options import UnitScore, flag
from reticent.rounding import percent
from reticent.say.grammar import agree, plural, short, some

MUCH = 0.2
"""A larger share of the records is much for one person."""
ORDER = "labels and the columns of the classes are in different orders (scikit-learn's columns follow classes_)"
"""Why a model may seem to be always wrong."""
CHECK_LABELS = "that labels are in the order of the records, and the columns of the classes in the order of the labels"
"""What to look at where no model that was brought is right more often than naming one class would be."""
BEYOND_CHANCE = "who is a member depends on more than chance"
"""Said where `Population.unequal`."""
UNLEARNED = "a model that learned nothing has nothing to leak"


def training(picked: Stacking) -> str:
    """Name the training whose way was picked by what was measured."""
    alone, best = picked.microseconds["1"], picked.microseconds[str(picked.stack)]
    if len(picked.microseconds) == 1:
        return "training one by one: there was no memory for more at a time"
    if picked.stack == 1:
        return "training one by one, which was measured to be about as fast as together, or faster"
    return f"training {picked.stack} models at a time, which was measured to be {alone / best:.1f} times as fast"


def problem(accuracy: float, share: float, chance: float, records: int, *, trained: bool) -> str:
    """Say that a model labels its own members, or others if it has none, no better than naming one class would."""
    what = f"its {records:,} training records" if trained else f"{records:,} records"
    return (
        f"labels {percent(accuracy)} of {what} correctly; always naming the commonest class "
        f"gives {percent(share)}, and chance alone up to {percent(min(1.0, chance))}"
    )


def renamed_classes(called: Mapping[int, int], accuracy: float) -> str:
    """Say that the classes have other names, by which answers would be right."""
    others = [f"class {one} is called {other}" for one, other in called.items() if one != other]
    return (
        f"{percent(accuracy)} would be right if {', '.join(others[:3])}{', ...' * (len(others) > 3)}: {ORDER}, so give "
        "both in one order"
    )


def unhealthy(population: Population, leak: Leak | None = None) -> list[str]:
    """Say what models that did not learn do to an audit: no sentence, or one."""
    more = "models that work may leak more"
    if population.health is None:
        why = more if leak is Leak.FOUND else UNLEARNED
        return [f"Whether the models learned: margins alone do not tell it here, and {why}."]
    if not population.health:
        return []
    what = f"{UNLEARNED}, so low numbers here say nothing of a model that works"
    if leak is Leak.FOUND:
        what = f"{more} than is found here"
    which = some([one.model for one in population.health])
    remedy = "Train longer, or with another learning rate."
    if population.targets is not None:
        remedy = f"Train longer, or with another learning rate; or, if they were trained well, {ORDER}, or members are."
    return [f"{population.unlearned} of {population.models} models did not learn (model {which}): {what}. {remedy}"]


def of_models(text: str, held: int, every: int) -> str:
    """Say of how many models something is told."""
    return text if held == every else f"In {held} of {every} models: {text}"


def in_store(name: str, there: int, models: int, store: str, owner: str) -> str:
    """Say how many models of a row are in the store, and how many are not; or whose they are, if an earlier row's."""
    if there == models:
        return f"{name}: all {models} models are in the store {store}"
    if owner != name:
        return f"{name}: uses the models of {owner}: no other ones are trained"
    return (
        f"{name}: {there} of {models} models are in the store {store}, so {models - there} will be trained "
        "(if they are in another folder, give it with --store)"
    )


def repeated(duplicates: int) -> list[str]:
    """Say what records that repeat others do to an audit."""
    if not duplicates:
        return []
    return [
        f"{plural(duplicates, 'record')} {agree(duplicates, 'repeats', 'repeat')} another one exactly: where one copy "
        "was a member and the other not, an attack that finds the record is counted as wrong, so the leak of such "
        "records is understated."
    ]


def unaudited(left: Ints, audited: Ints, first: Ints) -> list[str]:
    """Say which records are not audited; `first` is the earliest copy of each."""
    again, records = np.isin(first[left], first[audited]), len(first)
    told = []
    if (alone := left[~again]).size:
        told.append(
            f"{len(alone):,} of {records:,} records {agree(len(alone), 'was', 'were')} left out of every attack "
            f"({listed(alone)}): all models to compare with were trained on {agree(len(alone), 'it', 'each')}, or "
            f"none. How exposed {agree(len(alone), 'it is', 'they are')} is not known."
        )
    if (copies := left[again]).size:
        told.append(
            f"{len(copies):,} of {records:,} records {agree(len(copies), 'was', 'were')} left out of every attack "
            f"({listed(copies)}): each has the label and all the answers of another record, and was used to train "
            "the same models, or exactly the others."
        )
    return told


def copies(groups: Sequence[Sequence[int]]) -> list[str]:
    """Say which models answer alike on every record: one each was brought several times."""
    if not groups:
        return []
    told = "; ".join(some(group) for group in groups)
    return [
        f"These models give the same answers on every record: {told}. Each group may be one model, brought several "
        "times, while intervals over models take them for different ones and are then too short: bring each once."
    ]


def copied(records: int, contradicted: float) -> list[str]:
    """Say that audited records may have been brought several times, and how much of membership copies contradict."""
    told = []
    if records:
        told.append(
            f"{plural(records, 'record')} {agree(records, 'has', 'have')} the label and the answers of another one in "
            "every digit. If a record was brought more than once, leave the copies out: each counts as further "
            "evidence, so that intervals are too short."
        )
    if contradicted:
        told.append(
            f"{percent(contradicted)} of members and non-members have a copy, with the same label and answers, that is "
            "the other of the two: if it is the same record, one of the two memberships is wrong, and the leak is "
            "understated."
        )
    return told


def one_label(labels: Ints, classes: int) -> list[str]:
    """Say that all records have one label, where there are more classes."""
    if classes < 2 or (labels != labels[0]).any():
        return []
    return [
        f"All records have one label ({labels[0]}), and answers tell {classes:,} classes apart: if there are records "
        "of others, the labels are wrong, and so is all that is said here."
    ]


def fewer(members: int, records: int) -> str:
    """Say that the audited models are trained on a part of the records."""
    return (
        f"What a model trained on all {records:,} records leaks: the models here were each trained on {members:,} of "
        "them, and models of more records usually leak less. reticent plan --curve estimates by how much."
    )


def person_number(one: PersonColumn) -> str:
    """Say why a column is taken for that of persons' numbers."""
    return f"{short(one.column)} looks like a person's number, with {one.persons:,} values in {one.records:,} records"


def several_records(columns: Sequence[PersonColumn]) -> list[str]:
    """Say that the audit is of records, where persons may have several."""
    return [
        f"This audit is of records, not of persons: {person_number(one)}. A person of several records is in part in "
        "every training set, so how well persons are found, whose records are all in or all out, is not known: it may "
        f"be far better. With {flag('unit', one.column)}, persons are audited."
        for one in columns
    ]


def of_units(units: Units) -> str:
    """Say that units are audited in place of records, and where one holds many of them."""
    records = len(units.codes)
    told = (
        f"{units_told(units.column, units.count, units.score)} Another way of joining the scores of the {records:,} "
        f"records may find more, such as --unit-score {'sum' if units.score == 'mean' else 'mean'}."
    )
    if units.largest <= MUCH * records:
        return told
    return (
        f"{told} One {short(units.column)} has {units.largest:,} of the records: if its value stands for none, give "
        "each of those records a value of its own."
    )


def units_told(column: str, count: int, score: UnitScore) -> str:
    """Say what stands for a record in all sentences."""
    return (
        f"In all of this, “a {noun(column)}”, or “a record”, is all records of one {short(column)}, of which there are "
        f"{count:,}. Each was used for training whole or not at all, and its score is {SCORES[score]}."
    )


SCORES: dict[UnitScore, str] = {
    "mean": "the mean of its records'",
    "sum": "the sum of its records'",
    "max": "the largest of its records'",
}
"""What the score of a unit is."""


def noun(unit: str | None) -> str:
    """Call what is audited: a record, or a unit by whose number the column is, such as a patient."""
    return "record" if unit is None else person(unit) or "unit"
