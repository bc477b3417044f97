"""The claims of `cwrf-ablation`; the differences that matter were fixed before anything was measured."""

from collections.abc import Callable, Iterator

from reticent.findings.study import Form
from reticent.studies.base import Claim, Results, Setting, each
from reticent.studies.cwrf_ablation.rows import CHANCE, NO_REWINDING
from reticent.studies.judging import Part, better, no_worse, reaches

LOSS, POINTS, AUC, CRASH = 0.02, 0.02, 0.01, 0.05
"""The smallest differences that matter: of a loss in nats, of an accuracy, of an AUC; and what a crash is."""
NETWORKS = ("ResNet",)
"""The kind of network of the paper's ablation."""
METRICS: dict[str, tuple[str, Form, float, bool]] = {
    "loss": ("test loss", "difference", LOSS, True),
    "accuracy": ("accuracy", "points", POINTS, False),
    "gap": ("loss gap", "difference", LOSS, True),
    "auc_lira": ("LiRA AUC", "difference", AUC, True),
}
"""Metric -> its name, how a difference is written, the smallest that matters, and whether less is better."""
AS_ACCURATE = f"at an accuracy that is not lower by more than {100 * POINTS:g} points"
LEARNS = {"loss": better, "accuracy": no_worse}
LEAKS_LESS = {"auc_lira": better, "accuracy": no_worse}
Asks = dict[str, Callable[..., Part]]
"""Metric -> whether the first row of a pair must be better, or no worse."""
Parts = Callable[[Results], list[Part]]


def _part(
    results: Results,
    one: Setting,
    pair: str,
    metric: str,
    ask: Callable[..., Part],
    rate: float | None = None,
    turned: bool = False,
) -> Part:
    """Ask of the difference of two rows; turned, the second must be better."""
    name, form, size, lower = METRICS[metric]
    row, at = (pair, "") if rate is None else (f"{pair}, {rate:g}", f", r = {100 * rate:g} %")
    label = f"{name}, {pair.replace(' - ', ' against ')}{at}, {one.label}"
    return ask(label, results.get(one.key, row, metric), size, lower=lower != turned, metric=form)


def _at_each_rate(pair: str, asks: Asks, least: float = 0.0) -> Parts:
    return each(
        lambda results, one: [
            _part(results, one, pair, metric, ask, rate)
            for rate in one.options["rates"]
            if rate >= least
            for metric, ask in asks.items()
        ]
    )


def _of(*pairs: tuple[str, Asks]) -> Parts:
    return each(
        lambda results, one: [
            _part(results, one, pair, metric, ask) for pair, asks in pairs for metric, ask in asks.items()
        ]
    )


def _against(*names: str) -> Parts:
    return _of(*((f"A3 - {name}", LEAKS_LESS) for name in names))


def _crash(results: Results, one: Setting) -> Iterator[Part]:
    for rate in one.options["rates"]:
        label = f"accuracy, A1 against scratch, r = {100 * rate:g} %, {one.label}"
        number = results.get(one.key, f"A1 - scratch, {rate:g}", "accuracy")
        yield reaches(label, number, -CRASH, lower=True, metric="points")


def _place(results: Results, one: Setting) -> Iterator[Part]:
    """Ask whether a new draw serves as well (A3 must not be better than it), and whether another place serves worse."""
    for metric in ("accuracy", "loss", "auc_lira"):
        yield _part(results, one, "A3 - Fresh values", metric, no_worse, turned=True)
    for name in CHANCE:
        yield _part(results, one, f"A3 - {name}", "auc_lira", better)


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
        _at_each_rate("A3 - A2", LEARNS),
        networks=NETWORKS,
    ),
    Claim(
        "a2-a1",
        "A2 (rewind) is better than A1 (remove).",
        "section 4.4, figure",
        f"In each setting and at each rate: the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}.",
        _at_each_rate("A2 - A1", LEARNS),
        networks=NETWORKS,
    ),
    Claim(
        "a1-crash",
        "Removing vulnerable weights costs accuracy that does not come back (A1).",
        "section 4.4",
        f"In each setting and at each rate: A1 is less accurate than training from scratch by more than "
        f"{100 * CRASH:g} points.",
        each(_crash),
        networks=NETWORKS,
    ),
    Claim(
        "gap",
        "A3 has a smaller loss gap between members and others than A2 at r = 3 % and 5 %.",
        "section 4.4, Table 2",
        f"In each setting and at each rate from 3 % on: the gap is smaller by {LOSS:g} nats or more.",
        _at_each_rate("A3 - A2", {"gap": better}, least=0.03),
        networks=NETWORKS,
    ),
    Claim(
        "a3-scratch",
        "A3 has a lower test loss than training from scratch with the same objective.",
        "section 4.4, Table 2",
        f"In each setting and at each rate: the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}.",
        _at_each_rate("A3 - scratch", LEARNS),
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
        each(_place),
        networks=NETWORKS,
    ),
    Claim(
        "pruned",
        "A network of which 85 % was pruned learns as well from its initial values; cut without training it does not.",
        "section 4.4, figure 4 (M1, M2, M3)",
        f"In each setting: M2 is not less accurate than M1 by more than {100 * POINTS:g} points, and is more accurate "
        f"than M3 by {100 * POINTS:g} points or more.",
        _of(("M2 - M1", {"accuracy": no_worse}), ("M2 - M3", {"accuracy": better})),
        networks=NETWORKS,
    ),
    Claim(
        "pruned-place",
        "It matters which 85 % are pruned: with as many of each tensor drawn by chance, a network learns less.",
        "implied by section 4.4; a control that the paper lacks",
        f"In each setting: M2 is more accurate than the same with a random mask that keeps as many weights of each "
        f"parameter tensor, by {100 * POINTS:g} points or more.",
        _of(("M2 - M2 at random", {"accuracy": better})),
        "ours",
    ),
)
