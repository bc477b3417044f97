"""The claims of `cwrf-defenses`; the differences that matter were fixed before anything was measured."""

from collections.abc import Callable
from dataclasses import replace

from reticent.studies.cwrf_defenses.printed import NONE, TITLES, WITH
from reticent.studies.base import Claim, Results, Setting
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


def _here(setting: Setting, name: str) -> bool:
    return name in {one.partition(":")[0] for one in setting.options["defenses"]}


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


def _gains(name: str, attack: str) -> Callable[[Results], list[Part]]:
    def parts(results: Results) -> list[Part]:
        made, title, metric = [], TITLES[name], f"auc_{attack}"
        for one in results.settings:
            if _here(one, name):
                label = f"{ATTACKS[attack]} AUC, what CWRF adds to {title} at matched accuracy, {one.label}"
                part = _lower(results, one, f"CWRF on {title}, matched", metric, label)
                acting = _lowers(results, one, title, metric)
                made.append(part if acting or part.number is None else replace(part, void="condition"))
        return made

    return parts


def _control(results: Results) -> list[Part]:
    made = []
    for one in results.settings:
        for name, title in TITLES.items():
            if _here(one, name):
                label = f"LiRA AUC, {title}{WITH} against its control, {one.label}"
                made.append(_lower(results, one, f"{title}{WITH}", "excess_auc_lira", label))
    return made


def _kept(results: Results) -> list[Part]:
    made = []
    for one in results.settings:
        for name in TITLES:
            if _here(one, name):
                number = results.get(one.key, f"CWRF on {TITLES[name]}", "accuracy")
                label = f"accuracy, CWRF on {TITLES[name]}, {one.label}"
                made.append(no_worse(label, number, POINTS, metric="points"))
    return made


def claims() -> tuple[Claim, ...]:
    """Make the claims: one a defense and attack, and two on all."""
    made = []
    for name, title in TITLES.items():
        for attack, called in ATTACKS.items():
            said = "cross-entropy" if name == "none" else title
            made.append(
                Claim(
                    f"{name}-{attack}",
                    f"CWRF + {said} gives {called} less to find than {said} alone, at matched accuracy.",
                    "Table 3" if name != "none" else "implied by Table 3; a row that the paper lacks",
                    f"In each setting that has it: the AUC of CWRF + {said} less that of its early-stopped control, "
                    f"less the same of {said} alone, is below zero by {AUC:g} or more. {UNMATCHED}"
                    f"{'' if name == 'none' else CONDITION.format(said)}",
                    _gains(name, attack),
                    "ours" if name == "none" else "paper",
                    NETWORKS if name != "none" else (),
                )
            )
    made.append(
        Claim(
            "control",
            "CWRF gives LiRA less to find than an undefended network of its accuracy, whatever it is joined to.",
            "implied by Table 3; a control that the paper lacks",
            f"In each setting and for each defense: with CWRF, LiRA's AUC is lower than that of the early-stopped "
            f"control by {AUC:g} or more. {UNMATCHED}",
            _control,
            "ours",
        )
    )
    made.append(
        Claim(
            "utility",
            "CWRF costs no accuracy, whatever it is joined to.",
            "section 5.2: utility is kept",
            f"In each setting and for each defense: accuracy with CWRF is not lower than without it by more than "
            f"{100 * POINTS:g} points.",
            _kept,
            networks=NETWORKS,
        )
    )
    return tuple(made)
