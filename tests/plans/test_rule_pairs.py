"""Every optimizer rule has its documented effect on a plan and changes no result. A rule without an example in rule_pairs.py is a
failure."""

import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.plans.plan_text import explain
from tests.plans.rule_pairs import PAIRS, REQUIRED
from tests.support import duckdb_oracle
from tests.support.pistachio_session import PistachioSession
from tools.tpch_data import ensure_tpch

SCALE = "0.01"


class RulePairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        data = ensure_tpch(SCALE)
        cls.session = PistachioSession(folder=data)
        cls.addClassCleanup(cls.session.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        for p in range(300):
            partition = Path(folder.name) / f"p={p}"
            partition.mkdir()
            (partition / "nation.parquet").symlink_to(data / "nation.parquet")
        cls.session.run(f"CREATE VIEW nations_in_300_partitions AS SELECT * FROM '{folder.name}'")

    def rows(self, sql):
        return duckdb_oracle.parse_csv(self.session.run(sql).csv)

    def plan_and_rows(self, sql, disabled):
        self.session.run(f"SET disabled_rules = '{','.join(disabled)}'")
        plan, rows = explain(self.session, sql), self.rows(sql)
        self.session.run("SET disabled_rules = ''")
        return plan, rows if "ORDER BY" in sql else Counter(rows)

    def test_every_rule_has_an_example(self):
        rules = self.rows("SHOW rules")
        self.assertEqual({name for name, use, _ in rules if use != "always"}, {pair.rule for pair in PAIRS})
        self.assertEqual({name for name, use, _ in rules if use == "always"}, {pair.rule for pair in REQUIRED})

    def test_optional_rules(self):
        for pair in PAIRS:
            with self.subTest(rule=pair.rule, sql=pair.sql):
                without, rows_without = self.plan_and_rows(pair.sql, (pair.rule, *pair.also_disabled))
                planned, rows_with = self.plan_and_rows(pair.sql, pair.also_disabled)
                lines_without, lines_with = ({line.strip() for line in plan.splitlines()} for plan in (without, planned))
                shown = f"\nwithout the rule:\n{without}\nwith it:\n{planned}"
                self.assertNotEqual(without, planned)
                self.assertLessEqual(set(pair.only_without), lines_without - lines_with, shown)
                self.assertLessEqual(set(pair.only_with), lines_with - lines_without, shown)
                self.assertEqual(rows_without, rows_with)
                self.assertTrue(rows_with)

    def test_required_rules(self):
        for required in REQUIRED:
            with self.subTest(rule=required.rule, sql=required.sql):
                plan, rows = self.plan_and_rows(required.sql, ())
                self.assertLessEqual(set(required.lines), {line.strip() for line in plan.splitlines()}, f"\n{plan}")
                self.assertEqual(rows, Counter(self.rows(required.equivalent)))
                self.assertTrue(rows)

    def test_required_rules_ignore_the_setting(self):
        for required in REQUIRED:
            with self.subTest(rule=required.rule):
                self.assertEqual(self.plan_and_rows(required.sql, (required.rule,)), self.plan_and_rows(required.sql, ()))


if __name__ == "__main__":
    unittest.main()
