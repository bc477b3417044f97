"""Loaders of files that are not at hand, on files of the same form made here."""

import gzip
import io
import tarfile
import zipfile

import numpy as np
import pytest

from reticent.data.datasets import DATASETS
from reticent.data.load import load
from reticent.errors import CorruptFileError

pytestmark = pytest.mark.usefixtures("no_other_folders")
RNG = np.random.default_rng(0)


def csv_bytes(rows):
    buffer = io.BytesIO()
    np.savetxt(buffer, rows, fmt="%d", delimiter=",")
    return buffer.getvalue()


def tgz(path, members):
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@pytest.fixture(scope="module")
def purchase():
    labels = np.concatenate([np.arange(1, 101), RNG.integers(1, 101, 50)])
    return np.concatenate([labels[:, None], RNG.integers(0, 2, (150, 600))], axis=1)


def test_purchase100_takes_its_label_from_the_first_column(purchase, tmp_path):
    (tmp_path / "dataset_purchase").write_bytes(csv_bytes(purchase))
    records = load("purchase100", data_dir=tmp_path, verify=False)
    assert np.array_equal(records.x, purchase[:, 1:])
    assert np.array_equal(records.y, purchase[:, 0] - 1)
    assert records.classes == 100


def test_purchase100_out_of_its_archive(purchase, tmp_path):
    tgz(tmp_path / "dataset_purchase.tgz", {"./dataset_purchase": csv_bytes(purchase)})
    assert np.array_equal(load("purchase100", data_dir=tmp_path, verify=False).y, purchase[:, 0] - 1)
    with pytest.raises(Exception, match="expected git-blob-sha1 3efa7476ad5ed7ac3e558d28585a186b38fc5f19"):
        load("purchase100", data_dir=tmp_path)


def test_purchase100_of_another_length_is_refused(purchase, tmp_path):
    (tmp_path / "dataset_purchase").write_bytes(csv_bytes(purchase))
    with pytest.raises(CorruptFileError, match="expected 197,324 records, got 150"):
        load("purchase100", data_dir=tmp_path)


@pytest.mark.parametrize("label", [0, 101])
def test_purchase100_with_a_label_out_of_range_is_refused(purchase, label, tmp_path):
    rows = purchase.copy()
    rows[3, 0] = label
    (tmp_path / "dataset_purchase").write_bytes(csv_bytes(rows))
    with pytest.raises(
        CorruptFileError, match=rf"purchase100 in .*: y: expected integers from 0 to 99, got {label - 1} at position 3"
    ):
        load("purchase100", data_dir=tmp_path, verify=False)


def test_a_class_without_records_is_refused(purchase, tmp_path):
    (tmp_path / "dataset_purchase").write_bytes(csv_bytes(purchase[1:100]))
    with pytest.raises(CorruptFileError, match=r"1 of 100 classes have no record \(class 0\)"):
        load("purchase100", data_dir=tmp_path, verify=False)


@pytest.mark.parametrize("packed", [False, True])
def test_texas100(packed, tmp_path):
    features, labels = RNG.integers(0, 2, (110, 6169)), np.arange(110) % 100 + 1
    files = {"texas/100/feats": csv_bytes(features), "texas/100/labels": csv_bytes(labels[:, None])}
    if packed:
        tgz(tmp_path / "dataset_texas.tgz", files)
    else:
        (tmp_path / "texas" / "100").mkdir(parents=True)
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
    records = load("texas100", data_dir=tmp_path, verify=False)
    assert np.array_equal(records.x, features)
    assert np.array_equal(records.y, labels - 1)


def test_texas100_with_too_few_labels_is_refused(tmp_path):
    (tmp_path / "texas" / "100").mkdir(parents=True)
    (tmp_path / "texas" / "100" / "feats").write_bytes(csv_bytes(np.zeros((3, 6169), dtype=int)))
    (tmp_path / "texas" / "100" / "labels").write_bytes(b"1\n2\n")
    with pytest.raises(CorruptFileError, match=r"texas100 in .*: x has 3 records, y has 2"):
        load("texas100", data_dir=tmp_path, verify=False)


