"""--checkpoint: runs that were killed go on with the same command."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from typicality._files import files_in, sha256_of
from typicality.persistence import checkpoint as module
from typicality.persistence.checkpoint import Checkpoint

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FCM = ("--method", "fcm", "-k", "2", "--param", "tol=1e-10")


class KilledError(BaseException):
    """Stands for the end of a process: nobody cleans up."""


@pytest.fixture
def left(run, groups, tmp_path, monkeypatch):
    """The checkpoint that a killed run has left."""
    write, path = Checkpoint._write, tmp_path / "state"

    def write_and_die(self):
        write(self)
        if self._running is not None and self._running.n_iter == 5:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(module, "_EVERY", 0.0)
        patch.setattr(module, "_SHARE", 0.0)
        patch.setattr(Checkpoint, "_write", write_and_die)
        with pytest.raises(KilledError):
            run("cluster", groups, *FCM, "-o", tmp_path / "a", "--checkpoint", path)
    return path


def hashes_of(folder):
    return {name: sha256_of(folder / name) for name in files_in(folder) if name != "run.json"}


def test_same_command_goes_on_to_the_same_files(run, groups, tmp_path, left):
    command = ["cluster", groups, *FCM, "-o", tmp_path / "a"]
    resumed = run(*command, "--checkpoint", left)
    assert resumed.exit_code == 0, resumed.output
    assert f"Continuing from the checkpoint {left}" in resumed.stdout
    assert not left.exists()
    found = hashes_of(tmp_path / "a")
    shutil.rmtree(tmp_path / "a")
    assert run(*command).exit_code == 0
    assert hashes_of(tmp_path / "a") == found


def test_run_that_is_not_killed_leaves_no_checkpoint(run, groups, tmp_path):
    path = tmp_path / "state"
    done = run("outliers", groups, "-o", tmp_path / "a", "--checkpoint", path)
    assert done.exit_code == 0, done.output
    assert "checkpoint" not in done.output
    assert not path.exists()
    assert "--checkpoint" not in (tmp_path / "a" / "run.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--method", "fcm", "-k", "3"), "other parameters"),
        ((*FCM, "--seed", "1"), "other parameters"),
        ((*FCM, "--memory", "0.5"), "other parameters"),
        ((*FCM, "--scale", "none"), "other rows"),
        ((*FCM, "--columns", "width"), "other rows"),
        ((*FCM, "--max-rows", "50"), "other rows"),
    ],
)
def test_checkpoint_of_another_run_is_refused(run, groups, tmp_path, left, options, why):
    before = left.read_bytes()
    done = run("cluster", groups, *options, "-o", tmp_path / "a", "--checkpoint", left)
    assert done.exit_code == 3
    assert str(left) in done.stderr
    assert why in done.stderr
    assert left.read_bytes() == before
    assert not (tmp_path / "a").exists()


def test_other_versions_are_refused(run, groups, tmp_path, left, monkeypatch):
    monkeypatch.setattr("typicality.cli.run.versions", lambda: {"typicality": "0.0.1"})
    done = run("cluster", groups, *FCM, "-o", tmp_path / "a", "--checkpoint", left)
    assert done.exit_code == 3
    assert "another version of typicality" in done.stderr


def test_files_of_the_user_are_refused_before_the_rows_are_read(run, groups, tmp_path):
    before = groups.read_bytes()
    done = run("cluster", groups, "-o", tmp_path / "a", "--checkpoint", groups)
    assert done.exit_code == 3
    assert "was not written by typicality" in done.stderr
    assert groups.read_bytes() == before
    done = run("cluster", groups, "-o", tmp_path / "a", "--checkpoint", tmp_path / "no" / "state")
    assert done.exit_code == 3
    assert "does not exist" in done.stderr


@pytest.mark.parametrize("name", ["a", "a/state"])
def test_checkpoint_in_the_results_is_refused(run, groups, tmp_path, name):
    done = run("cluster", groups, "-o", tmp_path / "a", "--checkpoint", tmp_path / name)
    assert done.exit_code == 2
    assert "--checkpoint" in done.stderr


@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmarks are not in the package")
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_results_are_whole_after_kills():
    options = ["--only", "cluster", "checkpoint", "--kills", "3", "--quick"]
    command = [sys.executable, BENCHMARKS / "kills.py", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "all: kills 6, broken 0"
