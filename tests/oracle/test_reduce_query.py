"""The reducer finds planted bugs: the engine is a stand-in with bugs."""

import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.oracle import sql_tree
from tests.oracle.reduce_query import reduce_case
from tests.support.pistachio_session import EngineDied, PistachioSession

LYING_ENGINE = Path(__file__).resolve().parent / "lying_engine.py"
TABLES = {
    "t": ((("k", "INTEGER"), ("c", "VARCHAR"), ("d", "DATE")),
          [("1", "Anna", None), ("2", "ben", "2001-02-03"), ("3", None, "1999-12-31"), ("4", "CARL", "2001-02-03"), (None, "dora", None)]),
    "u": ((("k", "INTEGER"), ("x", "DOUBLE")), [("1", "1.5"), ("2", "-3"), ("2", None), ("7", "0.25")]),
    "unused": ((("k", "INTEGER"),), [("1",)]),
}


class ReduceQuery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="pistachio_lying_")
        cls.binary = Path(cls.folder.name) / "pistachio"
        cls.binary.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{LYING_ENGINE}" "$@"\n')
        cls.binary.chmod(cls.binary.stat().st_mode | stat.S_IXUSR)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def reduce(self, sql):
        small = reduce_case(sql, TABLES, binary=self.binary)
        self.assertIsNotNone(small)
        script, verdict = small
        return script.rstrip(";\n").split(";\n"), verdict

    def test_wrong_rows(self):
        statements, verdict = self.reduce("""
            WITH w(a, b) AS (SELECT k, count(*) FROM u GROUP BY k HAVING count(*) > 0)
            SELECT * FROM (
              SELECT r.k + 1, upper(r.c) || '!', w.b FROM t r LEFT JOIN w ON w.a = r.k AND w.b < 10
              WHERE (r.k < 100 OR r.k IS NULL) AND EXISTS (SELECT 1 FROM u WHERE u.k = r.k OR r.d > DATE '2000-01-01')
            ) s(x0, x1, x2) ORDER BY 1, 2, 3 LIMIT 3""")
        self.assertEqual(verdict.kind, "rows")
        # One table with one row and one column, and little more than the call in the query.
        self.assertEqual([text.split("(")[0] for text in statements[:-1]], ["CREATE TABLE t", "INSERT INTO t VALUES "])
        self.assertEqual(statements[0], "CREATE TABLE t(c VARCHAR)")
        self.assertEqual(statements[1].count("("), 1)
        self.assertIn("upper", statements[-1])
        self.assertLessEqual(sql_tree.weight(sql_tree.parse(statements[-1])), 20, statements[-1])

    def test_end_of_the_process(self):
        statements, verdict = self.reduce("SELECT c, max(d) FROM t WHERE k IN (SELECT k FROM u WHERE x > 0) AND (c ILIKE 'a%' OR c = 'ben') GROUP BY c")
        self.assertEqual(verdict.kind, "died")
        self.assertLessEqual(sql_tree.weight(sql_tree.parse(statements[-1])), 12, statements[-1])

    def test_error_on_one_side(self):
        statements, verdict = self.reduce("SELECT t.k, sum(sqrt(abs(x))) FROM t JOIN u ON t.k = u.k GROUP BY t.k UNION ALL SELECT 1, 2.5 FROM u")
        self.assertEqual((verdict.kind, verdict.text), ("error", "there is no function sqrt"))
        self.assertEqual(statements, ["SELECT sqrt (NULL)"])

    def test_no_difference(self):
        self.assertIsNone(reduce_case("SELECT lower(c) FROM t", TABLES, binary=self.binary))

    def test_hanging_engine_is_killed(self):
        with PistachioSession(folder=self.folder.name, binary=self.binary, watchdog_seconds=3) as session:
            with self.assertRaises(EngineDied):
                session.run("SELECT repeat('a', 3)")
            session.watchdog_seconds = 300
            self.assertEqual(session.run("SELECT 1 AS a").csv, "a\n1\n")


class SqlTree(unittest.TestCase):
    def test_text_round_trips(self):
        sql = "SELECT a . b , 'it''s (' || x::VARCHAR FROM (SELECT 1.5e3 , f (2 , (3))) r WHERE x >= - 4"
        self.assertEqual(sql_tree.text_of(sql_tree.parse(sql)), sql.replace("::", " :: "))

    def test_column_of_a_set_operation(self):
        tree = sql_tree.parse("(SELECT a, f(b, c), d FROM t) UNION (SELECT 1, 2, 3)")
        self.assertEqual(sql_tree.text_of(sql_tree.without_column(tree, 1)), "(SELECT a , d FROM t) UNION (SELECT 1 , 3)")
        self.assertIsNone(sql_tree.without_column(tree, 3))


if __name__ == "__main__":
    unittest.main()
