"""Problems and options that the attack tests share."""

import numpy as np
from scipy.stats import rankdata

from reticent.attacks import ATTACKS, Problem, parse, probes
from reticent.attacks.balance import Balance
from reticent.attacks.base import Imitators, Inputs
from reticent.data.membership import Membership
from reticent.signals.matrix import Signals, margin
from reticent.signals.probes import Students

VARIANTS = [
    {"method": "confidence", "threshold": "global"},
    {"method": "entropy", "threshold": "global"},
    {"method": "modified-entropy", "threshold": "global"},
    {"method": "lira", "variance": "per-record"},
    {"method": "lira", "variance": "per-record", "centre": "median"},
    {"method": "lira", "variance": "pooled", "centre": "median"},
    {"method": "lira", "shift": "shared"},
    {"method": "lira", "mode": "offline"},
    {"method": "lira", "mode": "offline", "variance": "per-record", "centre": "median"},
    {"method": "lira-released", "variance": "per-record"},
    {"method": "lira-released", "mode": "offline"},
    {"method": "rmia", "population": "others"},
    {"method": "rmia", "mode": "offline"},
    {"method": "rmia", "mode": "offline", "a": 0.3, "population": "others", "gamma": 1.0},
    {"method": "rmia", "trim": 0.2},
    {"method": "rmia", "mode": "offline", "a": 0.5, "trim": 0.3},
    {"method": "rmia", "signal": "soft-margin"},
    {"method": "rmia", "signal": "taylor", "queries": 1},
    {"method": "rmia", "signal": "sm-taylor", "temperature": 2.0, "queries": 1},
    {"method": "rmia", "temperature": 2.0, "queries": 1},
    {"method": "rmia", "score": "log-ratio"},
    {"method": "rmia", "score": "log-ratio", "mode": "offline"},
    {"method": "bavaria", "law": "normal"},
    {"method": "bavaria", "mode": "offline"},
    {"method": "bavaria", "law": "normal", "mode": "offline"},
    {"method": "base2", "mode": "offline"},
    {"method": "selena-replica", "features": "distance"},
    {"method": "imia", "queries": 1},
    {"method": "top1-confidence", "of": "label"},
    {"method": "label-only", "by": "views"},
    {"method": "label-only", "by": "boundary"},
    {"method": "quantile", "head": "pinball", "steps": 4},
]
"""Options that take another path through the code."""

STEPS = 4
"""Of networks, which need not learn anything here."""
SPECS = [entry.brief.replace(steps=STEPS) if entry.short else entry.brief for entry in ATTACKS.values()] + [
    parse(variant) for variant in VARIANTS
]
"""Every attack, by its defaults or what is short of it, and by these."""
NAMES = ["-".join(str(getattr(spec, key)) for key in ("method", *sorted(spec.model_fields_set))) for spec in SPECS]


def signals(rng, labels, classes, bonus, queries):
    """Draw logits whose label is raised by `bonus` ``(M, N)``, and margins of further queries around them."""
    models, records = bonus.shape
    logits = rng.normal(size=(models, records, classes))
    logits[:, np.arange(records), labels] += rng.normal(0.5, 1, size=records) + bonus
    plain = np.stack([margin(row, labels) for row in logits])
    margins = np.stack([plain] + [plain + rng.normal(0, 0.5, plain.shape) for _ in range(queries - 1)], axis=2)
    return Signals(labels=labels, margins=margins, classes=classes, logits=logits)


def problem(seed, *, models=12, records=60, queries=1, effect=2.0, population=40, membership=None, **rows):
    """Make a problem of three classes in which being a member raises the label's logit by `effect`."""
    rng = np.random.default_rng(seed)
    known = Membership.draw(models, records, seed) if membership is None else Membership(membership)
    labels = rng.integers(0, 3, records)
    audited = signals(rng, labels, 3, effect * known.matrix, queries)
    others = None
    if population:
        others = signals(rng, rng.integers(0, 3, population), 3, np.zeros((known.models, population)), queries)
    told = {"replicas": taught(audited, known), "imitators": imitating(audited, known, seed), "probed": probed(audited)}
    told["inputs"] = inputs(rng, records, population)
    return Problem.make(audited, known, population=others, **told, **rows)


def imitating(audited, known, seed):
    """Make four imitators of each model: where others stand that were not trained on a record, with noise."""
    rng, found = np.random.default_rng([seed, 7]), {}
    for model in range(known.models):
        out = ~known.matrix[np.arange(known.models) != model]
        margins = audited.margins[np.arange(known.models) != model]
        level = (margins * out[..., None]).sum(axis=0) / np.maximum(out.sum(axis=0), 1)[:, None]
        inside = Membership.draw(4, known.records, seed).matrix
        found[model] = Imitators(level + rng.normal(0, 0.3, (4, *level.shape)), inside)
    return found


def inputs(rng, records, population):
    """Make features that tell nothing."""
    return Inputs("tabular", rng.normal(size=(records, 3)), rng.normal(size=(population, 3)))


def probed(audited, specs=None):
    """Make what models say to the probes of attacks, by default all: shares, larger for likelier labels.

    As many as classes or, where the probe is students, epochs.
    """
    rng, sure = np.random.default_rng(1), audited.margins[:, :, :1]
    return {
        probe: 1 / (1 + np.exp(-sure - rng.normal(0, 0.5, (*sure.shape[:2], _width(probe, audited)))))
        for probe in probes(SPECS if specs is None else specs)
    }


def _width(probe, audited):
    return probe.epochs if isinstance(probe, Students) else audited.classes


def taught(audited, known):
    """Make soft targets of each model's members: its own answers to them; NaN elsewhere."""
    odds = np.exp(audited.logits - audited.logits.max(axis=2, keepdims=True))
    return np.where(known.matrix[:, :, None], odds / odds.sum(axis=2, keepdims=True), np.nan)


def auc(scores, members):
    """Compute the area under the ROC curve, ties half."""
    ranks = rankdata(scores)
    positives = int(members.sum())
    return (ranks[members].sum() - positives * (positives + 1) / 2) / (positives * (len(scores) - positives))


def used(case, target, *, online):
    """Say which models an attack that balances its references takes of each record: booleans ``(M, N)``."""
    alone = Problem.make(case.signals, case.membership, [target], case.references)
    inside, balance = case.membership.matrix[case.references], Balance(alone)
    records = slice(0, case.signals.records)
    kept = np.zeros_like(case.membership.matrix)
    kept[case.references] = True
    kept[target] = False
    if online and len(balance.uneven):
        kept[case.references] = np.logical_or(*balance.kept(0, records, inside))
    dropped = balance.dropped(records, inside)
    if dropped is not None:
        some = np.flatnonzero(dropped.inside[0] | dropped.outside[0])
        kept[case.references[dropped.which[0, some]], some] = False
    return kept
