"""What weights are scored of: a model of a population that the store has or trains, or a model of the user's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from reticent import arrays, checks, seeds, user_files
from reticent.data.load import load
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, RolesError, SpecError
from reticent.findings.locate import Origin
from reticent.jobs.config import BY_KIND, Job
from reticent.jobs.locate.states import read
from reticent.jobs.recipes import build_recipe
from reticent.locate.working_copy import copied, fill, wide
from reticent.models import ARCHITECTURES
from reticent.models.base import build
from reticent.models.state_dicts import fitted
from reticent.models.user import check_whole
from reticent.options import AuditConfig
from reticent.population.worker import Maker
from reticent.procedures import entry
from reticent.signals.ask import check_ending
from reticent.signals.squashed import TELLING_ROWS
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

ALLOWED = {"architecture", "augmentation", "padding", "precision"}
"""What of a recipe is known of a model that is given."""
Weights = str | Path | Mapping[str, Any]
State = Callable[[], Mapping[str, Tensor]]
"""Reads or makes a state; it is not held."""


@dataclass(eq=False)
class Source:
    """A trained network with what its weights are scored by.

    It is altered, and brought back by `begin` and `restore`, which read the states before and after training. Where it
    is of a population, `run` and `row` say of which.
    """

    network: nn.Module
    initial: State
    trained: State
    materials: Materials
    recipe: Recipe
    streams: Streams
    origin: Origin
    name: str
    run: str | None = None
    row: int | None = None

    def begin(self) -> None:
        """Bring the network to the state before training."""
        fill(self.network, self.initial(), "the initial state")

    def restore(self) -> None:
        """Bring the network to the state after training."""
        fill(self.network, self.trained(), "the trained state")


def of_population(job: Job, row: int, store: Store) -> Source:
    """Take a model of a population, which is trained now if the store does not have it."""
    population, recipe = job.population, job.population.recipe
    if not 0 <= row < population.models:
        raise InputError(f"model: expected a row from 0 to {population.models - 1}, got {row}")
    if recipe.procedure.method == "function":
        raise SpecError(
            "a training function of your own tells no initial state: give the model that it trains, by --architecture "
            "module:factory, --weights FILE and --initial FILE"
        )
    maker = Maker(population, store, job.executor.device)
    made = maker.make(row)
    materials, streams = maker.materials(row), Streams(population.seed, row)
    network = wide(entry(recipe).network(recipe, materials, streams))
    run = store.whole(made.training)
    initial, trained = (partial(read, run.file(f"{name}.safetensors")) for name in ("initial", "weights"))
    return Source(
        network,
        initial,
        trained,
        materials,
        recipe,
        streams,
        Origin.TRAINING,
        recipe.architecture.method,
        run.id,
        row,
    )


def of_own(
    config: AuditConfig,
    records: Records | None,
    device: str,
    needed: bool,
    *,
    members: ArrayLike | str | Path,
    network: nn.Module | None,
    weights: Weights | None,
    initial: Weights | int | None,
) -> Source:
    """Bring a model of the user's own into the form that is scored; `needed` are reference non-members."""
    stray = sorted(set(config.recipe) - ALLOWED)
    if stray or config.defense is not None:
        raise SpecError(
            f"{stray[0] if stray else 'defense'}: the model is given, and nothing is trained: leave it out, or leave "
            "the weights out"
        )
    if (network is None) == (weights is None):
        raise InputError("expected either a network with its weights inside, or weights beside an architecture")
    if records is None:
        records = load(config.dataset, data_dir=config.data_dir, **config.given())
    recipe = build_recipe(BY_KIND[records.kind], config.recipe)
    prepare = Preparation(records, torch.device(device))
    materials = _materials(records, members, config, prepare, needed)
    streams = Streams(config.seed, 0)
    working, before, after = states(network, weights, initial, recipe, materials, streams)
    check_ending(working, prepare(materials.members.first(TELLING_ROWS).x))
    # An architecture is called as the user did.
    name = str(getattr(recipe.architecture, "factory", recipe.architecture.method))
    if network is not None:
        name = type(network).__name__
    return Source(working, before, after, materials, recipe, streams, origin(initial), name)


def origin(initial: Any) -> Origin:
    """Say where a state before training is from."""
    if initial is None:
        return Origin.FRESH
    if isinstance(initial, (str, Path)):
        return Origin.FILE
    if isinstance(initial, Mapping):
        return Origin.GIVEN
    if isinstance(initial, bool) or not isinstance(initial, Integral):
        raise InputError(
            "initial: expected a file, a state dictionary, or the seed of torch.manual_seed (a whole number), got "
            f"{type(initial).__name__}"
        )
    return Origin.SEED


