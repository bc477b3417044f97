"""The claims of `cwrf-ablation`; the differences that matter were fixed before anything was measured."""

from collections.abc import Callable, Sequence
from itertools import product

from reticent.studies.cwrf_ablation.rows import CHANCE, NO_REWINDING
from reticent.studies.base import Claim, Results
from reticent.studies.judging import Part, better, no_worse, reaches

LOSS, POINTS, AUC, CRASH = 0.02, 0.02, 0.01, 0.05
"""The smallest differences that matter: of a loss in nats, of an accuracy, of an AUC; and what a crash is."""
NETWORKS = ("ResNet",)
"""The kind of network of the paper's ablation."""
METRICS = {"loss": "test loss", "accuracy": "accuracy", "gap": "loss gap", "auc_lira": "LiRA AUC"}
FORMS = {"loss": "difference", "accuracy": "points", "gap": "difference", "auc_lira": "difference"}
AS_ACCURATE = f"at an accuracy that is not lower by more than {100 * POINTS:g} points"


def said(pair: str) -> str:
    """Say a contrast in words."""
    return pair.replace(" - ", " against ")


def _each_rate(
    results: Results, pair: str, asked: Sequence[tuple[str, float, bool, bool]], least_rate: float = 0.0
) -> list[Part]:
    """Ask the same of a pair of rows in each setting and at each rate."""
    made = []
    for setting in results.settings:
        for rate in setting.options["rates"]:
            if rate < least_rate:
                continue
            for metric, size, lower, must in asked:
                number = results.get(setting.key, f"{pair}, {rate:g}", metric)
                label = f"{METRICS[metric]}, {said(pair)}, r = {100 * rate:g} %, {setting.label}"
                ask = better if must else no_worse
                made.append(ask(label, number, size, lower=lower, metric=FORMS[metric]))
    return made


def _a3_a2(results: Results) -> list[Part]:
    return _each_rate(results, "A3 - A2", (("loss", LOSS, True, True), ("accuracy", POINTS, False, False)))


def _a2_a1(results: Results) -> list[Part]:
    return _each_rate(results, "A2 - A1", (("loss", LOSS, True, True), ("accuracy", POINTS, False, False)))


def _crash(results: Results) -> list[Part]:
    return [
        reaches(
            f"accuracy, A1 against scratch, r = {100 * rate:g} %, {one.label}",
            results.get(one.key, f"A1 - scratch, {rate:g}", "accuracy"),
            -CRASH,
            lower=True,
            metric="points",
        )
        for one in results.settings
        for rate in one.options["rates"]
    ]


def _gap(results: Results) -> list[Part]:
    return _each_rate(results, "A3 - A2", (("gap", LOSS, True, True),), least_rate=0.03)


def _scratch(results: Results) -> list[Part]:
    return _each_rate(results, "A3 - scratch", (("loss", LOSS, True, True), ("accuracy", POINTS, False, False)))


def _against(*names: str) -> Callable[[Results], list[Part]]:
    def parts(results: Results) -> list[Part]:
        made = []
        for one, name in product(results.settings, names):
            pair = f"A3 - {name}"
            leak, right = (results.get(one.key, pair, metric) for metric in ("auc_lira", "accuracy"))
            made.append(better(f"LiRA AUC, {said(pair)}, {one.label}", leak, AUC, lower=True, metric="difference"))
            made.append(no_worse(f"accuracy, {said(pair)}, {one.label}", right, POINTS, metric="points"))
        return made

    return parts


def _place(results: Results) -> list[Part]:
    """Ask whether a new draw serves as well (A3 must not be better than it), and whether another place serves worse."""
    made, value = [], "A3 - Fresh values"
    for one in results.settings:
        right, loss, leak = (results.get(one.key, value, metric) for metric in ("accuracy", "loss", "auc_lira"))
        made.append(no_worse(f"accuracy, {said(value)}, {one.label}", right, POINTS, lower=True, metric="points"))
        made.append(no_worse(f"test loss, {said(value)}, {one.label}", loss, LOSS, metric="difference"))
        made.append(no_worse(f"LiRA AUC, {said(value)}, {one.label}", leak, AUC, metric="difference"))
        for place in (f"A3 - {name}" for name in CHANCE):
            other = results.get(one.key, place, "auc_lira")
            made.append(better(f"LiRA AUC, {said(place)}, {one.label}", other, AUC, lower=True, metric="difference"))
    return made


def _pruned_place(results: Results) -> list[Part]:
    pair = "M2 - M2 at random"
    return [
        better(f"accuracy, {said(pair)}, {one.label}", results.get(one.key, pair, "accuracy"), POINTS, metric="points")
        for one in results.settings
    ]


