"""The 22 TPC-H queries, Pistachio and DuckDB in turn, each in one long-lived process with the same number of threads; medians.

The answers are compared before anything is timed. T_min is the time storage alone would need for the bytes that a query reads."""

import argparse
import json
import math
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.tpch import tpch_queries  # noqa: E402
from tools.tpch_data import ensure_tpch  # noqa: E402


class Pistachio:
    """One running engine; statements go in through a pipe, the time of each comes back."""

    def __init__(self, binary, folder, threads):
        self.process = subprocess.Popen([str(binary), "-d", str(folder), "-f", "-", "--format", "csv", "-s", f"threads={threads}", "-s", "timer=on"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.output = []
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self):
        for line in self.process.stdout:
            self.output.append(line)

    def run(self, sql):
        """Seconds and the CSV text."""
        self.output.clear()
        self.process.stdin.write(sql.strip().rstrip(";") + ";\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stderr.readline()
            if line.startswith("-- time:"):
                seconds = float(line.split()[2]) / 1e3
                break
            if line == "" or line.startswith("error"):
                raise RuntimeError(f"{line}{self.process.stderr.read() if line else ''}")
        time.sleep(0.01)  # the pipe of stdout is read by another thread
        return seconds, "".join(self.output)


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
    engine = Pistachio(arguments.binary, folder, arguments.threads)
    cases = []
    print(f"{'query':>5} {'pistachio':>12} {'duckdb':>12} {'ratio':>7}")
    for number in numbers:
        sql = tpch_queries.query_text(number)
        expected, _ = duckdb_oracle.rows_of(duckdb, sql)
        _, text = engine.run(sql)
        problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(text), expected)
        if problem:
            raise SystemExit(f"query {number} differs: {problem}")
        own, other = [], []
        for _ in range(arguments.repeat):
            own.append(engine.run(sql)[0])
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
