"""`typicality demo`."""

import pytest

from cli.conftest import words


@pytest.fixture(scope="module")
def shown(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "first look"
    return run("demo", "--output", folder), folder


def test_demo_ends_with_the_path_of_the_report(shown):
    done, folder = shown
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(folder / "iris-clusters" / "report.html")
    assert (folder / "iris-clusters" / "report.html").is_file()


def test_commands_to_try_next_work(shown, run, tmp_path, monkeypatch):
    import shlex

    monkeypatch.chdir(tmp_path)
    lines = [line.strip() for line in shown[0].stdout.splitlines() if line.startswith("  typical")]
    assert [line.split()[1] for line in lines] == ["cluster", "outliers", "score", "compare"]
    for line in lines[1:3]:
        words(run(*shlex.split(line)[1:]))
    assert (tmp_path / "scored.csv").is_file()


def test_nothing_is_replaced_without_force(shown, run):
    before = (shown[1] / "iris.csv").read_bytes()
    done = run("demo", "--output", shown[1])
    assert done.exit_code == 4
    assert "iris.csv exists already" in done.stderr
    assert run("demo", "--output", shown[1], "--force").exit_code == 0
    assert (shown[1] / "iris.csv").read_bytes() == before


def test_demo_suggests_the_command_as_it_was_called_where_the_shell_does_not_find_it(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr("sys.argv", ["/some/where/typicality", "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("demo", "--output", tmp_path / "demo")
    assert "/some/where/typicality outliers" in done.stdout.replace("\n", " ")
