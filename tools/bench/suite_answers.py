"""Compares the answer of any query with DuckDB's, as far as its ORDER BY and LIMIT determine it.

DuckDB's rows without the limit are kept in a temporary table. With a limit, the sort keys among the output columns must agree row by
row, and every row must be one of DuckDB's: which of the rows with equal keys a limit keeps is open."""

import re
from collections import Counter

from tests.support import duckdb_oracle

TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|[()]|\w+|\S", re.DOTALL)


def top_level(sql):
    """(position, token) of the tokens outside parentheses, quotes and comments."""
    depth = 0
    for found in TOKEN.finditer(sql):
        token = found[0]
        depth -= token == ")"
        if depth == 0 and not token.startswith(("--", "/*")):
            yield found.start(), token.upper() if token.isidentifier() else token
        depth += token == "("


def split_tail(sql):
    """(the query without LIMIT and OFFSET, its sort keys, limit or None, offset)"""
    tokens = list(top_level(sql))
    places = {word: max((place for place, (_, token) in enumerate(tokens) if token == word), default=None) for word in ("ORDER", "LIMIT", "OFFSET")}
    numbers = {word: int(tokens[place + 1][1]) for word, place in places.items() if place is not None and word != "ORDER"}
    end = min((tokens[place][0] for word, place in places.items() if place is not None and word != "ORDER"), default=len(sql))
    unlimited = sql[:end].rstrip().rstrip(";")
    keys = []
    if places["ORDER"] is not None:
        begin = tokens[places["ORDER"] + 1][0] + len("BY")
        commas = [position for position, token in tokens if token == "," and begin < position < end]
        edges = [begin - 1, *commas, len(unlimited)]
        keys = [unlimited[left + 1:right] if place else unlimited[begin:right] for place, (left, right) in enumerate(zip(edges, edges[1:]))]
    return unlimited, keys, numbers.get("LIMIT"), numbers.get("OFFSET", 0)


def key_column(key, names):
    """The output column that a sort key names, or None."""
    key = re.sub(r"--[^\n]*", "", key)
    key = re.sub(r"\s+(ASC|DESC)?(\s*NULLS\s+(FIRST|LAST))?\s*$", "", f"{key.strip()} ", flags=re.IGNORECASE).strip().lower()
    key = "count_star()" if key == "count(*)" else key.strip('"')
    if key.isdigit():
        return int(key) - 1
    lowered = [name.lower() for name in names]
    return lowered.index(key) if lowered.count(key) == 1 else None


def leading_key_columns(keys, names):
    """The order of later keys is not visible once a key is no output column."""
    columns = []
    for key in keys:
        column = key_column(key, names)
        if column is None:
            break
        columns.append(column)
    return columns


class ExpectedRows:
    def __init__(self, connection, sql):
        unlimited, keys, self.limit, offset = split_tail(sql)
        self.connection = connection
        if self.limit is None and not offset:
            self.window = duckdb_oracle.answer(connection, unlimited)
        else:
            connection.execute(f"CREATE OR REPLACE TEMP TABLE expected_rows AS {unlimited}")
            window = f"SELECT * FROM expected_rows LIMIT {'ALL' if self.limit is None else self.limit} OFFSET {offset}"
            self.window = duckdb_oracle.answer(connection, window)
            self.types = [str(column[1]) for column in connection.execute(window).description]
        self.keys = leading_key_columns(keys, self.window.names)

    def difference(self, csv):
        """None, or how the rows of our CSV differ."""
        ours, window = duckdb_oracle.parse_csv(csv), self.window
        if len(ours) != len(window.rows):
            return f"{len(ours)} rows, DuckDB has {len(window.rows)}: {ours[:3]} against {window.rows[:3]}"
        for number, (own, other) in enumerate(zip(ours, window.rows)):
            if len(own) != len(other) or not all(duckdb_oracle.same_value(own[key], other[key], window.kinds[key]) for key in self.keys):
                return f"row {number}: {own} against {other}, ordered by columns {[key + 1 for key in self.keys]}"
        alone, missing = duckdb_oracle.rows_without_partner(ours, window.rows, window.kinds)
        if alone and self.limit is not None:
            # A row that is in the window as well must be there once more.
            alone = [row for row, times in Counter(alone).items() if self.occurrences(row) < times + self.in_window(row)]
            missing = []
        return f"{len(alone)} rows that DuckDB does not have: {alone[:3]}; missing: {missing[:3]}" if alone or missing else None

    def in_window(self, row):
        return sum(duckdb_oracle.same_row(row, other, self.window.kinds) for other in self.window.rows)

    def occurrences(self, row):
        """How often DuckDB's rows contain the row."""
        columns = [f"c{place}" for place in range(len(row))]
        conditions, values = [], []
        for column, value, kind, type_name in zip(columns, row, self.window.kinds, self.types):
            if value is None:
                conditions.append(f"{column} IS NULL")
            elif kind == "floating":
                conditions.append(f"({column} = $value::DOUBLE OR abs({column} - $value::DOUBLE) <= 1e-9 * greatest(abs({column}), abs($value::DOUBLE)))"
                                  .replace("$value", f"${len(values) + 1}"))
                values.append(value)
            else:
                conditions.append(f"{column} = CAST(${len(values) + 1} AS {type_name})")
                values.append(value)
        sql = f"SELECT count(*) FROM expected_rows AS t({', '.join(columns)}) WHERE {' AND '.join(conditions)}"
        return self.connection.execute(sql, values).fetchone()[0]
