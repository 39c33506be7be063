"""What commands print, whole, in about twenty situations: the words are read in context.

``python tests/cli/test_outputs.py`` renews the files in tests/cli/outputs; look at their diff.
"""

import re
import sys
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from typicality.cli import main

OUTPUTS = Path(__file__).with_name("outputs")
TIMED = re.compile(r"^By .*?\sin\sall\.", re.DOTALL | re.MULTILINE)  # lines break with the time


def measured(n=60, d=2):
    """Lines of two groups, an id, a text and a far row."""
    rng = np.random.default_rng(20)
    X = rng.normal(size=(n, d)) + 8.0 * (np.arange(n) % 5 < 2)[:, None]
    X[7] = 30.0
    names = ",".join(["id", *"uvwxyz"[:d], "site"])
    rows = [
        ",".join([str(i + 101), *(f"{v:.3f}" for v in row), "north" if i % 5 < 2 else "south"])
        for i, row in enumerate(X)
    ]
    return [names, *rows]


def changed(lines, changes):
    """Lines of which some are replaced."""
    lines = list(lines)
    for place, line in changes.items():
        lines[place] = line
    return lines


PLAIN = measured()
GAPS = changed(PLAIN, {4: "104,,1.5,south", 11: "111,2.5,NA,south"})
FILES = {
    "plain.csv": PLAIN,
    "five.csv": measured(90, 5),
    "clean.csv": [line for i, line in enumerate(PLAIN) if i != 8],
    "gaps.csv": GAPS,
    "ragged.csv": changed(PLAIN, {8: "1,2,3,4,5"}),
    "typo.csv": changed(PLAIN, {8: "108,1.5,two,south"}),
    "words.csv": ["name,town", "a,b", "c,d"],
    "constant.csv": [f"{line},{3 if i else 'same'}" for i, line in enumerate(PLAIN)],
    "german.csv": [
        "Ort;Anzahl;Quote",
        *(f"Köln {i};{1 + i % 7}.{100 + 37 * i % 900};{i * i % 13},5" for i in range(40)),
    ],
    "few.csv": PLAIN[:2],
    "new.csv": ["u,v", "0.1,0.2", "8.2,7.9", "99,99"],
    "narrow.csv": ["u", "0.1"],
}
CLUSTER = "cluster plain.csv -o run"
OUTLIERS = "outliers plain.csv -o run"
SITUATIONS = {
    "cluster": [CLUSTER],
    "cluster-five-columns": ["cluster five.csv -o run"],
    "cluster-by-fcm": ["cluster plain.csv -m fcm -k 2 -o run"],
    "cluster-constant-column": ["cluster constant.csv -c u,v,same -o run"],
    "cluster-categories": ["cluster plain.csv --categorical auto -o run"],
    "cluster-german": ["cluster german.csv -o run"],
    "outliers": [OUTLIERS],
    "outliers-false-discoveries": ["outliers plain.csv --reference clean.csv --fdr 0.1 -o run"],
    "score": [CLUSTER + " -q", "score run new.csv", "score run new.csv -o scored.csv"],
    "score-outliers": [OUTLIERS + " -q", "score run new.csv"],
    "score-missing-column": [CLUSTER + " -q", "score run narrow.csv"],
    "explain": [OUTLIERS + " -q", "explain run plain.csv --row 7"],
    "report": [CLUSTER + " -q", "report run --force"],
    "missing-values": ["cluster gaps.csv -o run"],
    "missing-values-refused": ["cluster gaps.csv --missing error"],
    "missing-values-dropped": ["cluster gaps.csv --missing drop -o run"],
    "no-such-file": ["cluster nowhere.csv"],
    "no-numbers": ["cluster words.csv"],
    "ragged-line": ["cluster ragged.csv"],
    "text-in-chosen-column": ["cluster typo.csv -c u,v"],
    "too-few-rows": ["cluster few.csv"],
    "no-such-column": ["cluster plain.csv -c u,w"],
    "folder-exists": [CLUSTER + " -q", CLUSTER],
    "wrong-parameter": ["cluster plain.csv -m fcm -k 2 --param mm=2"],
}


def printed(commands, folder):
    """What the commands print in a folder with the files, and how they end."""
    for name, lines in FILES.items():
        (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    parts = []
    with chdir(folder):
        for words in commands:
            done = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(main, words.split())
            ending = f"[exit {done.exit_code}]\n" if done.exit_code else ""
            parts.append(f"$ typicality {words}\n{done.output}{ending}")
    return TIMED.sub(without_time, "\n".join(parts))


def without_time(match):
    """The sentence about the method in one line, without the seconds."""
    return re.sub(r"\S+ s in all", "T s in all", " ".join(match[0].split()))


@pytest.mark.parametrize("name", SITUATIONS)
def test_command_prints_what_is_recorded(name, tmp_path):
    recorded = (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")
    assert printed(SITUATIONS[name], tmp_path) == recorded


def renew():
    """Record what the commands print now."""
    from tempfile import TemporaryDirectory

    OUTPUTS.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SITUATIONS:
        with TemporaryDirectory() as folder:
            text = printed(SITUATIONS[name], Path(folder))
            (OUTPUTS / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew()
