"""What the studies of PPTP take for granted: a network with a risky stage, and a defense that acts."""

from collections.abc import Iterator

from reticent.findings.study import Reason
from reticent.locate.layers import Layers, onset
from reticent.models.stages import HEAD
from reticent.population.worker import Maker
from reticent.rounding import fraction
from reticent.studies.base import Bench, Found, Published, Results, Setting
from reticent.studies.excess import NONE, UNMATCHED, acts, lower
from reticent.studies.judging import Part, no_worse, voided
from reticent.studies.metrics import AUC, METRICS, POINTS, Ask
from reticent.studies.numbers import Estimate
from reticent.studies.pptp.rows import RELAXLOSS

NETWORKS = ("ResNet",)
"""The kind of network of the paper's figures 12 to 16."""
PAPERS = ("confidence", "modified-entropy")
"""Attacks of the paper's that claims are judged by: its two that go by a threshold and by more than being right; and
where it is run, its network."""
NETWORK = "nasr"
OURS = ("lira", "rmia")
"""Stronger ones, that compare with many references."""
THEIRS = "under the confidence and the modified-entropy attack and, where it is run, Nasr et al.'s network each"
STRONGER = "under LiRA and RMIA each"
TRACE = 0.55
"""The effect from which on a stage carries a trace of membership; 0.5 is none."""
RISKY_STAGE, SAFE_STAGE = "first stage that is trained again", "last stage that stays"
NEAR = 0.05
"""So near to Table 7 must the undefended network's accuracy be, and RelaxLoss's on members, where it was repeated."""
TINY_IMAGENET = "TinyImageNet"
PREMISE = (
    f"Nothing can be told where the stage that is named is not where membership begins to show (effect {TRACE:g} or "
    f"more there, less before), nor where the defense alone is not shown to lower that AUC, against no defense, by "
    f"{AUC:g} or more; nor on TinyImageNet where the accuracy of no defense, or that of RelaxLoss on members, is not "
    f"within {100 * NEAR:g} points of Table 7's."
)
MATCHED = f"{UNMATCHED} {PREMISE}"
LACKS = "a control that the paper lacks"
Asked = Iterator[tuple[str, Part]]
"""Parts, each with the metric of the leak that it is about."""


def attacks(one: Setting, *, stronger: bool) -> tuple[str, ...]:
    """List the attacks that a claim is judged by."""
    return OURS if stronger else (*PAPERS, *(NETWORK,) * (NETWORK in one.base["attacks"]))


def every(one: Setting) -> list[str]:
    """List what all claims are judged by: the AUC of each attack."""
    return [f"auc_{attack}" for stronger in (False, True) for attack in attacks(one, stronger=stronger)]


def shown(one: Setting, dataset: str) -> bool:
    """Say whether a claim on one data set is asked in a setting: on this, and on small stand-ins, which settle none."""
    return bool(one.unlike) or one.base["dataset"] == dataset


def table(relaxloss: str) -> Published:
    """Give the paper's Table 7, with RelaxLoss's row as a study calls it."""
    rows = {
        NONE: {"accuracy": 0.4407, "accuracy_members": 0.9999},
        relaxloss: {"accuracy": 0.4757, "accuracy_members": 0.7968},
    }
    return Published(
        "Fang and Kim (PPTP), Table 7",
        TINY_IMAGENET,
        {name: {metric: (value, None) for metric, value in values.items()} for name, values in rows.items()},
        note="ResNet18. No defense is that of half of the data, as here, where each model has 45,000 of 100,000 "
        "pictures; on all of it the paper has 54.58 %. RelaxLoss is on all of the data.",
    )


def alike(results: Results, one: Setting, relaxloss: str) -> bool:
    """Say whether the paper's setting is one, where it prints accuracies."""
    printed = table(relaxloss).rows if one.published else {}
    asked = {(NONE, "accuracy"), (relaxloss, "accuracy_members")} if printed else set()
    numbers = {(row, metric): results.get(one.key, row, metric) for row, metric in asked}
    return all(
        number is None or abs(number.value - printed[row][metric][0]) <= NEAR
        for (row, metric), number in numbers.items()
    )


def disparity(bench: Bench, found: Found) -> None:
    """Measure where membership begins to show, on the members of the first model, as ``stage=auto`` does."""
    bench.say("where membership begins to show")
    job = bench.job()
    population = job.population
    with bench.made(job) as (store, _):
        maker = Maker(population, store, job.executor.device)
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


def given(results: Results, one: Setting, title: str, parts: Asked, relaxloss: str = RELAXLOSS) -> Iterator[Part]:
    """Let parts on a leak decide nothing where what they take for granted does not hold."""
    risky, near = shows(results, one), alike(results, one, relaxloss)
    for metric, part in parts:
        met = risky and acts(results, one, title, metric)
        void: Reason | None = "setting" if not near else None if met else "condition"
        yield voided(part, void)


def traded(results: Results, one: Setting, pair: str, *, stronger: bool, accurate: Ask = no_worse) -> Asked:
    """Ask whether the first of two rows is as `accurate` as that, and gives no more away."""
    metrics = [f"auc_{attack}" for attack in attacks(one, stronger=stronger)]
    yield metrics[0], accurate(f"accuracy, {pair}", results.get(one.key, pair, "accuracy"), POINTS, metric="points")
    for metric in metrics:
        number = results.get(one.key, pair, metric)
        yield metric, no_worse(label(metric, pair), number, AUC, lower=True, metric="difference")


def lowered(results: Results, one: Setting, name: str, prefix: str = "", *, stronger: bool = True) -> Asked:
    """Ask whether each attack finds less, at matched accuracy."""
    for metric in (f"auc_{attack}" for attack in attacks(one, stronger=stronger)):
        yield metric, lower(results, one, name, prefix + metric, f"{METRICS[metric].name}, {name}")


def label(metric: str, what: str) -> str:
    """Call a part."""
    return f"{METRICS[metric].name or METRICS[metric].label}, {what}"


SAME = f"accuracy is higher by {100 * POINTS:g} points or more, and no AUC by {AUC:g} or more"
"""Comparable or better privacy with higher accuracy."""
NO_LESS = f"accuracy is not lower by more than {100 * POINTS:g} points, and no AUC higher by {AUC:g} or more"
"""The same, where the improvement is very slight."""
