"""The example of docs/harden.md: a plain PyTorch script trains a model on Location30, and `reticent harden` repairs it.

Prints what the model gives away before and after, and how accurate it is. The training imports no reticent: it runs in
a process of its own, on files.

    python benchmarks/harden.py [--data-dir FOLDER]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NET = """from torch import nn


def build():
    return nn.Sequential(nn.Linear(446, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 30))
"""


def outside(folder, epochs):
    """Train a network on members.npz as somebody does who has never heard of reticent."""
    import numpy as np
    import torch
    from safetensors.torch import save_file

    sys.path.insert(0, str(folder))
    from my_net import build

    torch.manual_seed(7)
    torch.set_num_threads(1)
    net = build()
    save_file(dict(net.state_dict()), folder / "initial.safetensors")
    with np.load(folder / "members.npz") as members:
        x, y = torch.from_numpy(members["x"]), torch.from_numpy(members["y"])
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(y)).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x[batch]), y[batch]).backward()
            optimizer.step()
    save_file(dict(net.state_dict()), folder / "model.safetensors")


def files(folder, options):
    """Write the network's source and the three files of records; rows with the same features go to the same file."""
    import numpy as np

    from reticent.data.load import load

    records = load("location30", data_dir=options.data_dir)
    (folder / "my_net.py").write_text(NET, encoding="utf-8")
    _, first = np.unique(records.groups, return_index=True)
    order = np.random.default_rng(1).permutation(np.sort(first))
    for place, name in enumerate(("members", "test", "reference")):
        rows = order[place * options.records : (place + 1) * options.records]
        np.savez(folder / f"{name}.npz", x=records.x[rows].astype(np.float32), y=records.y[rows].astype(np.int64))


def repaired(folder, options):
    """Repair and audit the model; answers harden.json."""
    import reticent

    os.chdir(folder)  # Where my_net is looked for.
    return reticent.harden(
        "my_net:build",
        "model.safetensors",
        members="members.npz",
        non_members="test.npz",
        reference="reference.npz",
        method="cwrf",
        objective="relaxloss",
        options={"rate": 0.01},
        initial="initial.safetensors",
        epochs=options.epochs,
        batch_size=64,
        optimizer="adam",
        learning_rate=0.001,
        models=options.models,
        store="store",
        out="repaired",
    ).document


def change(pair, unit):
    """Say how much less or more there is after the repair, with the interval; pairs are before minus after."""
    low, high = sorted(-value for value in pair["interval"])
    if unit == "points":
        return f"{-100 * pair['difference']:+.1f} points, {100 * low:+.1f} to {100 * high:+.1f}"
    return f"{-pair['difference']:+.3f}, {low:+.3f} to {high:+.3f}"


def shares(values):
    """Write a share before and after, in percent."""
    return " | ".join(f"{100 * value:.1f} %" for value in values)


def table(document):
    """Write the table, line by line."""
    sides = document["before"], document["after"]
    rows = document["difference"]["rows"]
    pairs = {pair["statistic"]: pair for pair in document["difference"]["pairs"]}
    members, others = ([side["accuracy"][kind]["value"] for side in sides] for kind in ("members", "non_members"))
    yield "| | before | after | change, 95 % interval |"
    yield "|---|---|---|---|"
    yield f"| accuracy on non-members | {shares(others)} | {change(pairs['accuracy'], 'points')} |"
    yield f"| accuracy on members | {shares(members)} | |"
    found = [row["tpr"]["mean"] for row in rows]
    at = f"members found at {100 * document['difference']['fpr']:g} % false alarms"
    yield f"| {at} | {shares(found)} | {change(pairs['tpr'], 'points')} |"
    names = " and ".join(dict.fromkeys(row["auc_attack"] for row in rows))
    areas = [row["auc"]["mean"] for row in rows]
    yield f"| AUC of the strongest attack ({names}) | {areas[0]:.3f} | {areas[1]:.3f} | {change(pairs['auc'], '')} |"
    delta = f"{sides[0]['epsilon']['delta']:.10f}".rstrip("0")
    bounds = [side["epsilon"]["lower"] for side in sides]
    yield f"| epsilon at least (delta {delta}) | {bounds[0]:.2f} | {bounds[1]:.2f} | |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", help="where Location30 lies")
    parser.add_argument("--records", type=int, default=1300, help="members, and as many for the audit and the repair")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--models", type=int, default=16, help="references of each side")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        outside(Path(options.train), options.epochs)
        return
    with tempfile.TemporaryDirectory() as folder:
        files(Path(folder), options)
        command = [sys.executable, __file__, "--train", folder, "--epochs", str(options.epochs)]
        subprocess.run(command, check=True)
        started, used = time.perf_counter(), os.times()
        document = repaired(Path(folder), options)
        now = os.times()
        os.chdir("/")  # So that the folder can go.
    print("\n".join(table(document)))
    seconds, cores = time.perf_counter() - started, sum(now[:4]) - sum(used[:4])
    size = f"{document['model']['parameters']:,} weights, {options.epochs} epochs, {options.records:,} records of each"
    print(f"\n{size} role, {options.models} references a side; {seconds:.0f} s, of which {cores:.0f} s of CPU")
    print(document["sentence"])


if __name__ == "__main__":
    main()
