"""What an attack is shown of a problem: what its entry in the table declares, and nothing else."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import AttackEntry, Problem
from reticent.errors import InputError
from reticent.signals.matrix import Matrix, Signals
from reticent.spec import Spec


class _Hidden:
    """Stands for what an entry does not declare: whoever looks at it is told so; only its shape is known."""

    def __init__(self, said: str, shape: tuple[int, ...]) -> None:
        self._said, self.shape = said, shape

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InputError(self._said)

    __getattr__ = __getitem__ = __array__ = __len__ = __iter__ = _refuse


class _Changed:
    """A `Matrix` of which each block is changed when it is read."""

    def __init__(self, base: Matrix, change: Callable[[NDArray[Any], Any, Any], NDArray[Any]]) -> None:
        self._base, self._change, self.shape = base, change, base.shape

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        return self._change(np.asarray(self._base[key]), *key)


def view(entry: AttackEntry, spec: Spec, problem: Problem) -> Problem:
    """Hide what an attack does not declare, given its options: looking at it is an error that names the declaration.

    Of labels, logits that say which class is predicted are left (1 for it, 0 for the others). What a reference says of
    its members is blanked (NaN) for `Needs.out_only`, unless it is a target as well.
    """
    needs = entry.needs(spec)

    def hidden(what: str, declared: str, shape: tuple[int, ...] = ()) -> Any:
        return _Hidden(
            f"{spec.method}: expected an attack that looks at no more than its entry in ATTACKS declares, got one that "
            f"looks at {what} with {declared}: this is a fault of the attack: declare it, or do without",
            shape,
        )

    def shown(signals: Signals, change: Callable[[Matrix], Matrix] = lambda matrix: matrix) -> Signals:
        logits, margins, declared = signals.logits, signals.margins, f"access={entry.access!r}"
        if entry.access == "labels":
            two = logits is None and signals.classes == 2
            margins = _Changed(margins, _sign) if two else hidden("margins", declared, margins.shape)
            return replace(signals, margins=margins, logits=None if logits is None else _Changed(logits, _predicted))
        if logits is not None and entry.access == "margins" and not needs.logits:
            return replace(signals, margins=change(margins), logits=hidden("logits", f"{declared}, Needs.logits=False"))
        return replace(signals, margins=change(margins), logits=None if logits is None else change(logits))

    def blanked(matrix: Matrix) -> Matrix:
        audited = np.isin(np.arange(problem.signals.models), problem.targets)

        def blank(block: NDArray[Any], rows: Any, records: Any) -> NDArray[Any]:
            members = problem.membership.matrix[rows, records] & ~audited[rows][..., None]
            return np.where(members[..., None], np.nan, block)

        return _Changed(matrix, blank)

    others = problem.population
    if others is not None:
        others = shown(others) if needs.population else hidden("the population", "Needs.population=False")
    given = [name for name in ("replicas", "imitators", "inputs") if getattr(problem, name) is not None]
    secret = {name: hidden(name, f"Needs.{name}=False") for name in given if not getattr(needs, name)}
    told: dict[Spec, Matrix] = {probe: problem.probed[probe] for probe in needs.probes if probe in problem.probed}
    probed = told or hidden("probes", "Needs.probes=()")
    signals = shown(problem.signals, blanked) if needs.out_only else shown(problem.signals)
    result = replace(problem, signals=signals, population=others, probed=probed, **secret)
    if not needs.alone:
        return result
    none = hidden("references, or at who was trained on what,", "Needs() of none")
    return replace(result, references=none, membership=none)


def _predicted(logits: NDArray[Any], *_: Any) -> NDArray[Any]:
    """Leave of logits which class is predicted; of a tie, all that share it."""
    return np.asarray(logits == logits.max(axis=-1, keepdims=True), dtype=np.float64)


def _sign(margins: NDArray[Any], *_: Any) -> NDArray[Any]:
    """Leave of margins of two classes which one is predicted."""
    return np.asarray(np.sign(margins))
