"""The 22 TPC-H queries, Pistachio and DuckDB in turn, each in one long-lived process with the same number of threads; medians.

The answers are compared before anything is timed. T_min is the time storage alone would need for the bytes that a query reads."""

import argparse
import json
import math
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import PistachioSession  # noqa: E402
from tests.tpch import tpch_queries  # noqa: E402
from tools.tpch_data import ensure_tpch  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", default="1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--queries", help="numbers, separated by commas; all 22 if left out")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/pistachio")
    arguments = parser.parse_args()
    numbers = [int(word) for word in arguments.queries.split(",")] if arguments.queries else list(range(1, 23))
    folder = ensure_tpch(arguments.sf)
    duckdb = duckdb_oracle.connect(folder, arguments.threads)
    engine = PistachioSession("-s", f"threads={arguments.threads}", folder=folder, binary=arguments.binary)
    cases = []
    print(f"{'query':>5} {'pistachio':>12} {'duckdb':>12} {'ratio':>7}")
    for number in numbers:
        sql = tpch_queries.query_text(number)
        problem = tpch_queries.ExpectedAnswer(duckdb, sql).difference(engine.run(sql).csv)
        if problem:
            raise SystemExit(f"query {number} differs: {problem}")
        own, other = [], []
        for _ in range(arguments.repeat):
            own.append(engine.run(sql).seconds)
            begin = time.perf_counter()
            duckdb.execute(sql).fetchall()
            other.append(time.perf_counter() - begin)
        ours, theirs = statistics.median(own), statistics.median(other)
        cases.append({"query": number, "pistachio": ours, "duckdb": theirs, "ratio": theirs / ours})
        print(f"{number:>5} {ours * 1e3:>9.1f} ms {theirs * 1e3:>9.1f} ms {theirs / ours:>6.2f}x", flush=True)
    mean = math.exp(statistics.fmean(math.log(case["ratio"]) for case in cases))
    print(f"geometric mean {mean:.2f}x DuckDB at scale factor {arguments.sf} with {arguments.threads} threads; more is faster")
    if arguments.json:
        arguments.json.write_text(json.dumps({"geomean_ratio": mean, "scale_factor": arguments.sf, "threads": arguments.threads,
                                              "cases": cases}, indent=2) + "\n")


if __name__ == "__main__":
    main()
