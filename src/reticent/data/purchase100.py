"""Purchase100: which of 600 products a customer bought, in 100 clusters of customers.

Paper: Shokri et al. (2017), Membership inference attacks against machine learning models; Kaggle's valued shoppers.
"""

from pathlib import Path

from reticent.data import bits, official
from reticent.data.entry import TABULAR, Archive, Checksum, DatasetEntry, OfficialFile
from reticent.data.records import Records

FEATURES = 600


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``dataset_purchase``, or the official archive."""
    (file,) = ENTRY.files
    with official.opened(folder, file, verify=verify) as (stream, path):
        features, texts = bits.read(stream, FEATURES, path, labelled=True)
    official.expect_count(len(features), ENTRY.records, path, verify=verify)
    labels = official.labels(bits.numbers(texts, path) - 1, ENTRY.classes, path)
    return Records.make(features, labels, **ENTRY.facts())


ENTRY = DatasetEntry(
    name="purchase100",
    title="Purchase100",
    summary="What customers bought, as 600 bits a customer, in 100 clusters.",
    kind="tabular",
    records=197_324,
    classes=100,
    files=(
        OfficialFile(
            "dataset_purchase",
            archive=Archive(
                "dataset_purchase.tgz",
                "https://github.com/privacytrustlab/datasets/raw/master/dataset_purchase.tgz",
                Checksum("git-blob-sha1", "3efa7476ad5ed7ac3e558d28585a186b38fc5f19"),
            ),
            member="dataset_purchase",
        ),
    ),
    licence="rules of Kaggle's valued shoppers competition; research use",
    citation="Shokri et al., Membership inference attacks against machine learning models, IEEE S&P 2017",
    load=load,
    suggested={**TABULAR, "models": 16},
)
