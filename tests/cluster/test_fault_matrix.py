"""A handful of the runs of fault_matrix.py, which makes as many as wanted."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.cluster.fault_matrix import run_seeds

SEEDS = (0, 1, 7)  # a rank is killed, killed at the start, stopped


class FaultMatrix(unittest.TestCase):
    def test_a_rank_is_lost_at_a_random_moment(self):
        counts, problems = run_seeds(SEEDS, ranks=3, scale="0.1", report=print)
        self.assertEqual(problems, [])
        self.assertEqual(counts.total(), len(SEEDS))


if __name__ == "__main__":
    unittest.main()
