"""`locate records`: the numbers are those of the audit, whether they are read from it or made again."""

import csv
import json
import shutil

import numpy as np
import pytest

import reticent
from reticent.auditing.exposure import exposure
from reticent.cli import app
from reticent.cli.run import guarded
from reticent.data.membership import Membership
from reticent.errors import CorruptFileError, InputError, MissingFileError, SpecError
from reticent.findings.locate import Memorisation, RecordsDocument
from reticent.findings.records import RecordRow
from reticent.jobs.locate.records import memorisation, read_rows
from reticent.report.kinds.records import records
from reticent.report.pictures.records import spread
from reticent.report.render.html import html
from reticent.say.locate import _memorised as sentence

pytestmark = pytest.mark.words

QUICK = {"dataset": "digits", "records": 120, "models": 4, "epochs": 2, "architecture__widths": [8], "workers": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module")
def audited(folder):
    values = QUICK | {"replicates": 100, "attacks": "loss"}
    return reticent.audit(**values, store=folder / "store", out=folder / "audit")


@pytest.fixture(scope="module")
def found(audited, folder):
    return reticent.locate_records(**QUICK, store=folder / "store", out=folder / "out")


def unattacked(row):
    """Leave out what an attack tells."""
    told = {"probability", "probability_low", "probability_high", "risk_score"}
    return {key: None if key in told else value for key, value in row.items()}


def test_the_records_are_those_of_the_audit_and_nothing_is_trained_again(found, audited):
    assert found.document["environment"]["models_found"] == 4
    assert found.rows == [unattacked(row) for row in audited.rows]
    assert found.document["exposure"] == audited.document["exposure"]
    assert found.document["data"] == audited.document["data"]


def test_a_finished_audit_gives_the_same(found, audited, folder):
    again = reticent.locate_records(folder / "audit", out=folder / "again")
    for key in ("sentence", "exposure", "memorisation", "data", "population"):
        assert again.document[key] == found.document[key], key
    for key in ("most_exposed", "most_memorised"):
        assert [unattacked(row) for row in again.document[key]] == found.document[key]
    assert again.rows == audited.rows
    assert (folder / "again" / "records.csv").read_bytes() == (folder / "audit" / "records.csv").read_bytes()
    page = (folder / "again" / "records.html").read_text(encoding="utf-8")
    assert page.count("<img src=") == (folder / "out" / "records.html").read_text(encoding="utf-8").count("<img src=")
    assert page.count("<img src=") == 48
    assert reticent.locate_records(audited, out=folder / "object").rows == audited.rows


def test_an_audit_of_units_is_told_to_list_them_elsewhere(audited, folder, tmp_path):
    shutil.copytree(folder / "audit", tmp_path / "audit")
    path = tmp_path / "audit" / "audit.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"data": document["data"] | {"unit": "patient", "units": 9}}))
    told = reticent.locate_records(tmp_path / "audit", out=tmp_path / "out").sentence
    assert told.startswith("This lists records, not patients: the audit's page and units.csv list patients. ")


def test_columns_that_no_model_sees_are_no_part_of_the_records(audited, folder, tmp_path):
    written, file = folder / "audit" / "records.csv", tmp_path / "records.csv"
    header, *lines = written.read_text(encoding="utf-8").splitlines()
    more = [f"{header},column_id", *(f"{line},p{i}" for i, line in enumerate(lines))]
    file.write_text("\n".join(more), encoding="utf-8")
    assert len(read_rows(file)) == 120
    assert read_rows(file) == read_rows(written)


def test_two_models_tell_the_records_and_no_attack_asks_for_more(folder):
    few = reticent.locate_records(**QUICK | {"models": 2}, store=folder / "store", out=folder / "two")
    assert {row["memorisation"] for row in few.rows} <= {-1.0, 0.0, 1.0}
    assert all(row["exposure"] is None for row in few.rows), "one model on each side has no spread"


def test_memorisation_is_feldmans(found, folder, audited):
    """By hand, from what each model answers."""
    from reticent.jobs.config import called
    from reticent.population.stored_signals import signals
    from reticent.population.train import train
    from reticent.store import Store

    job = called(None, QUICK | {"store": folder / "store"})
    store = Store(folder / "store")
    seen, _ = signals(job.population, store, train(job.population, store))
    logits, labels = np.asarray(seen.logits[:, :]), seen.labels
    right = logits.argmax(axis=2) == labels
    member = job.population.membership.matrix
    by_id = {row["record"]: row for row in found.rows}
    for i, record in enumerate(job.population.roles.audited):
        share = [right[side[:, i], i].mean() for side in (member, ~member)]
        assert by_id[int(record)]["memorisation"] == pytest.approx(share[0] - share[1])


def test_the_document_summarises_the_rows(found, folder):
    written = json.loads((folder / "out" / "records.json").read_text(encoding="utf-8"))
    values = np.array([row["memorisation"] for row in found.rows])
    told = written["memorisation"]
    assert (told["records"], told["memorised"]) == (120, int((values >= 0.5).sum()))
    assert told["reversed"] == int((values <= -0.5).sum())
    assert told["mean"] == pytest.approx(values.mean())
    assert [row["record"] for row in written["most_exposed"]] == [row["record"] for row in found.rows[:100]]
    most = [row["memorisation"] for row in written["most_memorised"]]
    assert most == sorted(values.tolist(), reverse=True)[:100]
    assert found.sentence.startswith(f"{told['memorised']} of 120 records are memorised")


def test_what_looks_learned_by_heart_by_chance_is_told(folder):
    """Models of one epoch of one step know nothing: as many records look the other way round."""
    poor = QUICK | {"epochs": 1, "learning_rate": 1e-9}
    found = reticent.locate_records(**poor, store=folder / "store", out=folder / "poor")
    told = found.document["memorisation"]
    chance = f"memorised, where chance alone gives about {told['reversed']} (as many look the other way round): models"
    assert chance in found.sentence
    assert "did not learn" in found.document["detail"][0]
    summary = Memorisation(records=9, memorised=3, mean=0.1, reversed=2, quantiles={}, threshold=0.5)
    assert sentence(summary, 9).startswith("3 of 9 records are memorised, where chance alone gives about 2 (as many")
    uneven = summary.with_(reversed=memorisation([0.5, -0.5], even=False).reversed, mean=-0.0001)
    assert sentence(uneven, 9).startswith("3 of 9 records are memorised: models label")
    assert sentence(uneven, 9).endswith("The mean over all records is 0.0 points.")


def test_the_table_holds_all_records(found, folder):
    with (folder / "out" / "records.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [int(line["record"]) for line in lines] == [row["record"] for row in found.rows]
    assert [row.to_json() for row in read_rows(folder / "out" / "records.csv")] == found.rows


def test_where_too_few_models_tell_memorisation_is_not_known(found):
    assert memorisation([], even=True) is None
    assert "known of none of the 120 records" in sentence(None, 120)
    rows = [RecordRow.from_json(row | {"memorisation": None, "exposure": None}) for row in found.rows]
    changed = found.document | {"most_memorised": [], "most_exposed": [], "memorisation": None}
    page = html(records(RecordsDocument.read(changed), rows))
    assert "The memorisation of these records is not known." in page


@pytest.mark.slow
def test_outputs_of_ones_own_have_records_too(folder):
    rng = np.random.default_rng(0)
    matrix = Membership.draw(6, 40, 0).matrix
    labels = np.arange(40) % 3
    logits = rng.normal(size=(6, 40, 3))
    logits[np.arange(6)[:, None], np.arange(40), labels] += 2.0 * matrix
    attacked = reticent.attack(
        logits=logits,
        labels=labels,
        membership=matrix,
        attacks="loss",
        replicates=100,
        out=folder / "brought",
    )
    again = reticent.locate_records(folder / "brought", out=folder / "brought-records")
    assert again.rows == attacked.rows
    assert again.document["recipe"] is None
    signals = reticent.Signals.from_logits(logits, labels)
    by_id = {row["record"]: row["memorisation"] for row in again.rows}
    assert [by_id[i] for i in range(40)] == pytest.approx(exposure(signals, matrix).memorisation.tolist())


def test_what_is_no_audit_is_refused(folder, audited, tmp_path):
    with pytest.raises(MissingFileError, match=r"no file .*audit\.json"):
        reticent.locate_records(tmp_path)
    shutil.copy(folder / "audit" / "audit.json", tmp_path)
    with pytest.raises(MissingFileError, match=r"records\.csv that reticent audit writes"):
        reticent.locate_records(tmp_path)
    for text, said in (("a,b\n1,2\n", "expected the columns"), ("record,exposure\n1,much\n", "not the records.csv")):
        (tmp_path / "records.csv").write_text(text)
        with pytest.raises(CorruptFileError, match=said):
            reticent.locate_records(tmp_path, out=tmp_path / "o")
    (tmp_path / "audit.json").write_text("{}")
    with pytest.raises(InputError, match="got another document"):
        reticent.locate_records(tmp_path)
    assert not (tmp_path / "o").exists()


def test_a_finished_audit_takes_no_options_and_is_not_written_over(folder, audited):
    with pytest.raises(SpecError, match="epochs: the numbers are those of the finished audit"):
        reticent.locate_records(folder / "audit", epochs=3)
    with pytest.raises(InputError, match=r"audit/records\.csv would be written over"):
        reticent.locate_records(folder / "audit", out=folder / "audit")
    with pytest.raises(SpecError, match="attacks: means nothing to reticent locate records"):
        reticent.locate_records(**QUICK, attacks="lira")


def test_the_command_prints_the_most_exposed(folder, found, capsys):
    assert guarded(app, ["locate", "records", str(folder / "audit"), "--out", str(folder / "cli")]) == 0
    shown = capsys.readouterr().out
    assert "memorised" in shown
    assert "±: the standard error of the number above it." in " ".join(shown.split())
    assert all(str(row["record"]) in shown for row in found.rows[:10])
    assert "records.json" in shown
    assert guarded(app, ["locate", "records", str(folder / "audit"), "--epochs", "3"]) == 2


def test_bins_of_memorisation_have_zero_in_the_middle_of_one():
    counts, edges = spread([0.0, 0.04, -0.04, 1.0, -1.0, 0.5, 0.499])
    assert counts.sum() == 7
    assert counts[9] == 3
    assert edges[9] == pytest.approx(-edges[10])
    # What counts as memorised, from 0.5 on, lies at the right of an edge.
    assert edges[14] == 0.5
    assert (counts[0], counts[-1], counts[14], counts[13]) == (1, 1, 1, 1)
