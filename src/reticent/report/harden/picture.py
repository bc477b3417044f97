"""The picture of a repair: the ROC curves of the strongest attack before and after, in one frame."""

from collections.abc import Mapping
from typing import Any

from reticent.findings.attack import Audit
from reticent.report.pictures import audit as figures
from reticent.report.svg import DASHES, MUTED, SERIES, canvas, drawing, render
from reticent.rounding import fraction


def curves(document: Mapping[str, Any], name: str = "curves") -> str:
    """Draw what the strongest attack before the repair finds in both models, on logarithmic axes, with bands."""
    attack = strongest(document)
    both = {side: _find(document[side]["attacks"], attack) for side in ("before", "after")}
    least = figures.least_rate(list(both.values()))
    fpr = document["difference"]["fpr"]
    with drawing():
        figure, axes = canvas(330)
        axes.plot([least, 1], [least, 1], color=MUTED, linewidth=1, dashes=(4, 3), label="chance")
        if fpr is not None and fpr > least:
            axes.axvline(fpr, color=MUTED, linewidth=0.8, alpha=0.6)
        for i, (side, found) in reversed(list(enumerate(both.items()))):
            assert found.roc is not None
            figures.curve(axes, found.roc, least, SERIES[1 - i], DASHES[i], side, band=True)
        figures.log_axes(axes, least)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="lower right", handlelength=2.4, labelspacing=0.25, borderpad=0)
        heading = f"True-positive rate against false-positive rate of {attack}, before and after"
        parts = [f"{side}: AUC {fraction(found.auc.mean)}" for side, found in both.items()]
        return render(figure, name, heading, f"{heading}. {'; '.join(parts)}. Chance is the diagonal, AUC 0.5.")


def strongest(document: Mapping[str, Any]) -> str:
    """Name the attack that finds most in the given model, by AUC."""
    name: str = next(row["auc_attack"] for row in document["difference"]["rows"] if row["name"] == "before")
    return name


def _find(attacks: Any, name: str) -> Audit:
    return Audit.model_validate(next(attack for attack in attacks if attack["name"] == name), extra="ignore")
