"""The rows of a comparison: audits that ran, with what the paired tests need of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Problem
from reticent.auditing.comparison.entry import Entry
from reticent.findings.audit import Leak
from reticent.findings.population import Population as PopulationFacts
from reticent.jobs.attack import Attacked
from reticent.jobs.audit import Audited, Evaluated
from reticent.jobs.comparison.early import Stop
from reticent.jobs.document import notices
from reticent.say.population import unhealthy
from reticent.signals.correct import correct, knows
from reticent.spec import identity


@dataclass(frozen=True, eq=False)
class Contender:
    """One row.

    Attributes:
        name: unique among all.
        document: of its audit.
        scores: by attack, ``(T, N)``.
        members: booleans ``(T, N)``.
        targets: ``(T,)``.
        correct: booleans ``(T, N)``, whether each target labels each record correctly; None if it is not known.
        audit: the folder of its report.
        seconds: of training one model, or None.
        memory: the most that training one model held beyond what its process held before, in bytes, or None.
        stop: where the baseline was stopped, for a control.
        matched: names of the rows whose accuracy a control has, or of the row that a non-adaptive one belongs to.
        aware: the attacker knows the defense.
        notices: which models did not learn, and what training had to say, such as that the defense never acted.
    """

    name: str
    document: dict[str, Any]
    scores: Mapping[str, NDArray[np.float64]]
    members: NDArray[np.bool_]
    targets: NDArray[np.int64]
    correct: NDArray[np.bool_] | None
    audit: str
    seconds: float | None = None
    memory: float | None = None
    stop: Stop | None = None
    matched: list[str] = field(default_factory=list)
    aware: bool = True
    notices: list[str] = field(default_factory=list)

    @property
    def role(self) -> Literal["recipe", "control", "non-adaptive"]:
        """What the row is there for."""
        if not self.aware:
            return "non-adaptive"
        return "recipe" if self.stop is None else "control"

    @property
    def accuracy(self) -> float | None:
        """Mean share of non-members that are labelled correctly; None if it is not known."""
        if self.correct is None:
            return None
        others = ~self.members
        return float(np.mean((self.correct & others).sum(axis=1) / others.sum(axis=1)))

    def area(self, attack: str) -> float | None:
        """Look up the AUC of an attack."""
        found = (one for one in self.document["attacks"] if one["name"] == attack)
        return next((float(one["overall"]["auc"]["mean"]) for one in found), None)

    def as_right_as(self, other: "Contender") -> bool:
        """Tell whether two rows label every record alike right or wrong, as where only answers are changed."""
        known = self.correct is not None and other.correct is not None
        return known and bool(np.array_equal(self.correct, other.correct))  # type: ignore[arg-type]

    def entry(self) -> Entry:
        """Return what the paired tests take."""
        population = self.document["population"]
        return Entry(
            self.name,
            self.scores,
            self.members,
            correct=self.correct,
            targets=self.targets,
            data=self.document["data"].get("digest"),
            role=self.role,
            matches=tuple(self.matched),
            models=self._models(),
            unlearned=(len(population.get("health") or ()), population["models"]),
        )

    def _models(self) -> str | None:
        """Name the models by their runs; None where no run made them."""
        runs = [one.get("run") for one in self.document["population"].get("per_model", ())]
        return identity(runs) if runs and all(runs) else None

    def facts(self, baseline: "Contender") -> dict[str, Any]:
        """State what the tests do not know of the row."""
        said = (self.document.get("epsilon") or {}) if self.aware else {}
        return {
            "role": self.role,
            "matches": list(self.matched),
            "epochs_kept": None if self.stop is None else self.stop.epochs,
            "changes": changes(baseline.document.get("recipe"), self.document.get("recipe")),
            "models": self.document["population"]["models"],
            "epsilon": said.get("lower"),
            "accountant": said.get("accountant"),
            "notices": list(self.notices),
            "audit": self.audit,
        }

    def costs(self) -> dict[str, Any]:
        """State what depends on the machine, and therefore stands apart from the row."""
        return {"seconds_per_model": self.seconds, "peak_memory_bytes_per_model": self.memory}


def trained(name: str, evaluated: Evaluated, audited: Audited, stop: Stop | None = None) -> Contender:
    """Take a population that was trained or found."""
    facts = [one.facts for one in evaluated.made]
    row = _contender(name, audited, evaluated.problem)
    row.notices.extend(notices(evaluated.made))
    return replace(row, seconds=_mean(facts, "seconds"), memory=_mean(facts, "peak_memory_bytes"), stop=stop)


def unaware(row: Contender, evaluated: Evaluated) -> Contender | None:
    """Make the row of the attacker who does not know of the defense."""
    if evaluated.unaware is None:
        return None
    return replace(
        row,
        name=f"{row.name}, non-adaptive",
        scores=evaluated.unaware.scores,
        matched=[row.name],
        aware=False,
        notices=[],
    )


def _mean(facts: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Average a fact of the models; None if it is not known of all."""
    values = [one.get(key) for one in facts]
    return None if None in values else float(np.mean([value for value in values if value is not None]))


def brought(name: str, attacked: Attacked) -> Contender:
    """Take outputs that were brought."""
    row = _contender(name, attacked, attacked.problem)
    row.notices.extend(attacked.document["population"].get("notices", ()))
    return row


def _contender(name: str, done: Audited | Attacked, problem: Problem) -> Contender:
    return Contender(
        name,
        done.document,
        done.scores,
        problem.membership.matrix[problem.targets],
        problem.targets,
        correct(problem.signals, problem.targets) if knows(problem.signals) else None,
        done.files[0].parent.name,
        notices=unhealthy(
            PopulationFacts.model_validate(done.document["population"]), Leak(done.document["verdict"]["leak"])
        ),
    )


def changes(baseline: Any, recipe: Any) -> list[dict[str, Any]]:
    """List the options in which a recipe differs from the baseline's."""
    one, other = _flat(baseline), _flat(recipe)
    return [
        {"key": key, "baseline": one.get(key), "value": other.get(key)}
        for key in dict.fromkeys([*one, *other])
        if one.get(key) != other.get(key)
    ]


def _flat(value: Any, path: Sequence[str] = ()) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {key: leaf for name, item in value.items() for key, leaf in _flat(item, (*path, str(name))).items()}
    return {".".join(path): value} if path else {}
