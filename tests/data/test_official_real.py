"""The real official files: counts, ranges, and what happens when they are damaged or missing."""

import gzip
import shutil
import tarfile

import numpy as np
import pytest
from sklearn.datasets import load_digits

from reticent.data.datasets import DATASETS
from reticent.data.load import load
from reticent.errors import ChecksumError, CorruptFileError, MissingFileError

pytestmark = pytest.mark.usefixtures("no_other_folders")


def test_digits():
    records = load("digits")
    assert records.x.shape == (1797, 64)
    assert records.x.dtype == np.float32
    assert (records.x.min(), records.x.max()) == (0, 1)
    assert np.array_equal(records.x * 16, np.rint(records.x * 16))
    assert np.bincount(records.y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert records.thumbnail(0).shape == (8, 8)
    assert records.name == "digits"


def test_digits_are_those_that_scikit_learn_loads():
    features, labels = load_digits(return_X_y=True)
    records = load("digits")
    assert np.array_equal(records.x * 16, features)
    assert np.array_equal(records.y, labels)


def test_location30(location_folder):
    records = load("location30", data_dir=location_folder)
    assert records.x.shape == (5010, 446)
    assert set(np.unique(records.x)) == {0, 1}
    first = [line.split(b",")[0] for line in (location_folder / "location" / "bangkok").read_bytes().splitlines()]
    assert first[0] == b'"13"'
    assert records.y[0] == 12
    assert np.array_equal(records.y + 1, [int(label.strip(b'"')) for label in first])
    assert (records.y.min(), records.y.max(), records.classes) == (0, 29, 30)
    assert records.duplicates == 0


def test_location30_out_of_its_archive(shared, location_folder):
    assert load("location30", data_dir=shared).digest == load("location30", data_dir=location_folder).digest


def test_adult(adult_folder):
    records = load("adult", data_dir=adult_folder)
    assert records.x.shape == (48842, 108)
    assert np.bincount(records.y).tolist() == [24720 + 12435, 7841 + 3846]
    split = records.columns["split"]
    assert (np.count_nonzero(split == "train"), np.count_nonzero(split == "test")) == (32561, 16281)
    assert split[32560] == "train"
    assert split[32561] == "test"
    assert set(records.columns["sex"]) == {"Female", "Male"}
    assert len(set(records.columns["race"])) == 5
    assert np.abs(records.x[:32561, :6].mean(axis=0, dtype=np.float64)).max() < 1e-5
    assert np.abs(records.x[:32561, :6].std(axis=0, dtype=np.float64) - 1).max() < 1e-5
    assert (records.x[:, 6:].sum(axis=1) == 8).all()
    # The first person: 39 years old, 13 years of education, a man.
    assert records.x[0, 0] == pytest.approx((39 - 38.58164675532078) / 13.640223092304275)
    assert records.x[0, [-43, -44]].tolist() == [1, 0]


@pytest.mark.calibration
def test_mnist_plain_and_gzipped(mnist_folder, tmp_path):
    records = load("mnist", data_dir=mnist_folder)
    assert records.x.shape == (70000, 1, 28, 28)
    assert records.x.dtype == np.uint8
    assert records.y[:5].tolist() == [5, 0, 4, 1, 9]
    assert records.y[60000:60005].tolist() == [7, 2, 1, 0, 4]
    assert (records.x / 255).mean() == pytest.approx(records.mean[0], abs=1e-3)
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for file in (mnist_folder / "MNIST" / "raw").iterdir():
        (raw / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 1))
    assert load("mnist", data_dir=tmp_path).digest == records.digest


