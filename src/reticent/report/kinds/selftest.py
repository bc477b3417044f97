"""A self-test: every check, what kind of fault makes the wrong ones, and what came out."""

from reticent.findings.selftest import Selftested
from reticent.report import blocks as b
from reticent.say.selftest import FAULTS


def selftest(found: Selftested) -> tuple[b.Block, ...]:
    """Bring a self-test into blocks."""
    rows = tuple(
        b.Row((
            *map(b.Cell, (check.name, check.expected, check.got)),
            b.Cell("ok", tone="good") if check.ok else b.Cell("WRONG", tone="bad"),
            b.Cell(f"{check.seconds:.2f}"),
        ))
        for check in found.checks
    )
    columns = (*(b.Column(title, numbers=False) for title in ("check", "expected", "got", "")), b.Column("seconds"))
    faults = [
        b.Notice((b.Strong(", ".join(check.name for check in found.wrong if check.cause is cause)), f": {said}"))
        for cause, said in FAULTS.items()
        if any(check.cause is cause for check in found.wrong)
    ]
    word = "Passed" if found.ok else "Failed"
    return (
        b.Table("Checks", columns, rows),
        *faults,
        b.Banner("Self-test", f"{found.sentence} ({found.seconds:.1f} s)", "good" if found.ok else "bad", word),
    )
