"""Random data and random queries over it, for a comparison with DuckDB. Everything follows from the seed.

Queries stay where both engines mean the same: no division by zero, no overflow, no order without ORDER BY, comparisons within one kind."""

import random

KINDS = ("integer", "text", "decimal", "double", "date", "boolean")
TYPES = {"integer": "INTEGER", "text": "VARCHAR", "decimal": "DECIMAL(9,2)", "double": "DOUBLE", "date": "DATE", "boolean": "BOOLEAN"}
WORDS = ("", "a", "b", "ab", "abc", "B", "zebra", "ä", "%", "under_score", "long text with several words")


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tables = {}
        self.alias = 0

    # ---- data

    def make_tables(self):
        """Statements for DuckDB that make the tables t0, t1, ..."""
        statements = []
        for number in range(self.random.randint(2, 4)):
            columns = [("k", "integer")] + [(f"c{i}", self.random.choice(KINDS)) for i in range(self.random.randint(1, 4))]
            rows = self.random.choice((0, 1, 5, 12, 30))
            name = f"t{number}"
            self.tables[name] = columns
            statements.append(f"CREATE TABLE {name}({', '.join(f'{column} {TYPES[kind]}' for column, kind in columns)})")
            if rows:
                values = ", ".join("(" + ", ".join(self.value(kind) for _, kind in columns) + ")" for _ in range(rows))
                statements.append(f"INSERT INTO {name} VALUES {values}")
        return statements

    def value(self, kind):
        if self.random.random() < 0.15:
            return "NULL"
        return self.literal(kind)

    def literal(self, kind):
        r = self.random
        if kind == "integer":
            return str(r.choice((0, 1, 2, 3, 5, 7, -1, -4, 10, 100, r.randint(-50, 50), r.randint(-50, 50), 2000000, -2000000)))
        if kind == "text":
            return "'" + r.choice(WORDS) + "'"
        if kind == "decimal":
            return f"{r.randint(-9999, 9999) / 100:.2f}"
        if kind == "double":
            return r.choice(("0.0", "1.5", "-2.25", "1e3", "0.125", f"{r.randint(-1000, 1000) / 8}")) + "::DOUBLE"
        if kind == "date":
            return f"DATE '{r.randint(1995, 2005)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}'"
        return r.choice(("true", "false"))

    # ---- expressions: text of a kind, over columns of a scope [(text, kind)]

    def column(self, scope, kind):
        fitting = [text for text, own in scope if own == kind]
        return self.random.choice(fitting) if fitting else self.literal(kind)

    def expression(self, scope, kind, depth=2):
        r = self.random
        if depth == 0 or r.random() < 0.35:
            return self.column(scope, kind) if r.random() < 0.8 else self.literal(kind)
        pick = r.random()
        if pick < 0.12:
            return f"CASE WHEN {self.condition(scope, depth - 1)} THEN {self.expression(scope, kind, depth - 1)} ELSE {self.expression(scope, kind, depth - 1)} END"
        if pick < 0.22:
            return f"COALESCE({self.expression(scope, kind, depth - 1)}, {self.expression(scope, kind, depth - 1)})"
        if pick < 0.27:
            return f"NULLIF({self.expression(scope, kind, depth - 1)}, {self.expression(scope, kind, 0)})"
        if kind == "integer":
            return f"({self.expression(scope, kind, depth - 1)} {r.choice('+-')} {self.expression(scope, kind, 0)})"
        if kind == "decimal":
            return f"({self.expression(scope, kind, depth - 1)} {r.choice('+-')} {self.expression(scope, kind, 0)})"
        if kind == "double":
            return f"({self.expression(scope, kind, depth - 1)} {r.choice('+-*')} {self.literal(kind)})"
        if kind == "text":
            return f"{r.choice(('upper', 'lower'))}({self.expression(scope, kind, depth - 1)})" if r.random() < 0.5 else \
                f"({self.expression(scope, kind, depth - 1)} || {self.expression(scope, kind, 0)})"
        if kind == "boolean":
            return f"({self.condition(scope, depth - 1)})"
        return self.column(scope, kind)

    def condition(self, scope, depth=2):
        r = self.random
        if depth > 0 and r.random() < 0.35:
            return f"({self.condition(scope, depth - 1)} {r.choice(('AND', 'OR'))} {self.condition(scope, depth - 1)})"
        if depth > 0 and r.random() < 0.1:
            return f"NOT ({self.condition(scope, depth - 1)})"
        kind = r.choice([own for _, own in scope] or list(KINDS))
        left = self.expression(scope, kind, depth and 1)
        pick = r.random()
        if pick < 0.12:
            return f"{left} IS {r.choice(('', 'NOT '))}NULL"
        if pick < 0.22:
            return f"{left} {r.choice(('', 'NOT '))}IN ({', '.join(self.value(kind) for _ in range(r.choice((1, 2, 3, 20))))})"
        if pick < 0.30:
            return f"{left} BETWEEN {self.literal(kind)} AND {self.literal(kind)}"
        if pick < 0.36:
            return f"{left} IS {r.choice(('', 'NOT '))}DISTINCT FROM {self.expression(scope, kind, 0)}"
        if pick < 0.44 and kind == "text":
            return f"{left} {r.choice(('', 'NOT '))}LIKE '{r.choice(('a%', '%b%', '_', '%e', '%', 'ab', '%a%b%'))}'"
        return f"{left} {r.choice(('=', '<>', '<', '<=', '>', '>='))} {self.expression(scope, kind, 1)}"

    # ---- queries

    def name(self):
        self.alias += 1
        return f"r{self.alias}"

    def source(self, depth):
        """FROM item and its scope."""
        alias = self.name()
        if depth > 0 and self.random.random() < 0.25:
            query, kinds = self.query(depth - 1)
            return f"({query}) {alias}({', '.join(f'x{i}' for i in range(len(kinds)))})", [(f"{alias}.x{i}", kind) for i, kind in enumerate(kinds)]
        table = self.random.choice(list(self.tables))
        return f"{table} {alias}", [(f"{alias}.{column}", kind) for column, kind in self.tables[table]]

    def from_clause(self, depth):
        r = self.random
        text, scope = self.source(depth)
        for _ in range(r.choice((0, 0, 1, 1, 2))):
            other, own = self.source(depth)
            kind = r.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"))
            if kind == "CROSS JOIN":
                text += f" CROSS JOIN {other}"
            else:
                common = r.choice([k for _, k in own])
                condition = f"{self.column(own, common)} = {self.column(scope, common)}"
                if kind in ("JOIN", "LEFT JOIN") and r.random() < 0.3:
                    condition += f" AND {self.condition(scope + own, 1)}"
                text += f" {kind} {other} ON {condition}"
            scope = scope + own
        return text, scope

    def subquery_condition(self, scope, depth):
        r = self.random
        text, own = self.source(0)
        kind = r.choice([k for _, k in own])
        inner = self.column(own, kind)
        outer = self.column(scope, kind)
        where = f" WHERE {self.condition(own, 1)}" if r.random() < 0.4 else ""
        pick = r.random()
        if pick < 0.3:
            return f"{outer} {r.choice(('', 'NOT '))}IN (SELECT {inner} FROM {text}{where})"
        if pick < 0.7:
            return f"{r.choice(('', 'NOT '))}EXISTS (SELECT 1 FROM {text} WHERE {inner} = {outer}{' AND ' + self.condition(own + scope, 1) if r.random() < 0.5 else ''})"
        if pick < 0.85:
            return f"{outer} {r.choice(('<', '>=', '='))} (SELECT {r.choice(('min', 'max'))}({inner}) FROM {text} WHERE {self.column(own, 'integer')} = {self.column(scope, 'integer')})"
        return f"(SELECT count(*) FROM {text} WHERE {inner} = {outer}) {r.choice(('=', '>', '<='))} {r.randint(0, 3)}"

    def aggregate(self, scope):
        r = self.random
        kind = r.choice([k for _, k in scope])
        argument = self.expression(scope, kind, 1)
        distinct = "DISTINCT " if r.random() < 0.25 else ""
        condition = f" FILTER (WHERE {self.condition(scope, 1)})" if r.random() < 0.2 else ""
        if r.random() < 0.2:
            return f"count(*){condition}", "integer"
        if kind in ("integer", "decimal") and r.random() < 0.6:
            return f"sum({distinct}{argument}){condition}", kind
        if kind == "boolean":
            return f"{r.choice(('bool_and', 'bool_or'))}({argument}){condition}", "boolean"
        if r.random() < 0.4:
            return f"count({distinct}{argument}){condition}", "integer"
        return f"{r.choice(('min', 'max'))}({argument}){condition}", kind

    def query(self, depth):
        """Text and the kinds of its columns."""
        r = self.random
        if depth > 0 and r.random() < 0.15:
            left, kinds = self.query(depth - 1)
            text, scope = self.source(0)
            right = f"SELECT {', '.join(self.expression(scope, kind if kind in KINDS else 'integer', 1) for kind in kinds)} FROM {text}"
            return f"({left}) {r.choice(('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'INTERSECT ALL', 'EXCEPT ALL'))} ({right})", kinds
        text, scope = self.from_clause(depth)
        conditions = []
        if r.random() < 0.6:
            conditions.append(self.condition(scope))
        if depth > 0 and r.random() < 0.3:
            conditions.append(self.subquery_condition(scope, depth - 1))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        if r.random() < 0.4:
            groups = [self.column(scope, r.choice([k for _, k in scope])) for _ in range(r.choice((0, 1, 1, 2)))]
            groups = [group for group in dict.fromkeys(groups) if "." in group and not group.startswith(("'", "DATE"))]
            kinds_of = dict(scope)
            groups = [group for group in groups if group in kinds_of]
            calls = [self.aggregate(scope) for _ in range(r.randint(1, 3))]
            items = groups + [call for call, _ in calls]
            kinds = [kinds_of[group] for group in groups] + [kind for _, kind in calls]
            having = f" HAVING count(*) > {r.randint(0, 2)}" if r.random() < 0.25 else ""
            group = f" GROUP BY {', '.join(groups)}" if groups else ""
            return f"SELECT {', '.join(items)} FROM {text}{where}{group}{having}", kinds
        kinds = [r.choice([k for _, k in scope]) for _ in range(r.randint(1, 3))]
        distinct = "DISTINCT " if r.random() < 0.2 else ""
        return f"SELECT {distinct}{', '.join(self.expression(scope, kind) for kind in kinds)} FROM {text}{where}", kinds

    def top_query(self):
        text, kinds = self.query(2)
        if self.random.random() < 0.3:
            order = ", ".join(f"{i + 1}{self.random.choice((' ASC', ' DESC'))}{self.random.choice((' NULLS FIRST', ' NULLS LAST'))}" for i in range(len(kinds)))
            limit = f" LIMIT {self.random.choice((0, 1, 5, 100))}" if self.random.random() < 0.5 else ""
            return f"SELECT * FROM ({text}) s({', '.join(f'y{i}' for i in range(len(kinds)))}) ORDER BY {order}{limit}", True
        return text, False
