"""The TPC-H queries with random parameters, Pistachio against DuckDB on the same files.

    tests/tpch/compare_variants.py --sf 0.1 --variants 50 --seed 7
    tests/tpch/compare_variants.py --sf 10 --variants 0 -s threads=2
    tests/tpch/compare_variants.py --sf 0.1 --variants 0 --ranks 3

Without variants the queries run with the validation parameters. Differences are printed with the query; the exit status is 1."""

import argparse
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed  # noqa: E402
from tests.tpch import tpch_queries  # noqa: E402
from tests.tpch.query_parameters import random_parameters  # noqa: E402
from tools.tpch_data import ensure_tpch  # noqa: E402


@dataclass
class Comparison:
    queries: int = 0
    rows: int = 0
    empty: int = 0  # results without a row, which prove little
    problems: list = field(default_factory=list)


def variant_texts(seed, variants, scale, numbers=tpch_queries.NUMBERS):
    """(title, SQL) of every query in every variant; variant 0 alone has the validation parameters."""
    if variants == 0:
        return [(f"query {number}", tpch_queries.query_text(number)) for number in numbers]
    return [(f"query {number} variant {variant} seed {seed}",
             # A variant is independent of which other queries and variants are generated.
             tpch_queries.query_text(number, random_parameters(number, random.Random(f"{seed} {variant} {number}"), scale)))
            for variant in range(1, variants + 1) for number in numbers]


def compare(texts, connection, session, report=print):
    comparison = Comparison()
    for title, sql in texts:
        expected = tpch_queries.ExpectedAnswer(connection, sql)
        try:
            problem = expected.difference(session.run(sql).csv)
        except (StatementFailed, EngineDied) as error:
            problem = str(error)
        comparison.queries += 1
        comparison.rows += len(expected.answer.rows)
        comparison.empty += not expected.answer.rows
        if problem:
            comparison.problems.append(f"{title}: {problem}\n{sql}")
            report(comparison.problems[-1])
    return comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", default="0.1", help="scale factor")
    parser.add_argument("--variants", type=int, default=50, help="of each query; 0: the validation parameters")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", help="numbers, separated by commas; all 22 if left out")
    parser.add_argument("--pistachio", type=Path, help="another binary than the release build's")
    parser.add_argument("--ranks", type=int, help="run on a cluster of this many processes")
    parser.add_argument("-s", "--settings", nargs="+", action="extend", default=[], metavar="name=value")
    arguments = parser.parse_args()
    numbers = [int(word) for word in arguments.queries.split(",")] if arguments.queries else tpch_queries.NUMBERS
    folder = ensure_tpch(arguments.sf)
    options = [word for setting in arguments.settings for word in ("-s", setting)]
    with PistachioSession(*options, folder=folder, binary=arguments.pistachio, ranks=arguments.ranks) as session:
        texts = variant_texts(arguments.seed, arguments.variants, arguments.sf, numbers)
        comparison = compare(texts, duckdb_oracle.connect(folder), session, lambda text: print(text, flush=True))
    print(f"scale factor {arguments.sf}, seed {arguments.seed}, {arguments.ranks or 'no'} ranks, settings {' '.join(arguments.settings) or 'default'}: {comparison.queries} queries, "
          f"{comparison.rows} rows, {comparison.empty} empty answers, {len(comparison.problems)} differences")
    return 1 if comparison.problems else 0


if __name__ == "__main__":
    sys.exit(main())
