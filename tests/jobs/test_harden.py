"""A model made outside of reticent is repaired and audited: real numbers, exact weights, refusals before training."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file, save_file
from torch import nn

import reticent
from reticent.auditing.roc import auc
from reticent.cli import app
from reticent.cli.harden import _options
from reticent.cli.run import guarded
from reticent.errors import InputError, ModelError, RolesError, SpecError, UnknownNameError
from reticent.findings.audit import Leak, Reason
from reticent.findings.blind import Known
from reticent.findings.comparison import Lower, Relation
from reticent.findings.gate import Doubt as GateDoubt
from reticent.findings.gate import Outcome
from reticent.findings.harden import Doubt, HardenDocument, Note, RecordsNote
from reticent.findings.numbers import Area, Statistic
from reticent.jobs.hardening.before_after import doubt
from reticent.jobs.hardening.roles import Asked, gathered
from reticent.jobs.read_audit import read_document
from reticent.objectives import OBJECTIVES
from reticent.report import estimates
from reticent.report.kinds.harden import harden as kind
from reticent.report.render.html import html
from reticent.report.render.terminal import terminal
from reticent.say import harden as say
from reticent.say.harden_checks import EARLY
from reticent.store import Store

pytestmark = pytest.mark.slow

MARK = "†"
"""Stands behind a share of members found that equal scores decide."""

FACTORY = """
from torch import nn

def make():
    return nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 3))

def wide():
    return nn.Sequential(nn.Linear(6, 30), nn.ReLU(), nn.Linear(30, 24), nn.ReLU(), nn.Linear(24, 3))
"""
RECIPE = {"models": 4, "epochs": 12, "batch_size": 20, "optimizer": "adam", "learning_rate": 0.01, "workers": 1}
QUICK = {**RECIPE, "attacks": ["lira", "loss"], "replicates": 100}
CWRF = {"rate": 0.05, "scoring_steps": 5}


def network(state):
    """Build the user's module and load a state, strictly."""
    with torch.random.fork_rng(devices=[]):
        built = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 3))
    built.load_state_dict(state, strict=True)
    return built


def noise(start, count):
    """Records whose labels are chance, so that all that is known of a label is that it was learned by heart."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(400, 6)).astype(np.float32), rng.integers(0, 3, 400)
    return x[start : start + count], y[start : start + count]


def trained(folder):
    """Train as a plain script would, and save the states and the records."""
    (folder / "mine_net.py").write_text(FACTORY)
    x, y = noise(0, 60)
    scope = {}
    exec(FACTORY, scope)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model = scope["make"]()
        save_file(dict(model.state_dict()), folder / "initial.safetensors")
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(60):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(torch.from_numpy(x)), torch.from_numpy(y)).backward()
            optimizer.step()
    save_file(dict(model.state_dict()), folder / "model.safetensors")
    torch.save(model.state_dict(), folder / "model.pt")
    for name, start in (("members", 0), ("test", 60), ("reference", 120)):
        features, labels = noise(start, 60)
        np.savez(folder / f"{name}.npz", x=features, y=labels)
    return model


GIVEN = {"members": "members.npz", "non_members": "test.npz", "reference": "reference.npz"}


def asked(**changes):
    given = {"model": "mine_net:make", "weights": "model.safetensors", **GIVEN, **QUICK, **changes}
    return {key: value for key, value in given.items() if value is not None}


def run(**changes):
    values = asked(**changes)
    return reticent.harden(values.pop("model"), values.pop("weights"), **values)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a trained model, and its repair by CWRF; the working directory of this module's tests."""
    folder, before = tmp_path_factory.mktemp("outside"), Path.cwd()
    path = list(sys.path)
    os.chdir(folder)
    model = trained(folder)
    stages = []
    found = run(objective="relaxloss", options=CWRF, initial="initial.safetensors", out="one", stage=stages.append)
    yield folder, model, found, stages
    os.chdir(before)
    sys.path[:] = path
    for name in [n for n in sys.modules if n.startswith("mine")]:
        del sys.modules[name]


def test_a_model_that_may_have_learned_nothing_is_told_of_before_anything_is_trained(place):
    x, y = noise(0, 60)
    commonest = np.bincount(y).max() / 60

    class Enough(Exception):
        pass

    def stop(stage):
        raise Enough

    scope = {}
    exec(FACTORY, scope)

    def right(seed):
        torch.manual_seed(seed)
        model = scope["make"]()
        return (model(torch.from_numpy(x)).argmax(1).numpy() == y).mean(), model.state_dict()

    with torch.random.fork_rng(devices=[]):
        share, state = next(found for found in map(right, range(200)) if commonest < found[0] < commonest + 0.1)
    notes = []
    with pytest.raises(Enough):
        run(weights=dict(state), objective="relaxloss", options=CWRF, out="fresh", stage=stop, note=notes.append)
    said, unsure = notes
    assert said.startswith(f"The given model labels {100 * share:.1f} % of its 60 training records correctly")
    assert "it may have learned nothing" in said
    assert "shows no sign of having been trained on these members" in unsure


