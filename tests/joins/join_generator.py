"""Random tables and joins over them. A seed defines one round: three tables and a number of statements, each with its expected
rows."""

import random
from collections import Counter
from dataclasses import dataclass, field

from tests.joins import naive_join
from tests.joins.conditions import (AnyOf, Constant, ConstantComparison, IsNull, KeyComparison, Not, ValueComparison, holds, matcher, sql_of)
from tests.joins.key_types import MIXED_PAIRS, TYPES, comparable
from tests.joins.naive_join import MoreThanOneRow, Row, compare, conjunction, disjunction, negation

MOST_ROWS = 30_000  # per result; a statement with more is not run
SIZES = ((0, 0), (0, 7), (7, 0), (1, 0), (0, 1), (1, 1), (1, 20), (20, 1), (5, 5), (12, 9), (9, 40), (40, 30), (60, 60), (3000, 90), (90, 3000), (1200, 1600))
LARGE = 100


@dataclass
class Table:
    name: str
    key_types: tuple
    rows: list

    @property
    def columns(self):
        return [f"{self.name}_id", f"{self.name}_value"] + [f"k{place + 1}" for place in range(len(self.key_types))]

    def is_large(self):
        return len(self.rows) > LARGE


@dataclass
class Statement:
    sql: str
    rows: Counter = field(default_factory=Counter)  # tuples of text; None for NULL
    fails: bool = False  # more than one row for a scalar subquery


