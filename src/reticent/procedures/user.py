"""A user's own training function: any pipeline that returns a network or a classifier, by import string."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np
from torch import nn

from reticent import user_reads, usercode
from reticent.errors import ModelError, SpecError
from reticent.models.user import Factory, check_whole
from reticent.options import Options
from reticent.procedures.base import Trained, own
from reticent.procedures.estimator import Estimator, is_estimator
from reticent.spec import Spec, full
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


class Function(Spec):
    """Options of training by import string."""

    method: ClassVar[str] = "function"

    function: str
    """``module:name`` of a function ``(x, y, seed)`` that returns an ``nn.Module``, or a fitted classifier in
    scikit-learn's form (``predict_proba`` or ``decision_function``): x is float32 model input (images normalised,
    channels first; tokens int64), y is int64 labels, both NumPy arrays of the members only, and the
    function's own: it may change them."""
    source: str = ""
    """Hash of the source behind the function; filled in by `resolve`, part of every run's identity."""

    def resolve(self) -> "Function":
        """Import the function and record the hash of its source."""
        usercode.load(self.function)
        return self.replace(source=usercode.digest(self.function))


USED = ("procedure", "output", "retrain")
"""Fields of a recipe that have a meaning where training is a function of the user's."""


def check_used(recipe: Recipe, given: Iterable[str]) -> None:
    """Refuse what a user says of training that a function of theirs does by itself."""
    unused = [key for key in given if key not in USED]
    if isinstance(recipe.procedure, Function) and unused:
        raise SpecError(
            f"{', '.join(unused)}: not used, since models are made by {recipe.procedure.function}: leave "
            "it out here, and set it inside that function"
        )


def own_code(recipe: Recipe) -> str | None:
    """Name the user's code that makes the models of a recipe, by import string."""
    if isinstance(recipe.procedure, Function):
        return recipe.procedure.function
    return recipe.architecture.factory if isinstance(recipe.architecture, Factory) else None


def files_read(recipe: Recipe) -> dict[str, str]:
    """Name the files that the user's code read in this process to make models of a recipe, with their hashes."""
    code = own_code(recipe)
    return {} if code is None else usercode.read(code)


def check_read(recipe: Recipe, read: Mapping[str, str]) -> None:
    """Refuse what the user's code made when it read other files than are there now."""
    code = own_code(recipe)
    if code is not None:
        user_reads.check(read, code)


def told(recipe: Recipe) -> Options:
    """Write a recipe for a document, without what has no part in the training of a user's function, or is not set."""
    plain: Options = full(recipe)
    if not isinstance(recipe.procedure, Function):
        return plain
    return {key: plain[key] for key in USED if plain[key] is not None}


def _called(made: object) -> str:
    """Name what a function returned that cannot be asked."""
    if isinstance(made, type):
        return f"the class {made.__name__} itself"
    return type(made).__name__ + (": a regression is not supported" if hasattr(made, "predict") else "")


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Call the user's function on the members of one model."""
    spec = own(recipe, Function)
    function = usercode.load(spec.function)
    if spec.source and usercode.digest(spec.function) != spec.source:
        raise ModelError(f"{spec.function}: its source changed while it was in use; run the same command again")
    x, y = (np.array(t.cpu().numpy()) for t in (materials.prepare(materials.members.x), materials.members.y))
    with streams.lent("function"), usercode.reported(spec.function, ModelError), usercode.noted(spec.function):
        model = function(x, y, streams.integer("function") % 2**31)
    if not isinstance(model, nn.Module):
        if not is_estimator(model):
            raise ModelError(
                f"{spec.function}: expected a torch.nn.Module, or a fitted classifier with predict_proba or "
                f"decision_function, got {_called(model)}"
            )
        model = Estimator(model, x, materials.classes, spec.function)
    check_whole(model, spec.function)
    model.to(materials.prepare.device).eval()
    return Trained(model, {}, History())
