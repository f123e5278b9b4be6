"""Shrinks a query and its tables while a property of them holds.

`stays` is called with (tree of the query, tables) and returns whether the smaller case still shows the original problem. Most
candidates are not valid SQL, so it should ask a parser first. Tables are {name: (columns, rows)} with rows as tuples; the reducer
only looks at their shape."""

from tests.oracle import sql_tree


class QueryReducer:
    def __init__(self, tree, tables, stays, progress=lambda text: None):
        self.tree = tree
        self.tables = tables
        self.stays = stays
        self.progress = progress
        self.tried = set()

    def reduce(self):
        """Returns the smallest tree and tables it finds."""
        before = None
        while before != (self.tree, self.tables):
            before = (self.tree, dict(self.tables))
            self.reduce_query()
            self.reduce_tables()
        return self.tree, self.tables

    # ---- the query

    def reduce_query(self):
        steps = (self.hoisted, self.without_ranges, self.without_columns, self.simplified)
        while any(self.take_step(step) for step in steps):
            self.progress(sql_tree.text_of(self.tree))

    def take_step(self, step):
        """Applies one kind of reduction until it yields nothing smaller."""
        taken = False
        found = True
        while found:
            found = next((tree for tree in step() if self.keeps(tree)), None)
            if found is not None:
                self.tree, taken = found, True
        return taken

    def keeps(self, tree):
        if sql_tree.weight(tree) >= sql_tree.weight(self.tree):
            return False
        key = (tree, self.tables_key())
        if key in self.tried:
            return False
        self.tried.add(key)
        return self.stays(tree, self.tables)

    def tables_key(self):
        return tuple((name, columns, len(rows)) for name, (columns, rows) in self.tables.items())

    def hoisted(self):
        """The content of a parenthesis instead of everything around it, or without the parentheses."""
        for path, level in sql_tree.branches(self.tree):
            for inner_path, inner in sql_tree.branches(level):
                if inner_path:
                    yield sql_tree.replaced(self.tree, path, inner)
            for place, unit in enumerate(level):
                if not isinstance(unit, str):
                    yield sql_tree.replaced(self.tree, path, level[:place] + unit + level[place + 1:])

    def without_ranges(self):
        """Without ranges of neighbouring units, long ranges first."""
        for path, level in sql_tree.branches(self.tree):
            for length in range(len(level), 0, -1):
                for begin in range(len(level) - length + 1):
                    yield sql_tree.replaced(self.tree, path, level[:begin] + level[begin + length:])

    def without_columns(self):
        """Without one column of a parenthesized query and of the list of names after it; without parentheses, of the whole query."""
        for path, level in [((), (self.tree,)), *sql_tree.branches(self.tree)]:
            for place, unit in enumerate(level):
                if isinstance(unit, str):
                    continue
                for number in range(len(unit)):
                    smaller = sql_tree.without_column(unit, number)
                    if smaller is None:
                        continue
                    if level == (self.tree,):
                        yield smaller
                        continue
                    changed = level[:place] + (smaller,) + level[place + 1:]
                    for names in (place + 2, place - 2):  # (query) alias (names), or alias (names) AS (query)
                        if 0 <= names < len(level) and not isinstance(level[names], str):
                            fewer = sql_tree.without_item(level[names], number)
                            if fewer is not None:
                                yield sql_tree.replaced(self.tree, path, sql_tree.replaced(changed, (names,), fewer))

    def simplified(self):
        """A constant instead of a few neighbouring units."""
        for path, level in sql_tree.branches(self.tree):
            for length in range(min(len(level), 8), 0, -1):
                for begin in range(len(level) - length + 1):
                    for constant in sql_tree.SIMPLE:
                        yield sql_tree.replaced(self.tree, path, level[:begin] + (constant,) + level[begin + length:])

    # ---- the tables

    def reduce_tables(self):
        for name in list(self.tables):
            fewer = {other: table for other, table in self.tables.items() if other != name}
            if self.stays(self.tree, fewer):
                self.tables = fewer
                continue
            self.reduce_rows(name)
            self.reduce_table_columns(name)
            self.progress(f"{name}: {len(self.tables[name][1])} rows, {len(self.tables[name][0])} columns")

    def take_table(self, name, columns, rows):
        tables = self.tables | {name: (columns, rows)}
        if not self.stays(self.tree, tables):
            return False
        self.tables = tables
        return True

    def reduce_rows(self, name):
        columns, rows = self.tables[name]
        length = len(rows)
        while length > 0:
            begin = 0
            while begin < len(rows):
                fewer = rows[:begin] + rows[begin + length:]
                if self.take_table(name, columns, fewer):
                    rows = fewer
                else:
                    begin += length
            length //= 2

    def reduce_table_columns(self, name):
        for column in list(self.tables[name][0]):
            columns, rows = self.tables[name]
            place = columns.index(column)
            if len(columns) > 1:
                self.take_table(name, columns[:place] + columns[place + 1:], [row[:place] + row[place + 1:] for row in rows])
