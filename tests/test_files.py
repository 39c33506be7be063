"""Files and folders that appear whole or not at all."""

import errno
import json
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from typicality import _files
from typicality._files import atomic_file, atomic_folder, files_in, sha256_of


def recorded(folder):
    """Files of ours: those with the hashes that a third file holds."""
    record = folder / "record"
    return {**json.loads(record.read_text()), "record": None} if record.is_file() else {}


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def write_file(path, text, **options):
    with atomic_file(path, **options) as stream:
        stream.write(text)


def write_folder(path, text, **options):
    with atomic_folder(path, recorded=recorded, **options) as folder:
        (folder / "a.txt").write_text(text)
        (folder / "inner").mkdir()
        (folder / "inner" / "b.txt").write_text(text)
        hashes = {name: sha256_of(folder / name) for name in files_in(folder)}
        (folder / "record").write_text(json.dumps(hashes))


def read_folder(path):
    return (path / "a.txt").read_text(), (path / "inner" / "b.txt").read_text()


WRITERS = pytest.mark.parametrize("write", [write_file, write_folder])


def test_a_file_has_no_name_before_it_is_complete(tmp_path):
    with atomic_file(tmp_path / "x.txt") as stream:
        stream.write("größer\r\n")
        assert not (tmp_path / "x.txt").exists()
        assert [name[0] for name in names(tmp_path)] == ["."]
    assert (tmp_path / "x.txt").read_bytes() == "größer\r\n".encode()
    assert names(tmp_path) == ["x.txt"]


def test_binary_file_is_written(tmp_path):
    write_file(str(tmp_path / "x"), b"\x00\n\xff", binary=True)
    assert (tmp_path / "x").read_bytes() == b"\x00\n\xff"


def test_a_folder_has_no_name_before_it_is_complete(tmp_path):
    with atomic_folder(tmp_path / "x") as folder:
        (folder / "a.txt").write_text("one")
        assert folder.parent == tmp_path
        assert not (tmp_path / "x").exists()
    assert names(tmp_path) == ["x"]
    assert names(tmp_path / "x") == ["a.txt"]


def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    (tmp_path / "folder").mkdir()
    write_file(tmp_path / "f", "x")
    write_folder(tmp_path / "d", "x")
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names(tmp_path)}
    assert modes["f"] == modes["plain"]
    assert modes["d"] == modes["folder"]


@WRITERS
def test_what_exists_is_kept_and_said_before_any_work(tmp_path, write):
    write(tmp_path / "x", "one")
    with pytest.raises(FileExistsError, match=r"x exists already; choose another name, or replace"):
        write(tmp_path / "x", None)  # writing None would fail otherwise
    assert names(tmp_path) == ["x"]


@WRITERS
def test_writer_refuses_a_missing_parent(tmp_path, write):
    with pytest.raises(FileNotFoundError, match="inner does not exist; make it first"):
        write(tmp_path / "inner" / "x", "one")


def test_writer_overwrites_when_asked(tmp_path):
    for text in ("one", "two"):
        write_file(tmp_path / "f", text, overwrite=True)
        write_folder(tmp_path / "d", text, overwrite=True)
    assert (tmp_path / "f").read_text() == "two"
    assert read_folder(tmp_path / "d") == ("two", "two")
    assert names(tmp_path) == ["d", "f"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "disk full")])
@pytest.mark.parametrize("make", [atomic_file, atomic_folder])
def test_an_exception_inside_leaves_nothing(tmp_path, make, error):
    seen = []

    def fail_inside():
        with make(tmp_path / "x"):
            seen.extend(names(tmp_path))
            raise error

    with pytest.raises(type(error)):
        fail_inside()
    assert len(seen) == 1
    assert names(tmp_path) == []


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    write_file(tmp_path / "f", "old")
    write_folder(tmp_path / "d", "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(tmp_path / "f", "new", overwrite=True)
    with pytest.raises(OSError, match="No space left"):
        write_folder(tmp_path / "d", "new", overwrite=True)
    assert (tmp_path / "f").read_text() == "old"
    assert read_folder(tmp_path / "d") == ("old", "old")
    assert names(tmp_path) == ["d", "f"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.EIO, "cannot rename")])
