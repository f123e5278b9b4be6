"""SET trace: the file that each query leaves."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio

QUERY = "SELECT g, count(*) FROM t GROUP BY g ORDER BY g"


class TraceTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        rows = 200_000
        pq.write_table(pa.table({"g": [i % 7 for i in range(rows)], "x": list(range(rows))}), self.folder / "t.parquet", row_group_size=50_000)
        self.trace = self.folder / "trace.json"

    def run_query(self, *words, trace=None, sql=QUERY):
        done = pistachio.run(*words, "-d", self.folder, "-s", f"trace={trace or self.trace}", "--format", "csv", "-c", sql)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def spans(self):
        return [event for event in json.loads(self.trace.read_text())["traceEvents"] if event["ph"] == "X"]

    def test_spans_name_the_steps_of_the_plan(self):
        self.run_query()
        names = {span["name"] for span in self.spans()}
        for step in ("scan t", "aggregate", "sort"):
            self.assertTrue(any(step in name for name in names), f"{step} in {names}")
        self.assertTrue(all(span["dur"] >= 0 and span["ts"] >= 0 and span["pid"] == 0 for span in self.spans()))

    def test_every_rank_has_spans(self):
        self.run_query("cluster", "-n", "2", "--")
        self.assertEqual({span["pid"] for span in self.spans()}, {0, 1})

    def test_next_query_replaces_the_trace(self):
        self.run_query(sql=f"{QUERY}; SELECT max(x) FROM t WHERE x < 100")
        self.assertFalse(any("sort" in span["name"] for span in self.spans()))

    def test_unwritable_file_is_a_note(self):
        done = self.run_query(trace=self.folder / "none" / "trace.json")
        self.assertIn("the trace could not be written to", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 8)

    def test_no_trace_by_default(self):
        done = pistachio.run("-d", self.folder, "-c", QUERY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.trace.exists())


if __name__ == "__main__":
    unittest.main()
