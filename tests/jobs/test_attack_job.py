"""Outputs of any framework, attacked and audited without training."""

import doctest
import json
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import reticent
from reticent.attacks import ATTACKS, needs_models
from reticent.errors import CorruptFileError, InputError, SpecError, StoreError, TooFewReferencesError, UnknownNameError
from reticent.jobs import document
from reticent.jobs.attack import run as attack_outputs
from reticent.jobs.attacks import build_attacks
from reticent.jobs.config import chosen, prepare
from reticent.jobs.document import renamed, unlearned
from reticent.jobs.score_files import check_scores, save_scores
from reticent.jobs.signals_file import read_signals
from reticent.options import AttackConfig
from reticent.population.stored_signals import signals
from reticent.population.train import train
from reticent.report.kinds.audit import audit as kind
from reticent.report.render.terminal import terminal
from reticent.say.next_steps import after
from reticent.signals.correctness import reordered
from reticent.signals.matrix import margin
from reticent.store import Store

MODELS, RECORDS, CLASSES = 8, 120, 3


@pytest.fixture(scope="module")
def brought():
    """Eight models whose margins are one higher on members."""
    rng = np.random.default_rng(0)
    membership = rng.permuted(np.tile([True, False], (RECORDS, MODELS // 2)), axis=1).T
    labels = np.arange(RECORDS) % CLASSES
    logits = rng.normal(size=(MODELS, RECORDS, CLASSES))
    logits[:, np.arange(RECORDS), labels] += 1 + membership
    return {"logits": logits, "labels": labels, "membership": membership}


def run(arrays, **values):
    return reticent.attack(**arrays, **{"replicates": 100} | values)


def margins_of(brought):
    margins = np.stack([margin(row, brought["labels"]) for row in brought["logits"]])
    return {"margins": margins, "labels": brought["labels"], "membership": brought["membership"]}


def naive_auc(scores, members):
    inside, outside = scores[members], scores[~members]
    return np.mean([(a > outside).mean() + (a == outside).mean() / 2 for a in inside])


def test_a_model_that_was_brought_twice_is_refused(brought):
    twice = {name: np.concatenate([brought[name], brought[name][2:3]]) for name in ("logits", "membership")}
    with pytest.raises(InputError, match=f"model {MODELS} has the answers and the membership of model 2"):
        run(brought | twice)


def test_what_a_model_knows_of_other_records_shows_that_it_learned():
    of_members = (0, 0.70, 0.567, 100)  # Naming one class gives 56.7 %, and chance up to 71.6 % of 100 records.
    assert unlearned(*of_members) is not None
    assert unlearned(*of_members, (0.55, 100)) is not None
    assert unlearned(*of_members, (0.69, 100)) is None  # 69.5 % of 200, where chance gives up to 67.2 %.
    assert unlearned(0, 0.99, 0.567, 100, (0.40, 100)) is None
    assert unlearned(0, 1.0, 0.75, 12) is None  # Though chance gives up to 100 %.
    assert unlearned(0, 0.83, 0.75, 12) is not None


def test_the_records_that_a_model_was_not_trained_on_are_those_that_there_are():
    facts = SimpleNamespace(members=100, accuracy_members=0.70, accuracy_non_members=0.69, largest_class_share=0.567)
    made = [SimpleNamespace(model=0, facts=facts)]
    assert document.health(made, 200) == ()
    assert [one.model for one in document.health(made, 125)] == [0]  # 69.8 % of 125, where chance gives up to 70.1 %.


def test_models_that_learned_nothing_exclude_no_leak(brought):
    rng = np.random.default_rng(1)
    silent = brought | {"logits": 1e-3 * rng.normal(size=brought["logits"].shape)}
    found = run(silent)
    document = found.document
    assert len(document["population"]["health"]) == MODELS
    assert "always naming the commonest class gives" in document["population"]["health"][0]["problem"]
    assert document["verdict"]["leak"] != "not found"
    assert any("did not learn" in line for line in document["verdict"]["cannot_say"])
    assert run(brought).document["population"]["health"] == []


def test_answers_whose_classes_stand_in_another_order_are_refused_with_the_order(brought):
    certain = brought["logits"] + 3 * np.eye(CLASSES)[brought["labels"]]
    turned = brought | {"logits": np.roll(certain, 1, axis=2)}
    told = r"labels: model 0 labels 0\.0 % of its .* 100.0 % would be right if class 0 is called 2, class 1 is called 0"
    with pytest.raises(InputError, match=told):
        run(turned)
    swapped = brought | {"logits": certain[:, :, [1, 0, 2]]}  # A third of the records is still right.
    with pytest.raises(InputError, match="would be right if class 0 is called 1, class 1 is called 0"):
        run(swapped)
    backwards = brought | {"logits": -brought["logits"]}  # No order of the classes makes these right.
    sick = run(backwards, attacks=["loss"]).document
    assert "(scikit-learn's columns follow classes_)" in "".join(sick["verdict"]["cannot_say"])


@pytest.mark.parametrize("other", [False, True])
def test_records_that_are_brought_again_are_audited_once(brought, other):
    twice = {"logits": np.tile(brought["logits"], (1, 2, 1)), "labels": np.tile(brought["labels"], 2)}
    twice["membership"] = np.concatenate([brought["membership"], brought["membership"] ^ other], axis=1)
    done, once = run(twice), run(brought)
    assert np.array_equal(np.sort(done.ids % RECORDS), np.arange(RECORDS))
    told = done.document["population"]
    assert told.get("contradicted") == (1.0 if other else None)
    assert told["notices"][-1].startswith("120 of 240 records were left out of every attack (")
    assert not any("in every digit" in one for one in told["notices"])
    assert ("of members and non-members have a copy" in "".join(told["notices"])) is other
    assert "notices" not in once.document["population"]


def test_copies_that_other_models_hold_are_told(brought):
    twice = {"logits": np.tile(brought["logits"], (1, 2, 1)), "labels": np.tile(brought["labels"], 2)}
    told = run(brought | twice | {"membership": np.roll(np.tile(brought["membership"], 2), 1, axis=0)}).ids
    assert np.array_equal(np.sort(told % RECORDS), np.arange(RECORDS))
    moved = np.concatenate([brought["membership"], np.roll(brought["membership"], 1, axis=0)], axis=1)
    done = run(brought | twice | {"membership": moved}, attacks="loss")
    again = 2 * RECORDS - len(done.ids)
    assert 0 < again < RECORDS // 4  # Whose row is the same, or the other, when it is moved.
    (found,) = (one for one in done.document["population"]["notices"] if "in every digit" in one)
    assert found.startswith(f"{RECORDS - again} records have the label and the answers of another one")


def test_copies_of_which_the_first_are_members_show_no_leak():
    """Records that are easy, and there several times, stand among the members and the others of one model alike."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        kind = rng.integers(0, 150, 1000)
        easy, labels = kind < 50, rng.integers(0, 10, 150)[kind]
        kind = np.where(easy, kind, np.arange(1000) + 150)
        logits = rng.normal(size=(1150, 10))[kind]
        logits[np.arange(1000), labels] += np.where(easy, 4.0, 1.0)
        members = np.arange(1000) < 500
        done = run({"labels": labels, "membership": members[None]}, logits=logits[None], attacks="loss")
        assert len(done.ids) == 50 + np.count_nonzero(~easy)
        found.append(done.document["verdict"]["auc"])
    assert np.mean(found) == pytest.approx(0.5, abs=4 * np.std(found) / 6**0.5)


def test_copies_with_the_other_membership_exclude_no_leak():
    once = independent(6, 0.5, 0, records=3000)
    twice = {
        "margins": np.tile(once["margins"], 2),
        "labels": np.tile(once["labels"], 2),
        "membership": np.concatenate([once["membership"], np.roll(once["membership"], 1, axis=0)], axis=1),
    }
    found = run(twice, attacks="lira").document
    assert found["population"]["contradicted"] > 0.4
    assert (found["verdict"]["leak"], found["verdict"]["reason"]) == ("cannot tell", "copies")
    assert "an exact copy with the other membership" in found["verdict"]["detail"]
    clean = run(once, attacks="lira").document
    assert "contradicted" not in clean["population"]
    assert clean["verdict"]["leak"] == "not found"


@pytest.mark.parametrize("models", [3, 12])
def test_copies_of_leaking_records_are_told_before_the_size_of_the_audit(models):
    """Every record is a member and a non-member of each model: more models never tell."""
    once = independent(models, 0.5, 0, records=300, gain=6.0)
    twice = {name: np.concatenate([once[name]] * 2, axis=-1) for name in ("margins", "labels")}
    twice["membership"] = np.concatenate([once["membership"], ~once["membership"]], axis=1)
    done = run(twice, attacks="loss")
    said = done.findings.verdict
    assert (said.leak, said.reason) == ("cannot tell", "copies")
    assert "Whether there is a leak: leave the copies of records out, and audit again." in said.cannot_say
    assert after(done.findings) == (("Leave out all but one copy of each record, and audit again", ""),)
    assert run(once, attacks="loss").findings.verdict.leak == "found"


def test_copies_contradict_each_other_where_targets_are_audited(brought):
    twice = {name: np.concatenate([brought[name]] * 2, axis=-1) for name in ("labels", "membership")}
    twice |= {"logits": np.concatenate([brought["logits"]] * 2, axis=1), "targets": [2]}
    twice["membership"][0, :RECORDS] ^= True  # A reference's.
    assert "contradicted" not in run(twice, attacks="loss").document["population"]
    twice["membership"][2, : RECORDS // 4] ^= True
    assert run(twice, attacks="loss").document["population"]["contradicted"] == 1 / 4
    assert len(run(twice, attacks="loss").ids) == 2 * RECORDS


def test_answers_of_few_numbers_are_no_copies(brought):
    rng = np.random.default_rng(0)
    even, skewed = rng.normal(size=(6, 600)), rng.normal(size=(6, 600))
    skewed[:, :400] = 5 + rng.choice(3, size=(6, 400), p=(0.6, 0.3, 0.1))  # Two thirds are easy for every model.
    for margins in (np.round(even, 1), np.round(skewed, 3)):
        few = {"margins": margins, "labels": np.arange(600) % 3}
        few["membership"] = np.tile(brought["membership"][:6], (1, 5))
        assert "contradicted" not in run(few, attacks="loss").document["population"]


def test_one_label_where_answers_know_more_is_told(brought):
    told = run(brought | {"labels": np.zeros_like(brought["labels"])}, attacks="loss").document
    assert any(one.startswith("All records have one label (0)") for one in told["population"]["notices"])


def test_other_names_of_classes_are_found_on_other_records_than_they_are_judged_on():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 50, 300)
    called, accuracy, usual = reordered((labels + 7) % 50, labels)
    assert called[7] == 0
    assert (accuracy, usual) == (1, 0)
    assert renamed(labels, labels) == ""
    assert renamed(rng.integers(0, 50, 300), labels) == ""
    assert renamed(rng.permutation(100), np.arange(100)) == ""  # Of one record a class any order would fit.


def test_margins_tell_that_models_learned_or_nothing(brought):
    far = margins_of(brought)
    assert run(far | {"margins": far["margins"] + 3}).document["population"]["health"] == []
    unknown = run(far | {"margins": far["margins"] - 9}).document
    assert unknown["population"]["health"] is None
    assert unknown["verdict"]["leak"] != "not found"
    assert any(line.startswith("Whether the models learned") for line in unknown["verdict"]["cannot_say"])


def test_logits_allow_the_strongest_attacks(brought):
    done = run(brought)
    assert list(done.scores) == ["loss", "lira", "rmia", "bavaria", "learned"]
    for attack in done.document["attacks"]:
        scores = done.scores[attack["name"]]
        assert scores.shape == (MODELS, RECORDS)
        naive = np.mean([naive_auc(row, members) for row, members in zip(scores, brought["membership"], strict=True)])
        assert attack["overall"]["auc"]["mean"] == pytest.approx(naive, abs=1e-12)
    assert done.document["recipe"] is None
    assert done.document["data"]["records"] == RECORDS
    assert done.document["population"]["references"] == MODELS
    accuracy = (brought["logits"].argmax(axis=2) == brought["labels"])[brought["membership"]].mean()
    assert done.document["population"]["accuracy"]["members"]["mean"] == pytest.approx(accuracy, abs=0.02)


def test_records_have_the_privacy_risk_score_of_the_models_that_were_trained_on_them(brought):
    asked = run(brought, attacks="risk-score")
    risks = np.ma.masked_where(~brought["membership"], asked.scores["risk-score"]).mean(axis=0)
    for done in (asked, run(brought, attacks="loss")):
        assert {row["record"]: row["risk_score"] for row in done.rows} == pytest.approx(dict(enumerate(risks)))
    assert {row["risk_score"] for row in run(margins_of(brought), attacks="loss").rows} == {None}
    assert {row["risk_score"] for row in run(brought, targets=[0], references=[1], attacks="loss").rows} == {None}


def test_margins_allow_the_attacks_that_need_no_more(brought):
    done = run(margins_of(brought))
    assert list(done.scores) == ["loss", "lira", "rmia", "bavaria", "learned"]
    same = run(brought, attacks=["loss", "lira", "bavaria"])
    for name, scores in same.scores.items():
        assert np.allclose(done.scores[name], scores, atol=1e-12)
    with pytest.raises(InputError, match="entropy"):
        run(margins_of(brought), attacks=["entropy"])


def test_one_logit_a_record_is_that_of_class_one(brought):
    z = brought["logits"][:, :, 0]
    binary = {"labels": brought["labels"] % 2, "membership": brought["membership"]}
    one = run(binary, logits=z)
    two = run(binary, logits=np.stack([np.zeros_like(z), z], axis=2))
    assert one.document["data"]["classes"] == 2
    assert all(np.array_equal(one.scores[name], scores) for name, scores in two.scores.items())
    signed = np.where(binary["labels"] == 1, z, -z)
    assert np.allclose(one.scores["loss"], run(binary, margins=signed).scores["loss"], atol=1e-12)


def test_targets_and_references_are_those_that_are_named(brought):
    done = run(brought, attacks=["lira"], targets=[6, 1], references=[0, 2, 3, 4, 5, 7])
    assert done.targets.tolist() == [6, 1]
    assert [row["model"] for row in done.document["attacks"][0]["targets"]] == [6, 1]
    population = done.document["population"]
    each = [population["per_model"][model]["accuracy_non_members"] for model in (6, 1)]
    assert population["accuracy_of_targets"]["non_members"]["mean"] == pytest.approx(np.mean(each))
    outside = ~brought["membership"][[6, 1]]
    shares = (outside / outside.sum(axis=1, keepdims=True)).mean(axis=0)
    assert population["accuracy_of_targets"]["independent"] == pytest.approx(1 / (shares**2).sum())
    changed = brought["logits"].copy()
    changed[6] = 0
    again = run(brought | {"logits": changed}, attacks=["lira"], targets=[6, 1], references=[0, 2, 3, 4, 5, 7])
    assert np.array_equal(again.scores["lira"][1], done.scores["lira"][1])
    assert not np.array_equal(again.scores["lira"][0], done.scores["lira"][0])
    with pytest.raises(TooFewReferencesError, match="lira"):
        run(brought, attacks=["lira"], references=[0])


def test_records_of_different_probability_of_training_are_told(brought):
    assert "shares" not in run(brought, attacks=["loss"]).document["population"]
    uneven = np.random.default_rng(0).random(brought["membership"].shape) < np.where(np.arange(RECORDS) % 2, 0.2, 0.8)
    found = run(brought | {"membership": uneven}, attacks=["loss"]).document
    shares = uneven.mean(axis=0)
    shares = shares[(shares > 0) & (shares < 1)]
    assert found["population"]["shares"] == [shares.min(), shares.max()]
    assert found["data"]["roles"] == {"audited": len(shares)}
    assert "it differs between records" in found["verdict"]["cannot_say"][0]
    assert found["control"]["detectable"] is None
    easy = 6 * (0.5 - uneven.mean(axis=0))[:, None] * np.eye(CLASSES)[brought["labels"]]
    answers = np.random.default_rng(0).normal(easy, size=(MODELS, *easy.shape))
    hard = run(brought | {"membership": uneven, "logits": answers}).findings  # Members are the harder ones.
    assert all(one.accuracy_members < one.accuracy_non_members - 0.2 for one in hard.population.per_model)
    assert not hard.verdict.exchanged
    fair = np.random.default_rng(0).random(brought["membership"].shape) < 0.5
    assert "shares" not in run(brought | {"membership": fair}, attacks=["loss"]).document["population"]


def test_a_single_target_takes_its_threshold_from_references(brought):
    def transferred(**rows):
        return run(brought, attacks=["loss"], targets=[0], **rows).document["attacks"][0]["overall"][
            "balanced_accuracy"
        ]["transferred"]

    assert transferred()["mean"] > 0.55
    assert transferred()["std"] is None
    assert transferred(references=[0]) is None
    assert transferred(references=[]) is None


def test_the_example_of_the_docstring_holds():
    (example,) = [test for test in doctest.DocTestFinder().find(reticent.attack, "attack") if test.examples]
    result = doctest.DocTestRunner().run(example)
    assert (result.attempted, result.failed) == (len(example.examples), 0)
    assert result.attempted == 7


def test_outputs_of_an_audit_give_its_scores(tmp_path):
    values = {"records": 120, "models": 6, "epochs": 3, "workers": 1, "store": tmp_path / "s", "out": tmp_path / "o"}
    audited = reticent.audit(**values, replicates=100)
    job, store = prepare(chosen(None, values)), Store(tmp_path / "s")
    seen, _ = signals(job.population, store, train(job.population, store))
    arrays = {"labels": seen.labels, "membership": audited.membership}
    by_logits = run(arrays, logits=seen.logits[slice(None), slice(None)])
    assert list(by_logits.scores) == list(audited.scores)
    by_formula = {name: scores for name, scores in audited.scores.items() if name != "learned"}  # it draws by the bits
    for name, scores in by_formula.items():
        assert np.allclose(by_logits.scores[name], scores, rtol=1e-4, atol=1e-4), name
    by_margins = run(arrays, margins=seen.margins[slice(None), slice(None)], attacks=["loss", "bavaria", "lira"])
    for name, scores in by_margins.scores.items():
        assert np.array_equal(scores, audited.scores[name]), name
    ours = {row["record"]: row["exposure"] for row in audited.rows}
    assert [ours[audited.ids[row["record"]]] for row in by_margins.rows] == [r["exposure"] for r in by_margins.rows]


def test_nothing_is_written_without_a_folder(brought, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(brought, attacks=["loss"]).files == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.words
def test_the_three_files_are_written(brought, tmp_path):
    done = run(brought, attacks=["loss"], out=tmp_path / "out", name="my outputs")
    assert sorted(path.name for path in done.files) == ["audit.json", "records.csv", "report.html"]
    assert json.loads((tmp_path / "out" / "audit.json").read_text()) == done.document
    assert "my outputs" in (tmp_path / "out" / "report.html").read_text()
    assert len((tmp_path / "out" / "records.csv").read_text().splitlines()) == RECORDS + 1


def test_lists_and_a_single_name_will_do(brought):
    lists = {name: array.tolist() for name, array in brought.items()}
    done = run(lists, attacks="lira", options={"lira": {"variance": "pooled"}})
    assert list(done.scores) == ["lira"]
    assert done.document["attacks"][0]["spec"]["variance"] == "pooled"
    assert np.array_equal(
        done.scores["lira"], run(brought, attacks=("lira",), options={"lira": {"variance": "pooled"}}).scores["lira"]
    )


def test_wrong_names_and_options(brought):
    with pytest.raises(UnknownNameError, match="did you mean 'lira'"):
        run(brought, attacks=["lirra"])
    with pytest.raises(SpecError, match="lira: unknown key 'varianc': did you mean 'variance'"):
        run(brought, attacks=["lira"], options={"lira": {"varianc": "pooled"}})
    with pytest.raises(SpecError, match=r"attack\.rmia: options are given, but the attack is not among those to run"):
        run(brought, attacks=["lira"], options={"rmia": {}})
    with pytest.raises(InputError, match="expected one of logits, probabilities, margins, got none of them"):
        run({name: brought[name] for name in ("labels", "membership")})


def test_scores_go_into_a_folder_that_is_made_for_them(tmp_path):
    deep = tmp_path / "new" / "s.npy"
    check_scores(deep, 1)
    assert not deep.parent.exists()
    assert save_scores(deep, {"lira": np.zeros((1, 2))}).is_file()
    with pytest.raises(StoreError, match="expected to write"):  # Before anything runs.
        check_scores(deep / "s.npy", 1)


def test_scores_are_saved_as_arrays(tmp_path):
    one, two = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    assert np.array_equal(np.load(save_scores(tmp_path / "s.npy", {"lira": one}), allow_pickle=False), one)
    with np.load(save_scores(tmp_path / "s.npz", {"lira": one, "lira-released": two}), allow_pickle=False) as file:
        assert sorted(file.files) == ["lira", "lira-released"]
        assert np.array_equal(file["lira"], one)
        assert np.array_equal(file["lira-released"], two)
    with pytest.raises(InputError, match=r"an \.npy file holds the scores of one attack, got 2 attacks: give"):
        save_scores(tmp_path / "t.npy", {"lira": one, "rmia": two})
    with pytest.raises(InputError, match=r"expected a path that ends in \.npy or \.npz, got 's.csv'"):
        save_scores(tmp_path / "s.csv", {"lira": one})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.npy", "s.npz"]


def test_a_file_of_outputs_is_read(brought, tmp_path):
    np.savez(tmp_path / "o.npz", **brought, targets=np.array([1]))
    outputs = read_signals(tmp_path / "o.npz")
    assert attack_outputs(outputs, AttackConfig(attacks="loss")).targets.tolist() == [1]


def test_a_fact_is_no_slip_whatever_form_the_labels_have(brought, tmp_path):
    fact = np.arange(RECORDS) % 2
    for labels in (brought["labels"], brought["labels"][:, None], np.eye(CLASSES, dtype=int)[brought["labels"]]):
        np.savez(tmp_path / "o.npz", **brought | {"labels": labels, "class": fact})
        assert read_signals(tmp_path / "o.npz").ungrouped == ("class",)
    np.savez(tmp_path / "o.npz", **brought, target=np.array([1]))
    with pytest.raises(SpecError, match="unknown array 'target'"):
        read_signals(tmp_path / "o.npz")


@pytest.mark.parametrize("content", ["npy", "cut", "text", "folder"])
def test_a_file_that_is_no_npz_is_told(content, brought, tmp_path):
    path = tmp_path / "o.npz"
    if content == "folder":
        path.mkdir()
    elif content == "npy":
        with path.open("wb") as stream:
            np.save(stream, brought["logits"])
    elif content == "cut":
        np.savez(path, **brought)
        path.write_bytes(path.read_bytes()[:2000])
    else:
        path.write_text("label,score\n")
    with pytest.raises(CorruptFileError, match=r"o\.npz: expected an \.npz file of plain arrays.*, got") as caught:
        read_signals(path)
    assert "context manager" not in str(caught.value)


def test_attacks_that_have_too_few_references_are_left_out_where_none_was_asked_for(brought):
    done = run(brought, targets=[0], references=[1])
    assert "lira" not in done.scores
    assert {"loss", "correctness"} <= set(done.scores)
    told = [said for said in done.document["verdict"]["cannot_say"] if "left out: " in said]
    assert len(told) == len(set(told))
    assert any(said.startswith("lira") and "lira: " not in said for said in told)
    names = [one["name"] for one in done.document["left_out"]]
    assert "lira" in names
    assert "rmia" in names
    assert "The strongest attacks are missing (" in done.document["verdict"]["detail"]
    console = Console(file=StringIO(), width=200)
    console.print(terminal(kind(done.findings)))
    assert console.file.getvalue().count("left out: ") == len(told)
    assert run(brought).document["left_out"] == []
    with pytest.raises(TooFewReferencesError, match="lira"):
        run(brought, targets=[0], references=[1], attacks="lira")


MORE = ["selena-replica", "imia", "label-only", "quantile", "trajectory", "samia"]
"""Attacks that look at more than outputs, in their order."""


def test_all_runs_every_attack_that_fits_and_says_what_does_not(brought):
    short = {name: entry.short.model_dump(exclude_unset=True) for name, entry in ATTACKS.items() if entry.fitted}
    done = run(brought, attacks="all", targets=[0], options={"bavaria": {"law": "normal"}, **short})
    more = [name for name in ATTACKS if needs_models(name)]
    assert list(done.scores) == [name for name in ATTACKS if name not in more]
    told = {one["name"]: one["sentence"] for one in done.document["left_out"]}
    assert list(told) == more == MORE
    assert told["selena-replica"] in done.document["verdict"]["cannot_say"]
    options = {one["name"]: one["spec"] for one in done.document["attacks"]}
    assert options["bavaria"]["law"] == "normal"
    few = run(brought, attacks="all", targets=[0], references=[1], options=short)
    assert {"lira", "bavaria", "pmia"} <= {one["name"] for one in few.document["left_out"]}
    assert "loss" in few.scores


def test_wemem_runs_its_eight_established_attacks_with_the_options_of_its_code(brought):
    short = {name: ATTACKS[name].short.model_dump(exclude_unset=True) for name in ("nn", "nn-top3", "nn-cls", "samia")}
    built = build_attacks(AttackConfig(attacks=("wemem",), attack={"nn": {"steps": 7}}))
    names = ["confidence", "entropy", "modified-entropy", "top1-confidence", "samia", "nn", "nn-top3", "nn-cls"]
    assert [spec.method for spec in built] == names
    assert (built[3].of, built[5].steps, built[6].steps) == ("label", 7, 1000)
    done = run(brought, attacks="wemem", options=short)
    assert list(done.scores) == [name for name in names if name != "samia"]
    assert [one["name"] for one in done.document["left_out"]] == ["samia"]
    assert {one["name"]: one["spec"] for one in done.document["attacks"]}["top1-confidence"]["of"] == "label"


def test_an_attacker_who_knows_half_of_the_members_stands_alone(brought):
    options = {"nasr": {"known": "half", "steps": 5}}
    assert run(brought, attacks="nasr", options=options).scores["nasr"].shape == (MODELS, RECORDS)
    with pytest.raises(
        SpecError, match=r"nasr: knows a half of a target's own members, .* run it alone, or leave known"
    ):
        run(brought, attacks=["nasr", "loss"], options=options)


FEW = [3, 17, 40]


def lacking(brought, records):
    """The same outputs, where no model was trained on some records."""
    membership = brought["membership"].copy()
    membership[:, records] = False
    return brought | {"membership": membership}


def test_of_a_few_records_that_no_model_was_trained_on_attacks_guess(brought):
    done, whole = run(lacking(brought, FEW)), run(brought)
    assert list(done.scores) == list(whole.scores)
    assert done.ids.tolist() == list(range(RECORDS))
    told = {one["name"]: one.get("guessed") for one in done.document["attacks"]}
    share = 3 * MODELS / (~lacking(brought, FEW)["membership"]).sum()
    assert told["loss"] is None
    assert [told[name] for name in ("lira", "rmia", "bavaria", "learned")] == [pytest.approx(share)] * 4
    for name in ("lira", "rmia", "bavaria", "learned"):
        others = np.delete(done.scores[name], FEW, axis=1)
        assert (done.scores[name][:, FEW] == np.median(others, axis=1, keepdims=True)).all()
    (said,) = (one for one in done.document["verdict"]["cannot_say"] if "It guesses there" in one)
    assert "(lira 4.9 %, rmia 4.9 %, bavaria 4.9 % and learned 4.9 % of members or non-members)" in said
    assert "guessed" not in str(whole.document)


def test_many_records_that_no_model_was_trained_on_are_left_out_of_every_attack(brought, tmp_path):
    gone = list(range(0, RECORDS, 2))
    groups = np.where(np.isin(np.arange(RECORDS), gone), "gone", np.where(np.arange(RECORDS) < 60, "a", "b"))
    done = run(lacking(brought, gone), groups={"g": groups})
    ids = np.setdiff1d(np.arange(RECORDS), gone)
    without = run(
        {name: brought[name][..., ids] for name in ("labels", "membership")}, logits=brought["logits"][:, ids]
    )
    assert all(np.array_equal(scores, without.scores[name]) for name, scores in done.scores.items())
    assert [row["record"] for row in done.rows] == [ids[row["record"]] for row in without.rows]
    assert [one["name"] for one in done.document["groups"][1]["groups"]] == ["a", "b"]
    assert done.document["left_out"] == []
    assert done.document["data"]["records"] == RECORDS
    assert done.document["data"]["roles"] == {"audited": RECORDS // 2}
    (said,) = done.document["population"]["notices"]
    assert said.startswith("60 of 120 records were left out of every attack (0, 2, 4, ")
    assert said in done.document["verdict"]["cannot_say"]
    assert np.flatnonzero(np.isnan(done.every_score["lira"][0])).tolist() == gone
    assert np.array_equal(done.every_score["lira"][:, ids], done.scores["lira"])
    assert "shares" not in done.document["population"]


def test_where_no_target_is_a_reference_records_go_that_the_attacks_have_no_references_for(brought):
    apart = lacking(brought, FEW) | {"targets": [0, 1], "references": range(2, 8)}
    never = np.setdiff1d(np.arange(RECORDS), FEW).tolist()
    assert run(apart).ids.tolist() == run(apart, attacks="lira").ids.tolist() == never
    assert run(apart, attacks="loss").ids.tolist() == list(range(RECORDS))
    assert run(apart, attacks="lira", options={"lira": {"mode": "offline"}}).ids.tolist() == list(range(RECORDS))


def independent(models, share, seed, records=400, gain=0.0):
    """Margins of models that hold each record by a coin of its own; `gain` is what members have more."""
    rng = np.random.default_rng(seed)
    membership = rng.random((models, records)) < share
    margins = 2 * rng.normal(size=records) + rng.standard_gamma(3, size=(models, records)) + gain * membership
    return {"margins": margins, "labels": np.arange(records) % 10, "membership": membership}


@pytest.mark.parametrize(("models", "share"), [(5, 0.5), (7, 0.3), (7, 0.7)])
def test_coins_of_any_share_tell_no_members_where_nothing_leaks(models, share):
    """Records with too few references of a kind are guessed: by which these are, members are not told."""
    names = ("lira", "rmia", "bavaria")
    done = [run(independent(models, share, seed), attacks=names) for seed in range(8)]
    assert all(one.document["attacks"][0]["guessed"] > 0.01 for one in done)
    for at in range(len(names)):
        found = [one.document["attacks"][at]["overall"]["auc"]["mean"] for one in done]
        assert np.mean(found) == pytest.approx(0.5, abs=4 * np.std(found) / 8**0.5)
    leak = run(independent(models, share, 0, gain=6.0)).document
    assert leak["verdict"]["leak"] == "found"
    assert [one["name"] for one in leak["left_out"]] == ["learned"]
    assert leak["verdict"]["auc"] > 0.85


@pytest.mark.parametrize("held", [1, 9])
def test_no_attack_guesses_all_members_or_all_others(held):
    """Of ten parts, each model holds its own, or all others: then only members, or only others, lack references."""
    brought = independent(10, 0.0, 0, records=1000)
    parts = np.arange(1000) // 10 % 10
    brought["membership"] = (np.arange(10)[:, None] == parts) if held == 1 else (np.arange(10)[:, None] != parts)
    with pytest.raises(TooFewReferencesError):
        run(brought, attacks="lira")


def test_where_no_member_has_in_references_attacks_read_out_ones_alone():
    brought = independent(10, 0.0, 0, records=1000)
    parts = np.arange(1000) // 10 % 10
    brought["membership"] = np.arange(10)[:, None] == parts
    done = run(brought).document
    assert (done["verdict"]["leak"], done["verdict"]["reason"]) == ("cannot tell", "too-small")
    assert {one["spec"]["mode"] for one in done["attacks"] if one["strong"]} == {"offline"}
    leak = run(brought | {"margins": brought["margins"] + 3.0 * brought["membership"]}).document
    assert (leak["verdict"]["leak"], leak["verdict"]["attack"]) == ("found", "lira")
    told = run(brought, options={"lira": {"mode": "online"}}).document
    assert "lira" in {one["name"] for one in told["left_out"]}
    brought["membership"] = ~brought["membership"]  # Nor are there OUT ones of others then.
    assert run(brought).document["verdict"]["reason"] == "weak-attacks"


def test_a_class_without_references_of_one_kind_has_no_risk_score_but_even():
    rng = np.random.default_rng(0)
    membership = np.arange(10)[:, None] != np.arange(200) % 10  # Ten folds: of what a model left out none is OUT.
    logits = rng.normal(size=(10, 200, 3))
    done = run({"logits": logits, "labels": np.arange(200) // 2 % 3, "membership": membership}, attacks="loss")
    assert done.document["verdict"]["leak"] == "cannot tell"


def test_what_learned_lacks_leaves_it_out_where_none_is_named(brought):
    """Models given twice, of two checkpoints, are no references for each other."""
    rng = np.random.default_rng(0)
    membership = np.tile(rng.random((3, 300)) < 0.5, (2, 1))
    logits = np.tile(rng.normal(size=(3, 300, 3)), (2, 1, 1)) + 0.01 * rng.normal(size=(6, 300, 3))
    arrays = {"logits": logits, "labels": np.arange(300) % 3, "membership": membership}
    assert "learned" in {one["name"] for one in run(arrays).document["left_out"]}
    with pytest.raises(TooFewReferencesError):
        run(arrays, attacks="learned")


def test_persons_in_few_or_in_nearly_all_models_leave_learned_out_and_end_no_audit():
    rng = np.random.default_rng(8)
    membership = np.repeat(rng.random((8, 40)) < 0.5, 5, axis=1)
    brought = {"labels": np.arange(200) % 10, "membership": membership, "margins": rng.normal(size=(8, 200))}
    assert "learned" in {one["name"] for one in run(brought).document["left_out"]}


def test_records_that_are_members_for_what_they_are_show_no_leak():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        hard = rng.normal(size=400)
        membership = rng.random((12, 400)) < 1 / (1 + np.exp(-2 * hard))
        margins = 2 * hard + np.exp(0.3 * hard) * rng.standard_gamma(3, size=(12, 400))
        brought = {"labels": np.arange(400) % 10, "membership": membership}
        done = run(brought, margins=margins).document
        found.append((done["verdict"]["leak"], done["verdict"]["reason"]))
        assert max(one["overall"]["auc"]["mean"] for one in done["attacks"]) > 0.6
        assert not done["control"]["passed"]
        assert "records that are in more of the models are told by what they are" in done["control"]["sentence"]
        assert (done["groups"], done["epsilon"]) == ([], None)
    assert found == [("cannot tell", "unequal-shares")] * 6
    leak = run(brought, margins=margins + 4.0 * membership).document
    assert leak["verdict"]["leak"] == "found"


@pytest.mark.parametrize("easier", [0.6, 0.4])
def test_where_easy_records_are_a_little_more_often_members_loss_alone_shows_no_leak(easier):
    rng = np.random.default_rng(0)
    easy = rng.normal(size=1000)
    membership = rng.random((6, 1000)) < np.where(easy > 0, easier, 1 - easier)
    brought = {"labels": np.arange(1000) % 10, "membership": membership}
    margins = 1.5 * easy + rng.normal(size=(6, 1000))
    done = run(brought, margins=margins).document
    assert (done["verdict"]["leak"], done["verdict"]["reason"]) == ("cannot tell", "unequal-shares")
    assert (done["population"]["difficulty"] > 0.5) == (easier > 0.5)
    kind = "Easier" if easier > 0.5 else "Harder"
    assert f"{kind} records are in more of the models" in done["verdict"]["detail"]
    assert run(brought, margins=margins + 0.7 * membership).document["verdict"]["leak"] == "found"


def test_models_of_ever_more_data_tell_old_records_from_new_ones_which_is_no_leak():
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        age = np.arange(600) / 600
        membership = age < np.arange(1, 12)[:, None] / 12
        margins = 3 - 4 * age + rng.normal(size=600) + rng.normal(size=(11, 600))
        done = run({"labels": rng.integers(0, 2, 600), "membership": membership}, margins=margins).document
        found.append((done["verdict"]["leak"], done["verdict"]["reason"]))
        assert "; with permuted membership, up to " in done["verdict"]["sentence"]  # More may be, without a leak.
    assert found == [("cannot tell", "unequal-shares")] * 4


@pytest.mark.parametrize("targets", [1, 4])
def test_where_too_few_models_show_that_easy_records_are_members_more_often_loss_alone_shows_no_leak(targets):
    found, shown = [], 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        easy = rng.normal(0, 1.5, 500)
        membership = rng.random((5, 500)) < np.where(easy > 0, 0.65, 0.35)
        brought = {"labels": rng.integers(0, 2, 500), "membership": membership, "targets": np.arange(targets)}
        done = run(brought, margins=1.5 + easy + rng.normal(size=(5, 500))).document
        found.append(done["verdict"]["leak"])
        shown += done["verdict"]["reason"] == "weak-alone"
        if done["verdict"]["reason"] == "weak-alone":
            assert done["epsilon"] is None
    assert found.count("found") <= 1
    assert shown >= 2  # Without the rule a leak was found there.


def drifting(rng, models):
    """Draw newer records more often into later models ``(M, 800)``, which are surer of all records ``(M, 1)``."""
    age, late = rng.uniform(-1, 1, 800), np.linspace(-1, 1, models)[:, None]
    return rng.random((models, 800)) < 0.5 + 0.4 * np.sign(age * late) * np.abs(age * late) ** 0.5, late


def test_later_models_of_newer_records_that_are_surer_of_all_show_no_leak():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        membership, late = drifting(rng, 12)
        brought = {"labels": rng.integers(0, 2, 800), "membership": membership}
        margins = rng.normal(1.5, 1.5, 800) + late + rng.normal(size=membership.shape)
        done = run(brought, margins=margins).document
        found.append((done["verdict"]["leak"], done["verdict"]["reason"]))
        assert max(one["overall"]["auc"]["mean"] for one in done["attacks"]) > 0.53
        assert "ow sure a model is of all records goes with which of them it holds" in done["verdict"]["detail"]
        assert done["control"]["passed"]  # Which models hold the same records is not kept there.
    assert found == [("cannot tell", "unequal-shares")] * 6
    assert run(brought, margins=margins + membership).document["verdict"]["leak"] == "found"


def test_models_of_a_window_that_moves_leave_learned_out_and_end_no_audit():
    # Of 12 models the sixth after each is its complement, so that a target has too few references for learned.
    rng = np.random.default_rng(0)
    membership = (np.arange(600) - np.arange(12)[:, None] * 50) % 600 < 300
    brought = {"labels": rng.integers(0, 2, 600), "membership": membership, "margins": rng.normal(size=(12, 600))}
    assert "learned" in {one["name"] for one in run(brought).document["left_out"]}


def test_other_options_are_a_remedy_only_where_they_need_less(brought):
    membership = brought["membership"].copy()
    membership[:, :60] = np.arange(MODELS)[:, None] < 2  # Enough for a pooled variance.
    two = brought | {"membership": membership}
    with pytest.raises(TooFewReferencesError, match=r"or choose options that need fewer, or name no attack"):
        run(two, attacks="learned")
    membership[:, :60] = np.arange(MODELS)[:, None] > 0  # For the first model there is no OUT reference.
    with pytest.raises(TooFewReferencesError, match=r"target 0 has fewer for 60 .* of these 8, or name no attack"):
        run(two, attacks="lira", targets=[0])


def test_classes_can_be_said_where_margins_do_not_show_them(brought):
    few = margins_of(brought) | {"labels": brought["labels"] % 2}
    first = {"targets": [0], "references": []}
    assert "correctness" in run(few, **first).scores
    assert "correctness" not in run(few, **first, classes=10).scores


def test_a_threshold_is_learned_on_references_only(brought):
    """Where targets are not each other's references, one target's membership does not move another one's threshold."""
    members = brought["membership"].copy()
    rows = {"targets": [0, 1], "references": list(range(2, len(members))), "attacks": "lira"}
    first = run(brought, **rows).document["attacks"][0]["targets"][0]["balanced_accuracy"]["threshold"]
    members[1] = ~members[1]
    other = run(brought | {"membership": members}, **rows)
    assert other.document["attacks"][0]["targets"][0]["balanced_accuracy"]["threshold"] == first


def test_keys_of_training_are_refused(brought, tmp_path):
    from reticent.jobs.attacks import gather_attacks

    with pytest.raises(SpecError, match=r"^epochs: nothing is trained here, so that it would change nothing"):
        gather_attacks(None, {"epochs": 5})
    (tmp_path / "a.toml").write_text("seed = 3\n[attack.lira]\nvariance = 'pooled'\n")
    assert gather_attacks(tmp_path / "a.toml", {"attack.lira.centre": "median"}).attack == {
        "lira": {"variance": "pooled", "centre": "median"}
    }


def test_one_model_brought_several_times_is_told(brought):
    again = {**brought, "logits": brought["logits"][[0, 1, 0, 3, 1, 5, 6, 7]]}
    told = " ".join(run(again, attacks="loss").document["verdict"]["cannot_say"])
    assert "the same answers on every record: 0, 2; 1, 4." in told
    assert "the same answers" not in " ".join(run(brought, attacks="loss").document["verdict"]["cannot_say"])


def test_records_of_one_label_do_not_tell_whether_models_learned():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(6, 80, 4)) + 3 * (np.arange(4) == 2)
    membership = reticent.Membership.draw(6, 80, 0).matrix
    found = reticent.attack(logits=logits, labels=np.full(80, 2), membership=membership, attacks="loss")
    assert found.document["population"]["health"] == []


@pytest.mark.parametrize("classes", [2, 10])
def test_margins_of_one_model_are_enough(classes):
    rng, members = np.random.default_rng(0), np.arange(120) % 2 == 0
    labels = rng.integers(0, classes, 120)
    done = reticent.attack(margins=rng.normal(size=(1, 120)), labels=labels, membership=members[None], classes=classes)
    assert {"loss", "confidence"} <= {one["name"] for one in done.document["attacks"]}
