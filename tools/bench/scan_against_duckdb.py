"""Scans the same TPC-H files with DuckDB and Pistachio, alternating, and compares times and results.

Cases: the sum of every lineitem column (dates: days since 1992-01-01; text: characters), and filters on l_shipdate that select
about 1 %, 10 % and 90 % with the sums of three other columns. Minima and maxima would be answered from statistics, sums cannot
be. Each engine runs in one process for the whole benchmark, so startup is not measured; each times its own query (DuckDB around
execute and fetchall, Pistachio by its engine timer). Runs alternate A B A B, after one warm-up each; medians are reported. Both
cache file footers. Different results are an error: exit status 1. After Ctrl-C the completed cases are reported: exit status 130.
Started by `scripts/bench scan`."""

import argparse
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.interruption import EXIT_STATUS, Interruption  # noqa: E402
from tpch_data import ROOT, ensure_tpch  # noqa: E402

NUMBERS = ("l_orderkey", "l_partkey", "l_suppkey", "l_linenumber", "l_quantity", "l_extendedprice", "l_discount", "l_tax")
DATES = ("l_shipdate", "l_commitdate", "l_receiptdate")
TEXTS = ("l_returnflag", "l_linestatus", "l_shipinstruct", "l_shipmode", "l_comment")
FILTERED_COLUMNS = ("l_quantity", "l_extendedprice", "l_partkey")
FILTER_SHARES = (0.01, 0.10, 0.90)
BASE_DATE_DAYS = 8035  # 1992-01-01 as days since 1970-01-01


@dataclass
class Case:
    name: str
    columns: tuple
    where: str | None = None  # in Pistachio's syntax: l_shipdate < 1994-01-01

    def duckdb_sql(self, file):
        sums = ", ".join(duckdb_sum(column) for column in self.columns)
        condition = ""
        if self.where:
            column, operator, constant = self.where.split()
            condition = f" WHERE {column} {operator} DATE '{constant}'"
        return f"SELECT {sums} FROM read_parquet('{file}'){condition}"

    def pistachio_request(self, file, threads):
        return {"files": str(file), "columns": list(self.columns), "where": [self.where] if self.where else [],
                "settings": {"threads": threads}}


def duckdb_sum(column):
    if column in DATES:
        return f"sum({column} - DATE '1992-01-01')"
    return f"sum(length({column}))" if column in TEXTS else f"sum({column})"


