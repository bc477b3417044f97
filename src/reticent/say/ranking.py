"""Members of one training, ranked by risk, in sentences."""

from collections.abc import Iterator

from reticent.findings.ranking import RankingDocument
from reticent.rounding import number, percent
from reticent.say.grammar import agree, plural


def ranking(found: RankingDocument, further: tuple[str, ...] = ()) -> RankingDocument:
    """Fill in the sentences of a ranking; `further` ones are said of the data."""
    return found.with_(sentence=_ordered(found), detail=tuple(_doubts(found)), cannot_say=(*_limits(found), *further))


def _ordered(found: RankingDocument) -> str:
    """Say what was ranked by what, and whether the two ways agree."""
    training, both = found.training, found.agreement
    told = f"{plural(training.members, 'member')} are ranked by risk from one training"
    unmeasured = "How much the model leaks is not measured."
    if both is None:
        return f"{told}, by the spread of their losses over {plural(training.epochs, 'epoch')}. {unmeasured}"
    return (
        f"{told} of {plural(training.epochs, 'epoch')}. {both.shared:,} of the first {both.top:,} by the spread of "
        f"their losses {agree(both.shared, 'is', 'are')} also among the first {both.top:,} by leverage (unrelated "
        f"rankings would share {number(both.chance, 1)}). {unmeasured}"
    )


def _doubts(found: RankingDocument) -> Iterator[str]:
    training = found.training
    if not training.learned:
        yield (
            f"The model did not learn: it labels {percent(training.accuracy_members)} of its members correctly, no "
            f"more than chance allows when always naming the largest class ({percent(training.commonest)}), so its "
            "losses rank little. Train longer, or with another learning rate."
        )
    if training.epochs < training.planned:
        yield (
            f"Training stopped early, after {training.epochs} of {training.planned} epochs; losses are ranked over "
            "those, also where the state that was kept is from before the last."
        )
    if found.ranked[0].leverage is None:
        yield (
            "The network does not end in one linear layer on one row of features a record, so there is no ranking by "
            "leverage."
        )
    yield from training.notices


def _limits(found: RankingDocument) -> list[str]:
    epochs = plural(found.training.epochs, "epoch")
    said = [
        "How much the model leaks, or whether an attack finds any of these records: that takes models without them. "
        "reticent audit measures it, and reticent locate records says of each record how exposed it is; "
        "docs/locate.md has how far this order agreed with that where both were measured.",
        "Anything of a record that was not trained on: it has no course of losses, and no leverage, that means the "
        "same.",
        f"Which of two trainings puts a record more at risk: a spread over {epochs} compares with one over as many "
        "alone, and the order of another training differs by chance. How much, one training does not tell.",
        "That the members ranked last are safe: one that training did not come to fit, such as a record with a wrong "
        "label after few epochs, has a small spread too.",
        "What the published code would give: it takes losses in training mode. Here the network is asked in eval mode, "
        "about records as they are, after every epoch.",
    ]
    if found.ranked[0].leverage is not None:
        said.append(
            "What the layers before the last one have learned by heart: leverage sees the last layer alone. It also "
            "falls with confidence: a model that is sure of all its members has low leverage everywhere, whatever it "
            "leaks, so only its order within one model means something. And it does not look at labels."
        )
    output = found.recipe.get("output")
    if isinstance(output, dict) and output.get("method") != "none":
        said.append("What the output defense hides: the network itself is asked, before it.")
    said.append(
        "To others, who was trained on and who was not, unless you pass it on: every record of this report and of "
        "records.csv is a member, so keep both as closely as the records."
    )
    return said