def test_the_old_folder_comes_back_when_the_new_one_cannot_take_its_place(
    tmp_path, monkeypatch, error
):
    monkeypatch.setattr(_files, "_exchange", lambda one, other: False)
    write_folder(tmp_path / "d", "old")
    rename, calls = os.rename, []

    def second_fails(source, target):
        calls.append(target)
        return fail() if len(calls) == 2 else rename(source, target)

    def fail():
        raise error

    monkeypatch.setattr(os, "rename", second_fails)
    with pytest.raises(type(error)):
        write_folder(tmp_path / "d", "new", overwrite=True)
    assert len(calls) == 3
    assert read_folder(tmp_path / "d") == ("old", "old")
    assert names(tmp_path) == ["d"]


@pytest.mark.parametrize("foreign", ["notes.txt", "inner/a.txt", "other/a.txt"])
def test_a_folder_with_a_foreign_file_is_never_replaced(tmp_path, foreign):
    write_folder(tmp_path / "d", "old")
    (tmp_path / "d" / foreign).parent.mkdir(exist_ok=True)
    (tmp_path / "d" / foreign).write_text("precious")
    with pytest.raises(FileExistsError, match=f"holds '{foreign}', which was not written by"):
        write_folder(tmp_path / "d", None, overwrite=True)
    assert (tmp_path / "d" / foreign).read_text() == "precious"


def test_a_foreign_file_that_comes_late_is_kept_too(tmp_path):
    write_folder(tmp_path / "d", "old")
    with (
        pytest.raises(FileExistsError, match=r"'late\.txt'"),
        atomic_folder(tmp_path / "d", overwrite=True, recorded=recorded),
    ):
        (tmp_path / "d" / "late.txt").touch()
    assert "late.txt" in names(tmp_path / "d")
    assert names(tmp_path) == ["d"]


def test_kinds_are_not_mixed_up(tmp_path):
    write_file(tmp_path / "f", "x")
    write_folder(tmp_path / "d", "x")
    with pytest.raises(FileExistsError, match="d is not a file"):
        write_file(tmp_path / "d", "y", overwrite=True)
    with pytest.raises(FileExistsError, match="f is not a folder"):
        write_folder(tmp_path / "f", "y", overwrite=True)


def test_links_are_followed_and_kept(tmp_path):
    write_file(tmp_path / "f", "x")
    write_folder(tmp_path / "d", "x")
    (tmp_path / "link_f").symlink_to(tmp_path / "f")
    (tmp_path / "link_d").symlink_to(tmp_path / "d")
    write_file(tmp_path / "link_f", "y", overwrite=True)
    write_folder(tmp_path / "link_d", "y", overwrite=True)
    assert (tmp_path / "f").read_text() == "y"
    assert read_folder(tmp_path / "d") == ("y", "y")
    assert (tmp_path / "link_f").is_symlink()
    assert (tmp_path / "link_d").is_symlink()


def test_a_linked_folder_inside_an_old_folder_is_foreign(tmp_path):
    write_folder(tmp_path / "elsewhere", "x")
    write_folder(tmp_path / "d", "x")
    shutil.rmtree(tmp_path / "d" / "inner")
    (tmp_path / "d" / "inner").symlink_to(tmp_path / "elsewhere" / "inner")
    with pytest.raises(FileExistsError, match="holds 'inner'"):
        write_folder(tmp_path / "d", "y", overwrite=True)
    assert read_folder(tmp_path / "elsewhere") == ("x", "x")


def outcome(write, path, text, **options):
    try:
        write(path, text, **options)
    except FileExistsError:
        return "refused"
    return text


@WRITERS
@pytest.mark.parametrize("overwrite", [False, True])
def test_concurrent_writers_never_mix(tmp_path, write, overwrite):
    texts = [f"{i}" * 1000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(lambda text: outcome(write, tmp_path / "x", text, overwrite=overwrite), texts)
        )
    written = {file.read_text() for file in tmp_path.rglob("*.txt")} or {
        (tmp_path / "x").read_text()
    }
    assert len(written) == 1
    assert written <= set(done)
    assert overwrite or done.count("refused") == 7
    assert names(tmp_path) == ["x"]


def test_writer_works_without_hard_links(tmp_path, monkeypatch):
    def no_links(source, target):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    write_file(tmp_path / "x", "one")
    assert (tmp_path / "x").read_text() == "one"
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
def test_a_link_to_itself_is_refused_in_words(tmp_path, atomic):
    path = tmp_path / "round"
    path.symlink_to(path)
    with pytest.raises(FileExistsError, match="is a link to itself"), atomic(path, overwrite=True):
        pass


