"""A plain PyTorch script, as somebody writes it who has never heard of reticent: it trains a network and saves it.

Run as ``python plain_script.py FOLDER``. It leaves data files, ``my_net.py``, weights and initial weights there.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from sklearn.datasets import load_digits
from torch import nn

NET = """
from torch import nn


class Net(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, 10)

    def forward(self, x):
        return self.head(self.body(x))


def build():
    return Net()
"""


def main(folder: Path, epochs: int = 60, records: int = 250) -> None:
    """Train on some digits whose labels are partly noise, so that the network must memorise, and save everything."""
    (folder / "my_net.py").write_text(NET)
    sys.path.insert(0, str(folder))
    from my_net import build

    x, y = load_digits(return_X_y=True)
    x, y = (x / 16).astype(np.float32), y.astype(np.int64)
    order = np.random.default_rng(1).permutation(len(x))
    x, y = x[order], y[order]
    noisy = np.random.default_rng(2).random(len(y)) < 0.2
    y[noisy] = np.random.default_rng(3).integers(0, 10, int(noisy.sum()))
    for i, name in enumerate(("members", "test", "reference")):
        part = slice(i * records, (i + 1) * records)
        np.savez(folder / f"{name}.npz", x=x[part], y=y[part])
    torch.manual_seed(7)
    net: nn.Module = build()
    save_file(dict(net.state_dict()), folder / "initial.safetensors")
    inputs, labels = torch.from_numpy(x[:records]), torch.from_numpy(y[:records])
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(epochs):
        for batch in torch.randperm(records).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs[batch]), labels[batch]).backward()
            optimizer.step()
    save_file(dict(net.state_dict()), folder / "model.safetensors")
    torch.save(net.state_dict(), folder / "model.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
