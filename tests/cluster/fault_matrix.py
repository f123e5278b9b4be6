"""Faults in distributed queries, over and over: ranks killed, stopped, cut off the network, or out of memory or disk space, at a
named point of the query or at a random moment.

    tests/cluster/fault_matrix.py --seeds 0:200
    tests/cluster/fault_matrix.py --seeds 0:200 --on-path

Each run must end within the watchdog's time with the right rows or with one error that names the rank or what it lacked; then the
next query must be right on all ranks, and every rank must have released its memory. Otherwise the exit status is 1. Outcomes are
counted."""

import argparse
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.pistachio_cluster import PistachioCluster, Statement, children_of, is_running, wait_until  # noqa: E402
from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed  # noqa: E402
from tools.tpch_data import ensure_tpch  # noqa: E402

QUERY = ("SELECT o_orderpriority, l_shipmode, count(*) AS lines, sum(l_extendedprice) AS price, count(DISTINCT c_custkey) AS customers "
         "FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey GROUP BY 1, 2 ORDER BY 1, 2")
# Tables of files are distributed anyway, and the session's marker tables must not be.
OPTIONS = ("-s", "peer_timeout=2s")
# Many small messages and windows that fill up, so that there are many points to fail at.
POINT_OPTIONS = (*OPTIONS, "-s", "allow_faults=on", "-s", "restart_ranks=on", "-s", "message_bytes=16KiB", "-s", "queue_limit=64KiB", "-s", "chunk_rows=4096",
                 "-s", "join_distribution=repartition")
# Partial results that are merged between two simulated hosts of two ranks. Few rows of a rank have the same key, but all ranks have all keys.
ON_PATH_QUERY = ("SELECT l_partkey, l_shipmode, count(*) AS lines, sum(l_extendedprice) AS price, min(l_comment) AS first, max(l_shipdate) AS latest "
                 "FROM lineitem WHERE l_partkey < 4000 GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 5000")
ON_PATH_PLACES = {"ranks": 4, "hosts": 2}
ON_PATH_OPTIONS = ("-s", "on_path=on", "-s", "partial_aggregation=on", "-s", "group_distribution=repartition")
# Points that this query reaches on every rank.
ON_PATH_POINTS = ("stage_begun", "scan_chunk", "rows_partitioned", "block_packed", "credit_awaited", "rows_sent", "rows_received", "rows_unpacked", "credit_sent",
                  "credit_received", "end_sent", "end_received", "aggregate_update", "aggregate_merge", "stage_ended")
WATCHDOG_SECONDS = 60
LOSSES = ("kill", "stop", "cut")
# Points that only the first rank reaches, or only the others.
OF_THE_FIRST = {"plan_sent", "finished_received", "cancel_sent", "sort_rows"}
OF_OTHERS = {"plan_received", "tables_opened", "part_ended", "finished_sent", "cancel_received"}
# Reached by cancelled queries.
OF_CANCELLED = {"cancel_sent", "cancel_received"}
TOO_LATE = "the statement ran longer than query_timeout"
LACKS = {"nospace": "No space left on device", "nomemory": "out of memory"}
# A rank that is lost five times within a minute is given up.
MOST_LOSSES_OF_A_CLUSTER = 4


@dataclass
class Outcome:
    kind: str  # answered, run again, failed, lacked, cancelled, ended, not started; what is worth a look: wrong, hung, unclear, leaked
    text: str = ""

    @property
    def is_wrong(self):
        return self.kind in ("wrong", "hung", "unclear", "leaked")


def outcome_of(statement, expected, rank):
    statement.join(WATCHDOG_SECONDS)
    if statement.is_alive():
        return Outcome("hung")
    if isinstance(statement.crash, EngineDied):
        text = str(statement.crash)
        return Outcome("not started" if f"rank {rank} (process" in text else "unclear", text)
    if statement.crash:
        return Outcome("unclear", repr(statement.crash))
    if statement.error:
        names_rank = f"rank {rank} (host" in statement.error and statement.error.count("\n") == 0
        return Outcome("failed" if names_rank else "unclear", statement.error)
    kind = "run again" if any("run again" in note for note in statement.result.notes) else "answered"
    return Outcome(kind if statement.result.csv == expected else "wrong", statement.result.csv if statement.result.csv != expected else "")


