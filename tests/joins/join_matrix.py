"""A matrix of joins, each with its rows by nested loops: every kind of join with every type of key, with keys that are NULL never,
sometimes and always, over tables of every size. All tables are Parquet files of one folder."""

import random
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path

import pyarrow
from pyarrow import parquet

from tests.joins.covering_array import all_pairs, covering_array
from tests.joins.key_types import BY_NAME, comparable
from tests.joins.naive_join import compare, conjunction, disjunction, join, negation

ROW_GROUP_ROWS = 40
SIZES = {"none": 0, "one": 1, "few": 7, "many": 100}  # many: several chunks of 64 rows
LARGER = ("few", "many")
NULL_SHARES = {"never": 0, "sometimes": 0.3, "always": 1}

PAIRED = ("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "LATERAL", "LEFT LATERAL")
MATCHED = ("SEMI", "ANTI")
TESTED = ("EXISTS", "NOT EXISTS", "IN", "NOT IN", "= ANY")


@dataclass(frozen=True)
class KeyKind:
    """The columns of a key, and what a join compares: one expression for each side and column, and its value."""

    columns: tuple  # names of key types
    left: tuple = ()
    right: tuple = ()
    left_value: object = None
    right_value: object = None

    def sql(self, table):
        written = self.left if table == "l" else self.right
        return written or tuple(f"{table}.k{place + 1}" for place in range(len(self.columns)))

    def compared(self, table, row):
        computed = self.left_value if table == "l" else self.right_value
        if computed:
            return (None if row.keys[0] is None else computed(row),)
        return tuple(comparable(key, one, one) for key, one in zip(row.keys, self.types))

    @property
    def types(self):
        return [BY_NAME[name] for name in self.columns]


KEYS = {
    "integer": KeyKind(("integer",)),
    "varchar": KeyKind(("varchar",)),
    "decimal": KeyKind(("decimal(30,4)",)),
    "date": KeyKind(("date",)),
    "double": KeyKind(("double precision",)),
    "boolean": KeyKind(("boolean",)),
    "two_columns": KeyKind(("integer", "varchar")),
    "expression": KeyKind(("integer",), ("CAST(l.k1 AS BIGINT) + l.id % 3",), ("CAST(r.k1 AS BIGINT) * 2",), lambda row: row.keys[0] + row.id % 3, lambda row: row.keys[0] * 2),
}
# The first values of every larger table without NULLs.
EDGES = {"double precision": (float("nan"), -0.0, 0.0), "varchar": ("", "thirteen byte")}

FACTORS = {
    "form": PAIRED + MATCHED + TESTED,
    "key": tuple(KEYS),
    "left_size": tuple(SIZES),
    "right_size": tuple(SIZES),
    "left_nulls": tuple(NULL_SHARES),
    "right_nulls": tuple(NULL_SHARES),
    "residual": (False, True),
    "place": ("where", "select"),  # of a subquery
}


@dataclass(frozen=True)
class MatrixRow:
    id: int
    value: int
    keys: tuple


def wanted_combinations():
    """All pairs; and since a pair proves little over an empty table, each kind of join with all keys and NULL shares over larger ones."""
    sizes = list(product(LARGER, repeat=2))
    nulls = list(product(NULL_SHARES, repeat=2))
    for place, form in enumerate(FACTORS["form"]):
        for number, (left, right) in enumerate(nulls):
            left_size, right_size = sizes[(place + number) % len(sizes)]
            yield {"form": form, "left_nulls": left, "right_nulls": right, "left_size": left_size, "right_size": right_size}
        for number, key in enumerate(KEYS):
            left_size, right_size = sizes[(place + number) % len(sizes)]
            yield {"form": form, "key": key, "left_size": left_size, "right_size": right_size}
        for left_size, right_size in (("none", "few"), ("few", "none")):
            yield {"form": form, "left_size": left_size, "right_size": right_size}
    yield from all_pairs(FACTORS)


def table_name(side, key, nulls, size):
    return f"{side}_{key}_{nulls}_{size}"


@cache
def table_rows(side, key, nulls, size):
    randomness = random.Random(table_name(side, key, nulls, size))
    numbers = range(-3, 40 if size == "many" else 4)

    def value(key_type, number):
        if randomness.random() < NULL_SHARES[nulls]:
            return None
        edges = EDGES.get(key_type.name, ())
        return edges[number] if number < len(edges) and size in LARGER else key_type.value(randomness, numbers)
    return [MatrixRow(number, randomness.randrange(10), tuple(value(one, number) for one in KEYS[key].types)) for number in range(SIZES[size])]


def write_tables(folder, cases):
    """Those that the cases read."""
    for description in {case.description(side) for case in cases for side in "lr"}:
        rows = table_rows(*description)
        columns = {"id": pyarrow.array([row.id for row in rows], pyarrow.int32()), "v": pyarrow.array([row.value for row in rows], pyarrow.int32())}
        for place, one in enumerate(KEYS[description[1]].types):
            columns[f"k{place + 1}"] = pyarrow.array([row.keys[place] for row in rows], one.arrow)
        parquet.write_table(pyarrow.table(columns), Path(folder) / f"{table_name(*description)}.parquet", row_group_size=ROW_GROUP_ROWS)


@dataclass(frozen=True)
class MatrixCase:
    form: str
    key: str
    left_size: str
    right_size: str
    left_nulls: str
    right_nulls: str
    residual: bool
    place: str
    fails = False

    @property
    def kind(self):
        return KEYS[self.key]

    def description(self, side):
        """The arguments of `table_name` and `table_rows`."""
        return (side, self.key) + ((self.left_nulls, self.left_size) if side == "l" else (self.right_nulls, self.right_size))

    # SQL.

    def output(self, side):
        return [f"{side}.id"] + [f"{side}.k{place + 1}" for place, one in enumerate(self.kind.types) if one.show]

    def condition(self):
        parts = [] if self.form == "CROSS" else [f"{one} = {other}" for one, other in zip(self.kind.sql("l"), self.kind.sql("r"))]
        return " AND ".join(parts + ["l.v < r.v"] * self.residual) or "TRUE"

    @property
    def sql(self):
        left, right = f"{table_name(*self.description('l'))} AS l", f"{table_name(*self.description('r'))} AS r"
        own, both = ", ".join(self.output("l")), ", ".join(self.output("l") + self.output("r"))
        if self.form == "CROSS":
            return f"SELECT {both} FROM {left} CROSS JOIN {right} WHERE {self.condition()}"
        if self.form.endswith("LATERAL"):
            subquery = f"LATERAL (SELECT r.* FROM {right} WHERE {self.condition()}) AS r"
            return f"SELECT {both} FROM {left}" + (f" LEFT JOIN {subquery} ON TRUE" if self.form.startswith("LEFT") else f", {subquery}")
        if self.form in PAIRED + MATCHED:
            return f"SELECT {both if self.form in PAIRED else own} FROM {left} {self.form} JOIN {right} ON {self.condition()}"
        if self.place == "where":
            return f"SELECT {own} FROM {left} WHERE {self.test(right)}"
        return f"SELECT {own}, {self.test(right)} FROM {left}"

    def test(self, right):
        if self.form.endswith("EXISTS"):
            return f"{self.form} (SELECT 1 FROM {right} WHERE {self.condition()})"
        own, other = self.kind.sql("l"), self.kind.sql("r")
        row = own[0] if len(own) == 1 else f"({', '.join(own)})"
        return f"{row} {self.form} (SELECT {', '.join(other)} FROM {right}{' WHERE l.v < r.v' if self.residual else ''})"

    # Rows.

    @cached_property
    def rows(self):
        left = [{"l": row} for row in table_rows(*self.description("l"))]
        right = [{"r": row} for row in table_rows(*self.description("r"))]
        own = [self.kind.compared("l", pair["l"]) for pair in left]
        other = [self.kind.compared("r", pair["r"]) for pair in right]

        def passes(pair, place):
            return not self.residual or pair["l"].value < right[place]["r"].value

        def equal(pair, place):
            if self.form == "CROSS":
                return True
            one, two = own[pair["l"].id], other[place]
            return one == two if None not in one + two else conjunction(map(compare, ("=",) * len(one), one, two))

        def match(pair):
            return [place for place in range(len(right)) if passes(pair, place) and equal(pair, place) is True]

        def is_member(pair):
            truth = disjunction(equal(pair, place) for place in range(len(right)) if passes(pair, place))
            return negation(truth) if self.form == "NOT IN" else truth

        if self.form in PAIRED:
            kind = {"CROSS": "INNER", "LATERAL": "INNER", "LEFT LATERAL": "LEFT"}.get(self.form, self.form)
            return Counter(self.shown("l", pair.get("l")) + self.shown("r", pair.get("r")) for pair in join(kind, left, right, match))
        if self.form in MATCHED:
            return Counter(self.shown("l", pair["l"]) for pair in left if bool(match(pair)) == (self.form == "SEMI"))
        truths = [bool(match(pair)) == (self.form == "EXISTS") if self.form.endswith("EXISTS") else is_member(pair) for pair in left]
        if self.place == "where":
            return Counter(self.shown("l", pair["l"]) for pair, truth in zip(left, truths) if truth is True)
        words = {True: "true", False: "false", None: None}
        return Counter(self.shown("l", pair["l"]) + (words[truth],) for pair, truth in zip(left, truths))

    def shown(self, side, row):
        shown = [one.show for one in self.kind.types]
        if row is None:
            return (None,) * len(self.output(side))
        return (str(row.id),) + tuple(None if key is None else show(key) for key, show in zip(row.keys, shown) if show)


@cache
def matrix():
    return [MatrixCase(**row) for row in covering_array(FACTORS, wanted_combinations())]
