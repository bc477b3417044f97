"""The table of all records as Parquet, which a million rows suit better than CSV; pyarrow is an extra."""

import io
from importlib.util import find_spec

import numpy as np

from reticent.errors import MissingExtraError
from reticent.findings.records import RecordTable
from reticent.report.output import PARQUET


def check() -> None:
    """Refuse, before anything runs, what cannot be written here."""
    if find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "parquet", "records_format=parquet")


def records(rows: RecordTable) -> bytes:
    """Write the rows of all records under the names of ``records.csv``; what is not known is null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        name: pa.nulls(len(rows)) if one is None else pa.array(np.ma.getdata(one), mask=np.ma.getmaskarray(one))
        for name, one in rows.columns()
    }
    table = pa.table(columns).replace_schema_metadata({"written by": PARQUET.decode()})
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()
