"""The rows of a comparison: audits that ran, with what the paired tests need of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Problem
from reticent.auditing.comparison.entry import Entry
from reticent.jobs.attack import Attacked
from reticent.jobs.audit import Audited, Evaluated
from reticent.jobs.early import Stop
from reticent.signals.correct import correct, knows


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
        stop: where the baseline was stopped, for a control.
        matched: names of the rows whose accuracy a control has.
    """

    name: str
    document: dict[str, Any]
    scores: Mapping[str, NDArray[np.float64]]
    members: NDArray[np.bool_]
    targets: NDArray[np.int64]
    correct: NDArray[np.bool_] | None
    audit: str
    seconds: float | None = None
    stop: Stop | None = None
    matched: list[str] = field(default_factory=list)

    @property
    def accuracy(self) -> float | None:
        """Mean share of non-members that are labelled correctly; None if it is not known."""
        if self.correct is None:
            return None
        others = ~self.members
        return float(np.mean((self.correct & others).sum(axis=1) / others.sum(axis=1)))

    def entry(self) -> Entry:
        """Return what the paired tests take.

        Returns:
            The row's scores, membership and correctness.
        """
        return Entry(
            self.name,
            self.scores,
            self.members,
            correct=self.correct,
            targets=self.targets,
            data=self.document["data"].get("digest"),
            role="recipe" if self.stop is None else "control",
            matches=tuple(self.matched),
        )

    def facts(self, baseline: "Contender") -> dict[str, Any]:
        """State what the tests do not know of the row.

        Args:
            baseline: the row that changes are told against.

        Returns:
            Keys of a row of ``compare.json``.
        """
        said = self.document.get("epsilon") or {}
        return {
            "role": "recipe" if self.stop is None else "control",
            "matches": list(self.matched),
            "epochs_kept": None if self.stop is None else self.stop.epochs,
            "changes": changes(baseline.document.get("recipe"), self.document.get("recipe")),
            "models": self.document["population"]["models"],
            "epsilon": said.get("lower"),
            "accountant": said.get("accountant"),
            "audit": self.audit,
        }

    def costs(self) -> dict[str, Any]:
        """State what depends on the machine, and therefore stands apart from the row.

        Returns:
            An entry of ``environment.rows`` of ``compare.json``.
        """
        return {"seconds_per_model": self.seconds}


def trained(name: str, evaluated: Evaluated, audited: Audited, stop: Stop | None = None) -> Contender:
    """Take a population that was trained or found.

    Args:
        name: of the row.
        evaluated: what was measured.
        audited: what was written.
        stop: for a control, where the baseline was stopped.

    Returns:
        The row.
    """
    seconds = float(np.mean([one.facts["seconds"] for one in evaluated.made]))
    return _contender(name, audited, evaluated.problem, seconds, stop)


def brought(name: str, attacked: Attacked) -> Contender:
    """Take outputs that were brought.

    Args:
        name: of the row.
        attacked: what was measured and written.

    Returns:
        The row.
    """
    return _contender(name, attacked, attacked.problem)


def _contender(
    name: str, done: Audited | Attacked, problem: Problem, seconds: float | None = None, stop: Stop | None = None
) -> Contender:
    return Contender(
        name,
        done.document,
        done.scores,
        problem.membership.matrix[problem.targets],
        problem.targets,
        correct(problem.signals, problem.targets) if knows(problem.signals) else None,
        done.files[0].parent.name,
        seconds,
        stop,
    )


def changes(baseline: Any, recipe: Any) -> list[dict[str, Any]]:
    """List the options in which a recipe differs from the baseline's.

    Args:
        baseline: plain values.
        recipe: plain values.

    Returns:
        One entry an option: its dotted key, and both values; None where a recipe has no such option.
    """
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
