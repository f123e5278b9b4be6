"""A few of the runs of fault_matrix.py, which makes any number of them."""

import os
import random
import sys
import time
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.cluster.fault_matrix import ON_PATH_POINTS, QUERY, FaultPoints, fault_in_query, on_path_faults
from tests.support.pistachio_session import PistachioSession
from tools.tpch_data import ensure_tpch

RANKS = 3
FAULTS = ("block_packed:2:1=cut", "rows_sent:1:1=kill", "rows_received:2:1=stop", "end_received:1:1=nomemory", "aggregate_merge:2:1=nomemory",
          "build_collected:0:1=nospace", "build_finished:2:1=nospace", "rows_unpacked:1:2=delay", "plan_sent:0:2=nomemory", "finished_sent:1:1=nomemory",
          "stage_begun:0:1=kill")
# The short round takes other ones each day.
ON_PATH_SAMPLE = 4 if os.environ.get("TEST_QUERY_SAMPLE") else 24
ON_PATH_ACTIONS = ("kill", "nomemory", "cut", "delay")


class FaultMatrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ensure_tpch("0.1")
        with PistachioSession(folder=cls.folder) as alone:
            cls.expected = alone.run(QUERY).csv

    def test_faults_at_points_of_a_query(self):
        outcomes = FaultPoints(RANKS, self.folder, self.expected).check_all(FAULTS)
        self.assertEqual({fault: outcome for fault, outcome in outcomes.items() if outcome.is_wrong}, {})
        # The faults were reached.
        kinds = Counter(outcome.kind for outcome in outcomes.values())
        self.assertEqual((kinds["run again"], kinds["lacked"], kinds["ended"]), (3, 6, 1), outcomes)

    def test_faults_while_rows_are_merged_on_their_way(self):
        day = time.time_ns() // (86_400 * 10**9)
        randomness = random.Random(day)
        faults = []
        for number in range(ON_PATH_SAMPLE):
            action = ON_PATH_ACTIONS[number % len(ON_PATH_ACTIONS)]
            rank = randomness.randrange(0 if action in ("nomemory", "delay") else 1, 4)
            faults.append(f"{randomness.choice(ON_PATH_POINTS)}:{rank}:{randomness.choice((1, 2))}={action}")
        outcomes = on_path_faults(self.folder).check_all(faults)
        self.assertEqual({fault: outcome for fault, outcome in outcomes.items() if outcome.is_wrong}, {}, f"day {day}")
        self.assertLessEqual({"run again", "lacked"}, {outcome.kind for outcome in outcomes.values()}, outcomes)

    def test_rank_lost_at_random_without_restarts(self):
        seed = random.randrange(1000)
        title, outcome = fault_in_query(random.Random(seed), RANKS, self.folder, self.expected, seconds=1)
        self.assertFalse(outcome.is_wrong, f"seed {seed}, {title}: {outcome}")


if __name__ == "__main__":
    unittest.main()