def test_that_so_few_non_members_settle_nothing_is_told_before_anything_is_trained(place):
    x, y = noise(60, 5)
    np.savez(place[0] / "few.npz", x=x, y=y)

    class Enough(Exception):
        pass

    def stop(stage):
        raise Enough

    notes = []
    with pytest.raises(Enough):
        run(non_members="few.npz", objective="relaxloss", options=CWRF, out="few", stage=stop, note=notes.append)
    few = "no interval over 60 members and 5 non-members can be relied on. At least 20 of each are needed."
    assert f"What is found will not be judged: {few}" in notes
    assert not any("no sign" in note for note in notes)


def test_the_repaired_weights_load_and_hold_what_was_set_back(place):
    folder, model, found, _ = place
    loaded = network(load_file(folder / "one" / "repaired.safetensors"))
    assert all(torch.equal(value, found.state[name]) for name, value in loaded.state_dict().items())
    initial, given = load_file(folder / "initial.safetensors"), model.state_dict()
    run_of = Store(Path("reticent-store")).find(found.document["repair"]["run"])
    mask = {k.removeprefix("mask/"): v for k, v in load_file(run_of.file("artefacts.safetensors")).items()}
    weights = sum(value.numel() for value in given.values())
    marked = {name: mask[f"{name}"] for name in given}
    assert sum(int(value.sum()) for value in marked.values()) == round(0.05 * weights)
    assert all(torch.equal(found.state[n][m], initial[n][m]) for n, m in marked.items()), "bit for bit"
    moved = torch.cat([(found.state[n] != given[n])[~m] for n, m in marked.items()])
    assert moved.float().mean() > 0.9


def test_weights_that_were_given_are_never_written_over(place):
    folder = place[0]
    (folder / "kept").mkdir()
    given = folder / "kept" / "repaired.safetensors"
    given.write_bytes((folder / "model.safetensors").read_bytes())
    before = given.read_bytes()
    with pytest.raises(InputError, match=r"kept/repaired\.safetensors would be written over, and this"):
        run(weights="kept/repaired.safetensors", out="kept", initial="initial.safetensors", options=CWRF)
    assert given.read_bytes() == before
    assert list((folder / "kept").iterdir()) == [given]


def test_the_numbers_are_those_of_the_two_models(place):
    _, model, found, _ = place
    x, y = (torch.from_numpy(part) for part in noise(0, 120))
    inside = np.arange(120) < 60
    for side, one in (("before", model), ("after", network(found.state))):
        with torch.no_grad():
            logits = one(x).double()
        right = (logits.argmax(dim=1) == y).numpy()
        told = found.document[side]
        assert told["accuracy"]["members"]["value"] == pytest.approx(right[inside].mean())
        assert told["accuracy"]["non_members"]["value"] == pytest.approx(right[~inside].mean())
        loss = nn.functional.cross_entropy(logits, y, reduction="none").numpy()
        attack = next(one for one in told["attacks"] if one["name"] == "loss")
        assert attack["overall"]["auc"]["mean"] == pytest.approx(float(auc(-loss, inside)), abs=1e-3)
        assert len(attack["targets"]) == 1
        assert (attack["targets"][0]["members"], attack["targets"][0]["non_members"]) == (60, 60)
    assert found.document["before"]["accuracy"]["members"]["value"] > 0.9, "it learned its members by heart"
    assert next(a for a in found.document["before"]["attacks"] if a["name"] == "lira")["overall"]["auc"]["mean"] > 0.6


def test_references_learn_plainly_before_and_by_the_whole_pipeline_after(place):
    _, _, found, stages = place
    assert stages[0] == "repairing the model"
    assert [s for s in stages if "references" in s] == [
        "references after the repair (population 1 of 2): training",
        "references before the repair (population 2 of 2): training",
    ]
    store = Store(Path("reticent-store"))
    procedures = {}
    for side in ("before", "after"):
        runs = found.document[side]["references"]["runs"]
        specs = [json.loads(store.find(run).file("spec.json").read_text()) for run in runs]
        procedures[side] = {spec["recipe"]["procedure"]["method"] for spec in specs}
        assert len({spec["members"] for spec in specs}) == 4, "each has its own half"
        assert len({spec["reference"] for spec in specs}) == 1, "and the same reference records"
    assert procedures == {"before": {"plain"}, "after": {"cwrf"}}
    masks = [
        load_file(store.find(run).file("artefacts.safetensors"))["mask/0.weight"]
        for run in found.document["after"]["references"]["runs"]
    ]
    assert not torch.equal(masks[0], masks[1]), "each has its own mask"


