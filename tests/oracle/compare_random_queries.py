"""Random queries, Pistachio against DuckDB.

    tests/oracle/compare_random_queries.py --seeds 0:50 --queries 20

Each seed makes its own tables (Parquet files that both engines read) and queries. Differences are printed with the seed; the exit status is 1."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from tests.oracle.query_generator import Generator  # noqa: E402
from tests.support import duckdb_oracle, sql_script  # noqa: E402


def run_seed(seed, count, options):
    """Texts of differences."""
    generator = Generator(seed)
    connection = duckdb.connect()
    connection.execute("SET threads = 1; SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'; SET integer_division = true")
    for statement in generator.make_tables():
        connection.execute(statement)
    folder = Path(tempfile.mkdtemp(prefix="pistachio_oracle_"))
    try:
        for table in generator.tables:
            connection.execute(f"COPY {table} TO '{folder}/{table}.parquet' (FORMAT parquet)")
        queries = [generator.top_query() for _ in range(count)]
        try:
            parts = sql_script.run_statements([text for text, _ in queries], *options, folder=folder)
        except RuntimeError as error:
            return [f"seed {seed}: {error}"]
        problems = []
        for (text, ordered), part in zip(queries, parts):
            try:
                expected, _ = duckdb_oracle.rows_of(connection, text)
            except duckdb.Error:
                continue
            if part.startswith("error: "):
                if "not supported" not in part:
                    problems.append(f"seed {seed}: {part.strip()}\n    {text}")
                continue
            problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(part), expected, ordered)
            if problem:
                problems.append(f"seed {seed}: {problem}\n    {text}")
        return problems
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:20", help="FIRST:END")
    parser.add_argument("--queries", type=int, default=20, help="for each seed")
    parser.add_argument("-s", dest="settings", action="append", default=[], help="name=value")
    arguments = parser.parse_args()
    first, end = map(int, arguments.seeds.split(":"))
    options = [word for setting in arguments.settings for word in ("-s", setting)]
    problems = 0
    for seed in range(first, end):
        for problem in run_seed(seed, arguments.queries, options):
            print(problem, flush=True)
            problems += 1
    print(f"{(end - first) * arguments.queries} queries, {problems} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
