"""Which forms of files a user's data may have, told by the end of the name in capitals or not."""

from pathlib import Path

TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
"""One record a row, with a header."""
ARRAYS = (".npz", ".npy")
SUFFIXES = (*ARRAYS, *TABLES)


def form(path: str | Path) -> str:
    """Say which form a file has."""
    name = Path(path).name.lower()
    return max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default="")


def is_table(path: str | Path) -> bool:
    """Tell whether a file has named columns."""
    return form(path) in TABLES


def refused(path: Path) -> str:
    """Say that a file has none of these forms, and what to do."""
    packed = path.suffix.lower() in {".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz"}
    remedy = ": unpack it first" if packed else ""
    return f"expected a file of type {', '.join(SUFFIXES)}, or a folder, got {path.suffix or 'no suffix'}{remedy}"
