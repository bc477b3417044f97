"""``reticent runs``: what it lists, shows, verifies and removes; what it never touches."""

import json
import os
import shutil
import sys
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from reticent.errors import InputError
from reticent.jobs.runs import age, check, find, scan
from reticent.say.grammar import middle_out
from reticent.say.runs import recipe, size
from reticent.store import Store
from reticent.store.locks import process

SMALL = "--records 60 --models 4 --epochs 1 --workers 1 --attack lira --set replicates=100"


def name(number):
    return f"{number:020x}"


def words(text):
    return " ".join(text.split())


def training(store, number, model=0, seed=0, epochs=5, data="mine.csv"):
    recipe = {
        "architecture": {"method": "mlp", "widths": [8]},
        "objective": {"method": "cross-entropy"},
        "procedure": {"method": "plain"},
        "augmentation": "none",
        "epochs": epochs,
        "optimizer": "adam",
        "learning_rate": 0.01,
        "weight_decay": 0.0,
    }
    with store.claim(name(number)) as draft:
        draft.write_arrays("weights.safetensors", {"w": np.full(3, number, np.float32)})
        draft.write_arrays("roles.safetensors", {"members": np.arange(3)})
        spec = {"kind": "training", "model": model, "members": str(number), "recipe": recipe, "data": "d" * 20}
        draft.write_json("spec.json", spec | {"seed": seed})
        facts = {"kind": "training", "model": model, "finished": f"2026-01-0{1 + model}T00:00:00+00:00"}
        draft.facts = facts | ({"data": data} if data else {})


def signals(store, number, of, model=0):
    with store.claim(name(number)) as draft:
        draft.write_arrays("signals.safetensors", {"margins": np.zeros((3, 1), np.float32)})
        draft.write_arrays("roles.safetensors", {"audited": np.arange(3)})
        draft.write_json("spec.json", {"kind": "signals", "of": name(of)})
        draft.facts = {"kind": "signals", "of": name(of), "model": model}


@pytest.fixture
def store(tmp_path):
    """Two models of one recipe with their signals, and one model of another."""
    made = Store(tmp_path / "reticent-store").open()
    for model in (0, 1):
        training(made, 0x10 + model, model)
        signals(made, 0x20 + model, 0x10 + model, model)
    training(made, 0x30, 0, seed=7, epochs=9)
    return made


def folders(store):
    return sorted(path.name for path in (store.root / "runs").iterdir())


def damage(store, number, file="weights.safetensors"):
    path = store.root / "runs" / name(number) / file
    path.write_bytes(path.read_bytes()[:-1] + b"\x07")


def test_long_names_that_begin_alike_are_told_apart():
    told = [middle_out(f"/data/{'x' * 80}/{name}.csv") for name in ("left", "right")]
    assert [len(one) for one in told] == [60, 60]
    assert [one.endswith(f"x/{name}.csv") for one, name in zip(told, ("left", "right"), strict=True)] == [True, True]
    assert middle_out("a" * 60) == "a" * 60


def test_models_of_a_users_function_are_called_by_it():
    made = {"architecture": {"method": "mlp"}, "epochs": 40, "optimizer": "adam", "learning_rate": 0.001}
    assert recipe({"recipe": made | {"procedure": {"method": "function", "function": "my:fit"}}}) == "my:fit"


def test_list_groups_the_models_of_one_recipe(command, store):
    code, out, _ = command("runs list")
    assert code == 0
    lines = [words(line) for line in out.splitlines() if line.strip()]
    assert lines[0] == "data recipe seed models signals size when state"
    assert any(line.startswith("mine.csv mlp, 5 epochs, adam 0.01 0 2 2 ") for line in lines)
    assert any(line.startswith("mine.csv mlp, 9 epochs, adam 0.01 7 1 0 ") for line in lines)
    total = sum(path.stat().st_size for path in (store.root / "runs").rglob("*") if path.is_file())
    assert lines[-1] == f"5 runs (3 models, 2 signals of models), {size(total)} in reticent-store"


