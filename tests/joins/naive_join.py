"""The reference of the join tests: nested loops over Python rows with three-valued logic, too simple to be wrong in an
interesting way."""

import operator
from dataclasses import dataclass

OPERATORS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class MoreThanOneRow(Exception):
    """A scalar subquery returned several rows: the engine must reject the statement."""


@dataclass(frozen=True)
class Row:
    id: int
    value: object  # a small integer or None
    keys: tuple  # as stored
    compared: tuple  # the keys as compared with the other type of their pair
    own: tuple  # the keys as compared with their own type


def compare(name, left, right):
    """True, False or None (unknown)."""
    if name == "IS NOT DISTINCT FROM":
        return left == right
    if name == "IS DISTINCT FROM":
        return left != right
    if left is None or right is None:
        return None
    return OPERATORS[name](left, right)


def conjunction(truths):
    """AND over any number of truth values; stops at the first False."""
    result = True
    for truth in truths:
        if truth is False:
            return False
        if truth is None:
            result = None
    return result


def disjunction(truths):
    result = False
    for truth in truths:
        if truth is True:
            return True
        if truth is None:
            result = None
    return result


def negation(truth):
    return None if truth is None else not truth


def join(kind, left, right, match):
    """Pairs of rows as environments, {table name: Row or None}. `match(environment)` returns the environments of `right` that
    match one of `left`."""
    joined, matched = [], set()
    empty_left = {name: None for environment in left[:1] for name in environment}
    empty_right = {name: None for environment in right[:1] for name in environment}
    for environment in left:
        fitting = match(environment)
        joined += [environment | right[place] for place in fitting]
        if kind in ("RIGHT", "FULL"):
            matched.update(fitting)
        if kind in ("LEFT", "FULL") and not fitting:
            joined.append(environment | empty_right)
    if kind in ("RIGHT", "FULL"):
        joined += [empty_left | environment for place, environment in enumerate(right) if place not in matched]
    return joined
