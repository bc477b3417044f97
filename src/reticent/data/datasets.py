"""Data: records, who trained on which, roles, and one file for each data set or family of them.

A new data set is one file with a `DatasetEntry`, one line here, its test, and a line in the changelog.
"""

from collections.abc import Mapping

from reticent.data import (
    adult,
    cifar,
    cinic10,
    dbpedia14,
    digits,
    mnist,
    shokri2017,
    tinyimagenet,
)
from reticent.data.entry import DatasetEntry

DATASETS: Mapping[str, DatasetEntry] = {
    "adult": adult.ENTRY,
    "cifar10": cifar.CIFAR10,
    "cifar100": cifar.CIFAR100,
    "cinic10": cinic10.ENTRY,
    "dbpedia14": dbpedia14.ENTRY,
    "dbpedia14-characters": dbpedia14.AS_CHARACTERS,
    "digits": digits.ENTRY,
    "fashion-mnist": mnist.FASHION_MNIST,
    "location30": shokri2017.LOCATION30,
    "mnist": mnist.MNIST,
    "purchase100": shokri2017.PURCHASE100,
    "texas100": shokri2017.TEXAS100,
    "tinyimagenet": tinyimagenet.ENTRY,
}
"""Every data set, by the name that the command line, configurations and reports use."""
