"""The words of warnings and errors on the command line: parameters as options, columns by name."""

from collections.abc import Sequence
from typing import Any

from typicality._words import listed
from typicality.cli.parameters import option_for

# Which parameters the sentences of a finding name.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "not converged": ("max_iter", "tol"),
    "unused sigma": ("sigma", "kernel"),
    "equal typicalities": ("eta_scale", "sigma"),
    "wide kernel": ("sigma", "kernel"),
    "narrow kernel": ("sigma", "kernel"),
    "collapsed memberships": ("m", "lam", "sigma", "init", "n_init"),
    "degenerate spread": ("eta",),
    "lonely row": ("eta_scale",),
    "unreached prototypes": ("eta", "eta_scale"),
    "coarse promise": ("rtol",),
    "fewer clusters than asked for": ("at_least",),
    "nearly several clusters": ("at_least",),
    "no valley": ("alpha",),
    "few rows above": ("assign", "sigma"),
    "low level": ("alpha",),
    "no cluster": ("alpha", "min_cluster_size", "lam"),
    "local p-values": ("kernel",),
    "empty clusters": ("n_init",),
}


RowNumbers = tuple[str, Sequence[int]]


def notices(
    caught: Sequence[Any], names: Sequence[str], estimator: Any, rows: RowNumbers | None = None
) -> list[dict[str, str]]:
    """Warnings as run.json has them: what was seen and what it means, and what to try.

    Parameters
    ----------
    caught : sequence of warnings
        What a fit has warned of.
    names : sequence of str
        The columns of the file, in the order of the features.
    estimator : estimator
        The estimator, whose parameters may be options.
    rows : pair of str and array, optional
        What the fitted rows are called in the file, "line" or "row", and their numbers.
    """
    found = [_notice(each.message, names, estimator, rows) for each in caught]
    return [each for k, each in enumerate(found) if each not in found[:k]]


def _notice(
    warning: Any, names: Sequence[str], estimator: Any, rows: RowNumbers | None
) -> dict[str, str]:
    finding = getattr(warning, "finding", None)
    if finding is None:  # of another library
        return {"seen": str(warning), "remedy": ""}
    seen, remedy = warning.seen, warning.remedy
    if finding in ("constant features", "different scales"):
        from typicality.cluster._diagnostics import sentences

        called = [f"column {names[j]!r}" for j in warning.fields["columns"]]
        some = {"names": listed(called, at_most=5), "widest": called[0], "narrowest": called[-1]}
        seen, remedy = sentences(finding, **warning.fields | some)
    if finding == "far clusters" and rows is not None:
        from typicality.cluster._diagnostics import sentences, some_rows

        word, numbers = rows
        there = some_rows(word, [int(numbers[place]) for place in warning.fields["places"]])
        seen, remedy = sentences(finding, **warning.fields | {"rows": there})
    known = estimator.get_params(deep=False)
    parameters = [warning.fields[name] for name in ("parameter",) if name in warning.fields]
    parameters = [n for n in parameters or _PARAMETERS.get(finding, ()) if n in known]
    if parameters:
        remedy += f" (On the command line: {', '.join(map(option_for, parameters))}.)"
    return {"seen": seen, "remedy": remedy.strip()}


def notice_text(notice: dict[str, str]) -> str:
    """A warning as one paragraph."""
    return f"{notice['seen']} {notice['remedy']}".rstrip()
