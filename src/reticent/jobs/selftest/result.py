"""What a self-test found: one entry a check, and whether the installation may be trusted."""

from dataclasses import dataclass
from typing import Any

SCHEMA = "reticent.selftest/1"


@dataclass(frozen=True)
class Check:
    """One comparison of a number of this installation with what it must be.

    Attributes:
        name: its group and its own name: ``leak/lira``.
        expected: what is right, for people.
        got: what this installation gives, for people.
        ok: whether the two agree.
        seconds: what it took.
        fault: what kind of fault makes such a number; None if the check is passed.
    """

    name: str
    expected: str
    got: str
    ok: bool
    seconds: float
    fault: str | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}


@dataclass(frozen=True)
class Selftested:
    """A self-test that ran.

    Attributes:
        checks: in the order in which they ran.
    """

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether there are checks, and all are passed."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def wrong(self) -> tuple[Check, ...]:
        """The checks that are not passed."""
        return tuple(check for check in self.checks if not check.ok)

    @property
    def seconds(self) -> float:
        """What all checks took together."""
        return sum(check.seconds for check in self.checks)

    @property
    def sentence(self) -> str:
        """What came out, in one sentence."""
        count = len(self.checks)
        if self.ok:
            return f"This installation gives the right numbers in all {count} checks."
        return (
            f"This installation gives wrong numbers in {len(self.wrong)} of {count} checks: "
            "do not trust an audit by it until they are right."
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "sentence": self.sentence,
            "seconds": round(self.seconds, 3),
            "checks": [check.to_json() for check in self.checks],
        }
