"""Networks that are made of a population's models, such as pruned ones: what they answer, kept and measured."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO

import numpy as np
from torch import Tensor, nn

from reticent.locate.scoring import Scores, Scoring
from reticent.locate.weights import score
from reticent.options import Options
from reticent.population.worker import Made, Maker
from reticent.procedures import plain
from reticent.procedures.two_stage import shortened, tuning
from reticent.report.files import make_folder, write_file
from reticent.signals.matrix import log_probability
from reticent.sparsify.masks import masked
from reticent.spec import identity
from reticent.store import Store
from reticent.studies import presets
from reticent.studies.base import Bench, Found, Scale
from reticent.studies.measured import Measures, Pairs, averages, initial, leaks, numbers, record_weights
from reticent.studies.metrics import columns
from reticent.studies.numbers import Floats
from reticent.torch_state import fixed
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams
from reticent.version import VERSION

FORMAT = 4
"""Of what is kept of a model; a change makes all be measured again."""
State = Mapping[str, Tensor]
COLUMNS = columns("accuracy", "accuracy_members", "loss_members", "loss", "gap", "auc_loss")
"""What is measured of such networks."""


def scales(tiny: Options, options: Options) -> dict[str, Scale]:
    """Give a study of such networks its scales, whose options are `options` but at scale tiny."""
    small = (presets.CWRF_LOCATION, presets.CWRF_CNN)
    return {
        "tiny": Scale((presets.asked(presets.CWRF_TINY, tiny),), 1, "4 models of a part of Location30: a minute."),
        "small": Scale(
            tuple(presets.asked(one, options) for one in small),
            3,
            "Location30 and a part of CIFAR-10, 4 models a seed, 3 seeds: half an hour on two cores.",
        ),
        "paper": Scale(
            (presets.asked(presets.PAPER_RESNET18, options),), 3, "CIFAR-10 with ResNet18, 3 seeds: hours on one GPU."
        ),
    }


@dataclass(frozen=True, eq=False)
class Model:
    """One model of a population as it was trained, from which state, by what; and what others are made of it with."""

    network: nn.Module
    initial: State
    recipe: Recipe
    materials: Materials
    streams: Streams

    def scores(self, scoring: Scoring) -> Scores:
        """Score its weights."""
        return score(self.network, self.initial, self.materials, scoring, self.streams.child("scored"), self.recipe)

    def cut(self, keep: State) -> nn.Module:
        """Set what is not kept to zero, and change nothing else."""
        network = untrained(self.recipe, self.materials, self.streams)
        network.load_state_dict(masked(self.network.state_dict(), keep))
        return network.eval()

    def trained(self, state: State, keep: State) -> nn.Module:
        """Train anew from a state, of which what is not kept is held at zero."""
        start = Start(masked(state, keep), dict(keep))
        return plain.train(self.recipe, self._from(start), self.streams).model

    def tuned(self, keep: State, epochs: int) -> nn.Module:
        """Fine-tune it for some epochs, with what is not kept held at zero."""
        start = Start(masked(self.network.state_dict(), keep), dict(keep))
        recipe = shortened(self.recipe, epochs)
        return plain.train(recipe, self._from(start), tuning(self.streams)).model

    def fresh(self) -> dict[str, Tensor]:
        """Draw another initial state."""
        network = untrained(self.recipe, self.materials, self.streams.child("fresh"))
        return dict(network.state_dict())

    def _from(self, start: Start) -> Materials:
        return replace(self.materials, start=start)


Make = Callable[[Model], Sequence[nn.Module]]
"""Makes the networks of one model."""


def derived(bench: Bench, rows: Mapping[str, str], make: Make, pairs: Pairs) -> Found:
    """Measure networks made of a population's first models: accuracy, losses, gap and what a loss threshold finds.

    Each model's answers are kept in the bench's folder, so that an interrupted study makes none of them twice. `rows`
    are in the order in which `make` returns the networks of one model.
    """
    job = bench.job()
    with bench.made(job) as (store, made):
        maker, asked = Maker(job.population, store, job.executor.device), made[: bench.options["located"]]
        answers = []
        for one in asked:
            bench.say(f"networks made of model {one.model}")
            answers.append(_kept(bench, maker, store, one, make, len(rows)))
    members = job.population.membership.matrix[[one.model for one in asked]]
    weights = record_weights(job, bench.seed, members)
    measures: dict[str, Measures] = {}
    for place, name in enumerate(rows):
        right, losses = (np.stack([each[which][place] for each in answers]) for which in (0, 1))
        measures[name] = averages(right, losses, members, weights)
        measures[name] |= leaks("loss", -losses, members, bench.options.get("fpr"), weights)
    return Found(rows=dict(rows), numbers=numbers(measures, pairs))


def _kept(bench: Bench, maker: Maker, store: Store, made: Made, make: Make, count: int) -> Floats:
    """Find what K networks of one model answer, right or wrong, and losses: ``(2, K, N)``; or make them and keep it."""
    about = [FORMAT, VERSION, made.training, maker.device.type, make.__module__, dict(bench.options)]
    path = bench.folder / f"networks-{made.model}-{identity(about)}.npy"
    shape = (2, count, len(maker.population.roles.audited))
    with contextlib.suppress(OSError, ValueError, EOFError):  # Not there, or not whole: it is measured.
        known = np.load(path, allow_pickle=False)
        if known.shape == shape:
            return np.asarray(known, np.float64)
    population = maker.population
    with fixed(), population.streams(made.model).lent("asking"):
        model = Model(
            maker.network(made),
            initial(store, made),
            population.recipe,
            maker.materials(made.model),
            population.streams(made.model),
        )
        labels, found = population.records.y[population.roles.audited], np.empty(shape)
        for place, network in enumerate(make(model)):
            seen = maker.ask(network, made.model)
            found[0, place] = seen.correct(labels)
            found[1, place] = -log_probability(seen.margins[:, 0])
    stream = BytesIO()
    np.save(stream, found, allow_pickle=False)
    make_folder(bench.folder)
    write_file(path, stream.getvalue())
    return found
