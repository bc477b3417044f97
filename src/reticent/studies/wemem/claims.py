"""The claims of `wemem`; the differences that matter were fixed before anything was measured."""

from collections.abc import Iterable, Iterator
from functools import partial

from reticent.options import Options
from reticent.studies.base import Claim, Parts, Results, Setting, each
from reticent.studies.excess import UNMATCHED, beyond
from reticent.studies.judging import Part, better, no_worse
from reticent.studies.metrics import AUC, JUDGED, POINTS, Ask, Rows, beside, differ, together
from reticent.studies.wemem.rows import (
    BASELINES,
    DENSE,
    LOW,
    NOTHING,
    ONCE,
    PRUNED,
    SMALLER,
    ours,
    rmr,
    rsw,
    swmr,
    widths,
    windows,
)

NETWORKS = ("FC", "ResNet", "VGG", "DenseNet")
"""The kinds of network that the paper has."""
SHOWN = ("ResNet", "DenseNet")
"""Those of which windows and strengths are shown, on CIFAR."""
PAPERS = ("confidence", "nn")
"""Of the paper's attacks one that goes by a threshold and one that is learned: those that claims are judged by."""
THEIRS = "under the confidence attack and NN each"
EVERY = "under LiRA, RMIA and the learned attack each"
FASTER = 0.1
"""The smallest share of the time that matters."""
RISE = 0.05
"""By how much more members are found of the fifth memorised most than of the fifth memorised least."""
LACKS = "implied by the slides; a control that the paper lacks"
SPREAD = "most memorised less least memorised fifth"


def of_members(name: str) -> str:
    """Name the contrast of a row's members by memorisation."""
    return f"{name}, {SPREAD}"


def _find(attacks: Iterable[str]) -> list[tuple[str, Ask]]:
    """Ask whether each attack finds less."""
    return [(f"auc_{attack}", better) for attack in attacks]


ACCURATE = ("accuracy", better)


def _narrow(options: Options) -> list[Rows]:
    wide, narrow = widths(options)
    return [(rsw(narrow), rsw(wide))]


def _joined(options: Options) -> list[Rows]:
    return [(swmr(one), rsw(one)) for one in windows(options)[: options["joined"]]]


def _order(options: Options) -> list[Rows]:
    first, *others = windows(options)
    return [(rsw(first), rsw(one)) for one in others if one.order == LOW]


def _stronger(options: Options) -> list[Rows]:
    known = [rmr(one) for one in options["strengths"] if one <= options["strength"]]
    return list(zip(known[1:], known, strict=False))


def _too_strong(options: Options) -> list[Rows]:
    known = [rmr(one) for one in options["strengths"] if one >= options["strength"]]
    return list(zip(known[1:], known, strict=False))


def _memorised(results: Results, one: Setting) -> Iterator[Part]:
    for name in (DENSE, PRUNED):
        number = results.get(one.key, of_members(name), "tpr_lira_0.01")
        yield better(f"LiRA TPR at 1 %, {of_members(name)}", number, RISE, metric="points")


def _outperforms(method: str) -> Parts:
    """Ask of a method whether it leaves less to find than Base and each defense, at the accuracy of the latter."""

    def against(options: Options) -> list[Rows]:
        return [(ours(options)[method], BASELINES[key][0]) for key in options["baselines"]]

    def against_all(options: Options) -> list[Rows]:
        return [(ours(options)[method], PRUNED), *against(options)]

    # The paper's table has its methods less accurate than Base.
    return together(differ(against_all, *_find(PAPERS)), differ(against, ("accuracy", no_worse)))


def _time(metric: str) -> Parts:
    def ask(results: Results, one: Setting) -> Iterator[Part]:
        name = ours(one.options)["rsw"]
        number = results.get(one.key, beside(name, PRUNED), metric)
        yield better(
            f"time of pruning by share, {name} against {PRUNED}",
            number,
            FASTER,
            lower=True,
            metric="points",
        )

    return each(ask)


def _method(method: str, options: Options) -> list[str]:
    return [ours(options)[method]]


def _paper(key: str, text: str, source: str, rule: str, parts: Parts, networks: tuple[str, ...] = NETWORKS) -> Claim:
    return Claim(key, text, f"slides: {source}", f"In each setting: {rule}", parts, networks=networks)


def _ours(key: str, text: str, rule: str, parts: Parts) -> Claim:
    return Claim(key, text, LACKS, f"In each setting: {rule}", parts, "ours")


