"""Does a sparse network give less away, and is it more than stopping early or a smaller network would give?

Paper: "Sparsity in neural networks can improve their privacy", arXiv 2304.10553: iterative magnitude pruning and
butterfly layers, whose members a network fitted on one shadow model's answers tells from non-members. The controls are
not the paper's: the dense network stopped early where it is as accurate, smaller dense networks of as many parameters,
and attacks that compare with many references.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from reticent.findings.study import Figure
from reticent.options import Options
from reticent.rounding import percent
from reticent.say.grammar import plural
from reticent.studies import presets
from reticent.studies.base import Bench, Found, Results, Scale, Setting, Study
from reticent.studies.excess import asked, matched, narrowest, parameters, size, width
from reticent.studies.matching import Weighed
from reticent.studies.measured import Measured, collect, differences, means, measure, record_weights
from reticent.studies.metrics import JUDGED, METRICS, at, columns, even, lines
from reticent.studies.numbers import Estimate, Replicated, combined
from reticent.studies.sparsity.claims import CLAIMS
from reticent.studies.sparsity.rows import (
    ALIKE,
    CLAIMED,
    DENSE,
    ENDS,
    FACTORED,
    PUBLISHED,
    SLOPE_FROM,
    SMALLER,
    butterfly,
    claimed,
    factored,
    imp,
    less,
    nearest,
    pruned,
)

DISCRIMINATOR = "nn"
"""The paper's: a network fitted on the answers of one reference."""
METRIC = "defence"


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    options, base = bench.options, bench.job()
    made = base.population.recipe.architecture
    jobs = {DENSE: (base, "cross-entropy, all weights")}
    for number in options["rounds"]:
        name = f"imp:rounds={max(options['rounds'])},at={number},rewind={options['rewind']:g}"
        jobs[imp(number)] = bench.job(name), name
    for name, table in options["butterfly"].items():
        words = ", ".join(f"{key} = {value}" for key, value in table.items())
        jobs[butterfly(name)] = bench.job(architecture=asked(made) | {"butterfly": table}), words
    rows = {name: measure(bench, name, *rest) for name, rest in jobs.items()}
    whole = size(rows[DENSE])
    sparse, equal = [*pruned(options), *factored(options)], dict[str, str]()
    for name in sparse:
        spec = narrowest(base, size(rows[name]))
        equal[name] = f"Dense, {percent(parameters(base, spec) / whole)} of the parameters"
        if equal[name] not in rows:
            rows[equal[name]] = measure(
                bench,
                equal[name],
                bench.job(architecture=asked(spec)),
                f"the narrowest with so many, {width(spec)} wide",
            )
    rows = {name: _defended(bench, row) for name, row in rows.items()}
    sizes = [size(rows[name]) for name in pruned(options)]
    pairs = {even(name, SMALLER): (name, other) for name, other in equal.items()}
    for name in factored(options):
        pairs[even(name, ALIKE)] = name, pruned(options)[nearest(size(rows[name]), sizes)]
    found = collect(list(rows.values()), differences((name, DENSE) for name in rows if name != DENSE))
    attacked = [f"auc_{attack}" for attack in (*JUDGED, DISCRIMINATOR)]
    beside = matched(bench, found, list(rows.values()), pairs, attacked)
    found.numbers |= {(name, "share"): Estimate(size(row) / whole) for name, row in rows.items()}
    for name in sparse:
        for metric in attacked:
            found.numbers[_control(name), metric] = combined([
                (1.0, rows[name].measures[metric]),
                *((-weight, part) for weight, part in beside.excess(rows[name], metric)),
            ])
    _traded(found, rows, {CLAIMED: claimed(options), FACTORED: factored(options)})
    return found


def _control(name: str) -> str:
    return f"early-stopped control of {name}"


def _defended(bench: Bench, row: Measured) -> Measured:
    """Add the paper's measure: 1 less the balanced accuracy of the discriminator, which says member above 0."""
    members = row.job.population.membership.matrix
    weights = record_weights(row.job, bench.seed, members)
    named = means({"named": row.scores[DISCRIMINATOR] > 0}, members, weights)
    inside, outside = named["named_members"], named["named"]
    made = Replicated(
        (1 - inside.observed + outside.observed) / 2,
        (1 - inside.values + outside.values) / 2,
        min(inside.counted, outside.counted),
    )
    return replace(row, measures=row.measures | {METRIC: made})


