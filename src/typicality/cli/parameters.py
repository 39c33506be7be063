"""Parameters of estimators on the command line, judged before anything is read."""

import ast
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from typicality._words import enumerated
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


def configure(
    estimator: Any, given: Mapping[str, Any], param: Sequence[str], options: Options
) -> Any:
    """Set the parameters of an estimator, and judge their values.

    Parameters
    ----------
    estimator : estimator
        The estimator; it is changed and returned.
    given : mapping
        Parameters that have an option of their own, by name; None where the option was not given.
    param : sequence of str
        Further parameters, as ``--param NAME=VALUE`` gave them.
    options : Options
        The shared options.
    """
    known = estimator.get_params(deep=False)
    values = {name: value for name, value in given.items() if value is not None}
    values = {name: parse_value(v) if isinstance(v, str) else v for name, v in values.items()}
    for text in param:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise WrongUseError(
                f"--param {text!r} does not have the form NAME=VALUE; write, for example, "
                "--param tol=1e-6."
            )
        if given.get(name) is not None or name in ("n_clusters", "random_state"):
            raise WrongUseError(f"The option {OPTIONS[name]} sets {name}; leave it out of --param.")
        if name == "store_memberships":
            raise WrongUseError(
                "store_memberships cannot be changed: labels.csv needs memberships."
            )
        if name not in known:
            raise WrongUseError(
                f"The parameter {name!r} does not exist; {near_name(name, sorted(known))}"
            )
        values[name] = parse_value(value)
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
