"""What the classifiers of networks of tokens share: a LayerNorm and one linear layer."""

from torch import nn


class Normalised(nn.Module):
    """A LayerNorm and a linear layer; each network says of which tokens they are."""

    def __init__(self, dim: int, classes: int) -> None:
        """Build the layers."""
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.linear = nn.Linear(dim, classes)
