"""Random queries, Pistachio against DuckDB.

    tests/oracle/compare_random_queries.py --seeds 0:50 --queries 20 -s chunk_rows=7
    tests/oracle/compare_random_queries.py --ranks 3 -s spread_tables=on
    tests/oracle/compare_random_queries.py --ranks 4 --hosts 2 -s spread_tables=on -s on_path=on
    TESTED_BINARY=build/cuda/pistachio tests/oracle/compare_random_queries.py --seeds 0:100 --shards 8 -s device=cuda

Each seed makes its own tables (Parquet files that both engines read) and queries. Differences are printed with seed and index, which reduce_query.py takes;
the exit status is 1. Queries that only DuckDB refuses are counted, and printed on demand."""

import argparse
import sys
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.oracle.query_generator import Generator  # noqa: E402
from tests.oracle.two_engines import TwoEngines, new_judge  # noqa: E402


def tables_of_seed(seed):
    """A generator of queries and a DuckDB connection that holds its tables."""
    generator = Generator(seed)
    connection = new_judge()
    for statement in generator.make_tables():
        connection.execute(statement)
    return generator, connection


def run_seed(seed, count, options, counts=None, shown=("rows", "error", "died"), **session_options):
    """Descriptions of the verdicts to show, differences by default. `counts` receives the number of verdicts of each kind."""
    generator, connection = tables_of_seed(seed)
    problems = []
    with TwoEngines(connection, *options, **session_options) as engines:
        for index in range(count):
            sql, ordered = generator.top_query()
            verdict = engines.verdict(sql, ordered)
            if counts is not None:
                counts[verdict.kind] += 1
            if verdict.kind in shown:
                problems.append(f"seed {seed} index {index}: {verdict.kind}: {verdict.text}\n    {sql}")
    return problems


def problems_and_counts(task):
    """run_seed() in a process of its own: queries are made in Python, which keeps one core busy."""
    seed, arguments = task
    options = [word for setting in arguments.settings for word in ("-s", setting)]
    counts = Counter()
    return run_seed(seed, arguments.queries, options, counts, arguments.show, ranks=arguments.ranks, hosts=arguments.hosts), counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:20", help="FIRST:END")
    parser.add_argument("--queries", type=int, default=20, help="for each seed")
    parser.add_argument("--show", action="append", default=["rows", "error", "died"], help="one more kind of verdict to print: accepted, refused, unsupported")
    parser.add_argument("--ranks", type=int, help="run on a cluster of this many processes")
    parser.add_argument("--hosts", type=int, help="with --ranks: simulate this many hosts")
    parser.add_argument("--shards", type=int, default=1, help="processes that share the seeds")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="name=value")
    arguments = parser.parse_args()
    first, end = map(int, arguments.seeds.split(":"))
    counts = Counter()
    with get_context("spawn").Pool(arguments.shards) as pool:
        for problems, own_counts in pool.imap_unordered(problems_and_counts, [(seed, arguments) for seed in range(first, end)]):
            counts += own_counts
            for problem in problems:
                print(problem, flush=True)
    differences = counts["rows"] + counts["error"] + counts["died"]
    print(f"seeds {arguments.seeds}, {arguments.ranks or 'no'} ranks, settings {' '.join(arguments.settings) or 'default'}: {counts.total()} queries, {differences} differences "
          f"({', '.join(f'{number} {kind}' for kind, number in sorted(counts.items()))})")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