@pytest.mark.usefixtures("place")
def test_no_time_is_left_for_references_that_are_made_on_the_way_to_others(tmp_path):
    far = []
    given = {"options": CWRF, "initial": "initial.safetensors", "store": tmp_path / "s", "out": tmp_path / "o"}
    run(**given, models=2, epochs=2, max_accuracy_loss=1, progress=far.append)
    assert [(one.done, one.asking, one.left) for one in far[2:4]] == [(2, False, 0.0), (0, True, 0.0)]


def test_the_same_call_trains_nothing_again(place):
    _, _, found, _ = place
    again = run(objective="relaxloss", options=CWRF, initial="initial.safetensors", out="two")
    environment = again.document["environment"]
    assert (environment["models_found"], environment["repair_found"]) == (8, True)
    same = [{k: v for k, v in one.document.items() if k != "environment"} for one in (found, again)]
    assert same[0] == same[1]
    assert json.loads(again.files[2].read_text()) == again.document
    assert all(torch.equal(value, again.state[name]) for name, value in found.state.items())


def test_three_lines_of_python_with_arrays_are_the_same_repair(place):
    _, model, found, _ = place
    initial = load_file("initial.safetensors")
    again = reticent.harden(
        "mine_net:make",
        dict(model.state_dict()),
        members=noise(0, 60),
        non_members=noise(60, 60),
        reference=noise(120, 60),
        method="cwrf:rate=0.05,scoring_steps=5",
        objective="relaxloss",
        initial=initial,
        out="three",
        **QUICK,
    )
    assert again.document["environment"]["models_found"] == 8
    assert again.document["repair"]["run"] == found.document["repair"]["run"]
    assert again.sentence == found.sentence


def test_a_repair_is_gated_by_its_repaired_model(place):
    found = place[2]
    assert read_document(found.files[0].parent) == found.document
    told, side = found.findings.with_(doubt=None), found.findings.after
    told = told.with_(after=side.with_(references=side.references.with_(health=())))
    highest = max(one.auc.interval[1] for one in side.attacks)
    of_auc, of_accuracy = reticent.gate(told.to_json(), max_auc=1.0, min_accuracy=0.5).checks
    assert of_auc.bound >= highest
    assert (of_accuracy.estimate, of_accuracy.bound) == pytest.approx((
        side.accuracy.non_members.value,
        side.accuracy.non_members.interval[0],
    ))
    moved = told.with_(blind=told.blind.with_(shift=True))
    (doubted,) = reticent.gate(moved.to_json(), max_auc=1.0, allow=["few-models", "weak-attacks"]).checks
    assert (doubted.outcome, doubted.reason) == (Outcome.CANNOT_JUDGE, GateDoubt.RECORDS_DIFFER)
    with pytest.raises(InputError, match=r"nothing is judged \(few-records\)"):
        reticent.gate(told.with_(doubt="few-records").to_json(), max_auc=1.0)


def test_the_page_and_the_terminal_say_both_sides(place):
    _, _, found, _ = place
    page = html(kind(found.findings))
    assert page == (found.files[0]).read_text()
    assert HardenDocument.read(found.document).difference == found.findings.difference
    assert page.count('<svg class="chart"') == 2
    assert found.sentence.split(":")[0] in page
    text = printed(found.findings)
    for side in ("before", "after"):
        row = next(row for row in found.document["difference"]["rows"] if row["name"] == side)
        assert f"{row['auc']['mean']:.3f}" in text
    assert "One model was repaired" in text


def test_the_page_and_the_terminal_mark_what_equal_scores_decide(place):
    found = place[2].findings
    assert MARK not in html(kind(found))
    before, after = found.difference.rows
    after = after.with_(tpr=after.tpr.with_(tied=True))
    found = found.with_(difference=found.difference.with_(rows=(before, after)))
    for text in (html(kind(found)), printed(found)):
        assert text.count(MARK) >= 2
        assert estimates.TIES in " ".join(text.split())


def printed(found):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(terminal(kind(found)))
    return console.export_text()


