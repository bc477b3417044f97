"""The claims of `cwrf-defenses`; the differences that matter were fixed before anything was measured.

What the paper says is judged as it says it, and of the cells of Table 3 that say it: AUC and TPR as they are, at an
accuracy that is kept. What it lacks is judged as ours: at matched accuracy, and against the same defense shorter,
longer, without rewinding and with a mask by chance.
"""

import math
from collections.abc import Callable, Iterator

from reticent.findings.study import Reason
from reticent.studies.base import Claim, Parts, Results, Setting, each
from reticent.studies.cwrf_defenses.printed import (
    BETTER,
    CONTROLS,
    KINDS,
    PUBLISHED,
    TITLES,
    WITH,
    kept,
    lowered,
    networks,
    titles,
)
from reticent.studies.cwrf_shared import COLLAPSED, lower, lowers
from reticent.studies.excess import NONE, UNMATCHED
from reticent.studies.judging import Part, better, no_worse, reaches, voided
from reticent.studies.metrics import ATTACKS, AUC, JUDGED, METRICS, POINTS, difference

NETWORKS = tuple(KINDS.values())
"""The kinds of network that Table 3 has."""
OF_AUC, OF_TPR = 0.03, 0.1
"""The smallest share of what a defense alone leaves that matters: of an AUC's part above one half (0.01 of the 0.35
that the undefended ResNet of Table 3 has), and of a TPR."""
STEADIER = -math.log(0.8)
"""By how much the logarithm of a deviation must fall: by a fifth."""
RECOVERED = 0.1
"""By how much more accurate is a recovery from a training that failed."""
CONDITION = (
    f"where {{}} alone is not shown to lower {{}}, against no defense, by {AUC:g} or more, or is less than "
    f"{100 * COLLAPSED:g} % accurate: the paper joins CWRF to defenses that act."
)
NEAR = 0.05
"""So near to the paper's, in accuracy and in LiRA's AUC, must the undefended row be where its setting is run."""
ELSEWHERE = (
    f"Nor can it where the paper's own setting was run and the undefended row is not within {100 * NEAR:g} points of "
    f"the printed accuracy, or its LiRA AUC within {NEAR:g}."
)
LACKS = "implied by Table 3; a control that the paper lacks"
UNDEFENDED = {table.group: table.rows[NONE] for table in PUBLISHED}
Asked = Callable[[Results, Setting, str], Iterator[Part]]
"""What is asked of a setting and the title of a defense."""


def alone(title: str) -> str:
    """Name the contrast of a defense with CWRF and without, as they are."""
    return f"CWRF on {title}"


def matched(title: str) -> str:
    """Name the same contrast at matched accuracy."""
    return f"CWRF on {title}, matched"


def against(title: str, control: str) -> str:
    """Name the contrast of CWRF on a defense and one of its controls, at matched accuracy."""
    return f"CWRF on {title}, against {control}"


def _alike(results: Results, one: Setting) -> bool:
    """Say whether the paper's setting is one: what is undefended leaks as much, and is as accurate, as is printed."""
    known = UNDEFENDED.get(one.published or "", {})
    numbers = {metric: results.get(one.key, NONE, metric) for metric in ("accuracy", "auc_lira") if known}
    return bool(one.unlike) or all(
        number is None or abs(number.value - known[metric][0]) <= NEAR for metric, number in numbers.items()
    )


def _void(results: Results, one: Setting, title: str, *attacks: str) -> Reason | None:
    """Say why nothing is told of what CWRF adds to a defense, if it acts against none of the attacks."""
    if not _alike(results, one):
        return "setting"
    acting = any(lowers(results, one, title, f"auc_{attack}") for attack in attacks)
    return None if acting else "condition"


def _of(name: str, ask: Asked) -> Parts:
    """Ask of each setting that has a defense."""
    title = TITLES[name]
    return each(lambda results, one: ask(results, one, title) if title in titles(one.options["defenses"]) else ())


def _metric(one: Setting, metric: str) -> str:
    """Name a number of Table 3 at the setting's own false positive rate."""
    return metric if metric.startswith("auc") else f"{metric.rpartition('_')[0]}_{one.options['fpr']:g}"


def _least(metric: str, left: float) -> float:
    """Say by how much a number must fall, of what a defense alone leaves."""
    return max(0.0, OF_AUC * (left - 0.5)) if metric.startswith("auc") else OF_TPR * left


def _printed(name: str, metric: str) -> Asked:
    """Ask what the paper says of its table: a lower AUC or TPR, at an accuracy that is kept."""
    attack = metric.split("_")[1]

    def ask(results: Results, one: Setting, title: str) -> Iterator[Part]:
        if not lowered(one, name, metric):
            return
        void, its = _void(results, one, title, attack), _metric(one, metric)
        left = results.get(one.key, title, its)
        least = 0.0 if left is None else _least(metric, left.value)
        number = results.get(one.key, alone(title), its)
        label = f"{METRICS[its].label}, {alone(title)}"
        yield voided(better(label, number, least, lower=True, metric="difference"), void)
        yield voided(difference(results, one, alone(title), "accuracy", no_worse), void)

    return ask


