"""Kills or stops one rank of a cluster at a random moment of a distributed query, again and again.

    tests/cluster/fault_matrix.py --seeds 0:200

Each run must end within the watchdog's time in the right rows or in one error that names the rank, and a new cluster must answer right. The exit status is
1 if one did not. What happened is counted."""

import argparse
import os
import random
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
# Tables of files are spread anyway, and the session's marks must not be.
OPTIONS = ("-s", "peer_timeout=2s")
WATCHDOG_SECONDS = 30


@dataclass
class Outcome:
    kind: str  # answered, failed, not started; what is worth a look: wrong, hung, unclear
    text: str = ""

    @property
    def is_wrong(self):
        return self.kind in ("wrong", "hung", "unclear")


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
    return Outcome("answered" if statement.result.csv == expected else "wrong", statement.result.csv)


def fault_in_query(randomness, ranks, folder, expected, seconds):
    rank = randomness.randrange(1, ranks)
    number = randomness.choice((signal.SIGKILL, signal.SIGSTOP))
    with PistachioCluster(ranks, *OPTIONS, folder=folder, watchdog_seconds=WATCHDOG_SECONDS * 2) as cluster:
        statement = cluster.begin(QUERY)
        time.sleep(randomness.uniform(0, 1.2 * seconds))
        cluster.signal(rank, number)
        outcome = outcome_of(statement, expected, rank)
        if not outcome.is_wrong:
            # What it did not need for this query it needs for the next.
            after = outcome_of(cluster.begin(QUERY), expected, rank)
            outcome = after if after.is_wrong or after.kind == "answered" and number == signal.SIGKILL else outcome
        processes = [cluster.process.pid, *cluster.ranks.values()] if cluster.process else []
    return f"{number.name} of rank {rank} in a query", outcome, processes


def fault_at_start(randomness, ranks, folder, expected):
    """Only by killing: a rank that is stopped before the ranks have met is waited for as long as any that is slow."""
    with PistachioSession(*OPTIONS, folder=folder, ranks=ranks, watchdog_seconds=WATCHDOG_SECONDS * 2) as session:
        statement = Statement(session, QUERY)
        wait_until(lambda: session.process and len(children_of(session.process.pid)) == ranks - 1, "all ranks")
        processes = [session.process.pid, *children_of(session.process.pid)]
        time.sleep(randomness.uniform(0, 2))
        rank = randomness.randrange(1, ranks)
        victim = sorted(processes[1:])[rank - 1]  # they are started in order
        os.kill(victim, signal.SIGKILL)
        outcome = outcome_of(statement, expected, rank)
    return f"SIGKILL of rank {rank} at the start", outcome, processes


def run_seeds(seeds, ranks, scale, report):
    """How many runs had which outcome, and the problems."""
    folder = ensure_tpch(scale)
    with PistachioSession(folder=folder) as alone:
        expected = alone.run(QUERY).csv
    with PistachioSession(*OPTIONS, folder=folder, ranks=ranks) as healthy:
        seconds = min(healthy.run(QUERY).seconds for _ in range(3))
    counts, problems = Counter(), []
    for seed in seeds:
        randomness = random.Random(seed)
        at_start = randomness.random() < 0.25
        began = time.monotonic()
        title, outcome, processes = (fault_at_start(randomness, ranks, folder, expected) if at_start
                                     else fault_in_query(randomness, ranks, folder, expected, seconds))
        counts[outcome.kind] += 1
        wait_until(lambda: not any(map(is_running, processes)), "the end of all processes", WATCHDOG_SECONDS)
        if outcome.is_wrong:
            problems.append(f"seed {seed}, {title}: {outcome.kind} {outcome.text}")
        report(f"seed {seed}, {title}: {outcome.kind} after {time.monotonic() - began:.1f} s {outcome.text.splitlines()[0] if outcome.text else ''}")
        if seed % 10 == 0:
            with PistachioSession(*OPTIONS, folder=folder, ranks=ranks) as again:
                try:
                    is_right = again.run(QUERY).csv == expected
                except (StatementFailed, EngineDied):
                    is_right = False
            if not is_right:
                problems.append(f"seed {seed}: a new cluster gave a wrong answer")
    return counts, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:20", help="FIRST:END")
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--sf", default="0.1", help="scale factor")
    parser.add_argument("--quiet", action="store_true", help="print no line for each run")
    arguments = parser.parse_args()
    first, end = map(int, arguments.seeds.split(":"))
    report = (lambda text: None) if arguments.quiet else (lambda text: print(text, flush=True))
    counts, problems = run_seeds(range(first, end), arguments.ranks, arguments.sf, report)
    for problem in problems:
        print(problem)
    print(f"{counts.total()} runs on {arguments.ranks} ranks, {len(problems)} problems ({', '.join(f'{number} {kind}' for kind, number in counts.items())})")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
