"""A rank is killed, stopped or asked to end: all queries end with one error that names the rank, and rank 0 stays usable."""

import os
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support.pistachio_cluster import PistachioCluster, is_running, wait_until
from tests.support.pistachio_session import StatementFailed
from tools.tpch_data import ensure_tpch

# Some 700 million pairs: minutes, unless something ends it.
ENDLESS = "SELECT count(*) FROM lineitem a, lineitem b WHERE a.l_linenumber = b.l_linenumber AND a.l_comment || b.l_shipmode < b.l_comment"
SHORT = "SELECT count(*) FROM lineitem, orders WHERE l_orderkey = o_orderkey"
RANKS = 3
OPTIONS = ("-s", "peer_timeout=2s")


class LostRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ensure_tpch("0.01")

    def cluster(self, *options):
        return PistachioCluster(RANKS, *OPTIONS, *options, folder=self.folder)

    def check_loss(self, number, rank=2):
        """Returns the error of the running statement."""
        with self.cluster() as cluster:
            self.assertEqual(cluster.run(SHORT).csv, "count\n60175\n")
            statement = cluster.begin(ENDLESS)
            time.sleep(0.3)
            cluster.signal(rank, number)
            error = statement.wait()
            self.assertRegex(error, rf"^[^\n]*rank {rank} \(host \S+, process {cluster.ranks[rank]}\)[^\n]*$")
            # The next statement reports it at once, and statements that need no other rank work.
            with self.assertRaisesRegex(StatementFailed, f"rank {rank} is lost, .*process {cluster.ranks[rank]}.*start the cluster again"):
                cluster.run(SHORT)
            self.assertEqual(cluster.run("SELECT 6 * 7 AS a").csv, "a\n42\n")
            self.assertEqual(cluster.run("SHOW peer_timeout").csv, "peer_timeout\n2s\n")
            if number == signal.SIGSTOP:
                # The others have given it up, and it has given up the others.
                cluster.signal(rank, signal.SIGCONT)
                wait_until(lambda: not is_running(cluster.ranks[rank]), "the end of the rank that goes on")
            return error

    def test_a_killed_rank(self):
        self.assertIn("was ended by signal 9", self.check_loss(signal.SIGKILL))

    def test_a_stopped_rank(self):
        self.assertIn("has sent nothing for", self.check_loss(signal.SIGSTOP, rank=1))

    def test_terminated_rank(self):
        self.check_loss(signal.SIGTERM)

    def test_rank_lost_between_statements(self):
        with self.cluster() as cluster:
            cluster.run(SHORT)
            cluster.signal(1, signal.SIGKILL)
            wait_until(lambda: not is_running(cluster.ranks[1]), "the end of rank 1")
            with self.assertRaisesRegex(StatementFailed, f"rank 1 .*process {cluster.ranks[1]}"):
                cluster.run(SHORT)

    def test_all_ranks_end_when_rank_0_is_killed(self):
        with self.cluster() as cluster:
            statement = cluster.begin(ENDLESS)
            time.sleep(0.3)
            cluster.signal(2, signal.SIGSTOP)
            os.kill(cluster.process.pid, signal.SIGKILL)
            wait_until(lambda: not any(is_running(pid) for pid in cluster.ranks.values()), "the end of all ranks", seconds=60)
            statement.join()

    def test_all_ranks_end_when_rank_0_ends(self):
        with self.cluster() as cluster:
            cluster.run(SHORT)
            cluster.signal(1, signal.SIGSTOP)
            cluster.process.stdin.close()
            cluster.process.stdin = None
            self.assertEqual(cluster.process.wait(60), 0)
            self.assertEqual([pid for pid in cluster.ranks.values() if is_running(pid)], [])


if __name__ == "__main__":
    unittest.main()
