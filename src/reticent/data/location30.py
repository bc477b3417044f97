"""Location30: which of 446 places and kinds of places a person visited, in 30 clusters of people.

Paper: Shokri et al. (2017), Membership inference attacks against machine learning models; Yang et al. (2016).
"""

import io
from pathlib import Path

from reticent.data import bits, official
from reticent.data.entry import TABULAR, Archive, Checksum, DatasetEntry, OfficialFile
from reticent.data.records import Records

FEATURES = 446


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``location/bangkok``, or the official archive."""
    (file,) = ENTRY.files
    (content,) = official.read(folder, ENTRY.files, verify=verify)
    features, texts = bits.read(io.BytesIO(content), FEATURES, file.path, labelled=True)
    official.expect_count(len(features), ENTRY.records, file.path, verify=verify)
    labels = official.labels(bits.numbers(texts, file.path) - 1, ENTRY.classes, file.path)
    return Records.make(features, labels, **ENTRY.facts())


ENTRY = DatasetEntry(
    name="location30",
    title="Location30",
    summary="Places that people in Bangkok visited, as 446 bits a person, in 30 clusters.",
    kind="tabular",
    records=5_010,
    classes=30,
    files=(
        OfficialFile(
            "location/bangkok",
            archive=Archive(
                "dataset_location.tgz",
                "https://github.com/privacytrustlab/datasets/raw/master/dataset_location.tgz",
                Checksum("git-blob-sha1", "0cfc2caa0c8c8569cd68a5d4ab369a98c1f98447"),
                287_293,
            ),
            member="bangkok",
            # Not published: summed here from the archive with the git id above.
            checksum=Checksum("sha256", "2ca8f7fc231251e089823e44d39f2d1eed124574cc351c7f80368cfe631dd718"),
            size=4_492_469,
        ),
    ),
    licence="none stated; research use",
    citation="Shokri et al., Membership inference attacks against machine learning models, IEEE S&P 2017; "
    "Yang et al., Participatory cultural mapping, ACM TIST 2016",
    load=load,
    suggested={**TABULAR, "models": 32},
)
