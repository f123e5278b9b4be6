"""Partial results that are merged on the sending host (on_path): answers, plans and faults on four ranks that simulate two hosts."""

import re
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.cluster.fault_matrix import FaultPoints
from tests.support import duckdb_oracle
from tests.support.pistachio_session import PistachioSession
from tests.tpch.compare_variants import compare, variant_texts
from tools.tpch_data import ensure_tpch

SCALE = "0.1"
PLACES = {"ranks": 4, "hosts": 2}
ON = ("-s", "on_path=on")
# Few rows of a rank have the same key, but all ranks have all keys.
GROUPED = ("SELECT l_partkey, l_shipmode, count(*) AS lines, sum(l_extendedprice) AS price, min(l_comment) AS first, max(l_shipdate) AS latest "
           "FROM lineitem GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 5000")
FAULTS = ("aggregate_update:2:3=kill", "rows_received:1:1=nomemory", "block_packed:3:2=cut", "rows_sent:0:1=nomemory", "rows_unpacked:2:1=delay")


def rows_of(plan, step):
    """The rows that a step of the plan gave, over all ranks, for each time that it occurs."""
    return [int(rows) for rows in re.findall(rf"^\"? *{step}  \(rows [^;]*; actual (\d+)", plan, re.MULTILINE)]


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
        with PistachioSession(folder=self.folder, **PLACES) as session:
            query = "SELECT l_partkey, count(*) AS lines FROM lineitem GROUP BY 1"
            self.assertEqual(rows_of(session.run(f"EXPLAIN ANALYZE {query}").csv, "to combiner"), [])
            session.run("SET on_path = on")
            plan = session.run(f"EXPLAIN ANALYZE {query}").csv
            partial, combined, parts = rows_of(plan, "partial aggregate")[0], rows_of(plan, "combining aggregate")[0], 20000
            # Every rank has nearly all of the parts, so that every host has each of them about twice.
            self.assertGreater(partial, 3.8 * parts)
            self.assertLess(combined, 2.001 * parts)
            # A table without room merges nothing but the rows of a chunk.
            session.run("SET on_path_table_bytes = 1")
            session.run("SET chunk_rows = 100")
            plan = session.run(f"EXPLAIN ANALYZE {query}").csv
            self.assertGreater(rows_of(plan, "combining aggregate")[0], 0.9 * rows_of(plan, "partial aggregate")[0])

    def test_one_host_has_nothing_to_combine(self):
        with PistachioSession(*ON, folder=self.folder, ranks=2) as session:
            self.assertEqual(rows_of(session.run("EXPLAIN ANALYZE SELECT l_partkey, count(*) FROM lineitem GROUP BY 1").csv, "to combiner"), [])

    def test_faults(self):
        with PistachioSession(folder=self.folder) as alone:
            expected = alone.run(GROUPED).csv
        outcomes = FaultPoints(PLACES["ranks"], self.folder, expected, *ON, query=GROUPED, hosts=PLACES["hosts"]).check_all(FAULTS)
        self.assertEqual({fault: outcome for fault, outcome in outcomes.items() if outcome.is_wrong}, {})
        kinds = Counter(outcome.kind for outcome in outcomes.values())
        self.assertEqual((kinds["run again"], kinds["lacked"], kinds["answered"]), (2, 2, 1), outcomes)


if __name__ == "__main__":
    unittest.main()
