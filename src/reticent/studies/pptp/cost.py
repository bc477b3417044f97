"""Does PPTP make a defended training cheaper, in time and in memory, and is that more than fewer epochs?

Paper: Fang and Kim, PPTP (arXiv 2602.02296), section 5.2.3 and figure 16, on a GPU. Its second training alone is held
against the defense from scratch; the controls, which the paper lacks, are the defense alone for as many epochs, and the
sum of both trainings. One model is trained at a time, each in a process of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reticent.findings.study import Column, DotsPanel, Figure
from reticent.options import Options
from reticent.studies.base import Bench, Claim, Found, Parts, Results, Scale, Setting, Study, each
from reticent.studies.excess import NONE, UNDEFENDED
from reticent.studies.judging import Part, better, no_worse, reaches
from reticent.studies.measured import Recipe, Recipes
from reticent.studies.metrics import beside
from reticent.studies.numbers import Estimate
from reticent.studies.pptp import rows
from reticent.studies.pptp.premises import LACKS, NETWORKS
from reticent.studies.pptp.settings import PAPER, scales
from reticent.studies.pptp.timing import Taken, alone

LEAST = 0.1
"""The smallest share of time or memory that matters."""
TWICE = 1.0
"""As much again: the most memory beyond that of training from scratch."""
ONE: Options = {"models": 2, "attacks": ("loss",)}
"""The first of a population is trained, and none is attacked."""
EXACT = 1e-3
"""A ratio errs at least by so much, however alike the repetitions are."""
TIME, MEMORY = "relative_time", "relative_memory"
REPEATS = "repeats"


def frozen(title: str) -> str:
    """Name PPTP by the other reading of Table 6, in which the stage where freezing stops is the last that stays."""
    return f"{title}, its stage stays, PPTP"


def whole(title: str) -> str:
    """Name both trainings of PPTP together."""
    return f"{rows.with_pptp(title)}, both trainings"


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    job, found, times = bench.job(**ONE), Found(), dict[str, list[Taken]]()
    half = max(1, job.population.recipe.epochs // 2)
    with bench.made(job) as (store, made):
        first = made[0].training
        for turn in range(bench.options[REPEATS]):
            for name, recipe in _recipes(bench, half).items():
                bench.say(f"{name}, repetition {turn + 1}")
                asked = recipe.job(bench, **ONE)
                found.rows[name] = recipe.about
                repaired = first if name.endswith(rows.with_pptp("")) else None
                times.setdefault(name, []).append(alone(asked.population, store, asked.executor.device, repaired))
    for name, taken in times.items():
        found.numbers |= {
            (name, "seconds"): Estimate.over(one.seconds for one in taken),
            (name, "training"): Estimate.over(one.training for one in taken),
        }
        known = [float(one.bytes) for one in taken if one.bytes is not None]
        if len(known) == len(taken):
            found.numbers[name, "peak_memory_bytes"] = Estimate.over(known)
    plain = times[NONE]
    for title in bench.options["defenses"]:
        scratch, again = times[title], times[rows.with_pptp(title)]
        both = [Taken(one.seconds + two.seconds, None, 0.0) for one, two in zip(plain, again, strict=True)]
        found.rows[whole(title)] = "plain training, and what PPTP does after it"
        found.numbers[whole(title), "seconds"] = Estimate.over(one.seconds for one in both)
        ratios = {(beside(whole(title), title), TIME): _ratio(both, scratch, "seconds")}
        for name, other in rows.added(title):
            for metric, fact in ((TIME, "seconds"), (MEMORY, "bytes")):
                ratios[beside(name, other), metric] = _ratio(times[name], times[other], fact)
        found.numbers |= {key: one for key, one in ratios.items() if one is not None}
    return found


def _recipes(bench: Bench, half: int) -> Recipes:
    stage, listed = bench.options["stage"], {NONE: UNDEFENDED}
    for title, defense in bench.options["defenses"].items():
        joined, other = rows.joined(stage, defense), rows.joined(stage, defense, boundary="frozen")
        listed[title] = Recipe(defense, defense)
        listed[rows.with_pptp(title)] = Recipe(joined, f"what PPTP does after plain training, from {stage} on")
        listed[frozen(title)] = Recipe(other, f"the same with {stage} kept too: the other reading of Table 6")
        listed[rows.shorter(title)] = Recipe(defense, f"{defense}, for the epochs of PPTP's second training", half)
    return listed


def _ratio(own: Sequence[Taken], base: Sequence[Taken], fact: str) -> Estimate | None:
    """Take by which share costs differ from others, repetition by repetition."""
    pairs = [(getattr(one, fact), getattr(other, fact)) for one, other in zip(own, base, strict=True)]
    if not all(one is not None and other for one, other in pairs):
        return None
    made = Estimate.over(one / other - 1 for one, other in pairs)
    return replace(made, error=max(made.error, EXACT)) if len(pairs) > 1 else made


def _asked(of: Callable[[str], tuple[str, str]], metric: str, ask: Callable[..., Part], level: float) -> Parts:
    """Ask of each defense how a cost differs from another."""

    def parts(results: Results, one: Setting) -> Iterator[Part]:
        for title in one.options["defenses"]:
            pair = beside(*of(title))
            what = "time" if metric == TIME else "memory"
            number = results.get(one.key, pair, metric)
            yield ask(f"relative {what}, {pair}", number, level, lower=True, metric="difference")

    return each(parts)


def _scratch(title: str) -> tuple[str, str]:
    return rows.with_pptp(title), title


def _short(title: str) -> tuple[str, str]:
    return rows.with_pptp(title), rows.shorter(title)


def _both(title: str) -> tuple[str, str]:
    return whole(title), title


FIGURE = "section 5.2.3, Figure 16"
SAVES = f"is less by {100 * LEAST:g} % or more"
CLAIMS = (
    Claim(
        "time",
        "PPTP's second training takes less time than the defense from scratch.",
        FIGURE,
        f"In each setting and for each defense: the time of what PPTP does after plain training, against the defense "
        f"from scratch, {SAVES}.",
        _asked(_scratch, TIME, better, LEAST),
        networks=NETWORKS,
    ),
    Claim(
        "memory",
        "PPTP's second training takes less memory than the defense from scratch.",
        FIGURE,
        f"In each setting and for each defense: the peak of memory, beyond what was held before, {SAVES}. On the CPU "
        "it is the process's resident memory, states before and after training among it; the paper's is CUDA's.",
        _asked(_scratch, MEMORY, better, LEAST),
        networks=NETWORKS,
    ),
    Claim(
        "time-half-as-long",
        "PPTP's second training takes less time than the defense alone for as many epochs.",
        LACKS,
        f"In each setting and for each defense: the time, against the defense alone for as many epochs, {SAVES}.",
        _asked(_short, TIME, better, LEAST),
        "ours",
    ),
    Claim(
        "time-both",
        "Both trainings of PPTP take no more time than the defense from scratch.",
        LACKS,
        f"In each setting and for each defense: plain training and what PPTP does after it take no more by "
        f"{100 * LEAST:g} % or more.",
        _asked(_both, TIME, no_worse, LEAST),
        "ours",
    ),
    Claim(
        "twice",
        "A repair by PPTP holds at most twice the memory of the defense from scratch.",
        "implied by Figure 16",
        "In each setting and for each defense: the peak of memory is less than twice that of the defense from scratch.",
        _asked(_scratch, MEMORY, reaches, TWICE),
        "ours",
    ),
)
COLUMNS = (
    Column(key="seconds", label="Seconds", form="seconds"),
    Column(key="training", label="Seconds of the defended training", form="seconds"),
    Column(key="peak_memory_bytes", label="Peak of memory", form="bytes"),
)


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw time and memory of every row."""
    names = tuple(results.rows(setting.key))
    panels = tuple(
        DotsPanel(
            title=column.label,
            x=column.label.lower(),
            names=names,
            series=(results.points(setting, names, column.key),),
            form=column.form,
        )
        for column in COLUMNS
    )
    yield Figure(name=setting.key, title=f"What training takes, {setting.label}", panels=panels)