LOWER, HIGHER = f"the AUC is lower by {AUC:g} or more", f"the AUC is higher by {AUC:g} or more"
MIDDLE = "the first of the setting's windows, which is the middle one"
CLAIMS = (
    _paper(
        "iterative",
        "Iteratively pruned networks give more away than those pruned at once.",
        "motivation",
        f"{THEIRS}, {HIGHER} with Base (iterative pruning) than with one-shot pruning to the same share.",
        differ([(PRUNED, ONCE)], *_find(PAPERS), turned=True),
    ),
    _paper(
        "memorised",
        "Members that are memorised more are easier to find.",
        "motivation, figure of LiRA's TPR",
        "of the members of a model, LiRA finds more at a false positive rate of 1 % among the fifth with the largest "
        f"memorisation scores than among the fifth with the smallest, by {100 * RISE:g} points or more, dense and with "
        "Base.",
        each(_memorised),
    ),
    _paper(
        "width-accuracy",
        "A narrower window costs accuracy.",
        "prediction accuracy, CIFAR-10",
        f"RSW is less accurate with the narrowest window from high to low than with the widest, by {100 * POINTS:g} "
        "points or more.",
        differ(_narrow, ACCURATE, turned=True),
        SHOWN,
    ),
    _paper(
        "width-leak",
        "A narrower window defends better.",
        "defense effectiveness, CIFAR-100",
        f"{THEIRS}, {LOWER} with RSW's narrowest window from high to low than with its widest.",
        differ(_narrow, *_find(PAPERS)),
        SHOWN,
    ),
    _paper(
        "swmr-accuracy",
        "SWMR is often less accurate than RSW with the same window.",
        "prediction accuracy, CIFAR-10",
        f"with each window that both have, SWMR is less accurate by {100 * POINTS:g} points or more.",
        differ(_joined, ACCURATE, turned=True),
        SHOWN,
    ),
    _paper(
        "swmr-leak",
        "SWMR defends better than RSW with the same window.",
        "defense effectiveness, CIFAR-100",
        f"{THEIRS} and with each window that both have, {LOWER} with SWMR.",
        differ(_joined, *_find(PAPERS)),
        SHOWN,
    ),
    _paper(
        "lambda",
        "Of the strengths of RMR 0.1 is best: a weaker one leaves more to find, a stronger one costs accuracy.",
        "table of lambda",
        f"{THEIRS}, {LOWER} with lambda 0.1 than with each weaker one, and accuracy is lower with each stronger one by "
        f"{100 * POINTS:g} points or more.",
        together(differ(_stronger, *_find(PAPERS)), differ(_too_strong, ACCURATE, turned=True)),
        SHOWN,
    ),
    *(
        _paper(
            f"outperforms-{method}",
            f"{title} leaves attacks less to find than Base, PPB, Adv-Reg, DP-SGD and RelaxLoss, and is as accurate as "
            "these defenses.",
            "performance comparison with existing defenses",
            f"against each of them that the scale has, with {words}: {THEIRS}, {LOWER}; and accuracy is not lower by "
            f"more than {100 * POINTS:g} points than that of each defense (Base is none).",
            _outperforms(method),
        )
        for method, title, words in (
            ("rsw", "RSW", MIDDLE),
            ("rmr", "RMR", "lambda 0.1"),
            ("swmr", "SWMR", f"{MIDDLE}, and lambda 0.1"),
        )
    ),
    _paper(
        "faster",
        "A sliding window makes fine-tuning faster.",
        "time cost",
        f"all fine-tunings together take less time with RSW than with Base, by {100 * FASTER:g} % of it or more, the "
        "time of the memorisation scores not counted.",
        _time("pruning_time"),
    ),
    _ours(
        "scored-faster",
        "RSW is faster than Base with the time of its memorisation scores.",
        f"the same by {100 * FASTER:g} % or more, with the time of the scores, which is spent once for all methods.",
        _time("scored_time"),
    ),
    _ours(
        "iterative-attacks",
        "Our strongest attacks too find more in iteratively pruned networks than in those pruned at once.",
        f"{EVERY}, {HIGHER} with Base than with one-shot pruning to the same share.",
        differ([(PRUNED, ONCE)], *_find(JUDGED), turned=True),
    ),
    _ours(
        "reuse",
        "Fine-tuning again and again gives members away by itself, without any pruning.",
        f"{EVERY}, {HIGHER} where as many fine-tunings as Base has prune nothing than in the dense network.",
        differ([(NOTHING, DENSE)], *_find(JUDGED), turned=True),
    ),
    _ours(
        "pruning",
        "Pruning by itself gives members away: Base leaks more than the same fine-tunings without pruning.",
        f"{EVERY}, {HIGHER} with Base than where nothing is pruned.",
        differ([(PRUNED, NOTHING)], *_find(JUDGED), turned=True),
    ),
    _ours(
        "order",
        "A window that begins with what is memorised most defends better than one that ends with it.",
        f"{EVERY}, {LOWER} with RSW from high to low than from low to high, with the same width and stride.",
        differ(_order, *_find(JUDGED)),
    ),
    _ours(
        "pruned-early",
        "A pruned network gives less away than a dense one that is trained for less and is as accurate.",
        f"{EVERY}, the AUC of Base is lower than that of its early-stopped control by {AUC:g} or more. {UNMATCHED}",
        beyond(lambda _: [PRUNED]),
    ),
    *(
        _ours(
            f"{method}-early",
            f"{title} gives less away than a dense network that is trained for less and is as accurate.",
            f"{EVERY}, the AUC with {words} is lower than that of its early-stopped control by {AUC:g} or more. "
            f"{UNMATCHED}",
            beyond(partial(_method, method)),
        )
        for method, title, words in (
            ("rsw", "RSW", MIDDLE),
            ("rmr", "RMR", "lambda 0.1"),
            ("swmr", "SWMR", f"{MIDDLE} and lambda 0.1"),
        )
    ),
    _ours(
        "smaller",
        "Pruned networks, defended or not, give less away than a smaller dense network of as many parameters.",
        f"{EVERY} and for Base, RSW, RMR and SWMR each: the AUC less that of its early-stopped control, less the same "
        "of the narrowest dense network of its kind that has at least as many parameters, is below zero by "
        f"{AUC:g} or more. {UNMATCHED}",
        beyond(lambda options: [PRUNED, *ours(options).values()], SMALLER),
    ),
)
