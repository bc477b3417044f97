"""One tiny audit, end to end, as a table in text that is reviewed when it changes.

Other builds of PyTorch and other processors round otherwise, so numbers may be off by 0.02; those of attacks that fit a
network, in a few steps and from so few models, by 0.08 (an AMD EPYC's are by 0.06 from a Xeon's). If this fails after a
change that is meant to change numbers, look at each row, and replace ``table.txt`` by the table in the message.
"""

from pathlib import Path

import reticent
from reticent.attacks import ATTACKS

PINNED = Path(__file__).with_name("table.txt")
NEEDS = {name: entry.needs(entry.spec()) for name, entry in ATTACKS.items()}
NAMES = [
    name
    for name, needs in NEEDS.items()
    if not (needs.replicas or needs.imitators or any(probe.of_population for probe in needs.probes))
]
SHORT = {name: ATTACKS[name].short.model_dump(exclude_unset=True) for name in NAMES if ATTACKS[name].fitted}
TOLERANCE = {name: 0.08 if name in SHORT else 0.02 for name in NAMES}


def rows(text):
    return {line.split()[0]: [float(cell) for cell in line.split()[1:]] for line in text.splitlines()[1:]}


def made(folder):
    """Audit, and write the table."""
    audited = reticent.audit(
        dataset="digits", records=200, models=6, epochs=3, seed=0, workers=1, device="cpu", replicates=100,
        attacks=NAMES, attack=SHORT, store=folder / "store", out=folder / "out",
    )  # fmt: skip
    lines = [f"{'attack':<17} {'AUC':>6} {'oracle':>7}"]
    for attack in audited.document["attacks"]:
        overall = attack["overall"]
        oracle = overall["balanced_accuracy"]["oracle"]["mean"]
        lines.append(f"{attack['name']:<17} {overall['auc']['mean']:>6.3f} {oracle:>7.3f}")
    return "\n".join(lines) + "\n"


def test_the_table_stays(tmp_path):
    table = made(tmp_path)
    got, pinned = rows(table), rows(PINNED.read_text(encoding="utf-8"))
    assert list(got) == list(pinned), f"an attack is new or gone: run scripts/generate, and look at\n{table}"
    apart = {name: max(abs(a - b) for a, b in zip(got[name], pinned[name], strict=True)) for name in pinned}
    far = [name for name, most in apart.items() if most > TOLERANCE[name]]
    assert far == [], table
