"""The pages of all commands in a real browser: on a phone nothing is wider than the screen."""

import json
from pathlib import Path

import browser
import numpy as np
import pytest
import torch

from reticent.cli import app
from reticent.cli.run import guarded
from reticent.findings.study import SCHEMA, StudyDocument
from reticent.report.kinds.study import study
from reticent.report.render.html import html

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed"),
]

DOCS = Path(__file__).resolve().parents[2] / "docs" / "studies"
USUAL = (
    "--models 4 --epochs 2 --workers 1 --attack loss --attack lira --set replicates=100 --architecture mlp --store s"
)
NET = """
from torch import nn
def build(classes):
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, classes))
"""
COMMANDS = {
    "audit": f"audit --dataset people.csv {USUAL} --group-by town --defense relaxloss:level=0.2 --also-non-adaptive "
    "--control null",
    "compare": f"compare --dataset people.csv {USUAL} --defense none --defense relaxloss:level=0.2,upper=1",
    "search": f"search --dataset people.csv {USUAL} --defense relaxloss --over level=0.1,0.2",
    "records": "locate records audit",
    "ranking": "locate records --without-references --dataset people.csv --epochs 2 --architecture mlp --store s",
    "weights": "locate weights --dataset people.csv --models 4 --epochs 2 --architecture mlp --store s --seeds 2 "
    "--steps 2",
    "layers": "locate layers --dataset people.csv --epochs 2 --workers 1 --architecture mlp --store s",
    "harden": "harden --model phonenet:build --weights net.pt --members people.npz --non-members others.npz --rate 0.1 "
    "--max-accuracy-loss 1 --models 8 --epochs 5 --workers 1 --store s --device cpu",
}
"""By page."""
STUDIES = {
    path.parent.name: document
    for path in sorted(DOCS.glob("*/study.json"))
    if (document := json.loads(path.read_text(encoding="utf-8")))["schema"] == SCHEMA
}
"""Those that the page of now can show."""
OVER = """[...document.querySelectorAll('table:not(#record-table)')].map(t => t.closest('.scroll'))
    .map(e => e.scrollWidth - e.clientWidth)"""
"""By how much each table is wider than its frame."""
LABELS = """[...document.querySelectorAll('.stack:not(#record-table) td')].every(
    e => e.dataset.label && e.getAttribute('role') === 'cell')"""


def _data():
    rng = np.random.default_rng(0)
    towns = np.array(["the_department_of_very_long_names", "Ulm", "Köln"])[np.arange(160) % 3]
    x = rng.normal(size=(160, 4))
    lines = [
        ",".join([*(f"{v:.4f}" for v in row), town, str(i % 2)])
        for i, (row, town) in enumerate(zip(x, towns, strict=True))
    ]
    Path("people.csv").write_text("\n".join(["a,b,c,d,town,label", *lines]), encoding="utf-8")
    Path("phonenet.py").write_text(NET, encoding="utf-8")
    for name in ("people", "others"):
        y = np.arange(90) % 3
        np.savez(f"{name}.npz", x=(rng.normal(size=(90, 5)) + 2 * y[:, None]).astype(np.float32), y=y)
    import phonenet

    with np.load("people.npz") as held:
        x, y = torch.tensor(held["x"]), torch.tensor(held["y"])
    torch.manual_seed(0)
    network = phonenet.build(3)
    optimizer = torch.optim.Adam(network.parameters(), 0.02)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    torch.save(network.state_dict(), "net.pt")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Make every page; answers name and file."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        _data()
        for name, line in COMMANDS.items():
            assert guarded(app, [*line.split(), "--out", name]) == 0, name
    made = {name: next((folder / name).glob("*.html")) for name in COMMANDS}
    for name, document in STUDIES.items():
        made[name] = folder / f"{name}.html"
        made[name].write_text(html(study(StudyDocument.read(document))), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def tab():
    with browser.tab() as opened:
        yield opened


@pytest.mark.parametrize("name", [*COMMANDS, *STUDIES])
def test_a_page_fits_a_phone(tab, pages, name):
    for dark in (False, True):
        tab.open(pages[name], 360, dark=dark)
        assert tab.complaints() == []
        assert tab.ask("document.documentElement.scrollWidth") <= 360
        assert tab.ask("document.querySelectorAll('table').length") > 0
        assert max(tab.ask(OVER), default=0) == 0
        assert tab.ask(LABELS)
    tab.open(pages[name], 1280)
    assert tab.ask("document.documentElement.scrollWidth") <= 1280
