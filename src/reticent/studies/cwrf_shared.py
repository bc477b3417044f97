"""What the studies of CWRF share: how networks are trained, what is chosen before any attack, and the controls.

The text of Fang and Kim (2026) has lost the length of the fine-tuning, and does not say on what the rewinding rate r
was searched, or over which rates: those of its Table 2 are tried. Both are chosen here on pilots, which are models of
another membership, other streams and other roles, the same for all seeds of a study: first the length at which CWRF on
RelaxLoss at r = 0.1 % ends nearest to the training loss that the paper prints, by losses alone; then r for each
defense: that which shows CWRF in the best light under LiRA, beyond an undefended network of its accuracy. The paper's
own claims are judged by raw AUCs all the same, and RMIA's at the same r.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from reticent import seeds
from reticent.findings.training import CwrfFacts
from reticent.procedures.cwrf import CWRF
from reticent.rounding import fraction, number, percent, signed
from reticent.studies import excess, matching
from reticent.studies.base import Bench, Found, Results, Setting
from reticent.studies.excess import NONE
from reticent.studies.judging import Part, voided
from reticent.studies.measured import Measured, Pairs, collect, measure
from reticent.studies.metrics import JUDGED, POINTS, beside
from reticent.studies.numbers import Estimate

PRINTED_LOSS, PRINTED_AT = 0.1502, 0.001
"""Training loss of A3 (CWRF on RelaxLoss) in the paper's Table 2, and at which r."""
NEAR = 2.0
"""A training loss is matched within this factor."""
CHOSEN_BY = "relaxloss"
"""The defense of Table 2, by which the length is chosen."""
LEAKS = tuple(f"auc_{attack}" for attack in JUDGED)
"""What is judged at matched accuracy."""
BY_CHANCE = "mask=random-within"
"""The control of the mask: as many weights of each parameter tensor, drawn by chance."""

ABOUT_CHANCE = 0.2
"""Accuracy right after rewinding that is about a guess, on 10 classes and more."""
COLLAPSED = 0.1
"""An accuracy below which training failed."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen before any attack on what is reported.

    Attributes:
        tuning_epochs: of CWRF's fine-tuning.
        rates: share of the weights that is rewound, by defense as it is asked for.
        relaxloss: RelaxLoss as it is asked for, with its level where that was chosen.
        notes: how, in sentences.
    """

    tuning_epochs: int
    rates: Mapping[str, float]
    relaxloss: str = CHOSEN_BY
    notes: tuple[str, ...] = field(default=())

    def named(self, defense: str) -> str:
        """Name a defense as it is asked for here."""
        return self.relaxloss if defense == CHOSEN_BY else defense

    def joined(self, defense: str, *options: str, rate: float | None = None) -> str:
        """Name CWRF on a defense, with options that replace what was chosen."""
        return cwrf(self.named(defense), self.rates[defense] if rate is None else rate, self.tuning_epochs, *options)


def cwrf(defense: str, rate: float, tuning_epochs: int, *options: str) -> str:
    """Name CWRF on a defense; what `options` say again holds."""
    given = {"rate": f"{rate:g}", "tuning_epochs": str(tuning_epochs)}
    given |= dict(one.split("=", 1) for one in options)
    joined = "cwrf:" + ",".join(f"{key}={value}" for key, value in given.items())
    return joined if defense == "none" else f"{joined}+{defense}"


def pilots(bench: Bench) -> Bench:
    """Set the bench to models of their own, the same for all seeds."""
    return replace(bench, seed=seeds.integer(0, "study", "pilots") % 2**31)


def choose(bench: Bench, defenses: Iterable[str]) -> Chosen:
    """Choose RelaxLoss's level where there are several, the length of the fine-tuning, and r for each defense.

    Cost: populations of pilots: one a level, one a length, one for each defense alone and for each rate on it, and the
    networks that are stopped early beside these. Those of one defense start from the same first training.
    """
    apart, options = pilots(bench), bench.options
    relaxloss, notes = _level(apart, options.get("levels", ()))
    epochs, note = _length(apart, relaxloss, options["lengths"])
    notes.append(note)
    named = {defense: relaxloss if defense == CHOSEN_BY else defense for defense in defenses}
    rates, told = _rates(apart, named, epochs, options["rates"])
    notes += told
    return Chosen(epochs, rates, relaxloss, tuple(notes))


