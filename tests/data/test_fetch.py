"""Downloads from a server on this machine: resumed, checked, unpacked, refused."""

import contextlib
import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from reticent.data import archives, fetch
from reticent.data.datasets import DATASETS
from reticent.data.entry import Archive, OfficialFile
from reticent.errors import ChecksumError, CorruptFileError, DataError, UnknownNameError

CONTENT = bytes(range(256)) * 4000


def entry_of(*files):
    import dataclasses

    return dataclasses.replace(DATASETS["digits"], name="made", files=files)


def sha256(data):
    return f"sha256 {hashlib.sha256(data).hexdigest()}"


def plain(server, content=CONTENT, sum_of=CONTENT):
    server.files["/data.bin"] = content
    return OfficialFile("made/data.bin", f"{server.url}/data.bin", checksum=sha256(sum_of))


def test_a_file_is_downloaded_and_kept(server, tmp_path):
    told = []
    entry = entry_of(plain(server))
    paths = fetch.fetch_entry(entry, tmp_path, lambda *args: told.append(args))
    assert paths == [tmp_path / "made" / "data.bin"]
    assert paths[0].read_bytes() == CONTENT
    assert told[-1] == ("data.bin", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert fetch.fetch_entry(entry, tmp_path) == paths
    assert len(server.asked) == 1
    assert [path.name for path in paths[0].parent.iterdir()] == ["data.bin"]


def test_a_gzipped_file_is_kept_gzipped_and_checked_uncompressed(server, tmp_path):
    server.files["/data.gz"] = gzip.compress(CONTENT)
    entry = entry_of(OfficialFile("made/data", f"{server.url}/data.gz", checksum=sha256(CONTENT)))
    (path,) = fetch.fetch_entry(entry, tmp_path)
    assert path == tmp_path / "made" / "data.gz"
    assert gzip.decompress(path.read_bytes()) == CONTENT


def test_a_broken_connection_is_resumed(server, tmp_path):
    entry = entry_of(plain(server))
    server.stop_at = 300_000
    with pytest.raises(DataError, match=r"after 300,000 of 1,024,000 bytes: run the same again|IncompleteRead"):
        fetch.fetch_entry(entry, tmp_path)
    part = tmp_path / "made" / "data.bin.part"
    assert part.stat().st_size == 300_000
    server.stop_at = None
    (path,) = fetch.fetch_entry(entry, tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.asked == [("/data.bin", None), ("/data.bin", "bytes=300000-")]
    assert not part.exists()


def test_a_server_without_ranges_starts_again(server, tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "data.bin.part").write_bytes(b"x" * 1000)
    server.ranges = False
    (path,) = fetch.fetch_entry(entry_of(plain(server)), tmp_path)
    assert path.read_bytes() == CONTENT


def test_a_part_that_is_whole_is_taken(server, tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "data.bin.part").write_bytes(CONTENT)
    (path,) = fetch.fetch_entry(entry_of(plain(server)), tmp_path)
    assert path.read_bytes() == CONTENT


def test_wrong_bytes_are_refused_and_removed(server, tmp_path):
    entry = entry_of(plain(server, content=CONTENT[:-1] + b"!"))
    with pytest.raises(ChecksumError, match=r"expected sha256 .* got .* fetch it again"):
        fetch.fetch_entry(entry, tmp_path)
    assert list((tmp_path / "made").iterdir()) == []
    server.files["/data.bin"] = CONTENT
    assert fetch.fetch_entry(entry, tmp_path)[0].read_bytes() == CONTENT


def test_a_wrong_file_that_lies_there_is_refused_but_kept(server, tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "data.bin").write_bytes(b"mine")
    with pytest.raises(ChecksumError):
        fetch.fetch_entry(entry_of(plain(server)), tmp_path)
    assert (tmp_path / "made" / "data.bin").read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("{url}/gone", "the server answers 404"),
        ("http://127.0.0.1:9/data.bin", "refused"),
        ("file:///etc/passwd", "expected an http or https address"),
    ],
)
def test_addresses_that_do_not_answer(address, words, server, tmp_path):
    address = address.format(url=server.url)
    with pytest.raises(DataError) as caught:
        fetch.download(address, tmp_path / "data.bin")
    assert words in str(caught.value)
    if address.startswith("http"):
        assert f"put it at {tmp_path / 'data.bin'}" in str(caught.value)