def test_the_mark_is_explained_under_the_table_that_has_it(place):
    found = place[2].findings
    rate = found.after.attacks[0].rate(found.difference.fpr)
    marked = [one.with_(tpr=one.tpr.with_(tied=True)) if one is rate else one for one in found.after.attacks[0].rates]
    first = found.after.attacks[0]
    first = first.with_(overall=first.overall.with_(tpr_at_fpr=tuple(marked)))
    found = found.with_(after=found.after.with_(attacks=(first, *found.after.attacks[1:])))
    top, bottom = html(kind(found)).split('id="attacks"')
    assert estimates.TIES not in top
    assert bottom.count(estimates.TIES) == 1


def test_the_page_says_why_epsilon_is_below_that_of_an_attack_alone(place):
    def bounded(lower, attacks):
        sides = {
            name: side.with_(epsilon=side.epsilon.with_(lower=lower), attacks=side.attacks[:attacks])
            for name, side in place[2].findings.sides
        }
        return place[2].findings.with_(**sides)

    assert say.chosen(bounded(0.5, 2)).startswith("Epsilon is lowered for the choice among 2 attacks; the bounds in")
    assert say.chosen(bounded(0.5, 2)) in html(kind(bounded(0.5, 2)))
    assert say.chosen(bounded(0.0, 2)) == say.chosen(bounded(0.5, 1)) == ""


@pytest.mark.usefixtures("place")
def test_what_is_left_out_is_told_plainly():
    # No initial state, no non-members; references unlike the model; a .pt file; another method.
    found = run(
        weights="model.pt", non_members=None, method="pptp:stage=2", objective="relaxloss", options={"level": 0.5},
        epochs=2, out="four",
    )  # fmt: skip
    document = found.document
    assert document["model"]["initial"] == "fresh draw"
    assert (document["data"]["non_members"], document["data"]["reference"]) == (60, 0)
    said = "\n".join(document["cannot_say"])
    assert "fresh draw" in said
    assert "all of them serve for the audit. So a method that needs them otherwise is audited on other records" in said
    assert "percentage points less accurate on members than the model" in said
    assert document["repair"]["facts"]["pptp"]["chosen"] == "given"
    assert "fresh draw in its place" in html(kind(found.findings))


@pytest.mark.usefixtures("place")
def test_members_as_rows_of_one_data_set_for_which_the_authors_give_options(monkeypatch):
    relaxloss = replace(OBJECTIVES["relaxloss"], published={"all.npz": {"level": 0.25}})
    monkeypatch.setitem(OBJECTIVES, "relaxloss", relaxloss)
    x, y = noise(0, 180)
    np.savez("all.npz", x=x, y=y)
    Path("rows.txt").write_text("\n".join(map(str, range(60))))
    given = {"members": "rows.txt", "non_members": None, "reference": None, "dataset": "all.npz"}
    given |= {"objective": "relaxloss", "initial": "initial.safetensors", "options": CWRF}
    document = run(**given, epochs=2, out="five").document
    assert document["repair"]["recipe"]["objective"]["level"] == 0.25
    assert (document["data"]["members"], document["data"]["non_members"], document["data"]["reference"]) == (60, 60, 60)
    said = "\n".join(document["cannot_say"])
    assert "Every row of the data set that is no member is taken for a non-member." in said


def records(**changes):
    asked_for = {"members": noise(0, 30), "others": noise(60, 20), "reference": noise(120, 20)} | changes
    return Asked(**asked_for)


def test_one_set_for_two_roles_is_halved_with_its_duplicates_together():
    x, y = noise(60, 40)
    x[1::2] = x[::2]
    found = gathered(records(others=None, reference=(x, y)), 0, needed=True)
    ids = np.concatenate([found.others, found.reference])
    assert sorted(ids) == list(range(30, 70))
    assert (len(found.others), len(found.reference)) == (20, 20)
    assert not set(found.records.groups[found.others]) & set(found.records.groups[found.reference])
    assert found.notes == (RecordsNote(note=Note.HALVED, given="reference", count=40),)
    other = gathered(records(others=None, reference=(x, y)), 1, needed=True)
    assert other.others.tolist() != found.others.tolist()
    assert len(gathered(records(reference=None), 0, needed=True).others) == 10
    assert len(gathered(records(reference=None), 0, needed=False).others) == 20


@pytest.mark.parametrize(
    ("changes", "words_of"),
    [
        ({"reference": noise(0, 20)}, "reference: 20 of 20 records stand among the members too .record 0 of the ref"),
        ({"others": noise(29, 5)}, "non-members: 1 of 5 records .* record 29 of the members"),
        ({"others": noise(125, 5)}, "reference: 5 of 20 records stand among the non-members too"),
        ({"members": noise(0, 1)}, "members: expected at least 2 records, got 1"),
        ({"reference": noise(120, 1)}, "reference: expected at least 2 records, got 1"),
    ],
)
def test_no_record_has_two_roles(changes, words_of):
    with pytest.raises(RolesError, match=words_of):
        gathered(records(**changes), 0, needed=True)