def test_cifar100(tmp_path):
    folder = tmp_path / "cifar-100-binary"
    folder.mkdir()
    fine, coarse = np.arange(200) % 100, np.arange(200) % 20
    x = RNG.integers(0, 256, (200, 3, 32, 32)).astype(np.uint8)
    rows = np.concatenate([coarse[:, None], fine[:, None], x.reshape(200, -1)], axis=1).astype(np.uint8)
    (folder / "train.bin").write_bytes(rows[:150].tobytes())
    (folder / "test.bin").write_bytes(rows[150:].tobytes())
    records = load("cifar100", data_dir=tmp_path, verify=False)
    assert np.array_equal(records.x, x)
    assert np.array_equal(records.y, fine)
    assert np.array_equal(records.columns["coarse"], coarse)
    assert records.columns["split"].tolist() == ["train"] * 150 + ["test"] * 50
    (folder / "test.bin").write_bytes(rows[150:].tobytes()[:-1])
    with pytest.raises(CorruptFileError, match="expected records of 3074 bytes, got 153,699 bytes"):
        load("cifar100", data_dir=tmp_path, verify=False)
    with pytest.raises(CorruptFileError, match="expected 153,700,000 bytes, got 461,100"):
        load("cifar100", data_dir=tmp_path)


def test_cifar100_has_a_hundred_sorted_names():
    names = DATASETS["cifar100"].facts["class_names"]
    assert len(names) == len(set(names)) == 100
    assert list(names) == sorted(names)


def idx_bytes(array):
    head = np.array([0x0800 + array.ndim, *array.shape], dtype=">u4")
    return head.tobytes() + array.astype(np.uint8).tobytes()


@pytest.fixture
def fashion(tmp_path):
    """Fashion-MNIST's four files, gzipped, without folders, as Debian packs them."""
    images = {"train": RNG.integers(0, 256, (20, 28, 28)), "t10k": RNG.integers(0, 256, (10, 28, 28))}
    for stem, x in images.items():
        (tmp_path / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(x)))
        (tmp_path / f"{stem}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(np.arange(len(x)) % 10)))
    return tmp_path, np.concatenate(list(images.values()))


def test_fashion_mnist(fashion):
    folder, images = fashion
    records = load("fashion-mnist", data_dir=folder, verify=False)
    assert np.array_equal(records.x[:, 0], images)
    assert records.y.tolist() == [*range(10)] * 3
    assert (records.columns["split"] == "test").sum() == 10
    assert records.class_names[9] == "ankle boot"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t10k-labels-idx1-ubyte.gz", gzip.compress(b"\0\0\x08\x03"), "expected an idx file of bytes with 1 axes"),
        ("t10k-labels-idx1-ubyte.gz", gzip.compress(idx_bytes(np.arange(9))), "10 images, but 9 labels"),
        (
            "t10k-labels-idx1-ubyte.gz",
            gzip.compress(idx_bytes(np.arange(10)) + b"1"),
            "its head says 10 bytes, 11 follow",
        ),
        (
            "t10k-labels-idx1-ubyte.gz",
            gzip.compress(idx_bytes(np.arange(10) + 1)),
            "y: expected integers from 0 to 9, got 10 at position 29",
        ),
        ("t10k-images-idx3-ubyte.gz", b"no gzip", "cannot be read"),
        ("t10k-images-idx3-ubyte.gz", gzip.compress(idx_bytes(np.zeros((10, 28, 28))))[:-9], "cut off"),
    ],
    ids=["axes", "count", "length", "label", "no-gzip", "cut-off"],
)
def test_damaged_idx_files_are_refused(fashion, name, content, words):
    folder, _ = fashion
    (folder / name).write_bytes(content)
    with pytest.raises(CorruptFileError, match=words):
        load("fashion-mnist", data_dir=folder, verify=False)


def picture_bytes(pixels, form):
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form)
    return buffer.getvalue()


@pytest.fixture
def cinic():
    """CINIC-10's members: ten classes, one picture in each part, one more in train."""
    names = DATASETS["cifar10"].facts["class_names"]
    pixels = {}
    for part, count in (("train", 2), ("valid", 1), ("test", 1)):
        for name in names:
            for i in range(count):
                pixels[f"{part}/{name}/cifar10-{part}-{i}.png"] = RNG.integers(0, 256, (32, 32, 3)).astype(np.uint8)
    return pixels


def test_cinic10_out_of_its_archive(cinic, tmp_path, caplog):
    files = {f"./{name}": picture_bytes(pixels, "PNG") for name, pixels in cinic.items()}
    tgz(tmp_path / "CINIC-10.tar.gz", dict(reversed(files.items())))
    records = load("cinic10", data_dir=tmp_path, verify=False)
    expected = np.stack([pixels.transpose(2, 0, 1) for pixels in cinic.values()])
    assert np.array_equal(records.x, expected)
    assert records.y.tolist() == [i // 2 for i in range(20)] + [*range(10)] * 2
    assert records.columns["split"].tolist() == ["train"] * 20 + ["valid"] * 10 + ["test"] * 10
    assert "40 of 270,000 images" in caplog.text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CINIC-10", "CINIC-10.tar.gz"]
    assert load("cinic10", data_dir=tmp_path).digest == records.digest


def test_damaged_image_folders_are_refused(cinic, tmp_path):
    for name, pixels in cinic.items():
        path = tmp_path / "CINIC-10" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture_bytes(pixels, "PNG"))
    victim = tmp_path / "CINIC-10" / "test" / "ship" / "cifar10-test-0.png"
    whole = victim.read_bytes()
    for content, words in (
        (whole[:200], "cannot be read as an image"),
        (picture_bytes(np.zeros((31, 32, 3), dtype=np.uint8), "PNG"), "expected 32 x 32 pixels, got 32 x 31"),
    ):
        victim.write_bytes(content)
        with pytest.raises(CorruptFileError, match=words):
            load("cinic10", data_dir=tmp_path)
    victim.unlink()
    victim.parent.rmdir()
    with pytest.raises(CorruptFileError, match="expected 10 class folders, got 9"):
        load("cinic10", data_dir=tmp_path)


