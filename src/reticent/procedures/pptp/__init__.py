"""PPTP: the stages of a trained network where membership shows are set back and trained again; the others stay.

Paper: Fang and Kim, "Decoupling generalizability and membership privacy risks in neural networks" (arXiv 2602.02296),
algorithm 1. No code was found. Judgements: the stage where the paper's freezing stops (table 6) is the first that is
trained again (`boundary`); the paper chooses it by eye, here a rule does (`locate.layers.judged`); setting back means
the initial values (`rewind`), of the statistics of BatchNorm too; those of stages that stay are not touched again.
"""

from dataclasses import replace
from functools import partial

from torch import Tensor, nn

from reticent.errors import SpecError, about
from reticent.findings.training import OnsetFacts, PptpFacts, ProcedureFacts
from reticent.locate.layers import onset
from reticent.models.stages import stages
from reticent.objectives import OBJECTIVES
from reticent.procedures.base import State, own, snapshot, undefended
from reticent.procedures.costs import Costs, Short
from reticent.procedures.pptp.choice import chosen, measurable, possible, started
from reticent.procedures.pptp.spec import AUTO, PPTP
from reticent.procedures.two_stage import First, SetBack, TwoStage, accuracies
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

__all__ = ["METHOD", "PPTP", "repair", "train"]

FOR_AUTO = ("seeds", "swap", "equalise", "margin")
"""Options that mean nothing where the stage is given."""
APART = ("mist", "selena")
"""Procedures of a second training that rest on networks which leave members out."""
SHARED = (
    "pptp with {0}: the networks of {0} that leave a member out share the stages that stay, which were trained on it."
)


class _Method(TwoStage):
    """What PPTP refuses, and what it does between the two trainings."""

    kind = PPTP
    inner = ("plain", "dpsgd", "mist", "selena")
    no_epsilon = (
        "pptp with dpsgd proves nothing and has no epsilon: the stages that stay, and which they are, depend on the "
        "members, and no noise hides it."
    )

    def first_recipe(self, recipe: Recipe) -> Recipe:
        """Tell what the first training is."""
        return undefended(recipe).replace(objective=OBJECTIVES[own(recipe, PPTP).pretraining].spec())

    def early(self, recipe: Recipe) -> int | None:
        """Tell after how many epochs of the first training its state is kept."""
        rewind = own(recipe, PPTP).rewind
        return rewind if isinstance(rewind, int) else None

    def check(self, recipe: Recipe) -> None:
        """Refuse options that mean nothing beside each other, or lie beyond the first training."""
        super().check(recipe)
        spec, usual = own(recipe, PPTP), PPTP()
        idle = [name for name in FOR_AUTO if getattr(spec, name) != getattr(usual, name)]
        if spec.stage != AUTO and idle:
            raise SpecError(
                f"pptp: {idle[0]}: says how the stage is measured, and the stage is given ({spec.stage}): leave one of "
                "the two out"
            )
        whole = int(recipe.stop_after or recipe.epochs)
        sure = whole if recipe.patience is None else min(whole, recipe.patience + 1)
        if isinstance(spec.rewind, int) and spec.rewind > sure:
            early = "" if recipe.patience is None else f" (it may stop early, with patience {recipe.patience})"
            raise SpecError(
                f"pptp: rewind: expected at most {sure}, the whole epochs that the first training surely has{early}, "
                f"got {spec.rewind}"
            )

    def check_members(self, recipe: Recipe, members: int) -> None:
        """Refuse too few members, to measure the stage with or for the second training."""
        if own(recipe, PPTP).stage == AUTO:
            measurable(members)
        super().check_members(recipe, members)

    def check_network(self, recipe: Recipe, model: nn.Module, x: Tensor) -> None:
        """Refuse a stage that the network does not have, and patterns that divide it into none."""
        spec = own(recipe, PPTP)
        possible(model, stages(model, spec.stages), spec)

    def set_back(
        self, model: nn.Module, first: First, recipe: Recipe, materials: Materials, streams: Streams, costs: Costs
    ) -> SetBack:
        """Choose the stages that are trained again, and the state that they begin from.

        Cost: for auto, at the defaults, three times plain training; four times where the model was not trained plainly,
            of networks that are trained on the members and halves of them. One network more in memory.
        """
        spec = own(recipe, PPTP)
        back_to = _values(spec, first)
        shown, known = stages(model, spec.stages), accuracies(model, materials, recipe)
        plain = first.history is not None and self.first_recipe(recipe) == undefended(recipe)

        def measured() -> OnsetFacts:
            built, options = partial(self.network, recipe), spec.measuring()
            with about("pptp, measuring the first risky stage"):
                return onset(recipe, materials, streams, options, whole=model if plain else None, network=built)

        with costs.stage("choice"):
            choice = chosen(shown, spec, measured)
        trained = snapshot(model)
        start, count = started(model, shown[: choice.first], trained, trained if back_to is None else back_to)
        total, found = sum(value.numel() for value in model.parameters()), choice.onset
        facts = PptpFacts(
            accuracy_before=known,
            stage=choice.names[choice.first],
            chosen="given" if found is None else "measured",
            frozen=choice.names[: choice.first],
            trained_again=choice.names[choice.first :],
            onset=found,
            parameters=total,
            parameters_frozen=count,
            share_frozen=count / total,
        )
        shared = (SHARED.format(spec.inner.method),) * (spec.inner.method in APART and choice.first > 0)
        return SetBack(start, ProcedureFacts(notices=(*choice.notices, *shared), pptp=facts))

    def short(self, recipe: Recipe) -> Short:
        """Shorten all trainings; what else is measured to choose the stage is as long as it is."""
        spec = own(recipe, PPTP)
        brief = spec.replace(rewind="initial") if isinstance(spec.rewind, int) else spec
        made = super().short(recipe.replace(procedure=brief))
        half = 1.0 if spec.equalise == "steps" else 0.5
        inside = spec.seeds * (1 + half * (1 + spec.swap)) - (self.first_recipe(recipe) == undefended(recipe))
        return replace(made, inside={"choice": inside} if spec.stage == AUTO else {})


def _values(spec: PPTP, first: First) -> State | None:
    """Find the values that the risky stages go back to; None for those that they have."""
    if not isinstance(spec.rewind, int):
        return first.initial if spec.rewind == "initial" else None
    if not first.early:
        raise SpecError(
            f"pptp: rewind: the state after {spec.rewind} epochs is not known of a model that is trained already: use "
            "initial or trained"
        )
    return first.early


METHOD = _Method()
train, repair = METHOD.train, METHOD.repair
