"""Data: records, who trained on which, roles, and one file per data set.

A new data set is one file with an ``ENTRY``, one line here, its test, and a line in the changelog.
"""

from collections.abc import Mapping

from reticent.data import (
    adult,
    cifar10,
    cifar100,
    cinic10,
    dbpedia14,
    digits,
    fashion_mnist,
    location30,
    mnist,
    purchase100,
    texas100,
    tinyimagenet,
)
from reticent.data.entry import DatasetEntry

DATASETS: Mapping[str, DatasetEntry] = {
    "adult": adult.ENTRY,
    "cifar10": cifar10.ENTRY,
    "cifar100": cifar100.ENTRY,
    "cinic10": cinic10.ENTRY,
    "dbpedia14": dbpedia14.ENTRY,
    "dbpedia14-characters": dbpedia14.AS_CHARACTERS,
    "digits": digits.ENTRY,
    "fashion-mnist": fashion_mnist.ENTRY,
    "location30": location30.ENTRY,
    "mnist": mnist.ENTRY,
    "purchase100": purchase100.ENTRY,
    "texas100": texas100.ENTRY,
    "tinyimagenet": tinyimagenet.ENTRY,
}
"""Every data set, by the name that the command line, configurations and reports use."""
