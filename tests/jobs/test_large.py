"""Large audits: what lies in files, and what is done side by side, changes no number."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import reticent
from reticent import scratch, threads
from reticent.attacks import ATTACKS
from reticent.errors import CorruptFileError, MissingExtraError
from reticent.findings.records import COLUMNS
from reticent.jobs import attack as job
from reticent.jobs import attack_time, signals_file
from reticent.jobs.attack_time import Size, seconds, temporary_bytes
from reticent.jobs.scoring import Settings
from reticent.signals.matrix import Mapped, Signals


def outputs(models=12, records=300):
    rng = np.random.default_rng(0)
    membership = rng.permuted(np.tile(np.arange(models) < models // 2, (records, 1)), axis=1).T
    margins = np.round(rng.normal(size=(models, records)) + membership, 2).astype(np.float32)
    return {"labels": rng.integers(0, 3, records), "membership": membership, "margins": margins, "classes": 3}


def run(folder, file, **options):
    found = reticent.attack(**options, attacks=["loss", "lira", "rmia"], replicates=100, out=folder / file)
    return found, {key: value for key, value in found.document.items() if key != "environment"}


@pytest.mark.slow
def test_files_and_threads_change_no_number(tmp_path, monkeypatch):
    told = outputs()
    plain, document = run(tmp_path, "plain", **told)
    np.save(tmp_path / "margins.npy", told.pop("margins"))
    monkeypatch.setattr(scratch, "LARGE", 1000)
    monkeypatch.setattr(threads, "FEW_CELLS", 1)
    large, same = run(tmp_path, "large", **told, margins=np.load(tmp_path / "margins.npy", mmap_mode="r"))
    assert same == document
    assert isinstance(large.problem.signals.margins, Mapped)
    for name, scores in plain.scores.items():
        assert scratch.mapped(large.scores[name])
        assert np.array_equal(scores, large.scores[name])
    assert np.array_equal(plain.p_member, large.p_member)
    assert (tmp_path / "plain/records.csv").read_text() == (tmp_path / "large/records.csv").read_text()
    parts = large.findings.environment.seconds_parts
    assert list(parts) == ["attacks", "exposure", "groups", "epsilon", "records"]


def test_a_large_array_of_an_archive_is_read_piece_by_piece_and_checked(tmp_path, monkeypatch):
    told = outputs()
    monkeypatch.setattr(scratch, "LARGE", 1000)
    monkeypatch.setattr(signals_file, "PIECE", 999)
    for save, turned in ((np.savez, False), (np.savez_compressed, True)):
        margins = np.asfortranarray(told["margins"]) if turned else told["margins"]
        save(tmp_path / "s.npz", **(told | {"margins": margins}))
        read = signals_file.read_signals(tmp_path / "s.npz")
        assert scratch.mapped(read.margins)
        assert np.array_equal(read.margins, told["margins"])
    np.savez(tmp_path / "s.npz", **told)
    content = bytearray((tmp_path / "s.npz").read_bytes())
    content[-len(content) // 4] ^= 1
    (tmp_path / "s.npz").write_bytes(content)
    with pytest.raises(CorruptFileError, match="Bad CRC-32"):
        signals_file.read_signals(tmp_path / "s.npz")


def test_the_layout_of_brought_margins_changes_no_exposure_beyond_its_last_digit():
    told = outputs()
    every = np.arange(300)
    whole = Signals.from_margins(told["margins"], told["labels"], 3)
    assert whole.among(every) is whole
    turned = Signals.from_margins(np.asfortranarray(told["margins"]), told["labels"], 3)
    one, other = (reticent.auditing.exposure.exposure(each, told["membership"]) for each in (whole, turned))
    np.testing.assert_allclose(one.exposure.data, other.exposure.data, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(whole.among(every[::2]).margins[:, 0:150], told["margins"][:, ::2, None])


@pytest.mark.slow
def test_records_as_parquet_are_those_of_the_csv(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    for _ in range(2):  # Its own file is written over.
        run(tmp_path, "out", **outputs(), records_format="parquet", groups={"site": np.arange(300) % 2})
    table = pq.read_table(tmp_path / "out" / "records.parquet")
    with (tmp_path / "out" / "records.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert table.column_names == list(lines[0]) == [*COLUMNS, "group_site"]
    for name in ("record", "label_name", "exposure", "probability", "memorisation", "group_site"):
        written = ["" if one is None else str(one) for one in table[name].to_pylist()]
        assert written == [line[name] for line in lines]
    monkeypatch.setattr("reticent.report.parquet.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="records_format=parquet"):
        reticent.attack(**outputs(), records_format="parquet")


def test_an_attack_that_takes_long_runs_where_it_is_named(monkeypatch):
    told = outputs(8, 200)
    problem = job.Outputs(**told).problem()
    config = job.AttackConfig()
    assert "learned" in [spec.method for spec in job.runnable(problem, config)[0]]
    monkeypatch.setitem(ATTACKS, "learned", replace(ATTACKS["learned"], most=1599))
    specs, why = job.runnable(problem, config)
    assert "learned" not in [spec.method for spec in specs]
    assert "which takes long for 1,600 of them (targets times records): name it (--attack learned)" in why["learned"]
    named, _ = job.runnable(problem, job.AttackConfig(attacks=("learned",)))
    assert [spec.method for spec in named] == ["learned"]


def test_time_and_room_are_foretold(monkeypatch):
    settings, attacks = Settings(0, replicates=100), [ATTACKS["loss"].spec(), ATTACKS["lira"].spec()]
    assert seconds(Size(6, 5_000, 0), attacks, settings) > 0
    assert seconds(Size(64, 100, 0), attacks, settings) > 0  # A third of the records is fewer than the models.
    monkeypatch.setattr(attack_time, "_measured", lambda size, *_: 2 + size.records / 100)
    monkeypatch.setattr(threads, "cores", lambda: 4)
    side_by_side = attack_time.UNCACHED * (attack_time.ALONE + (1 - attack_time.ALONE) / 4)
    assert seconds(Size(6, 5_000_000, 0), attacks, settings) == pytest.approx((2 + 50_000) * side_by_side)
    assert seconds(Size(256, 5_000, 0), attacks, settings) == pytest.approx(256 / 64 * (2 + 50))
    assert seconds(Size(6, 2_000, 0), attacks, settings) == pytest.approx(6 * 5)  # soon over: by the smaller probe
    assert seconds(Size(6, 5_000, 3), [ATTACKS["samia"].spec()], settings) == 0
    assert temporary_bytes(Size(6, 5_000, 0), 3) == 0
    assert temporary_bytes(Size(256, 10**6, 0), 3) == 5 * 8 * 256 * 10**6
