"""Files and folders that appear whole or not at all."""

import errno

import pytest

from typicality._files import atomic_file, atomic_folder


def is_ours(folder):
    return (folder / "record").is_file()


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def write_file(path, text, **options):
    with atomic_file(path, **options) as stream:
        stream.write(text)


def write_folder(path, text, **options):
    with atomic_folder(path, is_ours=is_ours, **options) as folder:
        (folder / "a.txt").write_text(text)
        (folder / "inner").mkdir()
        (folder / "inner" / "b.txt").write_text(text)
        (folder / "record").touch()


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


def test_a_folder_has_no_name_before_it_is_complete(tmp_path):
    with atomic_folder(tmp_path / "x") as folder:
        (folder / "a.txt").write_text("one")
        assert folder.parent == tmp_path
        assert not (tmp_path / "x").exists()
    assert names(tmp_path) == ["x"]
    assert names(tmp_path / "x") == ["a.txt"]


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


def test_a_folder_of_somebody_else_is_never_replaced(tmp_path):
    write_folder(tmp_path / "d", "old")
    (tmp_path / "d" / "record").unlink()
    with pytest.raises(FileExistsError, match="typicality has not written"):
        write_folder(tmp_path / "d", None, overwrite=True)
    assert read_folder(tmp_path / "d") == ("old", "old")
