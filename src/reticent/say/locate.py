"""Where the leak is, in sentences: in which weights, at which depth, in which records."""

from collections.abc import Iterator

from reticent.findings.locate import (
    LayersDocument,
    Memorisation,
    Origin,
    RecordsDocument,
    ScoredData,
    WeightsDocument,
)
from reticent.rounding import around, beside, level, number, percent
from reticent.say.grammar import agree, plural
from reticent.say.population import noun, unhealthy

FRESH = (
    "The initial state is a fresh draw, since the one that this model was trained from is not known. What training "
    "changed cannot be told from what the two draws differ in, so take the scores as a hint, or give the initial state."
)
SURE = 0.5
"""Below this share of log C, the initial model's answers are far from guesses."""


def weights(found: WeightsDocument) -> WeightsDocument:
    """Fill in the sentences of scores of weights."""
    unlearned = None if found.data.learned else _unlearned(found.data)
    told = _scores(found)
    return found.with_(
        data=found.data.with_(unlearned=unlearned),
        sentence=told if unlearned is None else f"{unlearned} {told}",
        cannot_say=tuple(_limits_of_weights(found)),
    )


def _unlearned(data: ScoredData) -> str:
    return (
        f"The model labels {percent(data.accuracy_members)} of its members correctly, no more than chance allows when "
        f"always naming the largest class ({percent(data.commonest)}), so its scores rank little. Check the weights, "
        "the members, and that inputs are normalised as in training."
    )


def _scores(found: WeightsDocument) -> str:
    if found.largest[0].vulnerability is None:
        return "No weight has any score: nothing that was asked of the network gives it a gradient."
    middle = next((row for row in found.largest[1:] if row.shared is not None), None)
    if middle is None:
        rate = level(found.largest[-1].rate)
        return f"The network has too few weights to take {rate} of them; all have their scores."
    rate = level(middle.rate)
    if not found.unlearning:
        return (
            f"{rate} of the weights hold {percent(middle.learnability)} of the learnability. With unlearning at 0 both "
            "scores are learnability, so nothing is said of privacy vulnerability."
        )
    whole = found.kinds[0]
    return (
        f"The {rate} of the weights that are most vulnerable hold {percent(middle.vulnerability)} of the privacy "
        f"vulnerability; {percent(middle.shared)} of them are also among the {rate} that the network learns most by. "
        f"The two scores correlate by {number(whole.pearson, 2)}, their ranks by {number(whole.spearman, 2)}."
    )


def _limits_of_weights(found: WeightsDocument) -> list[str]:
    said = [
        "How much the model leaks: scores rank weights inside one model. reticent audit measures the leak.",
        "What a weight of zero does: its score is zero, whatever its gradient.",
        "Whether changing the most vulnerable weights protects members: reticent compare shows what a repair is worth.",
    ]
    unused, entropy = found.model.unused, found.initial.entropy
    if len(found.steps.vulnerability) < 2:
        said.append("How much the ranking depends on which batches were drawn: --seeds 3 would show it.")
    if unused:
        said.append(f"Anything about {plural(len(unused), 'parameter')} without a gradient, such as {unused[0]}.")
    if entropy is not None and entropy < SURE:
        said.append(
            "What pulling non-members back to guesses would show: the initial model does not guess (its entropy is "
            f"{percent(entropy)} of the most possible), so they are pulled to its particular answers."
        )
    if not found.unlearning:
        said.append("Privacy vulnerability: with unlearning at 0 both scores are learnability.")
    elif found.initial.origin is Origin.FRESH:
        said.append(FRESH)
    return said


def layers(found: LayersDocument, further: tuple[str, ...] = ()) -> LayersDocument:
    """Fill in the sentences of a comparison of stages; `further` ones are said of records and networks."""
    limits = (*_limits_of_layers(found), *further)
    return found.with_(sentence=_onset(found), detail=tuple(_odd(found)), cannot_say=limits)


def _onset(found: LayersDocument) -> str:
    rule = (
        f"the rule: an effect of at least {0.5 + found.onset.margin:.4g}, its interval above 0.5, there and at every "
        "later stage"
    )
    index, least = found.onset.index, 0.5 + found.onset.margin
    if index is None:
        most = max(found.stages, key=lambda stage: stage.effect.mean)
        largest = f"{beside(most.effect.mean, least)}, at {_called(most.name)}"
        return f"No stage shows membership; the largest effect is {largest}, where 0.5 is no trace ({rule})."
    stage = found.stages[index]
    interval = around(stage.effect.interval)
    return (
        f"Membership shows from {_called(stage.name)} on ({index + 1} of {len(found.stages)}): its effect is "
        f"{beside(stage.effect.mean, least)} ({interval}), where 0.5 is no trace ({rule})."
    )


