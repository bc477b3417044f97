"""Records that come in several parts are read as one: categories, labels and classes alike, errors by part."""

import numpy as np
import pytest

from reticent.data.load import together
from reticent.errors import ColumnsError, CorruptFileError, InputError, MissingFileError, ShapeError
from reticent.options import DataOptions


def arrays(n, seed=0, labels=None):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 if labels is None else np.asarray(labels)
    return rng.normal(size=(n, 4)).astype(np.float32), y


def test_parts_keep_their_order_and_lack_classes():
    one, two = arrays(7), arrays(3, 1, [2, 2, 2])
    records, rows = together({"members": one, "others": {"x": two[0], "y": two[1]}})
    assert records.classes == 3
    assert {name: ids.tolist() for name, ids in rows.items()} == {"members": list(range(7)), "others": [7, 8, 9]}
    assert np.array_equal(records.x[rows["others"]], two[0])
    assert records.y[rows["others"]].tolist() == [2, 2, 2]


def test_files_and_arrays_go_together(tmp_path):
    x, y = arrays(9)
    np.savez(tmp_path / "a.npz", features=x, labels=y)
    (tmp_path / "b").mkdir()
    np.save(tmp_path / "b" / "x.npy", x[:4])
    np.save(tmp_path / "b" / "y.npy", y[:4].astype(np.uint8))
    records, rows = together({"a": tmp_path / "a.npz", "b": str(tmp_path / "b"), "c": (x[4:].tolist(), y[4:].tolist())})
    assert len(records) == 18
    assert np.allclose(records.x[rows["c"]], x[4:])
    assert records.y.tolist() == [*y, *y[:4], *y[4:]]


def test_texts_become_the_same_categories_in_every_table(tmp_path):
    (tmp_path / "a.csv").write_text("colour,size,label\nred,1,yes\nblue,2,no\n")
    (tmp_path / "b.csv").write_text("label,size,colour\nno,3,green\nno,x,red\n")
    (tmp_path / "c.csv").write_text("size,colour,label\n4,red,no\n")
    (tmp_path / "d.csv").write_text("colour,size,extra,label\nred,1,1,yes\n")
    with pytest.raises(InputError, match="others: expected the columns of the members, got others: extra"):
        together({"members": tmp_path / "a.csv", "others": tmp_path / "d.csv"})
    records, rows = together({"a": tmp_path / "a.csv", "c": tmp_path / "c.csv"})
    assert records.class_names == ("no", "yes")
    assert records.x.tolist() == [[0, 1, 1], [1, 0, 2], [0, 1, 4]]
    assert records.y[rows["c"]].tolist() == [0]
    # A column that is texts in one table is texts in all of them.
    mixed, _ = together({"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"})
    assert mixed.x.shape == (4, 7)
    assert mixed.x[:, :3].argmax(axis=1).tolist() == [2, 0, 1, 2]