class Round:
    """All random choices follow from the seed. No table has more than `most_rows` rows: loops over tiny chunks are slow."""

    def __init__(self, seed, most_rows=3000):
        self.random = random.Random(seed)
        self.pairs = [self.random.choice(MIXED_PAIRS)[:: self.random.choice((1, -1))] if self.random.random() < 0.35 else (self.random.choice(TYPES),) * 2
                      for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
        left_size, right_size = (min(size, most_rows) for size in self.random.choice(SIZES))
        self.is_skewed = self.random.random() < 0.25
        # Enough distinct keys to keep joins of large tables small.
        self.numbers = range(-3, max(self.random.choice((3, 8, 50)), left_size * right_size // 4000))
        self.null_shares = [self.random.choice((0, 0, 0.2, 0.2, 1)) for _ in range(2)]
        self.left = self.make_table("l", [pair[0] for pair in self.pairs], left_size, 0)
        self.right = self.make_table("r", [pair[1] for pair in self.pairs], right_size, 1)
        self.third = self.make_table("m", [pair[0] for pair in self.pairs], self.random.choice((0, 1, 10, 25)), 0)
        self.tables = {table.name: table for table in (self.left, self.right, self.third)}

    def make_table(self, name, types, size, side):
        others = [pair[1 - side] for pair in self.pairs]
        frequent = [one.value(self.random, self.numbers) for one in types]
        is_skewed = self.is_skewed and (side == 0 or size <= LARGE)
        rows = []
        for number in range(size):
            keys = tuple(self.make_key(one, side, frequent[place] if is_skewed else None) for place, one in enumerate(types))
            value = None if self.random.random() < 0.2 else self.random.randrange(-2, 8)
            rows.append(Row(number, value, keys, tuple(map(comparable, keys, types, others)), tuple(map(comparable, keys, types, types))))
        return Table(name, tuple(types), rows)

    def make_key(self, key_type, side, frequent):
        if self.random.random() < self.null_shares[side]:
            return None
        if frequent is not None and self.random.random() < 0.5:
            return frequent
        return key_type.value(self.random, self.numbers)

    # Conditions.

    def key_conditions(self, left, right):
        """Mostly plain equalities; over small tables also other comparisons, which use nested loops and range joins."""
        conditions = []
        is_large = self.tables[left].is_large() or self.tables[right].is_large()
        for place in range(len(self.pairs)):
            name = "=" if is_large or self.random.random() < 0.8 else self.random.choice(("IS NOT DISTINCT FROM", "<", "<=", ">", ">=", "<>", "IS DISTINCT FROM"))
            tables = (left, right) if self.random.random() < 0.7 else (right, left)
            conditions.append(KeyComparison(tables[0], name, tables[1], place))
        return conditions

    def other_condition(self, tables, depth=0):
        table, other = self.random.choice(tables), self.random.choice(tables)
        operators = ("=", "<", "<=", ">", ">=", "<>", "IS NOT DISTINCT FROM")
        choice = self.random.randrange(8 if depth < 2 else 5)
        if choice < 2 and table != other:
            return ValueComparison(table, self.random.choice(operators), other, self.random.choice((0, 0, 1, -2)))
        if choice < 4:
            return ConstantComparison(table, self.random.choice(operators), self.random.randrange(-2, 8))
        if choice == 4:
            return IsNull(table) if self.random.random() < 0.7 else self.random.choice((Constant("FALSE", False), Constant("NULL::boolean", None), Constant("1 = 1", True)))
        if choice == 5:
            return Not(self.other_condition(tables, depth + 1))
        return AnyOf((self.other_condition(tables, depth + 1), self.other_condition(tables, depth + 1)))

    def other_conditions(self, *tables):
        return [self.other_condition(tables) for _ in range(self.random.choice((0, 0, 1, 1, 2)))]

    # Statements.

    def statement(self):
        """None if its result is too large."""
        make = self.random.choice((self.two_tables,) * 5 + (self.three_tables, self.three_tables, self.merged_columns, self.product, self.exists, self.exists,
                                                            self.membership, self.membership, self.membership, self.scalar, self.aggregated, self.outer_value))
        made = make()
        return made if made is None or made.rows.total() <= MOST_ROWS else None

    def environments(self, table):
        return [{table: row} for row in self.tables[table].rows]

    def join(self, kind, left, right, conditions):
        right_side = self.environments(right)
        return naive_join.join(kind, left, right_side, matcher(conditions, right, right_side))

    def output(self, table):
        """The columns of one table in a select list."""
        places = self.shown_keys(table)
        return ", ".join([f"{table}.{table}_id", f"{table}.{table}_value"] + [f"{table}.k{place + 1}" for place in places])

    def shown_keys(self, table):
        return [place for place, one in enumerate(self.tables[table].key_types) if one.show]

    def output_of(self, row, table):
        places = self.shown_keys(table)
        if row is None:
            return (None,) * (2 + len(places))
        types = self.tables[table].key_types
        keys = tuple(None if row.keys[place] is None else types[place].show(row.keys[place]) for place in places)
        return (str(row.id), None if row.value is None else str(row.value)) + keys

    def answer(self, sql, environments, tables):
        return Statement(sql, Counter(sum((self.output_of(rows.get(table), table) for table in tables), ()) for rows in environments))

    def where(self, environments, *tables):
        """(WHERE clause, rows that pass it)"""
        conditions = self.other_conditions(*tables) if self.random.random() < 0.3 else []
        return (f" WHERE {sql_of(conditions)}" if conditions else ""), [rows for rows in environments if holds(conditions, rows)]

    def two_tables(self):
        kind = self.random.choice(("INNER", "LEFT", "RIGHT", "FULL"))
        conditions = self.key_conditions("l", "r") + self.other_conditions("l", "r")
        self.random.shuffle(conditions)
        clause, rows = self.where(self.join(kind, self.environments("l"), "r", conditions), "l", "r")
        return self.answer(f"SELECT {self.output('l')}, {self.output('r')} FROM l {kind} JOIN r ON {sql_of(conditions)}{clause}", rows, "lr")

    def three_tables(self):
        first, second = (self.random.choice(("INNER", "INNER", "LEFT", "RIGHT", "FULL")) for _ in range(2))
        conditions = self.key_conditions("l", "r") + self.other_conditions("l", "r")
        # The keys of the third table have the types of the first.
        more = [KeyComparison("l", "=", "m", place, same_type=True) for place in range(len(self.pairs))] + self.other_conditions("l", "r", "m")
        rows = self.join(first, self.environments("l"), "r", conditions)
        if len(rows) > MOST_ROWS:
            return None
        clause, rows = self.where(self.join(second, rows, "m", more), "l", "r", "m")
        return self.answer(f"SELECT {', '.join(map(self.output, 'lrm'))} FROM l {first} JOIN r ON {sql_of(conditions)} {second} JOIN m ON {sql_of(more)}{clause}",
                           rows, "lrm")

    def merged_columns(self):
        """USING and NATURAL: k1.. are one column each, taken from the preserved side; FULL takes the one that is not NULL."""
        kind = self.random.choice(("INNER", "LEFT", "RIGHT", "FULL"))
        conditions = [KeyComparison("l", "=", "r", place) for place in range(len(self.pairs))]
        names = [f"k{place + 1}" for place in range(len(self.pairs))]
        natural = self.random.random() < 0.4
        text = f"l NATURAL {kind} JOIN r" if natural else f"l {kind} JOIN r USING ({', '.join(names)})"
        shown = [place for place, (left, right) in enumerate(self.pairs) if left is right and left.show]
        # Merged columns of two types have a third type; whether they are NULL does not depend on it.
        sql = ", ".join(["l_id", "r_id", "l_value"] + [names[place] if place in shown else f"{names[place]} IS NULL" for place in range(len(names))])
        rows = Counter()
        for pair in self.join(kind, self.environments("l"), "r", conditions):
            left, right = pair.get("l"), pair.get("r")
            keys = [(right if kind == "RIGHT" or left is None else left).keys[place] for place in range(len(names))]
            keys = [None if place in shown and key is None else self.pairs[place][0].show(key) if place in shown else str(key is None).lower()
                    for place, key in enumerate(keys)]
            value = None if left is None or left.value is None else str(left.value)
            rows[(str(left.id) if left else None, str(right.id) if right else None, value, *keys)] += 1
        return Statement(f"SELECT {sql} FROM {text}", rows)

    def product(self):
        if len(self.left.rows) * len(self.right.rows) > MOST_ROWS:
            return None
        rows = naive_join.join("INNER", self.environments("l"), self.environments("r"), lambda _: range(len(self.right.rows)))
        conditions = self.other_conditions("l", "r")
        rows = [pair for pair in rows if holds(conditions, pair)]
        return self.answer(f"SELECT {self.output('l')}, {self.output('r')} FROM {self.random.choice(('l CROSS JOIN r', 'l, r'))} WHERE {sql_of(conditions)}", rows, "lr")

    def exists(self):
        conditions = self.key_conditions("l", "r") + self.other_conditions("l", "r")
        right = self.environments("r")
        match = matcher(conditions, "r", right)
        word, wanted = self.random.choice((("EXISTS", True), ("NOT EXISTS", False)))
        subquery = f"{word} (SELECT 1 FROM r WHERE {sql_of(conditions)})"
        found = [(rows, bool(match(rows)) == wanted) for rows in self.environments("l")]
        return self.selected(subquery, found)

    def selected(self, condition, found):
        """A condition with subqueries in WHERE, in the select list, or under an OR, where it is not a plain filter. `found` has
        its truth for every row of l."""
        place = self.random.randrange(3)
        if place == 0:
            return self.answer(f"SELECT {self.output('l')} FROM l WHERE {condition}", [rows for rows, truth in found if truth is True], "l")
        if place == 1:
            text = {True: "true", False: "false", None: None}
            return Statement(f"SELECT {self.output('l')}, {condition} FROM l", Counter(self.output_of(rows["l"], "l") + (text[truth],) for rows, truth in found))
        other = self.other_condition(("l",))
        kept = [rows for rows, truth in found if disjunction((other.truth(rows), truth)) is True]
        return self.answer(f"SELECT {self.output('l')} FROM l WHERE {other.sql()} OR {condition}", kept, "l")

    def membership(self):
        """IN, NOT IN, and comparisons with ANY and ALL, over one column or a row of several."""
        conditions = [] if self.left.is_large() and self.right.is_large() else self.other_conditions("l", "r")
        clause = f" WHERE {sql_of(conditions)}" if conditions else ""
        names = [f"k{place + 1}" for place in range(len(self.pairs))]
        operator, quantifier = "=", "ANY"
        if len(names) == 1:
            own, other = "l.k1", "r.k1"
            operator, quantifier = self.random.choice((("=", "ANY"), ("=", "ANY"), ("<>", "ALL"), ("<", "ANY"), (">=", "ALL"), ("=", "ALL"), ("<>", "ANY")))
        else:
            own, other = f"({', '.join('l.' + name for name in names)})", ", ".join("r." + name for name in names)
        words = f"{operator} {quantifier}"
        if operator == "=" and quantifier == "ANY":
            words = self.random.choice(("IN", "NOT IN"))
        elif words == "<> ALL" and self.random.random() < 0.5:
            words = "NOT IN"
        truth = self.quantified(conditions, operator, quantifier)
        found = [(rows, truth(rows["l"])) for rows in self.environments("l")]
        if words == "NOT IN" and operator == "=":
            found = [(rows, negation(one)) for rows, one in found]
        return self.selected(f"{own} {words} (SELECT {other} FROM r{clause})", found)

    def quantified(self, conditions, operator, quantifier):
        """The truth for a row of l; rows that are equal in everything the statement uses are evaluated once."""
        over_all = disjunction if quantifier == "ANY" else conjunction
        right = list({(row.compared, row.value if conditions else None): row for row in self.right.rows}.values())
        known = {}

        def truth(left):
            asked = left.compared, left.value if conditions else None
            if asked not in known:
                rows = [row for row in right if holds(conditions, {"l": left, "r": row})] if conditions else right
                known[asked] = over_all(conjunction(map(compare, operators, left.compared, row.compared)) for row in rows)
            return known[asked]
        operators = [operator] * len(self.pairs)
        return truth

    def scalar(self):
        """A subquery as a value: NULL without a row, an error with several."""
        conditions = self.key_conditions("l", "r") + self.other_conditions("l", "r")
        sql = f"SELECT {self.output('l')}, (SELECT r.r_id FROM r WHERE {sql_of(conditions)}) FROM l"
        right = self.environments("r")
        match = matcher(conditions, "r", right)
        rows = Counter()
        try:
            for environment in self.environments("l"):
                rows[self.output_of(environment["l"], "l") + (self.only(match(environment)),)] += 1
        except MoreThanOneRow:
            return Statement(sql, fails=True)
        return Statement(sql, rows)

    @staticmethod
    def only(places):
        if len(places) > 1:
            raise MoreThanOneRow
        return str(places[0]) if places else None

    def aggregated(self):
        conditions = self.key_conditions("l", "r") + self.other_conditions("l", "r")
        sql = f"SELECT {self.output('l')}, (SELECT max(r.r_id) FROM r WHERE {sql_of(conditions)}), (SELECT count(*) FROM r WHERE {sql_of(conditions)}) FROM l"
        match = matcher(conditions, "r", self.environments("r"))
        rows = Counter()
        for environment in self.environments("l"):
            places = match(environment)
            rows[self.output_of(environment["l"], "l") + (str(max(places)) if places else None, str(len(places)))] += 1
        return Statement(sql, rows)

    def outer_value(self):
        """A subquery that returns the key of its outer row as text: equal keys may have different text (-0.0 and 0.0, 1 month and
        30 days)."""
        conditions = self.key_conditions("l", "r") + self.other_conditions("l", "r")
        subquery = f"(SELECT CAST(l.k1 AS VARCHAR) FROM r WHERE {sql_of(conditions)} LIMIT 1)"
        match = matcher(conditions, "r", self.environments("r"))
        rows = Counter()
        for environment in self.environments("l"):
            left = environment["l"]
            same = "true" if match(environment) and left.keys[0] is not None else None
            rows[self.output_of(left, "l") + (same,)] += 1
        return Statement(f"SELECT {self.output('l')}, {subquery} = CAST(l.k1 AS VARCHAR) FROM l", rows)
