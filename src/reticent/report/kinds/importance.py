"""Where in the answers a learned attack found what it found."""

from collections.abc import Sequence

from reticent.findings.attack import Audit
from reticent.report import blocks as b
from reticent.rounding import fraction, percent
from reticent.say.evidence import of_family


def blocks(audits: Sequence[Audit]) -> list[b.Block]:
    """Show it, for every attack that learns."""
    made: list[b.Block] = []
    for audit in audits:
        if audit.importance is None:
            continue
        rows = tuple(
            b.Row((
                b.Cell(of_family(one)),
                b.Cell(fraction(audit.importance.auc - one.lost), audit.importance.auc - one.lost),
                b.Cell(percent(one.share), one.share),
            ))
            for one in audit.importance.families
        )
        heads = (b.Column("Part of the answer", whole=True), b.Column("AUC without it"), b.Column("Share of the loss"))
        made += [
            b.Heading(f"Where {audit.name} found it", "importance", only=b.DOCUMENTS),
            b.Prose(audit.importance.sentence),
            b.Table(f"What {audit.name} loses without each part of the answers", heads, rows, only=b.DOCUMENTS),
        ]
    return made
