"""What is checked before anything is trained: the recipes, the model with its states, the references."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reticent import usercode
from reticent.attacks import Offer, check_membership, check_offer
from reticent.auditing.intervals import auc_interval
from reticent.auditing.roc import auc
from reticent.data.membership import Membership
from reticent.data.roles import Roles
from reticent.errors import InputError, ModelError, SpecError
from reticent.findings.harden import HeldLoss
from reticent.findings.locate import Origin
from reticent.findings.numbers import Area
from reticent.jobs import attack_inputs, replicas
from reticent.jobs.attacks import before_training, build_attacks
from reticent.jobs.config import BY_KIND, DEFAULT_MODELS, executor
from reticent.jobs.defenses import defended, parts_of, undefended
from reticent.jobs.document import renamed, unlearned
from reticent.jobs.hardening.roles import Asked, Sorted, gathered
from reticent.jobs.locate.source import Weights, origin, states
from reticent.jobs.recipes import at_delta, build_recipe
from reticent.objectives import OBJECTIVES
from reticent.objectives.base import Examples
from reticent.options import AuditConfig, Options
from reticent.population import stacking
from reticent.population.executors import Executor
from reticent.population.population import Population
from reticent.population.worker import choose_device
from reticent.procedures import PROCEDURES
from reticent.procedures.base import given_state
from reticent.procedures.recipe_checks import check_records, needs
from reticent.rounding import percent
from reticent.say import harden_checks as say
from reticent.signals.ask import Seen, ask, asked_again
from reticent.signals.matrix import log_probability
from reticent.signals.queries import Queries
from reticent.spec import Spec
from reticent.store import at
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


@dataclass(frozen=True, eq=False)
class Ready:
    """A repair that is checked.

    Attributes:
        defense: the method and its objective, as the user wrote them.
        before: the references of the given model, by the plain recipe.
        after: those of the repaired model, by the whole defended recipe.
        membership: of the references and, in the last row, of the model.
        left_out: why attacks are left out, by name, where all that fit are asked for.
        seen: what the model says of the audited records.
        untaught: that the model may have learned nothing, in a sentence; empty if it has.
        no_sign: how well its loss tells members from non-members, where that may be chance; None of few records.
    """

    config: AuditConfig
    defense: str
    sorted: Sorted
    before: Population
    after: Population
    membership: Membership
    attacks: tuple[Spec, ...]
    left_out: Mapping[str, str]
    materials: Materials
    trained: dict[str, Tensor]
    initial: dict[str, Tensor]
    origin: Origin
    seen: Seen
    executor: Executor
    untaught: str = ""
    no_sign: Area | None = None

    @property
    def by_default(self) -> bool:
        """Whether nothing was said of how the model was trained."""
        return not self.config.recipe.keys() - {"architecture", "retrain"}

    @property
    def held(self) -> HeldLoss | None:
        """The loss that the objective holds, where the model has a lower one on non-members."""
        spec = self.after.recipe.objective
        option = OBJECTIVES[spec.method].level
        others = ~self.membership.matrix[self.target]
        level, loss = float(getattr(spec, option, 0.0)), float(-log_probability(self.seen.margins[others, 0]).mean())
        return HeldLoss(objective=spec.method, option=option, level=level, loss=loss) if level > loss else None

    def doubts(self) -> list[str]:
        """Say what there is to know of the model and its records before anything is trained."""
        few = say.few(len(self.sorted.members), len(self.sorted.others))
        unjudged = [f"What is found will not be judged: {few}"] * self.sorted.few
        shown = say.doubts(self.no_sign, by_default=self.by_default, early=True)
        return [*filter(None, [self.untaught]), *unjudged, *shown]

    @property
    def target(self) -> int:
        """The model's row, behind the references."""
        return self.before.models

    @property
    def audited(self) -> Examples:
        """The records of the audit, on the device."""
        return self.materials.prepare.examples(self.sorted.records, self.before.roles.audited)

    @property
    def streams(self) -> Streams:
        """Random streams of the repair, apart from those of the references."""
        return Streams(self.config.seed, self.target, ("repair",))

    def right(self, seen: Seen) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which of the members, and of the non-members, a network labels correctly."""
        correct = seen.correct(self.sorted.records.y[self.before.roles.audited])
        members = self.membership.matrix[self.target]
        return correct[members], correct[~members]

    def ask(self, network: nn.Module) -> Seen:
        """Ask a network about the audited records."""
        name = str(self.before.recipe.architecture.method)
        return asked(network, self.audited, self.materials, name, Streams(self.config.seed, self.target))


def ready(
    config: AuditConfig,
    weights: Weights,
    initial: Weights | int | None,
    records: Asked,
    defense: str,
    options: Options,
) -> Ready:
    """Check everything that can be checked before training."""
    trainer = executor(config, choose_device(config.device), config.models or DEFAULT_MODELS)
    told = {"name": defense, **options}
    _check_repairs(parts_of(told), defense)
    attacks = build_attacks(config)
    # What the recipe needs of records does not depend on the records.
    wanted = bool(needs(build_recipe(BY_KIND["tabular"], defended(config.recipe, told))))
    known = gathered(records, config.seed, needed=wanted)
    recipe = build_recipe(BY_KIND[known.records.kind], defended(config.recipe, told), str(records.dataset or ""))
    after, membership = _references(config, recipe, known)
    recipe = after.recipe
    if recipe.patience is not None:
        raise SpecError("patience: there are no validation records here to stop early by: give --epochs instead")
    members = int(membership.matrix.sum(axis=1).min())
    check_records(recipe, known.records, reference=len(known.reference), validation=0, members=members)
    after = stacking.chosen(after, at(config.store), config.stack, trainer.device)
    last = after.models
    offer = Offer(known.records.classes, len(after.queries.views()), logits=True, population=False, imitators=True)

    def fits(spec: Spec) -> None:
        replicas.check([spec], recipe)
        attack_inputs.check([spec], known.records.kind, 0, given=False)
        check_offer(spec, offer)
        check_membership(spec, membership, [last], np.arange(last))

    attacks, left_out = before_training(config, attacks, fits, answers=membership.matrix.shape[1])
    materials = _materials(known, torch.device(trainer.device))
    trained, initially, where, seen, untaught = _model(recipe, weights, initial, materials, after, membership)
    row = membership.matrix[-1]
    area = Area(
        value=float(auc(seen.margins[:, 0], row)), interval=auc_interval(seen.margins[:, 0], row, config.confidence)
    )
    return Ready(
        config=config,
        defense=defense,
        sorted=known,
        before=replace(after, recipe=undefended(recipe)),
        after=after,
        membership=membership,
        attacks=attacks,
        left_out=left_out,
        materials=materials,
        trained=trained,
        initial=initially,
        origin=where,
        seen=seen,
        executor=trainer,
        untaught=untaught,
        no_sign=None if area.shown or known.few else area,
    )


def _references(config: AuditConfig, recipe: Recipe, known: Sorted) -> tuple[Population, Membership]:
    """Draw who trains on what: each reference on a random half; the model's own members come last."""
    audited = np.sort(np.concatenate([known.members, known.others]))
    roles = Roles(audited=audited, validation=audited[:0], reference=known.reference, population=audited[:0])
    drawn = Membership.draw(config.models or DEFAULT_MODELS, len(audited), config.seed)
    membership = Membership(np.vstack([drawn.matrix, np.isin(audited, known.members)]))
    recipe = at_delta(recipe, config, membership.matrix.sum(axis=1))
    return Population(recipe, known.records, roles, drawn, config.seed), membership


