"""Linear layers and convolutions whose weight is a product of butterfly factors."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.models.butterfly.chains import Chain, Factor


class Factored(nn.Module):
    """What both kinds of layer share: parameters ``factor1`` to ``factorL``, from left to right, and a bias.

    A factor ``(blocks, rows, columns, diagonal)`` holds the entries that are not zero, and no others.
    """

    bias: nn.Parameter | None

    def __init__(self, chain: Chain, like: nn.Linear | nn.Conv2d) -> None:
        """Make factors whose product has the variance of a layer's weight; each passes on the same share of it.

        An entry of the product is a sum over ``c_1 ... c_L / inputs`` paths of products of L independent entries, so
        that variances of ``(inputs * variance)^(1/L) / c_l`` give just that of the layer.
        """
        super().__init__()
        self.chain = chain
        weight = like.weight.detach()
        gain = chain[-1].inputs * float(weight.double().square().mean())
        for index, factor in enumerate(chain, start=1):
            shape = (factor.blocks, factor.rows, factor.columns, factor.diagonal)
            deviation = math.sqrt(gain ** (1 / len(chain)) / factor.columns)
            self.register_parameter(f"factor{index}", nn.Parameter(weight.new_empty(shape).normal_(0, deviation)))
        self.bias = dict(like.named_parameters()).get("bias")

    @property
    def factors(self) -> list[Tensor]:
        """The factors from left to right."""
        return [getattr(self, f"factor{index + 1}") for index in range(len(self.chain))]

    def product(self) -> Tensor:
        """Multiply the factors out: ``(outputs, inputs)``."""
        made = torch.eye(self.chain[0].outputs, dtype=self.factors[0].dtype, device=self.factors[0].device)
        for factor, shape in zip(self.factors, self.chain, strict=True):
            split = made.reshape(-1, shape.blocks, shape.rows, shape.diagonal)
            made = torch.einsum("nard,arcd->nacd", split, factor).reshape(-1, shape.inputs)
        return made

    def extra_repr(self) -> str:
        """Show the sizes and the chain."""
        return f"{self.chain[0].outputs} x {self.chain[-1].inputs}, {' * '.join(map(_written, self.chain))}"


class ButterflyLinear(Factored):
    """A linear layer that applies one factor after the other."""

    @property
    def weight(self) -> Tensor:
        """The weight of the dense layer that this one equals: ``(outputs, inputs)``."""
        return self.product()

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to ``(..., inputs)``."""
        made = x.flatten(0, -2).t() if x.dim() > 1 else x[:, None]
        count = made.shape[1]
        for factor, shape in zip(reversed(self.factors), reversed(self.chain), strict=True):
            split = made.reshape(shape.blocks, shape.columns, shape.diagonal, count)
            made = torch.einsum("arcd,acdn->ardn", factor, split).reshape(shape.outputs, count)
        answer = made.t() if self.bias is None else made.t() + self.bias
        return answer.reshape(*x.shape[:-1], self.chain[0].outputs)


class ButterflyConv2d(Factored):
    """A convolution with the product as its kernel, a matrix ``(c_out, k * k * c_in)`` with channels innermost.

    The product is built once a pass: pictures have so many places that it costs little beside the convolution, and
    patches, which factors would be applied to one after the other, would need k * k times the memory.
    """

    def __init__(self, chain: Chain, like: nn.Conv2d) -> None:
        """Take over all but the weight of a convolution."""
        super().__init__(chain, like)
        self.kernel_size, self.stride, self.dilation = like.kernel_size, like.stride, like.dilation
        self.padding: Any = like.padding

    @property
    def weight(self) -> Tensor:
        """The weight of the dense convolution that this one equals: ``(c_out, c_in, k, k)``."""
        places = self.product().reshape(self.chain[0].outputs, *self.kernel_size, -1)
        return places.permute(0, 3, 1, 2).contiguous()

    def forward(self, x: Tensor) -> Tensor:
        """Convolve ``(B, c_in, H, W)``."""
        return functional.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation)

    def extra_repr(self) -> str:
        """Show the geometry too."""
        return f"{super().extra_repr()}, kernel {self.kernel_size}, stride {self.stride}, padding {self.padding}"


def _written(factor: Factor) -> str:
    return f"({factor.blocks}, {factor.rows}, {factor.columns}, {factor.diagonal})"
