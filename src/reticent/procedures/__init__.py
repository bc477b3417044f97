"""Procedures: how training runs as a whole, one file each. Any procedure takes any objective."""

from reticent.procedures import plain, user
from reticent.procedures.base import ProcedureEntry, Trained
from reticent.training.recipe import Plain, Recipe

PROCEDURES: dict[str, ProcedureEntry] = {
    "function": ProcedureEntry(user.Function, user.train, "A training function of yours, by import string."),
    "plain": ProcedureEntry(Plain, plain.train, "One run of the loop from a fresh initialisation."),
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
