"""Columns that SQL cannot read, nested ones and duplicate names: listed by DESCRIBE, omitted by * with a note, rejected by name."""

import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio


class UnreadableColumns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        nested = {"id": [1, 2], "list": [[1], [2, 3]], "pair": pa.array([{"a": 1, "b": "x"}, None]), "last": [5, 6]}
        pq.write_table(pa.table(nested), self.folder / "nested.parquet")
        pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"]), self.folder / "twice.parquet")

    def run_sql(self, *statements):
        return pistachio.run("-d", self.folder, *(word for sql in statements for word in ("-c", sql)))

    def assert_refused(self, sql, *words):
        done = self.run_sql(sql)
        self.assertEqual(done.returncode, 1)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_describe_lists_them_in_order(self):
        lines = self.run_sql("DESCRIBE nested").stdout.splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["column_name", "id", "list.list.element", "pair.a", "pair.b", "last"])
        self.assertIn("cannot be read: it is nested in a list or map", lines[2])
        lines = self.run_sql("DESCRIBE twice").stdout.splitlines()
        self.assertEqual(lines[2], "b,BIGINT")
        for line in (lines[1], lines[3]):
            self.assertIn("a,cannot be read: its name appears twice in", line)

    def test_star_omits_them_with_one_note(self):
        for sql in ("SELECT * FROM nested", "SELECT n.* FROM nested n", "SELECT * FROM (SELECT * FROM nested) q",
                    "WITH q AS (SELECT * FROM nested) SELECT * FROM q", "SELECT * FROM nested INTERSECT SELECT * FROM nested ORDER BY id"):
            done = self.run_sql(sql)
            self.assertEqual((done.returncode, done.stdout), (0, "id,pair.a,pair.b,last\n1,1,x,5\n2,,,6\n"), done.stderr)
            self.assertEqual(done.stderr, "note: * leaves out columns that cannot be read: list.list.element (DESCRIBE says why)\n")
        kept = self.run_sql("CREATE TABLE kept AS SELECT * FROM twice", "SELECT * FROM kept")
        self.assertEqual(kept.stdout, "b\n2\n")
        self.assertEqual(kept.stderr, "note: * leaves out columns that cannot be read: a (DESCRIBE says why)\n")

    def test_no_note_if_nothing_is_omitted(self):
        for sql in ("SELECT id FROM nested", "SELECT count(*) FROM nested", "SELECT count(*) FROM (SELECT * FROM nested) q", "DESCRIBE nested"):
            self.assertEqual(self.run_sql(sql).stderr, "", sql)

    def test_selecting_one_reports_the_reason(self):
        for name in ("list", "nested.list", "list.list.element"):
            self.assert_refused(f"SELECT {name} FROM nested", f"column {name} cannot be read: it is nested in a list or map")
        self.assert_refused("SELECT list FROM (SELECT * FROM nested) q", "column list cannot be read")
        self.assert_refused("WITH q AS (SELECT * FROM nested) SELECT list FROM q", "column list cannot be read")
        self.assert_refused('SELECT id FROM nested a JOIN nested b USING ("list.list.element")', "cannot be read: it is nested")
        self.assertEqual(self.run_sql("SELECT count(*) FROM nested NATURAL JOIN (SELECT * FROM nested) q").stdout, "count\n1\n")
        self.assert_refused("SELECT pair FROM nested", "column pair is nested; its parts can be read: pair.a, pair.b")
        for name in ("a", "twice.a"):
            self.assert_refused(f"SELECT {name} FROM twice", f"column {name} cannot be read: its name appears twice in")
        self.assertEqual(self.run_sql("SELECT pair.a, b FROM nested, twice WHERE id = 1").stdout, "a,b\n1,2\n")


if __name__ == "__main__":
    unittest.main()
