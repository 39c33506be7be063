"""The wheel that `python -m build` makes, installed in an environment of its own."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.xdist_group("distribution")

# The types of other packages play no part, and to read them takes half a minute.
MYPY = """
[mypy]
follow_imports = silent
[mypy-numpy.*,scipy.*,sklearn.*,torch.*,narwhals.*,pyarrow.*,matplotlib.*,pandas.*,rich.*]
follow_imports = skip
follow_imports_for_stubs = True
"""


def run(*command, **options):
    words = [str(part) for part in command]
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=elsewhere, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    pytest.importorskip("build", reason="build is not installed: no wheel is tested")
    pytest.importorskip("hatchling", reason="hatchling is not installed: no wheel is tested")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(dist, tmp_path_factory):
    """A Python with the wheel; its dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    (wheel,) = dist.glob("*.whl")
    (home,) = folder.glob("lib/python*/site-packages")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", home, wheel)
    (home / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


def test_wheel_passes_the_smoke_test(installed, tmp_path):
    printed = run(installed, ROOT / "tests" / "smoke.py", cwd=tmp_path)
    assert str(installed.parents[1]) in printed  # and not the checkout


def test_wheel_tells_type_checkers_its_types(installed, tmp_path):
    right = (
        "from typicality.metrics import xie_beni_index\nindex: float = xie_beni_index([], [], [])\n"
    )
    wrong = right.replace("float", "str")
    (tmp_path / "right.py").write_text(right)
    (tmp_path / "wrong.py").write_text(wrong)
    (tmp_path / "mypy.ini").write_text(MYPY)
    check = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini"]
    check += ["--python-executable", str(installed), "right.py", "wrong.py"]
    done = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1, done.stdout + done.stderr
    assert errors[0].startswith("wrong.py:2")
    assert '"float"' in errors[0]


def test_source_archive_holds_tests_and_docs_but_no_data_papers_and_benchmarks(dist):
    import tarfile

    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        names = [Path(*Path(name).parts[1:]) for name in members.getnames()]
    assert {Path("pyproject.toml"), Path("LICENSE"), Path("tests/smoke.py")} <= set(names)
    assert not {"papers", "benchmarks"} & {name.parts[0] for name in names if name.parts}
    assert Path("tests/papers/conftest.py") not in names
    assert [n for n in names if n.suffix in (".parquet", ".npy", ".pyc", ".nbi", ".nbc")] == []