def test_numbers_of_one_table_and_of_another_are_one_column(tmp_path):
    (tmp_path / "a.csv").write_text("u,label\n1,0\n2,1\n")
    (tmp_path / "b.csv").write_text('u,label\n3.5,"1"\n"4",0\n')
    records, _ = together({"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"})
    assert records.x[:, 0].tolist() == [1, 2, 3.5, 4]
    assert records.y.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("second", "error", "words"),
    [
        ((np.zeros((3, 5), np.float32), [0, 1, 2]), ShapeError, r"b: x: expected records of shape \(4,\), .* \(5,\)"),
        ((np.zeros((3, 4), np.int64), [0, 1, 2]), InputError, "b: x: expected numbers, as the a have, got whole"),
        ((np.zeros((3, 4), np.float32), ["u", "v", "w"]), InputError, "b: y: expected numbers, .* got texts"),
        ((np.zeros((3, 4), np.float32), [0, 1]), ShapeError, "b: expected at least one record, and as many labels"),
        ((np.zeros((0, 4), np.float32), []), ShapeError, "b: expected at least one record"),
        (
            (np.full((3, 4), np.nan, np.float32), [0, 1, 2]),
            InputError,
            "b: x: expected finite numbers, got 12 NaN or infinite of 12",
        ),
        (([[1, 2], [3]], [0, 1]), ShapeError, "b: x: expected a rectangular array"),
        ("none.npz", MissingFileError, "b: no file 'none.npz'"),
        ("some.txt", InputError, "b: some.txt: expected a file of type .npz"),
        ("some.csv", InputError, r"b: expected arrays \(.npz, .npy, or a folder\), as the a are, got a table"),
    ],
)
def test_what_is_wrong_names_its_part(second, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.txt").write_text("1")
    (tmp_path / "some.csv").write_text("u,label\n1,0\n")
    with pytest.raises(error, match=words):
        together({"a": arrays(6), "b": second})


def test_columns_of_all_parts_are_read_together_as_asked(tmp_path):
    (tmp_path / "a.csv").write_text("u,c,label\n1,x,0\n,x,1\n")
    (tmp_path / "b.csv").write_text("u,c,label\n4,y,0\n7,x,1\n")
    files = {"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"}
    with pytest.raises(
        ColumnsError, match="a and b: column 'u' is empty or NaN in 1 of 4 records, the first is record 1"
    ):
        together(files)
    asked = DataOptions(missing="indicator", rare={"c": 2})
    records, _ = together(files, asked=asked)
    assert records.x.tolist() == [[1, 0, 1, 0], [4, 1, 1, 0], [4, 0, 0, 1], [7, 0, 1, 0]]


def test_columns_and_scales_belong_to_what_has_them(tmp_path):
    (tmp_path / "a.csv").write_text("u,label\n1,0\n2,1\n")
    with pytest.raises(InputError, match=r"label: is about columns of a table .*, got arrays"):
        together({"a": arrays(6)}, asked=DataOptions(label="y"))
    with pytest.raises(InputError, match="mean and std are for pictures"):
        together({"a": tmp_path / "a.csv"}, mean=(0.5,), std=(0.5,))
    (tmp_path / "b.npz").write_bytes(b"no archive")
    with pytest.raises(CorruptFileError, match=r"b\.npz"):
        together({"a": tmp_path / "b.npz"})
    pictures = np.zeros((4, 2, 2), np.uint8), np.arange(4) % 2
    records, _ = together({"a": pictures, "b": pictures}, mean=(0.1,), std=(0.3,))
    assert (records.mean, records.std) == ((0.1,), (0.3,))


def test_texts_of_data_frames_become_the_same_categories_too(tmp_path):
    import pyarrow as pa

    one = pa.table({"colour": ["red", "blue"], "size": [1, 2], "label": ["yes", "no"]})
    (tmp_path / "b.csv").write_text("size,colour,label\n4,green,no\n")
    records, rows = together({"a": one, "b": tmp_path / "b.csv"})
    assert records.x.tolist() == [[0, 0, 1, 1], [1, 0, 0, 2], [0, 1, 0, 4]]
    assert (records.class_names, rows["b"].tolist()) == (("no", "yes"), [2])


def test_a_size_is_for_the_parts_that_are_folders(tmp_path):
    from PIL import Image

    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        Image.fromarray(np.full((8, 8), 9, np.uint8)).save(tmp_path / name / "1.png")
    pictures = np.zeros((2, 4, 4), np.uint8), np.array(["cat", "dog"])
    with pytest.raises(ShapeError, match="b: x: expected records of shape"):
        together({"a": tmp_path, "b": pictures}, asked=DataOptions(image_size=4))
    records, _ = together({"a": tmp_path, "b": (pictures[0][:, None], pictures[1])}, asked=DataOptions(image_size=4))
    assert records.x[:, 0, 0, 0].tolist() == [9, 9, 0, 0]
