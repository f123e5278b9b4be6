"""Random tables and random queries over them, for a comparison with DuckDB. Everything follows from the seed.

Queries have the same meaning in both engines: rows are only cut off after an ORDER BY over all columns, and nothing is computed
from results that may differ in the last digit. expression_generator.py explains kinds and scopes."""

from tests.oracle.expression_generator import COMPARISONS, KINDS, SHOWN, TYPES
from tests.oracle.window_generator import WindowGenerator

SET_OPERATIONS = ("UNION", "UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


def named_columns(alias, kinds):
    """The alias that follows a subquery in FROM, and its scope."""
    return f"{alias}({', '.join(f'x{i}' for i in range(len(kinds)))})", [(f"{alias}.x{i}", kind) for i, kind in enumerate(kinds)]


class Generator(WindowGenerator):
    def __init__(self, seed):
        super().__init__(seed)
        self.tables = {}  # name: [(column, kind)]; including CTEs, while their query is generated
        self.alias = 0

    def name(self):
        self.alias += 1
        return f"r{self.alias}"

    # ---- data

    def make_tables(self):
        """Statements that create the tables t0, t1, ... in DuckDB."""
        statements = []
        for number in range(self.random.randint(2, 4)):
            columns = [("k", "integer")] + [(f"c{i}", self.random.choice(KINDS)) for i in range(self.random.randint(1, 4))]
            name = f"t{number}"
            self.tables[name] = columns
            statements.append(f"CREATE TABLE {name}({', '.join(f'{column} {TYPES[kind]}' for column, kind in columns)})")
            rows = []
            # Few enough that the product of several tables does not take minutes in chunks of one row.
            for _ in range(self.one_of(0, 1, 4, 6, 6, 9, 9, 12, 12, 15)):
                repeated = rows and self.chance(0.15)
                rows.append(self.random.choice(rows) if repeated else f"({', '.join(self.value(kind) for _, kind in columns)})")
            if rows:
                statements.append(f"INSERT INTO {name} VALUES {', '.join(rows)}")
        return statements

    # ---- FROM

    def source(self, depth):
        """FROM item and its scope."""
        alias = self.name()
        if depth > 0 and self.chance(0.25):
            query, kinds = self.query(depth - 1) if self.chance(0.8) else self.first_rows(depth - 1)
            naming, scope = named_columns(alias, kinds)
            return f"({query}) {naming}", scope
        if self.chance(0.07):
            kinds = [self.random.choice(KINDS) for _ in range(self.random.randint(1, 3))]
            # The first row determines the types, so it has no NULL.
            rows = [[self.literal(kind) for kind in kinds]] + [[self.value(kind) for kind in kinds] for _ in range(self.random.randint(0, 4))]
            naming, scope = named_columns(alias, kinds)
            return f"(VALUES {', '.join('(' + ', '.join(row) + ')' for row in rows)}) {naming}", scope
        table = self.random.choice(list(self.tables))
        return f"{table} {alias}", [(f"{alias}.{column}", kind) for column, kind in self.tables[table]]

    def join_condition(self, kind, scope, own):
        common = self.common_kind(scope, own)
        condition = f"{self.column(own, common)} = {self.column(scope, common)}"
        if kind == "FULL JOIN":
            return condition
        if self.chance(0.1):
            return f"{self.column(own, common)} {self.random.choice(COMPARISONS)} {self.column(scope, common)}"
        if self.chance(0.3):
            condition += f" AND {self.condition(scope + own, 1)}"
        if self.chance(0.05):
            condition += f" OR {self.condition(own, 0)}"
        return condition

    def from_clause(self, depth):
        text, scope = self.merged_join() if self.chance(0.12) else self.source(depth)
        for _ in range(self.one_of(0, 0, 1, 1, 2)):
            if depth > 0 and self.chance(0.08):
                other, own = self.lateral(scope)
                text += self.one_of(f" CROSS JOIN {other}", f" LEFT JOIN {other} ON true")
            elif self.chance(0.1):
                # Last, because in the ON clause of a join after a comma DuckDB also sees the tables before the comma.
                other, own = self.lateral(scope) if depth > 0 else self.source(depth)
                return f"{text}, {other}", scope + own
            else:
                other, own = self.source(depth)
                kind = "CROSS JOIN" if self.chance(0.1) else self.random.choice(JOINS)
                text += f" CROSS JOIN {other}" if kind == "CROSS JOIN" else f" {kind} {other} ON {self.join_condition(kind, scope, own)}"
            scope = scope + own
        return text, scope

    def merged_join(self):
        """A join with USING or NATURAL, in a subquery: its merged columns have no table, so an inner query could resolve their
        names differently."""
        plain = [name for name, columns in self.tables.items() if columns[0] == ("k", "integer")]
        first, second, third = (self.random.choice(plain) for _ in range(3))
        left, right = dict(self.tables[first]), dict(self.tables[second])
        common = [column for column in left if column in right]
        natural = self.chance(0.4) and all(left[column] == right[column] for column in common)
        merged = common if natural else ["k"]
        columns = [(column, left[column]) for column in merged]
        columns += [(f"a.{column}", kind) for column, kind in left.items() if column not in merged]
        columns += [(f"b.{column}", kind) for column, kind in right.items() if column not in merged]
        if natural:
            text = f"{first} a NATURAL {self.random.choice(JOINS)} {second} b"
        else:
            text = f"{first} a {self.random.choice(JOINS)} {second} b USING (k)"
            if self.chance(0.3):
                text += f" {self.random.choice(JOINS)} {third} c USING (k)"
                columns += [(f"c.{column}", kind) for column, kind in self.tables[third][1:]]
        naming, scope = named_columns(self.name(), [kind for _, kind in columns])
        return f"(SELECT {', '.join(name for name, _ in columns)} FROM {text}) {naming}", scope

    def lateral(self, scope):
        text, own, conditions = self.subquery_source(scope, 0)
        common = self.common_kind(scope, own)
        conditions.append(f"{self.column(own, common)} {self.one_of('=', '=', '<')} {self.column(scope, common)}")
        where = f" WHERE {' AND '.join(conditions)}"
        kind = self.kind_in(own)
        pick = self.random.randrange(4)
        if pick == 0:
            query, kinds = f"SELECT count(*) FROM {text}{where}", ["integer"]
        elif pick == 1 and any(column == kind for _, column in own):
            group = self.column(own, kind)
            query = f"SELECT {group}, count(*), max({self.argument(own, scope, 'integer')}) FROM {text}{where} GROUP BY {group}"
            kinds = [kind, "integer", "integer"]
        elif pick == 2:
            query, kinds = self.value_subquery(text, own, scope, conditions, kind), [kind]
        else:
            kinds = [self.kind_in(own) for _ in range(2)]
            query = f"SELECT {', '.join(self.expression(own + scope, each, 1) for each in kinds)} FROM {text}{where}"
        naming, made = named_columns(self.name(), kinds)
        return f"LATERAL ({query}) {naming}", made

    # ---- subqueries

    def subquery_source(self, scope, depth):
        """FROM, its scope and the conditions of a subquery that may refer to the enclosing scope."""
        text, own = self.source(0) if self.chance(0.7) else self.from_clause(0)
        conditions = []
        if self.chance(0.3):
            conditions.append(self.condition(own, 1))
        if self.chance(0.4):
            common = self.common_kind(scope, own)
            conditions.append(f"{self.column(own, common)} {self.random.choice(COMPARISONS)} {self.column(scope, common)}")
        if self.chance(0.2):
            conditions.append(self.condition(own + scope, 1))
        if depth > 0 and self.chance(0.3):
            conditions.append(self.subquery_condition(own + scope, depth - 1))
        return text, own, conditions

    def argument(self, own, scope, kind):
        """The argument of an aggregate in a subquery. With only columns of the enclosing query, the aggregate would belong to
        that query."""
        text = self.expression(own + scope, kind, 1)
        return text if any(name in text for name, _ in own) else self.column(own, kind)

    def value_subquery(self, text, own, scope, conditions, kind):
        """A subquery with one column of the kind and any number of rows."""
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        inner = self.column(own, kind)
        if self.chance(0.5):
            return f"SELECT {inner} FROM {text}{where}"
        if self.chance(0.3):
            return f"SELECT {self.one_of('', 'DISTINCT ')}{self.expression(own + scope, kind, 1)} FROM {text}{where}"
        if self.chance(0.5) and any(inner == name for name, _ in own):
            return f"SELECT {inner} FROM {text}{where} GROUP BY {inner} HAVING count(*) {self.one_of('=', '>')} 1"
        if self.chance(0.5) and kind != "boolean":
            return f"SELECT {self.one_of('min', 'max')}({self.argument(own, scope, kind)}) FROM {text}{where}"
        other, columns = self.source(0)
        return f"SELECT {inner} FROM {text}{where} {self.random.choice(SET_OPERATIONS)} SELECT {self.column(columns, kind)} FROM {other}"

    def subquery_condition(self, scope, depth):
        r = self.random
        text, own, conditions = self.subquery_source(scope, depth)
        kind = self.common_kind(scope, own)
        inner, outer = self.column(own, kind), self.column(scope, kind)
        negation = self.one_of("", "NOT ")
        pick = r.random()
        if pick < 0.25:
            return f"{outer} {negation}IN ({self.value_subquery(text, own, scope, conditions, kind)})"
        if pick < 0.40:
            return f"{outer} {r.choice(COMPARISONS)} {self.one_of('ANY', 'ALL')} ({self.value_subquery(text, own, scope, conditions, kind)})"
        if pick < 0.60:
            return f"{negation}EXISTS (SELECT 1 FROM {text} WHERE {' AND '.join([f'{inner} = {outer}'] + conditions)})"
        if pick < 0.70:
            return f"{negation}EXISTS ({self.value_subquery(text, own, scope, conditions, kind)})"
        if pick < 0.85:
            matching = f"{self.column(own, 'integer')} = {self.column(scope, 'integer')}"
            call = f"{self.one_of('min', 'max')}({inner})" if kind != "boolean" else f"bool_or({inner})"
            return f"{outer} {r.choice(COMPARISONS)} (SELECT {call} FROM {text} WHERE {' AND '.join([matching] + conditions)})"
        counted = self.one_of("*", inner, "DISTINCT " + inner)
        return f"(SELECT count({counted}) FROM {text} WHERE {' AND '.join([f'{inner} = {outer}'] + conditions)}) {r.choice(COMPARISONS)} {r.randint(0, 3)}"

    def scalar_subquery(self, scope):
        """Text and kind of a scalar subquery."""
        text, own, conditions = self.subquery_source(scope, 1)
        kind = self.kind_in([column for column in own if column[1] != "boolean"] or [("", "integer")])
        if self.chance(0.2):
            other, columns = self.source(0)
            return f"(SELECT {self.column(columns, kind)} FROM {other} ORDER BY 1 {self.one_of('ASC', 'DESC')} LIMIT 1)", kind
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        if self.chance(0.3):
            return f"(SELECT count(*) FROM {text}{where})", "integer"
        if self.chance(0.2) and kind == "integer":
            return f"(SELECT COALESCE(sum({self.argument(own, scope, kind)}), 0) FROM {text}{where})", kind
        return f"(SELECT {self.one_of('min', 'max')}({self.argument(own, scope, kind)}) FROM {text}{where})", kind

    # ---- queries

    def aggregate(self, scope, shown):
        """Text and kind of a call."""
        kind = self.kind_in(scope)
        argument = self.expression(scope, kind, 1)
        distinct = "DISTINCT " if self.chance(0.25) else ""
        condition = f" FILTER (WHERE {self.condition(scope, 1)})" if self.chance(0.2) else ""
        if self.chance(0.2):
            return f"count(*){condition}", "integer"
        if shown and kind in ("integer", "decimal") and self.chance(0.3):
            call = self.one_of("avg", "stddev", "stddev_pop", "variance", "var_pop")
            return f"{call}({distinct if call == 'avg' else ''}{argument}){condition}", SHOWN
        if shown and kind == "big" and self.chance(0.5):
            return f"sum({distinct}{argument}){condition}", SHOWN
        if kind in ("integer", "decimal") and self.chance(0.6):
            return f"sum({distinct}{argument}){condition}", kind
        if kind == "boolean":
            return f"{self.one_of('bool_and', 'bool_or')}({argument}){condition}", "boolean"
        if self.chance(0.4):
            return f"count({distinct}{argument}){condition}", "integer"
        return f"{self.one_of('min', 'max')}({distinct}{argument}){condition}", kind

    def grouped_query(self, text, scope, where, shown):
        groups, kinds = [], []
        for _ in range(self.one_of(0, 1, 1, 2)):
            kind = self.kind_in(scope)
            group = self.column(scope, kind) if self.chance(0.6) else self.expression(scope, kind, 1)
            # A constant would be a position, or nothing to group by.
            if group not in groups and any(name in group for name, _ in scope):
                groups.append(group)
                kinds.append(kind)
        calls = [self.aggregate(scope, shown) for _ in range(self.random.randint(1, 3))]
        items = groups + [call for call, _ in calls]
        having = ""
        if self.chance(0.3):
            call, kind = self.aggregate(scope, False)
            table, own = self.source(0)
            having = " HAVING " + self.one_of(
                f"count(*) > {self.random.randint(0, 2)}", f"{call} {self.random.choice(COMPARISONS)} {self.literal(kind)}",
                f"count(*) >= (SELECT count(*) / 4 FROM {table})",
                f"{groups[0]} IN (SELECT {self.column(own, kinds[0])} FROM {table})" if groups else "count(*) > 1")
        positions = ", ".join(str(place + 1) for place in range(len(groups))) if self.chance(0.3) else ", ".join(groups)
        group = f" GROUP BY {positions}" if groups else ""
        return f"SELECT {', '.join(items)} FROM {text}{where}{group}{having}", kinds + [kind for _, kind in calls]

    def plain_query(self, depth, wanted=None):
        """SELECT with WHERE, with columns of the wanted kinds."""
        text, scope = self.from_clause(depth)
        items, kinds, has_order = [], [], False
        for kind in wanted or [self.kind_in(scope) for _ in range(self.random.randint(1, 3))]:
            item = self.expression(scope, kind)
            if depth > 0 and not wanted and self.chance(0.08):
                item, kind = self.scalar_subquery(scope)
            if depth > 0 and not wanted and scope and self.chance(0.12):
                item, kind, ordered = self.window_call(scope, not has_order)
                has_order = has_order or ordered
            items.append(item)
            kinds.append(kind)
        distinct = "DISTINCT " if self.chance(0.2) else ""
        where = self.where(scope, depth)
        order = ""
        if not distinct and self.chance(0.1):
            key = self.expression(scope, self.kind_in(scope), 1)
            # A constant would be a position or an error.
            order = f" ORDER BY {key}{self.one_of('', ' DESC')}" if any(name in key for name, _ in scope) else ""
        qualify = ""
        if scope and not has_order and self.chance(0.04):
            qualify = f" QUALIFY row_number() OVER ({self.partition(scope)}{self.total_order(scope)}) <= 2"
        return f"SELECT {distinct}{', '.join(items)} FROM {text}{where}{qualify}{order}", kinds

    def where(self, scope, depth):
        conditions = []
        if self.chance(0.4):
            conditions.append(self.condition(scope))
        if depth > 0 and self.chance(0.3):
            conditions.append(self.subquery_condition(scope, depth - 1))
        if len(conditions) == 2 and self.chance(0.2):
            return f" WHERE {conditions[0]} OR {conditions[1]}"
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def query(self, depth, shown=False):
        """Text and the kinds of its columns. `shown`: columns may be of the kind that nothing is computed from."""
        if depth > 0 and self.chance(0.15):
            left, kinds = self.query(depth - 1)
            right, _ = self.plain_query(depth - 1, kinds)
            return f"({left}) {self.random.choice(SET_OPERATIONS)} ({right})", kinds
        if self.chance(0.4):
            text, scope = self.from_clause(depth)
            return self.grouped_query(text, scope, self.where(scope, depth), shown)
        return self.plain_query(depth)

    def first_rows(self, depth):
        """A query that keeps some rows of a total order."""
        text, kinds = self.query(depth)
        order = ", ".join(f"{i + 1}{self.one_of(' ASC', ' DESC', '')}{self.one_of(' NULLS FIRST', ' NULLS LAST', '')}" for i in range(len(kinds)))
        limit = self.one_of("", f" LIMIT {self.one_of(0, 1, 5, 5, 100, 100)}")
        offset = f" OFFSET {self.one_of(0, 1, 1, 3, 20)}" if self.chance(0.3) else ""
        naming, _ = named_columns("s", kinds)
        return f"SELECT * FROM ({text}) {naming} ORDER BY {order}{limit}{offset}", kinds

    def top_query(self):
        """Text, and whether the order of the rows matters."""
        tables, self.tables = self.tables, dict(self.tables)
        common = []
        for _ in range(self.one_of(0, 0, 0, 1, 2)):
            text, kinds = self.query(1)
            name = f"w{len(common)}"
            columns = [f"x{i}" for i in range(len(kinds))]
            common.append(f"{name}({', '.join(columns)}) AS ({text})")
            self.tables[name] = list(zip(columns, kinds))
        ordered = self.chance(0.3)
        text, _ = self.first_rows(2) if ordered else self.query(2, shown=True)
        self.tables = tables
        return (f"WITH {', '.join(common)} " if common else "") + text, ordered
