"""The claims of `cwrf-defenses`; the differences that matter were fixed before anything was measured.

What the paper says is judged as it says it: AUC as it is, at an accuracy that is kept. What it lacks is judged as ours:
at matched accuracy, and against the same defense shorter, longer, without rewinding and with a mask by chance.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

from reticent.studies.base import Claim, Results, Setting, each
from reticent.studies.beyond import NONE, UNMATCHED, acts, against
from reticent.studies.cwrf_defenses.printed import PUBLISHED, TITLES, WITH, controls, titles
from reticent.studies.judging import Part, better, no_worse, provided, reaches
from reticent.studies.metrics import ATTACKS, AUC, POINTS, beside, difference

NETWORKS = ("ResNet", "ViT")
"""The kinds of network that Table 3 has."""
STEADIER = -math.log(0.8)
"""By how much the logarithm of a deviation must fall: by a fifth."""
COLLAPSED, RECOVERED = 0.1, 0.1
"""An accuracy on 100 classes below which training failed, and by how much more accurate is a recovery."""
CONDITION = (
    f"where {{}} alone is not shown to lower that AUC, against no defense, by {AUC:g} or more: the paper joins CWRF to "
    "defenses that act."
)
NEAR = 0.05
"""So near to the paper's, in accuracy and in LiRA's AUC, must the undefended row be where its setting is run."""
LACKS = "implied by Table 3; a control that the paper lacks"
UNDEFENDED = {table.group: table.rows[NONE] for table in PUBLISHED}
Asked = Callable[[Results, Setting, str], Iterator[Part]]
"""What is asked of a setting and the title of a defense."""


def joined(title: str) -> str:
    """Name the difference of a defense with CWRF and without."""
    return beside(title + WITH, title)


def _alike(results: Results, one: Setting) -> bool:
    """Say whether the paper's setting is one: what is undefended leaks as much, and is as accurate, as is printed."""
    known = UNDEFENDED.get(one.published or "", {})
    numbers = {metric: results.get(one.key, NONE, metric) for metric in ("accuracy", "auc_lira") if known}
    return bool(one.unlike) or all(
        number is None or abs(number.value - known[metric][0]) <= NEAR for metric, number in numbers.items()
    )


def _of(name: str, ask: Asked) -> Callable[[Results], list[Part]]:
    """Ask of each setting that has a defense."""
    title = TITLES[name]
    return each(lambda results, one: ask(results, one, title) if title in titles(one.options["defenses"]) else ())


def _printed(attack: str) -> Asked:
    """Ask what the paper says of its table: a lower AUC, at an accuracy that is kept."""

    def ask(results: Results, one: Setting, title: str) -> Iterator[Part]:
        acting = acts(results, one, title, f"auc_{attack}")
        for metric, how in ((f"auc_{attack}", better), ("accuracy", no_worse)):
            part = provided(difference(results, one, joined(title), metric, how), acting)
            yield provided(part, _alike(results, one), "setting")

    return ask


def _beyond(results: Results, one: Setting, title: str) -> Iterator[Part]:
    yield from against(results, one, title + WITH, title, holds=partial(acts, results, one, title))


def _controls(results: Results, one: Setting, title: str) -> Iterator[Part]:
    for ending in controls(one.options):
        yield from against(results, one, title + WITH, title + ending, holds=partial(acts, results, one, title))


def _undefended(results: Results, one: Setting) -> Iterator[Part]:
    for title in titles(one.options["defenses"]):
        yield from against(results, one, title + WITH)


def _kept(results: Results, one: Setting) -> Iterator[Part]:
    for title in titles(one.options["defenses"]):
        yield difference(results, one, joined(title), "accuracy", no_worse)


def _steadier(results: Results, one: Setting, title: str) -> Iterator[Part]:
    number = results.get(one.key, joined(title), "spread")
    label = f"logarithm of the ratio of accuracy's deviations, CWRF on {title}, {one.label}"
    yield better(label, number, STEADIER, lower=True, metric="difference")


