"""The facts of an audit's document: the data, the models, the machine, and the table of records."""

import platform
import resource
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from reticent import resident
from reticent.arrays import Ints
from reticent.auditing.exposure import Exposure, Masked
from reticent.auditing.membership_probability import MembershipProbability
from reticent.auditing.partition import CLASS, Partition
from reticent.auditing.record_pvalues import OwnRates
from reticent.data.membership import Membership
from reticent.data.notices import notices as notices_of_features
from reticent.data.persons import person_columns
from reticent.data.records import FITTED, Records
from reticent.data.roles import Roles
from reticent.data.units import Units
from reticent.findings.environment import Environment
from reticent.findings.epsilon import Accountant
from reticent.findings.numbers import Spread
from reticent.findings.population import Accuracy, Data, ModelFacts, Unlearned
from reticent.findings.population import Population as PopulationFacts
from reticent.findings.records import RecordTable
from reticent.findings.training import Proof
from reticent.jobs.repairs import repairs
from reticent.population.population import Population
from reticent.population.worker import Made
from reticent.say.grammar import sentence
from reticent.say.population import of_models, problem, renamed_classes
from reticent.signals.correctness import reordered
from reticent.spec import full, identity
from reticent.version import VERSION

MOST_NAMES = 1000
"""Of more classes it takes long to find other names."""


def data_facts(records: Records, roles: Roles | None = None, units: Units | None = None) -> Data:
    """State what was audited."""
    return Data(
        name=records.name,
        kind=records.kind,
        records=len(records),
        shape=records.x.shape[1:],
        classes=records.classes,
        class_names=tuple(records.class_names),
        digest=records.digest,
        duplicates=records.duplicates,
        roles=None if roles is None else roles.sizes(),
        roles_digest=None if roles is None else identity(roles.to_json()),
        unit=None if units is None else units.column,
        units=None if units is None else units.count,
        unit_score=None if units is None else units.score,
        persons=person_columns(records) if units is None else (),
        licence=records.licence,
        citation=records.citation,
        columns=records.readings,
        fitted=FITTED if records.readings else None,
    )


def data_sentences(records: Records) -> list[str]:
    """Say what of the features stands against trusting the numbers."""
    return [sentence(said) for said in notices_of_features(records)]


def population_facts(population: Population, made: Sequence[Made], units: Units | None = None) -> PopulationFacts:
    """State how the models are: who was trained on how much, how well they do, and which are not healthy."""
    records = population.records
    alike = (records.groups * records.classes + records.y)[population.roles.audited]
    each = tuple(
        ModelFacts(
            model=one.model,
            run=one.training,
            members=one.facts.members,
            accuracy_members=one.facts.accuracy_members,
            accuracy_non_members=one.facts.accuracy_non_members,
        )
        for one in made
    )
    return PopulationFacts(
        models=population.models,
        seed=population.seed,
        parameters=made[0].facts.parameters,
        membership_digest=population.membership.digest,
        contradicted=population.membership.contradicted(alike) or None,
        stacked=True if population.stack > 1 else None,
        queries=full(population.queries),
        accuracy=accuracy(each, population.membership, units),
        health=health(made, len(population.roles.audited)),
        per_model=each,
        notices=tuple(notices(made)),
        repair=repairs(made),
    )


def accuracy(models: Sequence[ModelFacts], membership: Membership, units: Units | None = None) -> Accuracy:
    """Summarise the accuracies of models."""
    rows = np.array([one.model for one in models])
    return Accuracy(
        members=spread([one.accuracy_members for one in models]),
        non_members=spread([one.accuracy_non_members for one in models]),
        independent=membership.independent_non_members(rows, None if units is None else units.codes),
    )


def accountant(made: Sequence[Made]) -> Accountant | None:
    """State the epsilon that training proves of a record: the largest of all models, at the largest delta."""
    known = _proofs(made)
    if not known:
        return None
    return Accountant(
        epsilon=max(one.epsilon for one in known),
        delta=max(one.delta for one in known),
        source=" and ".join(sorted({str(one.source) for one in known})),
    )


def accountant_of_units(made: Sequence[Made], records: int) -> Accountant | None:
    """State the epsilon that follows for units of so many records at most; None where none does."""
    proofs = _proofs(made)
    if not proofs:
        return None
    from reticent.procedures.dpsgd.accounting import Steps, of_group  # With torch.

    found = [of_group(records, one.noise, Steps(one.sample_rate, one.steps, one.delta)) for one in proofs]
    known = [one.epsilon for one in found if one is not None]
    if len(known) < len(found):
        return None
    return Accountant(epsilon=max(known), delta=max(one.delta for one in proofs), source="rdp", records=records)


def _proofs(made: Sequence[Made]) -> list[Proof]:
    """Give what training proves of each model, where it does so of all."""
    known = [one.facts.accountant for one in made if one.facts.accountant is not None]
    return known if len(known) == len(made) else []


