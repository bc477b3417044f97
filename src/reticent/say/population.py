"""What is to be said of the models."""

from reticent.findings.audit import Leak
from reticent.findings.population import Population
from reticent.rounding import percent
from reticent.say.grammar import some

UNLEARNED = "a model that learned nothing has nothing to leak"


def problem(accuracy: float, share: float, chance: float, members: int) -> str:
    """Say that a model labels its own members no better than naming one class would."""
    return (
        f"labels {percent(accuracy)} of its own training records correctly; always naming one class gives "
        f"{percent(share)}, and by chance up to {percent(min(1.0, chance))} of {members:,}"
    )


def unhealthy(population: Population, leak: Leak | None = None) -> list[str]:
    """Say what models that did not learn do to an audit: no sentence, or one."""
    more = "models that work may leak more"
    if population.health is None:
        why = more if leak is Leak.FOUND else UNLEARNED
        return [f"Whether the models learned: margins alone do not tell it here, and {why}."]
    if not population.health:
        return []
    what = f"{UNLEARNED}, so low numbers here say nothing of a model that works"
    if leak is Leak.FOUND:
        what = f"{more} than is found here"
    which = some([one.model for one in population.health])
    return [
        f"{population.unlearned} of {population.models} models did not learn (model {which}): {what}. Train longer, or "
        "with another learning rate."
    ]
