"""The runner: a toy study from beginning to end, resumed, changed, and refused."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from toy_study import BASE, STUDY, counted

from reticent.errors import InputError, MissingFileError, StoreError, UnknownNameError
from reticent.studies import STUDIES, own_table
from reticent.studies import run as runner
from reticent.studies.base import Claim, Found, Scale, Setting
from reticent.studies.judging import no_worse
from reticent.studies.metrics import columns
from reticent.studies.numbers import Estimate
from reticent.studies.run import study


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    told = []
    result = study(STUDY, store=folder / "store", out=folder / "out", workers=1, device="cpu", stage=told.append)
    return folder, result, told


def test_all_files_are_there_and_the_numbers_are_plain_json(done):
    folder, result, told = done
    names = ["study.html", "study.md", "toy-digits.svg", "toy-digits.png", "study.json"]
    assert [file.name for file in result.files] == names
    document = json.loads((folder / "out" / "study.json").read_text())
    assert document == json.loads(json.dumps(result.document))
    assert document["schema"] == "reticent.study/2"
    assert document["scale"] == {"name": "tiny", "seeds": 2, "about": "Seconds."}
    assert "MLP on digits, seed 1 (part 2 of 2): short" in told


def test_each_row_has_each_seed_and_the_papers_number(done):
    _, result, _ = done
    (table,) = result.document["tables"]
    assert [row["name"] for row in table["rows"]] == ["long", "short"]
    long = table["rows"][0]
    assert long["paper"] == {"accuracy": {"value": 0.9, "std": 0.01}}
    assert len(long["values"]["accuracy"]["seeds"]) == 2
    assert long["values"]["accuracy"]["mean"] > table["rows"][1]["values"]["accuracy"]["mean"]
    assert table["rows"][1]["paper"] is None


def test_claims_are_judged(done):
    _, result, _ = done
    assert result.verdicts == {
        "longer": "reproduced",
        "free": "reproduced",
        "unmeasured": "can't tell",
    }
    assert result.sentence == ("toy at scale tiny: of the paper's 3 claims 2 are reproduced and 1 can't be told.")
    assert [claim["reason"] for claim in result.document["claims"]] == [None, None, "unmeasured"]


def test_few_seeds_are_said(done):
    _, result, _ = done
    said = result.document["cannot_say"]
    assert said[0] == "It is a toy."
    assert any(one.startswith("2 seeds: ") and "over models and records" in one for one in said)


def test_again_measures_nothing_and_gives_the_same_numbers(done):
    folder, result, _ = done
    again, seeds = counted()
    other = study(again, store=folder / "store", out=folder / "out", workers=1, device="cpu")
    assert seeds == []
    assert other.document["environment"]["parts_found"] == 2
    assert {k: v for k, v in other.document.items() if k != "environment"} == {
        k: v for k, v in result.document.items() if k != "environment"
    }


def test_a_third_seed_measures_that_seed_alone(done):
    folder, _, _ = done
    again, seeds = counted()
    other = study(again, seeds=3, store=folder / "store", out=folder / "out", workers=1, device="cpu")
    assert seeds == [2]
    assert other.document["claims"][0]["kinds"][0]["parts"][0]["over_seeds"] is not None


def test_another_folder_finds_the_models_in_the_store(done, tmp_path):
    folder, result, _ = done
    fresh = []
    other = study(
        STUDY,
        store=folder / "store",
        out=tmp_path,
        workers=1,
        device="cpu",
        progress=lambda state: fresh.append(state.done - state.found),
    )
    assert set(fresh) <= {0}
    assert (
        other.document["tables"][0]["rows"][0]["values"]["auc_lira"]
        == (result.document["tables"][0]["rows"][0]["values"]["auc_lira"])
    )


def test_a_setting_may_have_fewer_seeds_than_its_scale_and_says_so(tmp_path):
    """A number that the caller asks for holds for all settings."""
    first = replace(STUDY.scales["tiny"].settings[0], key="first")
    second = replace(first, key="second", label="the second", seeds=1)
    asked, number = [], Estimate(0.5, 0.01)

    def measured(bench):
        asked.append((bench.setting.key, bench.seed))
        return Found({"long": ""}, {("long", "accuracy"): number})

    scales = {"tiny": Scale((first, second), 3, "")}
    given = replace(STUDY, scales=scales, measure=measured, draw=lambda *_: (), claims=STUDY.claims[2:])
    done = study(given, store=tmp_path / "store", out=tmp_path / "out", device="cpu")
    assert asked == [("first", 0), ("first", 1), ("first", 2), ("second", 0)]
    said = [one for one in done.document["cannot_say"] if "leave out what another seed would change" in one]
    assert len(said) == 1
    assert said[0].startswith("the second: 1 seed: ")
    asked.clear()
    study(given, seeds=2, store=tmp_path / "store", out=tmp_path / "other", device="cpu")
    assert asked == [("first", 0), ("first", 1), ("second", 0), ("second", 1)]


def test_what_cannot_be_read_is_measured_again(done, tmp_path):
    folder, _, _ = done
    once, seeds = counted()
    study(once, seeds=1, store=folder / "store", out=tmp_path, workers=1, device="cpu")
    (kept,) = (tmp_path / "parts").glob("*.json")
    kept.write_text(kept.read_text()[:40])
    study(once, seeds=1, store=folder / "store", out=tmp_path, workers=1, device="cpu")
    assert seeds == [0, 0]
    assert Found.from_json(kept.read_text()).rows == {"long": "4 epochs", "short": "1 epochs"}


@pytest.mark.parametrize("changed", [{"base": BASE | {"epochs": 3}}, {"options": {"fpr": 0.2}}])
def test_another_setting_is_measured_anew(done, tmp_path, changed):
    folder, _, _ = done
    setting = replace(STUDY.scales["tiny"].settings[0], **changed)
    once, seeds = counted(replace(STUDY, scales={"tiny": Scale((setting,), 1, "")}))
    for part in (folder / "out" / "parts").iterdir():
        if part.is_file():
            (tmp_path / "parts").mkdir(exist_ok=True)
            (tmp_path / "parts" / part.name).write_bytes(part.read_bytes())
    study(once, store=folder / "store", out=tmp_path, workers=1, device="cpu")
    assert seeds == [0]


def test_what_was_kept_before_a_number_was_asked_for_is_measured_anew(done, tmp_path):
    """A contrast that a later claim asks for is not in the old file: without this the claim could never be told."""
    folder, _, _ = done
    where = {"seeds": 1, "store": folder / "store", "out": tmp_path, "workers": 1, "device": "cpu"}
    once, seeds = counted()
    study(once, **where)

    def parts(results):
        return [no_worse("gap", results.get("digits", "short - long", "gap"), 9.0)]

    def measured(bench):
        found = once.measure(bench)
        gap = found.numbers["long - short", "gap"]
        found.numbers["short - long", "gap"] = replace(gap, value=-gap.value)
        return found

    more = replace(once, claims=(*STUDY.claims, Claim("gap", "Less.", "", "", parts)), measure=measured)
    assert study(more, **where).verdicts["gap"] == "reproduced"
    assert seeds == [0, 0]
    study(more, **where)
    assert seeds == [0, 0]
    reworded = replace(more, claims=tuple(replace(one, text="In other words.") for one in more.claims))
    study(reworded, **where)
    assert seeds == [0, 0]
    study(replace(more, claims=(*STUDY.claims, replace(more.claims[-1], rule="Another rule."))), **where)
    assert seeds == [0, 0, 0]
    study(replace(more, columns=(*STUDY.columns, *columns("gap"))), **where)
    assert seeds == [0, 0, 0, 0]


def test_an_interrupted_study_goes_on_where_it_was(tmp_path, done):
    folder, _, _ = done
    once, seeds = counted()

    def breaks(bench):
        if bench.seed == 1:
            raise KeyboardInterrupt
        return once.measure(bench)

    where = {"store": folder / "store", "out": tmp_path, "workers": 1, "device": "cpu"}
    with pytest.raises(KeyboardInterrupt):
        study(replace(once, measure=breaks), **where)
    assert not (tmp_path / "study.json").exists()
    study(once, **where)
    assert seeds == [0, 1]


def test_figures_are_whole_files(done):
    folder, _, _ = done
    svg = (folder / "out" / "toy-digits.svg").read_text()
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme:dark" in svg
    assert (folder / "out" / "toy-digits.png").read_bytes()[:4] == b"\x89PNG"


def test_what_a_user_gets_wrong_is_said_before_anything_is_trained(tmp_path):
    with pytest.raises(UnknownNameError, match="cwrf-ablation"):
        study("cwrf-ablatoin")
    with pytest.raises(UnknownNameError, match="tiny"):
        study(STUDY, scale="tinny")
    with pytest.raises(UnknownNameError, match="digits"):
        study(STUDY, settings=["digit"])
    with pytest.raises(InputError, match="at least 1, got 0"):
        study(STUDY, seeds=0)


def test_a_store_that_cannot_be_used_is_refused_before_a_report_is_set_aside(tmp_path):
    (tmp_path / "store").write_text("a file")
    (tmp_path / "study.json").write_text('{"schema": "reticent.study/1"}')
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreError, match="store cannot be written"):
        study(STUDY, store=tmp_path / "store", out=tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_all_data_are_loaded_before_anything_is_trained(tmp_path):
    first = STUDY.scales["tiny"].settings[0]
    missing = Setting("gone", "gone", BASE | {"dataset": str(tmp_path / "gone.npz")})
    broken, seeds = counted(replace(STUDY, scales={"tiny": Scale((first, missing), 1, "")}))
    with pytest.raises(MissingFileError, match=r"gone\.npz"):
        study(broken, store=tmp_path / "store", out=tmp_path / "out")
    assert seeds == []


def test_one_setting_may_be_run_alone(done, tmp_path):
    folder, _, _ = done
    first = STUDY.scales["tiny"].settings[0]
    two = replace(STUDY, scales={"tiny": Scale((replace(first, key="other"), first), 1, "")})
    result = study(two, settings=["digits"], store=folder / "store", out=tmp_path, workers=1, device="cpu")
    assert [table["setting"] for table in result.document["tables"]] == ["digits"]


def test_a_table_of_ones_own_takes_the_place_of_the_scales(tmp_path, monkeypatch):
    """Its records alone are other, in a folder and under names of its own; it settles nothing of the paper's."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 5)).round(3), np.arange(90) % 3
    columns = [*x.T.tolist(), np.roll(y, 1).tolist(), y.tolist()]
    lines = [",".join(map(str, line)) for line in zip(*columns, strict=True)]
    (tmp_path / "My table.csv").write_text("\n".join(["a,b,c,d,e,person,outcome", *lines]))
    monkeypatch.chdir(tmp_path)
    setting = replace(STUDY.scales["tiny"].settings[0], base=BASE | {"reference": 40})
    scales = {"tiny": Scale((replace(setting, network="CNN"), setting), 1, "Seconds.")}
    toy = replace(STUDY, scales=scales, claims=STUDY.claims[2:])
    done = study(toy, dataset="My table.csv", label="outcome", not_features="person", workers=1, device="cpu")
    assert done.files[0].parent.resolve() == tmp_path / "reticent-study" / "toy-tiny-my-table"
    (one,) = done.document["settings"]
    assert (one["key"], one["label"]) == ("my-table", "MLP on My table.csv")
    assert one["facts"] | {"reference": 18, "records": 72, "records in the data set": 90, "epochs": 4} == one["facts"]
    assert {claim["reason"] for claim in done.document["claims"]} == {"setting"}
    (kept,) = (tmp_path / "reticent-study" / "toy-tiny-my-table" / "parts").glob("*.json")
    assert kept.name.startswith("my-table-0-")
    same = study(toy, dataset=(x, y), store=tmp_path / "reticent-store", workers=1, device="cpu")
    assert same.document["settings"][0]["key"] == "own-data"
    first, second = (one.document["tables"][0]["rows"][0]["values"] for one in (done, same))
    assert first["accuracy"] == second["accuracy"]


