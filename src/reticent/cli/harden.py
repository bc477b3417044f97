"""``reticent harden``: repair a trained model of the user's own, and audit it before and after."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from reticent.cli.flags import DataFlags, Training
from reticent.errors import InputError, SpecError, nearest
from reticent.spec import toml_or_text


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Run(DataFlags, Training):
    """How the references are trained, and the attacks run."""

    models: int | None = None
    "References of each side. [16]"
    epochs: int | None = None
    "Passes over a reference's training records: state what the model was trained with."
    data_dir: Path | None = None
    "With --dataset: folder of official data files."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Data:
    """The model, and who was in its training."""

    model: str
    "The architecture: module:factory of your own, or a name such as mlp."
    weights: Path
    "Its trained weights: a file of safetensors, or of torch.save of a state dictionary (.pt, .pth, .ckpt, ...)."
    members: Path
    "The records that it was trained on: .npz (x, y), .npy, a table or a folder; with --dataset a file of row numbers."
    non_members: Path | None = None
    "Records that it never saw, for the audit. [half of the reference]"
    reference: Path | None = None
    "Other records that it never saw, for the repair. [half of the non-members]"
    dataset: str | None = None
    "One data set that the three are row numbers of: a name, a file, or module:function."
    initial: Path | None = None
    "Its state before training, in such a file. [a fresh draw]"
    initial_seed: int | None = None
    "Or the seed of torch.manual_seed right before the model was built."
    mean: str | None = None
    "For pictures in files: what was subtracted from x / 255, one number a channel, with commas. [0.5]"
    std: str | None = None
    "For pictures in files: what that was divided by. [0.25]"


def harden(
    *,
    data: Data,
    method: str = "cwrf",
    objective: str | None = None,
    out: Path = Path("repaired"),
    run: Run = Run(),
    **options: str,
) -> Sequence[Path]:
    """Repair a model that was trained elsewhere, and audit it before and after, by the same attacks.

    Writes the repaired weights and one report. References and the repair are kept in the store: the same command after
    an interruption goes on where it was.

    Example: reticent harden --model my_net:build --weights model.safetensors --members members.npz --non-members
    test.npz --reference reference.npz --method cwrf --objective relaxloss --rate 0.01

    Args:
        data: the model and its records.
        method: cwrf or pptp, with options if wanted: cwrf:rate=0.01.
        objective: What the repair trains with, such as relaxloss or relaxloss:level=1. [cross-entropy]
        out: Folder for harden.html, repaired.safetensors and harden.json.
        run: how the references are trained, and the attacks run.
        options: An option of the method or of the objective, such as --rate 0.01.

    Returns:
        The files that were written.

    Raises:
        InputError: two initial states are given.
    """
    from reticent.cli.progress import screen
    from reticent.cli.screen import first, replaced, told, unlost
    from reticent.jobs.harden import harden as repair
    from reticent.report.kinds import harden as kind
    from reticent.report.output import HARDEN

    if data.initial is not None and data.initial_seed is not None:
        raise InputError("--initial and --initial-seed: both say what the state before training was; leave one out")
    with unlost(), screen() as shown:
        hardened = repair(
            data.model,
            data.weights,
            members=data.members,
            non_members=data.non_members,
            reference=data.reference,
            dataset=data.dataset,
            method=method,
            objective=objective,
            options=_options(options, method if objective is None else f"{method}+{objective}"),
            initial=data.initial if data.initial is not None else data.initial_seed,
            mean=_numbers("mean", data.mean),
            std=_numbers("std", data.std),
            out=out,
            progress=shown.model,
            stage=first(lambda: replaced(out, HARDEN, shown.note), shown.stage),
            **run.values(),
        )
    return told(kind.harden(hardened.findings), hardened.files)


def _options(given: dict[str, str], defense: str) -> dict[str, Any]:
    """Read options of the method and the objective.

    What is none, and nearly a flag of the verb, is taken for a slip.
    """
    import difflib

    from reticent.jobs.defenses import INNER, PARTS, parts_of

    chosen = parts_of(defense)
    inner = chosen.get("procedure", {}).get(INNER)
    methods = [*chosen.items(), *([("procedure", inner)] if inner else [])]
    options = {key for part, one in methods for key in PARTS[part][one["name"]].spec.model_fields}
    known = [f.name.replace("_", "-") for part in (Data, Run) for f in fields(part)] + ["method", "objective", "out"]
    for name in (key.replace("_", "-") for key in given):
        if name.replace("-", "_") not in options and difflib.get_close_matches(name, known, n=1, cutoff=0.8):
            raise SpecError(f"unknown flag --{name}: {nearest(name, known)}")
    return {key.replace("-", "_"): toml_or_text(value) for key, value in given.items()}


def _numbers(name: str, text: str | None) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(float(part) for part in (text or "").split(",") if part.strip())
    except ValueError:
        raise SpecError(f"--{name}: expected numbers with commas between them, got {text!r}") from None
