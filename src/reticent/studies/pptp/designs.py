"""Which part of a network must be trained again, and is it set back or trained on: the last layer, risky stages, all?

Paper: Fang and Kim, PPTP (arXiv 2602.02296), section 5.2.1 and figure 12: RelaxLoss from scratch, on the risky stages,
and on the last layer. The controls are not the paper's: the whole network for as many epochs, and the undefended one
stopped early where it is as accurate.
"""

from collections.abc import Callable, Iterator

from reticent.findings.study import Figure
from reticent.studies.base import Bench, Claim, Found, Results, Setting, Study, each
from reticent.studies.beyond import NONE, against, matched
from reticent.studies.judging import Part, provided, reaches
from reticent.studies.measured import collect, differences, matches, measure_all
from reticent.studies.metrics import AUC, METRICS, columns, dots
from reticent.studies.numbers import combined
from reticent.studies.pptp import rows
from reticent.studies.pptp.premises import (
    LACKS,
    MATCHED,
    NETWORKS,
    OURS,
    PAPERS,
    PREMISE,
    STRONGER,
    THEIRS,
    attacks,
    disparity,
    premise,
)
from reticent.studies.pptp.settings import PAPER, scales

JUDGED = (rows.SCRATCH, rows.ALL, rows.RISKY_TUNED, rows.RISKY)
"""Rows that are held against an undefended network of their accuracy."""
MATCHES = [(rows.RISKY, other) for other in (rows.SCRATCH, rows.RISKY_TUNED, rows.ALL)]


def half(name: str) -> str:
    """Name the contrast of a row with the middle between no defense and the defense from scratch."""
    return f"{name}, less the middle of {NONE.lower()} and {rows.SCRATCH}"


def measured(bench: Bench) -> Found:
    """Measure one setting with one seed."""
    made = {one.name: one for one in measure_all(bench, rows.designs(bench.options))}
    found = collect(list(made.values()), differences((name, NONE) for name in made if name != NONE))
    metrics = [f"auc_{attack}" for attack in (*PAPERS, *OURS)]
    middle = [(-0.5, made[name]) for name in (NONE, rows.SCRATCH)]
    for name in rows.DESIGNS:
        for metric in metrics:
            weighed = [(1.0, made[name]), *middle]
            found.numbers[half(name), metric] = combined([(w, one.measures[metric]) for w, one in weighed])
    held = [made[name] for name in (NONE, *JUDGED)]
    matched(bench, found, held, matches(MATCHES), metrics)
    disparity(bench, found)
    return found


Parts = Callable[[Results], list[Part]]


def _middle(names: tuple[str, ...], *, stronger: bool, less: bool) -> Parts:
    """Ask whether rows take away less than half of what the defense from scratch does, or more."""

    def ask(results: Results, one: Setting) -> Iterator[Part]:
        holds = premise(results, one, rows.SCRATCH)
        for name in map(half, names):
            for metric in (f"auc_{attack}" for attack in attacks(stronger)):
                number, said = results.get(one.key, name, metric), f"{METRICS[metric].name}, {name}, {one.label}"
                yield provided(reaches(said, number, 0.0, lower=not less, metric="difference"), holds(metric))

    return each(ask)


def _lower(other: str | None, *, stronger: bool) -> Parts:
    """Ask whether each attack finds less in the risky stages set back than in another row, or in their controls."""

    def ask(results: Results, one: Setting) -> Iterator[Part]:
        return against(results, one, rows.RISKY, other, attacks(stronger), premise(results, one, rows.SCRATCH))

    return each(ask)


def _last(*, stronger: bool) -> Claim:
    return Claim(
        f"last-layer{'-stronger' * stronger}",
        f"To train the last layer alone again, set back or not, takes away little of what gives members away "
        f"({STRONGER if stronger else THEIRS}).",
        "implied by section 5.2.1; attacks that the paper lacks" if stronger else "section 5.2.1, Figure 12",
        "In each setting: the AUC of both rows of the last layer is above the middle between that of no defense and "
        f"that of RelaxLoss from scratch. {PREMISE}",
        _middle((rows.LAST_TUNED, rows.LAST), stronger=stronger, less=True),
        "ours" if stronger else "paper",
        () if stronger else NETWORKS,
    )


def _risky(*, stronger: bool) -> Claim:
    return Claim(
        f"risky-stages{'-stronger' * stronger}",
        f"To set the risky stages back and train them again takes most of it away "
        f"({STRONGER if stronger else THEIRS}).",
        "implied by section 5.2.1; attacks that the paper lacks" if stronger else "section 5.2.1, Figure 12",
        "In each setting: the AUC with the risky stages set back is below the middle between that of no defense and "
        f"that of RelaxLoss from scratch. {PREMISE}",
        _middle((rows.RISKY,), stronger=stronger, less=False),
        "ours" if stronger else "paper",
        () if stronger else NETWORKS,
    )


def _beats(key: str, other: str, what: str, *, stronger: bool, source: str) -> Claim:
    return Claim(
        key,
        f"{what} ({STRONGER if stronger else THEIRS}, at matched accuracy).",
        source,
        f"In each setting: the AUC of the risky stages set back, less that of its early-stopped control, less the same "
        f"of {other.lower() if other != rows.SCRATCH else other}, is below zero by {AUC:g} or more. {MATCHED}",
        _lower(other, stronger=stronger),
        "ours" if stronger else "paper",
        () if stronger else NETWORKS,
    )


CLAIMS = (
    _last(stronger=False),
    _risky(stronger=False),
    _beats(
        "from-scratch",
        rows.SCRATCH,
        "The risky stages set back give less away than RelaxLoss from scratch",
        stronger=False,
        source="section 5.2.1, Figure 12: better trade-offs",
    ),
    _beats(
        "rewinding",
        rows.RISKY_TUNED,
        "Setting the risky stages back gives less away than training them on",
        stronger=False,
        source="section 5.2.1: rewinding is more adequate",
    ),
    _last(stronger=True),
    _risky(stronger=True),
    _beats(
        "from-scratch-stronger",
        rows.SCRATCH,
        "The risky stages set back give less away than RelaxLoss from scratch",
        stronger=True,
        source="implied by section 5.2.1; attacks that the paper lacks",
    ),
    _beats(
        "half-as-long",
        rows.ALL,
        "The risky stages set back give less away than the whole network trained from its initial values as long",
        stronger=True,
        source=LACKS,
    ),
    Claim(
        "control",
        f"The risky stages set back give less away than an undefended network of their accuracy ({STRONGER}).",
        LACKS,
        f"In each setting: the AUC is lower than that of the early-stopped control by {AUC:g} or more. {MATCHED}",
        _lower(None, stronger=True),
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
    *("auc_correctness", "auc_confidence", "auc_entropy", "auc_modified-entropy"),
    *("auc_lira", "excess_auc_lira", "tpr_lira_0.01", "auc_rmia", "excess_auc_rmia", "seconds"),
)
CAUTION = (
    "The paper prints no number of these figures, and names no optimizer, epochs, batch size or chosen value of a "
    "defense: what its text says is judged, with values from its grid that were fixed before anything was attacked.",
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
    draw=drawn,
    caution=CAUTION,
)
