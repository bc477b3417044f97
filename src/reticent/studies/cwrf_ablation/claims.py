"""The claims of `cwrf-ablation`; the differences that matter were fixed before anything was measured."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import median

from reticent.studies.base import Claim, Parts, Results, Setting, each
from reticent.studies.cwrf_ablation.rows import CHANCE, LENGTHS, NO_REWINDING, SCRATCH, named
from reticent.studies.cwrf_shared import ABOUT_CHANCE, lower, lowers
from reticent.studies.excess import UNMATCHED
from reticent.studies.judging import Part, better, no_worse, reaches, voided
from reticent.studies.metrics import AUC, JUDGED, LOSS, POINTS, Ask, difference
from reticent.studies.numbers import Estimate, Pooled

CRASH = 0.05
"""What a crash of accuracy is."""
NETWORKS = ("ResNet",)
"""The kind of network of the paper's ablation."""
EACH_RATE = "In each setting and at each rate"
AS_ACCURATE = f"at an accuracy that is not lower by more than {100 * POINTS:g} points"
LESS_LOSS = f"the test loss is lower by {LOSS:g} nats or more, {AS_ACCURATE}"
ACTING = (
    f"It can't be told where RelaxLoss from scratch is not shown to lower {{}}, against no defense, by {AUC:g} or "
    "more: the paper fine-tunes by a RelaxLoss that acts."
)
GIVEN = ACTING.format("LiRA's AUC")
LOWER_AUC = (
    f"at matched accuracy and under LiRA, RMIA and the learned attack, the AUC of A3 less that of its early-stopped "
    f"control, less the same of the other row, is below zero by {AUC:g} or more. {UNMATCHED} "
    f"{ACTING.format('that AUC')}"
)
IMPLIED = "implied by section 4; a control that the paper lacks"
Asks = Mapping[str, Ask]
"""Metric -> whether the first row of a pair must be better, or no worse."""
LEARNS: Asks = {"loss": better, "accuracy": no_worse}
SMALLER_GAP: Asks = {"gap": better}


def _given(ask: Callable[[Results, Setting], Iterable[Part]]) -> Parts:
    """Ask of each setting what takes for granted that RelaxLoss acts."""

    def parts(results: Results, one: Setting) -> Iterator[Part]:
        acting = lowers(results, one, SCRATCH, "auc_lira")
        for part in ask(results, one):
            yield voided(part, None if acting else "condition")

    return each(parts)


def _at_each_rate(pair: str, asks: Asks = LEARNS, least: float = 0.0) -> Parts:
    """Ask the same of a difference at several rates in each setting."""
    return _given(
        lambda results, one: (
            difference(results, one, named(pair, rate), metric, ask)
            for rate in one.options["rates"]
            if rate >= least
            for metric, ask in asks.items()
        )
    )


def _against(*names: str) -> Parts:
    """Ask whether A3 gives less to find than other rows, at matched accuracy."""

    def ask(results: Results, one: Setting) -> Iterator[Part]:
        for name in names:
            for attack, said in JUDGED.items():
                metric, label = f"auc_{attack}", f"AUC of {said}, A3 against {name} at matched accuracy"
                acting = lowers(results, one, SCRATCH, metric)
                yield lower(results, one, f"A3 - {name}", metric, label, acting=acting)

    return each(ask)


def _crash(*pairs: tuple[str, str]) -> Parts:
    """Ask at each rate whether the second row of a pair is less accurate than the first, by a crash."""

    def ask(results: Results, one: Setting) -> Iterator[Part]:
        for rate in one.options["rates"]:
            for first, second in pairs:
                number = results.get(one.key, named(f"{first} - {second}", rate), "accuracy")
                label = f"accuracy, {named(f'{first} against {second}', rate)}"
                yield reaches(label, number, CRASH, metric="points")

    return _given(ask)


def _least(results: Results, one: Setting) -> Iterator[Part]:
    """Ask of the smallest rate whether A3 is more accurate than training from scratch."""
    pair = named("A3 - scratch", min(one.options["rates"]))
    label = f"accuracy, {pair.replace(' - ', ' against ')}"
    yield better(label, results.get(one.key, pair, "accuracy"), 0.0, metric="points")


def _chance(results: Results, one: Setting) -> Iterator[Part]:
    """Ask whether the middle over the rates is about a guess."""
    rows = [named("A3", rate) for rate in one.options["rates"]]
    known = [[found.numbers.get((row, "accuracy_rewound")) for row in rows] for found in results.found[one.key]]
    each_seed = [[number.value for number in seed if number is not None] for seed in known]
    whole = all(len(values) == len(rows) for values in each_seed)
    number = Pooled(tuple(Estimate(median(values)) for values in each_seed)) if whole else None
    label = "accuracy right after rewinding, A3, the middle over r"
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
        f"{EACH_RATE}: {LESS_LOSS}. {GIVEN}",
        _at_each_rate("A3 - A2"),
    ),
    _paper(
        "a1-crash",
        "Removing vulnerable weights costs accuracy that does not come back (A1).",
        "section 4.4",
        f"{EACH_RATE}: A1 is less accurate than training from scratch by more than {100 * CRASH:g} points. {GIVEN}",
        _crash(("scratch", "A1")),
    ),
    _paper(
        "a2-a1",
        "A2 and A3, which rewind the vulnerable weights, do not crash so.",
        "section 4.4, figure",
        f"{EACH_RATE}: A2 and A3 are more accurate than A1, by more than {100 * CRASH:g} points each. {GIVEN}",
        _crash(("A2", "A1"), ("A3", "A1")),
    ),
    _paper(
        "gap",
        "A3 has a smaller loss gap between members and others than A2 at r = 3 % and 5 %.",
        "section 4.4, Table 2",
        f"In each setting and at each rate from 3 % on: the gap is smaller by {LOSS:g} nats or more. {GIVEN}",
        _at_each_rate("A3 - A2", SMALLER_GAP, least=0.03),
    ),
    _paper(
        "gap-scratch",
        "A3 has a smaller loss gap between members and others than training from scratch with the same objective.",
        "section 4.4, Table 2",
        f"{EACH_RATE}: the gap is smaller by {LOSS:g} nats or more. {GIVEN}",
        _at_each_rate("A3 - scratch", SMALLER_GAP),
    ),
    _paper(
        "a3-scratch",
        "Where very few weights are rewound, A3 is more accurate than training from scratch with the same objective.",
        "section 4.4",
        f"In each setting, at its smallest rate: A3 is more accurate. {GIVEN}",
        _given(_least),
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
        "Rewinding usually brings utility down to that of a random guess, before the fine-tuning.",
        "section 4.3",
        f"In each setting: right after the rewinding, with the trained model's running statistics, accuracy on the "
        f"defender's reference records is below {100 * ABOUT_CHANCE:g} %, taken as the median over the rates. One seed "
        f"gives it no interval. (The paper does not say at which rates.)",
        each(_chance),
    ),
)
