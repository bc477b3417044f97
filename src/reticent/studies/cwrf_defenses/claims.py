"""The claims of `cwrf-defenses`; the differences that matter were fixed before anything was measured."""

from collections.abc import Iterator
from dataclasses import replace

from reticent.studies.base import Claim, Results, Setting, each
from reticent.studies.cwrf_defenses.printed import NONE, TITLES, WITH
from reticent.studies.judging import Part, better, no_worse

AUC, POINTS = 0.01, 0.02
"""The smallest differences that matter: of an AUC, and of an accuracy."""
NETWORKS = ("ResNet", "ViT")
"""The kinds of network that Table 3 has."""
UNMATCHED = f"It can't be told where the interval of the accuracy that controls miss leaves {100 * POINTS:g} points."
CONDITION = (
    f" Nor can it where {{}} alone is not shown to lower that AUC, against no defense, by {AUC:g} or more: the paper "
    "joins CWRF to defenses that act."
)
ATTACKS = {"lira": "LiRA", "rmia": "RMIA"}


def _here(one: Setting) -> list[str]:
    """List the defenses of a setting by their names in the table, in its order."""
    names = {name.partition(":")[0] for name in one.options["defenses"]}
    return [title for name, title in TITLES.items() if name in names]


def _matched(results: Results, setting: str, name: str) -> bool:
    """Say whether accuracy is matched: what the controls miss lies wholly within what does not matter."""
    missed = results.get(setting, name, "excess_accuracy")
    if missed is None or not missed.bounded:
        return False
    low, high = missed.limits()
    return low >= -POINTS and high <= POINTS


def _lower(results: Results, one: Setting, name: str, metric: str, label: str) -> Part:
    """Ask whether a leak is lower at matched accuracy; where that is not matched, nothing can be told."""
    part = better(label, results.get(one.key, name, metric), AUC, lower=True, metric="difference")
    return part if _matched(results, one.key, name) or part.number is None else replace(part, void="unmatched")


def acts(title: str) -> str:
    """Name the contrast of a defense alone with none."""
    return f"{title} - {NONE}"


def _lowers(results: Results, one: Setting, title: str, metric: str) -> bool:
    """Say whether a defense alone lowers the leak, which the paper takes for granted."""
    number = results.get(one.key, acts(title), metric)
    return title == NONE or better(title, number, AUC, lower=True).answer() == "yes"


def _gain(results: Results, one: Setting, title: str, attack: str) -> Iterator[Part]:
    if title in _here(one):
        metric = f"auc_{attack}"
        label = f"{ATTACKS[attack]} AUC, what CWRF adds to {title} at matched accuracy, {one.label}"
        part = _lower(results, one, f"CWRF on {title}, matched", metric, label)
        acting = _lowers(results, one, title, metric)
        yield part if acting or part.number is None else replace(part, void="condition")


def _control(results: Results, one: Setting) -> Iterator[Part]:
    for title in _here(one):
        label = f"LiRA AUC, {title}{WITH} against its control, {one.label}"
        yield _lower(results, one, f"{title}{WITH}", "excess_auc_lira", label)


def _kept(results: Results, one: Setting) -> Iterator[Part]:
    for title in _here(one):
        number = results.get(one.key, f"CWRF on {title}", "accuracy")
        yield no_worse(f"accuracy, CWRF on {title}, {one.label}", number, POINTS, metric="points")


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
