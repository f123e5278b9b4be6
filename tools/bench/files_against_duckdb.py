"""Reads the same CSV and JSON files with DuckDB and Pistachio, alternating, and compares times and results.

Files: TPC-H lineitem as CSV (plain and gzip), orders as JSON lines, written once by Pistachio's COPY. Cases: counting the records, one column,
a filter with groups, all columns. Each engine runs in one process for the whole benchmark and reads from the page cache; each sniffs the
file in every query. Runs alternate after one warm-up each; medians are reported. Different results are an error: exit status 1.
Started by `scripts/bench files`."""

import argparse
import gzip
import json
import shutil
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from bench.scan_against_duckdb import DUCKDB_SERVER, LineProcess  # noqa: E402
from data_folder import ensure_folder  # noqa: E402
from tpch_data import ensure_tpch  # noqa: E402

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import PistachioSession  # noqa: E402

GROUPS = """SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), count(*) FROM '{csv}'
WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"""
LINEITEM = ("l_orderkey l_partkey l_suppkey l_linenumber l_quantity l_extendedprice l_discount l_tax l_returnflag l_linestatus l_shipdate "
            "l_commitdate l_receiptdate l_shipinstruct l_shipmode l_comment").split()
ORDERS = "o_orderkey o_custkey o_orderstatus o_totalprice o_orderdate o_orderpriority o_clerk o_shippriority o_comment".split()


def maxima(columns, place):
    return f"SELECT {', '.join(f'max({column})' for column in columns)} FROM '{place}'"


CASES = {
    "csv: count": "SELECT count(*) FROM '{csv}'",
    "csv: one column": "SELECT sum(l_quantity) FROM '{csv}'",
    "csv: filter and groups": GROUPS,
    "csv: all columns": maxima(LINEITEM, "{csv}"),
    "csv.gz: one column": "SELECT sum(l_quantity) FROM '{gz}'",
    "json: count": "SELECT count(*) FROM '{json}'",
    "json: one column": "SELECT sum(o_totalprice) FROM '{json}'",
    "json: all columns": maxima(ORDERS, "{json}"),
}


def write_files(folder, sf):
    tables = ensure_tpch(sf)
    with PistachioSession(folder=str(tables)) as session:
        session.run(f"COPY lineitem TO '{folder}/lineitem.csv'")
        session.run(f"COPY orders TO '{folder}/orders.jsonl'")
    with open(folder / "lineitem.csv", "rb") as plain, gzip.open(folder / "lineitem.csv.gz", "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", default="1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cases", default="", help="only cases whose name contains this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = ensure_folder(f"files_sf{options.sf}", lambda partial: write_files(partial, options.sf))
    places = {"csv": folder / "lineitem.csv", "gz": folder / "lineitem.csv.gz", "json": folder / "orders.jsonl"}
    sizes = {name: path.stat().st_size for name, path in places.items()}
    duckdb = LineProcess("DuckDB", [sys.executable, "-c", DUCKDB_SERVER, str(options.threads)])
    duckdb.ask({"sql": "SET enable_progress_bar = false"})  # it would be printed between the answers
    figures = []
    print(f"{'case':<24} {'DuckDB':>9} {'Pistachio':>9} {'speed-up':>8}")
    with PistachioSession("-s", f"threads={options.threads}") as session:
        for name, sql in CASES.items():
            if options.cases not in name:
                continue
            theirs, ours = [], []
            sql = sql.format(**places)
            for turn in range(options.repeat + 1):
                answer = duckdb.ask({"sql": sql})
                result = session.run(sql)
                expected = duckdb_oracle.Answer([], ["floating" if is_number(value) else "other" for value in answer["rows"][0]],
                                                [tuple(row) for row in answer["rows"]])
                problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(result.csv), expected)
                if problem:
                    sys.exit(f"{name}: {problem}")
                if turn > 0:
                    theirs.append(answer["seconds"])
                    ours.append(result.seconds)
            pair = statistics.median(theirs), statistics.median(ours)
            figures.append({"case": name, "duckdb": pair[0], "pistachio": pair[1]})
            print(f"{name:<24} {pair[0]:>7.2f} s {pair[1]:>7.2f} s {pair[0] / pair[1]:>7.2f}x", flush=True)
    duckdb.close()
    print(f"lineitem.csv {sizes['csv'] >> 20} MiB, lineitem.csv.gz {sizes['gz'] >> 20} MiB, orders.jsonl {sizes['json'] >> 20} MiB; {options.threads} threads")
    if options.json:
        options.json.write_text(json.dumps({"sizes": sizes, "cases": figures}, indent=1))


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    main()