def _timed(known: Scale, repeats: int, about: str, **shorter: int) -> Scale:
    """Ask a scale's settings for so many repetitions a seed."""
    settings = tuple(
        replace(one, options=one.options | {REPEATS: repeats}, base=one.base | shorter, published=None)
        for one in known.settings
    )
    return replace(known, settings=settings, about=about)


ALL = scales()
STUDY = Study(
    name="pptp-cost",
    title="Does PPTP make a defended training cheaper, in time and memory, and is that more than fewer epochs?",
    paper=PAPER,
    scales={
        "tiny": _timed(
            ALL["tiny"], 3, "A part of CIFAR-10 with a narrow ResNet20, 6 epochs, 3 repetitions: minutes.", epochs=6
        ),
        "small": _timed(
            ALL["small"], 2, "The same with more records, 12 epochs, 3 seeds, each twice: an hour.", epochs=12
        ),
        "gpu": _timed(ALL["gpu"], 3, "A part of CIFAR-100 with ResNet18, 3 repetitions: some minutes on a GPU."),
        "paper": _timed(ALL["paper"], 1, "CIFAR-100 and TinyImageNet with ResNet18, 3 seeds: a day on one GPU."),
    },
    measure=measured,
    columns=COLUMNS,
    claims=CLAIMS,
    draw=drawn,
    caution=(
        "Times are of a machine that may do other things; repetitions go through all rows in turn.",
        "Figure 16 is of a GPU, where activations are most of the memory. A network as narrow as that of scales tiny "
        "and small has few weights, so that most of its memory is activations and what the process needs.",
        "The second training has half of the epochs: how much of the time that saves by itself is a row of its own.",
        "The paper says that a large portion of the weights is frozen. As its Table 6 is read here, a small part of "
        "ResNet18 stays on CIFAR-100, and more by the other reading, which has a row of its own and no claim.",
    ),
    over="repetitions alone, with the model as it is",
)
