"""Procedures: how training runs as a whole, one file each. Any procedure takes any objective.

Those that make a model in one go lie in `basic`, so that those below, which have a second stage, can take them for it.
"""

from reticent.procedures import user
from reticent.procedures.base import ProcedureEntry, Trained
from reticent.procedures.basic import BASIC
from reticent.training.recipe import Recipe

PROCEDURES: dict[str, ProcedureEntry] = {
    **BASIC,
    "function": ProcedureEntry(user.Function, user.train, "A training function of yours, by import string."),
}


def entry(recipe: Recipe) -> ProcedureEntry:
    """Find the procedure that a recipe names.

    Args:
        recipe: how a model is made.

    Returns:
        The procedure's line of the table.
    """
    return PROCEDURES[recipe.procedure.method]


__all__ = ["PROCEDURES", "ProcedureEntry", "Trained", "entry"]
