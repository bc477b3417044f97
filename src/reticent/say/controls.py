"""What there is to say of a comparison's controls, and how a recipe stands to its own, in a few words."""

from reticent.findings.comparison import (
    Comparison,
    ComparisonDocument,
    ControlNote,
    Note,
    Relation,
    Role,
    Row,
    RowNumbers,
    Standing,
)
from reticent.findings.numbers import Statistic
from reticent.rounding import fraction, percent
from reticent.say.grammar import short
from reticent.say.pairs import apart
from reticent.say.population import BEYOND_CHANCE


def missed(document: Comparison, row: RowNumbers) -> list[str]:
    """Say that a recipe's control is not as accurate as it, and whom that favours."""
    held = row.control
    if held is None or held.missed is None or document.matched(row) is None:
        return []
    much, judged = ("more", "too kind to") if held.missed > 0 else ("less", "too hard on")
    return [
        f"How {row.name} compares with the baseline at the same accuracy: its control, {held.name}, is "
        f"{apart(held.missed)} accurate than {row.name}, and such a model leaks {much} by that alone, so the "
        f"comparison is {judged} {row.name}."
    ]


def noticed(row: Row, document: ComparisonDocument) -> Row:
    """Add to a row's notices that it leaves the baseline's labels as they are."""
    told = any(note.note is Note.SAME_LABELS and note.row == row.name for note in document.notes)
    if not told:
        return row
    area = row.auc_by_labels
    much = "" if area is None else f" (AUC {fraction(area)})"
    notice = (
        f"It labels the same records correctly as {document.baseline}, which is therefore its control: an attacker who "
        f"sees labels alone finds as much with it as without it{much}."
    )
    return row.with_(notices=(*row.notices, notice))


def note_on(note: ControlNote, document: ComparisonDocument) -> str:
    """Say why a row has no control, or what is wrong with the one that it has."""
    baseline, row = document.baseline, note.row or ""
    alone = "a recipe that costs accuracy can look private for that reason alone."
    none = f"{row} has no early-stopped control: "
    if note.note is Note.OUTPUTS:
        return f"There is no early-stopped control, because {baseline} is a file of outputs: {alone}"
    if note.note is Note.NO_EPOCHS:
        return f"There is no early-stopped control, because the training of {baseline} has no epochs: {alone}"
    if note.note is Note.ACCURACY_UNKNOWN:
        return f"{none}its accuracy is not known from margins alone."
    if note.note is Note.PATIENT:
        return (
            f"{none}it is at least as accurate as {baseline}, whose training stops early by itself, so the baseline is "
            "its control."
        )
    if note.note is Note.WHOLE:
        own = "" if note.of is None else f" ({note.epochs:g} of {note.of} epochs, by its own stop_after)"
        return (
            f"{none}{baseline} is closest to its accuracy at the end of its training{own}, so the baseline is its "
            "control."
        )
    if note.note is Note.DEFENDED:
        return (
            f"How the rows compare with an undefended model: the baseline, {baseline}, is itself defended. Give an "
            "undefended one with --baseline."
        )
    reached, wanted = percent(note.reached), percent(document.row(row).right)
    return (
        f"{baseline} reaches an accuracy of at most {reached} at any epoch, and {row} has {wanted}: a less accurate "
        f"model leaks less by that alone, so the control is too hard on {row}."
    )


def remark(document: ComparisonDocument, row: Row) -> str:
    """Say in a few words what a row is, or how a recipe stands to its control."""
    if row.role is Role.NON_ADAPTIVE:
        return "its models, attacked by one who does not know the defense"
    if row.role is Role.CONTROL:
        when = "" if row.epochs_kept is None else f" after {row.epochs_kept:g} epochs"
        near = [f"{_nearness(row.right, document.row(name).right)} {short(name, 40)}" for name in row.matches]
        return ", ".join([f"control: stopped{when}", *near])
    if row.name == document.baseline:
        return "baseline"
    return "" if row.control is None else _standing(document, row, row.control)


def _standing(document: ComparisonDocument, row: Row, held: Standing) -> str:
    other = "the baseline" if held.name == document.baseline else "its control"
    if held.doubt is not None:
        return f"not judged: {BEYOND_CHANCE}"
    if held.unlearned is not None:
        idle = "it" if held.unlearned == row.name else other
        return f"not judged: most models of {idle} did not learn"
    if held.apart:
        return f"not judged: {other} is {apart(held.missed or 0.0, 'points')} accurate"
    measures = {Statistic.AUC: "AUC", Statistic.TPR: "members found"}
    alone = f", by {measures[held.by[0]]} alone" if len(held.by) == 1 else ""
    told = {
        Relation.LESS: f"leaks less than {other}{alone}",
        Relation.MORE: f"leaks more than {other}{alone}",
        Relation.TIE: f"not told apart from {other}",
        Relation.MIXED: f"leaks less than {other} by one measure, more by the other",
    }[held.leak]
    return told if held.settled else f"{told}, at an accuracy that is not known"


def _nearness(control: float | None, wanted: float | None) -> str:
    """Say how a control's accuracy compares with that of a row, up to the row's name."""
    if control is None or wanted is None:
        return "to be as accurate as"
    if abs(control - wanted) < 0.0005:
        return "as accurate as"
    return f"{apart(control - wanted, 'points')} accurate than"
