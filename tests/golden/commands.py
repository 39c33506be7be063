"""Twenty small messy files through the commands: their folders and what they print."""

import base64
import csv
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from sklearn.datasets import load_iris

DROPPED_KEYS = {
    "versions", "machine", "path", "seconds", "made_by", "arguments", "command", "fingerprint",
    "files", "started", "finished", "memory", "plan", "passes",
}  # fmt: skip
Case = tuple[bytes, list[str]]


def groups(rng: np.random.Generator, n: int = 60, d: int = 2) -> np.ndarray:
    """Two groups and a far row."""
    X = rng.normal(size=(n, d)) + 8.0 * (np.arange(n) % 5 < 2)[:, None]
    X[7] = 30.0
    return X.round(4)


def lines(X: np.ndarray, names: str, mark: str = ",", decimal: str = ".") -> list[str]:
    """A csv file of numbers."""
    return [names, *(mark.join(str(v).replace(".", decimal) for v in row) for row in X.tolist())]


def text(rows: list[str], end: str = "\n", encoding: str = "utf-8") -> bytes:
    """Lines as the bytes of a file."""
    return (end.join(rows) + end).encode(encoding)


def cases() -> dict[str, Case]:
    """Bytes of a file by its name, and options for it."""
    rng = np.random.default_rng(20)
    X, wide = groups(rng), groups(rng, d=5)
    plain = lines(X, "width,height")
    named = [f"{line},{word}" for line, word in zip(plain, ["name", *(f"n {i}" for i in range(60))],
                                                     strict=True)]  # fmt: skip
    ids = [f"{word},{line}" for line, word in zip(plain, ["id", *(str(i + 101) for i in range(60))],
                                                  strict=True)]  # fmt: skip
    gaps = [*ids]
    gaps[4], gaps[11], gaps[33] = "104,,1.5", "111,2.5,NA", "133,,"
    kinds = [f"{line},{['red', 'green', 'blue'][i % 3] if i else 'colour'}"
             for i, line in enumerate(plain)]  # fmt: skip
    ranks = [f"{line},{['low', 'mid', 'high'][i % 3] if i else 'grade'}"
             for i, line in enumerate(plain)]  # fmt: skip
    signs = ["price,share,x", *(f'"${1000 + 37 * i:,}",{i % 50}%,{v}' for i, v in
                                enumerate(X[:, 0].tolist()))]  # fmt: skip
    counts = [f"{1000 + 61 * i:,}".replace(",", ".") for i in range(60)]
    quotas = [f"{v}".replace(".", ",") for v in X[:, 0].tolist()]
    german = ["Ort;Anzahl;Quote"]
    german += [f"Köln {i};{a};{b}" for i, (a, b) in enumerate(zip(counts, quotas, strict=True))]
    skewed = lines(np.exp(X / 4).round(5), "a,b")
    iris = load_iris()
    flowers = lines(iris.data, "sl,sw,pl,pw")
    records = [json.dumps({"x": a, "y": b, "note": "k"}) for a, b in X.tolist()]
    return {
        "plain.csv": (text(plain), []),
        "named.csv": (text(named), []),
        "ids-drop.csv": (text(gaps), ["--missing", "drop"]),
        "ids-median.csv": (text(gaps), ["--missing", "median"]),
        "gaps-error.csv": (text(gaps), []),
        "colours.csv": (text(kinds), ["--categorical", "auto"]),
        "ordered.csv": (text(ranks), ["--ordered", "grade=low,mid,high"]),
        "signs.csv": (text(signs), ["-c", "price,share,x"]),
        "german.csv": (text(german, "\r\n", "cp1252"), []),
        "comma.csv": (text(lines(X, "a;b", ";", ",")), []),
        "tabs.tsv": (text(lines(X, "a\tb", "\t")), []),
        "blanks.txt": (text(["# made by hand", "# twice", *lines(X, "a  b", "   ")]), []),
        "headless.csv": (text(plain[1:]), []),
        "quoted.csv": (text([f'"{a}","{b}","x, ""y"""' if i else '"a","b","c d"' for i, (a, b) in
                             enumerate([("", ""), *X.tolist()])]), []),
        "bom.csv": (b"\xef\xbb\xbf" + text(plain, "\r\n"), []),
        "utf16.csv": ("\n".join([*plain, ""]).encode("utf-16"), []),
        "skewed.csv": (text(skewed), ["--transform", "log"]),
        "five.csv": (text(lines(wide, "a,b,c,d,e")), ["--scale", "standard"]),
        "iris.csv": (text(flowers), []),
        "records.ndjson": (text(records), []),
        "constant.csv": (text([f"{line},3" if i else f"{line},c" for i, line in enumerate(plain)]),
                         ["--ignore", "c"]),
        "ragged.csv": (text([*plain[:9], "1,2,3", *plain[9:]]), []),
        "words.csv": (text([*plain[:9], "1.5,two", *plain[9:]]), ["-c", "width,height"]),
        "formulas.csv": (text([f"{line},=1+{i}" if i else f"{line},f" for i, line in
                               enumerate(plain)]), ["--safe-csv"]),
    }  # fmt: skip