def judged_as(found, /, **verdicts):
    """The same repair with other verdicts of its tests, and with an own interval that holds zero."""
    pairs = tuple(
        one.with_(verdict=Lower(verdicts.get(one.statistic, one.verdict)), interval=(-0.1, 0.2))
        for one in found.difference.pairs
    )
    return found.with_(difference=found.difference.with_(pairs=pairs))


def test_every_difference_is_after_minus_before(place):
    found = place[2].findings
    assert {(one.first, one.second) for one in found.difference.pairs} == {("after", "before")}
    change = found.difference.change(Statistic.TPR)
    assert change.turned().mcnemar == change.mcnemar.turned()
    accuracy = found.difference.change(Statistic.ACCURACY)
    right = [side.accuracy.non_members.value for _, side in found.sides]
    assert accuracy.difference == pytest.approx(right[1] - right[0])
    assert "changes are after minus before" in html(kind(found))


def test_a_tie_whose_own_interval_leaves_out_zero_is_explained(place):
    found = judged_as(place[2].findings, auc="tie", tpr="tie", accuracy="tie")
    assert say.alone(found) == ""
    first, *others = found.difference.pairs
    pairs = (first.with_(interval=(0.01, 0.2)), *others)
    told = say.alone(found.with_(difference=found.difference.with_(pairs=pairs)))
    assert told.startswith("Each interval is of its own line alone. 3 changes are tested together")


@pytest.mark.parametrize(
    ("auc_verdict", "tpr_verdict", "relation"),
    [
        ("first lower", "first lower", "less"),
        ("first lower", "tie", "less"),
        ("tie", "second lower", "more"),
        ("tie", "tie", "tie"),
        ("second lower", "first lower", "mixed"),
    ],
)
def test_who_leaks_less_is_decided_by_the_tests_alone(place, auc_verdict, tpr_verdict, relation):
    # A pair is of after and before, in this order; accuracy has no part in it.
    found = judged_as(place[2].findings, auc=auc_verdict, tpr=tpr_verdict, accuracy="second lower")
    word = found.difference.relation
    assert word == Relation(relation)
    assert say.spoken(found).sentence.startswith(say.LEADS[word])
    other = "same" if auc_verdict == tpr_verdict != "tie" else "opposite" if word == "mixed" else "no difference"
    assert any(
        line.startswith(f"The other measure shows {'the ' * (' ' not in other)}{other}: ")
        for line in say.spoken(found).detail
    )
    quoted = say.spoken(found).sentence.partition(":")[2]
    # One measure, each number with the attack that it is of.
    assert ("AUC" in quoted) == (tpr_verdict == "tie" != auc_verdict)
    for row in found.difference.rows:
        assert (row.auc_attack if "AUC" in quoted else row.attack) in quoted


def test_a_model_without_a_sign_of_its_members_is_told_by_what_attacks_find(place):
    found = judged_as(place[2].findings, auc="second lower", tpr="second lower", accuracy="tie")
    model = found.model.with_(no_sign=Area(value=0.54, interval=(0.49, 0.59)))
    after = found.after.with_(verdict=found.after.verdict.with_(leak=Leak.FOUND))
    found = found.with_(model=model, after=after, blind=None, doubt=None)
    for leak, lead, left in (
        (Leak.FOUND, "The repaired model leaks more: ", "A leak is still found in the repaired model."),
        (
            Leak.NOT_FOUND,
            "The given model shows no sign of these members, and ",
            "A leak is found in the repaired model.",
        ),
    ):
        before = found.before.with_(verdict=found.before.verdict.with_(leak=leak))
        said = say.spoken(found.with_(before=before))
        assert said.sentence.startswith(lead)
        assert left in said.sentence
        assert any("Check that these are its members" in line for line in said.detail) == (leak is not Leak.FOUND)
        assert not any(EARLY in line for line in said.detail)


def test_accuracy_that_was_paid_is_told(place):
    for verdict, told in (("first lower", True), ("tie", False), ("second lower", False)):
        found = judged_as(place[2].findings, auc="first lower", tpr="first lower", accuracy=verdict)
        before, after = (side.with_(verdict=side.verdict.with_(leak=Leak.FOUND)) for _, side in found.sides)
        said = say.spoken(found.with_(before=before, after=after, blind=None, doubt=None))
        assert "A leak is still found in the repaired model. Accuracy" in said.sentence
        assert any("stopping the training early" in line for line in said.detail) == told


