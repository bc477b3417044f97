"""Procedures: how training runs as a whole, one file each. Any procedure takes any objective."""

from reticent.procedures import dpsgd, mist, plain, selena, user
from reticent.procedures.base import ProcedureEntry, Trained
from reticent.training.recipe import Plain, Recipe

PROCEDURES: dict[str, ProcedureEntry] = {
    "dpsgd": ProcedureEntry(
        dpsgd.DPSGD,
        dpsgd.train,
        "Each record's gradient is clipped and noise is added, so that an epsilon is proved.",
        paper="Abadi et al. (2016), CCS",
        cost="1.5 to 4 times plain training, and the memory of one gradient a record",
        proves=True,
        check=dpsgd.check,
        network=dpsgd.network,
    ),
    "function": ProcedureEntry(user.Function, user.train, "A training function of yours, by import string."),
    "mist": ProcedureEntry(
        mist.Mist,
        mist.train,
        "Copies train apart on parts of the members, learn to agree, and are averaged, round after round.",
        paper="Li et al. (2024), USENIX Security",
        cost="about 1.7 times plain training, and 6 networks in memory",
        check=mist.check,
    ),
    "plain": ProcedureEntry(Plain, plain.train, "One run of the loop from a fresh initialisation."),
    "selena": ProcedureEntry(
        selena.Selena,
        selena.train,
        "A network learns what sub-models that never saw a member say of it.",
        paper="Tang et al. (2022), USENIX Security",
        cost="about 16 times plain training, K - L + 1 in general; more with augmentation",
        check=selena.check,
    ),
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
