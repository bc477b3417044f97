"""Procedures: how training runs as a whole, one file each. Any procedure takes any objective.

Those that make a model in one go lie in `basic`, so that those below, which have a second stage, can take them for it.
"""

from reticent.procedures import cwrf, pptp, user
from reticent.procedures.base import ProcedureEntry, Trained
from reticent.procedures.basic import BASIC
from reticent.procedures.cwrf import rewind
from reticent.procedures.pptp import tuning
from reticent.procedures.short import not_at_all
from reticent.training.recipe import Recipe

PROCEDURES: dict[str, ProcedureEntry] = {
    **BASIC,
    "cwrf": ProcedureEntry(
        cwrf.CWRF,
        cwrf.train,
        "The few weights that give members away are set back after training and held; the others train again.",
        paper="Fang and Kim (2026), ICLR",
        cost="1.5 times plain training, and 50 steps of scoring",
        needs=("reference",),
        unproved=rewind.NO_GUARANTEE,
        check=cwrf.check,
        check_members=cwrf.check_members,
        check_network=cwrf.check_network,
        network=cwrf.network,
        inner=cwrf.INNER,
        first=cwrf.first,
        repair=cwrf.repair,
        short=cwrf.short,
    ),
    "function": ProcedureEntry(
        user.Function, user.train, "A training function of yours, by import string.", short=not_at_all
    ),
    "pptp": ProcedureEntry(
        pptp.PPTP,
        pptp.train,
        "The stages where membership shows are set back after training, and trained again by a defense.",
        paper="Fang and Kim (arXiv 2602.02296)",
        cost="plain training, and up to half of it for the second training; 3 times it to find the stage",
        unproved=tuning.NO_GUARANTEE,
        check=pptp.check,
        check_members=pptp.check_members,
        check_network=pptp.check_network,
        network=pptp.network,
        inner=pptp.INNER,
        first=pptp.first,
        repair=pptp.repair,
        short=pptp.short,
    ),
}


def entry(recipe: Recipe) -> ProcedureEntry:
    """Find the procedure that a recipe names."""
    return PROCEDURES[recipe.procedure.method]


__all__ = ["PROCEDURES", "ProcedureEntry", "Trained", "entry"]
