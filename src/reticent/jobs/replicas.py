"""What SELENA's adaptive attack needs besides signals: the soft targets that every model's own Split-AI kept."""

from collections.abc import Sequence

from reticent.attacks import ATTACKS
from reticent.errors import SpecError
from reticent.population import stored_signals
from reticent.population.population import Population
from reticent.population.worker import Made
from reticent.procedures.selena import Selena
from reticent.signals.matrix import Matrix
from reticent.spec import Spec
from reticent.store import Store
from reticent.training.recipe import Recipe


def check(attacks: Sequence[Spec], recipe: Recipe, *, unaware: bool = False) -> None:
    """Refuse, before training, attacks on models that will not have what they need."""
    name = next((spec.method for spec in attacks if ATTACKS[spec.method].needs(spec).replicas), None)
    if name is None:
        return
    if not isinstance(recipe.procedure, Selena):
        raise SpecError(
            f"{name}: expected models by the procedure selena, whose Split-AI it compares answers with, got "
            f"{recipe.procedure.method}: give --defense selena, or leave this attack out"
        )
    if unaware:
        raise SpecError(
            f"{name}: expected references that run Split-AI themselves, got also_non_adaptive, whose references are "
            "trained without the defense: leave one of the two out"
        )


def opened(attacks: Sequence[Spec], population: Population, store: Store, made: Sequence[Made]) -> Matrix | None:
    """Open the soft targets of a finished population, if an attack looks at them."""
    if not any(ATTACKS[spec.method].needs(spec).replicas for spec in attacks):
        return None
    return stored_signals.replicas(population, store, made)
