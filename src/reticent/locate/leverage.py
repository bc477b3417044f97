"""How much a record's label moves the last layer that was fitted to it: a risk of members that needs no other model.

Paper: arXiv 2602.15919: for linear regression with known noise, the leverage h of a member decides how well an attack
finds it; the residual has variance ``sigma^2 / (1 - h)`` where the record was left out, and ``sigma^2 (1 - h)`` where
not. For networks the paper's formula was not at hand; this is the leverage of the last layer as a logistic regression::

    h_i = tr(H^-1 (u_i u_i' (x) S_i)),   H = sum_j u_j u_j' (x) S_j + lambda I,   S_j = diag(p_j) - p_j p_j'

with u the features before the last layer and p the probabilities: how far a record's probabilities move with its own
label. In a well-trained network S_i goes to 0, and h_i with it. The form "label" asks how far its logits move: it has
I - 11'/C in place of S_i, since no label moves what softmax ignores, where H has no curvature. It ranks no risk: where
`benchmarks/ranking.py` measured it, it put the most exposed members last.
"""

from typing import Literal

import numpy as np

from reticent import checks
from reticent.arrays import Floats
from reticent.errors import InputError

SUREST = 1e-200
"""Sum of the features' squares, weighed by the curvature, below which no matrix can be inverted."""
Form = Literal["curvature", "label"]
PENALTY = 1e-3
"""Of the mean diagonal of the sum."""
WHOLE = 4000
"""Weights of the last layer up to which their whole matrix is inverted (128 MB); beyond, one block a class."""


def last_layer(features: Floats, probabilities: Floats, form: Form = "curvature", penalty: float = PENALTY) -> Floats:
    """Compute the leverage of members in the last layer.

    From what the layer sees ``(N, d)``, with a column of ones for its bias, and probabilities ``(N, C)``: by how far
    the probabilities ("curvature") or the logits ("label") of a record move with its own label; larger means more at
    risk. `penalty` is lambda as a share of the mean diagonal of the sum. For "label", probabilities that are all 0 or 1
    are refused.

    Cost: O(N d^2 C^2 + (d C)^3) up to `WHOLE` weights, then O(N d^2 C + d^3 C).
    """
    u, p = checks.floats(features=features, ndim=2), checks.floats(probabilities=probabilities, ndim=2)
    checks.shape(probabilities=p, expected=(len(u), p.shape[1]), meaning="(records, classes), as `features` has")
    if not penalty > 0:
        raise InputError(f"penalty: expected a number above 0, got {penalty}")
    (count, width), classes = u.shape, p.shape[1]
    total = float((np.einsum("nd,nd->n", u, u) * (p * (1 - p)).sum(axis=1)).sum())
    if total < SUREST and form == "curvature":
        return np.zeros(count)
    if total < SUREST:
        raise InputError(
            "probabilities: expected some that are not 0 or 1, got a model that is sure of every record, so that "
            "nothing holds its logits: ask for the curvature"
        )
    shrink = penalty * total / (classes * width)

    def curvature(c: int, k: int) -> Floats:
        return np.asarray(p[:, c] * (float(c == k) - p[:, k]))

    def block(c: int, k: int) -> Floats:
        return np.asarray((u * curvature(c, k)[:, None]).T @ u)

    own = [(c, c) for c in range(classes)]
    if width * classes > WHOLE:
        pairs, inverse = own, {(c, c): np.linalg.inv(block(c, c) + shrink * np.eye(width)) for c, _ in own}
    else:
        pairs = [(c, k) for c in range(classes) for k in range(classes)]
        whole = np.block([[block(c, k) for k in range(classes)] for c in range(classes)])
        solved = np.linalg.inv(whole + shrink * np.eye(len(whole))).reshape(classes, width, classes, width)
        inverse = {(c, k): solved[c, :, k] for c, k in pairs}
    found = np.zeros(count)
    for c, k in pairs:
        weights = curvature(c, k) if form == "curvature" else float(c == k) - 1 / classes
        found += weights * np.einsum("nd,nd->n", u @ inverse[c, k], u)
    return np.maximum(found, 0.0)