def _beyond(results: Results, one: Setting, title: str) -> Iterator[Part]:
    for attack, said in JUDGED.items():
        acting = lowers(results, one, title, f"auc_{attack}")
        label = f"AUC of {said}, what CWRF adds to {title} at matched accuracy"
        yield lower(results, one, matched(title), f"auc_{attack}", label, acting=acting)


def _controls(results: Results, one: Setting, title: str) -> Iterator[Part]:
    for control in CONTROLS if one.options["controls"] else ("shorter",):
        for attack, said in JUDGED.items():
            acting = lowers(results, one, title, f"auc_{attack}")
            label = f"AUC of {said}, CWRF on {title} against {_named(control, title)}"
            yield lower(results, one, against(title, control), f"auc_{attack}", label, acting=acting)


def _named(control: str, title: str) -> str:
    return {"shorter": f"{title} alone, as long as the fine-tuning", "longer": f"{title} alone, as long as both"}.get(
        control, f"the same {control}"
    )


def _undefended(results: Results, one: Setting) -> Iterator[Part]:
    for name in (title + WITH for title in titles(one.options["defenses"])):
        for attack, said in JUDGED.items():
            yield lower(results, one, name, f"excess_auc_{attack}", f"AUC of {said}, {name} against its control")


def _kept(results: Results, one: Setting) -> Iterator[Part]:
    for title, option in titles(one.options["defenses"]).items():
        name = option.partition(":")[0]
        if name != "none" and kept(one, name):
            part = difference(results, one, alone(title), "accuracy", no_worse)
            yield voided(part, _void(results, one, title, *ATTACKS))


def _steadier(results: Results, one: Setting, title: str) -> Iterator[Part]:
    if one.base["dataset"] not in BETTER:
        number = results.get(one.key, alone(title), "spread")
        label = f"logarithm of the ratio of accuracy's deviations, CWRF on {title}"
        part = better(label, number, STEADIER, lower=True, metric="difference")
        yield voided(part, _void(results, one, title, *ATTACKS))


def _recovers(results: Results, one: Setting, title: str) -> Iterator[Part]:
    if one.base["dataset"] == "cifar100":
        number = results.get(one.key, title, "accuracy")
        yield reaches(f"accuracy, {title}", number, COLLAPSED, lower=True, metric="share")
        more = results.get(one.key, alone(title), "accuracy")
        yield better(f"accuracy, CWRF on {title}", more, RECOVERED, metric="points")


def _gains(name: str, metric: str) -> Claim:
    title, attack = TITLES[name], metric.split("_")[1]
    said, of_auc = ATTACKS[attack], metric.startswith("auc")
    what = (
        f"the AUC is lower by {100 * OF_AUC:g} % or more of what {title} alone leaves above one half"
        if of_auc
        else f"the TPR at the setting's false positive rate is lower by {100 * OF_TPR:g} % or more of that of {title} "
        "alone"
    )
    return Claim(
        f"{name}-{attack}" if of_auc else f"{name}-{attack}-tpr",
        f"CWRF + {title} gives {said} less to find{'' if of_auc else ' at a low false positive rate'} than {title} "
        "alone, and is as accurate.",
        "Table 3 and section 5.2" if of_auc else "Table 3",
        f"In each setting that has it, and of which the paper prints or says so: {what}, at an accuracy that is not "
        f"lower by more than {100 * POINTS:g} points. It can't be told {CONDITION.format(title, 'its AUC')} "
        f"{ELSEWHERE}",
        _of(name, _printed(name, metric)),
        networks=networks(name, metric),
    )


def _ours(name: str) -> tuple[Claim, Claim]:
    said = "cross-entropy" if name == "none" else TITLES[name]
    condition = "" if name == "none" else f" Nor can it {CONDITION.format(said, 'that AUC')}"
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


PRINTED = tuple(metric for attack in ATTACKS for metric in (f"auc_{attack}", f"tpr_{attack}_0.001"))
"""What Table 3 prints of each attack and is asked here."""
ACTS = CONDITION.format("the defense", "the AUC of LiRA or RMIA")
CLAIMS = (
    *(_gains(name, metric) for name in TITLES for metric in PRINTED if networks(name, metric)),
    Claim(
        "utility",
        "CWRF costs a defense no accuracy.",
        "section 5.2: utility is kept",
        f"In each setting and for each defense that the paper has there: accuracy with CWRF is not lower than without "
        f"it by more than {100 * POINTS:g} points. It can't be told {ACTS} {ELSEWHERE}",
        each(_kept),
        networks=NETWORKS,
    ),
    Claim(
        "steadier",
        "With CWRF, the accuracy of RelaxLoss varies less from model to model.",
        "section 5.2 and Table 3: stability",
        f"In each setting of CIFAR-10 that has it: the standard deviation of accuracy over models is lower by a fifth "
        f"or more. One seed gives it no interval. (The paper's is over three runs; here each model has its own half of "
        f"the records.) It can't be told {CONDITION.format('RelaxLoss', 'the AUC of LiRA or RMIA')} {ELSEWHERE}",
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
        networks=("ResNet",),
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
