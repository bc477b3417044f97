"""The parts of an audit that set it beside another one: a control, and an attacker who does not know the defense."""

from collections.abc import Sequence
from functools import partial

from reticent.findings.attack import Audit, Measured
from reticent.findings.audit import AuditDocument
from reticent.findings.numbers import OverallRate
from reticent.report import blocks as b
from reticent.report.cells import estimate, rate
from reticent.report.pictures import dot_plot
from reticent.report.svg import SERIES
from reticent.rounding import level
from reticent.say.grammar import plural


def _beside(
    audits: Sequence[Audit], others: Sequence[Measured], fpr: float | None, heads: tuple[str, str], title: str
) -> b.Table:
    """Put two attackers, or two audits, side by side, attack by attack."""
    known = {one.name: one for one in others}
    pairs = [(one.measured, known[one.name]) for one in audits if one.name in known]
    rates = [fpr] if fpr is not None and any(_rate(two, fpr) is not None for _, two in pairs) else []
    columns = [
        *(f"AUC, {head}" for head in heads),
        *(f"Found at {level(one)} FPR, {head}" for one in rates for head in heads),
    ]
    rows: list[b.Line] = [
        (
            b.Name(pair[0].name, 40),
            *(estimate(one.auc) for one in pair),
            *(rate(_rate(one, each)) for each in rates for one in pair),
        )
        for pair in pairs
    ]
    return b.table(title, ("Attack", *columns), rows, only=b.DOCUMENTS)


def _rate(one: Measured, fpr: float) -> OverallRate | None:
    return next((rate for rate in one.tpr_at_fpr if rate.fpr == fpr and rate.tpr is not None), None)


def non_adaptive(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Show the attacker who does not know of the defense beside the one who does."""
    found = document.non_adaptive
    if found is None:
        return []
    return [
        b.Heading("An attacker who does not know of the defense", "non-adaptive", only=b.DOCUMENTS),
        b.Prose(found.sentence),
        b.Prose(
            "All other numbers of this page are of an attacker who knows the defense and trains models with it. A "
            "defense is worth what it hides from that attacker.",
            only=b.PAGE,
        ),
        _beside(
            audits,
            found.attacks,
            document.verdict.fpr,
            ("knows it", "does not"),
            "An attacker who knows the defense, and one who does not, attack by attack",
        ),
    ]


def control(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Show the null control beside the audit."""
    found = document.control
    if found is None:
        return []
    known = {one.name: one for one in found.attacks}
    names = [one.name for one in audits if one.name in known]
    both = (
        dot_plot.Series("audit", [one.auc for one in audits if one.name in known]),
        dot_plot.Series("permuted", [known[name].auc for name in names], filled=False, colour=SERIES[1], marker="s"),
    )
    heading = "AUC of each attack, in the audit and with permuted membership"
    caption = "Filled: the audit; hollow: membership permuted. The hollow ones belong on the dashed line."
    figure = b.Figure(partial(dot_plot.beside, names, both, heading, "null-control"), caption)
    outcome: b.Text = (b.Strong("Passed." if found.passed else "Not passed."), f" {found.sentence}")
    allows = f"allows for having looked at {plural(len(names), 'attack')}" if len(names) > 1 else "asks for more"
    return [
        b.Heading("Control: the same audit with permuted membership", "control", only=b.DOCUMENTS),
        b.Notice(outcome, "good" if found.passed else "bad", only=b.PAGE),
        b.Prose(outcome, only=b.MARKDOWN),
        b.Prose(found.sentence, only=b.TERMINAL),
        b.Prose(
            "Who counts as a member was drawn anew, so that there is nothing to find: every attack must be at chance. "
            "One that is not would be wrong in the audit, too.",
            only=b.PAGE,
        ),
        *b.only(b.PAGE, b.Figures((figure,))),
        _beside(
            audits,
            found.attacks,
            document.verdict.fpr,
            ("audit", "permuted"),
            "The audit and the control, attack by attack",
        ),
        b.Prose(
            f"Each interval here stands by itself, at {level(audits[0].confidence)}: of so many, a few exclude chance "
            f"by accident. The outcome above {allows}, by wider intervals than these.",
            only=b.DOCUMENTS,
        ),
    ]
