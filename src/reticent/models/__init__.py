"""Architectures: one file each, and any ``nn.Module`` factory of a user by import string.

The table maps an architecture's name to its spec and the function that builds it. Building draws from torch's global
generator, as PyTorch's own initialisers do; `training` seeds it for the length of the call.
"""

from reticent.models import cnn, mlp, resnet18, resnet20, user
from reticent.models.base import ArchitectureEntry, Input

ARCHITECTURES: dict[str, ArchitectureEntry] = {
    "cnn": ArchitectureEntry(
        cnn.CNN, cnn.build, "Three convolutions and a linear layer, for small images.", ("image",)
    ),
    "import": ArchitectureEntry(
        user.Factory, user.build, "A factory of yours, by import string.", ("image", "tabular", "tokens")
    ),
    "mlp": ArchitectureEntry(mlp.MLP, mlp.build, "A multilayer perceptron with ReLU.", ("tabular", "image")),
    "resnet18": ArchitectureEntry(resnet18.ResNet18, resnet18.build, "ResNet-18 in its CIFAR form.", ("image",)),
    "resnet20": ArchitectureEntry(
        resnet20.ResNet20, resnet20.build, "ResNet-20 for CIFAR, projection shortcuts.", ("image",)
    ),
}

__all__ = ["ARCHITECTURES", "ArchitectureEntry", "Input"]
