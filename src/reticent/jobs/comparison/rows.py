"""The rows of a comparison once they are audited, with what the paired tests need of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Problem
from reticent.auditing.comparison.compare import RowScores
from reticent.findings.audit import AuditDocument
from reticent.findings.base import Plain
from reticent.findings.comparison import Change, Role, Row, RowCosts, RowNumbers
from reticent.findings.runs import leaves
from reticent.jobs.attack import Attacked
from reticent.jobs.audit import Audited, Evaluated
from reticent.jobs.comparison.early import Stop
from reticent.say.population import unhealthy
from reticent.signals.correctness import correct, knows
from reticent.spec import identity


@dataclass(frozen=True, eq=False)
class AuditedRow:
    """One row.

    Attributes:
        scores: by attack, ``(T, N)``; `members` and `correct`, whether a target labels a record correctly, too.
        audit: name of the folder of its report.
        stop: where the baseline was stopped, for a control.
        matches: names of the rows whose accuracy a control has, or of the row that a non-adaptive one belongs to.
    """

    name: str
    findings: AuditDocument
    scores: Mapping[str, NDArray[np.float64]]
    members: NDArray[np.bool_]
    correct: NDArray[np.bool_] | None
    audit: str
    role: Role = Role.RECIPE
    stop: Stop | None = None
    costs: RowCosts = field(default_factory=RowCosts)
    matches: list[str] = field(default_factory=list)

    @property
    def accuracy(self) -> float | None:
        """Mean share of non-members that are labelled correctly; None if it is not known."""
        if self.correct is None:
            return None
        others = ~self.members
        return float(np.mean((self.correct & others).sum(axis=1) / others.sum(axis=1)))

    def same_labels(self, other: "AuditedRow") -> bool:
        """Tell whether two rows label every record alike right or wrong, as where only answers are changed."""
        known = self.correct is not None and other.correct is not None
        return known and bool(np.array_equal(self.correct, other.correct))  # type: ignore[arg-type]

    def for_tests(self) -> RowScores:
        """Return what the paired tests take."""
        population = self.findings.population
        runs = [one.run for one in population.per_model]
        return RowScores(
            self.name,
            self.scores,
            self.members,
            correct=self.correct,
            role=self.role,
            matches=tuple(self.matches),
            runs=identity(runs) if runs and all(runs) else None,
            models=population.audited_models,
            unlearned=population.audited_unlearned,
            unequal=population.unequal,
        )

    def found(self, numbers: RowNumbers, baseline: "AuditedRow") -> Row:
        """Add to what the tests found what they do not know of the row."""
        findings, aware = self.findings, self.role is not Role.NON_ADAPTIVE
        epsilon = findings.epsilon if aware else None
        leak, population = findings.verdict.leak, findings.population
        heavy = () if findings.outweighing is None else (findings.outweighing.sentence,)
        return Row(
            **dict(numbers),
            epochs_kept=None if self.stop is None else self.stop.epochs,
            changes=changes(baseline.findings.recipe, findings.recipe),
            epsilon=None if epsilon is None else epsilon.lower,
            accountant=None if epsilon is None else epsilon.accountant,
            notices=(*unhealthy(population, leak), *heavy, *population.notices) if aware else (),
            audit=self.audit,
        )


def trained(evaluated: Evaluated, audited: Audited, name: str, stop: Stop | None = None) -> list[AuditedRow]:
    """Take a population that was trained or found; and, behind it, that of the attacker who does not know of it."""
    facts = [one.facts for one in evaluated.made]
    peaks = [one.peak_memory_bytes for one in facts if one.peak_memory_bytes is not None]
    row = replace(
        brought(audited, evaluated.problem, name),
        role=Role.RECIPE if stop is None else Role.CONTROL,
        stop=stop,
        costs=RowCosts(
            seconds_per_model=float(np.mean([one.seconds for one in facts])),
            peak_memory_bytes_per_model=float(np.mean(peaks)) if len(peaks) == len(facts) else None,
        ),
    )
    if evaluated.unaware is None:
        return [row]
    unaware = replace(
        row,
        name=f"{name}, non-adaptive",
        scores=evaluated.unaware[1],
        role=Role.NON_ADAPTIVE,
        matches=[name],
    )
    return [row, unaware]


def brought(done: Audited | Attacked, problem: Problem, name: str) -> AuditedRow:
    """Take an audit."""
    return AuditedRow(
        name,
        done.findings,
        done.scores,
        problem.membership.matrix[problem.targets],
        correct(problem.signals, problem.targets) if knows(problem.signals) else None,
        done.files[0].parent.name,
    )


def changes(baseline: Plain | None, recipe: Plain | None) -> tuple[Change, ...]:
    """List the options in which a recipe differs from the baseline's."""
    one, other = dict(leaves(baseline or {})), dict(leaves(recipe or {}))
    return tuple(
        Change(key=key, baseline=one.get(key), value=other.get(key))
        for key in dict.fromkeys([*one, *other])
        if one.get(key) != other.get(key)
    )
