"""How much a recipe gives away beyond an undefended network of its accuracy, which anybody gets by training for less.

Beside each row the undefended recipe is trained again, stopped early where pilots are as accurate. These networks hit
the row's accuracy but roughly, and where accuracy rises fast, a point more or less moves the leak by more than a
defense does. So what a row is held against is read off between the stopped networks, by a straight line, at the row's
own accuracy; and the accuracy's error is part of the result's. Below the least accurate of them the line is drawn on,
since a network that is stopped earlier lies there. Above the most accurate one there is no undefended network: that one
is the control, and what its accuracy misses is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reticent.jobs.comparison.early import Stop, stopped, stops
from reticent.studies.base import Bench
from reticent.studies.measured import Measured, measure
from reticent.studies.numbers import Estimate, Replicated, combined

APART = 0.01
"""Two stopped networks whose accuracies are closer than this tell no slope."""
BELOW = 0.5
"""So far below two stopped networks, by the distance between them, the straight line is drawn on at most."""
MOST = 8
"""So many networks are stopped at most."""
KNOWN = 1e-12
"""The error of what is known."""
Weighed = list[tuple[float, Replicated]]


@dataclass(frozen=True, eq=False)
class Controls:
    """The undefended networks beside some rows: stopped early, by rising epochs.

    `whole` has, by row that no earlier end is closer to in accuracy, the baseline itself.
    """

    stopped: tuple[Measured, ...]
    whole: Mapping[str, Measured]

    def excess(self, row: Measured, metric: str) -> Weighed:
        """Say what a row has beyond its control, in one metric; of the accuracy nothing where it is read off there."""
        weights, around = self._held(row)
        if around is not None and metric == "accuracy":
            return []
        parts = [(weight, one.measures[metric]) for weight, one in weights]
        if around is None:
            return parts
        low, high = around
        width = high.accuracy - low.accuracy
        slope = float(high.measures[metric].observed.mean() - low.measures[metric].observed.mean()) / width
        return parts + [(-slope * weight, one.measures["accuracy"]) for weight, one in weights]

    def drawn_on(self, row: Measured) -> bool:
        """Say whether a control is read off below the stopped networks, where the line between two is drawn on."""
        _, around = self._held(row)
        return around is not None and row.accuracy < around[0].accuracy

    def above(self, row: Measured) -> bool:
        """Say whether a row is more accurate than all stopped networks, and is held against the most accurate one."""
        return row.name not in self.whole and row.accuracy > max(one.accuracy for one in self.stopped)

    def _held(self, row: Measured) -> tuple[list[tuple[float, Measured]], tuple[Measured, Measured] | None]:
        """Weigh a row and its control, and name the two networks between which the control is read off, if it is."""
        whole = self.whole.get(row.name)
        if whole is not None:
            return [(1.0, row), (-1.0, whole)], None
        low, high = self._around(row.accuracy)
        if low is high:
            return [(1.0, row), (-1.0, low)], None
        place = (row.accuracy - low.accuracy) / (high.accuracy - low.accuracy)
        share = min(max(place, -BELOW), 1.0)
        return [(1.0, row), (share - 1, low), (-share, high)], (low, high) if share == place else None

    def _around(self, accuracy: float) -> tuple[Measured, Measured]:
        """Find the two stopped networks around an accuracy, or the nearest two; one twice, where there is but one."""
        kept: list[Measured] = []
        for one in sorted(self.stopped, key=lambda one: one.accuracy):
            if kept and one.accuracy - kept[-1].accuracy < APART:
                # Of two that are as accurate, the nearer one to what is asked for tells more.
                if abs(one.accuracy - accuracy) < abs(kept[-1].accuracy - accuracy):
                    kept[-1] = one
                continue
            kept.append(one)
        if len(kept) == 1:
            return kept[0], kept[0]
        above = next((i for i, one in enumerate(kept) if one.accuracy > accuracy), len(kept) - 1)
        above = max(above, 1)
        return kept[above - 1], kept[above]


def estimated(parts: Weighed) -> Estimate:
    """Take what `Controls.excess` says as a number."""
    return combined(parts) if parts else Estimate(0.0, KNOWN)


def controls(bench: Bench, baseline: Measured, rows: Sequence[Measured]) -> Controls:
    """Measure the early-stopped controls of some rows.

    Where to end is chosen by accuracy alone (`reticent.jobs.comparison.early`).
    """
    accuracies = _spread([one.accuracy for one in rows])
    places = stops(baseline.job, accuracies, bench.work)
    if places is None:
        return Controls((), {row.name: baseline for row in rows})
    early = {place.epochs: place for place in places if place.epochs < place.end}
    late = [accuracy for accuracy, place in zip(accuracies, places, strict=True) if place.epochs >= place.end]
    whole = {row.name: baseline for row in rows if late and row.accuracy >= min(late)}
    return Controls(tuple(_stopped(bench, baseline, early[epochs]) for epochs in sorted(early)), whole)


def _spread(accuracies: Sequence[float]) -> list[float]:
    """Choose the accuracies that networks are stopped at: all, or of many the lowest, the highest and some between."""
    known = sorted(set(accuracies))
    if len(known) <= MOST:
        return known
    return [known[round(place * (len(known) - 1) / (MOST - 1))] for place in range(MOST)]


def _stopped(bench: Bench, baseline: Measured, place: Stop) -> Measured:
    name = f"{baseline.name}, {place.epochs:g} of {place.of} epochs"
    job = stopped(baseline.job, place.epochs)
    return replace(measure(bench, name, job), about="undefended, stopped early")
