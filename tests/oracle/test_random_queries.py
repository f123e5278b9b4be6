"""A bounded number of random queries against DuckDB; compare_random_queries.py runs as many as wanted."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.oracle.compare_random_queries import run_seed


class RandomQueries(unittest.TestCase):
    def test_agree_with_duckdb(self):
        for seed in range(25):
            with self.subTest(seed=seed):
                self.assertEqual(run_seed(seed, 20, []), [])

    def test_agree_in_small_chunks(self):
        for seed in range(25, 32):
            with self.subTest(seed=seed):
                self.assertEqual(run_seed(seed, 20, ["-s", "chunk_rows=7", "-s", "threads=3"]), [])

    def test_agree_without_optimizer(self):
        for seed in range(32, 38):
            with self.subTest(seed=seed):
                self.assertEqual(run_seed(seed, 20, ["-s", "disabled_rules=all"]), [])


if __name__ == "__main__":
    unittest.main()
