"""The gate as a job: an audit's file and limits in, the outcome and a JUnit file out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from reticent import user_files
from reticent.auditing.verdict import verdict
from reticent.errors import InputError, UnknownNameError
from reticent.findings.audit import SCHEMA, AuditDocument
from reticent.findings.base import Plain
from reticent.findings.gate import Gate
from reticent.findings.harden import SCHEMA as REPAIRED
from reticent.findings.harden import HardenDocument
from reticent.findings.numbers import Spread
from reticent.findings.population import Accuracy, Population
from reticent.gating.judge import judge
from reticent.gating.limits import Limits, gather
from reticent.jobs.read_audit import read_document
from reticent.report.junit import MARK, write_junit
from reticent.report.output import AUDIT, HARDEN, check_file
from reticent.spec import written


class Result(Protocol):
    """What `reticent.audit` and `reticent.attack` return."""

    @property
    def document(self) -> Plain:
        """What ``audit.json`` holds."""


def gate(
    audit: Plain | str | Path | Result,
    *,
    max_auc: float | None = None,
    max_tpr: Mapping[float, float] | Sequence[str] | str | None = None,
    max_epsilon: float | str | None = None,
    delta: float | None = None,
    min_accuracy: float | None = None,
    max_group_auc: float | None = None,
    max_group_tpr: float | None = None,
    allow: Sequence[str] | str = (),
    thresholds: str | Path | None = None,
    junit: str | Path | None = None,
    **unknown: Any,
) -> Gate:
    """Hold an audit against limits: passed, failed, or cannot judge; the upper confidence limits are judged.

    Args:
        audit: what `reticent.audit` or `reticent.attack` returned, its document, the path of its ``audit.json``, or of
            the folder that holds it; of a repair (``harden.json``), the repaired model is judged.
        max_auc: highest AUC that passes.
        max_tpr: highest TPR that passes by false-positive rate, ``{0.01: 0.02}`` or ``"0.02@0.01"``.
        max_epsilon: highest epsilon that passes; ``"3@1e-5"`` gives its delta too.
        delta: of `max_epsilon`; by default that of the audit.
        min_accuracy: lowest mean accuracy on non-members that passes.
        max_group_auc: highest AUC of any group of records that passes.
        max_group_tpr: highest TPR of any group of records that passes, at the false-positive rate of the groups.
        allow: doubts that don't keep a check from passing, such as "not-measurable", or one of them.
        thresholds: TOML file with a ``[gate]`` table of these; what is given here wins.
        junit: write JUnit XML here; its folder is made if it is not there.
        **unknown: refused, with the nearest name that there is.

    Returns:
        The outcome (`passed`, `outcome`, `sentence`, `exit_code`) and its `checks`.

    Raises:
        UnknownNameError: an argument that there is not.
        InputError: the document is no audit, parts of it are not what an audit writes, or `junit` is one of its files.
        MissingFileError: there is no such file.
        CorruptFileError: the file is not JSON.

    Example:
        >>> import reticent
        >>> result = reticent.gate("reticent-audit", max_auc=0.6, max_tpr={0.01: 0.02})  # doctest: +SKIP
        >>> result.passed, result.sentence  # doctest: +SKIP
    """
    for name in unknown:
        raise UnknownNameError("argument", name, {*Limits.model_fields, "thresholds", "junit"})
    limits = gather(
        _path("thresholds", thresholds),
        {
            "max_auc": max_auc,
            "max_tpr": max_tpr,
            "max_epsilon": max_epsilon,
            "delta": delta,
            "min_accuracy": min_accuracy,
            "max_group_auc": max_group_auc,
            "max_group_tpr": max_group_tpr,
            "allow": [allow] if isinstance(allow, str) else allow,
        },
    )
    file = _path("junit", junit)
    if file is not None:
        check_junit(file, audit, thresholds)
    result = judge(_read(audit), limits)
    if file is not None:
        write_junit(file, result)
    return result


def check_junit(file: Path, audit: Any, thresholds: str | Path | None = None) -> None:
    """Check, before anything is judged, that JUnit XML replaces neither the audit nor the limits."""
    read = [
        one for form in (AUDIT, HARDEN) if isinstance(audit, (str, Path)) for one in form.files(user_files.path(audit))
    ]
    check_file("junit", file, [*read, thresholds], MARK)


def _path(name: str, value: Any) -> Path | None:
    if value is not None and not isinstance(value, (str, Path)):
        raise InputError(f"{name}: expected a path, got {type(value).__name__}")
    return None if value is None else user_files.path(value)


def _read(audit: Any) -> AuditDocument:
    """Read a document, whole or not at all: what is wrong in it would be read as if it were not there."""
    plain = (
        read_document(user_files.path(audit)) if isinstance(audit, (str, Path)) else getattr(audit, "document", audit)
    )
    if not isinstance(plain, Mapping):
        raise InputError(
            "audit: expected what reticent.audit returned, its document, or the path of its audit.json or folder, got "
            f"{type(audit).__name__}"
        )
    schema = plain.get("schema")
    if schema == REPAIRED:
        return _repaired(HardenDocument.read(plain))
    if schema != SCHEMA:
        hint = ""
        if isinstance(schema, str) and schema.startswith("reticent."):
            row_by_row = "; a comparison is gated row by row, by the audits of its rows"
            hint = row_by_row if "comparison" in schema else "; use the version of reticent that wrote it"
        raise InputError(f"schema: expected {SCHEMA!r}, got {'none' if schema is None else written(schema)}{hint}")
    return AuditDocument.read(plain)


def _repaired(found: HardenDocument) -> AuditDocument:
    """Take the audit of the repaired model out of a repair's document."""
    side = found.after
    if found.doubt is not None or side.references.health:
        why = found.doubt.value if found.doubt is not None else "references that did not learn"
        raise InputError(
            f"harden.json: expected a repair whose audit can be relied on, got one where nothing is judged ({why}): "
            "its page says what to do; run reticent harden again"
        )
    inside, outside = (
        Spread(mean=share.value, std=0.0) for share in (side.accuracy.members, side.accuracy.non_members)
    )
    return AuditDocument(
        verdict=verdict(side.attacks),
        data=found.data,
        population=Population(models=1, accuracy=Accuracy(members=inside, non_members=outside), health=()),
        attacks=side.attacks,
        blind=found.blind,
        epsilon=side.epsilon,
    )
