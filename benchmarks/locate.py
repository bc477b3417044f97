"""Memory of scoring the weights of a network of 100 million parameters, against copies of its weights.

Prints a table and exits 1 if the promise does not hold: `reticent.locate_weights` holds at most 6 copies of the weights
at its peak, all of the process but what importing PyTorch takes counted.

    python benchmarks/locate.py
    python benchmarks/locate.py --width 5790 --depth 3    # three huge layers: 6.1, above the promise
"""

import argparse
import gc
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

import reticent

COPIES = 6


def network(width: int, depth: int) -> nn.Module:
    """A stack of linear and norm layers: 100.9 million parameters at a width of 2,048 and a depth of 24."""
    layers: list[nn.Module] = [nn.Linear(64, width)]
    for _ in range(depth):
        layers += [nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def resident() -> int:
    """Resident memory of this process, in bytes, pages of files that it reads among them."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


class Watch(threading.Thread):
    """Looks at the memory a hundred times a second, and notes the most of each stage."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stage, self.most, self.ended = "states", dict[str, int](), threading.Event()

    def run(self) -> None:
        """Look until it is ended."""
        while not self.ended.wait(0.01):
            self.most[self.stage] = max(self.most.get(self.stage, 0), resident())


def main() -> int:
    """Write the states of a network to files, score them, print what each stage held."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--depth", type=int, default=24)
    parser.add_argument("--steps", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(512, 64)).astype(np.float32), np.arange(512) % 10
    with tempfile.TemporaryDirectory() as folder:
        for name, seed in (("initial", 0), ("model", 1)):
            torch.manual_seed(seed)
            made = network(asked.width, asked.depth)
            weights = sum(p.numel() * p.element_size() for p in made.parameters())
            save_file(made.state_dict(), f"{folder}/{name}.safetensors")
            del made
        (Path(folder) / "wide.py").write_text(
            f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            f"from locate import network\n\ndef make():\n    return network({asked.width}, {asked.depth})\n",
            encoding="utf-8",
        )
        # What is imported once, whatever the size of the network, counts as what was there before.
        small = {"members": range(256), "dataset": (x, y), "seeds": 2, "scoring__steps": 1, "scoring__batch_size": 32}
        tiny = nn.Sequential(nn.Linear(64, 10))
        reticent.locate_weights(network=tiny, initial=tiny.state_dict(), out=f"{folder}/tiny", **small)
        gc.collect()
        before, watch = resident(), Watch()
        watch.start()
        start = time.perf_counter()

        def stage(name: str) -> None:
            most = (watch.most.get(watch.stage, before) - before) / weights
            print(f"{time.perf_counter() - start:6.0f} s  {watch.stage}: {most:.2f} copies at most", flush=True)
            watch.stage = name

        found = reticent.locate_weights(
            architecture=f"{folder}/wide.py:make",
            weights=f"{folder}/model.safetensors",
            initial=f"{folder}/initial.safetensors",
            out=f"{folder}/out",
            stage=stage,
            **small | {"scoring__steps": asked.steps},
        )
        seconds = time.perf_counter() - start
        watch.ended.set()
        watch.join()
    print(f"{found.document['model']['entries']:,} parameters, one copy {weights / 2**20:,.0f} MiB")
    print(f"before: {before / 2**20:,.0f} MiB; scoring with numbers and page: {seconds:.0f} s\n")
    print(f"{'stage':<22}{'MiB':>10}{'copies beyond before':>24}")
    for name, most in watch.most.items():
        print(f"{name:<22}{most / 2**20:>10,.0f}{(most - before) / weights:>24.2f}")
    peak = (max(watch.most.values()) - before) / weights
    print(f"\npeak: {peak:.2f} copies of the weights, promised: at most {COPIES}")
    return int(peak > COPIES)


if __name__ == "__main__":
    sys.exit(main())
