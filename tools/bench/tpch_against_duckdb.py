"""The 22 TPC-H queries, Pistachio and DuckDB alternating, each in one long-lived process with the same number of threads;
medians.

Results are compared before anything is timed. T_min is the time that storage alone needs for the bytes a query reads: the bytes
that the engine counts in a fresh process, divided by the bandwidth of storage. That is `storage_bandwidth_limit` if set, else the
measured bandwidth of reading the same files sequentially, from the page cache unless `direct_io` is on. With `--device cuda` it is the
bandwidth of copying the same files from the page cache to the GPU, on the faster of the two ways that scans take (`pistachio bench copy`).
After Ctrl-C the completed queries are reported: exit status 130."""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import PistachioSession  # noqa: E402
from tests.tpch import tpch_queries  # noqa: E402
from tools.bench import storage_bandwidth  # noqa: E402
from tools.bench.interruption import EXIT_STATUS, Interruption  # noqa: E402
from tools.bench.speedup_chart import speedup_chart  # noqa: E402
from tools.tpch_data import TABLES, ensure_tpch  # noqa: E402


def setting(engine, name):
    return duckdb_oracle.parse_csv(engine.run(f"SHOW {name}").csv)[0][0]


def copy_rates(options, folder, binary):
    """What `pistachio bench copy` reports: bytes per second to the GPU, `staged`, `registered` (None: refused) and `pinned`, and which of the
    first two is `better`."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "copy.json"
        files = [folder / f"{table}.parquet" for table in TABLES]
        done = subprocess.run([binary, "bench", "copy", *files, *options, "--json", report], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr.strip())
        return json.loads(report.read_text())


def rates_text(rates):
    """One line."""
    shown = [f"{name} " + (f"{rates[name] / 1e9:.2f} GB/s" if rates[name] else "refused") for name in ("staged", "registered", "pinned")]
    return f"copies to the GPU: {', '.join(shown)}"


def bandwidth(engine, folder, rates):
    """Bytes per second, and the origin of the figure. `rates` is None on the CPU."""
    limit = int(setting(engine, "storage_bandwidth_limit"))
    if limit > 0:
        return limit, "the limit that was set"
    if rates:
        return rates[rates["better"]], f"page cache to GPU, {rates['better']}, measured"
    direct = setting(engine, "direct_io") == "on"
    measured = storage_bandwidth.measure([folder / f"{table}.parquet" for table in TABLES], direct)
    return measured, "measured past the page cache" if direct else "measured, with the files in the page cache"


def is_on_gpu(settings):
    """Whether the last `device=...` among the settings names a GPU."""
    devices = [value.strip().lower() for name, _, value in (word.partition("=") for word in settings) if name.strip() == "device"]
    return bool(devices) and devices[-1] == "cuda"


def bytes_to_read(options, folder, binary, sql):
    """The bytes that a fresh process reads for the query, including footers."""
    with PistachioSession(*options, folder=folder, binary=binary) as cold:
        (plan,), = duckdb_oracle.parse_csv(cold.run("EXPLAIN (ANALYZE, FORMAT JSON) " + sql).csv)
    return json.loads(plan)["bytes_read"]


def measure(number, engine, duckdb, speed, options, arguments, folder):
    """The figures of one query; exits if the results differ."""
    sql = tpch_queries.query_text(number)
    problem = tpch_queries.ExpectedAnswer(duckdb, sql).difference(engine.run(sql).csv)
    if problem:
        raise SystemExit(f"query {number} differs: {problem}")
    read = bytes_to_read(options, folder, arguments.binary, sql)
    ours, theirs = time_in_turns(engine, duckdb, sql, arguments.repeat)
    least = read / speed
    return {"query": number, "pistachio": ours, "duckdb": theirs, "ratio": theirs / ours, "bytes_read": read, "t_min": least, "t_over_t_min": ours / least}


def time_in_turns(engine, duckdb, sql, repeat):
    """Our and their medians."""
    ours, theirs = [], []
    for _ in range(repeat):
        ours.append(engine.run(sql).seconds)
        begin = time.perf_counter()
        duckdb.execute(sql).fetchall()
        theirs.append(time.perf_counter() - begin)
    return statistics.median(ours), statistics.median(theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", default="1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--queries", help="numbers, separated by commas; all 22 if left out")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the speed-ups")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="name=value", help="of Pistachio, such as storage_bandwidth_limit=100MB")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="the same as -s device=...")
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/pistachio")
    arguments = parser.parse_args()
    numbers = [int(word) for word in arguments.queries.split(",")] if arguments.queries else list(range(1, 23))
    if arguments.device:
        arguments.settings.append(f"device={arguments.device}")
    folder = ensure_tpch(arguments.sf)
    duckdb = duckdb_oracle.connect(folder, arguments.threads)
    options = [word for setting in [f"threads={arguments.threads}", *arguments.settings] for word in ("-s", setting)]
    rates = copy_rates(options, folder, arguments.binary) if is_on_gpu(arguments.settings) else None
    engine = PistachioSession(*options, folder=folder, binary=arguments.binary)
    speed, origin = bandwidth(engine, folder, rates)
    if rates:
        print(rates_text(rates))
    print(f"{'T_min' if rates else 'storage'}: {speed / 1e9:.2f} GB/s ({origin})\n", flush=True)
    cases = []
    print(f"{'query':>5} {'pistachio':>12} {'duckdb':>12} {'ratio':>7} {'T_min':>12} {'T/T_min':>8}")
    with Interruption() as interruption:
        for number in numbers:
            own = measure(number, engine, duckdb, speed, options, arguments, folder)
            cases.append(own)
            print(f"{number:>5} {own['pistachio'] * 1e3:>9.1f} ms {own['duckdb'] * 1e3:>9.1f} ms {own['ratio']:>6.2f}x {own['t_min'] * 1e3:>9.1f} ms "
                  f"{own['t_over_t_min']:>8.2f}", flush=True)
            if interruption.came:
                break  # DuckDB may finish its query in spite of Ctrl-C
    if not cases:
        return EXIT_STATUS
    mean = math.exp(statistics.fmean(math.log(case["ratio"]) for case in cases))
    print(f"geometric mean {mean:.2f}x DuckDB at scale factor {arguments.sf} with {arguments.threads} threads; more is faster")
    if arguments.json:
        report = {"geomean_ratio": mean, "scale_factor": arguments.sf, "threads": arguments.threads, "settings": arguments.settings,
                  "storage_bandwidth": speed, "storage_bandwidth_origin": origin, "interrupted": interruption.came, "cases": cases}
        if rates:
            report["copy_rates"] = rates
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    if arguments.plot:
        subtitle = (f"scale factor {arguments.sf}, {arguments.threads} threads, Parquet files in the page cache, medians of {arguments.repeat} interleaved runs; "
                    f"geometric mean {mean:.2f}x")
        arguments.plot.write_text(speedup_chart("TPC-H: speed-up over DuckDB", subtitle, [(f"q{case['query']}", case["ratio"]) for case in cases]))
    return EXIT_STATUS if interruption.came else 0


if __name__ == "__main__":
    sys.exit(main())