def test_answers_to_further_questions_are_counted(command, store):
    with store.claim(name(0x40)) as draft:
        draft.write_json("spec.json", {"kind": "probe", "of": name(0x10)})
        draft.facts = {"kind": "probe", "of": name(0x10), "model": 0}
    told = command("runs list")[1].splitlines()[-1]
    assert told.startswith("6 runs (3 models, 2 signals of models, 1 of answers to further questions), ")


def test_list_all_has_a_line_a_run(command, store):
    _, out, _ = command("runs list --all")
    lines = {line.split()[0]: words(line) for line in out.splitlines() if line.startswith("0000")}
    assert sorted(lines) == folders(store)
    assert lines[name(0x11)].startswith(f"{name(0x11)} training 1 ")
    assert lines[name(0x11)].endswith("2026-01-02 00:00 finished")


def test_list_as_json(command, store):
    (store.root / "runs" / "notes.txt").write_text("x")
    code, out, _ = command("runs list --json")
    tree = json.loads(out)
    assert (code, tree["foreign"], len(tree["runs"])) == (0, ["notes.txt"], 5)
    assert {(group["models"], group["signals"], group["seed"]) for group in tree["groups"]} == {(2, 2, 0), (1, 0, 7)}
    assert tree["bytes"] == sum(run["bytes"] for run in tree["runs"]) == sum(group["bytes"] for group in tree["groups"])
    run = next(run for run in tree["runs"] if run["id"] == name(0x20))
    assert (run["kind"], run["of"], run["state"], run["problem"]) == ("signals", name(0x10), "finished", None)


def test_an_empty_store_and_none(command, tmp_path):
    Store(tmp_path / "reticent-store").open()
    assert command("runs list")[:2] == (0, "0 runs, 0 B in reticent-store\n")
    (tmp_path / "plain").mkdir()
    for verb in ("list", "verify", "show abc", "rm --all"):
        code, _, err = command(f"runs {verb} --store nowhere")
        assert code == 2
        assert "the store 'nowhere' does not exist: give --store DIR" in err
        assert not (tmp_path / "nowhere").exists()
        assert "is not a store (it has no folder runs/)" in command(f"runs {verb} --store plain")[2]
        code, _, err = command(f"runs {verb} --store s3://bucket/path")
        assert code == 2
        assert "is for folders: list the runs of an object store with its own tools" in " ".join(err.split())
    assert list((tmp_path / "plain").iterdir()) == []


def test_states_are_told(command, store):
    runs = store.root / "runs"
    (runs / name(0x40)).mkdir()
    (runs / f"{name(0x41)}.partial").mkdir()
    (runs / f"{name(0x42)}.removing").mkdir()
    (runs / name(0x10) / "weights.safetensors").unlink()
    (runs / name(0x11) / "done.json").write_text("{")
    (runs / name(0x20) / "spec.json").write_text("[NaN")
    (runs / "notes").mkdir()
    (runs / name(0x43)).symlink_to(runs / name(0x30))
    with store.claim(name(0x50)):
        _, out, _ = command("runs list --all")
        text = words(out)
        assert f"{name(0x50)}.partial unknown – 0 B" in text
        assert f"in use (by {process()})" in text
        _, grouped, _ = command("runs list")
        assert "1 in use" in words(grouped)
    assert "unfinished (it has no done.json)" in text
    assert "unfinished (its process ended before it was finished)" in text
    assert "unfinished (its removal was interrupted)" in text
    assert "corrupt (weights.safetensors missing)" in text
    assert "corrupt (done.json cannot be read: Expecting property name" in text
    assert "corrupt (spec.json cannot be read: Expecting" in text
    assert "3 corrupt, which will not be used: reticent runs rm --corrupt" in text
    assert "3 unfinished, left by a process that ended: reticent runs rm --unfinished" in text
    assert f"not made by reticent, and left alone: {name(0x43)}, notes" in text


def test_signals_of_a_removed_model_are_told(command, store):
    shutil.rmtree(store.root / "runs" / name(0x10))
    assert "– answers of models that were removed – 0 1 " in words(command("runs list")[1])


