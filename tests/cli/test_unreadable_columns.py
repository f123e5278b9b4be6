"""Columns that SQL cannot read, nested ones and duplicate names: listed by DESCRIBE, omitted by * with a note, rejected by name."""

import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_session import PistachioSession, StatementFailed

NOTE = "* leaves out columns that cannot be read: {} (DESCRIBE says why)"


class UnreadableColumns(unittest.TestCase):
    """One process runs all statements; the last test shows where a user sees notes and errors."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.session = PistachioSession(folder=cls.folder)
        cls.addClassCleanup(cls.session.close)
        nested = {"id": [1, 2], "list": [[1], [2, 3]], "pair": pa.array([{"a": 1, "b": "x"}, None]), "last": [5, 6]}
        pq.write_table(pa.table(nested), cls.folder / "nested.parquet")
        pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"]), cls.folder / "twice.parquet")

    def assert_refused(self, sql, words):
        with self.assertRaises(StatementFailed) as refusal:
            self.session.run(sql)
        self.assertIn(words, str(refusal.exception))

    def test_describe_lists_them_in_order(self):
        lines = self.session.run("DESCRIBE nested").csv.splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["column_name", "id", "list.list.element", "pair.a", "pair.b", "last"])
        self.assertIn("cannot be read: it is nested in a list or map", lines[2])
        lines = self.session.run("DESCRIBE twice").csv.splitlines()
        self.assertEqual(lines[2], "b,BIGINT")
        for line in (lines[1], lines[3]):
            self.assertIn("a,cannot be read: its name appears twice in", line)

    def test_star_omits_them_with_one_note(self):
        for sql in ("SELECT * FROM nested", "SELECT n.* FROM nested n", "SELECT * FROM (SELECT * FROM nested) q",
                    "WITH q AS (SELECT * FROM nested) SELECT * FROM q", "SELECT * FROM nested INTERSECT SELECT * FROM nested ORDER BY id"):
            result = self.session.run(sql)
            self.assertEqual((result.csv, result.notes), ("id,pair.a,pair.b,last\n1,1,x,5\n2,,,6\n", (NOTE.format("list.list.element"),)), sql)
        self.assertEqual(self.session.run("CREATE TABLE kept AS SELECT * FROM twice").notes, (NOTE.format("a"),))
        kept = self.session.run("SELECT * FROM kept")
        self.assertEqual((kept.csv, kept.notes), ("b\n2\n", ()))

    def test_no_note_if_nothing_is_omitted(self):
        for sql in ("SELECT id FROM nested", "SELECT count(*) FROM nested", "SELECT count(*) FROM (SELECT * FROM nested) q", "DESCRIBE nested"):
            self.assertEqual(self.session.run(sql).notes, (), sql)

    def test_selecting_one_reports_the_reason(self):
        for name in ("list", "nested.list", "list.list.element"):
            self.assert_refused(f"SELECT {name} FROM nested", f"column {name} cannot be read: it is nested in a list or map")
        self.assert_refused("SELECT list FROM (SELECT * FROM nested) q", "column list cannot be read")
        self.assert_refused("WITH q AS (SELECT * FROM nested) SELECT list FROM q", "column list cannot be read")
        self.assert_refused('SELECT id FROM nested a JOIN nested b USING ("list.list.element")', "cannot be read: it is nested")
        self.assertEqual(self.session.run("SELECT count(*) FROM nested NATURAL JOIN (SELECT * FROM nested) q").csv, "count\n1\n")
        self.assert_refused("SELECT pair FROM nested", "column pair is nested; its parts can be read: pair.a, pair.b")
        for name in ("a", "twice.a"):
            self.assert_refused(f"SELECT {name} FROM twice", f"column {name} cannot be read: its name appears twice in")
        self.assertEqual(self.session.run("SELECT pair.a, b FROM nested, twice WHERE id = 1").csv, "a,b\n1,2\n")

    def test_where_notes_and_errors_are_shown(self):
        def run(sql):
            done = pistachio.run("-d", self.folder, "-c", sql)
            return done.returncode, done.stdout, done.stderr

        self.assertEqual(run("SELECT * FROM nested"), (0, "id,pair.a,pair.b,last\n1,1,x,5\n2,,,6\n", f"note: {NOTE.format('list.list.element')}\n"))
        self.assertEqual(run("SELECT id FROM nested"), (0, "id\n1\n2\n", ""))
        status, output, errors = run("SELECT list FROM nested")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("column list cannot be read: it is nested in a list or map", errors)


if __name__ == "__main__":
    unittest.main()