def notices(made: Sequence[Made]) -> list[str]:
    """Gather what training has to say of its models, each sentence once; some models' with how many they are."""
    said = Counter(text for one in made for text in dict.fromkeys(one.facts.notices))
    every = len(made)
    return [of_models(text, held, every) for text, held in said.items()]


def health(made: Sequence[Made], records: int) -> tuple[Unlearned, ...]:
    """Find models that label the audited records no better than the largest class would."""
    told = (
        unlearned(
            one.model,
            one.facts.accuracy_members,
            one.facts.largest_class_share,
            one.facts.members,
            (one.facts.accuracy_non_members, records - one.facts.members),
        )
        for one in made
    )
    return tuple(one for one in told if one is not None)


def unlearned(
    model: int,
    accuracy: float,
    share: float,
    members: int,
    others: tuple[float, int] | None = None,
    *,
    trained: bool = True,
) -> Unlearned | None:
    """Tell that a model labels its members, and all records where known, no better than naming one class would.

    `others` are the accuracy on non-members and their number. Where it was not `trained` on any, all numbers are of
    others.
    """
    if learned(accuracy, share, members):
        return None
    if others is not None:
        outside, count = others
        both = members + count
        if learned((accuracy * members + outside * count) / both, share, both):
            return None
    return Unlearned(model=model, problem=problem(accuracy, share, _chance(share, members), members, trained=trained))


def learned(accuracy: float, share: float, records: int) -> bool:
    """Tell whether records are labelled better than naming the class that has a share of them would.

    That is beyond chance, or, where chance may reach further, by more than half of what that naming gets wrong.
    """
    return accuracy > min(_chance(share, records), (1 + share) / 2)


def renamed(predicted: NDArray[np.int64], labels: NDArray[np.int64]) -> str:
    """Say by which other names of the classes predictions ``(n,)`` would mostly be right; empty where by none, surely.

    Surely: beyond chance, more than half of what naming the commonest class gets wrong, and more than as they are.
    """
    if len(labels) < 2 or len(np.unique(labels)) > MOST_NAMES:
        return ""
    called, accuracy, usual = reordered(predicted, labels)
    half = len(labels) // 2
    if accuracy - usual <= 3 * ((accuracy + usual) / half) ** 0.5:
        return ""
    commonest = np.unique(labels, return_counts=True)[1].max() / len(labels)
    return renamed_classes(called, accuracy) if accuracy > _chance((1 + commonest) / 2, half) else ""


def _chance(share: float, records: int) -> float:
    """How often naming one class may be right by chance."""
    return float(share + 3 * (share * (1 - share) / records) ** 0.5)


def versions(**more: Any) -> Environment:
    """State the versions that numbers may depend on, and what else is known of the run."""
    torch = sys.modules.get("torch")
    return Environment(
        reticent=VERSION,
        python=platform.python_version(),
        torch=str(torch.__version__) if torch is not None else None,
        numpy=np.__version__,
        scipy=scipy.__version__,
        platform=platform.platform(),
        **more,
    )


def peak_memory() -> int:
    """Return the largest memory that this process and its ended children held, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resident.largest() + unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def record_rows(
    exposure: Exposure,
    ids: Ints,
    labels: Ints,
    names: Sequence[str] = (),
    probability: MembershipProbability | None = None,
    partitions: Sequence[Partition] = (),
    own: OwnRates | None = None,
    risk: Masked | None = None,
    beside: Mapping[str, NDArray[Any]] | None = None,
) -> RecordTable:
    """List every record with what is known of it and its groups, the most exposed first."""
    columns: dict[str, NDArray[Any]] = {
        "record": ids,
        "label": labels,
        "models_in": exposure.k_in,
        "models_out": exposure.k_out,
        "margin_in": exposure.mean_in,
        "margin_out": exposure.mean_out,
        "margin_std_in": exposure.std_in,
        "margin_std_out": exposure.std_out,
        "exposure": exposure.exposure,
        "exposure_error": exposure.exposure_error,
        "distance": exposure.distance,
        "distance_p": exposure.distance_p,
        "distance_p_corrected": exposure.distance_p_corrected,
        "memorisation": exposure.memorisation,
        "memorisation_error": exposure.memorisation_error,
        "memorisation_soft": exposure.memorisation_soft,
        "memorisation_soft_error": exposure.memorisation_soft_error,
    }
    if probability is not None:
        columns |= {"probability": probability.probability}
        columns |= {"probability_low": probability.low, "probability_high": probability.high}
    if own is not None:
        columns |= {"found_at_own_rate": own.found, "found_low": own.low, "found_high": own.high}
    if risk is not None:
        columns |= {"risk_score": risk}
    groups = {one.by: (one.names, one.codes) for one in partitions if one.by != CLASS}
    return RecordTable(columns, groups, names, beside)


def spread(values: Sequence[float | None]) -> Spread:
    """Summarise one number a model, of those that have it."""
    known = [value for value in values if value is not None]
    return Spread(mean=float(np.mean(known)), std=float(np.std(known, ddof=1)) if len(known) > 1 else None)