def _level(bench: Bench, levels: Sequence[float]) -> tuple[str, list[str]]:
    """Choose the level of RelaxLoss by the loss of records that pilots were not trained on."""
    if not levels:
        return CHOSEN_BY, []
    names = {f"{CHOSEN_BY}:level={level:g}": level for level in levels}
    found = {name: _mean(_unattacked(bench, name), "loss") for name in names}
    best = min(found, key=lambda name: found[name])
    told = ", ".join(f"{names[name]:g}: {number(loss)}" for name, loss in found.items())
    return best, [f"RelaxLoss's level is {names[best]:g}, by the loss of pilots on records left out ({told})."]


def _length(bench: Bench, relaxloss: str, lengths: Sequence[int]) -> tuple[int, str]:
    """Choose the length by the members' loss alone."""
    rows = {epochs: cwrf(relaxloss, PRINTED_AT, epochs) for epochs in lengths}
    found = {epochs: _mean(_unattacked(bench, name), "loss_members") for epochs, name in rows.items()}
    best = nearest(found)
    told = ", ".join(f"{epochs}: {number(loss)}" for epochs, loss in found.items())
    near = PRINTED_LOSS / NEAR <= found[best] <= PRINTED_LOSS * NEAR
    unlike = "" if near else "; it is not matched: none is within a factor of two of it"
    return best, (
        f"Fine-tuning has {best} epochs: of those tried, CWRF on RelaxLoss at r = {percent(PRINTED_AT)} then ends "
        f"nearest to the training loss of {PRINTED_LOSS:g} that the paper's Table 2 has ({told}){unlike}."
    )


def nearest(losses: Mapping[int, float]) -> int:
    """Find the length whose training loss is nearest, by ratio, to the one that the paper prints."""
    return min(losses, key=lambda epochs: abs(math.log(max(losses[epochs], 1e-12) / PRINTED_LOSS)))


def _rates(
    bench: Bench, named: Mapping[str, str], epochs: int, rates: Sequence[float]
) -> tuple[dict[str, float], list[str]]:
    """Choose r for each defense, by what pilots give away beyond undefended networks of their accuracy."""

    def piloted(defense: str | None) -> Measured:
        return measure(bench, f"pilots, {defense or NONE}", bench.job(defense, attacks=("lira",)))

    baseline = piloted(None)
    alone = {name: baseline if name == "none" else piloted(defense) for name, defense in named.items()}
    rows = {name: {rate: piloted(cwrf(defense, rate, epochs)) for rate in rates} for name, defense in named.items()}
    control = matching.controls(bench, baseline, [row for known in rows.values() for row in known.values()])
    chosen, notes = {}, []
    for name, defense in named.items():
        known = {
            rate: (row.accuracy, matching.estimated(control.excess(row, "auc_lira")).value)
            for rate, row in rows[name].items()
        }
        chosen[name] = least(known, alone[name].accuracy)
        told = "; ".join(
            f"{percent(rate)}: {fraction(_mean(rows[name][rate], 'auc_lira'))}, {signed(beyond)} beyond, at "
            f"{percent(accuracy)}"
            for rate, (accuracy, beyond) in known.items()
        )
        notes.append(
            f"r on {defense} is {percent(chosen[name])}, at which LiRA finds least in pilots beyond an undefended "
            f"network of their accuracy, of the rates that are within {100 * POINTS:g} points of the defense alone "
            f"({percent(alone[name].accuracy)}), or of all if none is (LiRA's AUC, what is beyond, accuracy: {told})."
        )
    return chosen, notes


def least(known: Mapping[float, tuple[float, float]], alone: float) -> float:
    """Find the rate that gives least away beyond its control, of those that keep the accuracy, or of all if none does.

    Of each rate, `known` has the accuracy and what is beyond its control; `alone` is the defense's accuracy.
    """
    kept = {rate: one for rate, one in known.items() if one[0] >= alone - POINTS} or known
    return min((beyond, rate) for rate, (_, beyond) in kept.items())[1]


