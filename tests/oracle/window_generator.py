"""Random window functions for the query generator. Their results do not depend on the order of rows that the window does not tell apart: where
that would matter, the window is ordered by all columns."""

from tests.oracle.expression_generator import ExpressionGenerator

RANGE_OFFSETS = {"integer": ("0", "1", "3", "50"), "decimal": ("0", "0.5", "20.25"), "date": ("INTERVAL '1 day'", "INTERVAL '40 days'", "INTERVAL '1 month'"),
                 "timestamp": ("INTERVAL '1 hour'", "INTERVAL '2 months'", "INTERVAL '12 days'")}
EXCLUSIONS = ("", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS")


class WindowGenerator(ExpressionGenerator):
    def window_call(self, scope, may_order):
        """Text and kind of a call with OVER, and whether it sees the order of all rows. Only one call of a query may: equal rows can be in
        different places in the orders of two."""
        ordered = may_order and self.chance(0.6)
        return *(self.ordered_call(scope) if ordered else self.peer_call(scope)), ordered

    def direction(self):
        return self.one_of("", " ASC", " DESC") + self.one_of("", "", " NULLS FIRST", " NULLS LAST")

    def partition(self, scope):
        keys = []
        for _ in range(self.one_of(0, 1, 1, 2)):
            kind = self.kind_in(scope)
            keys.append(self.column(scope, kind) if self.chance(0.7) else self.expression(scope, kind, 1))
        return f"PARTITION BY {', '.join(keys)} " if keys else ""

    def total_order(self, scope):
        keys = []
        for text, kind in self.random.sample(scope, len(scope)):
            keys.append(f"{text}{self.direction()}")
            # 0.0 and -0.0 are equal.
            if kind in ("double", "shown"):
                keys.append(f"CAST({text} AS VARCHAR)")
        return f"ORDER BY {', '.join(keys)}"

    def counted_bounds(self, unit):
        before, after = self.random.randint(0, 4), self.random.randint(0, 4)
        bounds = self.one_of(("UNBOUNDED PRECEDING", "CURRENT ROW"), ("UNBOUNDED PRECEDING", f"{after} FOLLOWING"), ("UNBOUNDED PRECEDING", f"{before} PRECEDING"),
                             (f"{before} PRECEDING", f"{after} FOLLOWING"), (f"{before} PRECEDING", "CURRENT ROW"), (f"{before + after} PRECEDING", f"{after} PRECEDING"),
                             ("CURRENT ROW", f"{after} FOLLOWING"), (f"{before} FOLLOWING", f"{before + after} FOLLOWING"), ("CURRENT ROW", "UNBOUNDED FOLLOWING"),
                             (f"{after} FOLLOWING", "UNBOUNDED FOLLOWING"), ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"), ("CURRENT ROW", "CURRENT ROW"))
        return f" {unit} BETWEEN {bounds[0]} AND {bounds[1]}{self.random.choice(EXCLUSIONS)}"

    def ordered_call(self, scope):
        """A function that sees the order of all rows."""
        kind = self.kind_in(scope)
        value = self.expression(scope, kind, 1)
        window = f"{self.partition(scope)}{self.total_order(scope)}"
        framed = window + (self.counted_bounds("ROWS") if self.chance(0.7) else "")
        pick = self.random.randrange(8)
        if pick == 0:
            return f"row_number() OVER ({window})", "integer"
        if pick == 1:
            return f"ntile({self.random.randint(1, 5)}) OVER ({window})", "integer"
        nulls = self.one_of("", "", " IGNORE NULLS")
        if pick in (2, 3):
            arguments = self.one_of("", f", {self.random.randint(-2, 3)}", f", {self.random.randint(0, 3)}, {self.literal(kind)}")
            return f"{self.one_of('lag', 'lead')}({value}{arguments}{nulls}) OVER ({window})", kind
        if pick == 4:
            return f"nth_value({value}, {self.random.randint(1, 4)}{nulls}) OVER ({framed})", kind
        if pick == 5:
            return f"{self.one_of('first_value', 'last_value')}({value}{nulls}) OVER ({framed})", kind
        return self.aggregate_over(scope, framed)

    def peer_call(self, scope):
        """A function for which peers are equal."""
        kind = self.random.choice([kind for _, kind in scope if kind in RANGE_OFFSETS] or [self.kind_in(scope)])
        key = self.column(scope, kind)
        order = f"ORDER BY {key}{self.direction()}"
        window = f"{self.partition(scope)}{order}"
        pick = self.random.randrange(6)
        if pick == 0:
            return f"{self.one_of('rank', 'dense_rank')}() OVER ({window})", "integer"
        if pick == 1:
            return f"{self.one_of('percent_rank', 'cume_dist')}() OVER ({window})", "double"
        if pick == 2:
            return self.aggregate_over(scope, self.partition(scope).strip())
        if pick == 3 and kind in RANGE_OFFSETS:
            before, after = (self.random.choice(RANGE_OFFSETS[kind]) for _ in range(2))
            bounds = self.one_of((f"{before} PRECEDING", f"{after} FOLLOWING"), ("UNBOUNDED PRECEDING", f"{after} FOLLOWING"), (f"{before} PRECEDING", "CURRENT ROW"),
                                 ("CURRENT ROW", f"{after} FOLLOWING"), (f"{after} FOLLOWING", "UNBOUNDED FOLLOWING"))
            return self.aggregate_over(scope, f"{window} RANGE BETWEEN {bounds[0]} AND {bounds[1]}{self.random.choice(EXCLUSIONS)}")
        if pick == 4:
            return self.aggregate_over(scope, window + self.counted_bounds("GROUPS"))
        return self.aggregate_over(scope, window)

    def aggregate_over(self, scope, window):
        kind = self.kind_in(scope)
        value = self.expression(scope, kind, 1)
        condition = f" FILTER (WHERE {self.condition(scope, 1)})" if self.chance(0.2) else ""
        over = f"{condition} OVER ({window})"
        pick = self.random.randrange(5)
        if pick == 0:
            return f"count({self.one_of('*', value, 'DISTINCT ' + value)}){over}", "integer"
        if kind == "boolean":
            return f"{self.one_of('bool_and', 'bool_or')}({value}){over}", kind
        if kind == "integer" and self.chance(0.3):
            return f"{self.one_of('bit_and', 'bit_or', 'bit_xor')}(CAST({value} % 1000 AS INTEGER)){over}", kind
        if kind in ("integer", "decimal") and pick < 4:
            return f"sum({value}){over}", kind
        return f"{self.one_of('min', 'max')}({value}){over}", kind