def fault_in_query(randomness, ranks, folder, expected, seconds):
    rank = randomness.randrange(1, ranks)
    number = randomness.choice((signal.SIGKILL, signal.SIGSTOP))
    with PistachioCluster(ranks, *OPTIONS, folder=folder, watchdog_seconds=WATCHDOG_SECONDS * 2) as cluster:
        # A rank that no other has heard from yet is given half a minute: not every run should take that long.
        if randomness.random() < 0.9:
            cluster.run(QUERY)
        statement = cluster.begin(QUERY)
        time.sleep(randomness.uniform(0, 1.2 * seconds))
        cluster.signal(rank, number)
        outcome = outcome_of(statement, expected, rank)
        if not outcome.is_wrong:
            # What it did not need for this query it needs for the next.
            after = outcome_of(cluster.begin(QUERY), expected, rank)
            outcome = after if after.is_wrong or after.kind == "answered" and number == signal.SIGKILL else outcome
        processes = [cluster.process.pid, *cluster.ranks.values()] if cluster.process else []
    wait_until(lambda: not any(map(is_running, processes)), "the end of all processes", WATCHDOG_SECONDS)
    return f"{number.name} of rank {rank} in a query", outcome


def fault_at_start(randomness, ranks, folder, expected):
    """Only by killing: a rank that is stopped before the ranks have met is awaited like any slow one."""
    with PistachioSession(*OPTIONS, folder=folder, ranks=ranks, watchdog_seconds=WATCHDOG_SECONDS * 2) as session:
        statement = Statement(session, QUERY)
        wait_until(lambda: session.process and len(children_of(session.process.pid)) == ranks - 1, "all ranks")
        processes = [session.process.pid, *children_of(session.process.pid)]
        time.sleep(randomness.uniform(0, 2))
        rank = randomness.randrange(1, ranks)
        victim = sorted(processes[1:])[rank - 1]  # they are started in order
        os.kill(victim, signal.SIGKILL)
        outcome = outcome_of(statement, expected, rank)
    wait_until(lambda: not any(map(is_running, processes)), "the end of all processes", WATCHDOG_SECONDS)
    return f"SIGKILL of rank {rank} at the start", outcome


class FaultPoints:
    """Faults at named points of queries on a cluster that restarts lost ranks: one cluster for many of them."""

    def __init__(self, ranks, folder, expected, *options, query=QUERY, **session_options):
        self.ranks, self.folder, self.expected = ranks, folder, expected
        self.query, self.options, self.session_options = query, options, session_options
        self.cluster = None
        self.losses = 0
        self.used = None

    def close(self):
        if self.cluster:
            processes = [self.cluster.process.pid, *children_of(self.cluster.process.pid)] if self.cluster.process else []
            self.cluster.close()
            self.cluster = None
            wait_until(lambda: not any(map(is_running, processes)), "the end of all processes", WATCHDOG_SECONDS)

    def check_all(self, faults):
        """The outcome of each fault; closes the cluster."""
        try:
            return {fault: self.check(fault) for fault in faults}
        finally:
            self.close()

    def open(self):
        """A cluster that has run the query once, so that its caches (metadata) are warm."""
        if self.cluster and self.losses < MOST_LOSSES_OF_A_CLUSTER:
            return
        self.close()
        self.losses = 0
        self.cluster = PistachioCluster(self.ranks, *POINT_OPTIONS, *self.options, folder=self.folder, watchdog_seconds=WATCHDOG_SECONDS * 2,
                                        **self.session_options)
        if self.cluster.run(self.query).csv != self.expected:
            raise AssertionError("a healthy cluster gave a wrong answer")
        self.used = max(self.cluster.memory())

    def points(self):
        self.open()
        try:
            self.cluster.run("SET fault_at = '?=kill'")
        except StatementFailed as refusal:
            return re.search("there are (.*)", str(refusal))[1].split(", ")
        raise AssertionError("a point without a name was taken")

    def run(self, randomness, points):
        point = randomness.choice(points)
        # The first rank cannot be stopped or cut off: it has to detect the loss.
        rank = 0 if point in OF_THE_FIRST else randomness.randrange(1 if point in OF_OTHERS else 0, self.ranks)
        action = randomness.choice(("kill", *LACKS, "delay") if rank == 0 else (*LOSSES, *LACKS, "delay"))
        fault = f"{point}:{rank}:{randomness.choice((1, 1, 1, 1, 2, 3))}={action}"
        return fault, self.check(fault)

    def check(self, fault):
        """Of the form POINT:RANK:NTH=ACTION."""
        point, rank, _, action = re.fullmatch(r"(\w+):(\d+):(\d+)=(\w+)", fault).groups()
        rank = int(rank)
        self.open()
        if point in OF_CANCELLED:
            self.cluster.run("SET query_timeout = '20ms'")
        outcome = self.outcome(fault, action, rank)
        if outcome.kind != "ended" and not outcome.is_wrong:
            outcome = self.check_after(outcome)
        if outcome.is_wrong or outcome.kind == "ended":
            self.close()
        return outcome

    def outcome(self, fault, action, rank):
        pid = self.cluster.process.pid
        self.cluster.run(f"SET fault_at = '{fault}'")
        self.losses += action in LOSSES
        statement = self.cluster.begin(self.query)
        outcome = outcome_of(statement, self.expected, rank)
        if outcome.kind == "unclear" and TOO_LATE in outcome.text:
            return Outcome("cancelled")
        if outcome.kind == "unclear" and action in LACKS and LACKS[action] in outcome.text:
            return Outcome("lacked", outcome.text)
        if outcome.kind == "unclear" and action == "kill" and rank == 0 and isinstance(statement.crash, EngineDied):
            wait_until(lambda: not children_of(pid), "the end of all ranks", WATCHDOG_SECONDS)
            return Outcome("ended")
        return outcome

    def check_after(self, outcome):
        self.cluster.run("SET fault_at = ''")
        self.cluster.run("SET query_timeout = off")
        after = outcome_of(self.cluster.begin(self.query), self.expected, 0)
        if after.kind not in ("answered", "run again"):
            return Outcome("wrong" if after.kind == "failed" else after.kind, f"the next query: {after.text}")
        memory = None

        def is_free():
            nonlocal memory
            memory = self.cluster.memory()
            return None not in memory and max(memory) <= self.used
        try:
            wait_until(is_free, "the memory of all ranks", WATCHDOG_SECONDS)
        except AssertionError:
            return Outcome("leaked", f"{memory} bytes in use, {self.used} before")
        return outcome