def _odd(found: LayersDocument) -> Iterator[str]:
    """Say what stands against trusting the onset, or acting on it."""
    stages, index, least = found.stages, found.onset.index, 0.5 + found.onset.margin
    last = len(stages) - 1
    idle = sum(not one.learned for one in found.models)
    if idle:
        yield (
            f"{idle} of {plural(len(found.models), 'network')} did not learn, and a network that learned nothing shows "
            "no membership at any stage: take no stage for safe. Train longer, or with another learning rate."
        )
    if index == last:
        yield (
            f"Only {_called(stages[last].name)}, the last stage, is found risky: freezing all stages before it would "
            "leave nothing but the classifier to train again, which Fang and Kim found not to help."
        )
    if index == 0:
        yield "Every stage is found risky: nothing is left to freeze."
    earlier = [_called(stage.name) for stage in stages[: last if index is None else index] if stage.above]
    if earlier:
        told = ", ".join(earlier)
        yield (
            f"{told[0].upper()}{told[1:]} {agree(len(earlier), 'shows', 'show')} membership, but a later stage does "
            "not: the rule asks for all later ones."
        )
    weak = [] if index is None else [one for one in stages[index].effects if one < least]
    if index is not None and weak:
        yield (
            f"At {_called(stages[index].name)}, {len(weak)} of {len(stages[index].effects)} contrasts are below "
            f"{least:.4g}: where it begins differs from one to the next."
        )


def _called(name: str) -> str:
    """Name a stage inside a sentence."""
    if name in {"head", "stem"}:
        return f"the {name}"
    return name if name.startswith(("stage ", "block ")) else f"stage {name!r}"


def _limits_of_layers(found: LayersDocument) -> list[str]:
    options = found.options
    repetitions, probe = int(options["seeds"]), options["probe"]  # type: ignore[arg-type]
    trained = "as many epochs, so half as many steps," if options["equalise"] == "epochs" else "as many steps"
    said = [
        f"Intervals come from redrawing records; the {plural(repetitions, 'repetition')} and the halves are taken as "
        "they are. How much the effect differs between them is listed beside it.",
        f"The rule (an effect of {0.5 + found.onset.margin:.4g}, held by all later stages) is a judgement: the paper "
        "decides by eye.",
        f"Networks on half of the records took {trained} as those on all. Distances between the two are large for that "
        "reason too; only the difference between records seen by both and by one speaks of membership.",
        "A distance of feature maps is no attack: a stage without an effect here may still pass on what a later stage "
        "leaks. How much a model leaks is what an audit measures.",
    ]
    if isinstance(probe, dict):
        how = "projected at random" if probe["features"] == "projected" else "averaged over positions"
        said.append(
            f"The probe is a linear machine on features that are {how} where a map has more than {probe['width']:,} "
            "numbers; the paper does not say which it used."
        )
    return said


def records(found: RecordsDocument, further: tuple[str, ...] = ()) -> RecordsDocument:
    """Fill in the sentences of single records; `further` ones are said of the data and of training."""
    health = unhealthy(found.population) if found.population.health else []
    single = [] if found.exposure is None else [found.exposure.sentence]
    return found.with_(
        sentence=_not_units(found.data.unit) + _memorised(found.memorisation, found.records),
        detail=(*health, *single),
        cannot_say=(*_limits_of_records(found), *further),
    )


def _not_units(unit: str | None) -> str:
    """Say that the list is of records, where an audit of units is read."""
    what = noun(unit)
    return "" if unit is None else f"This lists records, not {what}s: the audit's page and units.csv list {what}s. "


def _memorised(summary: Memorisation | None, records: int) -> str:
    if summary is None:
        return f"Memorisation is known of none of the {records:,} records: it takes models with and without each."
    them = agree(summary.memorised, "it", "them")
    chance = ""
    if summary.reversed is not None:
        chance = f", where chance alone gives about {summary.reversed:,} (as many look the other way round)"
    return (
        f"{summary.memorised:,} of {summary.records:,} records {agree(summary.memorised, 'is', 'are')} memorised"
        f"{chance}: models label {them} "
        f"correctly at least {100 * summary.threshold:.0f} percentage points more often if they were trained on {them}."
        f" The mean over all records is {number(100 * summary.mean, 1)} points."
    )


def _limits_of_records(found: RecordsDocument) -> list[str]:
    return [
        f"Each number comes from at most {plural(found.models, 'model')}, and has its standard error beside it. The "
        "records at the top of a list look worse than they are, since chance helped to put them there.",
        "A record that is not memorised may still be found by an attack: exposure says how far models with the record "
        "and models without it differ, whether or not the label changes.",
        "Records that stand in the data twice: each looks less exposed than it is, since a model without one copy may "
        "have the other.",
    ]
