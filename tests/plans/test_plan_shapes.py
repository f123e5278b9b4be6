"""The plans of the TPC-H queries, compared with the stored ones.

After an intended change, store them again with `tests/plans/test_plan_shapes.py --update`; the change then shows the difference."""

import difflib
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.plans.plan_text import explain, shape_of
from tests.support.pistachio_session import PistachioSession
from tests.tpch import tpch_queries
from tools.tpch_data import ensure_tpch

FOLDER = Path(__file__).resolve().parent
SCALE = "0.01"
# Exchange placement weighs bytes against the measured link bandwidth: without the measurement it is the same on every machine.
ON_RANKS = ["-s", "calibrate_links=off"]
# Folder: (queries, session options, ranks). The queries on ranks cover grouping on one rank and on all, outer joins, CTEs, large groups,
# subqueries.
SNAPSHOTS = {
    "tpch": (tpch_queries.NUMBERS, [], None),
    "tpch_on_3_ranks": ((1, 3, 5, 13, 15, 18, 21), ON_RANKS, 3),
    "tpch_on_3_ranks_repartitioned": ((3, 9, 13, 18), ON_RANKS + ["-s", "join_distribution=repartition"], 3),
}


class PlanShapes(unittest.TestCase):
    update = False

    def check(self, folder):
        numbers, options, ranks = SNAPSHOTS[folder]
        with PistachioSession(*options, folder=ensure_tpch(SCALE), ranks=ranks) as session:
            for number in numbers:
                with self.subTest(query=number):
                    self.compare(FOLDER / folder / f"q{number:02}.txt", explain(session, tpch_queries.query_text(number)))
        stored = {path.name for path in (FOLDER / folder).iterdir()}
        self.assertEqual(stored, {f"q{number:02}.txt" for number in numbers}, "a plan without a query, or the other way round")

    def compare(self, path, plan):
        if self.update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(plan, encoding="utf-8")
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        if plan != expected:
            changes = difflib.unified_diff(expected.splitlines(keepends=True), plan.splitlines(keepends=True), f"stored {path.name}", "planned now")
            self.fail(f"the plan changed; if that is right, run tests/plans/test_plan_shapes.py --update\n{''.join(changes)}")

    def test_one_process(self):
        self.check("tpch")

    def test_three_ranks(self):
        self.check("tpch_on_3_ranks")

    def test_three_ranks_that_repartition(self):
        self.check("tpch_on_3_ranks_repartitioned")


class PlanText(unittest.TestCase):
    def test_estimates_and_column_numbers_are_left_out(self):
        lines = ["inner hash join  (rows ~12)", "    keys: a#7 = a#3", "  scan t  (rows ~5)", "      columns: a#7", "  filter  (rows ~2)", "      conditions: (a#3 > 1)",
                 "    scan u  (rows ~9)"]
        self.assertEqual(shape_of(lines), ["inner hash join", "    keys: a = a.2", "  probe: scan t", "      columns: a", "  build: filter", "      conditions: (a.2 > 1)",
                                           "    scan u"])


if __name__ == "__main__":
    if "--update" in sys.argv:
        sys.argv.remove("--update")
        PlanShapes.update = True
    unittest.main()
