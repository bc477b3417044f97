"""Procedures that make a model in one go; each begins where it is told to, so that it can be a second stage of others.

A procedure with a second stage names those that it takes (`TwoStage.inner`) and looks them up here.
"""

from reticent.procedures import dpsgd, mist, plain, selena
from reticent.procedures.base import ProcedureEntry
from reticent.training.recipe import Plain

BASIC: dict[str, ProcedureEntry] = {
    "dpsgd": ProcedureEntry(
        dpsgd.DPSGD,
        dpsgd.train,
        "Each record's gradient is clipped and noise is added, so that an epsilon is proved.",
        paper="Abadi et al. (2016), CCS",
        cost="1.5 to 4 times plain training, half a second to find the noise, and the memory of one gradient a record",
        proves=True,
        unproved=dpsgd.unproved,
        check=dpsgd.check,
        check_members=dpsgd.check_members,
        ready=dpsgd.layers.check,
        network=dpsgd.network,
        traced=True,
    ),
    "mist": ProcedureEntry(
        mist.Mist,
        mist.train,
        "Copies train apart on parts of the members, learn to agree, and are averaged, round after round.",
        paper="Li et al. (2024), USENIX Security",
        cost="about twice plain training, and 6 networks in memory",
        check=mist.check,
        check_members=mist.check_members,
        short=mist.short,
    ),
    "plain": ProcedureEntry(
        Plain,
        plain.train,
        "One run of the loop from a fresh initialisation.",
        sampled=True,
        traced=True,
        together=plain.train_together,
    ),
    "selena": ProcedureEntry(
        selena.Selena,
        selena.train,
        "A network learns what sub-models that never saw a member say of it.",
        paper="Tang et al. (2022), USENIX Security",
        cost="about 16 times plain training, K - L + 1 in general; more with augmentation",
        check=selena.check,
        check_members=selena.check_members,
        short=selena.short,
    ),
}