def test_a_full_disk_is_told(server, tmp_path):
    full = tmp_path / "data.bin.part"
    full.symlink_to("/dev/full")
    server.ranges = False
    server.files["/data.bin"] = CONTENT
    with pytest.raises(
        DataError, match="No space left on device; free some space or choose another folder with --data-dir"
    ):
        fetch.download(f"{server.url}/data.bin", tmp_path / "data.bin")


def test_a_folder_that_is_a_file_is_told(server, tmp_path):
    (tmp_path / "made").write_bytes(b"")
    with pytest.raises(DataError, match="cannot be written"):
        fetch.fetch_entry(entry_of(plain(server)), tmp_path)


def test_names(tmp_path):
    assert fetch.fetch("digits", tmp_path) == []
    with pytest.raises(UnknownNameError, match="did you mean 'digits'"):
        fetch.fetch("digit", tmp_path)


def tar_bytes(*members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content, *kind in members:
            info = tarfile.TarInfo(name)
            info.size = 0 if kind else len(content)
            if kind:
                info.type, info.linkname = kind[0], content.decode()
            archive.addfile(info, None if kind else io.BytesIO(content))
    return buffer.getvalue()


def zip_bytes(*members, squeeze=False):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content, *mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode[0] if mode else 0o100644) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED if squeeze else None)
    return buffer.getvalue()


def packed(server, name, content, *, folder=False, member="top"):
    server.files[f"/{name}"] = content
    archive = Archive(name, f"{server.url}/{name}", sha256(content), len(content))
    if folder:
        return entry_of(OfficialFile("made", archive=archive, member=member, folder=True))
    files = [OfficialFile(f"made/{n}", archive=archive, member=f"top/{n}") for n in ("a", "b")]
    return entry_of(*files)


def test_an_archive_of_files_is_unpacked_and_removed(server, tmp_path):
    entry = packed(server, "made.tgz", tar_bytes(("./top/a", b"A"), ("top/more", b"M"), ("top/b", b"B")))
    paths = fetch.fetch_entry(entry, tmp_path)
    assert [path.read_bytes() for path in paths] == [b"A", b"B"]
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["made", "made/a", "made/b"]
    assert len(server.asked) == 1


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_an_archive_of_a_folder_is_unpacked_and_removed(form, server, tmp_path):
    members = [("top/x/1", b"one"), ("top/2", b"two"), ("other/3", b"three")]
    content, name = (tar_bytes(*members), "made.tar.gz") if form == "tar" else (zip_bytes(*members), "made.zip")
    (path,) = fetch.fetch_entry(packed(server, name, content, folder=True), tmp_path)
    assert path == tmp_path / "made"
    assert (path / "x" / "1").read_bytes() == b"one"
    assert sorted(p.name for p in path.rglob("*") if p.is_file()) == ["1", "2"]
    assert [p.name for p in tmp_path.iterdir()] == ["made"]


def test_an_archive_with_wrong_bytes_is_refused_and_removed(server, tmp_path):
    entry = packed(server, "made.tgz", tar_bytes(("top/a", b"A"), ("top/b", b"B")))
    server.files["/made.tgz"] = tar_bytes(("top/a", b"a"), ("top/b", b"B")).ljust(len(server.files["/made.tgz"]), b"\0")
    with pytest.raises(ChecksumError):
        fetch.fetch_entry(entry, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [True, False])
def test_an_archive_that_lies_there_is_unpacked_and_kept(folder, server, tmp_path):
    content = tar_bytes(("top/a", b"A"), ("top/b", b"B"))
    entry = packed(server, "made.tgz", content, folder=folder)
    (tmp_path / "made.tgz").write_bytes(content)
    fetch.fetch_entry(entry, tmp_path)
    assert (tmp_path / "made" / "b").read_bytes() == b"B"
    assert (tmp_path / "made.tgz").read_bytes() == content
    assert server.asked == []


