"""Does iterative pruning make members easier to find, and do windows and stronger weight decay on some mend it?

Paper: Shang et al. (2025), "Defending against membership inference attacks for iteratively pruned deep neural
networks" (WeMem), of which slides are at hand. The controls are not the paper's: fine-tuning as often with nothing
pruned, the dense network stopped early where it is as accurate, a smaller dense network, and stronger attacks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from reticent.auditing.roc import roc
from reticent.findings.study import Column, Figure, LinesPanel, Points
from reticent.findings.training import MemorisationFacts
from reticent.procedures.costs import FIRST, SCORING
from reticent.spec import identity
from reticent.studies.base import Bench, Found, Results, Setting, Study
from reticent.studies.excess import asked, matched, narrowest, size
from reticent.studies.measured import (
    Bools,
    Measured,
    Measures,
    collect,
    matches,
    means,
    measure,
    measure_all,
    record_weights,
)
from reticent.studies.metrics import JUDGED, WEMEM, beside, columns, dots, lines
from reticent.studies.numbers import Estimate, Floats, combined
from reticent.studies.wemem.claims import CLAIMS, PAPERS, of_members
from reticent.studies.wemem.printed import METRIC_ATTACKS, NETWORK_ATTACKS, PUBLISHED
from reticent.studies.wemem.rows import (
    DENSE,
    FIFTHS,
    HIGH,
    PRUNED,
    SMALLER,
    at_rate,
    ours,
    pairs,
    recipes,
    rmr,
    rsw,
    shown,
    swmr,
    windows,
)
from reticent.studies.wemem.scales import RATE, SCALES

HITS = "tpr_lira_0.01"


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    options = bench.options
    rows = {row.name: row for row in measure_all(bench, recipes(options))}
    base = rows[DENSE].job
    spec = narrowest(base, size(rows[PRUNED]))
    rows[SMALLER] = measure(
        bench, SMALLER, bench.job(architecture=asked(spec)), f"as many parameters as {PRUNED} has left, not pruned"
    )
    found = collect(list(rows.values()), pairs(options))
    attacked = [f"auc_{attack}" for attack in JUDGED]
    held = matches((name, SMALLER) for name in (PRUNED, *ours(options).values()))
    matched(bench, found, list(rows.values()), held, attacked)
    whole = size(rows[DENSE])
    found.numbers |= {(name, "share"): Estimate(size(row) / whole) for name, row in rows.items()}
    scores, seconds = _memorisation(bench, rows[ours(options)["rsw"]])
    for name in shown(options):
        _by_memorisation(bench, found, rows[name], scores)
    _visited(found, rows.values())
    _timed(found, rows, seconds, ours(options)["rsw"])
    return found


def _memorisation(bench: Bench, row: Measured) -> tuple[Floats, list[float]]:
    """Read the scores of each model's members ``(M, N)``, NaN for others, and the seconds that they took."""
    population = row.job.population
    scores, seconds = np.full(population.membership.matrix.shape, np.nan), list[float]()
    with bench.made(row.job) as (store, made):
        for one in made:
            spec = population.memorisation_spec(one.model)
            assert spec is not None
            run = store.whole(identity(spec))
            members = population.membership.members(one.model)
            scores[one.model, members] = run.arrays(f"{spec.kind}.safetensors")["scores"]
            seconds.append(run.read(MemorisationFacts).seconds)
    return scores, seconds