def _recovers(results: Results, one: Setting, title: str) -> Iterator[Part]:
    if one.base["dataset"] == "cifar100":
        number = results.get(one.key, title, "accuracy")
        yield reaches(f"accuracy, {title}, {one.label}", number, COLLAPSED, lower=True, metric="share")
        more = results.get(one.key, joined(title), "accuracy")
        yield better(f"accuracy, CWRF on {title}, {one.label}", more, RECOVERED, metric="points")


def _gains(name: str, attack: str) -> Claim:
    title = TITLES[name]
    return Claim(
        f"{name}-{attack}",
        f"CWRF + {title} gives {ATTACKS[attack]} less to find than {title} alone, and is as accurate.",
        "Table 3",
        f"In each setting that has it: the AUC is lower by {AUC:g} or more, at an accuracy that is not lower by more "
        f"than {100 * POINTS:g} points. It can't be told {CONDITION.format(title)} Nor can it where the paper's own "
        f"setting was run and the undefended row is not within {100 * NEAR:g} points of the printed accuracy, or its "
        f"LiRA AUC within {NEAR:g}.",
        _of(name, _printed(attack)),
        networks=NETWORKS,
    )


def _ours(name: str) -> tuple[Claim, Claim]:
    said = "cross-entropy" if name == "none" else TITLES[name]
    condition = "" if name == "none" else f" Nor can it {CONDITION.format(said)}"
    return (
        Claim(
            f"{name}-matched",
            f"CWRF + {said} gives less to find than {said} alone, at matched accuracy.",
            LACKS,
            f"In each setting that has it, under LiRA, RMIA and the learned attack: the AUC of CWRF + {said} less that "
            f"of its early-stopped control, less the same of {said} alone, is below zero by {AUC:g} or more. "
            f"{UNMATCHED}{condition}",
            _of(name, _beyond),
            "ours",
        ),
        Claim(
            f"{name}-controls",
            f"It is the rewinding of vulnerable weights by which CWRF + {said} gives less to find.",
            LACKS,
            f"In each setting that has it, under LiRA, RMIA and the learned attack, and against each of: r = 0, a mask "
            f"by chance within each tensor, {said} alone for as many epochs as the fine-tuning has, and for as many as "
            f"both (in a setting of the main rows: for those of the fine-tuning): the AUC less that of the "
            f"early-stopped control is lower by {AUC:g} or more. {UNMATCHED}{condition}",
            _of(name, _controls),
            "ours",
        ),
    )


CLAIMS = (
    *(_gains(name, attack) for name in TITLES if name != "none" for attack in ATTACKS),
    Claim(
        "utility",
        "CWRF costs no accuracy, whatever it is joined to.",
        "section 5.2: utility is kept",
        f"In each setting and for each defense: accuracy with CWRF is not lower than without it by more than "
        f"{100 * POINTS:g} points.",
        each(_kept),
        networks=NETWORKS,
    ),
    Claim(
        "steadier",
        "With CWRF, the accuracy of RelaxLoss varies less from model to model.",
        "section 5.2: stability",
        "In each setting that has it: the standard deviation of accuracy over models is lower by a fifth or more. One "
        "seed gives it no interval. (The paper's is over three runs; here each model has its own half of the records.)",
        _of("relaxloss", _steadier),
        networks=NETWORKS,
    ),
    Claim(
        "converges",
        "On 100 classes HAMP alone fails to learn, and CWRF + HAMP does not.",
        "section 5.2, Fig. 5b",
        f"In each setting of CIFAR-100: HAMP's accuracy is below {100 * COLLAPSED:g} %, and that of CWRF + HAMP is "
        f"higher by {100 * RECOVERED:g} points or more.",
        _of("hamp", _recovers),
        networks=NETWORKS,
    ),
    *(claim for name in TITLES for claim in _ours(name)),
    Claim(
        "control",
        "CWRF gives less to find than an undefended network of its accuracy, whatever it is joined to.",
        LACKS,
        f"In each setting and for each defense, under LiRA, RMIA and the learned attack: with CWRF, the AUC is lower "
        f"than that of the early-stopped control by {AUC:g} or more. {UNMATCHED}",
        each(_undefended),
        "ours",
    ),
)
