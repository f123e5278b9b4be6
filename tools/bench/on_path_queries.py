"""GROUP BY queries on two simulated hosts of two ranks, with on_path = off, on and auto interleaved; medians. Started by
`scripts/bench onpath --queries`.

Results are compared before anything is timed. Rows leave a host through links of --limits Gbit/s, scaled to this machine as by
`pistachio bench onpath`: link bandwidth per core is that of a published host with 8 cores. Two rules are checked: auto takes at
most 1.05 times as long as the better of on and off; on is at least 1.5 times as fast as off where it halves the bytes that move
between hosts and the link is busy for two thirds of the time."""

import argparse
import json
import os
import random
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import PistachioSession  # noqa: E402
from tools.tpch_data import ensure_tpch  # noqa: E402

MODES = ("off", "on", "auto")
AUTO_BOUND = 1.05
GAIN_BOUND = 1.5
BOTTLENECK_SHARE = 2 / 3
PUBLISHED_CORES_PER_HOST = 8
TPCH = ROOT / "tests/tpch/queries"
# The aggregation is wrapped so that few rows are printed; every group counts for the result.
SYNTHETIC = "SELECT count(*), sum(n), sum(s), min(k), max(l) FROM (SELECT k, count(*) AS n, sum(v) AS s, min(v) AS l FROM '{}' GROUP BY k) AS g"
# Half of the rows have one of 16 keys.
KEYS = {"distinct": "hash(i) % {rows}", "skewed": "CASE WHEN hash(i) % 2 = 0 THEN hash(i + {rows}) % 16 ELSE hash(i) % {rows} END"}


def make_table(name, rows):
    """A file of `rows` rows with the key k and the value v, made once. Every part of it has keys of the whole range."""
    path = ROOT / "data" / f"onpath_queries_{name}_{rows}.parquet"
    if not path.exists():
        partial = path.with_suffix(".partial")
        key = KEYS[name].format(rows=rows)
        connection = duckdb_oracle.connect()
        connection.execute(f"COPY (SELECT CAST({key} AS BIGINT) AS k, CAST(hash(i + 1) % 1000 AS INTEGER) AS v FROM range({rows}) AS t(i)) "
                           f"TO '{partial}' (FORMAT parquet, ROW_GROUP_SIZE {max(rows // 16, 2048)})")
        partial.rename(path)
    return path


def queries_of(names, rows):
    """(name, statement) of each query."""
    known = {
        "q1": lambda: (TPCH / "q01.sql").read_text(),
        "q13": lambda: (TPCH / "q13.sql").read_text(),
        # The inner part of query 18: the lines of an order are next to each other, so that ranks have different orders.
        "q18": lambda: "SELECT count(*), sum(q) FROM (SELECT l_orderkey, sum(l_quantity) AS q FROM lineitem GROUP BY l_orderkey) AS o",
        "parts": lambda: "SELECT count(*), sum(n), sum(p) FROM (SELECT l_partkey, count(*) AS n, sum(l_extendedprice) AS p FROM lineitem "
                         "GROUP BY l_partkey) AS g",
        "distinct": lambda: SYNTHETIC.format(make_table("distinct", rows)),
        "skewed": lambda: SYNTHETIC.format(make_table("skewed", rows)),
    }
    wrong = [name for name in names if name not in known]
    if wrong:
        raise SystemExit(f"--queries takes {', '.join(known)}, not '{wrong[0]}'")
    return [(name, known[name]()) for name in names]


def rows_of(result):
    """Rows in any order."""
    return sorted(duckdb_oracle.parse_csv(result.csv))


def steps_of(plan):
    """The steps of a plan with everything below."""
    yield plan
    for step in plan.get("inputs", []):
        yield from steps_of(step)


def moved_bytes(plan):
    """The most bytes that a rank sends to other hosts."""
    sent = [step["ranks"]["bytes_across_network"] for step in steps_of(plan) if "bytes_across_network" in step.get("ranks", {})]
    return max((sum(filter(None, of_rank)) for of_rank in zip(*sent)), default=0)


def merging(plan):
    """The figures of the step that merges most rows; None: no step does."""
    return max((step["on_path"] for step in steps_of(plan) if "on_path" in step), key=lambda figures: figures["rows"], default=None)


