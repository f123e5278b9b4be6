"""A suite of queries, Pistachio and DuckDB alternating on the same files, each in one long-lived process with the same number of
threads; medians of wall time and of CPU time (all threads of the process, user and system).

Results are compared before anything is timed; a query with another result, or that fails, is reported as such and not timed: exit
status 1. The CPU ratio is less disturbed by other programs on the machine than the ratio of wall times. After Ctrl-C the completed
queries are reported: exit status 130."""

import argparse
import json
import math
import re
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed  # noqa: E402
from tools.bench.interruption import EXIT_STATUS, Interruption  # noqa: E402
from tools.bench.suite_answers import ExpectedRows  # noqa: E402
from tools.bench.suites import clickbench, h2o, shapes, tpcds  # noqa: E402

SUITES = {"tpcds": tpcds, "h2o": h2o, "clickbench": clickbench, "shapes": shapes}


def cpu_seconds(pid):
    """CPU time of another process so far: Linux has a clock for it."""
    return time.clock_gettime((~pid << 3) | 2)


def connect(folder, threads):
    """DuckDB with the tables of the folder: files, and folders of files."""
    connection = duckdb_oracle.connect(folder, threads)
    duckdb_oracle.speak_like_pistachio(connection)
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        connection.execute(f"CREATE VIEW \"{inner.name}\" AS SELECT * FROM read_parquet('{inner}/*.parquet')")
    return connection


def problem_of(query, engine, duckdb):
    """None, or why the query is not timed. Afterwards both engines have run it once."""
    try:
        sql = query.checked_sql or query.sql
        answer = engine.run(sql)
        problem = ExpectedRows(duckdb, sql).difference(answer.csv)
        if problem:
            return f"differs: {problem}"
        engine.run(query.sql)
        duckdb.execute(query.sql).fetchall()
    except StatementFailed as error:
        return f"failed: {str(error).splitlines()[0]}"
    except EngineDied as error:
        return f"died: {error}"
    return None


def time_in_turns(sql, engine, duckdb, repeat):
    """Medians."""
    runs = {"pistachio": [], "duckdb": [], "pistachio_cpu": [], "duckdb_cpu": []}
    for _ in range(repeat):
        cpu = cpu_seconds(engine.process.pid)
        runs["pistachio"].append(engine.run(sql).seconds)
        runs["pistachio_cpu"].append(cpu_seconds(engine.process.pid) - cpu)
        begin, cpu = time.perf_counter(), time.process_time()
        duckdb.execute(sql).fetchall()
        runs["duckdb"].append(time.perf_counter() - begin)
        runs["duckdb_cpu"].append(time.process_time() - cpu)
    medians = {name: statistics.median(seconds) for name, seconds in runs.items()}
    return {**medians, "ratio": medians["duckdb"] / medians["pistachio"], "cpu_ratio": medians["duckdb_cpu"] / medians["pistachio_cpu"]}


def measure(query, engine, duckdb, repeat):
    problem = problem_of(query, engine, duckdb)
    if problem:
        return {"query": query.name, "problem": problem}
    return {"query": query.name, **time_in_turns(query.sql, engine, duckdb, repeat)}


def row_text(case):
    if "problem" in case:
        return f"{case['query']:>18} {' '.join(case['problem'].split())[:600]}"
    times = " ".join(f"{case[name] * 1e3:>9.1f} ms" for name in ("pistachio", "duckdb"))
    cpu = " ".join(f"{case[name] * 1e3:>9.1f} ms" for name in ("pistachio_cpu", "duckdb_cpu"))
    return f"{case['query']:>18} {times} {case['ratio']:>6.2f}x {cpu} {case['cpu_ratio']:>6.2f}x"


def summary(cases):
    """Figures over the timed queries."""
    figures = {}
    for ratio in ("ratio", "cpu_ratio"):
        worst = min(cases, key=lambda case: case[ratio])
        figures[ratio] = {"geomean": math.exp(statistics.fmean(math.log(case[ratio]) for case in cases)),
                          "worst": worst[ratio], "worst_query": worst["query"]}
    return figures


def summary_text(figures):
    for ratio, words in (("ratio", "wall time"), ("cpu_ratio", "CPU time")):
        yield f"{words}: geometric mean {figures[ratio]['geomean']:.2f}x DuckDB, worst {figures[ratio]['worst_query']} {figures[ratio]['worst']:.2f}x"


def chosen(queries, names):
    """The queries whose names are listed, or match one of the regular expressions of the list."""
    if names is None:
        return queries
    patterns = names.split(",")
    wrong = [pattern for pattern in patterns if not any(re.fullmatch(pattern, query.name) for query in queries)]
    if wrong:
        raise SystemExit(f"no query matches '{wrong[0]}'; there are {', '.join(query.name for query in queries)}")
    return [query for query in queries if any(re.fullmatch(pattern, query.name) for pattern in patterns)]


def options_of(name):
    parser = argparse.ArgumentParser(prog=f"scripts/bench {name}", description=f"{SUITES[name].__doc__}\n\n{__doc__}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    SUITES[name].add_options(parser)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--queries", help="names or regular expressions, separated by commas; all if left out")
    parser.add_argument("--json", type=Path)
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="name=value", help="of Pistachio, such as memory_limit=1GB")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="the same as -s device=...")
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/pistachio")
    return parser


def run_all(queries, engine, duckdb, repeat):
    """The cases so far, and whether Ctrl-C ended them."""
    cases = []
    print(f"{'query':>18} {'pistachio':>12} {'duckdb':>12} {'ratio':>7} {'CPU':>12} {'duckdb CPU':>12} {'ratio':>7}", flush=True)
    with Interruption() as interruption:
        for query in queries:
            cases.append(measure(query, engine, duckdb, repeat))
            print(row_text(cases[-1]), flush=True)
            if interruption.came:
                break  # DuckDB may finish its query in spite of Ctrl-C
    return cases, interruption.came


def main():
    name, *words = sys.argv[1:]
    arguments = options_of(name).parse_args(words)
    if arguments.device:
        arguments.settings.append(f"device={arguments.device}")
    suite = SUITES[name].prepare(arguments)
    duckdb = connect(suite.folder, arguments.threads)
    options = [word for setting in [f"threads={arguments.threads}", *arguments.settings] for word in ("-s", setting)]
    with PistachioSession(*options, folder=suite.folder, binary=arguments.binary) as engine:
        cases, interrupted = run_all(chosen(suite.queries, arguments.queries), engine, duckdb, arguments.repeat)
    timed = [case for case in cases if "problem" not in case]
    figures = summary(timed) if timed else {}
    print(f"{suite.title}, {arguments.threads} threads; {len(timed)} of {len(cases)} queries timed; more is faster")
    for line in summary_text(figures) if timed else ():
        print(line)
    if arguments.json:
        report = {"suite": name, "title": suite.title, "threads": arguments.threads, "settings": arguments.settings, "interrupted": interrupted,
                  **figures, "cases": cases}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    return EXIT_STATUS if interrupted else int(len(timed) < len(cases))


if __name__ == "__main__":
    sys.exit(main())
