"""Where in the answers a learned attack found what it found."""

from collections.abc import Sequence

from reticent.findings.attack import Audit
from reticent.report import blocks as b
from reticent.rounding import fraction
from reticent.say.evidence import of_family


def blocks(audits: Sequence[Audit]) -> list[b.Block]:
    """Show it, for every attack that learns."""
    made: list[b.Block] = []
    heads = ("Part of the answer", b.Column("AUC without it", "on references that play the target"))
    for audit in audits:
        if audit.importance is None:
            continue
        whole = audit.importance.auc
        rows = [(of_family(one), fraction(whole - one.lost)) for one in audit.importance.families]
        made += [
            b.Heading(f"Where {audit.name} found it", "importance", only=b.DOCUMENTS),
            b.Prose(audit.importance.sentence),
            b.table(f"What {audit.name} loses without each part of the answers", heads, rows, only=b.DOCUMENTS),
        ]
    return made
