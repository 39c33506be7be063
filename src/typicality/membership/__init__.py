"""Membership rules: how memberships are computed from squared distances."""

from typicality.membership.base import MembershipRule, NearestPrototype, labels
from typicality.membership.entropic import Entropic
from typicality.membership.fuzzy import Fuzzy, FuzzyWithNoise
from typicality.membership.hard import Hard
from typicality.membership.possibilistic import (
    Possibilistic1993,
    Possibilistic1996,
    PossibilisticFuzzy,
)
from typicality.membership.sparse import SparsePossibilistic

__all__ = [
    "Entropic",
    "Fuzzy",
    "FuzzyWithNoise",
    "Hard",
    "MembershipRule",
    "NearestPrototype",
    "Possibilistic1993",
    "Possibilistic1996",
    "PossibilisticFuzzy",
    "SparsePossibilistic",
    "labels",
]
