"""The claims of `cwrf-ablation`; the differences that matter were fixed before anything was measured."""

from collections.abc import Callable, Iterator, Mapping

from reticent.studies.base import Claim, Results, Setting, each
from reticent.studies.beyond import UNMATCHED, against
from reticent.studies.cwrf_ablation.rows import CHANCE, CHOSEN, LENGTHS, NO_REWINDING, PAIRS, at_rate, named
from reticent.studies.judging import Part, better, no_worse, reaches
from reticent.studies.metrics import AUC, LOSS, POINTS, Ask, beside, difference

CRASH = 0.05
"""What a crash of accuracy is."""
NETWORKS = ("ResNet",)
"""The kind of network of the paper's ablation."""
EACH_RATE = "In each setting and at each rate"
ABOUT_CHANCE = 0.2
"""Accuracy right after rewinding that is about a guess, on 10 classes and more."""
AS_ACCURATE = f"at an accuracy that is not lower by more than {100 * POINTS:g} points"
LESS_LOSS = f"the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}"
LOWER_AUC = (
    f"at matched accuracy and under LiRA, RMIA and the learned attack, the AUC of A3 less that of its early-stopped "
    f"control, less the same of the other row, is below zero by {AUC:g} or more. {UNMATCHED}"
)
IMPLIED = "implied by section 4; a control that the paper lacks"
Asks = Mapping[str, Ask]
"""Metric -> whether the first row of a pair must be better, or no worse."""
LEARNS: Asks = {"loss": better, "accuracy": no_worse}
Parts = Callable[[Results], list[Part]]
TRAINED, REMOVED, FROM_SCRATCH, WHOLE = PAIRS


def _at_each_rate(pair: tuple[str, str], asks: Asks = LEARNS, least: float = 0.0) -> Parts:
    """Ask the same of a difference at several rates in each setting."""
    return each(
        lambda results, one: (
            difference(results, one, beside(*at_rate(pair, rate)), metric, ask)
            for rate in one.options["rates"]
            if rate >= least
            for metric, ask in asks.items()
        )
    )


def _against(*names: str) -> Parts:
    """Ask whether A3 gives less to find than other rows, at matched accuracy."""
    return each(lambda results, one: (part for name in names for part in against(results, one, CHOSEN, name)))


def _crash(results: Results, one: Setting) -> Iterator[Part]:
    for rate in one.options["rates"]:
        pair = beside(*at_rate(FROM_SCRATCH, rate))
        label = f"accuracy, {pair.replace(' - ', ' against ')}, {one.label}"
        yield reaches(label, results.get(one.key, pair, "accuracy"), -CRASH, lower=True, metric="points")


def _chance(results: Results, one: Setting) -> Iterator[Part]:
    for rate in one.options["rates"]:
        number = results.get(one.key, named("A3", rate), "accuracy_rewound")
        label = f"accuracy right after rewinding, {named('A3', rate)}, {one.label}"
        yield reaches(label, number, ABOUT_CHANCE, lower=True, metric="share")


def _paper(key: str, text: str, source: str, rule: str, parts: Parts) -> Claim:
    return Claim(key, text, source, rule, parts, networks=NETWORKS)


def _ours(key: str, text: str, rule: str, parts: Parts, source: str = IMPLIED) -> Claim:
    return Claim(key, text, source, rule, parts, "ours")


def _mask(name: str, what: str) -> Claim:
    key, text = name.split(maxsplit=1)[0].lower(), "Rewinding the vulnerable weights serves better than rewinding"
    return _ours(f"mask-{key}", f"{text} {what}.", f"In each setting: {LOWER_AUC}", _against(name))


CLAIMS = (
    _paper(
        "a3-a2",
        "A3 (train what is not vulnerable) is better than A2 (train what is vulnerable).",
        "section 4.4, figure and Table 2",
        f"{EACH_RATE}: {LESS_LOSS}.",
        _at_each_rate(TRAINED),
    ),
    _paper(
        "a2-a1",
        "A2 (rewind) is better than A1 (remove).",
        "section 4.4, figure",
        f"{EACH_RATE}: {LESS_LOSS}.",
        _at_each_rate(REMOVED),
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
        _at_each_rate(TRAINED, {"gap": better}, least=0.03),
    ),
    _paper(
        "a3-scratch",
        "A3 has a lower test loss than training from scratch with the same objective.",
        "section 4.4, Table 2",
        f"{EACH_RATE}: {LESS_LOSS}.",
        _at_each_rate(WHOLE),
    ),
    _ours(
        "mask-random",
        "Rewinding the vulnerable weights serves better than rewinding as many drawn by chance.",
        f"In each setting, against as many weights drawn from all and against as many of each parameter tensor: "
        f"{LOWER_AUC} (The first draw takes from other kinds of layer than the vulnerable weights are of; the second "
        "does not.)",
        _against(*CHANCE),
    ),
    _mask("Magnitude mask", "the largest weights"),
    _mask("Learnability mask", "those that matter most for accuracy"),
    _ours(
        "rewinding",
        "Rewinding serves better than fine-tuning alone.",
        f"In each setting, against r = 0: {LOWER_AUC}",
        _against(NO_REWINDING),
    ),
    _ours(
        "training-less",
        "CWRF serves better than RelaxLoss alone for as many epochs as its fine-tuning has, or as both trainings.",
        f"In each setting, against both: {LOWER_AUC}",
        _against(*LENGTHS),
    ),
    _ours(
        "initial-values",
        "The values that weights are rewound to matter: the initial ones serve better than a new draw.",
        f"In each setting, against a new draw: {LOWER_AUC}",
        _against("Fresh values"),
    ),
    _paper(
        "rewound-chance",
        "Rewinding brings utility down to that of a random guess, before the fine-tuning.",
        "section 4.3",
        f"In each setting and at each rate: right after the rewinding, with the trained model's running statistics, "
        f"accuracy on the defender's reference records is below {100 * ABOUT_CHANCE:g} %. One seed gives it no "
        f"interval. (The paper says usually, and not at which rates.)",
        each(_chance),
    ),
)
