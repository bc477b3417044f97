"""The models of one population in one process, on one device: what each is trained from, and what each is asked."""

import time

import numpy as np
import torch
from torch import Tensor, nn

from reticent.findings.training import CostedFacts, ProbeFacts, SignalsFacts
from reticent.objectives.base import Examples
from reticent.objectives.imitation import Imitation
from reticent.outputs import OUTPUTS, Context, Output
from reticent.population.population import Population
from reticent.population.probe_answers import PROBES, Probed
from reticent.population.training_run import array
from reticent.procedures.estimator import CLIPPED, Estimator
from reticent.signals.ask import Seen, ask, asked_again
from reticent.signals.probes import Probe
from reticent.spec import canonical, full
from reticent.store import Draft, Run
from reticent.torch_state import fixed
from reticent.training.data import Preparation
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Untouched

ANSWERS = "answers"
"""The array of ``probe.safetensors``: what a model says to a probe, ``(N, K)``."""


class Asker:
    """Asks the models of one population about its audited records, and those of the population role."""

    def __init__(self, population: Population, device: str) -> None:
        self.population, self.device = population, torch.device(device)
        records, roles = population.records, population.roles
        self.prepare = Preparation(records, self.device)
        self.audited = self.prepare.examples(records, roles.audited)
        self.others = self.prepare.examples(records, roles.population)
        self.validation = self.prepare.examples(records, roles.validation)
        self.reference = self.prepare.examples(records, roles.reference)

    def materials(self, model: int) -> Materials:
        """Gather what one model is trained from."""
        population, inside = self.population, torch.from_numpy(self.population.membership.members(model))
        members, watched = self.audited.take(inside), None
        if population.watch:
            watched = self.audited.take(torch.from_numpy(np.flatnonzero(~population.membership.matrix[model])))
        classes, imitated, instead = population.records.classes, population.imitated, None
        if imitated is not None:
            answers = torch.from_numpy(imitated.answers)[inside]
            instead = Imitation(imitated.spec, answers.to(self.device))
        return Materials(
            members,
            self.validation,
            self.reference,
            self.prepare,
            classes,
            watched,
            traced=population.trace,
            instead=instead,
        )

    @fixed()
    def ask(self, network: nn.Module, model: int) -> Seen:
        """Ask a network about the audited records."""
        with self.population.streams(model).lent("asking"):
            return self._ask(network, self.audited, self.output(model, network))

    def _ask(self, network: nn.Module, examples: Examples, output: Output | None) -> Seen:
        population = self.population
        return ask(network, examples, self.prepare, population.records.classes, population.queries, output)

    def output(self, model: int, network: nn.Module) -> Output | None:
        """Build what the model's answers go through, from what its owner knows."""
        spec, classes = self.population.recipe.output, self.population.records.classes
        if isinstance(spec, Untouched):
            return None
        materials, streams = self.materials(model), self.population.streams(model)

        @torch.no_grad()
        def own(x: Tensor) -> Tensor:
            return forward(network.eval(), self.prepare(x), classes).double()

        known = Context(
            own,
            classes,
            self.prepare,
            materials.members,
            materials.reference,
            lambda name: streams.generator(f"output/{name}"),
        )
        return OUTPUTS[spec.method].build(spec, known)

    def look(self, model: int, network: nn.Module, run: Run, draft: Draft) -> None:
        """Write what a model of a training run says."""
        population = self.population
        with fixed(), population.streams(model).lent("asking"):
            output = self.output(model, network)
            seen = self._ask(network, self.audited, output)
            other = self._ask(network, self.others, output) if len(self.others) else None
            again = asked_again(network, self.audited, self.prepare, population.records.classes)
        clipped = isinstance(network, Estimator) and network.clipped
        said = run.read(CostedFacts)
        arrays = {"logits": seen.logits, "margins": seen.margins}
        if other is not None:
            arrays |= {"population_logits": other.logits, "population_margins": other.margins}
        draft.write_arrays("signals.safetensors", arrays)
        roles = population.roles
        draft.write_arrays("roles.safetensors", {"audited": roles.audited, "population": roles.population})
        asked = {"queries": full(population.queries), "output": full(population.recipe.output)}
        draft.write_json("spec.json", canonical(population.signals_spec(model)) | asked)
        labels = population.records.y[roles.audited]
        correct, row = seen.correct(labels), population.membership.matrix[model]
        notices = (*said.notices, *(CLIPPED,) * clipped, *again)
        draft.facts = SignalsFacts(
            **dict(said.with_(notices=notices, selena=None, mist=None)),
            of=run.id,
            parameters=sum(p.numel() for p in network.parameters()),
            members=int(row.sum()),
            accuracy_members=float(correct[row].mean()),
            accuracy_non_members=float(correct[~row].mean()),
            largest_class_share=float(np.bincount(labels[row]).max() / row.sum()),
        ).to_json()

    @fixed()
    def probed(self, model: int, network: nn.Module, probe: Probe, examples: Examples) -> Tensor:
        """Ask a network what a probe asks of some records."""
        population = self.population
        with population.streams(model).lent("probing"):
            output = None if probe.of_labels else self.output(model, network)
            given = network.eval(), examples, self.prepare, population.records.classes, population.seed
            return PROBES[probe.method](probe, Probed(*given, self.others, population.recipe, output))

    def probe(self, model: int, network: nn.Module, probe: Probe, draft: Draft) -> None:
        """Write what a model says to a probe."""
        population = self.population
        started = time.perf_counter()
        said = self.probed(model, network, probe, self.audited)
        draft.write_arrays("probe.safetensors", {ANSWERS: array(said)})
        draft.write_arrays("roles.safetensors", {"audited": population.roles.audited})
        draft.write_json("spec.json", canonical(population.probe_spec(model, probe)) | {"probe": full(probe)})
        seconds = time.perf_counter() - started
        draft.facts = ProbeFacts(of=population.training_id(model), model=model, seconds=seconds).to_json()
