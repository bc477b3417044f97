"""A self-test: each group of checks, the wrong ones in full with what kind of fault makes them, and what came out."""

from reticent.findings.selftest import Selftested
from reticent.report import blocks as b
from reticent.rounding import count
from reticent.say.selftest import FAULTS


def selftest(found: Selftested) -> tuple[b.Block, ...]:
    """Bring a self-test into blocks."""
    groups: dict[str, list[bool]] = {}
    for check in found.checks:
        groups.setdefault(check.name.partition("/")[0], []).append(check.ok)
    rows = (
        (group, f"{count(sum(passed))} of {count(len(passed))}", _outcome(all(passed)))
        for group, passed in groups.items()
    )
    wrong = [(check.name, check.expected, check.got) for check in found.wrong]
    faults = [
        b.Notice((b.Strong(", ".join(check.name for check in found.wrong if check.cause is cause)), f": {said}"))
        for cause, said in FAULTS.items()
        if any(check.cause is cause for check in found.wrong)
    ]
    word = "Passed" if found.ok else "Failed"
    return (
        b.table("Groups of checks", (*b.words("checks"), "right", *b.words("")), rows),
        *([b.table("Wrong checks", b.words("check", "expected", "got"), wrong)] if wrong else []),
        *faults,
        b.Banner("Self-test", f"{found.sentence} ({found.seconds:.1f} s)", "good" if found.ok else "bad", word),
    )


def _outcome(ok: bool) -> b.Cell:
    return b.Cell("ok", tone="good") if ok else b.Cell("WRONG", tone="bad")
