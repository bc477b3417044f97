"""What ``records.json`` says of all records together: how many are learned by heart."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reticent.report.locate.records import MEMORISED


def memorisation(values: Sequence[float]) -> dict[str, Any] | None:
    """Summarise the memorisation of all records that have one."""
    if not values:
        return None
    array = np.asarray(values, np.float64)
    low, half, high = np.quantile(array, (0.05, 0.5, 0.95)).tolist()
    return {
        "records": len(values),
        "mean": float(array.mean()),
        "quantiles": {"0.05": low, "0.5": half, "0.95": high},
        "memorised": int(np.count_nonzero(array >= MEMORISED)),
        "reversed": int(np.count_nonzero(array <= -MEMORISED)),
        "threshold": MEMORISED,
    }


def sentence(summary: Mapping[str, Any] | None, records: int) -> str:
    """Say how many records are learned by heart."""
    if summary is None:
        return f"Of none of the {records:,} records is the memorisation known: that needs models with and without it."
    verb = "is" if summary["memorised"] == 1 else "are"
    return (
        f"{summary['memorised']:,} of {summary['records']:,} records {verb} learned by heart: the share of models that "
        f"label it right is at least {100 * MEMORISED:.0f} points larger among those trained on it. The mean of all "
        f"records is {100 * summary['mean']:.1f} points.{_by_chance(summary)}"
    )


def _by_chance(summary: Mapping[str, Any]) -> str:
    """Say how many records look the other way round, which tells how many of those learned by heart may be chance."""
    other = summary["reversed"]
    if not other:
        return ""
    verb = "is" if other == 1 else "are"
    return (
        f" {other:,} {verb} the other way round by as much, which is chance: it may have made about as many of "
        "those look learned by heart."
    )


def limits(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what the numbers of single records cannot say."""
    models = max((row.get("models_in") or 0) + (row.get("models_out") or 0) for row in rows)
    return [
        f"Each number comes from {models} models at most, and has the standard error beside it. The records at the top "
        "of a list look worse than they are, since chance helped to put them there.",
        "A record that is not learned by heart may still be found by an attack: exposure says by how much models with "
        "the record differ from those without it, whether or not the label changes.",
        "Records that stand in the data twice protect each other's numbers: a model without one copy may have the "
        "other.",
    ]
