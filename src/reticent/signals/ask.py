"""Ask one model: its logits and margins on records, in eval mode, from float64."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from reticent.errors import ModelError, NonFiniteError, TrainingModeError
from reticent.models.final_operation import LOGITS, UNKNOWN, ending, remedy
from reticent.outputs import Output
from reticent.signals.brought import LARGEST, LARGEST_MARGIN, two_logits
from reticent.signals.correctness import hits
from reticent.signals.matrix import margin
from reticent.signals.queries import Queries, all_views
from reticent.signals.squashed import TELLING_ROWS, Squashed, squashed
from reticent.training.data import Examples, Preparation
from reticent.training.loop import EVALUATION_BATCH
from reticent.training.materials import forward

ASKED_AGAIN, IN_PAIRS, ROUNDING = 64, 8, 1e-3
"""How many records a model is asked about again, how many of these in pairs (a network may refuse a single record),
and what part of its logits' range two answers may lie apart."""
UNSTEADY = (
    "The model answers differently when it is asked again (dropout left on, or noise in its forward?): attacks see one "
    "answer; an attacker who asks often may find more."
)

TOGETHER = (
    "The model answers a record otherwise when others are asked about with it ({}): every number here depends on "
    "the order of the records, and on how many are asked about at once. Expected a network that looks at one record at "
    "a time when it is asked"
)


@dataclass(frozen=True)
class Seen:
    """What one model says of N records.

    Attributes:
        logits: ``float32 (N, C)``, plain query.
        margins: ``float32 (N, Q)``, computed in float64.
        notices: what asking it again showed (`asked_again`).
    """

    logits: NDArray[np.float32]
    margins: NDArray[np.float32]
    notices: tuple[str, ...] = ()

    def correct(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which records the model labels correctly, ``(N,)``."""
        return hits(self.logits, labels)


@torch.no_grad()
def ask(
    model: nn.Module,
    examples: Examples,
    prepare: Preparation,
    classes: int,
    queries: Queries,
    output: Output | None = None,
) -> Seen:
    """Ask a model about records."""
    loud = [part or "the model" for part, module in model.named_modules() if module.training]
    if loud:
        raise TrainingModeError(f"signals need eval mode, but {loud[0]} is in training mode; call .eval() on the model")
    count, views = len(examples), len(queries.views())
    logits = np.empty((count, classes), dtype=np.float32)
    margins = np.empty((count, views), dtype=np.float32)
    own = logits if output is None else np.empty_like(logits)
    bad = beyond = 0
    for start in range(0, count, EVALUATION_BATCH):
        rows = slice(start, min(start + EVALUATION_BATCH, count))
        labels = examples.y[rows].cpu().numpy()
        for query, x in enumerate(all_views(queries, prepare(examples.x[rows]))):
            logits64 = forward(model, x, classes).double()
            bad += int(torch.count_nonzero(~(logits64.abs() <= LARGEST).all(dim=1)))
            if bad:
                continue
            answer = (logits64 if output is None else output(logits64.clone(), x.clone())).cpu().numpy()
            found = margin(answer, labels)
            beyond += int(np.count_nonzero(np.abs(found) > LARGEST_MARGIN))
            margins[rows, query] = found
            if query == 0:
                own[rows] = logits64.cpu().numpy()
                logits[rows] = answer
    if not bad:
        _check_logits(own, model, prepare(examples.x[:TELLING_ROWS]))
    if bad:
        raise NonFiniteError(
            f"{bad} of {count * views} answers hold NaN or infinity; expected finite logits: "
            "check the model's forward pass and its training (a lower learning rate, the data's scale)"
        )
    if beyond:
        raise NonFiniteError(
            f"{beyond} of {count * views} answers put the log-odds of the true label beyond {LARGEST_MARGIN:,.0f}, so "
            "that one of them decides what attacks make of all records; expected answers of a usual size: "
            "check the model's forward pass and its training (a lower learning rate, the data's scale)"
        )
    return Seen(logits, margins)


@torch.no_grad()
def asked_again(model: nn.Module, examples: Examples, prepare: Preparation, classes: int) -> tuple[str, ...]:
    """Say whether a model answers differently when it is asked again, or with fewer records at a time.

    Ask this last, since it may draw random numbers.
    """
    x = prepare(examples.x[:ASKED_AGAIN])
    first, second = (forward(model, x, classes).double() for _ in range(2))
    if not first.numel():
        return ()
    apart = ROUNDING * (first.max() - first.min())
    if not bool((first - second).abs().max() <= apart):
        return (UNSTEADY,)
    pairs = torch.split(x[: min(IN_PAIRS, len(x) // 2 * 2)], 2)
    if len(x) <= 2 or all(
        bool((forward(model, pair, classes).double() - both).abs().max() <= apart)
        for pair, both in zip(pairs, torch.split(first, 2), strict=False)
    ):
        return ()
    norms = [name for name, part in model.named_modules() if isinstance(part, _BatchNorm) and part.running_mean is None]
    if not norms:
        return (f"{TOGETHER.format('in code of its own')}.",)
    return (f"{TOGETHER.format(', '.join(norms))}: leave track_running_stats=False out.",)


def _check_logits(answers: NDArray[np.float32], model: nn.Module, x: Tensor) -> None:
    """Refuse answers that look squashed, where the network says so too, or does not say that it ends as usual.

    A network that has learned little may answer logits between 0 and 1; an ordinary last layer acquits it.
    """
    kind = squashed(answers, rows=1)
    if kind is None:
        return
    found, _ = ending(model, x)
    innocent = found == LOGITS and kind in {Squashed.SIGMOID, Squashed.SIGMOIDS}
    if found in {LOGITS, UNKNOWN} and (innocent or len(answers) < TELLING_ROWS):
        return
    raise ModelError(_told(kind, found))


def check_ending(model: nn.Module, x: Tensor) -> None:
    """Refuse, before anything is trained, a network that answers no logits; what else is wrong is told later."""
    found, answer = ending(model, x)
    if answer is None or found in {LOGITS, UNKNOWN} or not answer.dim() or not answer.numel():
        return
    numbers = answer.double().cpu().reshape(len(answer), -1).numpy()
    kind = squashed(two_logits(numbers), rows=1)
    if kind is not None:
        raise ModelError(_told(kind, found))


def _told(kind: Squashed, found: str) -> str:
    return f"the model answers no logits: its answers {kind.value}: {remedy(found)}"
