"""What a training run of the store holds: how it is written and read."""

import platform
from datetime import UTC, datetime
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent.findings.training import Cost, TrainingFacts
from reticent.population.population import Population
from reticent.procedures import Trained
from reticent.procedures.base import Before, snapshot
from reticent.procedures.user import files_read
from reticent.spec import canonical, full
from reticent.store import Draft, Run
from reticent.training.loop import History
from reticent.version import VERSION

LOSSES = "losses"
"""Among a traced run's artefacts: of every member ``(E + 1, n)``, before training and after each of E epochs."""


def write(
    draft: Draft,
    population: Population,
    model: int,
    trained: Trained,
    cost: Cost,
    device: torch.device,
    before: Run | None = None,
) -> None:
    """Write a training run; models that were trained together have equal shares of the seconds and the memory."""
    roles = population.roles
    earlier = Cost(seconds=0.0) if before is None else before.read(Cost)
    peaks = [known for known in (cost.peak_memory_bytes, earlier.peak_memory_bytes) if known is not None]
    _write_files(draft, trained)
    ids = {"members": population.members(model), "validation": roles.validation, "reference": roles.reference}
    draft.write_arrays("roles.safetensors", ids)
    draft.write_json("spec.json", canonical(population.training_spec(model)) | {"recipe": full(population.recipe)})
    draft.facts = TrainingFacts(
        **dict(trained.facts),
        model=model,
        read=files_read(population.recipe),
        data=population.records.name,
        seconds=cost.seconds + earlier.seconds,
        peak_memory_bytes=max(peaks, default=None),
        reticent=VERSION,
        torch=torch.__version__,
        python=platform.python_version(),
        device=str(device),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    ).to_json()


def _write_files(draft: Draft, trained: Trained) -> None:
    draft.write_arrays("weights.safetensors", {n: array(v) for n, v in snapshot(trained.model).items()})
    traced = trained.history.member_losses
    artefacts = trained.artefacts | ({LOSSES: torch.stack(traced)} if traced else {})
    for name, tensors in (("initial", trained.initial), ("artefacts", artefacts)):
        if tensors:
            draft.write_arrays(f"{name}.safetensors", {n: array(v) for n, v in tensors.items()})
    draft.write_bytes("log.jsonl", trained.history.lines().encode())


def state(run: Run, kind: str) -> dict[str, Tensor]:
    """Read tensors of a run: its weights, those before training, or artefacts."""
    return {name: torch.from_numpy(value) for name, value in run.arrays(f"{kind}.safetensors").items()}


def before(run: Run) -> Before:
    """Read what later stages of a training know of its first one."""
    return Before(history(run), state(run, "artefacts") if "artefacts.safetensors" in run.files else {})


def history(run: Run) -> History:
    """Read how a training went."""
    return History.of(run.file("log.jsonl").read_text(encoding="utf-8"))


def array(tensor: Tensor) -> NDArray[Any]:
    """Take a tensor to NumPy, which has no bfloat16: that becomes float32, without loss."""
    cpu = tensor.detach().cpu()
    array: NDArray[Any] = (cpu.float() if cpu.dtype == torch.bfloat16 else cpu).numpy()
    return array
