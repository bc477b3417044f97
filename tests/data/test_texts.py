"""Texts as tokens, DBpedia-14 in the official form made here, and the sample of it that lies in the shared folder."""

import csv
import io
import lzma
import tarfile
import zlib

import numpy as np
import pytest

from reticent.data import text
from reticent.data.load import load
from reticent.errors import ChecksumError, CorruptFileError

NAMES = ("dbpedia14", "dbpedia14-characters")


def part(rows):
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()


TRAIN = [[i % 14 + 1, f"Title {i}", f' It says "word {i}", twice: word {i}.'] for i in range(28)]
TEST = [[i + 1, "Über", f" café {i}"] for i in range(14)]


@pytest.fixture
def official(tmp_path, no_other_folders):
    folder = tmp_path / "dbpedia_csv"
    folder.mkdir()
    (folder / "train.csv").write_bytes(part(TRAIN))
    (folder / "test.csv").write_bytes(part(TEST))
    return tmp_path


def test_words_by_hand():
    got = text.words(["The cat, the CAT!", "", "a " * 9], length=6, vocabulary=100)
    code = lambda word: zlib.crc32(word.encode()) % 99 + 1  # noqa: E731
    assert got.tolist() == [
        [code(word) for word in ("the", "cat", ",", "the", "cat", "!")],
        [0] * 6,
        [code("a")] * 6,
    ]
    assert got.dtype == np.int64


def test_characters_by_hand():
    got = text.characters(["A b~", "é\t"], length=5)
    assert got.tolist() == [[ord("a") - 30, 2, ord("b") - 30, 96, 0], [1, 1, 0, 0, 0]]
    assert got.max() < text.CHARACTERS


def test_a_texts_tokens_do_not_depend_on_other_texts():
    texts = [f"word{i} and word{2 * i}" for i in range(50)]
    assert np.array_equal(text.words(texts)[10:20], text.words(texts[10:20]))


def test_few_words_share_a_token_and_none_is_the_padding():
    spread = text.words([f"word{i}" for i in range(5000)], length=1)
    assert spread.min() > text.PADDING
    assert spread.max() < text.VOCABULARY
    assert len(np.unique(spread)) == pytest.approx(16383 * (1 - np.exp(-5000 / 16383)), rel=0.03)


@pytest.mark.parametrize(("name", "length", "vocabulary"), [(NAMES[0], 64, 2**14), (NAMES[1], 256, 97)])
def test_dbpedia14_in_its_official_form(official, name, length, vocabulary):
    records = load(name, data_dir=official, verify=False)
    assert (records.kind, records.classes, records.vocabulary, records.name) == ("tokens", 14, vocabulary, name)
    assert records.x.shape == (42, length)
    assert records.y.tolist() == [*(i % 14 for i in range(28)), *range(14)]
    assert records.columns["split"].tolist() == ["train"] * 28 + ["test"] * 14
    assert records.class_names[13] == "WrittenWork"
    tokens = text.words if name == NAMES[0] else text.characters
    assert np.array_equal(records.x[:1], tokens(['Title 0  It says "word 0", twice: word 0.']))
    assert np.array_equal(records.x[41:], tokens(["Über  café 13"]))


def test_dbpedia14_out_of_an_archive(official):
    with tarfile.open(official / "dbpedia_csv.tgz", "w:gz") as archive:
        archive.add(official / "dbpedia_csv", "dbpedia_csv")
    expected = load("dbpedia14", data_dir=official, verify=False).digest
    for name in ("train", "test"):
        (official / "dbpedia_csv" / f"{name}.csv").unlink()
    assert load("dbpedia14", data_dir=official, verify=False).digest == expected
    with pytest.raises(ChecksumError, match="expected md5 239c7837b9e79db34486f3de6a00e38e"):
        load("dbpedia14", data_dir=official)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["1", "title"]], "record 0: expected a number, a title and an abstract, got 2 fields"),
        ([["one", "title", "text"]], "record 0: expected a number"),
        ([["1", "a", "b"], ["15", "a", "b"]], "y: expected integers from 0 to 13, got 14 at position 1"),
    ],
)
def test_damaged_dbpedia14_is_refused(official, rows, words):
    (official / "dbpedia_csv" / "train.csv").write_bytes(part(rows))
    with pytest.raises(CorruptFileError, match=words):
        load("dbpedia14", data_dir=official, verify=False)


def test_another_number_of_records_is_refused(official):
    with pytest.raises(CorruptFileError, match=r"dbpedia14: expected 630,000 records, got 42"):
        load("dbpedia14", data_dir=official)


@pytest.mark.slow
def test_a_transformer_learns_the_classes_of_the_shared_sample(shared):
    """A tenth of the sample: chance is 1/14."""
    import torch

    from reticent.data.records import Records
    from reticent.models.transformer import Transformer
    from reticent.objectives import OBJECTIVES
    from reticent.objectives.cross_entropy import CrossEntropy
    from reticent.training.data import Preparation
    from reticent.training.loop import accuracy, fit
    from reticent.training.materials import Materials, untrained
    from reticent.training.recipe import Recipe
    from reticent.training.streams import Streams

    with lzma.open(shared / "text" / "dbpedia14_sample14000.csv.xz", "rt", encoding="utf-8") as file:
        rows = [line.split(",", 1) for line in file][:2800]
    labels = np.array([int(row[0]) for row in rows])
    records = Records.make(text.words([row[1] for row in rows], 32, 4096), labels, vocabulary=4096)
    prepare = Preparation(records, torch.device("cpu"))
    members, others = (prepare.examples(records, ids) for ids in np.split(np.arange(2800), [2000]))
    materials = Materials(members, others, others, prepare, records.classes)
    recipe = Recipe(architecture=Transformer(dim=64, heads=2, hidden=64, depth=1), epochs=5, learning_rate=3e-3)
    streams = Streams(0, 0)
    model = untrained(recipe, materials, streams)
    fit(model, recipe, materials, OBJECTIVES["cross-entropy"].build(CrossEntropy()), streams)
    assert accuracy(model, materials, members) > 0.95
    assert accuracy(model, materials, others) > 0.7
