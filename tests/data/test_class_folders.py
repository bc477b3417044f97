"""Pictures in one folder a class: which are read, in which order, with which values; what is refused by name."""

import numpy as np
import pytest
from PIL import Image

from reticent.data.load import load, together
from reticent.errors import CorruptFileError, InputError
from reticent.options import DataOptions


def save(path, pixels, mode=None, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(np.asarray(pixels, np.uint8))
    (picture.convert(mode) if mode else picture).save(path, **options)


def grey(value, height=4, width=4):
    return np.full((height, width), value)


def colour(value, height=4, width=4):
    return np.stack([grey(value + i, height, width) for i in range(3)], axis=2)


@pytest.fixture
def photos(tmp_path):
    """Two classes of two pictures each, in colours."""
    for value, place in enumerate(["cat/b.png", "cat/a.png", "dog/1.png", "dog/more/0.png"]):
        save(tmp_path / "photos" / place, colour(10 * value))
    return tmp_path / "photos"


def test_pictures_are_in_the_order_of_class_and_path(photos):
    found = load(photos)
    assert (found.kind, found.x.shape, found.class_names) == ("image", (4, 3, 4, 4), ("cat", "dog"))
    assert found.x[:, :, 0, 0].tolist() == [[10, 11, 12], [0, 1, 2], [20, 21, 22], [30, 31, 32]]
    assert found.y.tolist() == [0, 0, 1, 1]
    assert found.columns == {}
    assert found.name == str(photos)
    assert load(photos).digest == found.digest
    save(photos / "cat" / "a.png", colour(11))
    assert load(photos).digest != found.digest


def test_what_file_managers_and_notebooks_leave_is_passed_over(photos):
    before = load(photos).digest
    (photos / "README.txt").write_text("x")
    (photos / "cat" / ".DS_Store").write_bytes(b"x")
    (photos / "dog" / "Thumbs.db").write_bytes(b"x")
    save(photos / "cat" / ".ipynb_checkpoints" / "a.png", colour(99))
    save(photos / ".trash" / "a.png", colour(99))
    assert load(photos).digest == before


def test_grey_pictures_have_one_channel_and_three_beside_colours(tmp_path):
    for place, mode in (("a/1.png", None), ("a/2.png", "LA"), ("b/1.png", None)):
        save(tmp_path / place, grey(7), mode)
    save(tmp_path / "b" / "2.png", grey(255), "1")
    assert load(tmp_path).x.shape == (4, 1, 4, 4)
    assert load(tmp_path).x[:, 0, 0, 0].tolist() == [7, 7, 7, 255]
    save(tmp_path / "a" / "3.png", colour(50))
    assert load(tmp_path).x[:, :, 0, 0].tolist() == [[7] * 3, [7] * 3, [50, 51, 52], [7] * 3, [255] * 3]


def test_transparency_is_dropped_and_palettes_are_colours(tmp_path):
    alpha = np.concatenate([colour(40), grey(0)[:, :, None]], axis=2)
    save(tmp_path / "a" / "1.png", alpha)
    save(tmp_path / "b" / "1.png", colour(40), "P")
    found = load(tmp_path)
    assert found.x[0, :, 0, 0].tolist() == [40, 41, 42]
    assert np.abs(found.x[1, :, 0, 0].astype(int) - [40, 41, 42]).max() < 30  # as near as Pillow's palette is


@pytest.mark.parametrize("suffix", [".jpg", ".JPEG", ".bmp", ".webp", ".tif", ".ppm"])
def test_other_formats(suffix, tmp_path):
    options = {"lossless": True} if suffix == ".webp" else {}
    for name in ("a", "b"):
        save(tmp_path / name / f"1{suffix}", colour(60, 8, 8), **options)
    found = load(tmp_path).x[:, :, 4, 4].astype(int)
    assert np.abs(found - [60, 61, 62]).max() <= (3 if suffix.lower().startswith(".jp") else 0)


def test_train_val_and_test_are_joined_with_their_name_as_a_column(tmp_path):
    for value, (split, name) in enumerate((s, c) for s in ("train", "val", "Test") for c in ("cat", "dog")):
        save(tmp_path / split / name / "1.png", grey(value))
    found = load(tmp_path)
    assert found.columns["split"].tolist() == ["Test", "Test", "train", "train", "val", "val"]
    assert found.x[:, 0, 0, 0].tolist() == [4, 5, 0, 1, 2, 3]
    assert found.y.tolist() == [0, 1] * 3
    for name in ("train", "test"):  # classes that are called so
        save(tmp_path / "kinds" / name / "1.png", grey(1))
    assert load(tmp_path / "kinds").class_names == ("test", "train")


def test_pictures_of_several_sizes_need_a_size_to_which_they_are_brought(photos):
    wide = np.zeros((4, 8), int)
    wide[:, 2:6] = 200
    save(photos / "dog" / "2.png", wide)
    with pytest.raises(
        InputError, match=r"of one size, got 4 x 4 \(.*a\.png\) and 8 x 4 \(.*2\.png\): give --image-size"
    ):
        load(photos)
    found = load(photos, image_size=4)
    assert found.x.shape == (5, 3, 4, 4)
    assert (found.x[3] == 200).all(), "the middle, as it is"
    assert found.x[:, 0, 0, 0].tolist()[:3] == [10, 0, 20]
    # Halved by a triangle over four pixels of weights 1/8, 3/8, 3/8, 1/8, the last of which here is black.
    assert load(photos, image_size=2).x[3].tolist() == [[[175, 175]] * 2] * 3


def test_a_size_is_for_folders_alone(photos):
    with pytest.raises(InputError, match="image_size: is about a folder of pictures, got digits"):
        load("digits", image_size=8)


def all_in_one_class(photos):
    for path in list(photos.rglob("*.png")):
        path.rename(photos / "cat" / f"of-{path.parent.name}-{path.name}")
    (photos / "dog" / "more").rmdir()
    (photos / "dog").rmdir()


def cut_off(photos):
    content = (photos / "cat" / "b.png").read_bytes()
    (photos / "cat" / "b.png").write_bytes(content[:-30])


SPOILT = {
    "empty class": lambda photos: (photos / "bird").mkdir(),
    "one class": all_in_one_class,
    "no class": lambda photos: photos.rename(photos.with_name("cat")) and photos.mkdir(),
    "another file": lambda photos: (photos / "cat" / "notes.txt").write_text("x"),
    "gif": lambda photos: save(photos / "cat" / "x.gif", grey(1)),
    "no picture": lambda photos: (photos / "cat" / "x.png").write_bytes(b"x"),
    "cut off": cut_off,
    "16 bits": lambda photos: Image.fromarray(np.full((4, 4), 300, np.uint16)).save(photos / "dog" / "x.png"),
    "link": lambda photos: (photos / "cat" / "link").symlink_to(photos / "dog"),
}


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        ("empty class", InputError, "the folder of the class 'bird' holds no picture: remove it, or fill it"),
        (
            "one class",
            InputError,
            r"a folder for each of at least 2 classes, .*x\.npy and y\.npy; got pictures of 'cat' alone",
        ),
        ("no class", InputError, "expected in it a folder for each of at least 2 classes, .*; got none"),
        ("another file", InputError, r"cat/notes\.txt: expected pictures alone \(\.jpg, .*\): move other files away"),
        ("gif", InputError, r"cat/x\.gif: expected pictures alone"),
        (
            "no picture",
            CorruptFileError,
            r"cat/x\.png: cannot be read as an image \(.*\); copy it again, or move it away",
        ),
        ("cut off", CorruptFileError, r"cat/b\.png: cannot be read as an image"),
        ("16 bits", CorruptFileError, r"dog/x\.png: has more than 8 bits a channel \(I;16\): write it anew with 8"),
        ("link", InputError, r"cat/link: is a link to a folder, which is not followed: move it away"),
    ],
)
def test_what_is_wrong_with_a_folder_is_named(photos, what, error, words):
    SPOILT[what](photos)
    with pytest.raises(error, match=words):
        load(photos)


def test_a_link_to_a_picture_is_the_picture(photos):
    (photos / "dog" / "z.png").symlink_to(photos / "cat" / "b.png")
    found = load(photos)
    assert np.array_equal(found.x[4], found.x[1])
    assert found.duplicates == 1


def test_folders_of_members_and_others_are_read_as_one(photos, tmp_path):
    save(tmp_path / "others" / "cat" / "1.png", colour(90, 6, 8))
    save(tmp_path / "others" / "owl" / "1.png", colour(120, 8, 6))
    given = {"members": photos, "others": str(tmp_path / "others")}
    with pytest.raises(InputError, match="expected pictures of one size, got 8 x 6 "):
        together(given)
    records, rows = together(given, asked=DataOptions(image_size=4))
    assert records.class_names == ("cat", "dog", "owl")
    assert records.x[:, 0, 0, 0].tolist() == [10, 0, 20, 30, 90, 120]
    assert records.y.tolist() == [0, 0, 1, 1, 0, 2]
    assert {name: ids.tolist() for name, ids in rows.items()} == {"members": [0, 1, 2, 3], "others": [4, 5]}
