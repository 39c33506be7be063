"""Tables 1 to 4, row by row: what is printed, what comes out here, and whether it is the same."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from regenerating import Setting, markdown_table
from xenaki2014.adaptive_rows import AFTER_STEPS, BY_BISECTION, OTHER_COUNT, fitted, key
from xenaki2014.data import LOADERS, Data, Result, measured
from xenaki2014.other_rows import by_fuzzy_c_means, by_kmeans, by_possibilistic_c_means
from xenaki2014.printed import TABLES, Row

__all__ = ["Judged", "judged", "sections"]

_N_STARTS = {"S2": 10}
_N_STARTS_OF_OTHERS = 60
_N_STARTS_IF_FAST = 2

_TITLES = {
    1: "Table 1: three Gaussians\n\n"
    "The paper shows one random sample. The results here are for another sample.",
    2: "Table 2: S2",
    3: "Table 3: Iris",
    4: "Table 4: Wine",
}


class Judged(NamedTuple):
    """A row of a table, what comes out here, and the verdict."""

    row: Row
    result: Result
    verdict: str

    @property
    def is_exact(self) -> bool:
        """Whether m and every printed digit come out."""
        return self.result == self.row.result


class Task(NamedTuple):
    """A row to compute, and the number of random starts where the method has some."""

    row: Row
    n_starts: int


# ---- one row: what comes out, and the verdict ---------------------------------------------------


def _adaptive(task: Task, data: Data) -> tuple[Result, str]:
    row, (X, truth) = task.row, data
    result, steps = measured(truth, fitted(row, X)), AFTER_STEPS.get(key(row))
    if result == row.result:
        return result, "exact, by bisection" if key(row) in BY_BISECTION else "exact"
    if result == (OTHER_COUNT.get(key(row)), *row.result[1:]):
        return (
            result,
            "exact except m, by bisection: two clusters have only two and three data rows",
        )
    if steps and measured(truth, fitted(row, X, max_iter=steps)) == row.result:
        return result, f"the printed result is not a fixed point; iterate {steps} is exact"
    return result, _why_not(row)


def _kmeans(task: Task, data: Data) -> tuple[Result, str]:
    X, truth = data
    return _plainly(task.row, measured(truth, by_kmeans(task.row, X)))


def _fuzzy(task: Task, data: Data) -> tuple[Result, str]:
    row, (X, truth) = task.row, data
    counts = Counter(measured(truth, found) for found in by_fuzzy_c_means(row, X, task.n_starts))
    if counts[row.result]:
        return row.result, f"exact from {counts[row.result]} of {task.n_starts} random starts"
    return counts.most_common(1)[0][0], _why_not(row)


def _possibilistic(task: Task, data: Data) -> tuple[Result, str]:
    row, (X, truth) = task.row, data
    result, verdict = _plainly(row, measured(truth, by_possibilistic_c_means(row, X)))
    right = result != row.result and result[0] == row.m_final
    return result, f"m agrees; measures {verdict}" if right else verdict


def _plainly(row: Row, result: Result) -> tuple[Result, str]:
    return result, "exact" if result == row.result else _why_not(row)


def _why_not(row: Row) -> str:
    if row.data == "three Gaussians":
        return "another sample"
    return {
        "FCM": "not reproducible: the start is random, and 100 iterations are too few to converge",
        "PCM": "not reproducible: fuzzifier, start and rule for clusters that coincide are unknown",
    }.get(row.method, "differs")


_METHODS: dict[str, Callable[[Task, Data], tuple[Result, str]]] = {
    "k-means": _kmeans,
    "FCM": _fuzzy,
    "PCM": _possibilistic,
}


def _judge(task: Task) -> Judged:
    data = LOADERS[task.row.data]()
    return Judged(task.row, *_METHODS.get(task.row.method, _adaptive)(task, data))


# ---- tables -------------------------------------------------------------------------------------


def judged(numbers: Iterable[int], setting: Setting) -> dict[int, list[Judged]]:
    """The rows of each table, with what comes out and the verdict."""
    tasks = [Task(row, _n_starts(row, setting)) for n in numbers for row in TABLES[n]]
    found = setting.each(_judge, tasks)
    return {n: [each for each in found if each.row in TABLES[n]] for n in numbers}


def _n_starts(row: Row, setting: Setting) -> int:
    full = _N_STARTS.get(row.data, _N_STARTS_OF_OTHERS)
    return int(setting.pick(full, _N_STARTS_IF_FAST))


def sections(tables: dict[int, list[Judged]]) -> list[str]:
    """The tables in Markdown, each under its heading."""
    return [_section(number, rows) for number, rows in tables.items()]


def _section(number: int, rows: list[Judged]) -> str:
    count = f"{sum(each.is_exact for each in rows)} of {len(rows)} lines are exact."
    header = ("", "printed: m, RM, GRM, SR", "here: m, RM, GRM, SR", "verdict")
    lines = [(r.setting, _cells(r.result), _cells(result), words) for r, result, words in rows]
    return f"## {_TITLES[number]}\n\n{count}\n\n{markdown_table(header, lines)}"


def _cells(result: Result) -> str:
    m, *scores = result
    return ", ".join([str(m), *("-" if score is None else f"{score:.2f}" for score in scores)])
