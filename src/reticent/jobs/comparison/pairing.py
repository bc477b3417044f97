"""A row of a comparison before it is measured, what rows must share, and what is said where they do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reticent.attacks import ATTACKS
from reticent.attacks.base import Problem
from reticent.errors import InputError
from reticent.jobs.attack import Outputs
from reticent.jobs.config import Job
from reticent.jobs.defenses import has_defense
from reticent.options import AttackConfig
from reticent.signals.queries import Queries
from reticent.spec import Spec

ADVICE = {
    "records": ("their records", "give both the same --dataset"),
    "roles": ("the roles of the records", ""),
    "labels": ("their labels", "give outputs of the same records, in the same order"),
    "membership": ("who trained on what", "give both the same --models and --seed"),
    "targets": ("which models are audited", "give outputs with the same targets"),
    "references": ("which models the attacks may learn from", "give outputs with the same references"),
    "seed": ("their seeds", "give both the same --seed"),
    "queries": ("the views of a record", "give both the same [queries]"),
    "attacks": ("their attacks", "give both the same attacks and options, for example with --attack"),
    "answers": (
        "what their models answer",
        "give logits of both, or attacks that look at margins alone, such as --attack lira",
    ),
    "confidence": ("the confidence of their intervals", "give both the same confidence"),
}
"""What may differ, how a message calls it, and what to do then; in the order in which it is looked at."""
SAME_MEMBERS = (
    "give outputs of models with the same membership: in either, model m was trained on the records that row m says"
)
"""What to do where outputs that were brought differ in who trained on what."""


@dataclass(frozen=True)
class Shared:
    """What a row's numbers rest on, but how its models were made; None where outputs do not tell."""

    labels: list[int]
    membership: str
    targets: list[int]
    references: list[int]
    attacks: tuple[Spec, ...]
    confidence: float
    answers: str | None
    records: str | None = None
    roles: Mapping[str, Sequence[int]] | None = None
    seed: int | None = None
    queries: Queries | None = None

    @classmethod
    def of_outputs(cls, problem: Problem, attacks: Sequence[Spec], confidence: float) -> "Shared":
        """Take it of outputs that were brought."""
        return cls(
            labels=problem.signals.labels.tolist(),
            membership=problem.membership.digest,
            targets=problem.targets.tolist(),
            references=problem.references.tolist(),
            attacks=tuple(attacks),
            confidence=confidence,
            answers=_answers(attacks, logits=problem.signals.logits is not None),
        )

    @classmethod
    def of_job(cls, job: Job) -> "Shared":
        """Take it of models that are trained."""
        population = job.population
        return cls(
            labels=population.records.y[population.roles.audited].tolist(),
            membership=population.membership.digest,
            targets=list(range(population.models)),
            references=list(range(population.models)),
            attacks=job.attacks,
            confidence=job.config.confidence,
            answers=_answers(job.attacks, logits=True),
            records=population.records.digest,
            roles=population.roles.to_json(),
            seed=population.seed,
            queries=population.queries,
        )


def _answers(attacks: Sequence[Spec], *, logits: bool) -> str | None:
    """Name what attacks look at that take logits where there are any, and margins else; None if none is such a one."""
    either = any(ATTACKS[spec.method].needs(spec).logits for spec in attacks)
    return None if not either else "logits" if logits else "margins"


@dataclass(frozen=True, eq=False)
class RowSpec:
    """One row of a comparison before it is measured: a job, or outputs that were brought."""

    name: str
    config: AttackConfig
    shared: Shared
    job: Job | None = None
    outputs: Outputs | None = None

    @classmethod
    def of_job(cls, name: str, job: Job) -> "RowSpec":
        """Take a job."""
        return cls(name, job.config, Shared.of_job(job), job)

    @property
    def defended(self) -> bool:
        """Whether its recipe is known to have a defense."""
        return self.job is not None and has_defense(self.job.population.recipe)


def check_pairs(rows: Sequence[RowSpec]) -> None:
    """Refuse two rows that differ in anything but how their models were made."""
    first, *rest = rows
    for other in rest:
        for key, (what, advice) in ADVICE.items():
            one, two = getattr(first.shared, key), getattr(other.shared, key)
            if one is not None and two is not None and one != two:
                brought = key == "membership" and (first.job is None or other.job is None)
                told = SAME_MEMBERS if brought else advice or _of_roles(one, two)
                raise InputError(
                    f"{first.name} and {other.name} cannot be compared, they differ in {what}: a comparison is paired; "
                    f"{told}"
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
