"""Parameters of estimators on the command line: judged before a fit, named in its warnings."""

import ast
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from typicality._words import enumerated, listed
from typicality.cli.errors import WrongUseError
from typicality.cli.options import Options

OPTIONS = {
    "at_least": "--at-least",
    "contamination": "--rate",
    "n_clusters": "--clusters",
    "novelty": "--reference",
    "random_state": "--seed",
    "sigma": "--sigma",
}


def option_for(parameter: str) -> str:
    """How a parameter of an estimator is set here."""
    return OPTIONS.get(parameter, f"--param {parameter}=VALUE")


def configure(estimator: Any, given: Mapping[str, Any], options: Options) -> Any:
    """Set the parameters of an estimator, and judge their values.

    Parameters
    ----------
    estimator : estimator
        The estimator; it is changed and returned.
    given : mapping
        Parameters that have an option of their own, by name; None where the option was not given.
    options : Options
        The shared options, further parameters among them (--param NAME=VALUE).
    """
    known = estimator.get_params(deep=False)
    values = {name: value for name, value in given.items() if value is not None}
    values = {name: parse_value(v) if isinstance(v, str) else v for name, v in values.items()}
    for text in options.param:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise WrongUseError(
                f"--param {text!r} does not have the form NAME=VALUE; write, for example, "
                "--param tol=1e-6."
            )
        if given.get(name) is not None or name in ("n_clusters", "random_state"):
            raise WrongUseError(f"The option {OPTIONS[name]} sets {name}; leave it out of --param.")
        if name not in known:
            raise WrongUseError(
                f"The parameter {name!r} does not exist; {near_name(name, sorted(known))}"
            )
        allowed = estimator._parameter_constraints.get(name, ())
        names = {option for each in allowed for option in getattr(each, "options", ())}
        values[name] = value if value in names else parse_value(value)  # objective=1993 is a name
    if values.get("kernel") in ("precomputed", "dissimilarities"):
        raise WrongUseError(
            f"The kernel {values['kernel']!r} needs a square matrix instead of rows, which "
            "the command line does not read; use the estimator from Python."
        )
    if options.categorical and values.get("kernel") not in (None, "gaussian", "linear"):
        raise WrongUseError(
            f"The kernel {values['kernel']!r} compares only numbers, so it cannot be combined with "
            "--categorical. Leave it out, or use --param kernel=gaussian."
        )
    if "random_state" in known:
        values["random_state"] = options.seed
    estimator.set_params(**values)
    try:
        estimator._validate_params()
    except ValueError as error:
        raise WrongUseError(str(error)) from error
    return estimator


def parse_value(text: str) -> Any:
    """A number, a truth value, None, a list, where the text is one; else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def near_name(wrong: str, names: Sequence[str]) -> str:
    """A clause that suggests the name that was meant, or lists what there is."""
    near = get_close_matches(wrong, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {enumerated(names)}."


# ---- warnings ------------------------------------------------------------------------------------

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
        The columns of numbers, which are the first features. Others come from categories and from
        places, whose scales mean nothing to users, so nothing is said of those.
    estimator : estimator
        The estimator, whose parameters may be options.
    rows : pair of str and array, optional
        What the fitted rows are called in the file, "line" or "row", and their numbers.
    """
    found = [
        _notice(each.message, names, estimator, rows)
        for each in caught
        if max(getattr(each.message, "fields", {}).get("columns", ()), default=-1) < len(names)
    ]
    return [each for k, each in enumerate(found) if each not in found[:k]]


def _notice(
    warning: Any, names: Sequence[str], estimator: Any, rows: RowNumbers | None
) -> dict[str, str]:
    from typicality.cluster._diagnostics import sentences, some_rows

    finding = getattr(warning, "finding", None)
    if finding is None:  # of another library
        return {"seen": str(warning), "remedy": ""}
    seen, remedy, fields, some = warning.seen, warning.remedy, warning.fields, {}
    if finding in ("constant features", "different scales"):
        called = [f"column {names[j]!r}" for j in fields["columns"]]
        some = {"names": listed(called, at_most=5), "widest": called[0], "narrowest": called[-1]}
    if finding == "far clusters" and rows is not None:
        word, numbers = rows
        some = {"rows": some_rows(word, [int(numbers[place]) for place in fields["places"]])}
    if some:
        seen, remedy = sentences(finding, **fields | some)
    known = estimator.get_params(deep=False)
    own = (fields["parameter"],) if "parameter" in fields else _PARAMETERS.get(finding, ())
    parameters = [name for name in own if name in known]
    if parameters:
        remedy += f" (On the command line: {', '.join(map(option_for, parameters))}.)"
    return {"seen": seen, "remedy": remedy.strip()}


def notice_text(notice: dict[str, str]) -> str:
    """A warning as one paragraph."""
    return f"{notice['seen']} {notice['remedy']}".rstrip()