def on_path_faults(folder):
    """Faults while partial results are merged between hosts."""
    with PistachioSession(folder=folder) as alone:
        expected = alone.run(ON_PATH_QUERY).csv
    return FaultPoints(ON_PATH_PLACES["ranks"], folder, expected, *ON_PATH_OPTIONS, query=ON_PATH_QUERY, hosts=ON_PATH_PLACES["hosts"])


class Tally:
    """The number of runs per outcome, and the problems; reports each run."""

    def __init__(self, report):
        self.counts, self.problems, self._report = Counter(), [], report

    def add(self, seed, fault, outcome, began):
        self.counts[outcome.kind] += 1
        if outcome.is_wrong:
            self.problems.append(f"seed {seed}, {fault}: {outcome.kind} {outcome.text}")
        first_line = outcome.text.splitlines()[0] if outcome.text else ""
        self._report(f"seed {seed}, {fault}: {outcome.kind} after {time.monotonic() - began:.1f} s {first_line}")


def run_on_path_seeds(seeds, scale, report):
    tally = Tally(report)
    faults = on_path_faults(ensure_tpch(scale))
    try:
        for seed in seeds:
            began = time.monotonic()
            fault, outcome = faults.run(random.Random(seed), ON_PATH_POINTS)
            tally.add(seed, fault, outcome, began)
    finally:
        faults.close()
    return tally.counts, tally.problems


def run_seeds(seeds, ranks, scale, report):
    folder = ensure_tpch(scale)
    with PistachioSession(folder=folder) as alone:
        expected = alone.run(QUERY).csv
    with PistachioSession(*OPTIONS, folder=folder, ranks=ranks) as healthy:
        seconds = min(healthy.run(QUERY).seconds for _ in range(3))
    tally = Tally(report)
    faults = FaultPoints(ranks, folder, expected)
    points = faults.points()
    try:
        for seed in seeds:
            randomness = random.Random(seed)
            where = randomness.random()
            began = time.monotonic()
            if where < 0.1:
                fault, outcome = fault_at_start(randomness, ranks, folder, expected)
            elif where < 0.25:
                fault, outcome = fault_in_query(randomness, ranks, folder, expected, seconds)
            else:
                fault, outcome = faults.run(randomness, points)
            tally.add(seed, fault, outcome, began)
    finally:
        faults.close()
    return tally.counts, tally.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:20", help="FIRST:END")
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--sf", default="0.1", help="scale factor")
    parser.add_argument("--on-path", action="store_true", help="merge partial results on the way, on two simulated hosts of two ranks")
    parser.add_argument("--quiet", action="store_true", help="print no line for each run")
    arguments = parser.parse_args()
    first, end = map(int, arguments.seeds.split(":"))
    report = (lambda text: None) if arguments.quiet else (lambda text: print(text, flush=True))
    if arguments.on_path:
        counts, problems = run_on_path_seeds(range(first, end), arguments.sf, report)
    else:
        counts, problems = run_seeds(range(first, end), arguments.ranks, arguments.sf, report)
    for problem in problems:
        print(problem)
    print(f"{counts.total()} runs, {len(problems)} problems ({', '.join(f'{number} {kind}' for kind, number in counts.items())})")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
