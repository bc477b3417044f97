"""A search in a sentence: what was chosen, which values never acted, and that it is no finding."""

from reticent.findings.search import SearchDocument
from reticent.rounding import fraction, percent
from reticent.say.grammar import agree, listed


def spoken(document: SearchDocument) -> SearchDocument:
    """Write the sentence into a search."""
    return document.with_(sentence=" ".join([_choice(document), *_idle(document)]))


def allowed(document: SearchDocument) -> str:
    """Say how much accuracy may be lost."""
    return f"{100 * document.lost:g} percentage points"


def _choice(document: SearchDocument) -> str:
    plain = document.undefended
    kept = f"{allowed(document)} of accuracy ({percent(plain.accuracy.mean)} without a defense)"
    chosen = next((one for one in document.tried if one.defense == document.chosen), None)
    if chosen is None:
        acted = [one for one in document.tried if not one.idle]
        if not acted:
            return "Nothing is chosen: no value that was tried made a difference."
        which = "was tried" if len(acted) == len(document.tried) else "acted"
        return f"Every value that {which} costs more than {kept}: nothing is chosen."
    vain = ", but no less than no defense" if chosen.auc.mean >= plain.auc.mean else ""
    return (
        f"Of the values that cost at most {kept}, {chosen.defense} leaks least{vain}: its AUC is "
        f"{fraction(chosen.auc.mean)} ({chosen.attack}), that without a defense {fraction(plain.auc.mean)} "
        f"({plain.attack}); its accuracy is {percent(chosen.accuracy.mean)}. This is a choice, not a finding: audit "
        f'it, on other models, with reticent audit --defense "{chosen.defense}".'
    )


def _idle(document: SearchDocument) -> list[str]:
    idle = [one.defense for one in document.tried if one.idle]
    if not idle:
        return []
    return [f"{listed(idle)} never acted: {agree(len(idle), 'it gives', 'they give')} the same answers as no defense."]
