"""Random effects: a test whose shift between IN and OUT is learned from a record's references and from all records.

A feature of a model is normal around a centre of the record and the kind, with a variance of the kind. Each record has
a level of its own, of which nothing is known beforehand, and a shift between the kinds, which is normal over records.
The mean and the variance of shifts come from the references by moments (DerSimonian and Laird, 1986, Controlled
Clinical Trials 7). Where the variance is large, this is LiRA's test; where it is zero, all records share one shift.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.attacks.base import Rows
from reticent.signals.matrix import Floats

FLOOR = 1e-12
"""Smallest variance (nats squared): references that agree exactly still give finite scores."""
Pair = tuple[Floats, Floats]
"""Of IN and of OUT references."""
Value = float | Floats


@dataclass(frozen=True)
class RandomEffects:
    """How one feature behaves, as references show it: numbers for one target, or arrays that broadcast over several.

    Attributes:
        variances: between IN models, and between OUT models, of one record.
        shift: mean over records of IN less OUT.
        between: variance over records of that shift.
    """

    variances: tuple[Value, Value]
    shift: Value
    between: Value

    @classmethod
    def learned(cls, variances: tuple[Value, Value], sums: Sequence[Value]) -> "RandomEffects":
        """Estimate by moments from sums over records: of shifts, their squares, 1 / counts of IN and of OUT, and 1."""
        shifts, squares, inverse_in, inverse_out, records = sums
        records = np.maximum(records, 1.0)
        noise = (variances[0] * inverse_in + variances[1] * inverse_out) / records
        total = (squares - shifts**2 / records) / np.maximum(records - 1, 1.0)
        return cls(variances, shifts / records, np.maximum(0.0, total - noise))

    def of(self, targets: Rows | slice) -> "RandomEffects":
        """Take those of some targets out of several."""
        values = (*self.variances, self.shift, self.between)
        inner, outer, shift, apart = (np.asarray(value)[targets] for value in values)
        return RandomEffects((inner, outer), shift, apart)

    def ratio(self, value: Floats, centres: Pair, counts: Pair) -> Floats:
        """Compute log-likelihood ratios, IN against OUT."""
        result = np.zeros(np.broadcast_shapes(value.shape, centres[0].shape))
        for kind, sign in ((0, 1.0), (1, -1.0)):
            other, variance = 1 - kind, self.variances[kind]
            direct = counts[kind] / variance
            borrowed = 1 / (self.variances[other] / counts[other] + self.between)
            guess = centres[other] + sign * self.shift
            centre = (centres[kind] * direct + guess * borrowed) / (direct + borrowed)
            result -= sign * 0.5 * ((value - centre) ** 2 / (variance + 1 / (direct + borrowed)) + np.log(variance))
        return result
