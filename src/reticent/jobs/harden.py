"""``reticent harden``: repair a trained model of the user's own, and audit it before and after."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from safetensors.torch import load_file, save
from torch import Tensor, nn

from reticent import arrays, user_files
from reticent.errors import InputError, ModelError, SpecError
from reticent.findings.harden import FAR, CompactFile, HardenDocument, Short
from reticent.jobs.base import Reported, Work
from reticent.jobs.config import KEYS, by_record, chosen
from reticent.jobs.hardening.before_after import MAX_ACCURACY_LOSS, AuditedSide, audited, findings, lost, told_apart
from reticent.jobs.hardening.checks import Ready, ready
from reticent.jobs.hardening.latency import latency
from reticent.jobs.hardening.repair import named, network, repaired, whole
from reticent.jobs.hardening.roles import Asked
from reticent.jobs.locate.options import refuse
from reticent.jobs.locate.source import Weights
from reticent.jobs.option_hints import owners
from reticent.options import OWN, DataOptions, Options
from reticent.population.in_store import unfinished, using
from reticent.population.train import Callback, train
from reticent.procedures import entry
from reticent.report.kinds import page
from reticent.report.output import HARDEN, REPAIRED, Output
from reticent.say.harden_checks import refused, suspects
from reticent.sparsify.compact import packed
from reticent.store import Store
from reticent.torch_state import fixed

FOLDER = "repaired"
WEIGHTS, COMPACT = "repaired.safetensors", "compact.safetensors"


@dataclass(frozen=True, eq=False)
class Hardened(Reported[HardenDocument]):
    """A repaired model, and its audit before and after.

    Attributes:
        files: harden.html, repaired.safetensors, of a pruned model compact.safetensors, and harden.json.
    """

    @cached_property
    def state(self) -> dict[str, Tensor]:
        """The repaired state, for ``load_state_dict`` of the module that it was repaired of."""
        return load_file(self.files[1])


@fixed()
def harden(
    model: str | Callable[..., nn.Module],
    weights: Weights,
    *,
    members: Any,
    non_members: Any = None,
    reference: Any = None,
    dataset: str | Path | None = None,
    method: str = "cwrf",
    objective: str | None = None,
    options: Options | None = None,
    initial: Weights | int | None = None,
    mean: ArrayLike = (),
    std: ArrayLike = (),
    max_accuracy_loss: float = MAX_ACCURACY_LOSS,
    out: str | Path = FOLDER,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    note: Callable[[str], None] | None = None,
    **values: Any,
) -> Hardened:
    """Repair a model that was trained elsewhere, and audit it before and after by the same attacks.

    Before, the references are trained plainly, by the recipe that is stated; after, by the whole defended pipeline,
    each with its own mask. All of them, and the repair, are kept in the store: the same call goes on where it was.

    Args:
        model: the architecture: ``module:factory`` or a function of a module that builds it, or a name such as mlp.
        weights: its trained state: a ``.safetensors`` file, a ``.pt`` file of a state dictionary, or tensors by name.
        members: the records that it was trained on: a file (.npz, .npy, .csv, .parquet), or ``(x, y)``.
        non_members: records that it never saw, to audit it with.
        reference: other records that it never saw, which the repair uses. Where one of the two is not given and the
            repair needs both, the other one is divided into halves.
        dataset: one data set; the three are then row numbers of it, booleans, or files of row numbers.
        method: cwrf, pptp, prune or imp, with options if wanted: ``cwrf:rate=0.01``; ``cwrf+dpsgd:epsilon=8``.
        objective: what the repair trains with, such as relaxloss; by default cross-entropy.
        options: of the method and the objective, each an option of exactly one of them.
        initial: the state before training: as `weights`, or the seed of ``torch.manual_seed`` right before the model
            was built; None is a fresh draw, which the report tells.
        mean: for pictures in files, what is subtracted from ``x / 255`` before the model sees it, one number a channel.
        std: what the difference is divided by.
        max_accuracy_loss: a repair that takes a larger share of right answers on non-members is not audited, and
            nothing is written; it stays in the store, so that the same call with a larger value goes on from there.
        out: folder for harden.html, repaired.safetensors and harden.json; of a pruned model for compact.safetensors
            too, which `reticent.load_weights` reads.
        progress: called after every reference.
        stage: called with words before each part.
        note: called with sentences, before anything is trained: that the model may have learned nothing, or not these
            members, or that nothing was said of how it was trained.
        **values: keys of `AuditConfig` or `Recipe`, as for `reticent.audit`: ``epochs``, ``models`` (references) ...;
            for tables ``label``, ``not_features`` and the other keys of `DataOptions`.

    Returns:
        The repaired model and both audits.

    Raises:
        SpecError: the method repairs nothing, or a key means nothing here.
        RolesError: a record has two roles, or there are too few.
        ModelError: the weights are not those of the model, or the repair took more accuracy than is allowed.

    Cost: the repair, M plain trainings and M of the defended pipeline, on half of members and non-members each.

    Example:
        >>> import reticent
        >>> found = reticent.harden("net:build", "model.pt", members="in.npz", reference="out.npz")  # doctest: +SKIP
        >>> net.load_state_dict(found.state)  # doctest: +SKIP
    """
    if isinstance(model, nn.Module):
        raise SpecError(
            "model: references are built anew, so that a function that builds the network is expected (a function of a "
            f"module, or module:function), got a {type(model).__name__}"
        )
    if not 0 <= max_accuracy_loss <= 1:
        raise SpecError(
            f"max_accuracy_loss: expected a share from 0 to 1, such as 0.1 for 10 percentage points, got "
            f"{max_accuracy_loss!r}"
        )
    refuse(values, "harden")
    if "architecture" in values:
        raise SpecError("architecture: the model is given by itself: leave it out")
    _refuse_options(values, method, objective)
    config = chosen(None, {**values, "architecture": model, "dataset": OWN})
    by_record(config)
    scale = _numbers("mean", mean), _numbers("std", std)
    reading = DataOptions(**config.given())
    records = Asked(members, non_members, reference, dataset, reading, config.data_dir, *scale)
    defense = method if objective is None else f"{method}+{objective}"
    checked = ready(config, weights, initial, records, defense, options or {})
    if note is not None:
        for doubt in checked.doubts():
            note(doubt)
    inputs = [weights, initial, members, non_members, reference, dataset]
    output = Output.checked(user_files.path(out), HARDEN, inputs)
    work = Work(stage, progress)
    with ExitStack() as held:
        store = held.enter_context(using(config.store, checked.before))
        held.enter_context(using(config.store, checked.after))
        held.enter_context(store.using([named(checked)]))
        output.begin()
        return _hardened(checked, store, weights, work, output, max_accuracy_loss)


def _refuse_options(values: Options, method: str, objective: str | None) -> None:
    """Refuse options of the method or the objective that stand beside them."""
    chosen_names = {name.partition(":")[0] for text in (method, objective or "") for name in text.split("+")}
    for key, value in values.items():
        if key not in KEYS and chosen_names.intersection(owners(key)):
            raise SpecError(
                f"{key}: is an option of a defense: give it as options={{{key!r}: {value!r}}}, or behind its name in "
                "method or objective, such as method='cwrf:rate=0.01'"
            )


def _hardened(
    checked: Ready, store: Store, weights: Weights, work: Work, output: Output, max_accuracy_loss: float
) -> Hardened:
    """Repair, train the references, attack and write; what is likeliest to be refused comes first."""
    with work.on("repair", "repairing the model"):
        made = repaired(checked, store)
    seen = {"after": checked.ask(network(checked, made.state)), "before": checked.seen}
    (own, before), (own_after, after) = (checked.right(seen[name]) for name in ("before", "after"))
    if lost(before, after, max_accuracy_loss):
        short = None
        if lost(own, own_after, FAR):
            recipe = checked.after.recipe
            tuning = entry(recipe).tuning_epochs(recipe)
            short = Short("repair", own_after.mean(), own.mean(), recipe.epochs, tuning)
        looked = suspects(checked.sorted.notes, checked.held, short)
        raise ModelError(refused(before.mean(), after.mean(), max_accuracy_loss, looked))
    populations = {"after": checked.after, "before": checked.before}
    runs = {}
    on_the_way = {one.training_id(0) for one in checked.after.stages[1:]}
    left = [unfinished(store.address, one) * (one.training_id(0) not in on_the_way) for one in populations.values()]
    work.divide("population", left)
    for name, population in populations.items():
        piece = work.piece(f"references {name} the repair")
        piece.tell("training")
        with work.on(f"references_{name}"):
            runs[name] = train(population, store, executor=checked.executor, progress=piece.progress)
    with work.on("blind", "blind baseline"):
        blind = told_apart(checked, runs["before"], store)
    sides: dict[str, AuditedSide] = {}
    for name, population in populations.items():
        with work.on(f"attacks_{name}"):
            sides[name] = audited(checked, population, runs[name], seen[name], store, blind, work)
    work.tell("report")
    found = findings(checked, made, sides["before"], sides["after"], blind, weights, work)
    files: dict[str, str | bytes] = {WEIGHTS: marked(save(whole(made.state), {"format": "pt"}))}
    if made.masks:
        files[COMPACT] = marked(save(whole(packed(made.state, made.masks)), {"format": "pt"}))
        sizes = CompactFile(bytes=len(files[COMPACT]), bytes_whole=len(files[WEIGHTS]))
        found = found.with_(compact=sizes, environment=found.environment.with_(latency=latency(checked, made)))
    return Hardened(found, output.write(found, {"harden.html": page(found), **files}))


def marked(content: bytes) -> bytes:
    """Say in a file of tensors that reticent repaired them: by a second entry, and always in the same order."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header["__metadata__"] |= REPAIRED
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


def _numbers(name: str, given: ArrayLike) -> tuple[float, ...]:
    """Read one number a channel."""
    try:
        values = np.atleast_1d(arrays.array(given).astype(np.float64))
    except (InputError, TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.ndim > 1 or not np.isfinite(values).all():
        raise SpecError(f"{name}: expected finite numbers, one a channel, such as (0.5, 0.5, 0.5), got {given!r}")
    return tuple(values.tolist())
