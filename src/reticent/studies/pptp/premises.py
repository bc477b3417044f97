"""What the studies of PPTP take for granted: a network with a risky stage, and a defense that acts."""

from collections.abc import Callable

from reticent.locate.layers import Layers, onset
from reticent.models.stages import HEAD
from reticent.population.worker import Maker
from reticent.rounding import fraction
from reticent.studies.base import Bench, Found, Results, Setting
from reticent.studies.beyond import UNMATCHED, acts
from reticent.studies.metrics import AUC, POINTS
from reticent.studies.numbers import Estimate

NETWORKS = ("ResNet",)
"""The kind of network of the paper's figures 12 to 16."""
PAPERS = ("confidence", "modified-entropy")
"""Attacks of the paper's that claims are judged by: its two that go by a threshold and by more than being right."""
OURS = ("lira", "rmia")
"""Stronger ones, that compare with many references."""
THEIRS, STRONGER = "under the confidence and the modified-entropy attack each", "under LiRA and RMIA each"
TRACE = 0.55
"""The effect from which on a stage carries a trace of membership; 0.5 is none."""
RISKY_STAGE, SAFE_STAGE = "first stage that is trained again", "last stage that stays"
PREMISE = (
    f"Nothing can be told where the stage that is named is not where membership begins to show (effect {TRACE:g} or "
    f"more there, less before), nor where the defense alone is not shown to lower that AUC, against no defense, by "
    f"{AUC:g} or more."
)
MATCHED = f"{UNMATCHED} {PREMISE}"
LACKS = "a control that the paper lacks"


def attacks(stronger: bool) -> tuple[str, ...]:
    """List the attacks that a claim is judged by."""
    return OURS if stronger else PAPERS


def disparity(bench: Bench, found: Found) -> None:
    """Measure where membership begins to show, on the members of the first model, as ``stage=auto`` does."""
    bench.say("where membership begins to show")
    job = bench.job()
    population = job.population
    with bench.made(job) as (store, _):
        maker = Maker(population, store, job.device)
    told = onset(population.recipe, maker.materials(0), population.streams(0), Layers(seeds=1))
    stages = [one for one in told.stages if one.name != HEAD]
    names = [one.name for one in stages]
    risky = names.index(bench.options["stage"])
    for name, place in ((RISKY_STAGE, risky), (SAFE_STAGE, risky - 1)):
        found.numbers[name, "effect"] = Estimate(stages[place].effect)
    effects = ", ".join(f"{one.name} {fraction(one.effect)}" for one in told.stages)
    found.notes.append(f"seed {bench.seed}: effect by stage, of the first model's members: {effects}.")


def shows(results: Results, one: Setting) -> bool:
    """Say whether membership begins to show at the stage that is named."""
    risky, safe = (results.get(one.key, name, "effect") for name in (RISKY_STAGE, SAFE_STAGE))
    return risky is not None and safe is not None and risky.value >= TRACE > safe.value


def premise(results: Results, one: Setting, title: str) -> Callable[[str], bool]:
    """Say by metric whether what claims on a defense take for granted holds."""
    return lambda metric: shows(results, one) and acts(results, one, title, metric)


SAME = f"accuracy is higher by {100 * POINTS:g} points or more, and no AUC by {AUC:g} or more"
"""Comparable or better privacy with higher accuracy."""