def _materials(known: Sorted, device: torch.device) -> Materials:
    prepare = Preparation(known.records, device)
    members, validation, reference = (
        prepare.examples(known.records, ids) for ids in (known.members, known.members[:0], known.reference)
    )
    return Materials(members, validation, reference, prepare, known.records.classes)


def asked(network: nn.Module, examples: Examples, materials: Materials, name: str, streams: Streams) -> Seen:
    """Ask a network about records, whatever its own code raises."""
    with usercode.reported(f"the model {name}, asked about the records,", ModelError), streams.lent("asking"):
        seen = ask(network.eval(), examples, materials.prepare, materials.classes, Queries(), None)
        return replace(seen, notices=asked_again(network, examples, materials.prepare, materials.classes))


def _check_repairs(parts: Mapping[str, Options], defense: str) -> None:
    """Check that a defense repairs a model and changes nothing but its weights."""
    procedure = parts.get("procedure", {}).get("name")
    able = [name for name, entry in PROCEDURES.items() if entry.repair is not None]
    if procedure not in able:
        raise SpecError(
            f"method: expected one of {', '.join(able)}, which change a trained model, got {defense!r}: "
            "the loss that they train with is given by --objective"
        )
    if "output" in parts:
        raise SpecError(
            f"{parts['output']['name']} changes what a model answers, and no weights that could be written: leave it "
            "out, and put it behind the repaired model"
        )


def _model(
    recipe: Recipe,
    weights: Weights,
    initial: Weights | int | None,
    materials: Materials,
    population: Population,
    membership: Membership,
) -> tuple[dict[str, Tensor], dict[str, Tensor], Origin, Seen, str]:
    """Read the model's states, ask it, and check that it learned its members; or say that it may not have."""
    streams = Streams(population.seed, population.models)
    network, before, after = states(None, weights, initial, recipe, materials, streams)
    initially = given_state(network, before(), "the initial state")
    trained = given_state(network, after(), "the weights")
    if all(torch.equal(value, trained[name]) for name, value in initially.items()):
        raise InputError("the initial state is the same as the weights: expected the state before training")
    audited = materials.prepare.examples(population.records, population.roles.audited)
    seen = asked(network, audited, materials, str(recipe.architecture.method), streams)
    told = _learned(seen, membership, population)
    return trained, initially, origin(initial), seen, told


def _learned(seen: Seen, membership: Membership, population: Population) -> str:
    """Check that the model knows its members better than naming one class would; say if that may be chance."""
    row, labels = membership.matrix[-1], population.records.y[population.roles.audited]
    correct, labels = seen.correct(labels), labels[row]
    commonest = float(np.bincount(labels).max() / len(labels))
    share = float(correct[row].mean())
    told = renamed(seen.logits[row].argmax(axis=1), labels)
    if share <= commonest or told:
        scale = " (pictures: give --mean and --std, as the model was trained with)"
        asked = (
            "are the members, their labels, the order of the classes (scikit-learn's is that of classes_) and the "
            f"scale of the inputs those that it was trained with{scale if population.records.kind == 'image' else ''}?"
        )
        raise InputError(
            f"the model labels {percent(share)} of its members correctly, and always naming one class would "
            f"label {percent(commonest)}: expected a model that learned them; {told or asked}"
        )
    chance = unlearned(population.models, share, commonest, len(labels))
    return "" if chance is None else say.untaught(chance.problem)
