"""A bounded number of random queries against DuckDB; compare_random_queries.py runs any number."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.oracle.compare_random_queries import run_seed


SETTINGS = {
    "default": [],
    "chunks_of_one_row": ["chunk_rows=1"],
    "chunks_of_7_rows_in_three_threads": ["chunk_rows=7", "threads=3"],
    "composite_kernels_in_small_chunks": ["composite_kernels=on", "chunk_rows=5"],
    "optimizer_off": ["disabled_rules=all"],
}
SEEDS_OF_EACH = 8
QUERIES_OF_A_SEED = 20


class RandomQueries(unittest.TestCase):
    def check(self, first_seed, settings, seeds=SEEDS_OF_EACH, **session_options):
        options = [word for setting in settings for word in ("-s", setting)]
        for seed in range(first_seed, first_seed + seeds):
            with self.subTest(seed=seed):
                self.assertEqual(run_seed(seed, QUERIES_OF_A_SEED, options, **session_options), [])

    def test_merging_on_path_between_two_hosts(self):
        self.check(500, ["spread_tables=on", "on_path=on", "on_path_arrival=on", "calibrate_links=off"], seeds=2, ranks=4, hosts=2)


def make_test(first_seed, settings):
    def test(self):
        self.check(first_seed, settings)
    return test


for number, (name, own_settings) in enumerate(SETTINGS.items()):
    setattr(RandomQueries, "test_" + name, make_test(number * SEEDS_OF_EACH, own_settings))


if __name__ == "__main__":
    unittest.main()
