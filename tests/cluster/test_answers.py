"""A bounded number of queries on clusters of processes against DuckDB; compare_variants.py and compare_random_queries.py run more with --ranks."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.oracle.compare_random_queries import run_seed
from tests.support import duckdb_oracle
from tests.support.pistachio_session import PistachioSession
from tests.tpch.compare_variants import compare, variant_texts
from tools.tpch_data import ensure_tpch

SCALE = "0.01"
QUERIES_OF_A_SEED = 40


class Answers(unittest.TestCase):
    def test_tpch_on_three_ranks(self):
        folder = ensure_tpch(SCALE)
        with PistachioSession(folder=folder, ranks=3) as session:
            comparison = compare(variant_texts(0, 0, SCALE), duckdb_oracle.connect(folder), session)
        self.assertEqual(comparison.problems, [])
        self.assertGreater(comparison.rows, 0)

    def test_random_queries_on_two_ranks(self):
        self.assertEqual(run_seed(202, QUERIES_OF_A_SEED, ["-s", "spread_tables=on"], ranks=2), [])

    def test_random_queries_on_three_ranks_in_small_chunks(self):
        self.assertEqual(run_seed(304, QUERIES_OF_A_SEED, ["-s", "spread_tables=on", "-s", "chunk_rows=7"], ranks=3), [])


if __name__ == "__main__":
    unittest.main()