def drawn(build: Callable[[], nn.Module], seed: int | None, streams: Streams) -> nn.Module:
    """Build a network from a seed as a plain script would, or from a fresh draw; no global generator is moved."""
    if seed is None:
        with streams.lent("init"):
            return build()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        return build()


def states(
    given: nn.Module | None,
    weights: Weights | None,
    initial: Weights | int | None,
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
) -> tuple[nn.Module, State, State]:
    """Build the network of a model that is given, as a module or by its weights, and hold its states against it."""
    device, known = materials.prepare.device, origin(initial)
    seed = int(initial) if known is Origin.SEED else None  # type: ignore[arg-type]

    def made() -> nn.Module:
        network = ARCHITECTURES[recipe.architecture.method]
        return build(network, recipe.architecture, materials.prepare.input, materials.classes)

    trained: State
    if given is not None:
        check_whole(given, f"the network {type(given).__name__}")
        network, trained = copied(given).to(device), given.state_dict
        if known in {Origin.FRESH, Origin.SEED}:
            raise InputError(
                "a network that is given as a module cannot be built again: expected initial= its state before "
                "training (a file or a state dictionary)"
            )
    else:
        network = wide(drawn(made, seed, streams)).to(device)
        trained = _reader(weights, network, "the weights")
    before: State = lambda: drawn(made, seed, streams).state_dict()  # noqa: E731
    if known in {Origin.FILE, Origin.GIVEN}:
        before = _reader(initial, network, "the initial state")
    trained(), before()  # What does not fit is found now.
    return network, before, trained


def _reader(state: Any, network: nn.Module, what: str) -> State:
    if isinstance(state, (str, Path)):
        return lambda: fitted(read(state), network, f"{what} of {state}")
    return lambda: fitted(state, network, what)


def _materials(records: Records, given: Any, config: AuditConfig, prepare: Preparation, needed: bool) -> Materials:
    members = member_ids(given, len(records))
    apart = ~np.isin(records.groups, records.groups[members])
    others = np.flatnonzero(apart)
    wanted = min(len(others), len(members)) if config.reference is None else config.reference
    if needed and not len(others):
        raise RolesError(
            "reference: expected records that are neither members nor exact duplicates of one, and there are none: "
            "give a data set with more records than the members"
        )
    if needed and (wanted < 1 or wanted > len(others)):
        raise RolesError(
            f"reference: expected 1 to {len(others)} records, which is how many are neither members nor exact "
            f"duplicates of one, got {wanted}"
        )
    chosen = np.sort(seeds.rng(config.seed, "locate", "reference").permutation(others)[:wanted])
    take: Callable[[NDArray[np.int64]], Any] = lambda ids: prepare.examples(records, ids)  # noqa: E731
    return Materials(take(members), take(chosen[:0]), take(chosen), prepare, records.classes)


def member_ids(given: ArrayLike | str | Path, records: int, what: str = "members") -> NDArray[np.int64]:
    """Read which records are members, or have another role."""
    values = _read(user_files.path(given), what) if isinstance(given, (str, Path)) else arrays.array(given, what)
    if values.dtype == np.bool_:
        if values.shape != (records,):
            raise InputError(f"{what}: expected {records} truth values, one a record, got shape {values.shape}")
        values = np.flatnonzero(values)
    ids = checks.integers(ndim=1, low=0, high=records, remedy="records count from 0", **{what: values})
    each, counts = np.unique(ids, return_counts=True)
    if len(each) != len(ids):
        flags = len(ids) == records and each[-1] <= 1
        hint = "; if 0 and 1 are truth values, give them as booleans (astype(bool))" if flags else ""
        raise InputError(f"{what}: record {each[counts > 1][0]} stands there more than once{hint}")
    if len(ids) < 2:
        raise InputError(f"{what}: expected at least 2 records, got {len(ids)}")
    return np.sort(ids)


def _read(path: Path, what: str) -> NDArray[Any]:
    expected = f"the row numbers of the {what}, as .npy or as text of one number a line"
    with user_files.reading(path, expected):
        user_files.check(path, expected)
        if path.suffix.lower() == ".npy":
            with user_files.loading(path, expected):
                found: NDArray[Any] = np.load(path, allow_pickle=False)
            return found
        numbers = user_files.text(path, expected).split()
    try:
        return np.array([int(number) for number in numbers], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise CorruptFileError(f"{path}: expected {expected}, got {error}") from None