def measure(name, sql, session, arguments, link_limit):
    """The figures of one query in all modes."""
    expected = None
    modes = {}
    for mode in arguments.modes:
        session.run(f"SET on_path = {mode}")
        rows = rows_of(session.run(sql))
        if expected is not None and rows != expected:
            raise SystemExit(f"{name}: the result with on_path = {mode} differs from that with {arguments.modes[0]}")
        expected = rows
        (text,), = duckdb_oracle.parse_csv(session.run(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").csv)
        plan = json.loads(text)["plan"]
        modes[mode] = {"runs": [], "moved_bytes": moved_bytes(plan), "on_path": merging(plan)}
    order = random.Random(1)
    for _ in range(arguments.repeat):
        for mode in order.sample(arguments.modes, len(arguments.modes)):
            session.run(f"SET on_path = {mode}")
            modes[mode]["runs"].append(session.run(sql).seconds)
    for figures in modes.values():
        figures["seconds"] = statistics.median(figures["runs"])
    return {"query": name, "link_bandwidth_limit": link_limit, "modes": modes}


def checks_of(cell):
    """(rule, value, bound, whether it holds) of each rule that applies."""
    off, on, auto = (cell["modes"].get(mode) for mode in MODES)
    if off and on and auto:
        ratio = auto["seconds"] / min(off["seconds"], on["seconds"])
        yield "auto", ratio, AUTO_BOUND, ratio <= AUTO_BOUND
    if off and on and cell["link_bandwidth_limit"]:
        is_bottleneck = off["moved_bytes"] / cell["link_bandwidth_limit"] >= BOTTLENECK_SHARE * off["seconds"]
        if is_bottleneck and on["moved_bytes"] <= 0.505 * off["moved_bytes"]:
            gain = off["seconds"] / on["seconds"]
            yield "gain", gain, GAIN_BOUND, gain >= GAIN_BOUND


def print_cell(link, cell):
    for mode, figures in cell["modes"].items():
        done = figures["on_path"]
        merged = f"{done['merged'] / max(1, done['rows']):5.0%} of {done['rows']:>9,}" if done else "-"
        print(f"{link:>8}  {cell['query']:<9} {mode:<5} {figures['seconds'] * 1e3:9.1f} ms  {figures['moved_bytes'] / 2**20:8.2f} MiB  {merged}")
    for rule, value, bound, holds in checks_of(cell):
        print(f"{'':8}  {rule}: {value:.2f}x, bound {bound:g}x: {'holds' if holds else 'MISSED'}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench onpath --queries LIST", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", default="q1,q13,q18,parts,distinct,skewed", help="the default is all: %(default)s")
    parser.add_argument("--sf", default="1", help="TPC-H scale factor (default 1)")
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the tables of distinct and skewed (default 4000000)")
    parser.add_argument("--limits", default="1,10", help="link bandwidths in Gbit/s before scaling; off: no limit (default 1,10)")
    parser.add_argument("--scale", type=float, help="factor from a published link to one of this machine (default: by cores)")
    parser.add_argument("--ranks-per-host", type=int, default=2)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="setting of the ranks")
    arguments = parser.parse_args()
    arguments.modes = arguments.modes.split(",")
    folder = ensure_tpch(arguments.sf)
    queries = queries_of(arguments.queries.split(","), arguments.rows)
    cores_per_host = len(os.sched_getaffinity(0)) / 2
    scale = arguments.scale or cores_per_host / PUBLISHED_CORES_PER_HOST
    print(f"2 hosts with {arguments.ranks_per_host} ranks each, {cores_per_host:g} cores per host; links: {scale:.4g} of the published bandwidth")
    cells = []
    for word in arguments.limits.split(","):
        limit = 0 if word == "off" else max(1, round(float(word) * 1e9 / 8 * scale))
        link = word if word == "off" else f"{word} Gbit/s"
        options = [f"link_bandwidth_limit={limit}", *arguments.settings]
        words = [word for option in options for word in ("-s", option)]
        with PistachioSession(*words, folder=folder, ranks=2 * arguments.ranks_per_host, hosts=2) as session:
            for name, sql in queries:
                cells.append(measure(name, sql, session, arguments, limit))
                print_cell(link, cells[-1])
    checks = [check for cell in cells for check in checks_of(cell)]
    print(f"{sum(holds for *_, holds in checks)} of {len(checks)} checks hold")
    if arguments.json:
        arguments.json.write_text(json.dumps({"kind": "onpath queries", "scale": scale, "ranks_per_host": arguments.ranks_per_host,
                                              "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
