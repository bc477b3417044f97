"""A search in a sentence: what was chosen, and that it is no finding."""

from reticent.findings.search import SearchDocument
from reticent.rounding import decimals, fraction, level, percent


def spoken(document: SearchDocument) -> SearchDocument:
    """Write the sentence into a search."""
    return document.with_(sentence=_sentence(document))


def _sentence(document: SearchDocument) -> str:
    undefended = document.undefended
    kept = (
        f"{100 * document.lost:g} percentage points of accuracy ({percent(undefended.accuracy.mean)} without a defense)"
    )
    chosen = next((one for one in document.tried if one.defense == document.chosen), None)
    if chosen is None:
        return f"Every value that was tried costs more than {kept}: nothing is chosen."
    found = f"AUC {fraction(chosen.auc.mean)} against {fraction(undefended.auc.mean)} without a defense"
    if chosen.tpr is not None and document.fpr is not None:
        shares = percent(chosen.tpr.mean, decimals(document.fpr))
        found += f"; {shares} of the members found at {level(document.fpr)} false alarms"
    return (
        f"Of the values that cost at most {kept}, {chosen.defense} leaks least ({found}; accuracy "
        f"{percent(chosen.accuracy.mean)}). This is a choice, not a finding: audit it, on other models, with reticent "
        f'audit --defense "{chosen.defense}".'
    )
