"""The part of an audit on epsilon: the bound from below beside what the accountant proves or the user states."""

from collections.abc import Sequence

from reticent.findings.attack import Audit
from reticent.findings.epsilon import EpsilonAudit, MethodBound
from reticent.report import blocks as b
from reticent.report.cells import NOTHING
from reticent.rounding import down, level, plain, up
from reticent.say import epsilon as say


def card(found: EpsilonAudit) -> b.Card:
    """Show the bound beside the verdict."""
    return b.Card("Epsilon, at least", say.shown(found.lower or 0), say.note(found))


def blocks(found: EpsilonAudit, audits: Sequence[Audit], unit: str | None) -> tuple[b.Block, ...]:
    """Show the bound over all attacks, and those of each attack by each method; of units of a column, where given."""
    assert found.delta is not None
    assert found.confidence is not None
    here = f" Here delta is {plain(found.delta)} and the confidence {level(found.confidence)}, one-sided."
    return (
        b.Heading("How large epsilon is at least", "epsilon", only=b.DOCUMENTS),
        b.Prose(found.sentence, "lead", only=b.DOCUMENTS),
        b.Prose(say.measured(found), only=b.TERMINAL),  # What ends the sentence stands among the notices there.
        *b.only(b.DOCUMENTS, *_alarms(found)),
        *b.only(b.PAGE, *_bars(found)),
        b.Prose(say.meaning(unit) + here, only=b.DOCUMENTS),
        *b.only(b.DOCUMENTS, *_by_attack(found, audits)),
    )


def _alarms(found: EpsilonAudit) -> list[b.Notice]:
    """Warn where bound, promise and proof do not fit each other."""
    above, proven, made = found.accountant, found.proven, []
    if above is not None and found.consistent is False:
        said: b.Text = (b.Strong("The bound lies above what was promised."), " Training does not keep what was stated.")
        if not above.stated:
            said = (
                b.Strong("The bound lies above what the accountant proves."),
                " Both cannot be right: check how the noise is added, and what the accountant assumes.",
            )
        made.append(b.Notice(said, "bad"))
    if above is not None and proven is not None and not proven.covers(above):
        told = f" Its accountant proves at most {up(proven.epsilon, digits=2)}."
        made.append(b.Notice((b.Strong("Training does not prove what was promised."), told), "bad"))
    return made


def _bars(found: EpsilonAudit) -> list[b.Bars]:
    """Draw both bounds on one line that begins at 0; at two deltas they are on none."""
    lower, above = found.lower or 0.0, found.accountant
    if above is None or above.epsilon <= 0 or above.delta != found.delta:
        return []
    full = max(above.epsilon, lower)
    who = "stated by the user, not computed" if above.stated else f"proved by the accountant ({above.source})"
    ruled_out: b.Text = ("measured: at least ", b.Strong(say.shown(lower)), "; all below is ruled out")
    if not lower:
        ruled_out = "measured: no lower bound shown"
    promised: b.Text = (f"{who}: at most ", b.Strong(up(above.epsilon, digits=2)))
    bars = (
        b.Bar(ruled_out, lower / full, style="ruled-out"),
        b.Bar(promised, above.epsilon / full, min(lower, above.epsilon) / full, style="promised"),
    )
    return [b.Bars("", bars)]


def _by_attack(found: EpsilonAudit, audits: Sequence[Audit]) -> list[b.Block]:
    bounds = [(audit.name, audit.epsilon) for audit in audits if audit.epsilon is not None]
    if not bounds:
        return []
    methods = list(dict.fromkeys(bound.method for _, one in bounds for bound in one.bounds))
    rows: list[b.Line] = []
    for name, each in bounds:
        known = {one.method: one for one in each.bounds}
        rows.append((b.Name(name, 40), *(_cell(known.get(method)) for method in methods)))
    how = [(b.Strong(name), f": {said}.") for name, said in (say.METHODS[method] for method in methods)]
    notes = b.Bullets((*say.assumptions([each for _, each in bounds]), say.COMBINED), "note")
    return [
        b.Prose(say.origin(found)),
        b.table(
            "Lower bound on epsilon of each attack by each method", ("Attack", *map(say.method_name, methods)), rows
        ),
        b.Bullets(tuple(how), "note"),
        notes,
    ]


def _cell(bound: MethodBound | None) -> b.Cell:
    """Write the bound, and how far it goes from one target to the next."""
    if bound is None:
        return NOTHING
    targets = bound.targets if len(bound.targets) > 1 and any(bound.targets) else ()
    below = [("models: ", b.Span(down(min(targets), digits=2), down(max(targets), digits=2)))] if targets else []
    return b.Cell(say.shown(bound.epsilon), bound.epsilon, tuple(below))
