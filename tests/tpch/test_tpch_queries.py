"""All 22 TPC-H queries against DuckDB on the same files, under several settings."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle, sql_script
from tests.tpch import tpch_queries
from tools.tpch_data import ensure_tpch

SCALE = os.environ.get("TPCH_SCALE", "0.01")
SETTINGS = {
    "default": [],
    "one thread": ["-s", "threads=1"],
    "eight threads": ["-s", "threads=8"],
    "chunks of 1024 rows": ["-s", "chunk_rows=1024"],
    "composite kernels": ["-s", "composite_kernels=on"],
    "optimizer off": ["-s", "disabled_rules=all"],
}


class TpchQueries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ensure_tpch(SCALE)
        cls.duckdb = duckdb_oracle.connect(cls.folder)
        cls.expected = {number: duckdb_oracle.rows_of(cls.duckdb, tpch_queries.query_text(number))[0] for number in range(1, 23)}

    def check(self, options, numbers=range(1, 23)):
        results = sql_script.run_statements([tpch_queries.query_text(number) for number in numbers], *options, folder=self.folder)
        for number, text in zip(numbers, results):
            with self.subTest(query=number):
                self.assertFalse(text.startswith("error: "), text)
                problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(text), self.expected[number])
                self.assertIsNone(problem, problem)


def make_test(options, numbers):
    def test(self):
        self.check(options, numbers)
    return test


for name, own_options in SETTINGS.items():
    # Without the optimizer the comma joins are products: only the queries whose products are small.
    own_numbers = (1, 4, 6, 12, 13, 14, 15, 16, 22) if name == "optimizer off" else range(1, 23)
    setattr(TpchQueries, "test_" + name.replace(" ", "_"), make_test(own_options, own_numbers))


if __name__ == "__main__":
    unittest.main()
