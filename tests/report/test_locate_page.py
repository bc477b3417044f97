"""The page and the terminal's table of scores of weights."""

import copy
import io
import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from reading import read
from rich.console import Console

from reticent.findings.locate import ByLayer, WeightsDocument
from reticent.report.kinds.weights import weights
from reticent.report.pictures.weights import NAMED, layers, scatter, steps
from reticent.report.render.html import html
from reticent.report.render.terminal import terminal

HOSTILE = "evil</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{ 7 * 7 }}"
CELLS = 12


def kind(name, entries, share, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (CELLS, CELLS)) * rng.integers(0, 500, (CELLS, CELLS))
    return {
        "kind": name,
        "entries": entries,
        "share": share,
        "vulnerability": share,
        "pearson": 0.8329,
        "log_pearson": 0.91,
        "spearman": 0.94,
        "positive": entries,
        "density": {"x": [-9.0, -1.0], "y": [-8.5, -0.5], "counts": counts.tolist()},
    }


def layer(name, share, vulnerability):
    return {
        "layer": name,
        "kind": "convolution",
        "entries": round(1e6 * share),
        "share": share,
        "vulnerability": vulnerability,
        "learnability": vulnerability,
        "marked": 0.02,
    }


def read_back(document):
    return WeightsDocument.read(document)


def page(document):
    return html(weights(read_back(document)))


@pytest.fixture
def document():
    rates = [(0.001, 1000, 0.12), (0.01, 10_000, 0.4), (0.05, 50_000, 0.7)]
    return {
        "schema": "reticent.locate.weights/1",
        "sentence": "1 % of the weights hold 40.0 % of the privacy vulnerability.",
        "model": {"name": "resnet18", "entries": 1_000_000, "unused": []},
        "initial": {"origin": "training", "entropy": 0.97},
        "data": {
            "name": "cifar10",
            "classes": 10,
            "members": 500,
            "reference": 200,
            "accuracy_members": 0.99,
            "accuracy_reference": 0.61,
        },
        "scoring": {"steps": 4, "unlearning": 0.5},
        "kinds": [kind("all", 10**6, 1.0, 0), kind("convolution", 995_000, 0.995, 1), kind("norm", 5000, 0.005, 2)],
        "largest": [
            {
                "rate": rate,
                "entries": entries,
                "vulnerability": share,
                "learnability": share,
                "shared": 0.6,
                "jaccard": 0.43,
            }
            for rate, entries, share in rates
        ],
        "layers": [layer("stem.0", 0.1, 0.3), layer("", 0.2, 0.1), layer("head", 0.7, 0.6)],
        "stability": {
            "seeds": 3,
            "pairs": 3,
            "rows": [{"rate": rate, "mean": 0.9, "least": 0.87, "chance": 0.005} for rate, _, _ in rates],
        },
        "steps": {
            "vulnerability": [{"member_loss": [0.1, 0.2, 0.3, 0.2], "divergence": [5.0, 3.0, 1.0, 0.5]}],
            "learnability": {"member_loss": [0.1, 0.05, 0.02, 0.01], "divergence": []},
        },
        "cannot_say": ["How much the model gives away."],
        "environment": {
            "reticent": "0.1.0",
            "device": "cpu",
            "seconds_scoring": 3.2,
            "seconds": 4.0,
            "peak_memory_bytes": 10**9,
        },
    }


def test_the_page_is_well_formed_and_has_every_number(document):
    shown = page(document)
    assert shown == page(document)
    root = read(shown)
    identifiers = [e.attributes["id"] for e in root.walk() if "id" in e.attributes]
    assert len(identifiers) == len(set(identifiers))
    pointed = re.findall(r'(?:href="#|aria-labelledby="|url\(#)([^"\)]+)', shown)
    assert {name for names in pointed for name in names.split()} <= set(identifiers)
    levels = [int(e.tag[1]) for e in root.walk() if re.fullmatch("h[1-6]", e.tag)]
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert root.one("h1").text.replace("\N{NO-BREAK SPACE}", " ") == document["sentence"]
    text = " ".join(root.text.split())
    for part in ("0.833", "0.910", "0.940", "995,000", "99.5 %", "0.43", "0.870", "(network)"):
        assert part in text, part
    assert len(root.all("svg", class_="chart")) == 3 + 1 + 1
    assert "http" not in shown.replace("http-equiv", "")


def test_nothing_of_a_hostile_name_reaches_the_page_unescaped(document):
    changed = copy.deepcopy(document)
    changed["model"]["name"] = changed["data"]["name"] = changed["layers"][0]["layer"] = HOSTILE
    changed["sentence"] = changed["cannot_say"][0] = HOSTILE
    shown = page(changed)
    assert "<img" not in shown
    assert "<script>alert" not in shown
    read(shown)


def test_what_is_not_known_is_left_out(document):
    changed = copy.deepcopy(document)
    changed["stability"] = None
    changed["initial"]["origin"] = "fresh draw"
    del changed["data"]["accuracy_reference"]
    changed["environment"]["peak_memory_bytes"] = None
    for row in [*changed["kinds"], *changed["largest"], *changed["layers"]]:
        row |= {key: None for key in ("vulnerability", "pearson", "density", "shared", "jaccard") if key in row}
    changed["kinds"] = changed["kinds"][:1]
    shown = page(changed)
    text = " ".join(read(shown).text.split())
    assert "Would other batches" not in text
    assert "it is a fresh draw" in text
    assert "that it never saw" not in text
    assert shown.count('class="chart"') == 1


def test_one_kind_is_drawn_once(document):
    document["kinds"] = [*document["kinds"][:1], document["kinds"][1] | {"share": 1.0}]
    assert page(document).count("Vulnerability against learnability of the weights: ") == 2, "title and description"


def test_pictures_say_in_numbers_what_they_show(document):
    found = read_back(document)
    drawing = scatter(found.kinds[0], "one")
    assert "Correlations: Pearson 0.83, of logarithms 0.91, Spearman 0.94." in drawing
    few = layers(found.layers)
    many = layers([ByLayer(**layer(f"l{i}", 0.01, 0.02)) for i in range(NAMED + 1)])
    assert "Most: head 60.0\xa0% with 70.00\xa0% of the weights" in few
    names = ["".join(e.itertext()) for e in ET.fromstring(few).iter("text")]
    assert {"stem.0", "(network)", "head"} <= set(names)
    assert "l3" not in ["".join(e.itertext()) for e in ET.fromstring(many).iter("text")]
    assert "divergence of non-members from the initial model: from 5.000 to 0.500" in steps(found.steps)
    assert len(drawing) < 60_000


def test_every_cell_with_weights_is_drawn(document):
    row = document["kinds"][1]
    counts = np.zeros((CELLS, CELLS), dtype=int)
    counts[2, 3] = counts[4, 5] = 1
    counts[0, 0] = 10**6
    row["density"]["counts"] = counts.tolist()
    drawing = scatter(read_back(document).kinds[1], "cells")
    assert sum(part.count("M ") for part in re.findall(r' d="([^"]*z[^"]*)"', drawing) if "var" not in part) >= 3


def test_the_terminal_shows_the_same_numbers(document):
    console = Console(file=io.StringIO(), width=140, force_terminal=False)
    console.print(terminal(weights(read_back(document))))
    text = console.file.getvalue().replace("\N{NO-BREAK SPACE}", " ")
    for part in (document["sentence"], "convolution", "0.833", "10,000", "batches", "0.90", "How much"):
        assert part in text, part
    document["stability"] = None
    console.print(terminal(weights(read_back(document))))
    assert console.file.getvalue().count("batches") == 1
