"""Random literals, expressions and conditions for the query generator. Everything follows from the seed.

An expression has a kind, which stands for one SQL type or several comparable ones. A scope is a list of (text, kind): the columns
that an expression may use. Expressions avoid everything on which the dialects differ: division by zero, overflow, comparisons
across kinds, patterns with an implicit escape character, comparisons of numbers as text."""

import random

TYPES = {"integer": "INTEGER", "big": "BIGINT", "text": "VARCHAR", "decimal": "DECIMAL(9,2)", "wide": "DECIMAL(38,2)", "double": "DOUBLE",
         "date": "DATE", "timestamp": "TIMESTAMP", "boolean": "BOOLEAN"}
KINDS = tuple(TYPES)
# Results that may differ in the last digit, or whose types the engines choose differently: they are selected, but nothing is computed from
# them.
SHOWN = "shown"

WORDS = ("", "a", "b", "ab", "abc", "B", "zebra", "ä", "%", "a%b", "under_score", "back\\slash", " spaces ", "it''s", "long text with several words")
PATTERNS = ("a%", "%b%", "_", "__", "%e", "%", "ab", "%a%b%", "", "_b%", "%ä%", "A%", "%S%", "%_b")
ESCAPED_PATTERNS = ("%!%%", "a!%b", "%!_%", "!%", "%!!%", "_!%_")
EXTREME_BIG = (9223372036854775807, -9223372036854775808, 4294967296, -4294967297)
EXTREME_WIDE = ("999999999999999999999999999999999999.99", "-999999999999999999999999999999999999.99", "18446744073709551616.00", "-0.01",
                "9223372036854775807.99")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
DATE_FIELDS = ("year", "month", "day", "dow", "doy", "quarter", "week")
INTERVALS = ("1 day", "1 month", "13 months", "1 year", "-2 months", "40 days", "3 hours", "90 minutes", "1 month 3 days")


