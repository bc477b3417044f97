"""Where a learned attack found what it found, which references no attack was given, and what outweighs all others."""

from collections.abc import Sequence

from reticent.findings.attack import Audit
from reticent.findings.evidence import Family, FamilyImportance, Importance, NearComplements, Outweighing
from reticent.rounding import fraction, percent
from reticent.say.grammar import plural

WORDS = {
    Family.LABEL: "what models say of the true label",
    Family.OTHERS: "what models say of the other classes",
    Family.CERTAINTY: "how certain models are",
    Family.CORRECTNESS: "whether models are right",
}
"""What each family of features looks at."""
LABELS = "labels"
"""What such an attack sees (`Audit.access`)."""
SLIGHT = 0.51
"""An AUC up to which there is nothing whose place could be told."""


def spoken(audit: Audit) -> Audit:
    """Fill in the sentence of an attack that learns; others stay as they are."""
    found = audit.importance
    if found is None:
        return audit
    return audit.with_(importance=found.with_(sentence=_importance(audit.name, found, audit.auc.mean)))


def by_labels(audits: Sequence[Audit], *, brought: bool) -> str:
    """Say what an attacker finds who sees no more than the label that a model gives, or how to measure it."""
    seen = [one for one in audits if one.access == LABELS]
    if not seen:
        how = "--attack correctness" if brought else "--attack correctness --attack label-only"
        return f"An attacker who sees labels alone was not tried: {how} measures it."
    best = max(seen, key=lambda one: one.auc.mean)
    return f"An attacker who sees labels alone reaches an AUC of {fraction(best.auc.mean)}, by {best.name}."


def _importance(attack: str, found: Importance, audited: float) -> str:
    if found.auc <= SLIGHT or not found.families or found.families[0].lost <= 0:
        return f"{attack} found next to nothing, so there is no telling in what part of the answers it is."
    first = found.families[0]
    part = min(1.0, first.lost / (found.auc - 0.5))  # `share` is of what all parts lose, one by one.
    looked = "" if len(found.families) > 1 else " Only margins were given, so nothing else could be looked at."
    lost = f"falls from {fraction(found.auc)} to {fraction(found.auc - first.lost)}"
    return (
        f"{attack} relies most on {WORDS[first.family]}: without that, its AUC on references that play the target "
        f"{lost}, {percent(part)} of the way to chance. (On the audited models themselves it is {fraction(audited)}; "
        f"no target is looked at to tell where the leak is.){looked}"
    )


def of_family(one: FamilyImportance) -> str:
    """Name a family of features in a table."""
    return WORDS[one.family]


def near_complements(found: NearComplements) -> NearComplements:
    """Fill in the sentence."""
    which = plural(found.targets, "model was", "models were")
    most = plural(found.references, "reference", "references")
    return found.with_(
        sentence=(
            f"{which} attacked without up to {most} each, trained on nearly the same records or on nearly all the "
            "others: from these an attack would learn how memberships were drawn, not what a model gives away."
        )
    )


def outweighing(found: Outweighing) -> Outweighing:
    """Fill in the sentence."""
    spread = f"{percent(found.share)} of the spread of margins between models"
    effect = (
        "lira with few models, bavaria, pmia and the exposures judge all records by that spread, so they find less in "
        "the others than there is"
    )
    if found.record is None or found.margin is None:
        said = f"Model {found.model} alone makes {spread}: {effect}. Check that it was trained, and answers, like"
        return found.with_(sentence=f"{said} the others; if not, leave it out.")
    said = f"Record {found.record} alone makes {spread} (model {found.model} has it at {found.margin:,.6g}): {effect}."
    return found.with_(sentence=f"{said} Look at this record, and audit without it.")