@pytest.mark.slow
def test_cifar10(tmp_path):
    from shared_copies import made

    folder = made(tmp_path, "cifar10")
    records = load("cifar10", data_dir=folder)
    assert records.x.shape == (60000, 3, 32, 32)
    assert np.bincount(records.y).tolist() == [6000] * 10
    assert records.y[:3].tolist() == [6, 9, 9]
    assert records.duplicates == 0
    assert (records.x[:50000] / 255).mean(axis=(0, 2, 3)) == pytest.approx(records.mean, abs=1e-6)
    packed = tmp_path / "packed"
    packed.mkdir()
    with tarfile.open(packed / "cifar-10-binary.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(folder / "cifar-10-batches-bin", "cifar-10-batches-bin")
    assert load("cifar10", data_dir=packed, verify=False).digest == records.digest
    with pytest.raises(ChecksumError, match="expected sha1 fab780a1e191a7eda0f345501ccd62d20f7ed891"):
        load("cifar10", data_dir=packed)


@pytest.mark.calibration
def test_tinyimagenet_part(tmp_path, caplog):
    from shared_copies import made

    records = load("tinyimagenet", data_dir=made(tmp_path, "tinyimagenet"))
    assert records.x.shape == (16000, 3, 64, 64)
    assert np.bincount(records.y).tolist() == [80] * 200
    assert "16,000 of 110,000 images" in caplog.text


def test_one_changed_byte_is_found(location_folder, tmp_path):
    target = tmp_path / "location" / "bangkok"
    target.parent.mkdir()
    content = bytearray((location_folder / "location" / "bangkok").read_bytes())
    content[-2] = ord("1") if content[-2] == ord("0") else ord("0")
    target.write_bytes(content)
    with pytest.raises(ChecksumError) as caught:
        load("location30", data_dir=tmp_path)
    for words in (str(target), "expected sha256 2ca8f7fc", "got ", "delete it and fetch it again"):
        assert words in str(caught.value)
    assert len(load("location30", data_dir=tmp_path, verify=False)) == 5010


def test_a_cut_off_file_is_found(location_folder, tmp_path):
    target = tmp_path / "location" / "bangkok"
    target.parent.mkdir()
    target.write_bytes((location_folder / "location" / "bangkok").read_bytes()[:-100])
    with pytest.raises(CorruptFileError, match=r"expected 4,492,469 bytes, got 4,492,369"):
        load("location30", data_dir=tmp_path)
    with pytest.raises(CorruptFileError, match="line 5010 has"):
        load("location30", data_dir=tmp_path, verify=False)


def test_a_cut_off_archive_is_found(shared, tmp_path):
    target = tmp_path / "dataset_location.tgz"
    target.write_bytes((shared / "dataset_location.tgz").read_bytes()[:200_000])
    with pytest.raises(ChecksumError, match=r"expected git-blob-sha1 0cfc2caa.* delete it and fetch it again"):
        load("location30", data_dir=tmp_path)
    with pytest.raises(CorruptFileError, match=r"cannot be read .* delete it and fetch it again"):
        load("location30", data_dir=tmp_path, verify=False)


def test_a_missing_file_is_named_with_all_that_helps(tmp_path, monkeypatch, no_other_folders):
    monkeypatch.setenv("RETICENT_DATA", str(tmp_path / "second"))
    with pytest.raises(MissingFileError) as caught:
        load("location30", data_dir=tmp_path / "first")
    for words in (
        "location/bangkok",
        "https://github.com/privacytrustlab/datasets/raw/master/dataset_location.tgz",
        "git-blob-sha1 0cfc2caa0c8c8569cd68a5d4ab369a98c1f98447",
        str(tmp_path / "first"),
        str(tmp_path / "second"),
        str(no_other_folders),
        "reticent data fetch location30",
    ):
        assert words in str(caught.value)


def test_the_first_missing_file_is_the_one_named(mnist_folder, tmp_path):
    shutil.copytree(mnist_folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "MNIST" / "raw" / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(MissingFileError, match="missing file MNIST/raw/t10k-labels-idx1-ubyte"):
        load("mnist", data_dir=tmp_path)


def test_the_environment_and_the_cache_are_looked_in(shared, monkeypatch, no_other_folders):
    monkeypatch.setenv("RETICENT_DATA", str(shared))
    assert len(load("location30")) == 5010
    monkeypatch.delenv("RETICENT_DATA")
    no_other_folders.mkdir(parents=True)
    shutil.copy(shared / "dataset_location.tgz", no_other_folders)
    assert len(load("location30")) == 5010


def test_the_table_is_whole():
    for name, entry in DATASETS.items():
        assert entry.name == name
        assert entry.licence
        assert entry.citation
        assert entry.summary.endswith(".")
        assert entry.suggested["models"] >= 2
        assert all(file.source.startswith("http") for file in entry.files)
        assert (entry.files == ()) == (name == "digits")


@pytest.mark.parametrize("name", DATASETS)
def test_suggested_values_make_a_recipe(name):
    from reticent.jobs.recipes import build_recipe

    values = dict(DATASETS[name].suggested)
    del values["models"]
    recipe = build_recipe(values, {})
    assert recipe.architecture.method == values["architecture"]
    assert (recipe.epochs, recipe.learning_rate) == (values["epochs"], values["learning_rate"])
