"""The peak of the command line under --memory, as the system saw it, for four hostile files.

`python benchmarks/memory_limits.py [--quick]` prints limit, peak and outcome. The limit is kept
where the peak is at most the base (400 MB for Python, libraries, compiled code) plus --memory.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

_BASE = 400
_CHILD = """
import atexit, re
status = lambda: open("/proc/self/status").read()
atexit.register(lambda: print("peak", int(re.search(r"VmHWM:\\s+(\\d+)", status())[1]) // 1000))
from typicality.cli import main
main()
"""


def write_files(folder: Path, share: float) -> None:
    """The files of the four cases, or of a share of their rows."""
    rng = np.random.default_rng(0)
    np.savez_compressed(folder / "bomb.npz", X=np.zeros((int(1.5e8 * share), 2)))
    with open(folder / "long.csv", "w", encoding="utf-8") as stream:
        stream.write("a,b,text\n")
        for i, (a, b) in enumerate(rng.normal(size=(int(150_000 * share), 2))):
            stream.write(f"{a:.4f},{b:.4f},{i} {'x' * 4000}\n")
    n = int(200_000 * share)  # the results hold the text of every row: 4 GB
    text = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 20_000])
    numbers = {name: rng.normal(size=n) for name in "ab"}
    pq.write_table(pa.table({**numbers, "text": text}), folder / "text.parquet")
    n = int(1e6 * share)
    columns = {f"c{j}": rng.normal(size=n) for j in range(10)}
    pa_csv.write_csv(pa.table({**columns, "name": ["item"] * n}), folder / "million.csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    share = 0.1 if parser.parse_args().quick else 1.0
    prototypes = ["--method", "fcm", "-k", "3"]
    cases: list[tuple[str, float, list[str]]] = [
        ("bomb.npz", 0.1, []),
        ("long.csv", 0.1, prototypes),
        ("long.csv", 0.2, prototypes),
        ("text.parquet", 0.2, prototypes),
        ("million.csv", 0.2, prototypes),
        ("million.csv", 1.1, prototypes),
    ]
    print("| file | --memory, MB | peak, MB | over the base, MB | kept | outcome |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, share)
        for file, gigabytes, options in cases:
            words = ["cluster", str(folder / file), *options, "--memory", str(gigabytes)]
            words += ["--no-report", "--quiet", "--force", "-o", str(folder / "results")]
            done = subprocess.run(
                [sys.executable, "-c", _CHILD, *words], capture_output=True, text=True
            )
            found = re.search(r"^peak (\d+)$", done.stdout, re.MULTILINE)
            peak = int(found[1]) if found else 0
            kept = "yes" if 0 < peak <= _BASE + 1000 * gigabytes else "NO"
            takes = re.search(r"take [\d.,]+ GB", done.stderr)
            outcome = "done" if done.returncode == 0 else f"refused: {takes and takes[0]}"
            limit = f"{1000 * gigabytes:.0f}"
            print(
                f"| {file} | {limit} | {peak} | {peak - _BASE} | {kept} | {outcome} |", flush=True
            )


if __name__ == "__main__":
    main()
