"""``reticent gate``: hold an audit against limits; exit 0 passed, 1 failed, 2 cannot judge."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.table import Table

    from reticent.findings.gate import Gate

STYLES = {"passed": "green", "failed": "bold red", "cannot judge": "bold yellow", "skipped": "yellow"}


def gate(
    audit: Path,
    /,
    *,
    max_auc: float | None = None,
    max_tpr: Annotated[list[str] | None, Parameter(negative="")] = None,
    max_epsilon: str | None = None,
    min_accuracy: float | None = None,
    max_group_auc: float | None = None,
    max_group_tpr: float | None = None,
    thresholds: Path | None = None,
    junit: Path | None = None,
    allow: Annotated[list[str] | None, Parameter(negative="")] = None,
    allow_cannot_judge: Annotated[bool, Parameter(negative="")] = False,
) -> Sequence[Path]:
    """Hold an audit against limits. The upper confidence limit is judged, of every attack in the audit.

    Exit code: 0 if all checks pass, 1 if any fails, 2 if any cannot be judged (or the input is wrong).

    Args:
        audit: The audit.json of an audit, or the folder that holds it.
        max_auc: Highest AUC that passes, such as 0.6.
        max_tpr: Highest TPR that passes at a false-positive rate, such as 0.02@0.01; repeat it for several rates.
        max_epsilon: Highest epsilon that passes, such as 3, or 3@1e-5 with its delta.
        min_accuracy: Lowest mean accuracy on non-members that passes: a broken model gives nothing away.
        max_group_auc: Highest AUC that passes, of each group of records.
        max_group_tpr: Highest TPR that passes, of each group of records.
        thresholds: TOML file with a [gate] table of these limits; flags win.
        junit: Write the checks here as JUnit XML; its folder is made if it is not there.
        allow: A doubt that shall not keep a check from passing: not-measurable, ties, weak-attacks, few-models,
            no-accountant or did-not-learn; repeat it for several.
        allow_cannot_judge: Allow all of these but did-not-learn.

    Returns:
        The JUnit file, if one was written.

    Raises:
        SystemExit: with the exit code, where it is not 0.
    """
    from reticent.cli.screen import stdout, visible
    from reticent.findings.gate import ALLOWED_TOGETHER
    from reticent.jobs.gate import check_junit
    from reticent.jobs.gate import gate as run
    from reticent.report.junit import write_junit

    if junit is not None:
        check_junit(junit, audit, thresholds)
    result = run(
        audit,
        max_auc=max_auc,
        max_tpr=max_tpr,
        max_epsilon=max_epsilon,
        min_accuracy=min_accuracy,
        max_group_auc=max_group_auc,
        max_group_tpr=max_group_tpr,
        thresholds=thresholds,
        allow=[*(allow or ()), *(ALLOWED_TOGETHER if allow_cannot_judge else ())],
    )
    console = stdout()
    console.print(_table(result))
    for check in result.checks:
        if check.outcome != "passed":
            console.print("\n" + visible(f"{check.name}: {check.message}."), markup=False, soft_wrap=True)
    console.print("\n" + visible(result.sentence), markup=False, style=STYLES[result.outcome], soft_wrap=True)
    if junit is not None:  # Last, so that the outcome is told where it cannot be written.
        write_junit(junit, result)
    if result.exit_code:
        raise SystemExit(result.exit_code)
    return [junit] if junit is not None else []


def _table(result: "Gate") -> "Table":
    from rich.table import Table
    from rich.text import Text

    from reticent.cli.screen import visible
    from reticent.rounding import MISSING, down, up
    from reticent.say.gate import DIGITS

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("check", overflow="fold")
    for title in ("estimate", "shown to be"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("attack", overflow="fold")
    table.add_column("result", no_wrap=True)
    for check in result.checks:
        outward = down if check.side == "at least" else up
        estimate = MISSING if check.estimate is None else f"{check.estimate:.{DIGITS}f}"
        bound = MISSING if check.bound is None else f"{check.side} {outward(check.bound, check.limit)}"
        name, attack = Text(visible(check.name)), Text(visible(check.attack or MISSING))
        table.add_row(name, estimate, bound, attack, Text(check.outcome, style=STYLES[check.outcome]))
    return table
