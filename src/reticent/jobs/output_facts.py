"""What is known of outputs that were brought: of the data, and of the models."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from reticent import seeds
from reticent.attacks.base import Problem
from reticent.data.membership import divided
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
FAR = 3.5
"""Standard deviations by which shares must vary more than coins of one kind do, to be called different: fair draws are
called so in less than 1 of 100 audits of 5 models or more, of records and of persons."""
TAIL = 10
"""Records, or persons, that coins put below a level and above it, where it is looked at."""
ROUNDING, TINY = 1e-9, 1e-12


def data_facts(signals: Signals, name: str, ids: NDArray[np.int64]) -> Data:
    """State what the outputs are of."""
    roles = {"audited": len(ids)} if len(ids) < signals.records else None
    return Data(name=name, kind="outputs", records=signals.records, classes=signals.classes, roles=roles)


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
    of_targets = document.accuracy([each[model] for model in problem.targets])
    return facts.with_(
        per_model=tuple(each),
        accuracy=document.accuracy(each),
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


def shares(membership: NDArray[np.bool_], records: NDArray[np.bool_ | np.int64]) -> tuple[float, float] | None:
    """Return the least and the largest share of models that hold one of some records, where coins do not spread so.

    Of models that hold some of all records and not others: no coin fell for the rest. Coins of one kind fall for a
    record, or for a person: records in the same models count as one, but for those that are so by chance, as often as
    the sets of equally many models come up unequally. How many records are in how many models is held against coins at
    every level: what they are in beyond it, on average (in convex order). Records in equally many models spread less.
    Models of the same members count as one.
    """
    membership = np.unique(membership[divided(membership)], axis=0)
    packed, models = np.packbits(membership, axis=0)[:, records], len(membership)
    held = np.add.reduce(membership, axis=0, dtype=np.int64)[records]
    seen, counts = np.bincount(held, minlength=models + 1), np.arange(models + 1)
    share = float(held.mean() / max(models, 1))
    if models < 2 or not 0 < share < 1:
        return None
    sets = np.ascontiguousarray(packed.T).view(np.dtype((np.void, len(packed))))
    alike, same = np.unique(sets, return_counts=True)[1].astype(np.float64), _same(membership[:, records].mean(axis=1))
    free = (seen * (1 - same)).sum()
    together = max(1.0, float((alike**2).sum() - (seen**2 * same).sum()) / free) if free else 1.0
    chance, spread = binom.pmf(counts, models, share), models * share * (1 - share)
    rarer = np.minimum(binom.cdf(counts - 1, models, share), binom.sf(counts, models, share))
    levels = rarer * len(held) >= TAIL * together
    levels[round(models * share)] = True
    beyond = np.maximum(counts - counts[levels, None], 0)
    slope = beyond @ (chance * (counts - models * share)) / spread  # The share is that of these records.
    variance = beyond**2 @ chance - (beyond @ chance) ** 2 - slope**2 * spread
    excess = beyond @ (seen - len(held) * chance)
    far = FAR * (len(held) * together * np.maximum(variance, 0)) ** 0.5 + ROUNDING * len(held)
    return (float(held.min() / models), float(held.max() / models)) if (excess > far).any() else None


def _same(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute, for each number of models from none to all, how often two records in so many are in the same ones.

    `sizes` are the shares of records that the models hold, by coins. A set's probability is the product of its models'
    odds, over the sum of these products for all sets of so many: an elementary symmetric polynomial.
    """
    odds = sizes / np.maximum(1 - sizes, TINY)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        same = np.abs(np.poly(-(odds**2))) / np.poly(-odds) ** 2
    same = np.asarray(np.nan_to_num(same, nan=0.0, posinf=0.0))  # Too small to be told, of very many models.
    same[[0, -1]] = 1.0
    return same


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
