"""Which part of a network must be trained again, and is it set back or trained on: the last layer, risky stages, all?

Paper: Fang and Kim, PPTP (arXiv 2602.02296), section 5.2.1 and figure 12: RelaxLoss from scratch, on the risky stages,
and on the last layer. The controls are not the paper's: the whole network for as many epochs, and the undefended one
stopped early where it is as accurate.
"""

from collections.abc import Callable, Iterator
from functools import partial

from reticent.findings.study import Figure
from reticent.studies.base import Bench, Claim, Found, Parts, Results, Setting, Study, each
from reticent.studies.excess import NONE, matched
from reticent.studies.judging import Part, reaches
from reticent.studies.measured import collect, differences, matches, measure_all
from reticent.studies.metrics import AUC, POINTS, beside, columns, dots, even
from reticent.studies.numbers import combined
from reticent.studies.pptp import rows
from reticent.studies.pptp.premises import (
    LACKS,
    MATCHED,
    NETWORKS,
    PREMISE,
    STRONGER,
    THEIRS,
    Asked,
    attacks,
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

JUDGED = (rows.SCRATCH, rows.ALL, rows.RISKY_TUNED, rows.RISKY)
"""Rows that are held against an undefended network of their accuracy."""
EVERYWHERE, OF_FIGURE = "In each setting", "In each setting of the figure's data, TinyImageNet"
MATCHES = [(rows.RISKY, other) for other in (rows.SCRATCH, rows.RISKY_TUNED, rows.ALL)]


def half(name: str) -> str:
    """Name the contrast of a row with the middle between no defense and the defense from scratch."""
    return f"{name}, less the middle of {NONE.lower()} and {rows.SCRATCH}"


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    made = {one.name: one for one in measure_all(bench, rows.designs(bench.options))}
    both = [(name, NONE) for name in made if name != NONE]
    found = collect(list(made.values()), differences([*both, (rows.RISKY, rows.SCRATCH)]))
    metrics = every(bench.setting)
    middle = [(-0.5, made[name]) for name in (NONE, rows.SCRATCH)]
    for name in rows.DESIGNS:
        for metric in metrics:
            weighed = [(1.0, made[name]), *middle]
            found.numbers[half(name), metric] = combined([(w, one.measures[metric]) for w, one in weighed])
    held = [made[name] for name in (NONE, *JUDGED)]
    matched(bench, found, held, matches(MATCHES), metrics)
    disparity(bench, found)
    return found


def _middle(names: tuple[str, ...], *, stronger: bool, less: bool) -> Parts:
    """Ask whether rows take away less than half of what the defense from scratch does, or more."""

    def asked(results: Results, one: Setting) -> Asked:
        for name in map(half, names):
            for metric in (f"auc_{attack}" for attack in attacks(one, stronger=stronger)):
                number = results.get(one.key, name, metric)
                yield metric, reaches(label(metric, name), number, 0.0, lower=not less, metric="difference")

    return _given(asked, stronger=stronger)


def _given(asked: Callable[[Results, Setting], Asked], *, stronger: bool) -> Parts:
    """Ask where RelaxLoss acts; under the paper's attacks, on the data set of its figure."""

    def parts(results: Results, one: Setting) -> Iterator[Part]:
        if stronger or shown(one, "tinyimagenet"):
            yield from given(results, one, rows.SCRATCH, asked(results, one), rows.SCRATCH)

    return each(parts)


def _lower(name: str, prefix: str = "", *, stronger: bool = True) -> Parts:
    """Ask whether each attack finds less, at matched accuracy."""
    return _given(lambda results, one: lowered(results, one, name, prefix, stronger=stronger), stronger=stronger)


def _shown(key: str, text: str, rule: str, names: tuple[str, ...], *, stronger: bool, less: bool = False) -> Claim:
    """Say what figure 12 shows, under its attacks, or under stronger ones."""
    return Claim(
        f"{key}{'-stronger' * stronger}",
        f"{text} ({STRONGER if stronger else THEIRS}).",
        "implied by section 5.2.1; attacks that the paper lacks" if stronger else "section 5.2.1, Figure 12",
        f"{EVERYWHERE if stronger else OF_FIGURE}: {rule} the middle between that of no defense and that of RelaxLoss "
        f"from scratch. {PREMISE}",
        _middle(names, stronger=stronger, less=less),
        "ours" if stronger else "paper",
        () if stronger else NETWORKS,
    )


_last = partial(
    _shown,
    "last-layer",
    "To train the last layer alone again, set back or not, takes away little of what gives members away",
    "the AUC of both rows of the last layer is above",
    (rows.LAST_TUNED, rows.LAST),
    less=True,
)
_risky = partial(
    _shown,
    "risky-stages",
    "To set the risky stages back and train them again takes most of it away",
    "the AUC with the risky stages set back is below",
    (rows.RISKY,),
)


def _beats(key: str, other: str, what: str, source: str, *, stronger: bool = True) -> Claim:
    return Claim(
        key,
        f"{what} ({STRONGER if stronger else THEIRS}, at matched accuracy).",
        source,
        f"In each setting: the AUC of the risky stages set back, less that of its early-stopped control, less the same "
        f"of {other.lower() if other != rows.SCRATCH else other}, is below zero by {AUC:g} or more. {MATCHED}",
        _lower(even(rows.RISKY, other), stronger=stronger),
        "ours",
    )


CLAIMS = (
    _last(stronger=False),
    _risky(stronger=False),
    Claim(
        "from-scratch",
        f"The risky stages set back are as accurate as RelaxLoss from scratch, and give no more away ({THEIRS}).",
        "section 5.2.1, Figure 12",
        f"{OF_FIGURE}: against RelaxLoss from scratch, accuracy is not lower by more than "
        f"{100 * POINTS:g} points, and no AUC higher by {AUC:g} or more. {PREMISE}",
        _given(partial(traded, pair=beside(rows.RISKY, rows.SCRATCH), stronger=False), stronger=False),
        networks=NETWORKS,
    ),
    _beats(
        "rewinding",
        rows.RISKY_TUNED,
        "Setting the risky stages back gives less away than training them on",
        "implied by section 5.2.1, which argues that rewinding is more adequate and does not show it",
        stronger=False,
    ),
    _last(stronger=True),
    _risky(stronger=True),
    _beats(
        "from-scratch-stronger",
        rows.SCRATCH,
        "The risky stages set back give less away than RelaxLoss from scratch",
        "implied by section 5.2.1; attacks that the paper lacks",
    ),
    _beats(
        "half-as-long",
        rows.ALL,
        "The risky stages set back give less away than the whole network trained from its initial values as long",
        LACKS,
    ),
    Claim(
        "control",
        f"The risky stages set back give less away than an undefended network of their accuracy ({STRONGER}).",
        LACKS,
        f"In each setting: the AUC is lower than that of the early-stopped control by {AUC:g} or more. {MATCHED}",
        _lower(rows.RISKY, "excess_"),
        "ours",
    ),
)
DRAWN = ("accuracy", "auc_modified-entropy", "auc_correctness", "auc_lira", "excess_auc_lira")


def drawn(results: Results, setting: Setting) -> Iterator[Figure]:
    """Draw accuracy and leak of every design."""
    names = tuple(rows.designs(setting.options))
    yield Figure(
        name=setting.key,
        title=f"What is trained again, {setting.label}",
        panels=tuple(dots(results, setting, names, metric) for metric in DRAWN),
    )


COLUMNS = columns(
    *("accuracy", "accuracy_members", "excess_accuracy"),
    *("auc_correctness", "auc_confidence", "auc_entropy", "auc_modified-entropy", "auc_nasr"),
    *("auc_lira", "excess_auc_lira", "tpr_lira_0.01", "auc_rmia", "excess_auc_rmia", "seconds"),
)
CAUTION = (
    "The paper prints no number of these figures, and names no optimizer, epochs, batch size or chosen value of a "
    "defense: what its text says is judged, with values from its grid that were fixed before anything was attacked. "
    "Each model has half of the records, so at scale paper half of what the paper's has.",
    "The stage is given, the same for all models; where membership begins to show was measured on the first model's "
    "members of each seed, and stands in the notes.",
    "Rows of PPTP share the first training with the undefended network, and their second one has half of the epochs.",
)
STUDY = Study(
    name="pptp-designs",
    title="Which part of a network must be trained again with a defense, and is it set back or trained on?",
    paper=PAPER,
    scales=scales(cost="about ten minutes on two cores."),
    measure=measured,
    columns=COLUMNS,
    claims=CLAIMS,
    published=(table(rows.SCRATCH),),
    draw=drawn,
    caution=CAUTION,
)
