"""A table of the user's own in the place of a scale's: its records alone are other, all else is as the scale says."""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent.data.datasets import DATASETS
from reticent.data.load import load, of_python
from reticent.data.records import Records
from reticent.errors import InputError
from reticent.objectives.relaxloss import RelaxLoss
from reticent.options import OWN, DataOptions, Options
from reticent.studies import STUDIES
from reticent.studies.base import Scale, Setting, Study

NETWORK = "MLP"
"""The kind of network of those settings whose records another table can replace."""
ONE_IN = 5
"""The defender has at most one in so many of the table's records."""


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table that takes the place of a scale's; its `key` is that of the setting, and of the folder of results."""

    key: str
    called: str
    dataset: str
    records: Records

    def setting(self, table: Setting) -> Setting:
        """Take the place of a table in a setting."""
        count, base = len(self.records), table.base | {"dataset": self.dataset}
        if "reference" in base:
            base["reference"] = min(base["reference"], count // ONE_IN)
        if "records" in base:
            base["records"] = min(base["records"], count - base.get("reference", 0))
        options, unlike = self._levels(table.options), "a table that the user gave, and an MLP"
        return replace(table, key=self.key, label=f"MLP on {self.called}", base=base, options=options, unlike=unlike)

    def _levels(self, options: Options) -> Options:
        """Let RelaxLoss's level be chosen below log C, beyond which it is no loss of C classes."""
        most = math.log(self.records.classes)
        if max(options.get("levels", (RelaxLoss().level,))) < most:
            return options
        return options | {"levels": tuple(round(share * most, 2) for share in (0.25, 0.5, 0.75))}


def key(dataset: Any) -> str:
    """Say what the setting of a table is called: by the end of a file's name."""
    name = Path(dataset).stem if isinstance(dataset, (str, Path)) else OWN
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "own"


def read(dataset: Any, reading: DataOptions, data_dir: str | None) -> OwnTable:
    """Read a table: a name of `reticent data list`, a file, or data as they are."""
    if isinstance(dataset, (str, Path)):
        records, called = load(dataset, data_dir=data_dir, **reading.given()), Path(dataset).name
    else:
        records, called = of_python("dataset", dataset, reading), "a table of the user's own"
    if records.kind != "tabular":
        raise InputError(f"dataset: expected a table, which studies give to an MLP, got records of kind {records.kind}")
    return OwnTable(key(dataset), called, str(dataset) if str(dataset) in DATASETS else OWN, records)


def table(study: Study, scale: str) -> Setting:
    """Find the setting of a scale that has a table; refuse a scale without one."""
    found = _of(study.scale(scale))
    if found is not None:
        return found
    there = {name: [key for key, scale in one.scales.items() if _of(scale)] for name, one in STUDIES.items()}
    able = ", ".join(f"{name} ({', '.join(scales)})" for name, scales in there.items() if scales)
    raise InputError(
        f"dataset: expected a study and a scale that have an MLP on a table, whose records it replaces: {able}; "
        f"got {study.name} at scale {scale}"
    )


def _of(scale: Scale) -> Setting | None:
    return next((one for one in scale.settings if one.network == NETWORK), None)