def test_signals_of_a_corrupt_model_are_not_called_signals_of_a_removed_one(command, store):
    (store.root / "runs" / name(0x10) / "spec.json").write_text("[NaN")
    told = words(command("runs list")[1])
    assert "– answers of models that are corrupt – 0 1 " in told
    assert "removed" not in told


def test_data_of_old_runs_are_named_by_hash(command, store):
    training(store, 0x60, seed=9, data=None)
    assert "dddddddd mlp, 5 epochs, adam 0.01 9 1 0 " in words(command("runs list")[1])


def test_show_says_what_a_run_was_made_from(command, store):
    code, out, _ = command(f"runs show {name(0x11)}")
    assert code == 0
    text = words(out)
    assert "kind: training" in text
    assert "recipe.architecture.method: mlp" in text
    assert f"asked in: {name(0x21)}" in text
    digest = store.find(name(0x11)).files["weights.safetensors"]
    assert f"sha256 {digest}" in text
    assert "done.json" in text
    tree = json.loads(command(f"runs show {name(0x11)} --json")[1])
    assert (tree["spec"]["recipe"]["epochs"], tree["signals"], tree["model"]) == (5, [name(0x21)], 1)


def test_a_beginning_is_enough_if_it_is_one_runs(command, store):
    training(store, 0xABC << 68, seed=3)
    assert "seed: 3" in command("runs show abc")[1]
    code, _, err = command("runs show 000")
    assert code == 2
    assert f"'000' begins the names of 5 runs, give more of it: {name(0x10)}, {name(0x11)}" in err
    assert "no run of reticent-store has a name that begins with 'fff'" in command("runs show fff")[2]
    assert command("runs show", "")[0] == 2


def test_verify_names_what_changed(command, store):
    code, out, _ = command("runs verify")
    assert (code, words(out).endswith("every hash holds.")) == (0, True)
    assert words(out).startswith("5 runs, 15 files, ")
    damage(store, 0x11)
    (store.root / "runs" / name(0x21) / "spec.json").unlink()
    code, out, _ = command("runs verify")
    assert code == 1
    assert f"{name(0x11)}: weights.safetensors is not what was written" in out
    assert f"{name(0x21)}: spec.json is missing" in out
    assert "2 of 5 runs corrupt; they will not be used. To remove them: reticent runs rm --corrupt" in words(out)
    assert command(f"runs verify {name(0x10)} {name(0x30)}")[0] == 0
    assert command(f"runs verify {name(0x11)}")[0] == 1


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"spec.json": "0"}, "done.json cannot be read: it is not what was written"),
        ({"../x": "0"}, "done.json cannot be read: it lists '../x', which is no file of the run"),
        (None, "done.json cannot be read: it lacks the files, or the facts"),
    ],
)
def test_verify_reads_done_json_with_suspicion(store, files, problem):
    path = store.root / "runs" / name(0x10) / "done.json"
    done = json.loads(path.read_text())
    path.write_text(json.dumps(done | {"files": files if files is None else done["files"] | files}))
    found = scan(store.root)
    assert problem in check(found, find(found, name(0x10))).corrupt


def test_a_run_of_an_earlier_version_is_told_as_such(store):
    path = store.root / "runs" / name(0x10) / "done.json"
    done = json.loads(path.read_text())
    path.write_text(json.dumps({key: done[key] for key in ("files", "facts")}))
    found = scan(store.root)
    told = check(found, find(found, name(0x10))).corrupt
    assert told == ("done.json cannot be read: it lacks its own hash, as those of earlier versions do",)


def test_rm_takes_the_signals_with_the_model(command, store):
    before = sum(entry.bytes for entry in scan(store.root).runs if entry.id in {name(0x10), name(0x20)})
    code, out, _ = command(f"runs rm {name(0x10)} --yes")
    assert code == 0
    assert "One of these holds what a model that is removed was asked, and goes with it." in words(out)
    assert f"Removed 2 runs, {size(before)}." in words(out)
    assert folders(store) == [name(0x11), name(0x21), name(0x30)]
    assert command(f"runs rm {name(0x21)} --yes")[0] == 0
    assert folders(store) == [name(0x11), name(0x30)]


