"""A bounded number of random joins against nested loops in Python; compare_joins.py runs any number.

The rounds change daily; JOIN_ROUND runs the single round that a failure names, JOIN_ROUNDS changes their number."""

import os
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.joins.compare_joins import JoinComparison
from tests.joins.join_generator import Round
from tests.joins.key_types import BY_NAME, Interval, comparable
from tests.joins.naive_join import compare, conjunction, disjunction, join

STATEMENTS_OF_A_ROUND = 12
FIRST_ROUND = int(os.environ.get("JOIN_ROUND", time.time_ns() // (86_400 * 10**9) * 1000))
ROUNDS = 1 if "JOIN_ROUND" in os.environ else int(os.environ.get("JOIN_ROUNDS", "40"))
ROUNDS_ON_RANKS = min(ROUNDS, 12)


class RandomJoins(unittest.TestCase):
    def check(self, count, most_rows, *settings, **session_options):
        print(f"rounds {FIRST_ROUND} to {FIRST_ROUND + count - 1}", flush=True)
        options = [word for setting in settings for word in ("-s", setting)]
        with JoinComparison(*options, **session_options) as comparison:
            for seed in range(FIRST_ROUND, FIRST_ROUND + count):
                self.assertEqual("\n".join(comparison.run_round(seed, STATEMENTS_OF_A_ROUND, most_rows)), "")

    def test_default_settings(self):
        self.check(ROUNDS, 3000)

    def test_chunks_of_seven_rows_with_join_filters(self):
        # Scans of small tables use join filters only if tables are spread.
        self.check(ROUNDS, 200, "chunk_rows=7", "spread_tables=on")

    def test_three_ranks(self):
        self.check(ROUNDS_ON_RANKS, 500, "spread_tables=on", "chunk_rows=64", ranks=3)


class Judge(unittest.TestCase):
    """The reference itself."""

    def equal(self, left, left_type, right, right_type):
        types = BY_NAME[left_type], BY_NAME[right_type]
        return compare("=", comparable(left, *types), comparable(right, *reversed(types)))

    def test_values_are_equal_as_in_postgresql(self):
        nan = float("nan")
        self.assertTrue(self.equal(nan, "double precision", nan, "real"))
        self.assertTrue(self.equal(0.0, "real", -0.0, "double precision"))
        self.assertTrue(self.equal(Interval(1, 0, 0), "interval", Interval(0, 30, 0), "interval"))
        self.assertTrue(self.equal(2**53 + 1, "bigint", 2.0**53, "double precision"))
        self.assertFalse(self.equal(2**53 + 1, "bigint", 2**53, "bigint"))
        self.assertIsNone(self.equal(None, "integer", 1, "integer"))
        self.assertTrue(compare("<", comparable(float("inf"), *[BY_NAME["real"]] * 2), comparable(nan, *[BY_NAME["real"]] * 2)))

    def test_unknown_in_connectives(self):
        self.assertIsNone(conjunction([True, None]))
        self.assertFalse(conjunction([None, False]))
        self.assertIsNone(disjunction([False, None]))
        self.assertTrue(disjunction([None, True]))
        self.assertTrue(conjunction([]))
        self.assertFalse(disjunction([]))

    def test_unmatched_rows_of_outer_joins(self):
        left, right = [{"l": 1}, {"l": 2}], [{"r": 2}, {"r": 3}]

        def match(rows):
            return [place for place, other in enumerate(right) if other["r"] == rows["l"]]
        both = {"l": 2, "r": 2}
        self.assertEqual(join("INNER", left, right, match), [both])
        self.assertEqual(join("LEFT", left, right, match), [{"l": 1, "r": None}, both])
        self.assertEqual(join("RIGHT", left, right, match), [both, {"l": None, "r": 3}])
        self.assertEqual(join("FULL", left, right, match), [{"l": 1, "r": None}, both, {"l": None, "r": 3}])

    def test_seed_decides_everything(self):
        first, second = Round(7), Round(7)
        self.assertEqual([first.statement().sql for _ in range(5)], [second.statement().sql for _ in range(5)])

    def test_wrong_results_are_found(self):
        with JoinComparison() as comparison:
            made = Round(11)
            comparison.make_tables(made, in_files=False)
            statement = next(one for one in iter(made.two_tables, None) if one.rows)
            self.assertIsNone(comparison.difference(statement))
            row = next(iter(statement.rows))
            statement.rows[row] += 1
            self.assertIn("missing", comparison.difference(statement))
            statement.rows[row] -= 2
            self.assertIn("too many", comparison.difference(statement))


if __name__ == "__main__":
    unittest.main()
