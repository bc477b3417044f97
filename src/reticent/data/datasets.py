"""Every known data set: the facts that ``datasets.toml`` states, and the function that reads its official files.

A new data set is a table of that file, a reader and a line here, its test, and a line in the changelog.
"""

import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from reticent.data import adult, cifar, cinic10, dbpedia14, digits, mnist, shokri2017, text, tinyimagenet
from reticent.data.entry import Archive, DatasetEntry, OfficialFile, Reader

READERS: Mapping[str, Reader] = {
    "adult": adult.read,
    "cifar10": cifar.read,
    "cifar100": cifar.read,
    "cinic10": cinic10.read,
    "dbpedia14": partial(dbpedia14.read, tokens=text.words, vocabulary=text.VOCABULARY),
    "dbpedia14-characters": partial(dbpedia14.read, tokens=text.characters, vocabulary=text.CHARACTERS),
    "digits": digits.read,
    "fashion-mnist": mnist.read,
    "location30": partial(shokri2017.read, width=446),
    "mnist": mnist.read,
    "purchase100": partial(shokri2017.read, width=600),
    "texas100": partial(shokri2017.read, width=6_169),
    "tinyimagenet": tinyimagenet.read,
}
TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FACTS = {"class_names", "mean", "std", "picture"}
"""Keys of a table that every record set has as they stand there."""


def _entry(name: str, table: Any) -> DatasetEntry:
    facts: Any = {key: tuple(table.pop(key)) for key in FACTS & table.keys()}
    suggested = TABLES["presets"][table.pop("preset")] | table.pop("suggested", {})
    archive = Archive(**table.pop("archive")) if "archive" in table else None
    files = tuple(
        OfficialFile(**{"archive": archive, "member": file["path"] if archive else "", **file})
        for file in table.pop("files", ())
    )
    return DatasetEntry(name=name, files=files, read=READERS[name], suggested=suggested, facts=facts, **table)


DATASETS: Mapping[str, DatasetEntry] = {name: _entry(name, TABLES[name]) for name in READERS}
"""Every data set, by the name that the command line, configurations and reports use."""
