"""What a page does with its payload, slowly: arrays from text, and labels at any level."""

import base64

import numpy as np


def decode(array):
    return np.frombuffer(base64.b64decode(array["data"]), dtype="<" + array["dtype"])


def labels_at(payload, level, *, min_size=1):
    """The live rule of each kind of page."""
    strength, fitted = decode(payload["strength"]), decode(payload["labels"])
    rules = {
        "tree": lambda: _labels_of_tree(payload["tree"], level, min_size),
        "memberships": lambda: np.where(strength > level, fitted, -1),
        "typicality": lambda: np.where(strength >= level, 0, -1),
    }
    return rules[payload["kind"]]()


def node_labels(tree, level, min_size):
    """Components of nodes and edges above the level, numbered by falling weight."""
    alpha, weight = decode(tree["node_alpha"]), decode(tree["node_weight"])
    pairs, saddles = decode(tree["pairs"]).reshape(-1, 2), decode(tree["saddle_alpha"])
    group = {node: {node} for node in range(len(alpha)) if alpha[node] > level}
    for (a, b), saddle in zip(pairs.tolist(), saddles, strict=True):
        if saddle > level and group[a] is not group[b]:
            group[a] |= group[b]
            group.update(dict.fromkeys(group[b], group[a]))
    parts = {min(nodes): nodes for nodes in group.values()}
    sizes = {first: sum(weight[node] for node in nodes) for first, nodes in parts.items()}
    largest = max(sizes.values(), default=1.0)
    order = sorted(parts, key=lambda first: (-round(sizes[first] / largest, 12), first))
    labels = np.full(len(alpha), -1)
    for label, first in enumerate(f for f in order if sizes[f] >= min_size * (1 - 1e-12)):
        labels[list(parts[first])] = label
    return labels


def _labels_of_tree(tree, level, min_size):
    own = node_labels(tree, level, min_size)[decode(tree["node_of"])]
    return np.where(decode(tree["entry"]) > level, own, -1)


def levels_to_try(tree):
    """Levels between, at and beyond those where something happens."""
    where = np.concatenate([tree.saddle_alpha, tree.node_alpha])
    return np.concatenate([[0.0], np.quantile(where, np.linspace(0, 1, 25), method="nearest"), [1]])