def test_a_changed_file_is_never_replaced(tmp_path):
    write_folder(tmp_path / "d", "old")
    (tmp_path / "d" / "a.txt").write_text("precious")
    with pytest.raises(FileExistsError, match=r"holds 'a\.txt', which has changed since"):
        write_folder(tmp_path / "d", "new", overwrite=True)
    assert (tmp_path / "d" / "a.txt").read_text() == "precious"


def test_a_folder_without_a_record_is_never_replaced(tmp_path):
    write_folder(tmp_path / "d", "old")
    (tmp_path / "d" / "record").unlink()
    with pytest.raises(FileExistsError, match=r"holds 'a\.txt', which was not written by"):
        write_folder(tmp_path / "d", "new", overwrite=True)
    assert read_folder(tmp_path / "d") == ("old", "old")


def test_an_empty_folder_inside_is_foreign(tmp_path):
    write_folder(tmp_path / "d", "old")
    (tmp_path / "d" / "mine").mkdir()
    with pytest.raises(FileExistsError, match="holds 'mine/', which was not written by"):
        write_folder(tmp_path / "d", "new", overwrite=True)
    assert (tmp_path / "d" / "mine").is_dir()


def test_an_empty_folder_is_replaced(tmp_path):
    (tmp_path / "d").mkdir()
    write_folder(tmp_path / "d", "new", overwrite=True)
    assert read_folder(tmp_path / "d") == ("new", "new")


@pytest.mark.skipif(_files._renameat2() is None, reason="the system cannot exchange names")
def test_a_folder_has_its_name_at_every_moment_of_a_replacement(tmp_path, monkeypatch):
    def no_rename(source, target):
        raise AssertionError("two renames leave a moment without the folder")

    write_folder(tmp_path / "d", "old")
    monkeypatch.setattr(os, "rename", no_rename)
    write_folder(tmp_path / "d", "new", overwrite=True)
    assert read_folder(tmp_path / "d") == ("new", "new")
    assert names(tmp_path) == ["d"]


@pytest.mark.parametrize("exchange", [_files._exchange, lambda one, other: False])
def test_an_interrupt_while_the_old_folder_is_deleted_leaves_nothing(
    tmp_path, monkeypatch, exchange
):
    rmtree, calls = shutil.rmtree, []

    def first_is_interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        rmtree(*arguments, **options)

    monkeypatch.setattr(_files, "_exchange", exchange)
    write_folder(tmp_path / "d", "old")
    monkeypatch.setattr(shutil, "rmtree", first_is_interrupted)
    with pytest.raises(KeyboardInterrupt, match="d was written and is complete"):
        write_folder(tmp_path / "d", "new", overwrite=True)
    assert read_folder(tmp_path / "d") == ("new", "new")
    assert names(tmp_path) == ["d"]


def test_names_are_brought_to_the_disk(tmp_path, monkeypatch):
    fsync, synced = os.fsync, set()

    def note(descriptor):
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    write_folder(tmp_path / "d", "x")
    inside = [tmp_path, tmp_path / "d", *(tmp_path / "d").rglob("*")]
    assert {path.stat().st_ino for path in inside} <= synced
    synced.clear()
    write_file(tmp_path / "f", "x")
    assert tmp_path.stat().st_ino in synced


@WRITERS
def test_what_killed_processes_left_is_removed_at_the_next_run(tmp_path, write):
    pytest.importorskip("fcntl")
    old, new = (tmp_path / f".typicality-{i}.tmp" for i in "12")
    held = atomic_folder(tmp_path / "slow")
    slow = held.__enter__()
    for folder in (old, new):
        folder.mkdir()
        (folder / "a.txt").touch()
    (tmp_path / ".typicality-3.tmp").touch()
    for path in (old, slow, tmp_path / ".typicality-3.tmp"):
        os.utime(path, (0, 0))
    write(tmp_path / "x", "one")
    # What is locked may be in use, and what is new may be about to be locked.
    assert names(tmp_path) == sorted([new.name, slow.name, "x"])
    held.__exit__(None, None, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no such pipes")
def test_pipes_are_foreign_and_not_waited_for(tmp_path):
    write_folder(tmp_path / "d", "old")
    (tmp_path / "d" / "a.txt").unlink()
    os.mkfifo(tmp_path / "d" / "a.txt")
    os.mkfifo(tmp_path / ".typicality-1.tmp")
    with pytest.raises(FileExistsError, match=r"holds 'a\.txt', which was not written"):
        write_folder(tmp_path / "d", "new", overwrite=True)
    write_folder(tmp_path / "e", "new")
    assert read_folder(tmp_path / "e") == ("new", "new")
