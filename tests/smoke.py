"""Does an installed typicality work? `python tests/smoke.py` needs nothing but the package."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import typicality


def main() -> None:
    """Fit, save and load, and run the command line on a file."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(centre, 0.5, (100, 2)) for centre in ((0, 0), (5, 0), (0, 5))])
    model = typicality.AlphaCutClustering().fit(rows)
    assert model.n_clusters_ == 3, model.n_clusters_
    with tempfile.TemporaryDirectory() as folder:
        typicality.save(model, Path(folder) / "model")
        again = typicality.load(Path(folder) / "model")
        assert (again.predict(rows) == model.labels_).all()
        table = Path(folder) / "rows.csv"
        np.savetxt(table, rows, delimiter=",", header="x,y", comments="")
        command = [sys.executable, "-m", "typicality", "cluster", str(table), "--output"]
        subprocess.run([*command, str(Path(folder) / "run")], check=True, capture_output=True)
        assert json.loads((Path(folder) / "run" / "run.json").read_text(encoding="utf-8"))
        assert (Path(folder) / "run" / "report.html").stat().st_size > 100_000
    home = Path(typicality.__file__).parent
    sys.stdout.write(f"typicality {typicality.__version__} from {home}\n")


if __name__ == "__main__":
    main()
