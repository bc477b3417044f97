"""Architectures: one file each or one for a family, and any ``nn.Module`` factory of a user by import string.

The table maps an architecture's name to its spec and the function that builds it. Building draws from torch's global
generator, as PyTorch's own initialisers do; `training` seeds it for the length of the call.
`stages` divides any of them into stages.
"""

from reticent.models import atm, cnn, mlp, resnet18, resnet20, resnets, transformer, user, vgg, vit
from reticent.models.base import ArchitectureEntry, Input

ARCHITECTURES: dict[str, ArchitectureEntry] = {
    "atm": ArchitectureEntry(atm.ATM, atm.build, "The Active Token Mixer, for images.", ("image",)),
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
    "resnet34": ArchitectureEntry(resnets.ResNet34, resnets.build, "ResNet-34 in its CIFAR form.", ("image",)),
    "resnet50": ArchitectureEntry(resnets.ResNet50, resnets.build, "ResNet-50 in its CIFAR form.", ("image",)),
    "resnet101": ArchitectureEntry(resnets.ResNet101, resnets.build, "ResNet-101 in its CIFAR form.", ("image",)),
    "resnet152": ArchitectureEntry(resnets.ResNet152, resnets.build, "ResNet-152 in its CIFAR form.", ("image",)),
    "transformer": ArchitectureEntry(
        transformer.Transformer, transformer.build, "A transformer encoder for texts.", ("tokens",)
    ),
    "vgg11": ArchitectureEntry(vgg.VGG11, vgg.build, "VGG-11 with BatchNorm.", ("image",)),
    "vgg16": ArchitectureEntry(vgg.VGG16, vgg.build, "VGG-16 with BatchNorm.", ("image",)),
    "vgg19": ArchitectureEntry(vgg.VGG19, vgg.build, "VGG-19 with BatchNorm.", ("image",)),
    "vit": ArchitectureEntry(vit.ViT, vit.build, "A Vision Transformer with small patches.", ("image",)),
}

__all__ = ["ARCHITECTURES", "ArchitectureEntry", "Input"]
