"""The claims of `cwrf-ablation`; the differences that matter were fixed before anything was measured."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from reticent.studies.base import Claim, Results, Setting, each
from reticent.studies.cwrf_ablation.rows import CHANCE, NO_REWINDING, named
from reticent.studies.judging import Part, better, no_worse, reaches
from reticent.studies.metrics import AUC, LOSS, POINTS, Ask, difference

CRASH = 0.05
"""What a crash of accuracy is."""
NETWORKS = ("ResNet",)
"""The kind of network of the paper's ablation."""
EACH_RATE, AT_THE_RATE = "In each setting and at each rate", "In each setting, at the rate of the controls"
AS_ACCURATE = f"at an accuracy that is not lower by more than {100 * POINTS:g} points"
LESS_LOSS = f"the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}"
LOWER_AUC = f"LiRA's AUC is lower by {AUC:g} or more, {AS_ACCURATE}"
IMPLIED = "implied by section 4; a control that the paper lacks"
Asks = Mapping[str, Ask]
"""Metric -> whether the first row of a pair must be better, or no worse."""
LEARNS: Asks = {"loss": better, "accuracy": no_worse}
LEAKS_LESS: Asks = {"auc_lira": better, "accuracy": no_worse}
Parts = Callable[[Results], list[Part]]


def _of(pairs: Callable[[Setting], Iterable[str]], asks: Asks) -> Parts:
    """Ask the same of several differences in each setting."""
    return each(
        lambda results, one: (
            difference(results, one, pair, metric, ask) for pair in pairs(one) for metric, ask in asks.items()
        )
    )


def _at_each_rate(pair: str, asks: Asks = LEARNS, least: float = 0.0) -> Parts:
    return _of(lambda one: (named(pair, rate) for rate in one.options["rates"] if rate >= least), asks)


def _against(*names: str) -> Parts:
    return _of(lambda _: (f"A3 - {name}" for name in names), LEAKS_LESS)


def _crash(results: Results, one: Setting) -> Iterator[Part]:
    for rate in one.options["rates"]:
        label = f"accuracy, {named('A1 against scratch', rate)}, {one.label}"
        number = results.get(one.key, named("A1 - scratch", rate), "accuracy")
        yield reaches(label, number, -CRASH, lower=True, metric="points")


def _place(results: Results, one: Setting) -> Iterator[Part]:
    """Ask whether a new draw serves as well (A3 must not be better than it), and whether another place serves worse."""
    for metric in ("accuracy", "loss", "auc_lira"):
        yield difference(results, one, "A3 - Fresh values", metric, no_worse, turned=True)
    for name in CHANCE:
        yield difference(results, one, f"A3 - {name}", "auc_lira", better)


def _pruned(results: Results, one: Setting) -> Iterator[Part]:
    yield difference(results, one, "M2 - M1", "accuracy", no_worse)
    yield difference(results, one, "M2 - M3", "accuracy", better)


def _paper(key: str, text: str, source: str, rule: str, parts: Parts) -> Claim:
    return Claim(key, text, source, rule, parts, networks=NETWORKS)


def _ours(key: str, text: str, rule: str, parts: Parts, source: str = IMPLIED) -> Claim:
    return Claim(key, text, source, rule, parts, "ours")


def _mask(name: str, what: str) -> Claim:
    key, text = name.split(maxsplit=1)[0].lower(), "Rewinding the vulnerable weights serves better than rewinding"
    return _ours(f"mask-{key}", f"{text} {what}.", f"{AT_THE_RATE}: {LOWER_AUC}.", _against(name))


CLAIMS = (
    _paper(
        "a3-a2",
        "A3 (train what is not vulnerable) is better than A2 (train what is vulnerable).",
        "section 4.4, figure and Table 2",
        f"{EACH_RATE}: {LESS_LOSS}.",
        _at_each_rate("A3 - A2"),
    ),
    _paper(
        "a2-a1",
        "A2 (rewind) is better than A1 (remove).",
        "section 4.4, figure",
        f"{EACH_RATE}: {LESS_LOSS}.",
        _at_each_rate("A2 - A1"),
    ),
    _paper(
        "a1-crash",
        "Removing vulnerable weights costs accuracy that does not come back (A1).",
        "section 4.4",
        f"{EACH_RATE}: A1 is less accurate than training from scratch by more than {100 * CRASH:g} points.",
        each(_crash),
    ),
    _paper(
        "gap",
        "A3 has a smaller loss gap between members and others than A2 at r = 3 % and 5 %.",
        "section 4.4, Table 2",
        f"In each setting and at each rate from 3 % on: the gap is smaller by {LOSS:g} nats or more.",
        _at_each_rate("A3 - A2", {"gap": better}, least=0.03),
    ),
    _paper(
        "a3-scratch",
        "A3 has a lower test loss than training from scratch with the same objective.",
        "section 4.4, Table 2",
        f"{EACH_RATE}: {LESS_LOSS}.",
        _at_each_rate("A3 - scratch"),
    ),
    _ours(
        "mask-random",
        "Rewinding the vulnerable weights serves better than rewinding as many drawn by chance.",
        f"{AT_THE_RATE}, against as many weights drawn from all and against as many of each parameter tensor: "
        f"{LOWER_AUC}. (The first draw takes from other kinds of layer than the vulnerable weights are of; the second "
        "does not.)",
        _against(*CHANCE),
    ),
    _mask("Magnitude mask", "the largest weights"),
    _mask("Learnability mask", "those that matter most for accuracy"),
    _ours(
        "rewinding",
        "Rewinding serves better than fine-tuning alone.",
        f"In each setting: against r = 0, {LOWER_AUC}.",
        _against(NO_REWINDING),
    ),
    _paper(
        "location-not-value",
        "What matters of a critical weight is its place, not its value.",
        "sections 1 and 4.4, hypothesis",
        f"In each setting: with a new draw in place of the initial values, accuracy is not lower by more than "
        f"{100 * POINTS:g} points, the test loss not higher by more than {LOSS:g} nats and LiRA's AUC not by more than "
        f"{AUC:g}; and with as many weights drawn by chance in place of the vulnerable ones, from all and within each "
        f"parameter tensor, LiRA's AUC is higher by {AUC:g} or more. (Where rewinding does nothing, values don't "
        f"matter, but nor do places.)",
        each(_place),
    ),
    _paper(
        "pruned",
        "A network of which 85 % was pruned learns as well from its initial values; cut without training it does not.",
        "section 4.4, figure 4 (M1, M2, M3)",
        f"In each setting: M2 is not less accurate than M1 by more than {100 * POINTS:g} points, and is more accurate "
        f"than M3 by {100 * POINTS:g} points or more.",
        each(_pruned),
    ),
    _ours(
        "pruned-place",
        "It matters which 85 % are pruned: with as many of each tensor drawn by chance, a network learns less.",
        f"In each setting: M2 is more accurate than the same with a random mask that keeps as many weights of each "
        f"parameter tensor, by {100 * POINTS:g} points or more.",
        _of(lambda _: ("M2 - M2 at random",), {"accuracy": better}),
        "implied by section 4.4; a control that the paper lacks",
    ),
)
