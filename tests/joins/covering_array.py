"""Covering arrays: few combinations of factors that contain all combinations asked for, such as every pair of values."""

from itertools import combinations, product


def all_pairs(factors):
    """Every pair of values of two factors, as {factor: value}."""
    for first, second in combinations(factors, 2):
        for one, other in product(factors[first], factors[second]):
            yield {first: one, second: other}


def covering_array(factors, wanted):
    """A list of complete combinations, {factor: value}, so that each of `wanted` is part of one. The same for the same arguments."""
    missing = {frozenset(part.items()): None for part in wanted}
    rows = []
    while missing:
        row = dict(sorted(next(iter(missing))))
        # Completes the row by the value that finishes most missing parts, or begins most of them; of equals the least used.
        for factor in factors:
            if factor not in row:
                row[factor] = max(factors[factor], key=lambda value: usefulness(row | {factor: value}, factor, value, missing, rows))
        present = set(row.items())
        for part in [part for part in missing if part <= present]:
            del missing[part]
        rows.append({factor: row[factor] for factor in factors})
    return rows


def usefulness(row, factor, value, missing, rows):
    present = set(row.items())
    fitting = [part for part in missing if (factor, value) in part and all(row.get(name, one) == one for name, one in part)]
    finished = sum(part <= present for part in fitting)
    return finished, len(fitting), -sum(one[factor] == value for one in rows)
