"""``reticent gate``: hold an audit against limits; exit 0 passed, 1 failed, 2 cannot judge."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from reticent.cli.flags import Switch, Told, flags
from reticent.cli.run import refuse
from reticent.cli.screen import say, show
from reticent.errors import StoreError
from reticent.gating.limits import Limits
from reticent.report import blocks as b

if TYPE_CHECKING:
    from reticent.findings.gate import Gate

STYLES = {"passed": "green", "failed": "bold red", "cannot judge": "bold yellow", "skipped": "yellow"}
TONES: dict[str, Literal["good", "bad", "strong"]] = {
    "passed": "good", "failed": "bad", "cannot judge": "strong", "skipped": "strong"
}  # fmt: skip


@flags(*(key for key in Limits.model_fields if key != "delta"), of=Limits.model_fields)
class Asked(Told):
    """The limits."""


def gate(
    audit: Path,
    /,
    *,
    limits: Asked = Asked(),  # noqa: B008
    thresholds: Path | None = None,
    junit: Path | None = None,
    allow_cannot_judge: Switch = False,
) -> Sequence[Path]:
    """Hold an audit against limits. The upper confidence limit is judged, of every attack in the audit.

    Exit code: 0 if all checks pass, 1 if any fails; else 2: one cannot be judged, or the input is wrong.

    Args:
        audit: The audit.json of an audit, or the folder that holds it; or those of a repair (harden), whose repaired
            model is judged.
        limits: the limits.
        thresholds: TOML file with a [gate] table of these limits; flags win.
        junit: Write the checks here as JUnit XML; its folder is made if it is not there.
        allow_cannot_judge: Allow all of these doubts but records-differ, low-confidence, did-not-learn and copies.

    Raises:
        SystemExit: with the exit code, where it is not 0.
    """
    from reticent.findings.gate import ALLOWED_TOGETHER
    from reticent.jobs.gate import check_junit
    from reticent.jobs.gate import gate as run
    from reticent.report.junit import write_junit

    if junit is not None:
        check_junit(junit, audit, thresholds)
    given = limits.values()
    given["allow"] = [*given.get("allow", ()), *(ALLOWED_TOGETHER if allow_cannot_judge else ())]
    result = run(audit, thresholds=thresholds, **given)
    show(_table(result))
    for check in result.checks:
        if check.outcome != "passed" or check.unresolved:
            say("", f"{check.name}: {check.message}.")
    say("")
    say(result.sentence, style=STYLES[result.outcome])
    if junit is not None:  # Last, so that the outcome is told where it cannot be written.
        try:
            write_junit(junit, result)
        except StoreError as error:
            if not result.exit_code:
                raise
            refuse(str(error))
    if result.exit_code:
        raise SystemExit(result.exit_code)
    return [junit] if junit is not None else []


def _table(result: "Gate") -> b.Table:
    from reticent.rounding import MISSING, down, up
    from reticent.say.gate import DIGITS
    from reticent.say.gate import result as result_of

    rows = []
    for check in result.checks:
        outward = down if check.side == "at least" else up
        estimate = MISSING if check.estimate is None else f"{check.estimate:.{DIGITS}f}"
        bound = MISSING if check.bound is None else f"{check.side} {outward(check.bound, check.limit)}"
        outcome = b.Cell(result_of(check), tone="strong" if check.none_resolved else TONES[check.outcome])
        rows.append((check.name, estimate, bound, check.attack or MISSING, outcome))
    numbers = (b.Column(title, whole=True) for title in ("estimate", "shown to be"))
    return b.table(
        "Checks", ("check", *numbers, *b.words("attack"), b.Column("result", numbers=False, whole=True)), rows
    )