class Linear(NamedTuple):
    """A number, and the weighted sum of measures that has its error near what was measured (delta method)."""

    value: float
    parts: Weighed

    def estimate(self) -> Estimate:
        """Take the number with its error."""
        return replace(combined(self.parts), value=self.value)

    @classmethod
    def of(cls, value: float, terms: Iterable[tuple[float, "Linear"]]) -> "Linear":
        """Add sums up, each with a weight, for a number that is known."""
        return cls(value, [(weight * own, part) for weight, one in terms for own, part in one.parts])

    @classmethod
    def change(cls, first: Replicated, second: Replicated) -> "Linear":
        """Take by which share a number differs from another."""
        one, other = float(first.observed.mean()), float(second.observed.mean())
        return cls(one / other - 1, [(1 / other, first), (-one / other**2, second)])


def _traded(found: Found, rows: Mapping[str, Measured], kinds: Mapping[str, Sequence[str]]) -> None:
    """Say by which share rows lose in accuracy and gain in defence, each and over several, and what the slope is."""
    base = rows[DENSE].measures
    gains = {name: Linear.change(row.measures[METRIC], base[METRIC]) for name, row in rows.items()}
    kept = {name: Linear.change(row.measures["accuracy"], base["accuracy"]) for name, row in rows.items()}
    losses = {name: Linear.of(-one.value, [(-1.0, one)]) for name, one in kept.items()}
    for name in rows:
        if name != DENSE:
            _told(found, name, gains[name], losses[name])
    for title, names in kinds.items():
        if names:
            found.rows[title] = f"the mean over {plural(len(names), 'row')}"
            gain, loss = (_mean([each[name] for name in names]) for each in (gains, losses))
            _told(found, title, gain, loss)
            for times in ENDS:
                rest = Linear.of(gain.value - times * loss.value, [(1.0, gain), (-times, loss)])
                found.numbers[less(title, times), "relative_gain"] = rest.estimate()


def _mean(each: Sequence[Linear]) -> Linear:
    return Linear.of(fmean(one.value for one in each), [(1 / len(each), one) for one in each])


def _told(found: Found, name: str, gain: Linear, loss: Linear) -> None:
    """Put down what a row gains and loses, and, where it loses enough, the ratio."""
    found.numbers |= {(name, "relative_gain"): gain.estimate(), (name, "relative_loss"): loss.estimate()}
    if loss.value >= SLOPE_FROM:
        slope = gain.value / loss.value
        ratio = Linear.of(slope, [(1 / loss.value, gain), (-slope / loss.value, loss)])
        found.numbers[name, "slope"] = ratio.estimate()


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy and leak over what is left of the weights, and the leak over accuracy beside stopping early."""
    sparse = {"IMP": pruned(setting.options), "butterfly": factored(setting.options)}
    rows = sparse | {"smaller dense": [one for one in results.rows(setting.key) if one.startswith("Dense,")]}
    left = {title: at(results, setting, names, "share") for title, names in rows.items()}
    right = {title: at(results, setting, names, "accuracy") for title, names in rows.items()}
    held = at(results, setting, [name for names in sparse.values() for name in names], "accuracy")
    right["dense, stopped early"] = [(place, _control(name)) for place, name in held]
    right["dense, to the end"] = at(results, setting, [DENSE], "accuracy")
    panels = [
        lines(
            results,
            setting,
            metric,
            "share of parameters left",
            left,
            title=f"{METRICS[metric].label} over parameters left",
            levels=(DENSE,),
            log_x=True,
        )
        for metric in ("accuracy", METRIC, "auc_lira", "auc_learned")
    ]
    panels += [
        lines(results, setting, metric, "accuracy, non-members", right, title=f"{METRICS[metric].label} over accuracy")
        for metric in ("auc_nn", "auc_lira")
    ]
    yield Figure(name=setting.key, title=f"Sparse networks, {setting.label}", panels=tuple(panels))


ATTACKED: Options = {
    "attacks": (*JUDGED, DISCRIMINATOR),
    "attack.nn.references": 1,
}
OPTIONS: Options = {"rewind": 0, "fpr": 0.01}
LAYERS: Options = {
    "all layers": {"layers": ("0", "2")},
    "second layer": {"layers": ("2",)},
}
"""Of the MLP on 446 columns, whose first layer has one chain of two factors and none of more."""
CONVOLUTIONS: Options = {
    "fewest weights": {"layers": ("4", "8"), "factors": 3},
    "budget 0.3": {"layers": ("4", "8"), "budget": 0.3},
}
STAGES: Options = {
    "fewest weights": {"layers": ("stages.*conv?",), "factors": 3},
    "budget 0.3": {"layers": ("stages.*conv?",), "budget": 0.3},
}
TRAINED: Options = {
    "dataset": "cifar10",
    "architecture": "resnet20",
    "models": 10,
    "records": 50000,
    "epochs": 160,
    "batch_size": 128,
    "optimizer": "sgd",
    "learning_rate": 0.1,
    "weight_decay": 1e-4,
    "schedule": "multistep",
    "milestones": (0.5, 0.75),
    "augmentation": "flip-crop",
}
"""ResNet-20 as it is usually trained; the paper's own schedule is lost."""


