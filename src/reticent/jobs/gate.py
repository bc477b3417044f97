"""The gate as a job: an audit's file and limits in, the outcome and a JUnit file out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.auditing.gate.judge import Gate, judge
from reticent.auditing.gate.limits import gather
from reticent.jobs.reading import read_document
from reticent.report.junit import write_junit


def gate(
    audit: Mapping[str, Any] | str | Path,
    *,
    max_auc: float | None = None,
    max_tpr: Mapping[float, float] | Sequence[str] | str | None = None,
    max_epsilon: float | str | None = None,
    delta: float | None = None,
    min_accuracy: float | None = None,
    max_group_auc: float | None = None,
    max_group_tpr: float | None = None,
    allow: Sequence[str] = (),
    thresholds: str | Path | None = None,
    junit: str | Path | None = None,
) -> Gate:
    """Hold an audit against limits: passed, failed, or cannot judge; the upper confidence limits are judged.

    Args:
        audit: the document of an audit, the path of its ``audit.json``, or of the folder that holds it.
        max_auc: highest AUC that passes.
        max_tpr: highest TPR that passes by false-positive rate, ``{0.01: 0.02}`` or ``"0.02@0.01"``.
        max_epsilon: highest epsilon that passes; ``"3@1e-5"`` gives its delta too.
        delta: of `max_epsilon`; by default that of the audit.
        min_accuracy: lowest mean accuracy on non-members that passes.
        max_group_auc: highest AUC of any group of records that passes.
        max_group_tpr: highest TPR of any group of records that passes, at the false-positive rate of the groups.
        allow: doubts that don't keep a check from passing, such as "not-measurable".
        thresholds: TOML file with a ``[gate]`` table of these; what is given here wins.
        junit: write JUnit XML here.

    Returns:
        The outcome (`passed`, `outcome`, `sentence`, `exit_code`) and its `checks`.

    Raises:
        MissingFileError: there is no such file.
        CorruptFileError: the file is not JSON.

    Example:
        >>> import reticent
        >>> result = reticent.gate("reticent-audit", max_auc=0.6, max_tpr={0.01: 0.02})  # doctest: +SKIP
        >>> result.passed, result.sentence  # doctest: +SKIP
    """
    limits = gather(
        None if thresholds is None else Path(thresholds),
        {
            "max_auc": max_auc,
            "max_tpr": max_tpr,
            "max_epsilon": max_epsilon,
            "delta": delta,
            "min_accuracy": min_accuracy,
            "max_group_auc": max_group_auc,
            "max_group_tpr": max_group_tpr,
            "allow": list(allow),
        },
    )
    document = audit if isinstance(audit, Mapping) else read_document(Path(audit))
    result = judge(document, limits)
    if junit is not None:
        write_junit(Path(junit), result)
    return result
