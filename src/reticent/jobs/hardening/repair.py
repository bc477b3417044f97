"""The repaired model: found in the store, or made and kept there."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from reticent.errors import ModelError, ReticentError
from reticent.findings.training import RepairFacts
from reticent.jobs.hardening.checks import Ready
from reticent.population.population import TrainingRun
from reticent.procedures import PROCEDURES, Trained
from reticent.procedures.base import snapshot
from reticent.procedures.user import check_read, files_read
from reticent.sparsify.masks import Masks, of_masks
from reticent.spec import canonical, full, identity
from reticent.store import Draft, Store
from reticent.torch_state import fixed
from reticent.training.memory import peak
from reticent.usercode import told


@dataclass(frozen=True, eq=False)
class Repaired:
    """The repaired model: parameters and buffers by name, on the CPU.

    `masks` are what pruning left, empty where nothing was pruned; `fresh` says that it was made now.
    """

    run: str
    state: dict[str, Tensor]
    masks: Masks
    facts: RepairFacts
    fresh: bool


def named(ready: Ready) -> str:
    """Name the run of a repair: by the model, its records, and all that repairs it."""
    return identity(_spec(ready))


def repaired(ready: Ready, store: Store) -> Repaired:
    """Repair the model, or find that it is repaired."""
    run_id = named(ready)
    run, made = store.found_or_made(run_id, partial(_make, ready))
    facts, masks = run.read(RepairFacts), Masks()
    if made is None:
        check_read(ready.after.recipe, facts.read)
    if facts.sparsity is not None:
        masks = of_masks(load_file(run.file("artefacts.safetensors")))
    return Repaired(run_id, load_file(run.file("weights.safetensors")), masks, facts, fresh=made is not None)


def network(ready: Ready, state: Mapping[str, Tensor]) -> nn.Module:
    """Build the network of a state, as the repair built it."""
    recipe = ready.after.recipe
    built = PROCEDURES[recipe.procedure.method].network(recipe, ready.materials, ready.streams)
    built.load_state_dict(dict(state))
    return built.eval()


def whole(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copy a state so that no two tensors share memory, which a file of tensors does not allow."""
    return {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}


class RepairRun(TrainingRun):
    """What the run of a repair is made from: the two states of the model, too."""

    weights: str
    initial: str


def _spec(ready: Ready) -> RepairRun:
    population, materials = ready.after, ready.materials
    return RepairRun(
        kind="repair",
        model=ready.target,
        members=_hashed(materials.members.x, materials.members.y),
        recipe=population.recipe,
        data=ready.sorted.records.digest,
        seed=population.seed,
        reference=_hashed(materials.reference.x, materials.reference.y),
        weights=_hashed(*ready.trained.values()),
        initial=_hashed(*ready.initial.values()),
    )


def _hashed(*tensors: Tensor) -> str:
    content = hashlib.sha256()
    for tensor in tensors:
        content.update(repr((tensor.dtype, tuple(tensor.shape))).encode())
        if tensor.numel():
            content.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return content.hexdigest()[:20]


def _make(ready: Ready, draft: Draft) -> Trained:
    recipe, started = ready.after.recipe, time.perf_counter()
    repair = PROCEDURES[recipe.procedure.method].repair
    assert repair is not None, "`checks` refuses others"
    try:
        with peak(ready.materials.prepare.device) as memory, fixed(), ready.streams.lent("training"):
            made = repair(ready.trained, ready.initial, recipe, ready.materials, ready.streams, None)
    except ReticentError:
        raise
    except (Exception, SystemExit) as error:
        raise ModelError(f"the repair: {told(error)}") from error
    draft.write_bytes("weights.safetensors", save(snapshot(made.model)))
    if made.artefacts:
        draft.write_bytes("artefacts.safetensors", save(whole(made.artefacts)))
    draft.write_json("spec.json", canonical(_spec(ready)) | {"recipe": full(recipe)})
    draft.facts = RepairFacts(
        **dict(made.facts),
        model=ready.target,
        read=files_read(recipe),
        data=ready.sorted.records.name,
        seconds=time.perf_counter() - started,
        peak_memory_bytes=memory.bytes,
    ).to_json()
    return made
