"""Procedures: how training runs as a whole, one file or folder each. Any procedure takes any objective.

Those that make a model in one go lie in `basic`, so that those below, which have a second stage, can take them for it.
"""

from reticent.procedures import cwrf, imp, pptp, prune, user
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
    "imp": ProcedureEntry(
        imp.Imp,
        imp.train,
        "Small weights are pruned, the others go back to early values and are trained again, in rounds.",
        paper="Frankle and Carbin (2019), ICLR; arXiv 2304.10553",
        cost="9 times plain training (one more than rounds); rounds that are in the store are not trained again",
        check=imp.check,
        check_members=imp.check_members,
        check_network=imp.check_network,
        first=imp.first,
        sampled=True,
        repair=imp.repair,
        goes_on=imp.goes_on,
        short=imp.short,
    ),
    "pptp": pptp.METHOD.entry(
        "The stages where membership shows are set back after training, and trained again by a defense.",
        paper="Fang and Kim (arXiv 2602.02296)",
        cost="plain training, and up to half of it for the second training; 3 times it to find the stage",
    ),
    "prune": prune.METHOD.entry(
        "Small weights, or whole filters, are pruned from a trained network in rounds, and the others fine-tuned.",
        paper="Shang et al. (2025), WeMem",
        cost="twice plain training",
        goes_on=lambda _: True,
    ),
}


def entry(recipe: Recipe) -> ProcedureEntry:
    """Find the procedure that a recipe names."""
    return PROCEDURES[recipe.procedure.method]


def entries(recipe: Recipe) -> dict[str, ProcedureEntry]:
    """Find the procedure that a recipe names, and that of its second stage, by name."""
    both = (recipe.procedure, getattr(recipe.procedure, "inner", recipe.procedure))
    return {one.method: PROCEDURES[one.method] for one in both}


__all__ = ["PROCEDURES", "ProcedureEntry", "Trained", "entries", "entry"]
