"""``reticent harden``: repair a trained model of the user's own, and audit it before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from reticent.cli.flags import DATA, TRAINING, Setting, Told, flags, initial_state
from reticent.errors import SpecError, nearest
from reticent.options import Options, spelled
from reticent.spec import RARELY, toml_or_text

if TYPE_CHECKING:
    from reticent.cli.job import Screen
    from reticent.jobs.harden import Hardened


@flags(
    *TRAINING,
    *DATA,
    models="References of each side. [16]",
    epochs="Passes that the model was trained for: references and repair follow them. References take as many; the "
    "repair half (cwrf, pptp), a fifth a round (prune) or all in each (imp), unless --tuning-epochs says otherwise. "
    "[40]",
    data_dir="With --dataset: folder of official data files.",
)
class Run(Told):
    """How the references are trained, and the attacks run."""

    set: Setting = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Model:
    """The model, who was in its training, and how it is repaired."""

    model: str
    "The architecture: module:factory of your own, or a name such as mlp."
    weights: Path
    "Its trained weights: a file of safetensors, or of torch.save of a state dictionary (.pt, .pth, .ckpt, ...)."
    members: Path
    "The records that it was trained on: .npz (x, y), .npy, a table or a folder; with --dataset a file of row numbers."
    non_members: Path | None = None
    "Records that it never saw, for the audit. [half of the reference]"
    reference: Path | None = None
    "Others that it never saw, for the repair. [half of the non-members]"
    dataset: Annotated[str | None, RARELY] = None
    "One data set that the three are row numbers of: a name, a file, or module:function."
    initial: Annotated[Path | None, RARELY] = None
    "Its state before training, in such a file. [a fresh draw]"
    initial_seed: Annotated[int | None, RARELY] = None
    "Or the seed of torch.manual_seed right before the model was built."
    mean: Annotated[str | None, RARELY] = None
    "For pictures in files: what was subtracted from x / 255, one number a channel, with commas. [0.5]"
    std: Annotated[str | None, RARELY] = None
    "For pictures in files: what that was divided by. [0.25]"
    method: str = "cwrf"
    "cwrf, pptp, prune or imp, with options if wanted: cwrf:rate=0.01."
    objective: str | None = None
    "What the repair trains with, such as relaxloss or relaxloss:level=1. [cross-entropy]"
    max_accuracy_loss: Annotated[float, RARELY] = 0.1
    "A repair that takes a larger share of right answers on non-members is not audited, and nothing is written."
    out: Path = Path("repaired")
    "Folder for harden.html, repaired.safetensors and harden.json."


def harden(*, model: Model, run: Run = Run(), **options: str) -> Sequence[Path]:  # noqa: B008
    r"""Repair a model that was trained elsewhere, and audit it before and after, by the same attacks.

    Writes the repaired weights and one report. References and the repair are kept in the store: the same command after
    an interruption goes on where it was.

    Examples:
        reticent harden --model my_net:build --weights model.safetensors --members members.npz \
            --non-members test.npz --reference reference.npz --objective relaxloss --rate 0.01

    Args:
        model: the model and its records.
        run: how the references are trained, and the attacks run.
        options: An option of the method or of the objective, such as --rate 0.01.
    """
    from reticent.cli.job import reported
    from reticent.jobs.harden import harden as repair
    from reticent.report.output import HARDEN

    given = vars(model) | {"initial": initial_state(model.initial, model.initial_seed)}
    given |= {key: _numbers(key, given[key]) for key in ("mean", "std")} | run.values()
    del given["initial_seed"]
    given["options"] = _options(options, "+".join(filter(None, (model.method, model.objective))))

    def job(screen: "Screen") -> "Hardened":
        return repair(**given, progress=screen.model, stage=screen.stage, note=screen.note)

    return reported(HARDEN, job, model.out).files


def _options(given: Mapping[str, str], defense: str) -> Options:
    """Read options of the method and the objective; what is none, and nearly a flag, is taken for a slip."""
    from reticent.jobs.defenses import own_options

    own, flags = own_options(defense), [spelled(one.name) for kind in (Model, Run) for one in fields(kind)]  # type: ignore[arg-type]
    options = {key.replace("-", "_"): toml_or_text(value) for key, value in given.items()}
    for name in (spelled(key) for key in options if key not in own):
        if get_close_matches(name, flags, n=1, cutoff=0.8):
            raise SpecError(f"unknown flag --{name}: {nearest(name, flags)}")
    return options


def _numbers(name: str, text: str | None) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(float(part) for part in (text or "").split(",") if part.strip())
    except ValueError:
        raise SpecError(f"--{name}: expected numbers with commas between them, got {text!r}") from None
