"""scripts/defenses: what it refuses before anything is trained, and how it joins the numbers of several seeds."""

import json
from argparse import Namespace
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

import reticent
from reticent.errors import InputError

FOLDER = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return import_module("defenses_page")


@pytest.fixture
def script(page):
    loader = SourceFileLoader("defenses_script", str(FOLDER / "defenses"))
    loader_spec = spec_from_loader(loader.name, loader)
    module = module_from_spec(loader_spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def asked(script, tmp_path, monkeypatch):
    """What the command line says, and the calls of `reticent.compare`, which trains nothing here."""
    calls = []

    def compare(**values):
        calls.append(values)
        return Namespace(sentence="done", document=None)

    monkeypatch.setattr(reticent, "compare", compare)
    monkeypatch.setattr(script, "keep", lambda *kept: calls[-1].update(kept=kept))

    def args(**values):
        usual = {"work": str(tmp_path), "data": None, "set": None, "seed": None, "defense": None, "workers": 1}
        return Namespace(**usual | values)

    return args, calls


def compared(folder, names, control="none, 3 of 40 epochs"):
    folder.mkdir(parents=True)
    rows = [{"name": name, "role": "recipe"} for name in names] + [{"name": control, "role": "control"}]
    (folder / "compare.json").write_text(json.dumps({"rows": rows}))


def estimate(mean, low, high):
    return {"mean": mean, "interval": [low, high]}


def row(lower=None, proven=None, role="recipe", tpr=(0.1, 0.05, 0.2)):
    return {
        "name": "dpsgd:epsilon=8",
        "role": role,
        "accuracy": {"members": estimate(0.9, 0.8, 0.95), "non_members": estimate(0.7, 0.6, 0.75)},
        "auc": estimate(0.6, 0.5, 0.7),
        "tpr": None if tpr is None else estimate(*tpr),
        "epsilon": lower,
        "accountant": None if proven is None else {"epsilon": proven},
    }


def cells(text):
    return [cell.strip() for cell in text.strip("|").split("|")]


def test_a_seed_that_no_set_has_is_refused(script, asked):
    args, calls = asked
    with pytest.raises(InputError, match=r"--seed: expected seeds of the sets \(digits: 0\), got 7: give one"):
        script.run(args(set=["digits"], seed=[7]))
    with pytest.raises(InputError, match="got 0, 7: give one"):
        script.run(args(seed=[0, 7]))
    assert not calls


def test_a_set_that_is_named_and_has_none_of_the_seeds_is_refused(script, asked):
    args, calls = asked
    with pytest.raises(InputError, match=r"location30: 0, 1, 2; digits: 0\), got 2: give one"):
        script.run(args(set=["location30", "digits"], seed=[2]))
    assert not calls


def test_a_seed_of_one_set_runs_that_set_alone(script, asked, tmp_path):
    args, calls = asked
    script.run(args(seed=[2]))
    assert [(call["out"], call["seed"]) for call in calls] == [(tmp_path / "location30-2", 2)]
    assert calls[0]["defenses"] == script.SETS["location30"]["defenses"]
    assert calls[0]["kept"] == (None, "location30", 2)


def test_a_finished_comparison_is_not_run_again(script, asked, tmp_path):
    args, calls = asked
    compared(tmp_path / "digits-0", script.SETS["digits"]["defenses"])
    script.run(args(set=["digits"]))
    assert not calls


def test_a_partial_comparison_does_not_stand_for_the_full_one(script, asked, tmp_path):
    args, calls = asked
    compared(tmp_path / "dpsgd-0", ["none", "dpsgd:epsilon=2", "mixup"])
    before = (tmp_path / "dpsgd-0" / "compare.json").read_bytes()
    with pytest.raises(
        InputError, match="lacks dpsgd:epsilon=8, dpsgd:noise=0 and has also mixup: give another --work"
    ):
        script.run(args(set=["digits", "dpsgd"]))
    assert not calls, "it was refused after another set had been run"
    assert (tmp_path / "dpsgd-0" / "compare.json").read_bytes() == before
    with pytest.raises(InputError, match="has also dpsgd:epsilon=2"):
        script.run(args(set=["dpsgd"], defense=["mixup"]))


def test_defenses_that_were_asked_for_by_name_are_found_with_the_undefended_recipe(script, asked, tmp_path):
    args, calls = asked
    compared(tmp_path / "digits-0", ["none", "mixup"])
    script.run(args(set=["digits"], defense=["mixup"]))
    assert not calls


def test_an_estimate_over_seeds_is_the_mean_and_the_outermost_limits(page):
    rows = [row(tpr=(0.1, 0.05, 0.2)), row(tpr=(0.2, 0.15, 0.3))]
    assert page.across(rows, lambda one: one["tpr"]) == "0.150 (0.050 to 0.300)"
    assert page.across([*rows, row(tpr=None)], lambda one: one["tpr"]) == "not measurable"


def test_bounds_over_seeds_are_bounds_of_all_of_them(page):
    rows = [row(0.52, 7.909), row(0.298, 7.9901), row(0.6, 7.85)]
    *_, lower, proven, _ = cells(page.line("dpsgd:epsilon=8", rows, [], proofs=True, baseline=None))
    assert (lower, proven) == ("0.29", "8.00")
    *_, lower, proven, _ = cells(page.line("none", [row(0.0), row(1.0)], [], proofs=True, baseline=None))
    assert (lower, proven) == ("none shown", "")


def test_the_text_above_a_table_says_how_bounds_of_several_seeds_are_joined(page, monkeypatch):
    for name in ("plainly", "by_labels", "unaware"):
        monkeypatch.setattr(page, name, lambda found: [])
    documents = {seed: document(7.9 + 0.05 * seed) for seed in range(2)}
    text = "\n".join(page.section({"title": "A set"}, documents))
    assert "Of epsilon, the smallest lower bound of the seeds, and the largest proof.\n\n| defense" in text
    assert "Of epsilon" not in "\n".join(page.section({"title": "A set"}, {0: documents[0]}))


def document(proven):
    return {
        "fpr": 0.01,
        "baseline": "dpsgd:epsilon=8",
        "data": {"roles": {"audited": 100}},
        "rows": [row(0.1, proven) | {"models": 4, "matches": [], "notices": []}],
        "pairs": [],
        "sentence": "One row.",
    }


def test_the_page_shows_what_was_kept_of_a_comparison(page, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(page, "MEASURED", tmp_path)
    one = document(7.9)
    pairs = [{"first": a, "second": "dpsgd:epsilon=8", "statistic": "auc"} for a in ("none", page.AUGMENTED)]
    page.keep(one | {"pairs": pairs}, "digits", 0)
    assert json.loads((tmp_path / "digits-0.json").read_text())["pairs"] == pairs[1:]
    page.page({"digits": {"title": "Digits", "seeds": (0, 1)}})
    assert "\n".join(page.section({"title": "Digits"}, {0: one})) in capsys.readouterr().out


def test_controls_of_other_seeds_may_stop_elsewhere(page):
    documents = {seed: document(7.9) for seed in range(2)}
    for seed, one in documents.items():
        stopped = {"name": f"none, {seed + 1} of 40 epochs", "models": 4, "matches": ["mixup"], "notices": []}
        one["rows"] += [row(role="control") | stopped]
    text = "\n".join(page.section({"title": "A set"}, documents))
    assert "2 seeds" in text
    assert "of 40 epochs" not in text
