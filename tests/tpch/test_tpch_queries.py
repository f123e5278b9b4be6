"""All 22 TPC-H queries against DuckDB on the same files, under several settings and with random parameters."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle
from tests.support.pistachio_session import PistachioSession
from tests.tpch import tpch_queries
from tests.tpch.compare_variants import compare, variant_texts
from tools.tpch_data import ensure_tpch

SCALE = os.environ.get("TPCH_SCALE", "0.01")
SEED = 22
# The short round runs every fourth query, other ones each day, under the settings that take minutes.
SAMPLE = os.environ.get("TEST_QUERY_SAMPLE")
SLOW_SETTINGS = ("optimizer off", "chunks of one row", "chunks of 7 rows", "eight threads in chunks of 64 rows")
# Filtered cross products without the missing rules: they take several times as long as all other queries together.
LEFT_TO_THE_FULL_ROUND = {"join conditions as the only optimization": (19,), "optimizer off": (12,)}
# All but push_down_filters, without which comma joins are cross products.
RULES_BESIDES_JOINS = ("inline_common_tables", "fold_constants", "order_joins", "push_down_filters_again", "choose_build_sides", "push_down_limits",
                       "prune_columns")
SETTINGS = {
    "default": [],
    "one thread": ["threads=1"],
    "two threads": ["threads=2"],
    "eight threads": ["threads=8"],
    "chunks of one row": ["chunk_rows=1"],
    "chunks of 7 rows": ["chunk_rows=7"],
    "chunks of 1024 rows": ["chunk_rows=1024"],
    "composite kernels": ["composite_kernels=on"],
    "composite kernels in chunks of 1024 rows": ["composite_kernels=on", "chunk_rows=1024", "threads=2"],
    "eight threads in chunks of 64 rows": ["threads=8", "chunk_rows=64"],
    "optimizer off": ["disabled_rules=all"],
    "join conditions as the only optimization": ["disabled_rules=" + ",".join(RULES_BESIDES_JOINS)],
    "small group tables": ["group_table_limit=3", "chunk_rows=1024", "threads=2"],
    "no order of joins": ["disabled_rules=order_joins,choose_build_sides", "chunk_rows=1024", "threads=2"],
}


class TpchQueries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ensure_tpch(SCALE)
        cls.duckdb = duckdb_oracle.connect(cls.folder)

    def check(self, texts, settings):
        options = [word for setting in settings for word in ("-s", setting)]
        with PistachioSession(*options, folder=self.folder) as session:
            comparison = compare(texts, self.duckdb, session)
        self.assertEqual(comparison.problems, [])
        self.assertGreater(comparison.rows, 0)

    def test_random_parameters(self):
        self.check(variant_texts(SEED, 2, SCALE), [])

    def test_random_parameters_in_small_chunks(self):
        self.check(variant_texts(SEED + 1, 2, SCALE), ["threads=8", "chunk_rows=64"])


def make_test(settings, numbers):
    def test(self):
        self.check(variant_texts(0, 0, SCALE, numbers), settings)
    return test


for name, own_settings in SETTINGS.items():
    # Without any rule comma joins are cross products: only queries whose products are small.
    own_numbers = (1, 4, 6, 12, 13, 14, 15, 16, 22) if name == "optimizer off" else tpch_queries.NUMBERS
    if SAMPLE:
        own_numbers = tuple(number for number in own_numbers if number not in LEFT_TO_THE_FULL_ROUND.get(name, ()))
    if SAMPLE and name in SLOW_SETTINGS:
        own_numbers = own_numbers[int(SAMPLE)::4]
    setattr(TpchQueries, "test_" + name.replace(" ", "_"), make_test(own_settings, own_numbers))


if __name__ == "__main__":
    unittest.main()