def fifths(scores: Floats) -> list[Bools]:
    """Divide the members of each model into fifths by their scores ``(M, N)``, the least memorised first."""
    count = np.isfinite(scores).sum(axis=1, keepdims=True)
    place = np.where(np.isfinite(scores), scores, np.inf).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    return [(place * len(FIFTHS) // count == part) & np.isfinite(scores) for part in range(len(FIFTHS))]


def _by_memorisation(bench: Bench, found: Found, row: Measured, scores: Floats) -> None:
    """Count which share of each fifth of the members LiRA finds, at each target's own threshold as it is."""
    members = row.job.population.membership.matrix
    limits = [roc(one, own).at_fpr(RATE).threshold for one, own in zip(row.scores["lira"], members, strict=True)]
    hits = row.scores["lira"] >= np.array(limits)[:, None]
    weights = record_weights(row.job, bench.seed, members)
    each: list[Measures] = [means({"hit": hits}, part, weights) for part in fifths(scores)]
    for name, one in zip(FIFTHS, each, strict=True):
        found.numbers[row.name, name] = one["hit_members"].estimate()
    rise = combined([(1.0, each[-1]["hit_members"]), (-1.0, each[0]["hit_members"])])
    found.numbers[of_members(row.name), HITS] = rise


def _visited(found: Found, rows: Iterable[Measured]) -> None:
    """Put down which share of the members the last fine-tuning visited, and which is at risk."""
    for row in rows:
        facts = [one.facts.sampler for one in row.made if one.facts.sampler is not None]
        if len(facts) != len(row.made):
            continue
        found.numbers[row.name, "visited"] = Estimate.over((one.visited for one in facts), partial=True)
        risky = [one.risky for one in facts if one.risky is not None]
        if risky:
            found.numbers[row.name, "risky"] = Estimate.over(risky, partial=True)


def _timed(found: Found, rows: Mapping[str, Measured], scoring: Sequence[float], windowed: str) -> None:
    """Put down what pruning took after the first training, without the scores; and of one row the share of Base's."""
    taken = {}
    for name, row in rows.items():
        stages = [[one for one in made.facts.stages if one.name not in {FIRST, SCORING}] for made in row.made]
        if all(stages):
            taken[name] = [sum(one.seconds for one in each) for each in stages]
            found.numbers[name, "pruning_seconds"] = Estimate.over(taken[name])
    base, own = taken[PRUNED], taken[windowed]
    pair = beside(windowed, PRUNED)
    found.numbers[pair, "pruning_time"] = _ratio(own, base)
    found.numbers[pair, "scored_time"] = _ratio([sum(both) for both in zip(own, scoring, strict=True)], base)
    found.numbers[windowed, "scoring_seconds"] = Estimate.over(scoring)


def _ratio(own: Sequence[float], base: Sequence[float]) -> Estimate:
    """Take by which share times differ from others, model by model."""
    return Estimate.over(one / other - 1 for one, other in zip(own, base, strict=True))


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw true positives by memorisation, and accuracy and leak over width, strength and rate; and all rows."""
    options = setting.options
    places = tuple(map(float, range(len(FIFTHS))))
    numbers = {name: [results.get(setting.key, name, part) for part in FIFTHS] for name in shown(options)}
    by_fifth = LinesPanel(
        title="LiRA's TPR at 1 % by memorisation",
        x="members, from least to most memorised",
        y="TPR at 1 %",
        form="share",
        ticks=tuple(name.split()[0] for name in FIFTHS),
        series=tuple(
            Points(label=name, x=places, estimates=tuple(None if one is None else one.finding() for one in each))
            for name, each in numbers.items()
        ),
    )
    middle = windows(options)[0]
    alike = [one for one in windows(options) if (one.order, one.stride) == (HIGH, middle.stride)]
    high = sorted(alike, key=lambda one: one.width)
    rates = sorted((*options["rates"], options["rate"]))
    over: dict[str, dict[str, dict[float, str]]] = {
        "width of RSW's window": {"RSW, high to low": {float(one.width): rsw(one) for one in high}},
        "lambda of RMR": {"RMR": {one: rmr(one) for one in options["strengths"]}},
        "share that is pruned": {
            title: {one: name if one == options["rate"] else at_rate(name, one) for one in rates}
            for title, name in ((PRUNED, PRUNED), ("SWMR", swmr(middle)))
        },
    }
    panels = [
        _over(results, setting, x, series, metric)
        for x, series in over.items()
        if any(len(names) > 1 for names in series.values())
        for metric in ("accuracy", "auc_learned")
    ]
    title = f"Pruning and memorisation, {setting.label}"
    yield Figure(name=setting.key, title=title, panels=(by_fifth, *panels))
    names = tuple(one for one in results.rows(setting.key) if results.get(setting.key, one, "auc_lira"))
    by_row = tuple(dots(results, setting, names, metric) for metric in ROWS)
    yield Figure(name=f"{setting.key}-rows", title=f"All rows, {setting.label}", panels=by_row)


ROWS = ("accuracy", "auc_lira", "auc_learned", "excess_auc_learned")


def _over(
    results: Results, setting: Setting, x: str, series: Mapping[str, Mapping[float, str]], metric: str
) -> LinesPanel:
    """Draw a number over an option, whose values are names."""
    known = sorted({value for names in series.values() for value in names})
    placed = {
        title: [(float(known.index(value)), name) for value, name in names.items()] for title, names in series.items()
    }
    ticks = tuple(f"{value:g}" for value in known)
    return lines(results, setting, metric, x, placed, levels=(DENSE, PRUNED), ticks=ticks)


OWN = (
    Column(key="visited", label="Members visited", form="share"),
    Column(key="risky", label="Members at risk", form="share"),
    *(Column(key=name, label=f"TPR at 1 %, {name}", form="share") for name in FIFTHS),
    Column(key="pruning_seconds", label="Seconds of pruning", form="seconds"),
    Column(key="scoring_seconds", label="Seconds of scores", form="seconds"),
    *(
        Column(key=f"printed_{attack}", label=f"{WEMEM[attack]}, attack accuracy as printed", form="share")
        for attack in (*METRIC_ATTACKS, *NETWORK_ATTACKS)
    ),
)
STUDY = Study(
    name="wemem",
    title="Does iterative pruning give members away, and does weakening their memorisation mend it?",
    paper="Shang et al. (2025), Defending against membership inference attacks for iteratively pruned deep neural "
    "networks (WeMem), slides.",
    scales=SCALES,
    measure=measured,
    columns=(
        *columns("accuracy", "accuracy_members", "excess_accuracy", "share"),
        *columns(*(f"{what}_{attack}" for attack in JUDGED for what in ("auc", "excess_auc"))),
        *columns(HITS, *(f"auc_{attack}" for attack in WEMEM)),
        *OWN,
    ),
    claims=CLAIMS,
    published=PUBLISHED,
    draw=drawn,
    caution=(
        "Slides are at hand, and the text is not: two of the ten attacks, the estimator of memorisation scores and "
        "details of pruning filters are unknown. Scores are measured as docs/methods/rsw.md says. None was searched.",
        "The paper's attack accuracies are not AUCs, and its network attacks report plain accuracy among records of "
        "which 73.17 % are members: what always says member has that much. All numbers here are AUCs, for which it has "
        "one half.",
        f"Claims of the paper's are judged by {' and '.join(WEMEM[one] for one in PAPERS)} alone, one of its attacks "
        "by a threshold and one that is learned.",
        "Times were taken while other work ran on the machine; a share of time compares rows model by model.",
        "The true positives by memorisation take each target's threshold as it is.",
    ),
)
