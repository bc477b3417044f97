"""Architectures: one file each or one for a family, and any ``nn.Module`` factory of a user by import string.

The table maps an architecture's name to its spec and the function that builds it. Building draws from torch's global
generator, as PyTorch's own initialisers do; `training` seeds it for the length of the call.
`stages` divides any of them into stages.
"""

from reticent.models import atm, cnn, densenet, fast_resnet, mlp, resnet, transformer, user, vgg, vit
from reticent.models.base import ArchitectureEntry, Input

ARCHITECTURES: dict[str, ArchitectureEntry] = {
    "atm": ArchitectureEntry(atm.ATM, atm.build, "The Active Token Mixer, for images.", ("image",)),
    "cnn": ArchitectureEntry(
        cnn.CNN, cnn.build, "Three convolutions and a linear layer, for small images.", ("image",)
    ),
    "densenet121": ArchitectureEntry(
        densenet.DenseNet121, densenet.build, "DenseNet-121 in its CIFAR form.", ("image",)
    ),
    "fast-resnet": ArchitectureEntry(
        fast_resnet.FastResNet, fast_resnet.build, "A nine-layer ResNet that trains fast on a GPU.", ("image",)
    ),
    "fc": ArchitectureEntry(
        mlp.FC,
        mlp.build,
        "The fully connected network of papers on Texas, Purchase and Location.",
        ("tabular", "image"),
    ),
    "import": ArchitectureEntry(
        user.Factory, user.build, "A factory of yours, by import string.", ("image", "tabular", "tokens")
    ),
    "mlp": ArchitectureEntry(mlp.MLP, mlp.build, "A multilayer perceptron with ReLU.", ("tabular", "image")),
    "resnet18": ArchitectureEntry(resnet.ResNet18, resnet.build, "ResNet-18 in its CIFAR form.", ("image",)),
    "resnet20": ArchitectureEntry(
        resnet.ResNet20, resnet.build, "ResNet-20 for CIFAR, projection shortcuts.", ("image",)
    ),
    "resnet34": ArchitectureEntry(resnet.ResNet34, resnet.build, "ResNet-34 in its CIFAR form.", ("image",)),
    "resnet50": ArchitectureEntry(resnet.ResNet50, resnet.build, "ResNet-50 in its CIFAR form.", ("image",)),
    "resnet101": ArchitectureEntry(resnet.ResNet101, resnet.build, "ResNet-101 in its CIFAR form.", ("image",)),
    "resnet152": ArchitectureEntry(resnet.ResNet152, resnet.build, "ResNet-152 in its CIFAR form.", ("image",)),
    "transformer": ArchitectureEntry(
        transformer.Transformer, transformer.build, "A transformer encoder for texts.", ("tokens",)
    ),
    "vgg11": ArchitectureEntry(vgg.VGG11, vgg.build, "VGG-11 with BatchNorm.", ("image",)),
    "vgg16": ArchitectureEntry(vgg.VGG16, vgg.build, "VGG-16 with BatchNorm.", ("image",)),
    "vgg19": ArchitectureEntry(vgg.VGG19, vgg.build, "VGG-19 with BatchNorm.", ("image",)),
    "vit": ArchitectureEntry(vit.ViT, vit.build, "A Vision Transformer with small patches.", ("image",)),
}

__all__ = ["ARCHITECTURES", "ArchitectureEntry", "Input"]