class LineProcess:
    """A long-lived process that answers each JSON line with one JSON line."""

    def __init__(self, name, command):
        self.name = name
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1)

    def ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.process.wait(timeout=10)
            self.errors.seek(0)
            sys.exit(f"{self.name} ended with status {self.process.returncode} on {request}\n{self.errors.read()}")
        answer = json.loads(line)
        if "error" in answer:
            sys.exit(f"{self.name} answered an error on {request}\n{answer['error']}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


# DuckDB's process: values are sent as text, so that decimals stay exact.
DUCKDB_SERVER = """
import json, sys, time, duckdb
connection = duckdb.connect()
connection.execute(f"SET threads={int(sys.argv[1])}")
connection.execute("SET parquet_metadata_cache=true")
for line in sys.stdin:
    try:
        sql = json.loads(line)["sql"]
        began = time.perf_counter()
        rows = connection.execute(sql).fetchall()
        seconds = time.perf_counter() - began
        answer = {"seconds": seconds, "rows": [[str(value) for value in row] for row in rows]}
    except Exception as problem:
        answer = {"error": str(problem)}
    print(json.dumps(answer), flush=True)
"""


def make_cases(duckdb, file):
    cases = [Case(f"sum {column}", (column,)) for column in NUMBERS + DATES + TEXTS]
    shares = ", ".join(str(share) for share in FILTER_SHARES)
    answer = duckdb.ask({"sql": f"SELECT unnest(quantile_disc(l_shipdate, [{shares}])) FROM read_parquet('{file}')"})
    for share, (constant,) in zip(FILTER_SHARES, answer["rows"], strict=True):
        cases.append(Case(f"filter {share * 100:.0f} %", FILTERED_COLUMNS, f"l_shipdate < {constant}"))
    return cases


def pistachio_sums(case, answer):
    """The result in DuckDB's terms."""
    sums = []
    for column in case.columns:
        facts = answer["columns"][column]
        total = Decimal(str(facts["sum"]))
        sums.append(total - BASE_DATE_DAYS * int(facts["count"]) if column in DATES else total)
    return sums


def run_case(case, duckdb, pistachio, file, options):
    """Returns the medians; exits if the results differ."""
    duckdb_request = {"sql": case.duckdb_sql(file)}
    pistachio_request = case.pistachio_request(file, options.threads)
    duckdb_times, pistachio_times = [], []
    for turn in range(options.repeat + 1):
        theirs = duckdb.ask(duckdb_request)
        ours = pistachio.ask(pistachio_request)
        expected = [Decimal(value) for value in theirs["rows"][0]]
        got = pistachio_sums(case, ours)
        if expected != got:
            sys.exit(f"{case.name}: the answers differ\n  duckdb    {expected}\n  pistachio {got}\n  {duckdb_request['sql']}")
        if turn > 0:  # the first run of each is the warm-up
            duckdb_times.append(theirs["seconds"])
            pistachio_times.append(ours["seconds"])
    return statistics.median(duckdb_times), statistics.median(pistachio_times)


def machine_facts():
    model = platform.processor()
    try:
        match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        model = match.group(1) if match else model
    except OSError:
        pass
    version = subprocess.run([ROOT / "build/release/pistachio", "version"], capture_output=True, text=True, check=True)
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform(), "duckdb": metadata.version("duckdb"),
            "pistachio": [line.strip() for line in version.stdout.splitlines()]}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench scan", description="Pistachio against DuckDB on TPC-H lineitem.")
    parser.add_argument("--sf", default="1", help="scale factor (default 1)")
    parser.add_argument("--threads", type=int, default=2, help="threads of both engines (default 2)")
    parser.add_argument("--repeat", type=int, default=9, help="timed runs of each engine and case (default 9)")
    parser.add_argument("--json", metavar="FILE", help="write the figures here")
    parser.add_argument("--cases", metavar="REGEX", default="", help="only cases whose name matches, such as 'date|filter'")
    options = parser.parse_args()
    if options.repeat < 1 or options.threads < 1:
        parser.error("--repeat and --threads must be at least 1")

    file = ensure_tpch(options.sf) / "lineitem.parquet"
    duckdb = LineProcess("duckdb", [sys.executable, "-c", DUCKDB_SERVER, str(options.threads)])
    pistachio = LineProcess("pistachio", [ROOT / "build/release/pistachio", "scan", "--serve"])
    cases = [case for case in make_cases(duckdb, file) if re.search(options.cases, case.name)]
    if not cases:
        parser.error(f"no case matches {options.cases!r}")

    print(f"{'case':20} {'duckdb ms':>12} {'pistachio ms':>13} {'ratio':>8}")
    results = []
    with Interruption() as interruption:
        for case in cases:
            theirs, ours = run_case(case, duckdb, pistachio, file, options)
            results.append({"name": case.name, "where": case.where, "duckdb_seconds": theirs, "pistachio_seconds": ours,
                            "ratio": theirs / ours})
            print(f"{case.name:20} {theirs * 1e3:12.2f} {ours * 1e3:13.2f} {theirs / ours:7.2f}x", flush=True)
        duckdb.close()
        pistachio.close()
    duckdb.process.kill()  # after an interruption they may still run
    pistachio.process.kill()
    if not results:
        return EXIT_STATUS

    geomean = math.exp(statistics.fmean(math.log(result["ratio"]) for result in results))
    print(f"{'geometric mean':20} {'':12} {'':13} {geomean:7.2f}x")
    slower = [result["name"] for result in results if result["ratio"] < 1]
    print(f"answers equal in all {len(results)} cases; slower than DuckDB: {', '.join(slower) or 'none'}")
    if options.json:
        report = {"benchmark": "scan", "scale_factor": options.sf, "threads": options.threads, "repeat": options.repeat,
                  "geomean_ratio": geomean, "interrupted": interruption.came, "cases": results, "machine": machine_facts()}
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return EXIT_STATUS if interruption.came else 0


if __name__ == "__main__":
    sys.exit(main())
