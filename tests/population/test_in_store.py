"""What a job uses in a store is held while it runs, and it says what it found there."""

import pytest

import reticent
from reticent.jobs.runs import plan, scan
from reticent.store import Store

SMALL = {"records": 60, "models": 4, "epochs": 2, "attacks": ("loss",), "workers": 1, "replicates": 100}


@pytest.mark.slow
def test_a_comparison_holds_all_of_its_rows_and_says_where_their_models_are(tmp_path):
    place, seen, notes = tmp_path / "store", {}, []

    def stage(word):
        seen[word] = Store(place).users()
        if word == "comparison":
            kept = plan(scan(place), everything=True).kept
            assert {one.run.id for one in kept} == {entry.id for entry in scan(place).runs if entry.id in seen[word]}
            assert len(kept) == 16

    recipes = {"plain": {}, "decay": {"weight_decay": 0.05}}
    shared = SMALL | {"early_stopped": False, "recipes": recipes, "out": tmp_path / "out"}
    reticent.compare(**shared, store=place, stage=stage, note=notes.append)
    assert notes == [
        f"{name}: 0 of 4 models are in the store {place}, so 4 will be trained "
        "(if they are in another folder, give it with --store)"
        for name in recipes
    ]
    assert len(seen["plain (row 1 of 2): training"]) == len(seen["comparison"]) == 16
    assert Store(place).users() == {}
    assert plan(scan(place), everything=True).kept == ()
    notes.clear()
    reticent.compare(**shared, store=place, note=notes.append)
    assert notes == [f"{name}: all 4 models are in the store {place}" for name in recipes]


def test_a_row_whose_answers_alone_differ_says_whose_models_it_uses(tmp_path):
    notes = []

    def stop(_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        reticent.compare(
            defenses=["top-k", "relaxloss"],
            **SMALL,
            store=tmp_path,
            out=tmp_path / "out",
            stage=stop,
            note=notes.append,
        )
    assert [one.partition(" are in ")[0] for one in notes] == [
        "none: 0 of 4 models",
        "top-k: uses the models of none: no other ones are trained",
        "relaxloss: 0 of 4 models",
    ]


def test_an_audit_holds_its_models_to_the_end(tmp_path):
    seen = {}
    reticent.audit(
        **SMALL, store=tmp_path, out=tmp_path / "out", stage=lambda word: seen.update({word: Store(tmp_path).users()})
    )
    assert set(seen["report"]) == {entry.id for entry in scan(tmp_path).runs}
    assert Store(tmp_path).users() == {}
