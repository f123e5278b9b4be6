"""Random joins, Pistachio against nested loops in Python.

    tests/joins/compare_joins.py --rounds 0:200 --most-rows 200 -s chunk_rows=7
    tests/joins/compare_joins.py --rounds 0:50 --ranks 3 -s spread_tables=on

A round generates three tables and runs statements over them; its number is the seed of both. Differences are printed with the
statements that create the tables; the exit status is then 1."""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow
from pyarrow import parquet

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.joins.join_generator import Round  # noqa: E402
from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed  # noqa: E402

ROWS_OF_AN_INSERT = 500


def literal(key_type, value):
    return "NULL" if value is None else "'" + key_type.text(value).replace("'", "''") + "'"


def table_statements(table):
    types = ["integer", "integer"] + [one.sql for one in table.key_types]
    yield f"CREATE TABLE {table.name} ({', '.join(map(' '.join, zip(table.columns, types)))})"
    rows = ["(" + ", ".join([str(row.id), "NULL" if row.value is None else str(row.value), *map(literal, table.key_types, row.keys)]) + ")" for row in table.rows]
    for begin in range(0, len(rows), ROWS_OF_AN_INSERT):
        yield f"INSERT INTO {table.name} VALUES {', '.join(rows[begin:begin + ROWS_OF_AN_INSERT])}"


def write_file(table, path, row_group_rows):
    columns = [pyarrow.array([row.id for row in table.rows], pyarrow.int32()), pyarrow.array([row.value for row in table.rows], pyarrow.int32())]
    columns += [pyarrow.array([row.keys[place] for row in table.rows], one.arrow) for place, one in enumerate(table.key_types)]
    parquet.write_table(pyarrow.table(columns, names=table.columns), path, row_group_size=row_group_rows)


class JoinComparison:
    """One process of the engine and a folder for its files. Use as a context manager."""

    def __init__(self, *options, **session_options):
        self.folder = tempfile.TemporaryDirectory(prefix="pistachio_joins_")
        self.session = PistachioSession(*options, **session_options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()
        self.folder.cleanup()

    def make_tables(self, made, in_files):
        """Files where the types allow it and `in_files` asks for them, in-memory tables otherwise. Returns the statements."""
        statements = []
        for table in made.tables.values():
            if in_files and all(one.arrow for one in table.key_types):
                path = Path(self.folder.name) / f"{table.name}.parquet"
                write_file(table, path, row_group_rows=made.random.choice((5, 64, 1000)))
                statements.append(f"CREATE VIEW {table.name} AS SELECT * FROM '{path}'")
            else:
                statements += table_statements(table)
        for sql in statements:
            self.session.run(sql)
        return statements

    def drop_tables(self, statements):
        for sql in statements:
            words = sql.split()
            if words[0] == "CREATE":
                self.session.run(f"DROP {words[1]} {words[2]}")

    def difference(self, statement):
        """None, or what is wrong with the engine's result."""
        try:
            csv = self.session.run(statement.sql).csv
        except EngineDied as error:
            return f"died: {error}"
        except StatementFailed as error:
            if statement.fails and "more than one row" in str(error):
                return None
            return f"error: {error}"
        if statement.fails:
            return "no error, though a subquery has more than one row for a value"
        rows = Counter(rows_of(csv))
        missing, extra = statement.rows - rows, rows - statement.rows
        if not missing and not extra:
            return None
        return f"{rows.total()} rows instead of {statement.rows.total()}; missing {list(missing.elements())[:3]}, too many {list(extra.elements())[:3]}"

    def run_round(self, seed, count, most_rows, counts=None):
        """Descriptions of the differences."""
        made = Round(seed, most_rows)
        in_files = made.random.random() < 0.5
        problems = []
        tables = self.make_tables(made, in_files)
        for _ in range(count):
            statement = made.statement()
            if counts is not None:
                counts["too large" if statement is None else "expected errors" if statement.fails else "answers"] += 1
            difference = self.difference(statement) if statement else None
            if difference:
                shown = "".join(f"\n    {sql[:2000]};" for sql in tables)
                problems.append(f"round {seed}: {difference}\n    {statement.sql}\n  tables:{shown}")
            if difference and difference.startswith("died"):
                return problems  # the tables were lost with the process
        self.drop_tables(tables)
        return problems


def rows_of(csv):
    if '"' in csv:
        return duckdb_oracle.parse_csv(csv)
    return [tuple(value or None for value in line.split(",")) for line in csv.split("\n")[1:-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", default="0:50", help="FIRST:END")
    parser.add_argument("--statements", type=int, default=12, help="of each round")
    parser.add_argument("--most-rows", type=int, default=3000, help="of a table")
    parser.add_argument("--ranks", type=int, help="run on a cluster of this many processes")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="name=value")
    arguments = parser.parse_args()
    first, end = map(int, arguments.rounds.split(":"))
    options = [word for setting in arguments.settings for word in ("-s", setting)]
    counts, differences = Counter(), 0
    with JoinComparison(*options, ranks=arguments.ranks) as comparison:
        for seed in range(first, end):
            for problem in comparison.run_round(seed, arguments.statements, arguments.most_rows, counts):
                differences += 1
                print(problem, flush=True)
    print(f"rounds {arguments.rounds}: {counts.total()} statements, {differences} differences ({', '.join(f'{number} {kind}' for kind, number in sorted(counts.items()))})")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
