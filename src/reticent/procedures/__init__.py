"""Procedures: how training runs as a whole, one file or folder each. Any procedure takes any objective.

Those that make a model in one go lie in `basic`, so that those below, which have a second stage, can take them for it.
"""

from reticent.procedures import cwrf, pptp, user
from reticent.procedures.base import ProcedureEntry, Trained
from reticent.procedures.basic import BASIC
from reticent.procedures.costs import Short
from reticent.training.recipe import Recipe

PROCEDURES: dict[str, ProcedureEntry] = {
    **BASIC,
    "cwrf": cwrf.METHOD.entry(
        "The few weights that leak membership are set back after training and held; the others train again.",
        paper="Fang and Kim (2026), ICLR",
        cost="1.5 times plain training, and 50 steps of scoring",
        needs=("reference",),
    ),
    "function": ProcedureEntry(
        user.Function, user.train, "A training function of yours, by import string.", short=Short
    ),
    "pptp": pptp.METHOD.entry(
        "The stages where membership shows are set back after training, and trained again by a defense.",
        paper="Fang and Kim (arXiv 2602.02296)",
        cost="plain training, and up to half of it for the second training; 3 times it to find the stage",
    ),
}


def entry(recipe: Recipe) -> ProcedureEntry:
    """Find the procedure that a recipe names."""
    return PROCEDURES[recipe.procedure.method]


__all__ = ["PROCEDURES", "ProcedureEntry", "Trained", "entry"]