def _pruned(results: Results) -> list[Part]:
    made = []
    for one in results.settings:
        for pair, must in (("M2 - M1", False), ("M2 - M3", True)):
            number = results.get(one.key, pair, "accuracy")
            ask = better if must else no_worse
            made.append(ask(f"accuracy, {said(pair)}, {one.label}", number, POINTS, metric="points"))
    return made


def _mask_claim(name: str, what: str) -> Claim:
    key = f"mask-{name.split(maxsplit=1)[0].lower()}"
    return Claim(
        key,
        f"Rewinding the vulnerable weights serves better than rewinding {what}.",
        "implied by section 4; a control that the paper lacks",
        f"In each setting, at the rate of the controls: LiRA's AUC is lower by {AUC:g} or more, {AS_ACCURATE}.",
        _against(name),
        "ours",
    )


CLAIMS = (
    Claim(
        "a3-a2",
        "A3 (train what is not vulnerable) is better than A2 (train what is vulnerable).",
        "section 4.4, figure and Table 2",
        f"In each setting and at each rate: the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}.",
        _a3_a2,
        networks=NETWORKS,
    ),
    Claim(
        "a2-a1",
        "A2 (rewind) is better than A1 (remove).",
        "section 4.4, figure",
        f"In each setting and at each rate: the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}.",
        _a2_a1,
        networks=NETWORKS,
    ),
    Claim(
        "a1-crash",
        "Removing vulnerable weights costs accuracy that does not come back (A1).",
        "section 4.4",
        f"In each setting and at each rate: A1 is less accurate than training from scratch by more than "
        f"{100 * CRASH:g} points.",
        _crash,
        networks=NETWORKS,
    ),
    Claim(
        "gap",
        "A3 has a smaller loss gap between members and others than A2 at r = 3 % and 5 %.",
        "section 4.4, Table 2",
        f"In each setting and at each rate from 3 % on: the gap is smaller by {LOSS:g} nats or more.",
        _gap,
        networks=NETWORKS,
    ),
    Claim(
        "a3-scratch",
        "A3 has a lower test loss than training from scratch with the same objective.",
        "section 4.4, Table 2",
        f"In each setting and at each rate: the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}.",
        _scratch,
        networks=NETWORKS,
    ),
    Claim(
        "mask-random",
        "Rewinding the vulnerable weights serves better than rewinding as many drawn by chance.",
        "implied by section 4; a control that the paper lacks",
        f"In each setting, at the rate of the controls, against as many weights drawn from all and against as many of "
        f"each parameter tensor: LiRA's AUC is lower by {AUC:g} or more, {AS_ACCURATE}. (The first draw takes from "
        f"other kinds of layer than the vulnerable weights are of; the second does not.)",
        _against(*CHANCE),
        "ours",
    ),
    _mask_claim("Magnitude mask", "the largest weights"),
    _mask_claim("Learnability mask", "those that matter most for accuracy"),
    Claim(
        "rewinding",
        "Rewinding serves better than fine-tuning alone.",
        "implied by section 4; a control that the paper lacks",
        f"In each setting: against r = 0, LiRA's AUC is lower by {AUC:g} or more, {AS_ACCURATE}.",
        _against(NO_REWINDING),
        "ours",
    ),
    Claim(
        "location-not-value",
        "What matters of a critical weight is its place, not its value.",
        "sections 1 and 4.4, hypothesis",
        f"In each setting: with a new draw in place of the initial values, accuracy is not lower by more than "
        f"{100 * POINTS:g} points, the test loss not higher by more than {LOSS:g} nats and LiRA's AUC not by more than "
        f"{AUC:g}; and with as many weights drawn by chance in place of the vulnerable ones, from all and within each "
        f"parameter tensor, LiRA's AUC is higher by {AUC:g} or more. (Where rewinding does nothing, values don't "
        f"matter, but nor do places.)",
        _place,
        networks=NETWORKS,
    ),
    Claim(
        "pruned",
        "A network of which 85 % was pruned learns as well from its initial values; cut without training it does not.",
        "section 4.4, figure 4 (M1, M2, M3)",
        f"In each setting: M2 is not less accurate than M1 by more than {100 * POINTS:g} points, and is more accurate "
        f"than M3 by {100 * POINTS:g} points or more.",
        _pruned,
        networks=NETWORKS,
    ),
    Claim(
        "pruned-place",
        "It matters which 85 % are pruned: with as many of each tensor drawn by chance, a network learns less.",
        "implied by section 4.4; a control that the paper lacks",
        f"In each setting: M2 is more accurate than the same with a random mask that keeps as many weights of each "
        f"parameter tensor, by {100 * POINTS:g} points or more.",
        _pruned_place,
        "ours",
    ),
)
