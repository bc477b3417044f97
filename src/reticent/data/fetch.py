"""Download official files: resumed where they stopped, checked before use, unpacked inside the data folder only."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from reticent import user_files
from reticent.data import archives, official
from reticent.data.datasets import DATASETS
from reticent.data.entry import DatasetEntry, OfficialFile
from reticent.errors import DataError, UnknownNameError

Progress = Callable[[str, int, int | None], None]
"""Told the file's name, the bytes there are, and the bytes there will be, if the server says."""

CHUNK = 1 << 18
TIMEOUT_SECONDS = 30


def fetch(name: str, folder: Path | str, progress: Progress | None = None) -> list[Path]:
    """Download a data set's official files; what is there already is checked and kept, archives too."""
    if name not in DATASETS:
        raise UnknownNameError("data set", name, DATASETS)
    return fetch_entry(DATASETS[name], user_files.path(folder), progress)


def fetch_entry(entry: DatasetEntry, folder: Path, progress: Progress | None = None) -> list[Path]:
    """Download the files of an entry, which need not stand in the table."""
    return [_ensure(folder, entry, file, progress) for file in entry.files]


def _ensure(folder: Path, entry: DatasetEntry, file: OfficialFile, progress: Progress | None) -> Path:
    found = official.locate(folder, file)
    zipped = file.address.endswith(".gz") and not file.path.endswith(".gz")
    path = found or folder / (file.archive.name if file.archive else f"{file.path}.gz" if zipped else file.path)
    if found is None:
        download(file.source, path, progress, size=file.archive.size if file.archive else None)
    try:
        if not path.is_dir():
            official.verify_file(path, file)
    except DataError:
        if found is None:  # only what this call downloads is ever deleted
            path.unlink(missing_ok=True)
        raise
    if not official.is_archive(path, file):
        return path
    official.unpack(path, folder, [other for other in entry.files if other.archive == file.archive])
    if found is None:
        with archives.writing(path):
            path.unlink()
    return folder / file.path


def download(address: str, target: Path, progress: Progress | None = None, *, size: int | None = None) -> None:
    """Download one file; a download that was cut off goes on where it stopped."""
    part = target.with_name(target.name + ".part")
    with archives.writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        have = part.stat().st_size if part.exists() else 0
    try:
        whole = _transfer(address, part, have, progress)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise DataError(_by_hand(address, target, f"the server answers {error.code} {error.reason}")) from None
        whole = have  # All bytes were there already, or too many: the checksum tells.
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise DataError(_by_hand(address, target, str(getattr(error, "reason", error)))) from None
    got = part.stat().st_size
    expected = size if size is not None else whole
    if expected is not None and got < expected:
        raise DataError(
            f"{address}: the connection broke off after {got:,} of {expected:,} bytes: run the same again to go on"
        )
    with archives.writing(target):
        part.replace(target)


def _transfer(address: str, part: Path, have: int, progress: Progress | None) -> int | None:
    """Append what is missing, and return the length of the whole file, if the server says."""
    if not address.startswith(("http://", "https://")):
        raise DataError(f"expected an http or https address, got {address!r}")
    headers = {"User-Agent": "reticent"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 (the scheme is checked above)
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
        resumed = answer.status == http.client.PARTIAL_CONTENT
        done = have if resumed else 0
        length = answer.headers.get("Content-Length")
        whole = done + int(length) if length else None
        with archives.writing(part):
            file = part.open("ab" if resumed else "wb", buffering=0)
        with file:
            while chunk := answer.read(CHUNK):
                rest = memoryview(chunk)
                with archives.writing(part):
                    while rest:
                        rest = rest[file.write(rest) :]
                done += len(chunk)
                if progress:
                    progress(part.name.removesuffix(".part"), done, whole)
    return whole


def _by_hand(address: str, target: Path, reason: str) -> str:
    return (
        f"cannot download {address}: {reason}. Run the same again later, or download it by hand on a machine with a "
        f"network and put it at {target}"
    )
