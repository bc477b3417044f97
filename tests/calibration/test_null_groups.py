"""How often a group is called above its true value, or put into the verdict, where all groups are alike.

Measured over 400 null seeds (AUC above the true one; excess above the true one; named in the verdict):

    8 models, 600 records, 6 groups of unequal size, 3 attacks: no leak 0.8 %, 0 %, 0.3 %; AUC 0.76 0.3 %, 0 %, 0.5 %
    4 models, 600 records, 20 groups, 3 attacks: no leak 0 %, 0 %, 0 %
    16 models, 2000 records, 10 groups, AUC 0.64, 3 attacks: 1.8 %, 0 %, 2.5 %
    1 model, 2000 records, 10 groups, 3 attacks: no leak 1.5 %, 0 %, 1.3 %
    8 models, 4000 records, a rare group of 1 %, 7 attacks: no leak 1.3 %, 0 %, 0.8 %
"""

import numpy as np
import pytest
from scipy.stats import binom, norm

from reticent.auditing.group_limits import group_limits
from reticent.auditing.partition import by_column
from reticent.data.membership import Membership

SEEDS = [pytest.param(40, id="40", marks=pytest.mark.slow), pytest.param(400, id="400", marks=pytest.mark.calibration)]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize(
    ("models", "records", "sizes", "shift"),
    [(8, 600, (1, 2, 3, 5, 8, 10), 0.0), (8, 600, (1, 2, 3, 5, 8, 10), 1.0), (4, 600, (1,) * 20, 0.0)],
)
def test_groups_that_are_alike_are_seldom_named(seeds, models, records, sizes, shift):
    area, excess = norm.cdf(shift / np.sqrt(2)), norm.cdf(shift + norm.ppf(0.01)) - 0.01
    counts = np.zeros(3, int)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        codes = rng.choice(len(sizes), records, p=np.array(sizes) / sum(sizes))
        members = Membership.draw(models, records, seed).matrix
        base = rng.normal(size=(models, records))
        scores = {f"a{k}": 0.6 * base + 0.8 * rng.normal(size=base.shape) + shift * members for k in range(3)}
        found = group_limits([by_column("g", codes, records)], scores, members, first="a0", fpr=0.01)
        counts += [
            any(one is not None and one.least > area for one in found.areas[0]),
            any(one is not None and one.least > excess for one in found.excesses[0]),
            found.exposed is not None,
        ]
    assert counts.max() <= binom.ppf(0.99, seeds, 0.05), counts
