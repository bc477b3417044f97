"""The claims of `cwrf-defenses`; the differences that matter were fixed before anything was measured."""

from collections.abc import Iterator
from dataclasses import replace

from reticent.findings.study import Reason
from reticent.studies.base import Claim, Results, Setting, each
from reticent.studies.cwrf_defenses.printed import NONE, TITLES, WITH, titles
from reticent.studies.judging import Part, better, no_worse
from reticent.studies.metrics import ATTACKS, AUC, POINTS

NETWORKS = ("ResNet", "ViT")
"""The kinds of network that Table 3 has."""
UNMATCHED = f"It can't be told where the interval of the accuracy that controls miss leaves {100 * POINTS:g} points."
CONDITION = (
    f" Nor can it where {{}} alone is not shown to lower that AUC, against no defense, by {AUC:g} or more: the paper "
    "joins CWRF to defenses that act."
)


def _matched(results: Results, setting: str, name: str) -> bool:
    """Say whether accuracy is matched: what the controls miss lies wholly within what does not matter."""
    missed = results.get(setting, name, "excess_accuracy")
    return missed is not None and missed.bounded and all(abs(end) <= POINTS for end in missed.limits())


def acts(title: str) -> str:
    """Name the contrast of a defense alone with none."""
    return f"{title} - {NONE}"


def _lowers(results: Results, one: Setting, title: str, metric: str) -> bool:
    """Say whether a defense alone lowers the leak, which the paper takes for granted."""
    number = results.get(one.key, acts(title), metric)
    return title == NONE or better(title, number, AUC, lower=True).answer() == "yes"


def _lower(results: Results, one: Setting, name: str, metric: str, label: str, *, acting: bool = True) -> Part:
    """Ask whether a leak is lower at matched accuracy, if that is matched and the defense does anything."""
    number = results.get(one.key, name, metric)
    void: Reason | None = None if _matched(results, one.key, name) else "unmatched"
    part = better(f"{label}, {one.label}", number, AUC, lower=True, metric="difference")
    return part if number is None else replace(part, void=void if acting else "condition")


def _gain(results: Results, one: Setting, title: str, attack: str) -> Iterator[Part]:
    if title in titles(one.options["defenses"]):
        metric, acting = f"auc_{attack}", _lowers(results, one, title, f"auc_{attack}")
        label = f"{ATTACKS[attack]} AUC, what CWRF adds to {title} at matched accuracy"
        yield _lower(results, one, f"CWRF on {title}, matched", metric, label, acting=acting)


def _control(results: Results, one: Setting) -> Iterator[Part]:
    for name in (title + WITH for title in titles(one.options["defenses"])):
        yield _lower(results, one, name, "excess_auc_lira", f"LiRA AUC, {name} against its control")


def _kept(results: Results, one: Setting) -> Iterator[Part]:
    for pair in (f"CWRF on {title}" for title in titles(one.options["defenses"])):
        number = results.get(one.key, pair, "accuracy")
        yield no_worse(f"accuracy, {pair}, {one.label}", number, POINTS, metric="points")


def _gains(name: str, attack: str) -> Claim:
    """Claim that CWRF helps a defense against an attack; the row without a defense is not the paper's."""
    title, ours = TITLES[name], name == "none"
    said = "cross-entropy" if ours else title
    return Claim(
        f"{name}-{attack}",
        f"CWRF + {said} gives {ATTACKS[attack]} less to find than {said} alone, at matched accuracy.",
        "implied by Table 3; a row that the paper lacks" if ours else "Table 3",
        f"In each setting that has it: the AUC of CWRF + {said} less that of its early-stopped control, less the same "
        f"of {said} alone, is below zero by {AUC:g} or more. {UNMATCHED}{'' if ours else CONDITION.format(said)}",
        each(lambda results, one: _gain(results, one, title, attack)),
        "ours" if ours else "paper",
        () if ours else NETWORKS,
    )


CLAIMS = (
    *(_gains(name, attack) for name in TITLES for attack in ATTACKS),
    Claim(
        "control",
        "CWRF gives LiRA less to find than an undefended network of its accuracy, whatever it is joined to.",
        "implied by Table 3; a control that the paper lacks",
        f"In each setting and for each defense: with CWRF, LiRA's AUC is lower than that of the early-stopped control "
        f"by {AUC:g} or more. {UNMATCHED}",
        each(_control),
        "ours",
    ),
    Claim(
        "utility",
        "CWRF costs no accuracy, whatever it is joined to.",
        "section 5.2: utility is kept",
        f"In each setting and for each defense: accuracy with CWRF is not lower than without it by more than "
        f"{100 * POINTS:g} points.",
        each(_kept),
        networks=NETWORKS,
    ),
)