def test_a_wrong_archive_that_lies_there_is_refused_but_kept(server, tmp_path):
    entry = packed(server, "made.tgz", tar_bytes(("top/a", b"A"), ("top/b", b"B")))
    (tmp_path / "made.tgz").write_bytes(b"mine")
    with pytest.raises(ChecksumError):
        fetch.fetch_entry(entry, tmp_path)
    assert (tmp_path / "made.tgz").read_bytes() == b"mine"
    assert server.asked == []


def test_a_file_that_lies_there_is_not_replaced_from_the_archive(server, tmp_path):
    entry = packed(server, "made.tgz", tar_bytes(("top/a", b"A"), ("top/b", b"B")))
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "b").write_bytes(b"mine")
    fetch.fetch_entry(entry, tmp_path)
    assert [(tmp_path / "made" / name).read_bytes() for name in "ab"] == [b"A", b"mine"]


def test_an_archive_without_the_member_is_refused(server, tmp_path):
    with pytest.raises(CorruptFileError, match="has no member 'top/b'"):
        fetch.fetch_entry(packed(server, "made.tgz", tar_bytes(("top/a", b"A"))), tmp_path)
    with pytest.raises(CorruptFileError, match="has no member 'top'"):
        fetch.fetch_entry(packed(server, "m.tgz", tar_bytes(("else/a", b"A")), folder=True), tmp_path / "second")


EVIL = {
    "parent": tar_bytes(("top/ok", b"ok"), ("top/../../evil", b"E")),
    "absolute": tar_bytes(("/tmp/evil", b"E")),
    "symlink": tar_bytes(("top/link", b"/etc", tarfile.SYMTYPE), ("top/link/evil", b"E")),
    "hard link": tar_bytes(("top/link", b"/etc/passwd", tarfile.LNKTYPE)),
    "device": tar_bytes(("top/null", b"", tarfile.CHRTYPE)),
    "zip parent": zip_bytes(("top/ok", b"ok"), ("../evil", b"E")),
    "zip absolute": zip_bytes(("/evil", b"E")),
    "zip backslash": zip_bytes(("top\\..\\..\\evil", b"E")),
    "zip drive": zip_bytes(("C:/evil", b"E")),
    "zip symlink": zip_bytes(("top/link", b"/etc", 0o120777)),
}


@pytest.mark.parametrize("kind", EVIL)
@pytest.mark.parametrize("folder", [True, False])
def test_evil_archives_write_nothing_elsewhere(kind, folder, server, tmp_path):
    root = tmp_path / "deep" / "deeper"
    name = "evil.zip" if kind.startswith("zip") else "evil.tgz"
    with contextlib.suppress(CorruptFileError):
        fetch.fetch_entry(packed(server, name, EVIL[kind], folder=folder, member=""), root)
    found = [path for path in tmp_path.rglob("*") if not path.is_dir()]
    assert all(path.is_relative_to(root) and not path.is_symlink() for path in found)
    assert not Path("/tmp/evil").exists()


@pytest.mark.parametrize("kind", ["parent", "symlink", "hard link", "device"])
def test_what_tar_archives_of_data_never_hold_is_refused(kind, server, tmp_path):
    with pytest.raises(CorruptFileError, match=r"cannot be read .*(outside|special file|absolute path)"):
        fetch.fetch_entry(packed(server, "evil.tgz", EVIL[kind], folder=True, member=""), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["evil.tgz"]


def test_a_cut_off_archive_leaves_no_folder(server, tmp_path):
    content = tar_bytes(*((f"top/{i}", os.urandom(5000)) for i in range(20)))
    entry = packed(server, "made.tgz", content[:60_000], folder=True)
    with pytest.raises(CorruptFileError, match="cannot be read"):
        fetch.fetch_entry(entry, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["made.tgz"]


def test_unpacking_into_a_read_only_place_is_told(tmp_path):
    archive = tmp_path / "a.tgz"
    archive.write_bytes(tar_bytes(("a", b"A")))
    with pytest.raises(DataError, match="cannot be written"):
        archives.unpacked(archive, Path("/proc/nowhere")).__enter__()