def test_tinyimagenet_out_of_its_archive(tmp_path):
    names = [f"n{1000 + i}" for i in range(200)]
    grey = {name: np.full((64, 64), i, dtype=np.uint8) for i, name in enumerate(names)}
    with zipfile.ZipFile(tmp_path / "tiny-imagenet-200.zip", "w") as archive:
        for name, pixels in grey.items():
            archive.writestr(f"tiny-imagenet-200/train/{name}/images/{name}_10.JPEG", picture_bytes(pixels, "JPEG"))
            archive.writestr(f"tiny-imagenet-200/train/{name}/images/{name}_9.JPEG", picture_bytes(pixels * 0, "JPEG"))
        for i in (10, 9):
            archive.writestr(f"tiny-imagenet-200/val/images/val_{i}.JPEG", picture_bytes(grey[names[i]], "JPEG"))
        notes = "".join(f"val_{i}.JPEG\t{names[i]}\t0\t0\t62\t62\n" for i in (9, 10))
        archive.writestr("tiny-imagenet-200/val/val_annotations.txt", notes)
        archive.writestr("tiny-imagenet-200/words.txt", f"{names[0]}\tgoldfish, Carassius auratus\n")
        archive.writestr("tiny-imagenet-200/test/images/test_0.JPEG", b"never read")
    records = load("tinyimagenet", data_dir=tmp_path, verify=False)
    assert records.x.shape == (402, 3, 64, 64)
    assert records.y.tolist() == [i // 2 for i in range(400)] + [9, 10]
    assert records.columns["split"].tolist() == ["train"] * 400 + ["val"] * 2
    # Number 9 comes before number 10, and a grey file has the same value in each channel.
    assert records.x[2 * 150].max() == 0
    assert (records.x[2 * 150 + 1] == 150).all()
    assert (records.x[401] == 10).all()
    assert records.class_names[:2] == ("goldfish", "n1001")
    (tmp_path / "tiny-imagenet-200" / "val" / "val_annotations.txt").write_text("val_9.JPEG\tn1009\n")
    with pytest.raises(CorruptFileError, match=r"has no class for val_10\.JPEG"):
        load("tinyimagenet", data_dir=tmp_path)


def test_adult_with_an_unknown_category_is_refused(tmp_path):
    row = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Husband, White, Male, 1, 0, 40, Cuba, <=50K"
    )
    other = row.replace("<=", ">").replace("39", "40").replace("State-gov", "?")
    (tmp_path / "adult.data").write_text(f"{row}\n{other}\n\n")
    (tmp_path / "adult.test").write_text(f"|a comment\n{row}.\n{other}.\n")
    records = load("adult", data_dir=tmp_path, verify=False)
    assert records.y.tolist() == [0, 1, 0, 1]
    told = {one.column: (one.read_as, one.values, one.missing, one.features, one.note) for one in records.readings}
    standard = "less its mean 38.5816, over its standard deviation 13.6402, both of adult.data"
    assert told["age"] == ("number", 2, 0, 1, standard)
    assert told["workclass"] == ("category", 1, 2, 9, "gaps (?) are a category of their own")
    assert told["native-country"] == ("category", 1, 0, 42, "")
    assert told["income"] == ("label", 2, 0, 0, "")
    assert [name for name, one in told.items() if one[0] == "number"] == list(told)[:6]
    assert (len(told), sum(one[3] for one in told.values())) == (15, records.x.shape[1])
    for old, new, words in (
        ("Cuba", "Atlantis", "record 0 has 'Atlantis' in column 13"),
        ("39", "old", "column 0 holds something that is no number"),
        (", Cuba", "", "record 0 has 14 fields, expected 15"),
    ):
        (tmp_path / "adult.data").write_text(row.replace(old, new) + "\n")
        with pytest.raises(CorruptFileError, match=words):
            load("adult", data_dir=tmp_path, verify=False)