def _asked(setting: Setting, rounds: tuple[int, ...], factors: Options, **more: object) -> Setting:
    options = OPTIONS | {"rounds": rounds, "butterfly": factors} | more
    printed = PUBLISHED.group if setting.network == "ResNet" else None
    return replace(setting, base=setting.base | ATTACKED, options=options, published=printed)


SCALES = {
    "tiny": Scale(
        (_asked(presets.TINY_LOCATION, (4, 8), LAYERS),),
        1,
        "A part of Location30, 8 models a row, 1 seed: some minutes on two cores.",
    ),
    "small": Scale(
        (
            _asked(presets.SMALL_LOCATION, (2, 4, 8, 12, 16), LAYERS),
            _asked(presets.SMALL_CNN, (2, 4, 8, 12, 16), CONVOLUTIONS),
            replace(_asked(presets.SMALL_RESNET20, (4, 8, 12, 16), STAGES), seeds=1),
        ),
        3,
        "Location30 with 16 models a row and a part of CIFAR-10 with 8, 3 seeds, and ResNet20 with one.",
    ),
    "paper": Scale(
        (
            _asked(
                Setting("resnet20", "ResNet20 on CIFAR-10", TRAINED, network="ResNet"),
                tuple(range(2, 17, 2)),
                STAGES | {"budget 0.5": {"layers": ("stages.*conv?",), "budget": 0.5}},
                rewind=2,
            ),
        ),
        3,
        "CIFAR-10 with ResNet20, 160 epochs and 16 rounds of pruning, 10 models a row, 3 seeds: days on one GPU.",
    ),
}
STUDY = Study(
    name="sparsity",
    title="Does a sparse network give less away, beyond what stopping early or a smaller network gives?",
    paper="Sparsity in neural networks can improve their privacy, arXiv 2304.10553.",
    scales=SCALES,
    measure=measured,
    columns=columns(
        *("share", "accuracy", "accuracy_members", "excess_accuracy"),
        *("defence", "auc_nn", "relative_loss", "relative_gain", "slope"),
        *(f"{what}_{attack}" for attack in JUDGED for what in ("auc", "excess_auc")),
        *("tpr_lira_0.01", "tpr_learned_0.01", "seconds"),
    ),
    claims=CLAIMS,
    published=(PUBLISHED,),
    draw=drawn,
    caution=(
        "The paper's sizes, schedule, rewinding point, discriminator, layers and factors are lost, as is its table: "
        "densities fit a fifth a round of ResNet-20's convolutions and classifier, and all else is as usual "
        "(docs/methods/imp.md, docs/butterfly.md). Nothing was searched.",
        "Smaller dense networks are trained as the others are; a schedule of their own might suit them better, and so "
        "might one for butterfly layers.",
        "The seconds of a round are those of all rounds until then.",
    ),
)
