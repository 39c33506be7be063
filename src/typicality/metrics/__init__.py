"""Measures of agreement between partitions, and of the validity of soft partitions."""

from sklearn.metrics import adjusted_rand_score, rand_score

from typicality.metrics.discoveries import select_discoveries
from typicality.metrics.generalized_rand import (
    RandEstimate,
    adjusted_generalized_rand_score,
    generalized_rand_estimate,
    generalized_rand_score,
)
from typicality.metrics.labels import PairConfusion, jaccard_score, pair_confusion, success_rate
from typicality.metrics.validity import (
    fukuyama_sugeno_index,
    fuzzy_silhouette_score,
    kwon_index,
    partition_coefficient,
    partition_entropy,
    xie_beni_index,
)

__all__ = [
    "PairConfusion",
    "RandEstimate",
    "adjusted_generalized_rand_score",
    "adjusted_rand_score",
    "fukuyama_sugeno_index",
    "fuzzy_silhouette_score",
    "generalized_rand_estimate",
    "generalized_rand_score",
    "jaccard_score",
    "kwon_index",
    "pair_confusion",
    "partition_coefficient",
    "partition_entropy",
    "rand_score",
    "select_discoveries",
    "success_rate",
    "xie_beni_index",
]
