"""The methods of `typicality cluster` by name, and the estimators they stand for."""

import ast
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from typicality._estimators import CLUSTERING_METHODS
from typicality.cli.errors import WrongUseError

_OPTIONS = {
    "alpha": "--alpha",
    "assign": "--assign",
    "at_least": "--at-least",
    "contamination": "--rate",
    "kernel": "--kernel",
    "min_cluster_size": "--min-cluster-size",
    "n_clusters": "--clusters",
    "novelty": "--novelty",
    "random_state": "--seed",
    "sigma": "--sigma",
}
_NEED_MATRICES = ("precomputed", "dissimilarities")


def build_estimator(
    method: str,
    *,
    clusters: int | None,
    seed: int,
    options: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> Any:
    """The estimator of a method, its parameters judged before anything is read.

    Parameters
    ----------
    method : str
        A key of `CLUSTERING_METHODS`.
    clusters : int or None
        The number of clusters.
    seed : int
        The `random_state`, where the estimator has one.
    options : mapping
        Parameters that have an option of their own, by name; None where the option was not given.
    parameters : mapping
        Further parameters, as `--param` gave them.
    """
    import typicality

    _check_number(method, clusters)
    estimator = getattr(typicality, CLUSTERING_METHODS[method].name)()
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        _check_option(name, method, estimator)
    if clusters is not None:
        given["n_clusters"] = clusters
    return _with_parameters(estimator, given, parameters, seed=seed)


def build_detector(*, options: Mapping[str, Any], parameters: Mapping[str, Any], seed: int) -> Any:
    """The estimator of `typicality outliers`; parameters as in :func:`build_estimator`."""
    from typicality import OneClusterPCM

    given = {name: value for name, value in options.items() if value is not None}
    return _with_parameters(OneClusterPCM(), given, parameters, seed=seed)


def _with_parameters(
    estimator: Any, given: Mapping[str, Any], parameters: Mapping[str, Any], *, seed: int
) -> Any:
    """An estimator with its parameters set: those of options, those of `--param`, and the seed."""
    known = estimator.get_params(deep=False)
    for name in parameters:
        _check_parameter(name, known, given)
    every = {**given, **parameters}
    wanted = [name for name in ("kernel", "metric") if every.get(name) in _NEED_MATRICES]
    if wanted:
        raise WrongUseError(
            f"The {wanted[0]} {every[wanted[0]]!r} needs a square matrix instead of rows, which "
            "the command line does not read; use the estimator from Python."
        )
    if "random_state" in known:
        every["random_state"] = seed
    return _judged(estimator.set_params(**every))


def _judged(estimator: Any) -> Any:
    """The estimator, its values judged now and not only when the file has been read."""
    try:
        estimator._validate_params()
    except ValueError as error:
        raise WrongUseError(str(error)) from error
    return estimator


def parse_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """What `--param NAME=VALUE` says; values are Python literals, else text."""
    parameters = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise WrongUseError(
                f"--param {text!r} is not of the form NAME=VALUE; write, say, --param tol=1e-6."
            )
        parameters[name.strip()] = parse_value(value.strip())
    return parameters


def parse_value(text: str) -> Any:
    """A number, a truth value, None, a list, where the text is one; else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def option_for(parameter: str) -> str:
    """How a parameter of an estimator is set on the command line."""
    return _OPTIONS.get(parameter, f"--param {parameter}=VALUE")


def near_name(wrong: str, names: Sequence[str]) -> str:
    """A clause that suggests the name that was meant, or lists what there is."""
    near = get_close_matches(wrong, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(names)}."


def _check_number(method: str, clusters: int | None) -> None:
    number = CLUSTERING_METHODS[method].number
    if number == "given" and clusters is None:
        raise WrongUseError(
            f"--method {method} must be told how many clusters there are, say by --clusters 3; "
            "auto, alpha-cut and sequential find the number themselves."
        )
    if number == "found" and clusters is not None:
        raise WrongUseError(
            f"--method {method} finds the number of clusters itself and takes no --clusters; leave "
            "it out, or take --method fcm, entropy or pcm for a given number."
        )


def _check_option(name: str, method: str, estimator: Any) -> None:
    if name in estimator.get_params(deep=False):
        return
    import typicality

    owners = [
        other
        for other, about in CLUSTERING_METHODS.items()
        if name in getattr(typicality, about.name)().get_params(deep=False)
    ]
    raise WrongUseError(
        f"{_OPTIONS[name]} means nothing to --method {method}; it belongs to {', '.join(owners)}."
    )


def _check_parameter(name: str, known: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    if name in given or name in ("n_clusters", "random_state"):
        raise WrongUseError(f"{name} has an option of its own; use {_OPTIONS[name]} alone.")
    if name == "store_memberships":
        raise WrongUseError("store_memberships cannot be changed: labels.csv needs memberships.")
    if name not in known:
        raise WrongUseError(f"There is no parameter {name!r}; {near_name(name, sorted(known))}")
