"""All joins of the matrix under settings that choose other code: tiny chunks, spilling, composite kernels, both distributions over ranks.
JOIN_CASE runs the single case that a failure names."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.joins.compare_joins import JoinComparison
from tests.joins.covering_array import all_pairs, covering_array
from tests.joins.join_matrix import FACTORS, LARGER, MatrixCase, matrix, table_rows, wanted_combinations, write_tables


# The short round runs half of the joins under each setting, the others the next day.
SAMPLE = os.environ.get("TEST_QUERY_SAMPLE")


class JoinMatrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="pistachio_matrix_"))
        cls.cases = list(enumerate(matrix()))
        if SAMPLE:
            cls.cases = cls.cases[int(SAMPLE) % 2::2]
        if "JOIN_CASE" in os.environ:
            cls.cases = [list(enumerate(matrix()))[int(os.environ["JOIN_CASE"])]]
        write_tables(cls.folder, [case for _, case in cls.cases])

    def check(self, *settings, ranks=None):
        options = [word for setting in settings for word in ("-s", setting)]
        with JoinComparison(*options, ranks=ranks, folder=self.folder) as comparison:
            problems = [f"case {number}: {problem}\n    {case.sql}" for number, case in self.cases if (problem := comparison.difference(case))]
        self.assertEqual("\n".join(problems[:5]), "", f"{len(problems)} of {len(self.cases)} joins differ")

    def test_several_chunks(self):
        self.check("chunk_rows=64")

    def test_chunks_of_seven_rows(self):
        self.check("chunk_rows=7", "spread_tables=on")

    def test_composite_kernels(self):
        self.check("chunk_rows=64", "composite_kernels=on")

    def test_forced_spilling(self):
        self.check("chunk_rows=50", "spill=always", "threads=2")

    def test_broadcast_over_three_ranks(self):
        self.check("chunk_rows=64", "spread_tables=on", "join_distribution=broadcast", ranks=3)

    def test_repartition_over_three_ranks(self):
        self.check("chunk_rows=64", "spread_tables=on", "join_distribution=repartition", ranks=3)


class Coverage(unittest.TestCase):
    def test_every_pair_of_values_is_covered(self):
        cases = [{(name, getattr(case, name)) for name in FACTORS} for case in matrix()]
        for part in list(all_pairs(FACTORS)) + list(wanted_combinations()):
            self.assertTrue(any(set(part.items()) <= case for case in cases), part)

    def test_arrays_are_small_and_always_the_same(self):
        factors = {"a": (1, 2, 3), "b": (1, 2, 3), "c": (1, 2, 3), "d": (1, 2)}
        rows = covering_array(factors, all_pairs(factors))
        self.assertLessEqual(len(rows), 12)
        self.assertEqual(rows, covering_array(factors, all_pairs(factors)))
        self.assertEqual(covering_array(factors, [{"a": 2, "d": 1}])[0]["a"], 2)

    def test_tables_have_what_their_names_say(self):
        for size in LARGER:
            keys = [row.keys[0] for row in table_rows("l", "double", "never", size)]
            self.assertTrue(any(key != key for key in keys) and any(str(key) == "-0.0" for key in keys))
            self.assertEqual({row.keys for row in table_rows("r", "two_columns", "always", size)}, {(None, None)})
            some = [row.keys[0] is None for row in table_rows("r", "boolean", "sometimes", size)]
            self.assertTrue(any(some) and not all(some))

    def test_most_joins_have_rows(self):
        empty = sum(not case.rows for case in matrix() if {case.left_size, case.right_size} <= set(LARGER) and "always" not in (case.left_nulls, case.right_nulls))
        self.assertLess(empty, 20)


class Judge(unittest.TestCase):
    def expected(self, form, **more):
        values = {"key": "integer", "left_size": "few", "right_size": "few", "left_nulls": "sometimes", "right_nulls": "sometimes", "residual": False, "place": "where"}
        return MatrixCase(form=form, **(values | more)).rows

    def test_rows_of_related_joins_add_up(self):
        for residual in (False, True):
            rows = {form: self.expected(form, residual=residual) for form in FACTORS["form"]}
            self.assertEqual(rows["SEMI"] + rows["ANTI"], rows["EXISTS"] + rows["NOT EXISTS"])
            self.assertEqual(rows["SEMI"], rows["IN"])
            self.assertEqual(rows["= ANY"], rows["IN"])
            self.assertEqual(rows["FULL"], rows["LEFT"] | rows["RIGHT"])
            self.assertEqual(rows["INNER"], rows["LEFT"] & rows["RIGHT"])
            self.assertEqual(rows["LATERAL"], rows["INNER"])
            self.assertLess(rows["NOT IN"], rows["ANTI"])
        self.assertEqual(self.expected("CROSS").total(), 49)

    def test_wrong_rows_are_found(self):
        case = MatrixCase("FULL", "date", "many", "few", "sometimes", "never", True, "where")
        with tempfile.TemporaryDirectory(prefix="pistachio_matrix_") as folder:
            write_tables(folder, [case])
            with JoinComparison(folder=folder) as comparison:
                self.assertIsNone(comparison.difference(case))
                case.rows.subtract([next(iter(case.rows))])
                self.assertIn("too many", comparison.difference(case))


if __name__ == "__main__":
    unittest.main()
