"""Suites of `scripts/bench` on tiny data: every query runs and agrees with DuckDB, and a wrong answer is noticed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import duckdb_oracle, pistachio_process  # noqa: E402
from tools.bench import suite_against_duckdb  # noqa: E402
from tools.bench.suite_answers import ExpectedRows, split_tail  # noqa: E402
from tools.bench.suites import tpcds  # noqa: E402
from tools.bench.suites.query_suite import Query  # noqa: E402


# The short round runs one suite, another one each day.
SAMPLE = os.environ.get("TEST_QUERY_SAMPLE")
NAMES = ("tpcds", "h2o", "clickbench", "shapes")


class Suites(unittest.TestCase):
    def check(self, name, queries, *words):
        if SAMPLE and NAMES[int(SAMPLE) % len(NAMES)] != name:
            self.skipTest("not today's suite")
        with tempfile.TemporaryDirectory() as folder:
            figures = Path(folder) / "figures.json"
            command = [sys.executable, ROOT / "tools/bench/suite_against_duckdb.py", name, "--repeat", "1", "--json", figures, *words]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=pistachio_process.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            report = json.loads(figures.read_text())
        self.assertEqual(len(report["cases"]), queries)
        self.assertGreater(report["ratio"]["geomean"], 0)
        self.assertGreater(report["cpu_ratio"]["worst"], 0)

    def test_tpcds(self):
        try:
            tpcds.install_generator()
        except SystemExit as problem:
            self.skipTest(f"no TPC-DS generator: {problem}")
        self.check("tpcds", 99, "--sf", "0.01")

    def test_h2o(self):
        self.check("h2o", 15, "--rows", "200000")

    def test_clickbench(self):
        self.check("clickbench", 43, "--rows", "20000")

    def test_shapes(self):
        self.check("shapes", 45, "--rows", "50000")


class FakeEngine:
    """Gives every statement the same answer."""

    def __init__(self, csv):
        self.csv = csv

    def run(self, _):
        return SimpleNamespace(csv=self.csv)


class WrongAnswers(unittest.TestCase):
    VALUES = "SELECT * FROM (VALUES (1, 'a', 0.5::DOUBLE), (2, 'b', 1.5), (2, 'c', 2.5), (2, 'c', 2.5), (3, NULL, 3.5)) AS t(k, s, d)"

    def problem(self, tail, csv):
        return suite_against_duckdb.problem_of(Query("q", f"{self.VALUES} {tail}"), FakeEngine(f"k,s,d\n{csv}"), duckdb_oracle.connect())

    def test_rows_may_come_in_any_order_without_order_by(self):
        self.assertIsNone(self.problem("", "3,,3.5\n2,b,1.5\n2,c,2.5\n1,a,0.5\n2,c,2.5\n"))

    def test_changed_missing_and_repeated_rows_differ(self):
        for rows in ("3,,3.5\n2,b,1.5\n2,c,2.5\n1,a,0.5\n2,c,2.6\n", "3,,3.5\n2,b,1.5\n2,c,2.5\n1,a,0.5\n", "3,,3.5\n2,b,1.5\n2,b,1.5\n1,a,0.5\n2,c,2.5\n"):
            self.assertIn("differs", self.problem("", rows))

    def test_limit_keeps_any_of_equal_keys(self):
        for rows in ("1,a,0.5\n2,b,1.5\n", "1,a,0.5\n2,c,2.5\n"):
            self.assertIsNone(self.problem("ORDER BY k LIMIT 2", rows))
        self.assertIsNone(self.problem("ORDER BY k LIMIT 2 OFFSET 1", "2,c,2.5\n2,c,2.5\n"))

    def test_limit_keeps_only_rows_of_the_result(self):
        for rows in ("1,a,0.5\n2,d,1.5\n", "1,a,0.5\n3,,3.5\n", "2,b,1.5\n1,a,0.5\n"):
            self.assertIn("differs", self.problem("ORDER BY k LIMIT 2", rows))
        self.assertIn("differs", self.problem("ORDER BY k LIMIT 2 OFFSET 1", "2,b,1.5\n2,b,1.5\n"))

    def test_tail_ignores_what_is_nested(self):
        sql = "SELECT a, row_number() OVER (ORDER BY b) FROM (SELECT * FROM t ORDER BY a LIMIT 3) -- limit 5\nWHERE s = ' LIMIT 4' order by 1 DESC, lower(b), a NULLS FIRST limit 7;"
        unlimited, keys, limit, offset = split_tail(sql)
        self.assertEqual(([key.strip() for key in keys], limit, offset), (["1 DESC", "lower(b)", "a NULLS FIRST"], 7, 0))
        self.assertTrue(unlimited.endswith("a NULLS FIRST"))
        self.assertEqual(ExpectedRows(duckdb_oracle.connect(), "SELECT 1 AS a, 'x' AS b ORDER BY 1 DESC, lower(b), a LIMIT 7").keys, [0])


if __name__ == "__main__":
    unittest.main()
