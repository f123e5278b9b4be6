"""EXPLAIN as text that changes only if the shape of the plan does.

Omits estimated rows and column numbers: columns with the same name are distinguished by order of appearance. Marks the inputs of
a join: the build side goes into the hash table, the probe side streams past it."""

import re

from tests.support import duckdb_oracle


def explain(session, sql):
    lines = [line for line, in duckdb_oracle.parse_csv(session.run(f"EXPLAIN {sql}").csv)]
    return "".join(line + "\n" for line in shape_of(lines))


def shape_of(lines):
    numbers = {}  # name: the numbers of its columns, in order of appearance
    joins = []  # (depth, inputs printed so far) of the enclosing joins
    shaped = []
    for line in lines:
        found = re.fullmatch(r"( *)(.*?)  \(rows ~\d+\)", line)
        if found:
            depth, name = len(found[1]), found[2]
            while joins and joins[-1][0] >= depth:
                joins.pop()
            side = ""
            if joins and joins[-1][0] == depth - 2:
                side = ("probe: ", "build: ")[joins[-1][1]]
                joins[-1][1] += 1
            if name.endswith(" join"):
                joins.append([depth, 0])
            line = f"{found[1]}{side}{name}"
        shaped.append(re.sub(r"([\w?]+)#(\d+)\b", lambda column: tell_apart(numbers, *column.groups()), line))
    return shaped


def tell_apart(numbers, name, number):
    known = numbers.setdefault(name, [])
    if number not in known:
        known.append(number)
    place = known.index(number) + 1
    return name if place == 1 else f"{name}.{place}"
