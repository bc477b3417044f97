"""All limits of a gate together: passed, failed, or cannot judge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reticent.auditing.gate import bounds, groups, leak
from reticent.auditing.gate.check import Check, Outcome
from reticent.auditing.gate.limits import Limits
from reticent.auditing.gate.shape import check_shape, told
from reticent.errors import InputError

SCHEMA = "reticent.audit/1"
EXIT_CODES: dict[Outcome, int] = {"passed": 0, "failed": 1, "cannot judge": 2}


@dataclass(frozen=True)
class Gate:
    """What a gate says of an audit.

    Attributes:
        outcome: "passed"; "failed" if any check did; or else "cannot judge" if that is so of any.
        checks: one a limit.
        sentence: the outcome, for people.
        data: name of the audited data.
    """

    outcome: Outcome
    checks: tuple[Check, ...]
    sentence: str
    data: str

    @property
    def passed(self) -> bool:
        """Whether every check passed, or was skipped as allowed."""
        return self.outcome == "passed"

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 2 cannot judge."""
        return EXIT_CODES[self.outcome]


def judge(document: Mapping[str, Any], limits: Limits) -> Gate:
    """Hold limits against an audit. A pass is a claim of its own: the upper confidence limits are judged."""
    _require(document)
    checks = [*leak.checks(document, limits), *groups.checks(document, limits)]
    if limits.max_epsilon is not None:
        checks.append(bounds.epsilon(document, limits, leak.doubts(document)))
    if limits.min_accuracy is not None:
        checks.append(bounds.accuracy(document, limits.min_accuracy, limits.allow))
    found = {check.outcome for check in checks}
    order: tuple[Outcome, ...] = ("failed", "cannot judge", "passed")
    outcome = next((kind for kind in order if kind in found), order[-1])
    data = document.get("data")
    name = (data.get("name") if isinstance(data, Mapping) else None) or "unknown"
    return Gate(outcome, tuple(checks), _sentence(outcome, checks), name)


def _require(document: Mapping[str, Any]) -> None:
    schema = document.get("schema")
    if schema != SCHEMA:
        hint = ""
        if isinstance(schema, str) and schema.startswith("reticent."):
            hint = "; a comparison is gated row by row, by the audits of its rows" if "comparison" in schema else ""
            hint = hint or "; use the version of reticent that wrote it"
        got = "None" if schema is None else told(schema)
        raise InputError(f"schema: expected {SCHEMA!r}, got {got}{hint}")
    if not isinstance(document.get("attacks"), list) or not document["attacks"]:
        got = told(document.get("attacks"))
        raise InputError(f"attacks: expected a list of at least one attack, as `reticent audit` writes it, got {got}")
    check_shape(document)


def _sentence(outcome: Outcome, checks: list[Check]) -> str:
    total = f"{len(checks)} check{'s' * (len(checks) > 1)}"
    counts = {kind: [check.name for check in checks if check.outcome == kind] for kind in _WORDS}
    parts = [f"{_some(names)} {_WORDS[kind]}" for kind, names in counts.items() if names]
    head = {"passed": "Passed", "failed": "Failed", "cannot judge": "Cannot judge"}[outcome]
    return f"{head}: of {total}, {'; '.join(parts)}."


_WORDS = {
    "failed": "failed",
    "cannot judge": "cannot be judged",
    "skipped": "cannot be judged, which was allowed",
    "passed": "passed",
}


def _some(names: list[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if len(names) <= 2 else str(len(names))
