"""Whether models that a user's code made are those that it would make now."""

from collections.abc import Callable
from functools import cache

from reticent.errors import OutdatedRunError
from reticent.population.failures import about
from reticent.population.population import Population
from reticent.population.worker import Made
from reticent.procedures.recipe_checks import built
from reticent.procedures.user import Function, check_read, own_code
from reticent.torch_state import fixed
from reticent.user_reads import OTHERWISE

Check = Callable[[Made], None]


def checker(population: Population) -> Check:
    """Give what refuses a model, found or just made, that is not what the user's code makes here and now.

    It read the same files; and where the code makes the network alone, it has as many parameters.
    """
    recipe, code = population.recipe, own_code(population.recipe)

    @cache
    def parameters() -> int:
        with fixed():
            return sum(p.numel() for p in built(recipe, population.records).parameters())

    def check(made: Made) -> None:
        if code is None:
            return
        with about(made.model):
            check_read(recipe, made.facts.read)
            count = made.facts.parameters
            if not isinstance(recipe.procedure, Function) and count != parameters():
                raise OutdatedRunError(
                    f"it has {count:,} parameters, and {code} now builds a network of {parameters():,}: it depends on "
                    "what is not in its source, such as an environment variable, or a value that a script sets: "
                    f"{OTHERWISE}"
                )

    return check
