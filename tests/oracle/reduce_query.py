"""Shrinks a query on which Pistachio and DuckDB differ, with its tables.

    tests/oracle/reduce_query.py --seed 17 --index 3 -s chunk_rows=7
    tests/oracle/reduce_query.py --sql FILE.sql --tables FOLDER

The case comes from compare_random_queries.py (seed and index), or is a file with one query and a folder of Parquet files as its
tables; with --sql and --seed the tables are those of the seed. Preserved is the kind of difference: different rows, an error on
one side with the same words, or a crash. Prints a script that creates the tables and runs the query; the exit status is 1 if
there was no difference to begin with."""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from tests.oracle import sql_tree  # noqa: E402
from tests.oracle.compare_random_queries import tables_of_seed  # noqa: E402
from tests.oracle.query_reducer import QueryReducer  # noqa: E402
from tests.oracle.two_engines import TwoEngines, new_judge, table_names  # noqa: E402
from tests.support import duckdb_oracle  # noqa: E402


def read_tables(connection):
    """{name: (((column, type), ...), [rows of text or None])}"""
    tables = {}
    for name in table_names(connection):
        columns = tuple((column, kind) for column, kind, *_ in connection.execute(f"DESCRIBE {name}").fetchall())
        tables[name] = (columns, connection.execute(f"SELECT {', '.join(f'CAST({column} AS VARCHAR)' for column, _ in columns)} FROM {name}").fetchall())
    return tables


def table_statements(tables):
    for name, (columns, rows) in tables.items():
        yield f"CREATE TABLE {name}({', '.join(' '.join(column) for column in columns)})"
        if rows:
            quoted = [", ".join("NULL" if value is None else "'" + value.replace("'", "''") + "'" for value in row) for row in rows]
            yield f"INSERT INTO {name} VALUES {', '.join(f'({row})' for row in quoted)}"


def judge_with(tables):
    connection = new_judge()
    for statement in table_statements(tables):
        connection.execute(statement)
    return connection


def is_ordered(tree):
    return any(sql_tree.is_word(unit, "ORDER") for unit in tree)


def shape(verdict):
    """Equal for differences of the same kind: ignores numbers, rows and the last words of a dying process."""
    if verdict.kind in ("rows", "agree"):
        return verdict.kind
    text = verdict.text.split(":")[0] if verdict.kind == "died" else re.sub(r"\b\d+\b|did you mean.*", "", verdict.text)
    return f"{verdict.kind} {text}"


class Difference:
    """The reducer's predicate: does the difference of the original case persist?"""

    def __init__(self, *options, **session_options):
        self.options = options
        self.session_options = session_options
        self.tables = None
        self.engines = None
        self.wanted = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.engines:
            self.engines.__exit__()

    def verdict(self, tree, tables):
        if tables != self.tables:
            self.__exit__()
            self.tables = tables
            self.engines = TwoEngines(judge_with(tables), *self.options, **self.session_options)
            backwards = {name: (columns, rows[::-1]) for name, (columns, rows) in tables.items()}
            self.backwards = judge_with(backwards)
        return self.engines.verdict(sql_tree.text_of(tree), is_ordered(tree))

    def begins_with(self, tree, tables):
        """Remembers the original verdict and returns it."""
        verdict = self.verdict(tree, tables)
        self.wanted = shape(verdict)
        return verdict

    def stays(self, tree, tables):
        if tables == self.tables and not self.wanted.startswith("accepted") and not self.judge_accepts(tree):
            return False  # quick exit for invalid SQL
        verdict = self.verdict(tree, tables)
        return shape(verdict) == self.wanted and (verdict.kind != "rows" or self.judge_is_sure(tree))

    def judge_accepts(self, tree):
        if any(level and sql_tree.is_word(level[0], "FROM") for _, level in sql_tree.branches(tree)):
            return False  # DuckDB's short form of SELECT * FROM
        try:
            self.engines.connection.execute("EXPLAIN " + sql_tree.text_of(tree))
            return True
        except duckdb.Error:
            return False

    def judge_is_sure(self, tree):
        """Whether the result does not depend on row order, as a LIMIT without ORDER BY does."""
        sql = sql_tree.text_of(tree)
        again = duckdb_oracle.answer(self.backwards, sql).rows
        return duckdb_oracle.difference(again, duckdb_oracle.answer(self.engines.connection, sql), is_ordered(tree)) is None


def reduce_case(sql, tables, *options, progress=lambda text: None, **session_options):
    """The reduced script and its verdict, or None if nothing differs."""
    with Difference(*options, **session_options) as difference:
        tree = sql_tree.parse(sql)
        first = difference.begins_with(tree, tables)
        if first.kind in ("agree", "refused", "unsupported"):
            return None
        progress(f"{first.kind}: {first.text}")
        tree, tables = QueryReducer(tree, tables, difference.stays, progress).reduce()
        script = ";\n".join([*table_statements(tables), sql_tree.text_of(tree)]) + ";\n"
        return script, difference.verdict(tree, tables)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--index", type=int, help="of the query among those of the seed, from 0")
    parser.add_argument("--sql", type=Path)
    parser.add_argument("--tables", type=Path, help="folder with Parquet files")
    parser.add_argument("--pistachio", type=Path, help="another binary than the release build's")
    parser.add_argument("--watchdog", type=float, default=60, help="seconds after which a query counts as hung")
    parser.add_argument("--quiet", action="store_true", help="do not show the steps")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="name=value")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        generator, connection = tables_of_seed(arguments.seed)
    else:
        connection = new_judge()
        for file in sorted(arguments.tables.glob("*.parquet")) if arguments.tables else ():
            connection.execute(f"CREATE TABLE {file.stem} AS SELECT * FROM read_parquet('{file}')")
    if arguments.sql:
        sql = arguments.sql.read_text()
    elif arguments.seed is not None and arguments.index is not None:
        sql = [generator.top_query() for _ in range(arguments.index + 1)][-1][0]
    else:
        parser.error("give --seed and --index, or --sql")
    options = [word for setting in arguments.settings for word in ("-s", setting)]
    progress = (lambda text: None) if arguments.quiet else lambda text: print(f"-- {text}", file=sys.stderr)
    small = reduce_case(sql, read_tables(connection), *options, progress=progress, binary=arguments.pistachio, watchdog_seconds=arguments.watchdog)
    if small is None:
        print("there is no difference")
        return 1
    script, verdict = small
    print(f"-- {verdict.kind}: {verdict.text}\n{script}", end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
