"""Queries whose rows exceed device_memory_limit many times over, on a GPU, against DuckDB on the same files.

    tests/spill/compare_device_memory.py --sf 10 --pistachio build/cuda/pistachio --limits 1GB,4GB
    tests/spill/compare_device_memory.py --sf 1 --limits 256MB -s memory_limit=1GB

Prints the time of each query under each limit and the GPU memory that the process took at most, and every difference; then the exit status is 1."""

import argparse
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed  # noqa: E402
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


class PeakMemory:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", default="1", help="scale factor")
    parser.add_argument("--limits", default="256MB,0", help="of device_memory_limit, separated by commas; 0: the default")
    parser.add_argument("--queries", help="names, separated by commas; all if left out")
    parser.add_argument("--pistachio", type=Path, default=ROOT / "build/cuda/pistachio")
    parser.add_argument("-s", "--settings", nargs="+", action="extend", default=[], metavar="name=value")
    arguments = parser.parse_args()
    names = arguments.queries.split(",") if arguments.queries else list(QUERIES)
    folder = ensure_tpch(arguments.sf)
    judge = duckdb_oracle.connect(folder, threads=16)
    duckdb_oracle.speak_like_pistachio(judge)
    expected = {name: duckdb_oracle.answer(judge, QUERIES[name]) for name in names}
    failures = 0
    for limit in arguments.limits.split(","):
        options = [word for setting in ["device=cuda", f"device_memory_limit={limit}", *arguments.settings] for word in ("-s", setting)]
        with PistachioSession(*options, folder=folder, binary=arguments.pistachio) as session:
            for name in names:
                with PeakMemory() as memory:
                    try:
                        result = session.run(QUERIES[name])
                        problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(result.csv), expected[name])
                        text = f"{result.seconds * 1000:9.0f} ms"
                    except (StatementFailed, EngineDied) as error:
                        problem, text = str(error), "   FAILED"
                failures += bool(problem)
                print(f"{limit:>6} {name:24} {text}  GPU memory {memory.peak / 1e9:6.2f} GB{f'  DIFFERS: {problem}' if problem else ''}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
