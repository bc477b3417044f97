"""Does PPTP help a defense: each with and without it, and after CS-KD, under the paper's attacks and stronger ones?

Paper: Fang and Kim, PPTP (arXiv 2602.02296), section 5.2.2 and figures 13 to 15. The controls are not the paper's: the
defense alone for as many epochs as PPTP's second training, and the undefended network stopped early where it is as
accurate.
"""

from collections.abc import Callable, Iterator

from reticent.findings.study import AnyPanel, Figure
from reticent.studies.base import Bench, Claim, Found, Parts, Results, Setting, Study, each
from reticent.studies.excess import NONE, matched
from reticent.studies.judging import Part, better, no_worse
from reticent.studies.measured import collect, differences, matches, measure_all
from reticent.studies.metrics import AUC, CORRECTNESS, METRICS, POINTS, at, beside, dots, even, lines
from reticent.studies.pptp import rows
from reticent.studies.pptp.designs import CAUTION, COLUMNS
from reticent.studies.pptp.premises import (
    LACKS,
    MATCHED,
    NETWORKS,
    NO_LESS,
    PREMISE,
    SAME,
    STRONGER,
    THEIRS,
    Asked,
    disparity,
    every,
    given,
    label,
    lowered,
    shown,
    table,
    traded,
)
from reticent.studies.pptp.settings import PAPER, scales

RIGHT = f"auc_{CORRECTNESS}"
BY_ACCURACY = POINTS / 2
"""By how much that AUC falls by itself where test accuracy gains what is asked: it is 1/2 and half of the gap."""
SLIGHT = ("SELENA",)
"""Defenses of which the paper says that the improvement is very slight."""


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    titles = list(bench.options["defenses"])
    made = measure_all(bench, rows.defenses(bench.options))
    both = [pair for title in titles for pair in rows.added(title)]
    first = (rows.CS_KD, rows.RELAXLOSS)
    found = collect(made, differences([*both, first, *((title, NONE) for title in titles)]))
    metrics = every(bench.setting)
    matched(bench, found, made, matches([*both, first]), metrics)
    disparity(bench, found)
    return found


def _trade(name: str, title: str, *, stronger: bool, dataset: str = "") -> Parts:
    """Ask whether a row is more accurate than a defense alone (SELENA: no less), and gives no more away."""
    pair, accurate = beside(name, title), no_worse if title in SLIGHT else better

    def asked(results: Results, one: Setting) -> Asked:
        if not dataset or shown(one, dataset):
            yield from traded(results, one, pair, stronger=stronger, accurate=accurate)

    return _of(title, asked)


def _lower(title: str, name: str, prefix: str = "") -> Parts:
    """Ask whether LiRA and RMIA find less, at matched accuracy."""
    return _of(title, lambda results, one: lowered(results, one, name, prefix))


def _of(title: str, asked: Callable[[Results, Setting], Asked]) -> Parts:
    """Ask where there is the defense."""

    def parts(results: Results, one: Setting) -> Iterator[Part]:
        if title in one.options["defenses"]:
            yield from given(results, one, title, asked(results, one))

    return each(parts)


def _correct(results: Results, one: Setting) -> Iterator[Part]:
    """Ask whether the attack by correctness finds about as much as before, with each defense."""
    for title in one.options["defenses"] if shown(one, "cifar100") else ():
        pair = beside(rows.with_pptp(title), title)
        number = results.get(one.key, pair, RIGHT)
        yield no_worse(label(RIGHT, pair), number, BY_ACCURACY + AUC, metric="difference")


def _key(title: str) -> str:
    return title.lower().replace("-", "")