def without_times(value: Any) -> Any:
    """A record without what differs between two runs."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in DROPPED_KEYS}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def folder_of(path: Path) -> dict[str, Any]:
    """What a run has written: cells of csv files, run.json, the payload of the page."""
    found: dict[str, Any] = {}
    for file in sorted(path.glob("*.csv")):
        with open(file, encoding="utf-8", newline="") as stream:
            found[file.name] = list(csv.reader(stream))
    if (path / "run.json").exists():
        record = json.loads((path / "run.json").read_text(encoding="utf-8"))
        found["run.json"] = without_times(record)
    if (path / "report.html").exists():
        page = (path / "report.html").read_text(encoding="utf-8")
        payload = json.loads(re.search(r'id="payload">(.*?)</script>', page, re.S)[1])
        found["payload"] = decoded(without_times(payload))
    return found


def decoded(value: Any) -> Any:
    """A payload with its encoded arrays as lists."""
    if isinstance(value, dict) and set(value) == {"dtype", "data"}:
        dtype = np.dtype(value["dtype"]).newbyteorder("<")
        return np.frombuffer(base64.b64decode(value["data"]), dtype).astype(float).round(5).tolist()
    if isinstance(value, dict):
        return {k: decoded(v) for k, v in value.items()}
    return [decoded(v) for v in value] if isinstance(value, list) else value


def invoke(*words: Any) -> dict[str, Any]:
    """Run a command in this process."""
    from typicality.cli import main

    done = CliRunner(env={"COLUMNS": "100"}).invoke(main, [str(word) for word in words])
    printed = re.sub(r"\d+(\.\d+)?\s+s\s+in\s+all", "T s in all", done.stdout)
    return {"exit": done.exit_code, "stdout": printed, "stderr": done.stderr}


def runs() -> Iterator[tuple[str, dict[str, Any]]]:
    """All commands on all files: file/command, and what came out."""
    before = os.getcwd()
    for name, (contents, options) in cases().items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                Path(name).write_bytes(contents)
                for command in ("cluster", "outliers"):
                    done = invoke(command, name, *options, "-o", command)
                    made = folder_of(Path(command))
                    yield f"{name}/{command}", done | made
                    if done["exit"]:
                        continue
                    missing = [w for w in options if w in ("drop", "median")]
                    more = ["--missing", *missing] if missing else []
                    scored = invoke("score", command, name, "-o", "scored.csv", "--force", *more)
                    with open("scored.csv", encoding="utf-8", newline="") as stream:
                        cells = list(csv.reader(stream))
                    key = "label" if command == "cluster" else "outlier"
                    table = made["labels.csv" if command == "cluster" else "outliers.csv"]
                    scored["same_labels"] = column(cells, key) == column(table, key)
                    yield f"{name}/{command}/score", scored | {"scored.csv": cells}
                    line = 3 if command == "cluster" else 9
                    yield (
                        f"{name}/{command}/explain",
                        invoke("explain", command, name, "--row", line, "--json"),
                    )
                    again = invoke("report", command, "--force")
                    yield (
                        f"{name}/{command}/report",
                        again | {"payload": folder_of(Path(command)).get("payload")},
                    )
            finally:
                os.chdir(before)


def column(cells: list[list[str]], name: str) -> list[str]:
    """A column of a csv file by its name."""
    place = cells[0].index(name)
    return [row[place] for row in cells[1:]]