@pytest.mark.usefixtures("place")
def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(monkeypatch, tmp_path):
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    with pytest.raises(reticent.ReticentError, match="a folder that cannot be written to: choose a folder"):
        run(initial="initial.safetensors", store=tmp_path / "s", out=tmp_path / "o")
    assert not list(tmp_path.glob("s/runs/*"))


@pytest.mark.usefixtures("place")
def test_a_network_that_fails_while_it_is_repaired_is_told_in_one_sentence(tmp_path):
    """Such as batch normalisation over batches of one record."""
    more = (
        FACTORY + "\n\nclass Picky(nn.Sequential):\n    def forward(self, x):\n        assert not self.training, 'no'\n"
    )
    more += "        return super().forward(x)\n\ndef picky():\n    return Picky(*make())\n"
    Path("picky_net.py").write_text(more)
    with pytest.raises(ModelError, match=r"the repair: AssertionError: no \(in forward, .*picky_net"):
        run(model="picky_net:picky", initial="initial.safetensors", store=tmp_path / "s", out=tmp_path / "o")


@pytest.mark.parametrize(
    ("members", "others", "shift", "leaks", "reason", "words"),
    [
        (20, 20, False, False, None, ""),
        (19, 500, False, True, Doubt.FEW_RECORDS, "no interval over 19 members and 500 non-members"),
        (500, 2, False, True, Doubt.FEW_RECORDS, "At least 20 of each are needed"),
        (500, 500, True, True, None, "Only what an attack that compares models finds beyond that counts as leak"),
        (500, 500, True, False, Doubt.RECORDS_DIFFER, "prepared alike"),
    ],
)
def test_nothing_is_judged_of_few_records_or_of_other_ones(place, members, others, shift, leaks, reason, words):
    why = doubt(members, others, leaks=leaks, shift=shift)
    assert why == reason
    found = judged_as(place[2].findings, auc="first lower", tpr="first lower", accuracy="tie")
    after = found.after.with_(verdict=found.after.verdict.with_(leak=Leak.FOUND))
    data = found.data.with_(members=members, non_members=others)
    known = place[2].findings.blind.with_(shift=shift, sentence="Members and non-members differ without the model.")
    before = found.before.with_(verdict=found.before.verdict.with_(leak=Leak.FOUND))
    found = say.spoken(found.with_(before=before, after=after, data=data, blind=known, doubt=why))
    lead = "Nothing is judged: at 1" if reason else "The repaired model leaks less: at 1"
    assert found.sentence.startswith(lead)
    assert any(words in line for line in found.detail)
    assert ("A leak is still found in the repaired model." in found.sentence) == (reason is None)
    assert any(line.startswith("Members and non-members differ without the model") for line in found.detail) == shift