def _claims(title: str) -> tuple[Claim, ...]:
    name, short = rows.with_pptp(title), rows.shorter(title)
    ours = "implied by section 5.2.2; "
    what, asked = ("no less", NO_LESS) if title in SLIGHT else ("more", SAME)
    return (
        Claim(
            f"{_key(title)}-trade",
            f"With PPTP {title} is {what} accurate, and gives no more away ({THEIRS}).",
            "section 5.2.2, Figures 13 to 15",
            f"In each setting that has it: with PPTP, against {title} alone, {asked}. {PREMISE}",
            _trade(name, title, stronger=False),
            networks=NETWORKS,
        ),
        Claim(
            f"{_key(title)}-trade-stronger",
            f"With PPTP {title} is {what} accurate, and gives no more away ({STRONGER}).",
            f"{ours}attacks that the paper lacks",
            f"In each setting that has it: with PPTP, against {title} alone, {asked}. {PREMISE}",
            _trade(name, title, stronger=True),
            "ours",
        ),
        Claim(
            f"{_key(title)}-matched",
            f"PPTP + {title} gives less away than {title} alone ({STRONGER}, at matched accuracy).",
            f"{ours}{LACKS}",
            f"In each setting that has it: the AUC of PPTP + {title} less that of its early-stopped control, less the "
            f"same of {title} alone, is below zero by {AUC:g} or more. {MATCHED}",
            _lower(title, even(name, title)),
            "ours",
        ),
        Claim(
            f"{_key(title)}-half-as-long",
            f"PPTP + {title} gives less away than {title} alone for as many epochs ({STRONGER}, at matched accuracy).",
            f"{ours}{LACKS}",
            f"In each setting that has it: as above, against {title} alone for the epochs of PPTP's second training. "
            f"{MATCHED}",
            _lower(title, even(name, short)),
            "ours",
        ),
        Claim(
            f"{_key(title)}-control",
            f"PPTP + {title} gives less away than an undefended network of its accuracy ({STRONGER}).",
            f"{ours}{LACKS}",
            f"In each setting that has it: the AUC is lower than that of the early-stopped control by {AUC:g} or more. "
            f"{MATCHED}",
            _lower(title, name, "excess_"),
            "ours",
        ),
    )


CLAIMS = (
    *(claim for title in rows.DEFENSES for claim in _claims(title)),
    Claim(
        "correctness",
        "The attack by correctness finds about as much with PPTP.",
        "section 5.2.2, Figure 13",
        f"In each setting of CIFAR-100 and for each defense: with PPTP, against the defense alone, that attack's AUC "
        f"is not lower by {BY_ACCURACY + AUC:g} or more, of which {BY_ACCURACY:g} is what {100 * POINTS:g} points of "
        "test accuracy take off it.",
        each(_correct),
        networks=NETWORKS,
    ),
    Claim(
        "cs-kd",
        f"After CS-KD, PPTP + {rows.RELAXLOSS} is more accurate than {rows.RELAXLOSS} from scratch, and gives no more "
        f"away ({THEIRS}).",
        "section 5.2.2, Figure 14",
        f"In each setting of TinyImageNet: with CS-KD and PPTP, against {rows.RELAXLOSS} alone, {SAME}. {PREMISE}",
        _trade(rows.CS_KD, rows.RELAXLOSS, stronger=False, dataset="tinyimagenet"),
        networks=NETWORKS,
    ),
)
DRAWN = ("accuracy", "auc_modified-entropy", RIGHT, "auc_lira", "excess_auc_lira")


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy and leak of every row, and the leak over accuracy."""
    names = tuple(rows.defenses(setting.options))
    panels: list[AnyPanel] = [dots(results, setting, names, metric) for metric in DRAWN]
    series = {name: at(results, setting, [name], "accuracy") for name in names}
    panels += [
        lines(results, setting, metric, "accuracy, non-members", series, title=f"{METRICS[metric].label} over accuracy")
        for metric in ("auc_modified-entropy", "auc_lira")
    ]
    yield Figure(name=setting.key, title=f"Defenses with and without PPTP, {setting.label}", panels=tuple(panels))


STUDY = Study(
    name="pptp-defenses",
    title="Does PPTP help a defense that it is joined to, with accuracy and time taken into account?",
    paper=PAPER,
    scales=scales(selena=True, cost="about a quarter of an hour on two cores."),
    measure=measured,
    columns=COLUMNS,
    claims=CLAIMS,
    published=(table(rows.RELAXLOSS),),
    draw=drawn,
    caution=(
        *CAUTION,
        "SELENA takes part on TinyImageNet alone: on CIFAR-100 the paper saw its distillation explode, and has none.",
    ),
)
