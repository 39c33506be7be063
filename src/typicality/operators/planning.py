"""Which operator computes the products, and why."""

from sklearn import get_config

from typicality.operators.base import Floats, Operator
from typicality.operators.blocked import Blocked
from typicality.operators.columns import Columns, Evaluated
from typicality.operators.dense import Dense
from typicality.operators.tiles import Tiles, has_compiled_sums
from typicality.plan import Plan

__all__ = ["choose_operator", "plan_of"]

_DENSE_SHARE = 4  # the matrix may take this part of scikit-learn's working memory
_WORTH_SKIPPING = 0.5  # of all pairs; truncated sums are quicker than blocks even without skipping
_LARGE = 2048  # rows; fewer are quick in any way


def choose_operator(columns: Columns, rows: Floats, *, rtol: float = 0.0) -> Operator:
    """`Tiles`, skipping, where the promise `rtol` lets most pairs be; else an exact operator.

    That is `Dense` where the matrix takes a quarter of `working_memory` at the most, else
    `Blocked`. A matrix that was given is in memory already: blocks of it are all that is needed.
    """
    on_training = isinstance(columns, Evaluated) and rows is columns.training
    if rtol > 0 and len(rows) >= _LARGE and on_training and has_compiled_sums(columns):
        truncated = Tiles(columns, rtol=rtol, skip=True, single=False)  # type: ignore[arg-type]
        if truncated.share_of_work() <= _WORTH_SKIPPING:
            return truncated  # type: ignore[return-value]  # `method` depends on the object
    limit = get_config()["working_memory"] * 2**20 / _DENSE_SHARE
    dense = Dense(columns, rows)
    fits = dense.working_memory <= limit and not columns.is_given
    return dense if fits else Blocked(columns, rows)


def plan_of(operator: Operator, columns: Columns, n_rows: int) -> Plan:
    """What an operator does in an iteration, in one sentence."""
    matrix = f"the {n_rows:,} x {n_rows:,} matrix of distances in the kernel-induced space"
    enough = -(-_DENSE_SHARE * 8 * n_rows**2 // 2**20)
    reasons = {
        "dense": f"{matrix} is computed once and kept; an iteration is one product with it.",
        "blocked": f"{matrix} is computed anew in each iteration, a few rows at a time; to keep it "
        f"instead takes {8 * n_rows**2 / 2**30:.1f} GiB and "
        f"sklearn.set_config(working_memory={enough}).",
        "truncated": f"most of {matrix} is left out, pairs of rows so far apart that the kernel "
        f"adds less than {operator.rtol:.0e} to a mean; the rest is computed anew each time.",
    }
    given = f"{matrix} is in memory already; an iteration is one product with it, block by block."
    reason = given if columns.is_given else reasons[operator.method]
    return Plan(operator.method, operator.working_memory, reason)