class ExpressionGenerator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        # Most values are among these, so that joins and comparisons find matches.
        self.common_values = {kind: [self.fresh_literal(kind) for _ in range(4)] for kind in KINDS}

    def chance(self, share):
        return self.random.random() < share

    def one_of(self, *choices):
        return self.random.choice(choices)

    # ---- literals

    def value(self, kind):
        return "NULL" if self.chance(0.15) else self.literal(kind)

    def literal(self, kind):
        return self.random.choice(self.common_values[kind]) if self.chance(0.75) else self.fresh_literal(kind)

    def fresh_literal(self, kind):
        r = self.random
        if kind == "integer":
            return str(r.choice((0, 1, 2, 3, 5, 7, -1, -4, 10, 100, r.randint(-50, 50), r.randint(-50, 50), 2000000, -2000000)))
        if kind == "big":
            return f"CAST({r.choice(EXTREME_BIG) if self.chance(0.4) else r.randint(-5, 5)} AS BIGINT)"
        if kind == "text":
            return "'" + r.choice(WORDS) + "'"
        if kind == "decimal":
            return f"{r.choice((0, 1, 100, 9999, -9999, r.randint(-9999, 9999), r.randint(-9999, 9999))) / 100:.2f}"
        if kind == "wide":
            return r.choice(EXTREME_WIDE) if self.chance(0.4) else f"{r.randint(-300, 300) / 100:.2f}"
        if kind == "double":
            return r.choice(("0.0", "-0.0", "1.5", "-2.25", "1e3", "0.125", "'NaN'", "'Infinity'", f"{r.randint(-1000, 1000) / 8}")) + "::DOUBLE"
        if kind == "date":
            return f"DATE '{r.choice((1995, 1999, 2000, 2004, r.randint(1995, 2005)))}-{r.choice((1, 2, 12, r.randint(1, 12))):02}-{r.randint(1, 28):02}'"
        if kind == "timestamp":
            time = r.choice(("00:00:00", "23:59:59.999999", f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}"))
            return f"TIMESTAMP '{r.randint(1999, 2001)}-{r.choice((1, 2, 12)):02}-{r.choice((1, 28)):02} {time}'"
        return r.choice(("true", "false"))

    # ---- expressions

    def column(self, scope, kind):
        fitting = [text for text, own in scope if own == kind]
        return self.random.choice(fitting) if fitting else self.literal(kind)

    def kind_in(self, scope):
        """The kind of one of the columns, among those that expressions can use."""
        return self.random.choice([kind for _, kind in scope if kind != SHOWN] or KINDS)

    def common_kind(self, scope, own):
        """A kind of `own`, if possible one that the scope has too, so that columns are compared with columns."""
        kinds = {kind for _, kind in scope}
        return self.kind_in([column for column in own if column[1] in kinds] or own)

    def expression(self, scope, kind, depth=2):
        if depth == 0 or self.chance(0.35):
            return self.column(scope, kind) if self.chance(0.8) else self.literal(kind)
        if self.chance(0.3):
            return self.choice_of_values(scope, kind, depth)
        return getattr(self, f"{kind}_expression")(scope, depth)

    def choice_of_values(self, scope, kind, depth):
        def part():
            return self.expression(scope, kind, depth - 1)

        pick = self.random.randrange(6)
        if pick == 0:
            return f"CASE WHEN {self.condition(scope, depth - 1)} THEN {part()} ELSE {part()} END"
        if pick == 1:
            return f"CASE WHEN {self.condition(scope, depth - 1)} THEN {part()} WHEN {self.condition(scope, 0)} THEN {part()} END"
        if pick == 2:
            other = self.kind_in(scope)
            return f"CASE {self.expression(scope, other, 0)} WHEN {self.literal(other)} THEN {part()} ELSE {part()} END"
        if pick == 3:
            return f"COALESCE({part()}, {part()})"
        if pick == 4:
            return f"{self.one_of('greatest', 'least')}({part()}, {part()})"
        return f"NULLIF({part()}, {self.expression(scope, kind, 0)})"

    def integer_expression(self, scope, depth):
        inner = self.expression(scope, "integer", depth - 1)
        pick = self.random.randrange(9)
        if pick < 3:
            return f"({inner} {self.one_of('+', '-')} {self.expression(scope, 'integer', 0)})"
        if pick == 3:
            return f"({inner} {self.one_of('* 3', '* -1', '% 7', '/ 3', '/ -2')})"
        if pick == 4:
            return f"{self.one_of('abs', '-')}({inner})"
        if pick == 5:
            return f"length({self.expression(scope, 'text', depth - 1)})"
        if pick == 6:
            return f"extract({self.random.choice(DATE_FIELDS)} FROM {self.expression(scope, self.one_of('date', 'timestamp'), 0)})"
        if pick == 7:
            return f"({self.expression(scope, 'date', 0)} - {self.expression(scope, 'date', 0)})"
        return f"CAST({self.expression(scope, self.one_of('boolean', 'decimal'), depth - 1)} AS INTEGER)"

    def big_expression(self, scope, depth):
        return f"CAST({self.expression(scope, 'integer', depth - 1)} AS BIGINT)"

    def text_expression(self, scope, depth):
        inner = self.expression(scope, "text", depth - 1)
        pick = self.random.randrange(8)
        if pick < 2:
            return f"{self.one_of('upper', 'lower', 'trim', 'reverse')}({inner})"
        if pick == 2:
            return f"substring({inner}, {self.random.randint(1, 3)}, {self.random.randint(0, 4)})"
        if pick == 3:
            return f"replace({inner}, '{self.one_of('a', 'b', '%')}', 'xy')"
        if pick == 4:
            return f"{self.one_of('left', 'right')}({inner}, {self.one_of(0, 1, 2, -1)})"
        if pick == 5:
            return f"CAST({self.expression(scope, self.one_of('integer', 'date', 'boolean'), 0)} AS VARCHAR)"
        return f"({inner} || {self.expression(scope, 'text', 0)})"

    def decimal_expression(self, scope, depth):
        inner = self.expression(scope, "decimal", depth - 1)
        pick = self.random.randrange(6)
        if pick < 3:
            return f"({inner} {self.one_of('+', '-')} {self.expression(scope, self.one_of('decimal', 'integer'), 0)})"
        # The casts keep two digits: DuckDB truncates digits in set operations of decimals with different scales.
        if pick == 3:
            return f"CAST({inner} * {self.one_of('2', '-1', '0.5', '1.25')} AS DECIMAL(18,2))"
        if pick == 4:
            return f"CAST({self.one_of('round', 'floor', 'ceil')}({inner}) AS DECIMAL(18,2))"
        return f"{self.one_of('abs', '-')}({inner})"

    def wide_expression(self, scope, depth):
        return f"{self.one_of('abs', '-')}({self.expression(scope, 'wide', depth - 1)})"

    def double_expression(self, scope, depth):
        if self.chance(0.3):
            return f"CAST({self.expression(scope, self.one_of('integer', 'decimal'), depth - 1)} AS DOUBLE)"
        return f"({self.expression(scope, 'double', depth - 1)} {self.one_of('+', '-', '*')} {self.literal('double')})"

    def date_expression(self, scope, depth):
        inner = self.expression(scope, "date", depth - 1)
        pick = self.random.randrange(4)
        if pick == 0:
            return f"({inner} {self.one_of('+', '-')} {self.random.randint(0, 400)})"
        if pick == 1:
            return f"CAST({inner} {self.one_of('+', '-')} INTERVAL '{self.random.choice(INTERVALS)}' AS DATE)"
        if pick == 2:
            return f"CAST(date_trunc('{self.one_of('year', 'quarter', 'month', 'week')}', {inner}) AS DATE)"
        return f"CAST({self.expression(scope, 'timestamp', depth - 1)} AS DATE)"

    def timestamp_expression(self, scope, depth):
        pick = self.random.randrange(3)
        if pick == 0:
            return f"({self.expression(scope, 'timestamp', depth - 1)} {self.one_of('+', '-')} INTERVAL '{self.random.choice(INTERVALS)}')"
        if pick == 1:
            return f"date_trunc('{self.one_of('year', 'month', 'day', 'hour', 'minute')}', {self.expression(scope, 'timestamp', depth - 1)})"
        return f"CAST({self.expression(scope, 'date', depth - 1)} AS TIMESTAMP)"

    def boolean_expression(self, scope, depth):
        return f"({self.condition(scope, depth - 1)})"

    # ---- conditions

    def condition(self, scope, depth=2):
        r = self.random
        if depth > 0 and self.chance(0.35):
            return f"({self.condition(scope, depth - 1)} {self.one_of('AND', 'OR', 'OR')} {self.condition(scope, depth - 1)})"
        if depth > 0 and self.chance(0.1):
            return f"NOT ({self.condition(scope, depth - 1)})"
        if depth > 0 and self.chance(0.05):
            return f"({self.condition(scope, depth - 1)}) IS {self.one_of('', 'NOT ')}{self.one_of('TRUE', 'FALSE', 'NULL')}"
        kind = self.kind_in(scope)
        left = self.expression(scope, kind, 1 if depth else 0)
        pick = r.random()
        if pick < 0.12:
            return f"{left} IS {self.one_of('', 'NOT ')}NULL"
        if pick < 0.22:
            # NOT IN with a NULL is never true.
            make = self.value if self.chance(0.4) else self.literal
            return f"{left} {self.one_of('', 'NOT ')}IN ({', '.join(make(kind) for _ in range(r.choice((1, 2, 3, 20))))})"
        if pick < 0.30:
            return f"{left} {self.one_of('', 'NOT ')}BETWEEN {self.literal(kind)} AND {self.expression(scope, kind, 0)}"
        if pick < 0.36:
            return f"{left} IS {self.one_of('', 'NOT ')}DISTINCT FROM {self.expression(scope, kind, 0)}"
        if pick < 0.60 and kind == "text":
            pattern = f"'{r.choice(ESCAPED_PATTERNS)}' ESCAPE '!'" if self.chance(0.3) else f"'{r.choice(PATTERNS)}'"
            return f"{left} {self.one_of('', 'NOT ')}{self.one_of('LIKE', 'LIKE', 'ILIKE')} {pattern}"
        return f"{left} {r.choice(COMPARISONS)} {self.expression(scope, kind, 1)}"
