"""Record the golden results, or compare this code with them."""

# ruff: noqa: T201
import json
import lzma
import pickle
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from golden.commands import runs
from golden.estimators import fits

HERE = Path(__file__).parent
FITS, RUNS = HERE / "fits.xz", HERE / "runs.xz"
SAME = 1e-9


def main() -> None:
    """Record or compare: `record`, `compare`, `compare fits`, `compare runs [FILE]`."""
    words = sys.argv[1:]
    if words[0] == "record":
        write(FITS, dict(fits()))
        write(RUNS, dict(runs()))
        return
    which, only = (*words[1:], "", "")[:2]
    n_differences = 0
    if which in ("", "fits"):
        n_differences += compare("fits", read(FITS), fits(only), differs_fit, only)
    if which in ("", "runs"):
        n_differences += compare("runs", read(RUNS), runs(), differs_run, only)
    sys.exit(n_differences > 0)


def write(path: Path, value: Any) -> None:
    path.write_bytes(lzma.compress(pickle.dumps(value), preset=9))


def read(path: Path) -> Any:
    return pickle.loads(lzma.decompress(path.read_bytes()))


def compare(kind: str, before: dict, found: Any, differs: Any, only: str) -> int:
    """Print what differs, and count it."""
    count = compared = 0
    for name, now in found:
        if only not in name or name not in before:
            continue
        compared += 1
        words = differs(before[name], now)
        if words:
            count += 1
            print(f"{name}: {'; '.join(words)}")
    print(f"{kind}: {compared} compared of {len(before)}, {count} differ")
    return count


def differs_fit(before: dict, now: dict) -> list[str]:
    """What differs between two fits, with the largest difference."""
    words = [f"{name} gone" for name in before.keys() - now.keys()]
    for name in before.keys() & now.keys():
        old, new = before[name], now[name]
        if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
            words.append(f"{name} {old.shape} -> {new.shape} ({old if old.ndim == 0 else ''})")
        elif old.dtype.kind in "US":
            words += [f"{name} {old} -> {new}"] * bool(old != new)
        elif old.size:
            same = (old == new) | (np.isnan(old) & np.isnan(new))
            gap = np.abs(np.where(same, 0, old - new) / np.maximum(1, np.abs(old))).max()
            words += [f"{name} by {gap:.1e}"] * bool(gap > SAME)
    return sorted(words)


def differs_run(before: Any, now: Any, place: str = "") -> list[str]:
    """Where two structures of JSON differ; numbers may differ in the last digits."""
    if isinstance(before, dict) and isinstance(now, dict):
        words = [f"{place}.{k} gone" for k in before.keys() - now.keys()]
        words += [f"{place}.{k} new" for k in now.keys() - before.keys()]
        for k in before.keys() & now.keys():
            words += differs_run(before[k], now[k], f"{place}.{k}")
        return sorted(words)
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        found = (
            differs_run(a, b, f"{place}[{i}]")
            for i, (a, b) in enumerate(zip(before, now, strict=True))
        )
        return [word for words in found for word in words][:4]
    if before == now or close(before, now) or without_time(before) == without_time(now):
        return []
    return [f"{place}: {short(before)} -> {short(now)}"]


def without_time(text: Any) -> str:
    """What was printed, without its line breaks and seconds."""
    return re.sub(r"\S+ s in all", "T s in all", " ".join(str(text).split()))


def close(before: Any, now: Any) -> bool:
    try:
        return bool(np.isclose(float(before), float(now), rtol=1e-6, atol=1e-9, equal_nan=True))
    except (TypeError, ValueError):
        return False


def short(value: Any) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) < 900 else f"{text[:900]}... ({zlib.crc32(text.encode()):x})"


if __name__ == "__main__":
    main()
