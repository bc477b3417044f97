"""Steps of training with channels last in memory (``architecture.layout = "channels-last"``) against the usual layout.

    python benchmarks/layout.py [--networks cnn resnet20 fast-resnet] [--batch 64] [--device cpu]

Prints a row for each network: milliseconds of a step (forward, backward, Adam) on pictures of 32 x 32 pixels, the
least of several, in turn in one process with one thread; the loss after the same steps must agree within 1 %.
"""

import argparse
import sys
import time

import torch
from torch.nn.functional import cross_entropy

from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.training.optim import optimizer
from reticent.training.recipe import Recipe

STEPS = 6


class Trained:
    """A network in one layout."""

    def __init__(self, name: str, batch: int, device: str, *, channels_last: bool) -> None:
        torch.manual_seed(0)
        entry = ARCHITECTURES[name]
        spec = entry.spec(layout="channels-last" if channels_last else None)
        self.network = build(entry, spec, Input("image", (3, 32, 32)), 10).to(device)
        self.optimizer = optimizer(Recipe(learning_rate=1e-4), self.network.parameters())
        self.x, self.y = torch.randn(batch, 3, 32, 32, device=device), torch.randint(0, 10, (batch,), device=device)
        self.least, self.loss = float("inf"), 0.0

    def step(self) -> None:
        """Take a step, and time it."""
        begun = time.perf_counter() if self.x.is_cuda else time.process_time()
        self.optimizer.zero_grad()
        loss = cross_entropy(self.network(self.x), self.y)
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()  # It waits for a GPU.
        self.least = min(self.least, (time.perf_counter() if self.x.is_cuda else time.process_time()) - begun)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=["cnn", "resnet20", "fast-resnet"])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print("| network | usual (ms) | channels last (ms) | times as fast |\n|---|---:|---:|---:|")
    apart = False
    for name in args.networks:
        both = [Trained(name, args.batch, args.device, channels_last=last) for last in (False, True)]
        for _ in range(STEPS):
            for one in both:
                one.step()
        usual, last = both
        ratio = usual.least / last.least
        print(f"| {name} | {1e3 * usual.least:.1f} | {1e3 * last.least:.1f} | {ratio:.2f} |", flush=True)
        apart |= abs(usual.loss - last.loss) > 0.01 * usual.loss
    return int(apart)


if __name__ == "__main__":
    sys.exit(main())
