"""A classifier in scikit-learn's form as a model that is asked: its probabilities or decisions as logits."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reticent import arrays, checks, usercode
from reticent.errors import InputError, ModelError
from reticent.signals.probabilities import FLOAT64, check_probabilities, logarithms, resolution

PROBABILITIES, DECISIONS = "predict_proba", "decision_function"
"""What is asked for: the first, if there is one."""
CLIPPED = (
    "Some of the classifier's probabilities are exactly 0 or 1, or too near to be told apart, or of a class that it "
    "was not trained on, and are taken as half a step from there: how sure it really was is not known, and what "
    "attacks find in it may be more or less than there is."
)
Floats = NDArray[np.float64]


def is_estimator(made: object) -> bool:
    """Tell whether something can be asked as scikit-learn's classifiers can."""
    return not isinstance(made, type) and any(
        callable(getattr(made, name, None)) for name in (PROBABILITIES, DECISIONS)
    )


class Estimator(nn.Module):
    """A fitted classifier as a module without weights, whose logits are float64.

    How finely its probabilities are told is found on the members, once, so that it is the same for every record.
    """

    def __init__(self, inner: Any, members: NDArray[Any], classes: int, name: str) -> None:
        super().__init__()
        self.inner, self.classes = inner, classes
        self.method = PROBABILITIES if callable(getattr(inner, PROBABILITIES, None)) else DECISIONS
        self.name = f"{name}: {self.method}"
        first = self._asked(members)
        self.columns = self._columns(first.shape[1])
        self.told = resolution(first[None]).at_one if self.method == PROBABILITIES else FLOAT64.at_one
        self.clipped = False

    def forward(self, x: Tensor) -> Tensor:
        """Ask the classifier."""
        answers = self._asked(x.detach().cpu().numpy())
        logs = self._of_probabilities(answers) if self.method == PROBABILITIES else self._of_decisions(answers)
        return torch.from_numpy(logs).to(x.device)

    def _of_probabilities(self, answers: Floats) -> Floats:
        check_probabilities(answers, self.told, self.name)
        if answers.shape[1] < len(self.columns):
            answers = np.hstack([1 - answers, answers])
        spread = np.zeros((len(answers), self.classes))
        spread[:, self.columns] = answers
        logs, clipped = logarithms(spread, self.told)
        self.clipped |= clipped > 0
        return logs

    def _of_decisions(self, answers: Floats) -> Floats:
        if answers.shape[1] < len(self.columns):
            answers = np.hstack([np.zeros_like(answers), answers])
        logs = np.full((len(answers), self.classes), np.log(self.told.least / 2))
        logs[:, self.columns] = answers - np.logaddexp.reduce(answers, axis=1, keepdims=True)
        self.clipped |= len(self.columns) < self.classes
        return logs

    def _asked(self, x: NDArray[Any]) -> Floats:
        """Ask for one row a record, in the form that the classifier was fitted on."""
        flat = x.reshape(len(x), -1)
        with usercode.reported(self.name, ModelError):
            given = flat if getattr(self.inner, "n_features_in_", None) == flat.shape[1] else x
            answers = arrays.array(getattr(self.inner, self.method)(given), self.name)
        wide = answers[:, None] if answers.ndim == 1 else answers
        if wide.ndim != 2 or len(wide) != len(x) or wide.dtype.kind not in "biuf":
            raise ModelError(
                f"{self.name}: expected one row of numbers a record, got shape {answers.shape} for {len(x)} records: "
                "several outputs a record (multi-label) are not supported"
            )
        return wide.astype(np.float64) if wide.dtype.kind != "f" or self.method == DECISIONS else wide

    def _columns(self, width: int) -> NDArray[np.int64]:
        """Say which class each column is of."""
        known = getattr(self.inner, "classes_", None)
        try:
            columns = np.arange(self.classes) if known is None else self._numbers(known)
        except InputError as error:
            raise ModelError(f"{self.name}: {error}: fit it on the labels y as they are given") from None
        if width != len(columns) and (width, len(columns)) != (1, 2):
            hint = "; decisions between pairs of classes ('ovo') are not supported" if width > len(columns) else ""
            raise ModelError(f"{self.name}: expected {len(columns)} columns, one a class, got {width}{hint}")
        if getattr(self.inner, "decision_function_shape", "ovr") == "ovo" and self.method == DECISIONS and width > 1:
            raise ModelError(
                f"{self.name}: decisions between pairs of classes are not supported: give 'ovr', not 'ovo'"
            )
        return columns

    def _numbers(self, known: Any) -> NDArray[np.int64]:
        return checks.integers(classes_=_whole(arrays.array(known)), ndim=1, low=0, high=self.classes)


def _whole(known: NDArray[Any]) -> NDArray[Any]:
    """Take classes that were fitted as floats or booleans for the whole numbers that they are."""
    whole = known.dtype.kind == "b" or (known.dtype.kind == "f" and bool((known == np.rint(known)).all()))
    return known.astype(np.int64) if whole else known
