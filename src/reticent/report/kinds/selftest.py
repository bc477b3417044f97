"""A self-test: every check, what kind of fault makes the wrong ones, and what came out."""

from reticent.findings.selftest import Selftested
from reticent.report import blocks as b
from reticent.say.selftest import FAULTS


def selftest(found: Selftested) -> tuple[b.Block, ...]:
    """Bring a self-test into blocks."""
    right, wrong = b.Cell("ok", tone="good"), b.Cell("WRONG", tone="bad")
    rows = (
        (check.name, check.expected, check.got, right if check.ok else wrong, f"{check.seconds:.2f}")
        for check in found.checks
    )
    faults = [
        b.Notice((b.Strong(", ".join(check.name for check in found.wrong if check.cause is cause)), f": {said}"))
        for cause, said in FAULTS.items()
        if any(check.cause is cause for check in found.wrong)
    ]
    word = "Passed" if found.ok else "Failed"
    return (
        b.table("Checks", (*b.words("check", "expected", "got", ""), "seconds"), rows),
        *faults,
        b.Banner("Self-test", f"{found.sentence} ({found.seconds:.1f} s)", "good" if found.ok else "bad", word),
    )
