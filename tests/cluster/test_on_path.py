"""Partial results that are merged on the sending host (on_path): answers, plans and faults on four ranks that simulate two hosts."""

import re
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.cluster.fault_matrix import ON_PATH_PLACES as PLACES
from tests.cluster.fault_matrix import ON_PATH_QUERY as GROUPED
from tests.cluster.fault_matrix import FaultPoints
from tests.support import duckdb_oracle
from tests.support.pistachio_session import PistachioSession
from tests.tpch.compare_variants import compare, variant_texts
from tools.tpch_data import ensure_tpch

SCALE = "0.1"
ON = ("-s", "on_path=on")
# Which rows meet in a table does not depend on how busy the machine is.
NEVER_IDLE = ("-s", "on_path_flush_time=off")
# Ranks 2 and 1 merge, before sending and on arrival: these are more chunks than they aggregate first (50 and 25).
FAULTS = ("aggregate_update:2:70=kill", "aggregate_update:1:45=nomemory", "block_packed:3:2=cut", "rows_sent:0:1=nomemory", "rows_unpacked:2:1=delay")
HELPERS = ("-s", "partial_aggregation=on", "-s", "group_distribution=gather", "-s", "on_path_arrival=on", "-s", "on_path_helpers=1")


def rows_of(plan, step):
    """The rows that a step of the plan gave, over all ranks, for each time that it occurs."""
    return [int(rows) for rows in re.findall(rf"^\"? *{step}  \(rows [^;]*; actual (\d+)", plan, re.MULTILINE)]


def rows_of_ranks(plan, step):
    """The rows of each rank in the first step of that name."""
    shares = re.search(rf'^"? *{step}  \(rows (?:.*\n)*?"? *ranks: rows ([^ ,]+)', plan, re.MULTILINE)[1]
    return [0 if rows == "-" else int(rows) for rows in shares.split("/")]


def rows_sent(plan, step):
    """The rows that each rank sent through the first exchange of that name."""
    shares = re.search(rf'^"? *{step}  \(rows (?:.*\n)*?"? *moved: rows ([^ ,]+)', plan, re.MULTILINE)[1]
    return [0 if rows == "-" else int(rows) for rows in shares.split("/")]


class Merging:
    """The line of EXPLAIN ANALYZE that tells what was merged on path."""

    def __init__(self, plan):
        self.merged, self.rows = map(int, re.search(r"on path: (\d+) of (\d+) rows merged", plan).groups())
        decision = re.search(r"; (\d+) of (\d+) ranks merge: (\d+) % expected, (?:\d+ % needed to pay|no share would pay) "
                             r"\(a row: [\d.]+ ns to produce, ([\d.]+) ns to merge, ([\d.]+) ns on the link\), (\d+) % more expected on arrival", plan)
        self.ranks, self.deciding, self.expected, self.to_merge, self.on_link, self.on_arrival = map(float, decision.groups()) if decision else [None] * 6


