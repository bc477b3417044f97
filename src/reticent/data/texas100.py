"""Texas100: what was recorded of a stay in hospital, as 6,169 bits, with the 100 most frequent procedures as classes.

Paper: Shokri et al. (2017), Membership inference attacks against machine learning models; Texan hospital discharges.
"""

import io
from pathlib import Path

from reticent.data import bits, official
from reticent.data.entry import TABULAR, Archive, Checksum, DatasetEntry, OfficialFile
from reticent.data.records import Records
from reticent.errors import CorruptFileError

FEATURES = 6_169
ARCHIVE = Archive(
    "dataset_texas.tgz",
    "https://github.com/privacytrustlab/datasets/raw/master/dataset_texas.tgz",
    Checksum("git-blob-sha1", "966f7ff40b24cf5912ff84759aab9adb8c25f30e"),
)


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``texas/100/feats`` and ``texas/100/labels``, or the official archive.

    Cost:
        2.1 GB of memory.
    """
    bits_file, label_file = ENTRY.files
    with official.opened(folder, bits_file, verify=verify) as (stream, path):
        features, _ = bits.read(stream, FEATURES, path, labelled=False)
    official.expect_count(len(features), ENTRY.records, path, verify=verify)
    (content,) = official.read(folder, [label_file], verify=verify)
    texts = [line for line in io.BytesIO(content) if line.strip()]
    labels = official.labels(bits.numbers(texts, label_file.path) - 1, ENTRY.classes, label_file.path)
    if len(labels) != len(features):
        raise CorruptFileError(f"{path}: {len(features):,} rows, but {label_file.path} has {len(labels):,} labels")
    return Records.make(features, labels, **ENTRY.facts())


ENTRY = DatasetEntry(
    name="texas100",
    title="Texas100",
    summary="Stays in Texan hospitals, as 6,169 bits a stay, with 100 procedures as classes.",
    kind="tabular",
    records=67_330,
    classes=100,
    files=(
        OfficialFile("texas/100/feats", archive=ARCHIVE, member="texas/100/feats"),
        OfficialFile("texas/100/labels", archive=ARCHIVE, member="texas/100/labels"),
    ),
    licence="none stated; research use",
    citation="Shokri et al., Membership inference attacks against machine learning models, IEEE S&P 2017",
    load=load,
    suggested={**TABULAR, "models": 16},
)
