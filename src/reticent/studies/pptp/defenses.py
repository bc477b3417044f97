"""Does PPTP help a defense: each with and without it, and after CS-KD, under the paper's attacks and stronger ones?

Paper: Fang and Kim, PPTP (arXiv 2602.02296), section 5.2.2 and figures 13 to 15. The controls are not the paper's: the
defense alone for as many epochs as PPTP's second training, and the undefended network stopped early where it is as
accurate.
"""

from collections.abc import Callable, Iterator

from reticent.findings.study import AnyPanel, Figure
from reticent.studies.base import Bench, Claim, Found, Results, Setting, Study, each
from reticent.studies.beyond import NONE, against, matched
from reticent.studies.judging import Part, better, no_worse, provided
from reticent.studies.measured import collect, differences, matches, measure_all
from reticent.studies.metrics import AUC, CORRECTNESS, METRICS, at, beside, difference, dots, lines
from reticent.studies.pptp import rows
from reticent.studies.pptp.designs import CAUTION, COLUMNS
from reticent.studies.pptp.premises import (
    LACKS,
    MATCHED,
    NETWORKS,
    OURS,
    PAPERS,
    PREMISE,
    SAME,
    STRONGER,
    THEIRS,
    attacks,
    disparity,
    premise,
)
from reticent.studies.pptp.settings import PAPER, scales

RIGHT = f"auc_{CORRECTNESS}"


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    titles = list(bench.options["defenses"])
    made = measure_all(bench, rows.defenses(bench.options))
    both = [pair for title in titles for pair in rows.added(title)]
    first = (rows.CS_KD, rows.RELAXLOSS)
    found = collect(made, differences([*both, first, *((title, NONE) for title in titles)]))
    metrics = [f"auc_{attack}" for attack in (*PAPERS, *OURS)]
    matched(bench, found, made, matches([*both, first]), metrics)
    disparity(bench, found)
    return found


Parts = Callable[[Results], list[Part]]


def _trade(name: str, title: str, *, stronger: bool) -> Parts:
    """Ask whether a row is more accurate than a defense alone, and gives no more away."""

    def ask(results: Results, one: Setting) -> Iterator[Part]:
        holds, metrics = premise(results, one, title), [f"auc_{attack}" for attack in attacks(stronger)]
        for metric, taken, how in (
            ("accuracy", metrics[0], better),
            *((metric, metric, no_worse) for metric in metrics),
        ):
            yield provided(difference(results, one, beside(name, title), metric, how), holds(taken))

    return _of(title, ask)


def _of(title: str, ask: Callable[[Results, Setting], Iterator[Part]]) -> Parts:
    """Ask of each setting that has a defense."""
    return each(lambda results, one: ask(results, one) if title in one.options["defenses"] else ())


def _correct(results: Results, one: Setting) -> Iterator[Part]:
    """Ask whether the attack by correctness finds as much as before, with each defense."""
    for title in one.options["defenses"]:
        yield difference(results, one, beside(rows.with_pptp(title), title), RIGHT, no_worse, turned=True)


def _lower(title: str, other: str | None) -> Parts:
    """Ask whether LiRA and RMIA find less with PPTP than in another row, or in its control, at matched accuracy."""

    def ask(results: Results, one: Setting) -> Iterator[Part]:
        return against(results, one, rows.with_pptp(title), other, OURS, premise(results, one, title))

    return _of(title, ask)


def _key(title: str) -> str:
    return title.lower().replace("-", "")


def _claims(title: str) -> tuple[Claim, ...]:
    """Make the claims on one defense."""
    name, ours = rows.with_pptp(title), "implied by section 5.2.2; "
    return (
        Claim(
            f"{_key(title)}-trade",
            f"With PPTP {title} is more accurate, and gives no more away ({THEIRS}).",
            "section 5.2.2, Figures 13 to 15",
            f"In each setting that has it: with PPTP, against {title} alone, {SAME}. {PREMISE}",
            _trade(name, title, stronger=False),
            networks=NETWORKS,
        ),
        Claim(
            f"{_key(title)}-trade-stronger",
            f"With PPTP {title} is more accurate, and gives no more away ({STRONGER}).",
            f"{ours}attacks that the paper lacks",
            f"In each setting that has it: with PPTP, against {title} alone, {SAME}. {PREMISE}",
            _trade(name, title, stronger=True),
            "ours",
        ),
        Claim(
            f"{_key(title)}-matched",
            f"PPTP + {title} gives less away than {title} alone ({STRONGER}, at matched accuracy).",
            f"{ours}{LACKS}",
            f"In each setting that has it: the AUC of PPTP + {title} less that of its early-stopped control, less the "
            f"same of {title} alone, is below zero by {AUC:g} or more. {MATCHED}",
            _lower(title, title),
            "ours",
        ),
        Claim(
            f"{_key(title)}-half-as-long",
            f"PPTP + {title} gives less away than {title} alone for as many epochs ({STRONGER}, at matched accuracy).",
            f"{ours}{LACKS}",
            f"In each setting that has it: as above, against {title} alone for the epochs of PPTP's second training. "
            f"{MATCHED}",
            _lower(title, rows.shorter(title)),
            "ours",
        ),
        Claim(
            f"{_key(title)}-control",
            f"PPTP + {title} gives less away than an undefended network of its accuracy ({STRONGER}).",
            f"{ours}{LACKS}",
            f"In each setting that has it: the AUC is lower than that of the early-stopped control by {AUC:g} or more. "
            f"{MATCHED}",
            _lower(title, None),
            "ours",
        ),
    )


CLAIMS = (
    *(claim for title in rows.DEFENSES for claim in _claims(title)),
    Claim(
        "correctness",
        "The attack by correctness finds no less with PPTP.",
        "section 5.2.2, Figure 13",
        f"In each setting and for each defense: with PPTP, against the defense alone, that attack's AUC is not lower "
        f"by {AUC:g} or more.",
        each(_correct),
        networks=NETWORKS,
    ),
    Claim(
        "cs-kd",
        f"After CS-KD, PPTP + {rows.RELAXLOSS} is more accurate than {rows.RELAXLOSS} from scratch, and gives no more "
        f"away ({THEIRS}).",
        "section 5.2.2, Figure 14",
        f"In each setting: with CS-KD and PPTP, against {rows.RELAXLOSS} alone, {SAME}. {PREMISE}",
        _trade(rows.CS_KD, rows.RELAXLOSS, stronger=False),
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
    draw=drawn,
    caution=(
        *CAUTION,
        "SELENA takes part at scales gpu and paper alone: the paper itself saw its distillation explode on CIFAR-100.",
    ),
)
