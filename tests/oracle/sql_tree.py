"""SQL as a tree of tokens: a parenthesis is a branch, everything else a leaf. Enough structure to shrink a query without knowing
its grammar.

A level is a tuple of units; a unit is a token (text) or, for a parenthesis, the level inside it. Levels are never modified in
place."""

import re

TOKEN = re.compile(r"""
    '(?:[^']|'')*' | "(?:[^"]|"")*" | \d+(?:\.\d+)?(?:[eE][-+]?\d+)? | [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)* | <= | >= | <> | != | \|\| | :: | \S""", re.VERBOSE)
# Replacing these gains nothing, so they weigh less than other tokens.
SIMPLE = ("NULL", "1", "true")


def parse(sql):
    stack = [[]]
    for token in TOKEN.findall(re.sub(r"--[^\n]*", "", sql).strip().rstrip(";")):
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError("parentheses do not match")
    return tuple(stack[0])


def text_of(level):
    return " ".join(unit if isinstance(unit, str) else f"({text_of(unit)})" for unit in level)


def weight(level):
    return sum((1 if unit in SIMPLE else 2) if isinstance(unit, str) else 1 + weight(unit) for unit in level)


def branches(level, path=()):
    """(path, level) of this level and all below it; the path is the list of indexes to descend."""
    yield path, level
    for place, unit in enumerate(level):
        if not isinstance(unit, str):
            yield from branches(unit, path + (place,))


def replaced(level, path, units):
    """The tree with other units at the path."""
    if not path:
        return units
    place = path[0]
    return level[:place] + (replaced(level[place], path[1:], units),) + level[place + 1:]


def is_word(unit, *words):
    return isinstance(unit, str) and unit.upper() in words


def list_items(level, begin, end):
    """Ranges of the items between commas."""
    cuts = [begin - 1] + [place for place in range(begin, end) if level[place] == ","] + [end]
    return [(left + 1, right) for left, right in zip(cuts, cuts[1:])]


def select_list(level):
    """The ranges of the items of a level's first SELECT, or None."""
    begin = next((place + 1 for place, unit in enumerate(level) if is_word(unit, "SELECT")), None)
    if begin is None:
        return None
    if begin < len(level) and is_word(level[begin], "DISTINCT"):
        begin += 1
    ends = (place for place in range(begin, len(level)) if is_word(level[place], "FROM", "WHERE", "GROUP", "UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT"))
    return begin, next(ends, len(level))


def without_column(level, number):
    """The query without one of its result columns, in all parts of a set operation; None if it has no such column or only this
    one."""
    if any(is_word(unit, "UNION", "INTERSECT", "EXCEPT") for unit in level):
        sides = [place for place, unit in enumerate(level) if not isinstance(unit, str)]
        for place in sides:
            side = without_column(level[place], number)
            if side is None:
                return None
            level = replaced(level, (place,), side)
        return level
    if len(level) == 1 and not isinstance(level[0], str):
        inner = without_column(level[0], number)
        return None if inner is None else (inner,)
    if level and is_word(level[0], "VALUES"):
        rows = [without_item(unit, number) if not isinstance(unit, str) else unit for unit in level]
        return None if None in rows else tuple(rows)
    place = select_list(level)
    items = list_items(level, *place) if place else []
    return cut_item(level, items, number)


def without_item(level, number):
    return cut_item(level, list_items(level, 0, len(level)), number)


def cut_item(level, items, number):
    if len(items) < 2 or number >= len(items):
        return None
    begin, end = items[number]
    return level[:begin - 1] + level[end:] if number else level[:begin] + level[end + 1:]
