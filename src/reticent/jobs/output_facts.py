"""What is known of outputs that were brought: of the data, and of the models."""

from collections.abc import Sequence
from hashlib import blake2b, sha256

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.attacks.base import Problem
from reticent.data.units import Units
from reticent.errors import InputError
from reticent.findings.population import Data, ModelFacts, Population, Unlearned
from reticent.jobs import document
from reticent.rounding import percent
from reticent.signals.correctness import alone, correct, knows
from reticent.signals.matrix import Signals

SEVERAL = 8
"""Different numbers said of a record that are alike by chance in no two, and models that are compared."""
FEW = 3
"""The same, where no others have the margin that one of the models gives to the two."""


def data_facts(signals: Signals, name: str, ids: NDArray[np.int64], units: Units | None = None) -> Data:
    """State what the outputs are of."""
    roles = {"audited": len(ids)} if len(ids) < signals.records else None
    found = Data(name=name, kind="outputs", records=signals.records, classes=signals.classes, roles=roles)
    if units is None:
        return found
    return found.with_(unit=units.column, units=units.count, unit_score=units.score)


def population_facts(
    problem: Problem, shares: tuple[float, float] | None, contradicted: float, notices: Sequence[str] = ()
) -> Population:
    """State how the models are, as far as their answers show it; `shares` are those of the audited records."""
    models = range(problem.signals.models)
    facts = Population(
        models=problem.signals.models,
        targets=tuple(problem.targets.tolist()),
        references=len(problem.references),
        membership_digest=problem.membership.digest,
        shares=shares,
        contradicted=contradicted or None,
        labels_alone=alone(problem.signals) or None,
        notices=tuple(notices),
    )
    if not knows(problem.signals):
        sure = _unlearned(problem, [_surely(problem, model) for model in models])
        return facts.with_(health=None if sure else ())
    each = []
    for model in models:
        right, row = correct(problem.signals, np.array([model]))[0], problem.membership.matrix[model]
        inside, outside = (float(right[kind].mean()) if kind.any() else None for kind in (row, ~row))
        each.append(
            ModelFacts(model=model, members=int(row.sum()), accuracy_members=inside, accuracy_non_members=outside)
        )
    health = _unlearned(problem, [(one.accuracy_members, one.accuracy_non_members) for one in each])
    _check_order(problem, each)
    membership, units = problem.membership, problem.units
    of_targets = document.accuracy([each[model] for model in problem.targets], membership, units)
    return facts.with_(
        per_model=tuple(each),
        accuracy=document.accuracy(each, membership, units),
        accuracy_of_targets=of_targets if len(problem.targets) < len(each) else None,
        health=health,
    )


def _check_order(problem: Problem, models: Sequence[ModelFacts]) -> None:
    """Refuse answers whose classes stand in another order than the labels', where that is sure of the worst model."""
    accuracy, worst = min((one.accuracy_members, one.model) for one in models if one.accuracy_members is not None)
    signals, row = problem.signals, problem.membership.matrix[worst]
    if signals.logits is None:
        return
    answers = (np.asarray(signals.logits[[worst], block])[0] for block in signals.blocks(signals.classes))
    said = np.concatenate([answer.argmax(axis=1) for answer in answers])
    if told := document.renamed(said[row], signals.labels[row]):
        raise InputError(
            f"labels: model {worst} labels {percent(accuracy)} of its {models[worst].members:,} training "
            f"records correctly. Of the same records {told}"
        )


def alike(signals: Signals) -> list[list[int]]:
    """Find models that answer alike on every record, in groups."""
    told = [sha256() for _ in range(signals.models)]
    for block in signals.blocks():
        for hashed, said in zip(told, np.asarray(signals.answers[:, block]), strict=True):
            hashed.update(said.tobytes())
    groups: dict[bytes, list[int]] = {}
    for model, hashed in enumerate(told):
        groups.setdefault(hashed.digest(), []).append(model)
    return [group for group in groups.values() if len(group) > 1]


def copied(problem: Problem) -> NDArray[np.int64]:
    """``(N,)``: the first record with the same label and all the same answers, of the first models alone.

    A record by itself where its answers are few numbers, which may be alike by chance; fewer are enough where a model
    tells the copies apart from all others.
    """
    signals, some = problem.signals, slice(None, SEVERAL)
    every = np.arange(signals.records)
    seen, first, numbers = dict[bytes, int](), every.copy(), np.zeros_like(every)
    for block in signals.blocks():
        said = np.moveaxis(np.asarray(signals.answers[some, block]), 1, 0)
        said = said.reshape(len(said), -1)
        numbers[block] = np.count_nonzero(np.diff(np.sort(said[:, : SEVERAL**2], axis=1), axis=1), axis=1) + 1
        for row in np.flatnonzero(numbers[block] >= FEW):
            told = said[row].tobytes() + signals.labels[block][row].tobytes()
            record = block.start + int(row)
            first[record] = seen.setdefault(blake2b(told, digest_size=16).digest(), record)
    fewest = np.full_like(every, signals.records)
    for model in range(signals.models)[some]:
        _, codes, sizes = np.unique(signals.of_model(model), return_inverse=True, return_counts=True)
        fewest = np.minimum(fewest, sizes[codes])
    apart = fewest == np.bincount(first, minlength=signals.records)[first]
    return np.where(apart | (numbers >= SEVERAL), first, every)


def repeats(first: NDArray[np.int64], membership: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which records ``(N,)`` were brought again: copies of another one, in the same models or in all others.

    `first` is as `copied` gives it. Copies that other models were trained on, too, may be records that are alike. Which
    of several is kept is drawn: members may stand before non-members, so that the first of them is a member too often.
    """
    found, seen = np.zeros(len(first), dtype=np.bool_), set[tuple[int, bytes]]()
    sizes = np.bincount(first, minlength=len(first))
    for record in seeds.rng(0, "copies").permutation(np.flatnonzero(sizes[first] > 1)).tolist():
        column = membership[:, record] ^ membership[0, record]
        key = int(first[record]), column.tobytes()
        found[record] = key in seen
        seen.add(key)
    return found


def _unlearned(problem: Problem, right: Sequence[tuple[float | None, float | None]]) -> tuple[Unlearned, ...]:
    """Find models that are right about members and, where known, about others no more often than naming one class is.

    `right` are each model's accuracies on both. One without members is judged by the others alone. Where all records
    have one label, naming it is always right: that tells nothing of a model that knows others.
    """
    if problem.signals.classes > 1 and (problem.signals.labels == problem.signals.labels[0]).all():
        return ()
    found, codes = [], np.unique(problem.signals.labels, return_inverse=True)[1]  # A label may be any number.
    for model, (inside, outside) in enumerate(right):
        row = problem.membership.matrix[model]
        kind, accuracy = (row, inside) if inside is not None else (~row, outside)
        assert accuracy is not None  # Each record is one or the other.
        labels = codes[kind]
        commonest = np.bincount(labels).max() / len(labels)
        others = None if inside is None or outside is None else (outside, len(codes) - len(labels))
        told = document.unlearned(model, accuracy, float(commonest), len(labels), others, trained=inside is not None)
        found.append(told)
    return tuple(one for one in found if one is not None)


def _surely(problem: Problem, model: int) -> tuple[float | None, float | None]:
    """Return the share of a model's members that margins of many classes show to be right: more may be.

    Of one without members, that of all others. A margin above zero leaves less than half of the probability to all
    other classes together.
    """
    sure, row = problem.signals.of_model(model) > 0, problem.membership.matrix[model]
    return (float(sure[row].mean()), None) if row.any() else (None, float(sure.mean()))
