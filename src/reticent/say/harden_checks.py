"""What is doubtful of a model that is to be repaired, and why a repair is refused."""

from collections.abc import Sequence

from reticent.auditing.verdict import FEWEST
from reticent.findings.harden import HeldLoss, Note, RecordsNote, Short
from reticent.findings.numbers import Area
from reticent.rounding import around, fraction, percent, significant_down
from reticent.say.grammar import plural

THEIRS = "their own training records"
SAY_HOW = "State the model's training: --epochs, --batch-size, --optimizer, --learning-rate, --weight-decay."
BY_DEFAULT = (
    "Nothing was said of how the model was trained: the references, from which attacks learn, are trained by default "
    f"settings, and what is found before and after may come from that. {SAY_HOW}"
)

EARLY = (
    "This is a look at the model alone, before the audit: attacks that compare it with references may still find a "
    "leak, and what they find counts."
)
"""What a look at the loss is worth before there are references."""


def untaught(problem: str) -> str:
    """Say that the given model may have learned nothing, and what that means for its audit."""
    return (
        f"The given model {problem}: it may have learned nothing, and a model that learned nothing has nothing to "
        "leak. Are these the trained weights, its members, and the scale of its inputs?"
    )


def no_sign(found: Area) -> str:
    """Say that nothing shows that the model was trained on the members."""
    how = f"(the AUC, members against non-members, is {fraction(found.value)}, interval "
    how += f"{around(found.interval)}; 0.5 is chance)"
    if found.backwards:
        return (
            f"The given model has a larger loss on the members than on the non-members {how}: are the two files "
            "exchanged?"
        )
    return (
        f"By its loss alone, the given model shows no sign of having been trained on these members {how}: either it "
        "was trained on others, or it generalises so well that there is little to repair. Check that these are its "
        "members."
    )


def few(members: int, others: int) -> str:
    """Say that no interval over so few records of one model can be relied on."""
    return (
        f"no interval over {plural(members, 'member')} and {plural(others, 'non-member')} can be relied on. At least "
        f"{FEWEST} of each are needed."
    )


def doubts(sign: Area | None, *, by_default: bool, early: bool = False) -> list[str]:
    """Warn of a model that shows no sign of its members, and of references that may not be made as it was.

    Before there are references that sign is no finding.
    """
    shown = [] if sign is None else [f"{no_sign(sign)} {EARLY}" if early else no_sign(sign)]
    return [*shown, *[BY_DEFAULT] * by_default]


def refused(before: float, after: float, most: float, looked: str) -> str:
    """Say that a repair took more accuracy than is allowed, and what to look at first."""
    return (
        f"the repair broke the model: expected to lose at most {100 * most:g} percentage points of accuracy on "
        f"non-members, got {percent(before)} before and {percent(after)} after. {looked} The references were "
        "not trained, and nothing was written; the repair is kept in the store. To audit and write it nevertheless, "
        "give a larger --max-accuracy-loss (max_accuracy_loss)"
    )


def suspects(notes: Sequence[RecordsNote], held: HeldLoss | None, short: Short | None) -> str:
    """Name what most likely broke a model, the likeliest first.

    References that do not know their own records show that their training was too short, whatever the repair does.
    """
    others = (
        "a --learning-rate that is too high for the second training, too few --tuning-epochs (by default a part of "
        "--epochs), or a method that sets too much back (--rate)"
    )
    assumed = any(one.note is Note.SCALE_ASSUMED for one in notes)
    if short is not None and (short.by == "references" or not (assumed or held)):
        return f"{_too_short(short)} Then look at {others}."
    if assumed:
        return (
            "Look first at how the pictures were normalised: mean 0.5 and std 0.25 are assumed, since --mean and --std "
            f"were not given. Then at {others}."
        )
    if held is not None:
        loss = significant_down(held.loss)
        return (
            f"{held.objective} holds the mean loss at {held.level:g}, and the given model's on non-members is {loss}: "
            f"a training held above that must lose accuracy. Give a lower level, such as --{held.option} {loss}. Else "
            f"look at {others}."
        )
    return f"Look at {others}."


def _too_short(found: Short) -> str:
    repaired = found.by == "repair"
    who, whose = ("after its repair the model labels", "its members") if repaired else ("the references label", THEIRS)
    part = "" if found.tuning is None else f", of which the repair trained for {found.tuning}"
    flags, longer = (" and --tuning-epochs", ", or let the repair train longer") if repaired and part else ("", "")
    return (
        f"Look first at --epochs{flags}: with {plural(found.epochs, 'epoch')}{part}, {who} {percent(found.right)} of "
        f"{whose} correctly, and the given model {percent(found.model)} of its members. State how long that was "
        f"trained{longer}."
    )
