"""Who may be compared with whom, and what is said where they may not."""

import json

import numpy as np
import pytest

import reticent
from reticent.errors import CorruptFileError, InputError, MissingFileError, SpecError, UnknownNameError
from reticent.jobs.comparison.specs import row_specs

SMALL = {"records": 120, "models": 4, "epochs": 2, "attacks": ("loss",), "workers": 1}


def write(path, text):
    path.write_text(text)
    return path


def recipes(folder, *texts):
    return [write(folder / f"r{i}.toml", text) for i, text in enumerate(texts)]


def test_recipes_share_records_membership_and_what_the_call_says(tmp_path):
    files = recipes(tmp_path, "weight_decay = 0.0", "weight_decay = 0.01\nepochs = 3")
    one, other = row_specs((), files, SMALL)
    assert (one.name, other.name) == ("r0", "r1")
    assert one.job.records is other.job.records
    assert one.job.population.membership.digest == other.job.population.membership.digest
    assert [e.job.population.recipe.weight_decay for e in (one, other)] == [0.0, 0.01]
    assert [e.job.population.recipe.epochs for e in (one, other)] == [2, 2]


def test_recipes_may_be_given_by_name_as_keys_and_values():
    one, other = row_specs((), {"plain": {}, "decay": {"weight_decay": 0.1}}, SMALL)
    assert (one.name, other.name) == ("plain", "decay")
    assert other.job.population.recipe.weight_decay == 0.1


def test_data_that_no_file_holds():
    x, y = np.random.default_rng(0).normal(size=(120, 5)).astype(np.float32), np.arange(120) % 3
    found = row_specs((), {"a": {}, "b": {"epochs": 3}}, {"models": 4, "epochs": 2, "dataset": (x, y)} | {"workers": 1})
    assert {one.job.records.digest for one in found} == {found[0].job.records.digest}
    assert found[0].job.records.x.shape == (120, 5)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("seed = 1", "they differ in the roles of the records: .*--seed"),
        ("models = 6", "they differ in who trained on what: .*give both the same --models and --seed"),
        ("records = 130", "they differ in the roles of the records"),
        ('attacks = ["lira"]', "they differ in their attacks: .*--attack"),
        ('dataset = "synthetic-images"', "they differ in their records|synthetic"),
        ("confidence = 0.9", "they differ in the confidence"),
    ],
)
def test_what_differs_is_named(tmp_path, other, words):
    usual = 'records = 120\nmodels = 4\nattacks = ["loss"]\n'
    kept = "".join(line + "\n" for line in usual.splitlines() if line.split()[0] != other.split()[0])
    with pytest.raises(InputError, match=words):
        row_specs((), recipes(tmp_path, usual, kept + other), {})


def test_fewer_than_two_and_two_of_one_name(tmp_path):
    with pytest.raises(InputError, match="at least two runs or recipes to compare, got 1"):
        row_specs((), recipes(tmp_path, ""), SMALL)
    folder = tmp_path / "more"
    folder.mkdir()
    with pytest.raises(InputError, match="files of different names"):
        row_specs((), [*recipes(tmp_path, ""), *recipes(folder, "")], SMALL)


def test_an_unknown_key_names_its_file(tmp_path):
    with pytest.raises(SpecError, match=r"r1\.toml.*weight_decoy.*weight_decay"):
        row_specs((), recipes(tmp_path, "", "weight_decoy = 1"), SMALL)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("entrants")
    for name, decay in (("plain", 0.0), ("decay", 0.01)):
        reticent.audit(**SMALL, replicates=100, weight_decay=decay, store=folder / "store", out=folder / name)
    return folder


def test_audits_are_found_again_by_folder_or_file(audited):
    one, other = row_specs([audited / "plain", audited / "decay" / "audit.json"], (), {})
    assert (one.name, other.name) == ("plain", "decay")
    assert other.job.population.recipe.weight_decay == 0.01
    document = json.loads((audited / "plain" / "audit.json").read_text())
    assert one.job.population.training_id(2) == document["population"]["per_model"][2]["run"]


def test_an_audit_whose_models_would_be_others_is_refused(audited):
    with pytest.raises(InputError, match="plain: its models were made of other data, code or options"):
        row_specs([audited / "plain", audited / "decay"], (), {"epochs": 3})


def changed(audited, folder, change):
    document = json.loads((audited / "plain" / "audit.json").read_text())
    change(document)
    folder.mkdir()
    write(folder / "audit.json", json.dumps(document))
    return folder


