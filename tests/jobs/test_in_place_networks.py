"""A network that changes what its gradient needs is refused in plain words wherever gradients are computed."""

import numpy as np
import pytest
import torch

import reticent
from reticent.errors import ModelError
from reticent.objectives.base import named_inplace_errors

WORDS = (
    "the network changes a tensor in place that its gradient needs: write x = x * 0 instead of x.mul_(0) in its forward"
)
CODE = """
from torch import nn


class Changing(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = self.first(x).sigmoid()
        answer = self.last(x)
        x.mul_(0)
        return answer
"""


@pytest.mark.parametrize(
    "defense", [None, "dpsgd:noise=1", "past", "past:form=renormalised,after=0.5", "mist:parts=2", "cwrf:rate=0.1"]
)
def test_training_says_what_the_network_does(defense, own_folder):
    if defense and "dpsgd" in defense:
        pytest.importorskip("opacus")
    (own_folder / "mine_changing.py").write_text(CODE)
    rng = np.random.default_rng(0)
    with pytest.raises(ModelError) as raised:
        reticent.audit(
            dataset=(rng.normal(size=(160, 6)).astype(np.float32), np.arange(160) % 3), models=4, epochs=2, workers=1,
            architecture="mine_changing:Changing", defense=defense, reference=40, attacks=["loss"],
            store=own_folder / "store", out=own_folder / "out",
        )  # fmt: skip
    assert f": {WORDS}\n" in str(raised.value)


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="does not require grad"), named_inplace_errors():
        torch.zeros(()).backward()