def test_rm_asks(command, store, monkeypatch):
    code, _, err = command("runs rm --all")
    assert (code, "give --yes" in err) == (2, True)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    for answer, code in (("n", 1), ("", 1), ("Y", 0)):
        assert len(folders(store)) == 5
        monkeypatch.setattr("rich.console.Console.input", lambda *_, _answer=answer, **__: _answer)
        assert command("runs rm --all")[0] == code
    assert folders(store) == []
    assert words(command("runs rm --all")[1]) == "There is nothing to remove."


def test_rm_keeps_what_a_live_process_holds(command, store):
    with store.claim(name(0x10)):
        code, _, err = command(f"runs rm {name(0x10)} --yes")
        assert code == 2
        assert f"run {name(0x10)} is in use by {process()}, which is alive: nothing was removed" in err
        code, out, _ = command("runs rm --all --yes")
        assert code == 1
        assert f"{name(0x10)} is kept: {process()} is using it, and is alive." in words(out)
        # The draft of the live process, the run, and its signals, which are not of a removed model.
        assert folders(store) == [name(0x10), f"{name(0x10)}.partial"]
    with store.claim(name(0x20)):  # signals being made: their model stays too
        assert command(f"runs rm {name(0x10)} --yes")[0] == 0


def test_signals_in_use_keep_their_model(command, store):
    with store.claim(name(0x20)):
        code, _, err = command(f"runs rm {name(0x10)} --yes")
    assert (code, "in use by process" in err) == (2, True)
    assert len(folders(store)) == 5


def test_rm_unfinished_takes_what_a_killed_process_left_and_no_more(command, store):
    runs = store.root / "runs"
    for left in (name(0x40), f"{name(0x10)}.partial", f"{name(0x41)}.removing"):
        (runs / left).mkdir()
        (runs / left / "half").write_bytes(b"x")
    (runs / "notes").mkdir()
    (store.root / "locks" / f"{name(0x10)}.owner").write_text("process 1")
    with store.claim(name(0x50)) as draft:
        draft.write_json("spec.json", {})
        code, out, _ = command("runs rm --unfinished --yes")
        assert (code, f"is kept: {process()} is using it" in words(out)) == (1, True)
        assert f"{name(0x50)}.partial" in folders(store)
    assert folders(store) == [name(0x10), name(0x11), name(0x20), name(0x21), name(0x30), name(0x50), "notes"]
    assert store.find(name(0x10)) is not None
    code, out, _ = command("runs rm --unfinished --yes")
    assert (code, words(out)) == (0, "There is nothing to remove.")


def test_rm_corrupt_computes_every_hash(command, store):
    damage(store, 0x10)
    damage(store, 0x21, "signals.safetensors")
    assert command("runs rm --corrupt --yes")[0] == 0
    assert folders(store) == [name(0x11), name(0x30)]


def test_rm_older_than_goes_by_the_time_of_finishing(command, store):
    recent = store.root / "runs" / name(0x21) / "done.json"
    for number in (0x20, 0x21):
        os.utime(store.root / "runs" / name(number), (time.time() - 3600 * 30,) * 2)
    assert recent.exists()
    with store.claim(name(0x70)) as draft:
        draft.write_json("spec.json", {})
        draft.facts = {"kind": "training", "finished": "2999-01-01T00:00:00"}
    command("runs rm --older-than 2d --yes")
    assert folders(store) == [name(0x70)]


def test_older_than_leaves_what_is_younger(command, store):
    os.utime(store.root / "runs" / name(0x20), (time.time() - 3600 * 30,) * 2)
    shutil.rmtree(store.root / "runs" / name(0x10))
    shutil.rmtree(store.root / "runs" / name(0x11))
    shutil.rmtree(store.root / "runs" / name(0x30))
    command("runs rm --older-than 29h --yes")
    assert folders(store) == [name(0x21)]