def test_audits_that_cannot_be_made_again(audited, tmp_path):
    old = changed(audited, tmp_path / "old", lambda d: d["environment"].pop("config"))
    with pytest.raises(InputError, match="does not say how to find its models again: run the audit again"):
        row_specs([old, audited / "decay"], (), {})
    own = changed(audited, tmp_path / "own", lambda d: d["environment"]["config"].update(dataset="own data"))
    with pytest.raises(InputError, match=r"from data that no file holds: call reticent\.compare"):
        row_specs([own, audited / "decay"], (), {})
    brought = changed(audited, tmp_path / "b", lambda d: (d["environment"].pop("config"), d.update(recipe=None)))
    with pytest.raises(InputError, match=r"outputs that were brought: give their \.npz file"):
        row_specs([brought, audited / "decay"], (), {})
    with pytest.raises(MissingFileError, match="expected a folder that reticent audit wrote"):
        row_specs([tmp_path / "nowhere", audited / "decay"], (), {})
    write(tmp_path / "audit.json", "{")
    with pytest.raises(CorruptFileError, match="cannot be read as an audit"):
        row_specs([tmp_path, audited / "decay"], (), {})


def save(path, membership, labels):
    np.savez(path, labels=labels, membership=membership, margins=np.random.default_rng(0).normal(size=membership.shape))
    return path


@pytest.mark.slow
def test_options_that_mean_nothing_for_outputs_are_refused_and_the_others_used(tmp_path):
    membership = reticent.Membership.draw(6, 60, 0).matrix
    files = [save(tmp_path / f"{name}.npz", membership, np.arange(60) % 3) for name in "ab"]
    with pytest.raises(SpecError, match=r"epochs: all that is compared are outputs .* nothing is trained here"):
        row_specs(files, (), {"epochs": 3})
    with pytest.raises(UnknownNameError, match="unknown key 'epoch'"):
        row_specs(files, (), {"epoch": 3})
    with pytest.raises(SpecError, match="no array 'sex' to group records by"):
        row_specs(files, (), {"group_by": ["sex"]})
    values = {"attacks": ["lira"], "attack.lira.variance": "pooled", "confidence": 0.9}
    one, _ = row_specs(files, (), values)
    assert one.config.confidence == 0.9
    assert [spec.variance for spec in one.shared.attacks] == ["pooled"]
    done = reticent.compare(*files, out=tmp_path / "o", replicates=100, attack__lira__variance="pooled")
    lira = next(attack for attack in done.audits["a"]["attacks"] if attack["name"] == "lira")
    assert lira["spec"]["variance"] == "pooled"
    assert lira["bootstrap"]["replicates"] == 100


def test_outputs_of_other_references_targets_or_kinds_are_refused(tmp_path):
    membership = reticent.Membership.draw(6, 60, 0).matrix
    a, b, c, d = (tmp_path / f"{name}.npz" for name in "abcd")
    plain = {"labels": np.arange(60) % 3, "membership": membership, "margins": np.zeros((6, 60))}
    np.savez(a, **plain)
    np.savez(b, **plain, references=[1, 2, 3, 4])
    np.savez(c, **plain, targets=[0, 1])
    np.savez(d, labels=plain["labels"], membership=membership, logits=np.zeros((6, 60, 3)))
    for other, words in (
        (b, "may learn from.* references"),
        (c, "are audited.* targets"),
        (d, "models answer.* --attack lira"),
    ):
        with pytest.raises(InputError, match=f"differ in .*{words}"):
            row_specs([a, other], (), {})
    assert len(row_specs([a, d], (), {"attacks": "lira"})) == 2


def test_a_recipe_needs_a_name():
    with pytest.raises(InputError, match="expected a name for each recipe, got an empty one"):
        row_specs((), {"": {}, "decay": {"weight_decay": 0.1}}, SMALL)


def test_outputs_that_were_brought_pair_by_labels_and_membership(tmp_path):
    membership = reticent.Membership.draw(4, 60, 0).matrix
    labels = np.arange(60) % 3
    a, b = save(tmp_path / "a.npz", membership, labels), save(tmp_path / "b.npz", membership, labels)
    assert [one.name for one in row_specs([a, b], (), {})] == ["a", "b"]
    c = save(tmp_path / "c.npz", membership, labels[::-1])
    with pytest.raises(InputError, match="differ in their labels"):
        row_specs([a, c], (), {})
    d = save(tmp_path / "d.npz", ~membership, labels)
    with pytest.raises(InputError, match=r"differ in who trained on what.*; give outputs of models with") as told:
        row_specs([a, d], (), {})
    assert "--" not in str(told.value)
