"""Queries whose rows exceed a memory limit many times over, against DuckDB on the same files: TPC-H, and more that retain most rows.

    tests/spill/compare_memory.py --sf 10 --limits 2GB,512MB,256MB
    tests/spill/compare_memory.py --sf 1 --limits 128MB --ranks 3
    tests/spill/compare_memory.py --sf 10 --device cuda --limits 1GB,4GB

The limit is memory_limit, or device_memory_limit with --device cuda. Prints the time of each query under each limit and the peak memory since
the process started (of the first rank) or in use on the GPU, and every difference; then the exit status is 1."""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed  # noqa: E402
from tests.tpch.tpch_queries import query_text  # noqa: E402
from tools.tpch_data import ensure_tpch  # noqa: E402

SUM_OF_GROUPS = "SELECT count(*) AS n, sum(c) AS s, min(t) AS low, max(t) AS high FROM"
MATCHES = ("SELECT count(*) AS n, sum(a.l_extendedprice) AS s, min(a.l_shipdate) AS low, max(b.l_comment) AS high, count(b.l_shipmode) AS m, "
           "max(b.l_shipinstruct) AS i, sum(b.l_tax) AS t, sum(b.l_partkey) AS p FROM lineitem a")
NEXT_LINE = "a.l_orderkey = b.l_orderkey + 1 AND a.l_linenumber = b.l_linenumber"
QUERIES = {
    "group by two integers": f"{SUM_OF_GROUPS} (SELECT l_orderkey, l_linenumber, count(*) AS c, sum(l_partkey) AS t FROM lineitem GROUP BY 1, 2) g",
    "group by text": f"{SUM_OF_GROUPS} (SELECT l_comment AS t, count(*) AS c FROM lineitem GROUP BY 1) g",
    "count distinct": "SELECT l_returnflag, count(DISTINCT l_orderkey) AS a, count(DISTINCT l_comment) AS b, sum(l_tax) AS t FROM lineitem GROUP BY 1",
    "DISTINCT": "SELECT count(*) AS n, min(l_comment) AS low FROM (SELECT DISTINCT l_comment, l_orderkey FROM lineitem) d",
    "inner join": f"{MATCHES} JOIN lineitem b ON {NEXT_LINE}",
    "left join": f"{MATCHES} LEFT JOIN lineitem b ON {NEXT_LINE}",
    "full join": f"{MATCHES} FULL JOIN lineitem b ON {NEXT_LINE}",
    "semi join": f"SELECT count(*) AS n, min(l_comment) AS low FROM lineitem a WHERE EXISTS (SELECT 1 FROM lineitem b WHERE {NEXT_LINE} AND "
                 "b.l_comment <> a.l_comment)",
    "sort": "SELECT * FROM lineitem ORDER BY l_comment, l_orderkey, l_linenumber LIMIT 5 OFFSET 5000000",
    "window": "SELECT sum(r) AS r, max(s) AS s FROM (SELECT rank() OVER (PARTITION BY l_suppkey ORDER BY l_shipdate, l_orderkey) AS r, "
              "sum(l_quantity) OVER (PARTITION BY l_suppkey ORDER BY l_shipdate, l_orderkey, l_linenumber) AS s FROM lineitem) w",
    "common table read twice": "WITH c AS MATERIALIZED (SELECT l_orderkey, l_partkey, l_comment, l_extendedprice FROM lineitem) SELECT (SELECT "
                               "sum(l_extendedprice) FROM c) AS s, (SELECT max(l_comment) FROM c WHERE l_partkey > 1000) AS m",
}


class PeakOfGpu:
    """Polls the memory in use on the GPU. Other users of the GPU count as well."""

    def __init__(self):
        self.peak = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.poll, daemon=True)

    def used(self):
        done = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True)
        return int(done.stdout.split()[0]) << 20 if done.returncode == 0 else 0

    def poll(self):
        while not self.ended.is_set():
            self.peak = max(self.peak, self.used())
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class PeakOfProcess:
    def __init__(self, session):
        self.session = session
        self.peak = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.session.process:
            status = Path(f"/proc/{self.session.process.pid}/status").read_text()
            self.peak = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))


def measure(session, sql, expected, peak):
    """The query's seconds (None if it failed) and what is wrong."""
    with peak:
        try:
            result = session.run(sql)
        except (StatementFailed, EngineDied) as error:
            return None, str(error)
    return result.seconds, duckdb_oracle.difference(duckdb_oracle.parse_csv(result.csv), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", default="1", help="scale factor")
    parser.add_argument("--limits", default="256MB", help="separated by commas; on a GPU 0 is the default limit")
    parser.add_argument("--queries", help="names, separated by commas: q1 to q22 and others; all if left out")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--pistachio", type=Path, help="the program; the default is the release or CUDA build's")
    parser.add_argument("-s", "--settings", nargs="+", action="extend", default=[], metavar="name=value")
    arguments = parser.parse_args()
    is_gpu = arguments.device == "cuda"
    binary = arguments.pistachio or ROOT / "build" / ("cuda" if is_gpu else "release") / "pistachio"
    known = {f"q{number}": query_text(number) for number in range(1, 23)} | QUERIES
    names = arguments.queries.split(",") if arguments.queries else list(known)
    if wrong := [name for name in names if name not in known]:
        parser.error(f"--queries takes {', '.join(known)}, not '{wrong[0]}'")
    folder = ensure_tpch(arguments.sf)
    judge = duckdb_oracle.connect(folder, threads=os.cpu_count())
    duckdb_oracle.speak_like_pistachio(judge)
    expected = {name: duckdb_oracle.answer(judge, known[name]) for name in names}
    judge.close()
    failures = 0
    for limit in arguments.limits.split(","):
        settings = [f"device={arguments.device}", f"{'device_' if is_gpu else ''}memory_limit={limit}", *arguments.settings]
        words = [word for setting in settings for word in ("-s", setting)]
        with PistachioSession(*words, folder=folder, binary=binary, ranks=arguments.ranks if arguments.ranks > 1 else None) as session:
            for name in names:
                peak = PeakOfGpu() if is_gpu else PeakOfProcess(session)
                seconds, problem = measure(session, known[name], expected[name], peak)
                failures += bool(problem)
                text = "   FAILED" if seconds is None else f"{seconds * 1000:9.0f} ms"
                print(f"{limit:>6} {name:24} {text}  {'GPU memory' if is_gpu else 'peak'} {peak.peak / 1e6:7.0f} MB{f'  {problem}' if problem else ''}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