@pytest.mark.parametrize(
    ("text", "time"), [("30d", timedelta(days=30)), ("12h", timedelta(hours=12)), ("2w", timedelta(14))]
)
def test_ages(text, time):
    assert age(text) == time


@pytest.mark.parametrize("text", ["", "30", "d", "3x", "-1d", "1.5d", "999999d"])
def test_what_is_no_age(text):
    with pytest.raises(InputError, match="such as 30d"):
        age(text)


@pytest.mark.parametrize("flags", ["", "--all --corrupt", "abc --all", "--older-than 3d --unfinished"])
def test_rm_wants_one_way_to_choose(command, store, flags):
    code, _, err = command(f"runs rm {flags} --yes")
    assert (code, "expected one of: names of runs" in err) == (2, True)
    assert len(folders(store)) == 5


def test_rm_never_leaves_the_store(command, store, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    runs = store.root / "runs"
    (runs / name(0x99)).symlink_to(outside)
    (runs / f"{name(0x98)}.partial").symlink_to(outside)
    (runs / name(0x10) / "link").symlink_to(outside)
    (runs / "mine").mkdir()
    for prefix in ("../outside", "mine", name(0x99), "/", "."):
        assert command("runs rm --yes", prefix)[0] == 2
    assert command("runs rm --all --yes")[0] == 0
    assert folders(store) == [f"{name(0x98)}.partial", name(0x99), "mine"]
    assert (outside / "precious").read_text() == "x"
    assert sorted(path.name for path in store.root.iterdir()) == ["locks", "runs"]


def test_hostile_names_are_shown_as_they_are(command, store):
    training(store, 0x61, seed=5, data="[red]<b>\N{PILE OF POO}\x1b[31m\u202e\n[/red]")
    assert "[red]<b>\N{PILE OF POO} [31m [/red]" in words(command("runs list")[1])
    assert "\x1b" not in command(f"runs show {name(0x61)}")[1]
    (store.root / "runs" / "[bold]x").mkdir()
    assert "left alone: [bold]x" in words(command("runs list")[1])


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_449, "99.4 kB"), (340_000, "340 kB"), (10**6, "1.0 MB"),
     (999_600, "1.0 MB"), (1_234_000_000, "1.2 GB"), (5 * 10**15, "5000 TB")],
)  # fmt: skip
def test_sizes(count, text):
    assert size(count) == text


@pytest.mark.slow
def test_a_corrupt_run_is_named_never_used_and_made_again(command, tmp_path, caplog):
    assert command(f"audit {SMALL}")[0] == 0
    runs = tmp_path / "reticent-store" / "runs"
    entries = scan(tmp_path / "reticent-store").runs
    seen = {entry.model: entry for entry in entries if entry.kind == "signals"}
    trained = {entry.model: entry for entry in entries if entry.kind == "training"}
    first = json.loads(Path("reticent-audit/audit.json").read_text())
    kept = {path.name: path.stat().st_mtime_ns for path in runs.iterdir()}
    for folder, file in ((seen[1].folder, "signals.safetensors"), (trained[2].folder, "weights.safetensors")):
        content = (runs / folder / file).read_bytes()
        (runs / folder / file).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    code, _, err = command(f"audit {SMALL}")
    assert code == 0, err
    told = f"run {seen[1].id}: signals.safetensors is not what was written: it is not used, and made anew"
    assert [one.getMessage() for one in caplog.records] == [told]  # of model 2 only the signals are used
    assert f"{trained[2].id}: weights.safetensors is not what was written" in command("runs verify")[1]
    assert command("runs rm --corrupt --yes")[0] == 0
    code, _, err = command(f"audit {SMALL}")
    assert code == 0, err
    changed = {path.name for path in runs.iterdir() if kept.get(path.name) != path.stat().st_mtime_ns}
    assert changed == {seen[1].id, seen[2].id, trained[2].id}
    again = json.loads(Path("reticent-audit/audit.json").read_text())
    assert again["environment"]["models_found"] == 3  # model 1 was asked again, and model 2 trained again
    assert again["attacks"] == first["attacks"]
    assert command("runs verify")[0] == 0
    assert "digits" in command("runs list")[1]
