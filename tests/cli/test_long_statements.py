"""Statements as long as programs write them: chains and nestings of every kind end in an answer or in an error that names the limit."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio

# How a statement with so many terms is written, and the only column of its first row, where there is one.
ANSWERED = {
    "union all": (10_000, lambda n: f"SELECT count(*) FROM ({' UNION ALL '.join(['SELECT 1 AS a'] * n)})", lambda n: n),
    "union": (10_000, lambda n: f"SELECT count(*) FROM ({' UNION '.join(f'SELECT {i % 10} AS a' for i in range(n))})", lambda n: 10),
    "intersect": (4_000, lambda n: " INTERSECT ".join(["SELECT 7"] * n), lambda n: 7),
    "except": (4_000, lambda n: "SELECT 7" + "".join(f" EXCEPT SELECT {i + 8}" for i in range(n)), lambda n: 7),
    "except all": (1_000, lambda n: f"SELECT count(*) FROM (SELECT 7 UNION ALL SELECT 7 UNION ALL SELECT 8) a(x), (SELECT 1{' EXCEPT ALL SELECT 2' * n})", lambda n: 3),
    "and": (20_000, lambda n: f"SELECT {' AND '.join(f'a <> {i + 5}' for i in range(n))} FROM (VALUES (1)) v(a)", lambda n: "true"),
    "or": (20_000, lambda n: f"SELECT count(*) FROM (VALUES (1)) v(a) WHERE {' OR '.join(f'a = {i}' for i in range(n))}", lambda n: 1),
    "arithmetic": (1_000, lambda n: f"SELECT {' + '.join(['1'] * n)}", lambda n: n),
    "concatenation": (1_000, lambda n: f"SELECT length({' || '.join([chr(39) + 'x' + chr(39)] * n)})", lambda n: n),
    "case": (2_000, lambda n: f"SELECT CASE {' '.join(f'WHEN a = {i + 2} THEN {i}' for i in range(n))} ELSE 7 END FROM (VALUES (1)) v(a)", lambda n: 7),
    "in list": (50_000, lambda n: f"SELECT count(*) FROM (VALUES (1), (-1)) v(a) WHERE a IN ({', '.join(map(str, range(n)))})", lambda n: 1),
    "values": (50_000, lambda n: f"SELECT sum(a) FROM (VALUES {', '.join(f'({i})' for i in range(n))}) v(a)", lambda n: n * (n - 1) // 2),
    "columns": (2_000, lambda n: f"SELECT {', '.join(f'{i} AS c{i}' for i in range(n))}", lambda n: 0),
    "common tables": (200, lambda n: "WITH t0 AS (SELECT 1 AS a)" + "".join(f", t{i + 1} AS (SELECT a + 1 AS a FROM t{i})" for i in range(n)) + f" SELECT a FROM t{n}", lambda n: n + 1),
    "subqueries": (100, lambda n: "SELECT a FROM " + "(SELECT a FROM " * n + "(VALUES (3)) v(a)" + ")" * n, lambda n: 3),
    "joins": (60, lambda n: f"SELECT count(*) FROM (VALUES (1)) t0(a) {' '.join(f'JOIN (VALUES (1)) t{i}(a) ON t{i}.a = t{i - 1}.a' for i in range(1, n))}", lambda n: 1),
}
# Far more than anyone writes: whatever comes, it is no crash and no internal error.
ENDURED = {
    "mixed set operations": lambda: "SELECT 1" + " UNION SELECT 2 EXCEPT SELECT 3" * 3_000,
    "arithmetic": lambda: "SELECT " + " + ".join(["1"] * 20_000),
    "concatenation": lambda: "SELECT length(" + " || ".join(["'x'"] * 20_000) + ")",
    "parentheses": lambda: "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "not": lambda: "SELECT " + "NOT " * 20_000 + "true",
    "minus": lambda: "SELECT " + "- " * 20_000 + "1",
    "subqueries": lambda: "SELECT " + "(SELECT " * 800 + "1" + ")" * 800,
    "subqueries in from": lambda: "SELECT * FROM " + "(SELECT * FROM " * 900 + "(SELECT 1)" + ")" * 900,
    "common tables": lambda: "WITH t0 AS (SELECT 1 AS a)" + "".join(f", t{i + 1} AS (SELECT a FROM t{i})" for i in range(3_000)) + " SELECT a FROM t3000",
}


class LongStatements(unittest.TestCase):
    def run_script(self, sql, *words):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "statement.sql"
            script.write_text(sql, encoding="utf-8")
            return pistachio.run(*words, "-f", script, "--format", "csv")


def make_answered(count, write, answer, words):
    def test(self):
        done = self.run_script(write(count), *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines()[1].split(",")[0], str(answer(count)))
    return test


def make_endured(write):
    def test(self):
        done = self.run_script(write())
        self.assertIn(done.returncode, (0, 1), done.stderr[-300:])
        self.assertNotIn("internal", done.stderr)
        if done.returncode == 1:
            self.assertRegex(done.stderr, r"more than|at most|too (deep|long|many)|limit|deeper")
    return test


for kind, (terms, writer, expected) in ANSWERED.items():
    setattr(LongStatements, f"test_{kind.replace(' ', '_')}", make_answered(terms, writer, expected, ()))
for kind, writer in ENDURED.items():
    setattr(LongStatements, f"test_endless_{kind.replace(' ', '_')}", make_endured(writer))

if __name__ == "__main__":
    unittest.main()