@pytest.mark.parametrize(
    ("changes", "error", "words_of"),
    [
        ({"method": "relaxloss"}, SpecError, "method: expected one of cwrf, imp, pptp, prune, .* got 'relaxloss'"),
        ({"method": "dpsgd"}, SpecError, "method: expected one of cwrf, imp, pptp, prune"),
        ({"objective": "temperature"}, SpecError, "temperature changes what a model answers"),
        ({"objective": "relaxlos"}, UnknownNameError, "did you mean 'relaxloss'"),
        ({"options": {"rat": 0.1}}, SpecError, "unknown option 'rat'.*did you mean 'rate'"),
        ({"options": {"rate": 2.0}}, SpecError, "rate: expected less than or equal to 1"),
        ({"model": "mine_net:wide"}, ModelError, "weights of model.safetensors: expected a state of .*: 3 have"),
        ({"model": nn.Linear(6, 3)}, SpecError, "a function that builds the network is expected .*, got a Linear"),
        ({"rate": 0.1}, SpecError, r"rate: is an option of a defense: give it as options=\{'rate': 0.1\}"),
        ({"model": "mine_net:nothing"}, InputError, "nothing"),
        ({"weights": "none.safetensors"}, reticent.ReticentError, "no file 'none.safetensors'"),
        ({"weights": "objects.pt"}, reticent.ReticentError, r"objects\.pt: holds Python objects \(pathlib"),
        ({"weights": "nan.safetensors"}, ModelError, "the weights of nan.safetensors: 0.weight: expected finite"),
        ({"weights": "initial.safetensors"}, InputError, "the initial state is the same as the weights"),
        ({"initial": "none.pt"}, reticent.ReticentError, "no file 'none.pt'"),
        ({"members": "test.npz", "non_members": "members.npz"}, InputError, "of its members correctly, .* a model"),
        ({"reference": "members.npz"}, RolesError, "reference: 60 of 60 records stand among the members too"),
        ({"non_members": None, "reference": None}, InputError, "give --non-members, --reference, or both"),
        ({"members": "holes.npz"}, InputError, "members: x: .*6 NaN or infinite of 360, the first is nan of record 7,"),
        ({"members": "narrow.npz", "non_members": None, "reference": "narrow2.npz"}, ModelError, "asked about the"),
        ({"model": "cnn"}, InputError, "architecture 'cnn' takes image records, got tabular"),
        ({"model": "mlp", "members": "cube.npz", "non_members": "cube2.npz", "reference": None}, InputError, "images"),
        ({"members": (noise(0, 9)[0], [1] * 9), "non_members": (noise(60, 9)[0], [1] * 9), "reference": None},
         InputError, "expected at least 2 classes, got 1"),
        ({"members": noise(0, 3), "non_members": noise(60, 3), "models": 8}, InputError, "at least 20 records"),
        ({"models": 1}, SpecError, "models: expected greater than or equal to 2"),
        ({"attacks": ["rmia"], "attack": {"rmia": {"population": "held-out"}}}, InputError,
         "expected records that no model was trained on"),
        ({"attacks": ["selena-replica"]}, reticent.ReticentError, "selena"),
        ({"recipe__patience": 3}, SpecError, "patience: there are no validation records here"),
        ({"architecture": "mlp"}, SpecError, "architecture: the model is given by itself"),
        ({"defense": "hamp"}, SpecError, "defense: means nothing to reticent harden"),
        ({"also_non_adaptive": True}, SpecError, "also_non_adaptive: means nothing"),
        ({"epohcs": 3}, SpecError, "unknown key 'epohcs': did you mean 'epochs'"),
        ({"mean": (0.5,)}, InputError, "expected mean and std, which belong together"),
        ({"mean": ("a",)}, SpecError, r"mean: expected finite numbers, one a channel.* got \('a',\)"),
        ({"mean": 0.5, "std": [[0.2], [0.1, 0.2]]}, SpecError, "std: expected finite numbers, one a channel"),
        ({"mean": (0.5,), "std": (0.2,)}, InputError, "mean: expected none, since the records are no pictures"),
        ({"method": "pptp:rewind=3"}, SpecError, "the state after 3 epochs is not known"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("place")
def test_what_is_wrong_is_one_sentence_before_training(changes, error, words_of, tmp_path):
    x, y = noise(0, 60)
    np.savez("holes.npz", x=np.where(np.arange(60)[:, None] == 7, np.nan, x), y=y)
    np.savez("narrow.npz", x=x[:, :5], y=y)
    np.savez("narrow2.npz", x=noise(60, 60)[0][:, :5], y=y)
    rng = np.random.default_rng(0)
    for name in ("cube", "cube2"):
        np.savez(f"{name}.npz", x=rng.normal(size=(60, 4, 4)), y=y)
    state = load_file("model.safetensors")
    save_file(state | {"0.weight": torch.full_like(state["0.weight"], torch.nan)}, "nan.safetensors")
    torch.save({"a": Path("x")}, "objects.pt")
    given = {"initial": "initial.safetensors", "store": tmp_path} | changes
    with pytest.raises(error, match=words_of) as caught:
        run(**given)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.parametrize(
    ("line", "words_of"),
    [
        ("", "requires an argument"),
        ("--weights nothing.pt", "no file 'nothing.pt'"),
        ("--rat 0.1", "unknown option 'rat'"),
        ("--epohcs 3", "unknown flag --epohcs: did you mean 'epochs'"),
        ("--initial-seed 3 --initial initial.safetensors", "leave one out"),
        ("--mean 0.1;0.2", "--mean: expected numbers with commas"),
    ],
)
@pytest.mark.usefixtures("place")
def test_the_command_refuses_with_one_line_and_exit_2(line, words_of, capfd):
    usual = "--model mine_net:make --members members.npz --reference reference.npz --models 4"
    weights = "" if "--weights" in line else "--weights model.safetensors"
    words_given = ["harden"] if not line else ["harden", *usual.split(), *weights.split(), *line.split()]
    assert guarded(app, words_given) == 2
    error = " ".join(capfd.readouterr().err.split())
    assert "Traceback" not in error
    assert words_of in error


def test_members_that_differ_by_themselves_are_told_of(place, tmp_path):
    """The non-members are moved aside in one feature; the model learned the same members as before."""
    moved = np.load("test.npz")
    np.savez("moved.npz", x=moved["x"] + np.float32([1.5, 0, 0, 0, 0, 0]), y=moved["y"])
    found = run(non_members="moved.npz", initial="initial.safetensors", options=CWRF, out=tmp_path / "o").findings
    assert found.blind.shift
    assert found.blind.by is Known.REFERENCES
    assert found.blind.auc > 0.75
    assert not place[2].findings.blind.shift
    assert (found.before.epsilon, found.after.epsilon) == (None, None)
    for side in (found.before, found.after):
        assert all(one.excess.blind_auc == found.blind.auc for one in side.attacks)
        assert side.verdict.reason in {Reason.SHIFT, Reason.MORE_THAN_SHIFT}
    assert (found.doubt is Doubt.RECORDS_DIFFER) == (found.before.verdict.leak is not Leak.FOUND)
    assert found.detail[0].startswith("Members and non-members differ without the model")
    page = html(kind(found))
    assert "loss, before" in page
    assert "Epsilon, at least" not in page


@pytest.mark.parametrize(("accuracy", "told"), [(0.60, False), (0.72, True), (0.69, False), (0.48, True)])
def test_references_are_called_unlike_the_model_only_beyond_chance_and_five_points(place, accuracy, told):
    # The model is right on 60 % of 100 non-members, whose standard error is 4.9 points.
    found = place[2].findings.to_json()
    share = {"interval": [0.0, 1.0]}
    found["before"] |= {"accuracy": {"members": share | {"value": 1.0}, "non_members": share | {"value": 0.6}}}
    spread = {"members": {"mean": 0.99, "std": 0.0}, "non_members": {"mean": accuracy, "std": 0.0}}
    found["before"] |= {"references": found["before"]["references"] | {"accuracy": spread}}
    found |= {"data": found["data"] | {"members": 100, "non_members": 100}}
    found = HardenDocument.read(found)
    said = say._accuracies(found.before, "before", found.data)
    assert bool(said) == told
    assert all(f"{'more' if accuracy > 0.6 else 'less'} accurate on non-members than the model" in one for one in said)


def test_a_flag_that_is_an_option_is_no_slip_of_another_flag():
    assert _options({"unlearning": "0.3", "tuning-epochs": "5"}, "cwrf+relaxloss") == {
        "unlearning": 0.3,
        "tuning_epochs": 5,
    }
    assert _options({"seeds": "3"}, "pptp") == {"seeds": 3}
    with pytest.raises(SpecError, match="unknown flag --seeds: did you mean 'seed'"):
        _options({"seeds": "3"}, "cwrf")


@pytest.mark.slow
def test_a_plain_script_from_any_folder_and_the_command(tmp_path):
    script = Path(__file__).with_name("plain_script.py")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}

    def python(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment, check=False,
        )  # fmt: skip

    assert python(str(script), ".", "60", "200").returncode == 0
    line = (
        "-m reticent harden --model my_net:build --weights model.safetensors --members members.npz --non-members "
        "test.npz --reference reference.npz --method cwrf --objective relaxloss --rate 0.01 --initial "
        "initial.safetensors --models 8 --epochs 30 --batch-size 32 --optimizer adam --learning-rate 0.002 --workers 1 "
        "--out repaired"
    )
    done = python(*line.split())
    assert done.returncode == 0, done.stderr
    assert "Accuracy, non-members" in done.stdout
    document = json.loads((tmp_path / "repaired" / "harden.json").read_text())
    assert document["schema"] == "reticent.harden/1"
    before, after = (
        max(one["overall"]["auc"]["mean"] for one in document[side]["attacks"]) for side in ("before", "after")
    )
    assert before > 0.65, "a fifth of the labels is noise, which the model knows by heart"
    assert after != before
    check = "import torch, my_net; from safetensors.torch import load_file; net = my_net.build(); "
    check += "net.load_state_dict(load_file('repaired/repaired.safetensors'), strict=True); print('loaded')"
    assert python("-c", check).stdout.strip() == "loaded"


@pytest.mark.parametrize(("facts", "told"), [({}, True), ({"mean": [0.0], "std": [1.0]}, False)])
def test_what_pictures_are_normalised_by_is_told_where_it_was_not_said(facts, told):
    """A network that took pixels from 0 to 1 answers otherwise to (x - 0.5) / 0.25, and nothing else shows it."""
    rng = np.random.default_rng(0)
    parts = [(rng.integers(0, 256, (30, 4, 4), dtype=np.uint8), np.arange(30) % 3) for _ in range(3)]
    assert (RecordsNote(note=Note.SCALE_ASSUMED) in gathered(Asked(*parts, **facts), 0, needed=True).notes) == told