def test_a_table_of_ones_own_is_refused_where_it_has_no_place(tmp_path):
    where = {"store": tmp_path / "store", "out": tmp_path / "out", "device": "cpu"}
    with pytest.raises(InputError, match=r"cwrf-defenses \(tiny, small\), .*; got cwrf-entanglement at scale tiny"):
        study("cwrf-entanglement", dataset="digits", **where)
    with pytest.raises(InputError, match="got cwrf-defenses at scale gpu"):
        study("cwrf-defenses", scale="gpu", dataset="digits", **where)
    with pytest.raises(InputError, match=r"expected a table, .* got records of kind image"):
        study(STUDY, dataset=(np.zeros((6, 4, 4), np.uint8), [0, 1] * 3), **where)
    with pytest.raises(InputError, match="label: says how a table of your own is read, and no dataset is given"):
        study(STUDY, label="y", **where)
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_tables_and_verdicts(done, tmp_path, monkeypatch, capfd):
    from reticent.cli import app
    from reticent.cli.run import guarded

    folder, _, _ = done
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setitem(runner.STUDIES, "toy", STUDY)
    line = f"study toy --store {folder / 'store'} --out {folder / 'out'} --seeds 2 --workers 1 --device cpu"
    assert guarded(app, line.split()) == 0
    out = capfd.readouterr().out
    assert "✓ reproduced: Longer is more accurate." in out
    assert "? can't tell: Longer costs money." in out
    assert "This scale does not measure it." in out
    assert "Row" not in out  # tables are the page's
    assert "Claims of the paper, judged by 95 % intervals" in " ".join(out.split())
    assert "paper" in out
    assert "study.html" in out
    assert guarded(app, ["study"]) == 0
    assert "cwrf-entanglement" in capfd.readouterr().out
    assert guarded(app, ["study", "tox"]) == 2
    assert "toy" in capfd.readouterr().err


def test_a_data_folder_that_is_not_there_is_refused_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (STUDY, "cwrf-ablation", "pptp-disparity"):
        with pytest.raises(MissingFileError, match=r"data_dir: no folder 'nowhere' \(looked in .*\): expected"):
            study(name, data_dir="nowhere", device="none", out="out")
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_two_classes_has_levels_of_relaxloss_below_log_2():
    small = own_table.table(STUDIES["cwrf-defenses"], "small")
    given = own_table.read((np.zeros((40, 3)), [0, 1] * 20), None, None)
    assert max(given.setting(small).options["levels"]) < np.log(2)
    many = own_table.read((np.zeros((90, 3)), [*range(30)] * 3), None, None)
    assert many.setting(small).options == small.options