def _unattacked(bench: Bench, defense: str) -> Measured:
    return measure(bench, f"pilots, {defense}", bench.job(defense), attacked=False)


def _mean(row: Measured, metric: str) -> float:
    return float(row.measures[metric].observed.mean())


def acts(title: str) -> str:
    """Name the contrast of a defense alone with none."""
    return beside(title, NONE)


def lowers(results: Results, one: Setting, title: str, metric: str) -> bool:
    """Say whether a defense alone lowers the leak, which the paper takes for granted, and learns anything."""
    accuracy = results.get(one.key, title, "accuracy")
    if accuracy is not None and accuracy.value < COLLAPSED:
        return False
    return title == NONE or excess.acts(results, one, title, metric)


def lower(results: Results, one: Setting, name: str, metric: str, label: str, *, acting: bool = True) -> Part:
    """Ask whether a leak is lower at matched accuracy, if that is matched and the defense does anything."""
    return voided(excess.lower(results, one, name, metric, label), None if acting else "condition")


def concluded(bench: Bench, chosen: Chosen, rows: Sequence[Measured], plain: Pairs, even: Pairs) -> Found:
    """Turn measures into numbers: of rows, of pairs as they are and of pairs at matched accuracy, and what CWRF did."""
    found = collect(rows, plain)
    excess.matched(bench, found, rows, even, LEAKS)
    diagnosed(bench, found, rows)
    found.notes += chosen.notes
    return found


def diagnosed(bench: Bench, found: Found, rows: Iterable[Measured]) -> None:
    """Put down what CWRF did to the models of each row: what the mask holds, and what is left right after it.

    A note names the rows whose vulnerable weights went back and left far more than a guess, unlike what the paper says.
    """
    far = []
    for row in rows:
        each = [one.facts.cwrf for one in row.made if one.facts.cwrf is not None]
        counts = _counts(row)
        if counts:
            found.rows[row.name] = f"{found.rows[row.name]}; rewound: {counts}"
        if each and all(one.accuracy_scored for one in each):
            found.rows[row.name] = f"{found.rows[row.name]}; the copy that scores: {_copied(each)}"
        for name, values in (
            ("entropy_initial", [one.initial_entropy for one in each]),
            ("accuracy_rewound", [one.accuracy_rewound.get("reference") for one in each if one.rewound]),
        ):
            known = [value for value in values if value is not None]
            if known and len(known) == len(row.made):
                found.numbers[row.name, name] = Estimate(fmean(known))
        left = found.numbers.get((row.name, "accuracy_rewound"))
        if left is not None and left.value > ABOUT_CHANCE and _as_paper(row):
            far.append(f"{row.name} ({percent(left.value)})")
    if far:
        found.notes.append(
            f"seed {bench.seed}: right after the rewinding, far more than a guess is left in {', '.join(far)}. The "
            "paper reports about a guess there, so that what is fine-tuned in these rows is not what it describes."
        )


def _as_paper(row: Measured) -> bool:
    """Say whether the vulnerable weights of a row's models went back to their initial values."""
    spec = row.job.population.recipe.procedure
    if not isinstance(spec, CWRF):
        return False
    return (spec.mask, spec.value) == ("vulnerability", "initial") and spec.variant != "remove"


def _copied(each: Sequence[CwrfFacts]) -> str:
    """Say how accurate the copy that scores was before and after: it is to unlearn non-members, and members not."""
    return ", ".join(
        f"{called} {percent(fmean(one.accuracy_before[role] for one in each))} to "
        f"{percent(fmean(one.accuracy_scored[role] for one in each))}"
        for role, called in (("members", "members"), ("reference", "reference records"))
    )


def _counts(row: Measured) -> str:
    """Count what was rewound of each kind of layer, on average over models: a mask is a choice of kinds, too."""
    each = [one.facts.cwrf.kinds for one in row.made if one.facts.cwrf is not None]
    if not any(kind.rewound for one in each for kind in one.values()):
        return ""
    return ", ".join(
        f"{fmean(one[kind].rewound for one in each):,.0f} of {total.weights:,} {kind}"
        for kind, total in each[0].items()
    )