class OnPath(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ensure_tpch(SCALE)

    def test_tpch(self):
        with PistachioSession(*ON, folder=self.folder, **PLACES) as session:
            comparison = compare(variant_texts(0, 0, SCALE), duckdb_oracle.connect(self.folder), session)
        self.assertEqual(comparison.problems, [])
        self.assertGreater(comparison.rows, 0)

    def test_rows_that_leave_a_host(self):
        with PistachioSession(*NEVER_IDLE, folder=self.folder, **PLACES) as session:
            query = "SELECT l_partkey, count(*) AS lines FROM lineitem GROUP BY 1"
            self.assertEqual(rows_of(session.run(f"EXPLAIN ANALYZE {query}").csv, "to combiner"), [])
            session.run("SET on_path = on")
            plan = session.run(f"EXPLAIN ANALYZE {query}").csv
            partial, merging = rows_of(plan, "partial aggregate")[0], Merging(plan)
            # Every rank has nearly all of the 20,000 parts. Half of them leave the host, which has each of them about twice.
            self.assertGreater(partial, 3.8 * 20000)
            self.assertAlmostEqual(merging.rows, partial / 2, delta=partial / 20)
            self.assertGreater(merging.merged, 0.4 * merging.rows)
            # The other half skips the combiners.
            self.assertEqual(rows_of(plan, "to combiner")[0], merging.rows)
            self.assertEqual(rows_of(plan, "combining aggregate")[0], merging.rows - merging.merged)
            self.assertEqual(rows_of(plan, "repartition")[0], partial - merging.merged)
            self.assertEqual(sum(rows_sent(plan, "to combiner")), merging.rows)
            self.assertEqual(sum(rows_sent(plan, "repartition")), partial - merging.merged)
            # A table without room merges hardly anything but the rows of a chunk.
            session.run("SET on_path_table_bytes = 1")
            session.run("SET chunk_rows = 100")
            plan = session.run(f"EXPLAIN ANALYZE {query}").csv
            self.assertGreater(rows_of(plan, "combining aggregate")[0], 0.9 * rows_of(plan, "to combiner")[0])

    def test_helpers_merge_for_their_host(self):
        query = "SELECT l_partkey, count(*) AS lines FROM lineitem GROUP BY 1"
        with PistachioSession(folder=self.folder) as alone:
            expected = sorted(alone.run(query).csv.splitlines())
        with PistachioSession(*ON, "-s", "on_path_helpers=1", "-s", "group_distribution=gather", folder=self.folder, **PLACES) as session:
            self.assertEqual(sorted(session.run(query).csv.splitlines()), expected)
            rows = rows_of_ranks(session.run(f"EXPLAIN ANALYZE {query}").csv, "combining aggregate")
            # Host 0 has the destination itself; on host 1 only rank 2 merges.
            self.assertEqual((rows[0], rows[1], rows[3]), (0, 0, 0))
            self.assertGreater(rows[2], 0)
            session.run("SET group_distribution = repartition")
            for helpers, share in ((1, 0), (1024, 1)):
                with self.subTest(helpers=helpers):
                    session.run(f"SET on_path_helpers = {helpers}")
                    self.assertEqual(sorted(session.run(query).csv.splitlines()), expected)
                    # The helpers receive the rows that leave their host.
                    rows = rows_of_ranks(session.run(f"EXPLAIN ANALYZE {query}").csv, "to combiner")
                    self.assertAlmostEqual(rows[1] / rows[0], share, delta=0.05)
                    self.assertAlmostEqual(rows[3] / rows[2], share, delta=0.05)

    def test_merging_on_arrival(self):
        grouped = "FROM lineitem WHERE l_partkey < 3000 GROUP BY 1, 2"
        with_words = f"SELECT l_partkey, l_linenumber, count(*) AS lines, min(l_tax) AS tax {grouped}"
        without_words = f"SELECT l_partkey, l_linenumber, max(l_comment) AS last {grouped}"
        with PistachioSession(folder=self.folder) as alone:
            expected = {query: sorted(alone.run(query).csv.splitlines()) for query in (with_words, without_words)}
        groups = len(expected[with_words]) - 1
        options = ("-s", "on_path_arrival=on", "-s", "group_distribution=gather", "-s", "partial_aggregation=on", "-s", "link_bandwidth_limit=4MB", *NEVER_IDLE)
        # With the number of merging exchanges on the sending side.
        cases = (({"ranks": 4, "hosts": 2}, 2, {"off": 0, "on": 1, "auto": 1}), ({"ranks": 5, "hosts": "2,1,2"}, 2, {"on": 1}), ({"ranks": 3}, 3, {"on": 0}))
        for places, receiving, modes in cases:
            with PistachioSession(*options, folder=self.folder, **places) as session:
                for mode, sending in modes.items():
                    session.run(f"SET on_path = {mode}")
                    for query in expected if mode == "on" else [with_words]:
                        with self.subTest(places=places, mode=mode, query=query):
                            self.assertEqual(sorted(session.run(query).csv.splitlines()), expected[query])
                    with self.subTest(places=places, mode=mode):
                        plan = session.run(f"EXPLAIN ANALYZE {with_words}").csv
                        self.assertEqual(len(rows_of(plan, "to combiner")), sending)
                        # The ranks of the first host share what arrives; the share of rank 0 goes straight to the final aggregation.
                        arrived = rows_of_ranks(plan, "to combiner on arrival")
                        self.assertEqual(arrived[receiving:], [0] * (len(arrived) - receiving))
                        self.assertEqual(arrived[0], 0)
                        self.assertGreater(min(arrived[1:receiving]), 0.8 * sum(arrived) / (receiving - 1))
                        # Each of their groups is left once, but for misses of the tables.
                        merged = sum(rows_of_ranks(plan, "combining aggregate"))
                        self.assertLess(merged, 1.2 * groups * (receiving - 1) / receiving)

    def test_idle_tables_do_not_wait_for_a_late_rank(self):
        query = "SELECT l_partkey, count(*) AS lines FROM lineitem GROUP BY 1"
        # Rank 2 merges for its host, and rank 3 is late; without help its rows are its own.
        options = (*ON, "-s", "on_path_helpers=1", "-s", "group_distribution=gather", "-s", "scan_help=off", "-s", "allow_faults=on")
        with PistachioSession(*options, folder=self.folder, **PLACES) as session:
            expected = sorted(session.run(query).csv.splitlines())
            session.run("SET fault_at = 'scan_chunk:3:1=delay'")

            def merged_share(flush_time):
                session.run(f"SET on_path_flush_time = '{flush_time}'")
                merging = Merging(session.run(f"EXPLAIN ANALYZE {query}").csv)
                return merging.merged / merging.rows
            self.assertGreater(merged_share("off"), 0.4)
            # A busy machine may make rank 2 late as well.
            self.assertTrue(any(merged_share("20ms") < 0.2 for _ in range(3)))
            self.assertEqual(sorted(session.run(query).csv.splitlines()), expected)

    def test_ranks_decide(self):
        shared = "SELECT l_partkey, count(*) AS lines, sum(l_tax) AS tax FROM lineitem GROUP BY 1"
        # Lines of an order are next to each other, so that ranks have different orders.
        apart = "SELECT l_orderkey, count(*) AS lines, sum(l_tax) AS tax FROM lineitem GROUP BY 1"
        with PistachioSession(folder=self.folder) as alone:
            expected = {query: sorted(alone.run(query).csv.splitlines()) for query in (shared, apart)}
        for limit, share_pays in (("2MB", True), ("10GB", None)):
            settings = (*NEVER_IDLE, "-s", "on_path=auto", "-s", f"link_bandwidth_limit={limit}", "-s", "partial_aggregation=on")
            with PistachioSession(*settings, folder=self.folder, **PLACES) as session:
                for query in (shared, apart):
                    with self.subTest(limit=limit, query=query):
                        self.assertEqual(sorted(session.run(query).csv.splitlines()), expected[query])
                plan = session.run(f"EXPLAIN ANALYZE {shared}").csv
                if share_pays is None:
                    # On a fast link it cannot pay: the plan has no step for it.
                    self.assertEqual(rows_of(plan, "to combiner"), [])
                    continue
                merging = Merging(plan)
                self.assertEqual((merging.ranks, merging.deciding), (4, 4), plan)
                self.assertAlmostEqual(merging.expected, 50, delta=5)
                self.assertGreater(merging.merged, 0.4 * merging.rows)
                # Both hosts have all parts. A row of at least 8 bytes takes 2 MB/s 4 us.
                self.assertAlmostEqual(merging.on_arrival, 50, delta=5)
                self.assertGreater(merging.on_link, 4000)
                self.assertGreater(merging.to_merge, 0)
                merging = Merging(session.run(f"EXPLAIN ANALYZE {apart}").csv)
                self.assertEqual((merging.ranks, merging.deciding), (0, 4))
                self.assertLess(merging.expected, 5)
                # Some are merged nevertheless, to see whether that begins to pay.
                self.assertGreater(merging.rows, 0)

    def test_one_host_has_nothing_to_combine(self):
        with PistachioSession(*ON, folder=self.folder, ranks=2) as session:
            self.assertEqual(rows_of(session.run("EXPLAIN ANALYZE SELECT l_partkey, count(*) FROM lineitem GROUP BY 1").csv, "to combiner"), [])

    def test_faults(self):
        with PistachioSession(folder=self.folder) as alone:
            expected = alone.run(GROUPED).csv
        outcomes = FaultPoints(PLACES["ranks"], self.folder, expected, *ON, *HELPERS, query=GROUPED, hosts=PLACES["hosts"]).check_all(FAULTS)
        self.assertEqual({fault: outcome for fault, outcome in outcomes.items() if outcome.is_wrong}, {})
        kinds = Counter(outcome.kind for outcome in outcomes.values())
        self.assertEqual((kinds["run again"], kinds["lacked"], kinds["answered"]), (2, 2, 1), outcomes)


if __name__ == "__main__":
    unittest.main()
