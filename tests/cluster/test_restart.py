"""With restart_ranks a lost rank is restarted: statements wait for it, and one that failed because of it is retried."""

import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_cluster import PistachioCluster, children_of, environment_of, is_running, wait_until
from tests.support.pistachio_session import StatementFailed
from tests.support.started_ranks import Job, ending
from tools.tpch_data import ensure_tpch

SHORT = "SELECT count(*) FROM lineitem, orders WHERE l_orderkey = o_orderkey"
ANSWER = "count\n60175\n"
OPTIONS = ("-s", "allow_faults=on", "-s", "restart_ranks=on", "-s", "peer_timeout=2s", "-s", "calibrate_links=off")


def process_of(launcher, rank):
    """The current process of this rank, or None."""
    return next((child for child in children_of(launcher) if environment_of(child).get("RANK") == str(rank)), None)


class Restart(unittest.TestCase):
    """Each test uses another rank: five losses within a minute are a separate test."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = PistachioCluster(4, *OPTIONS, folder=ensure_tpch("0.01"))

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def check_new_process(self, rank, old):
        self.assertFalse(is_running(old))
        self.assertNotIn(process_of(self.cluster.process.pid, rank), (None, old))
        self.cluster.find_ranks()
        # All ranks take part again.
        self.assertNotIn(None, self.cluster.memory())
        result = self.cluster.run(SHORT)
        self.assertEqual((result.csv, result.notes), (ANSWER, ()))

    def test_rank_killed_between_statements(self):
        for _ in range(2):
            old = self.cluster.ranks[1]
            self.cluster.signal(1, signal.SIGKILL)
            wait_until(lambda pid=old: not is_running(pid), "the end of rank 1")
            result = self.cluster.run(SHORT)
            self.assertEqual(result.csv, ANSWER)
            self.assertEqual(len(result.notes), 1, result.notes)
            # The statement may have started before the loss was known.
            self.assertRegex(result.notes[0], rf"^rank 1 was lost \(.*process {old}.*\) and started again(; the query was run again)?$")
            self.check_new_process(1, old)

    def lose_in_statement(self, rank, action):
        old = self.cluster.ranks[rank]
        self.cluster.run(f"SET fault_at = 'stage_begun:{rank}={action}'")
        result = self.cluster.run(SHORT)
        self.cluster.run("SET fault_at = ''")
        self.assertEqual(result.csv, ANSWER)
        self.assertEqual(len(result.notes), 1, result.notes)
        self.assertRegex(result.notes[0], rf"^rank {rank} was lost \(.*process {old}.*\) and started again; the query was run again$")
        self.check_new_process(rank, old)

    def test_rank_killed_during_statement(self):
        self.lose_in_statement(2, "kill")

    def test_rank_stopped_during_statement(self):
        self.lose_in_statement(3, "stop")

    def test_without_retries_only_that_statement_fails(self):
        self.cluster.run("SET retry_queries = off")
        self.cluster.run("SET fault_at = 'tables_opened:2=kill'")
        try:
            with self.assertRaisesRegex(StatementFailed, f"process {self.cluster.ranks[2]}"):
                self.cluster.run(SHORT)
        finally:
            self.cluster.run("SET retry_queries = on")
            self.cluster.run("SET fault_at = ''")
        self.assertEqual(self.cluster.run(SHORT).csv, ANSWER)
        self.cluster.find_ranks()

    def test_setting_is_fixed_at_start(self):
        with self.assertRaisesRegex(StatementFailed, "restart_ranks is fixed when the engine starts"):
            self.cluster.run("SET restart_ranks = off")


class GivenUp(unittest.TestCase):
    def test_rank_that_keeps_dying(self):
        with PistachioCluster(2, *OPTIONS, folder=ensure_tpch("0.01")) as cluster:
            cluster.run(SHORT)
            launcher, killed = cluster.process.pid, {None}
            for _ in range(5):
                wait_until(lambda: process_of(launcher, 1) not in killed, "a new process of rank 1")
                killed.add(process_of(launcher, 1))
                for pid in killed - {None}:
                    if is_running(pid):
                        os.kill(pid, signal.SIGKILL)
            with self.assertRaisesRegex(StatementFailed, "rank 1 is lost, .*it was lost 5 times within 60 s and is given up; start the cluster again"):
                cluster.run(SHORT)
            self.assertEqual(cluster.run("SELECT 6 * 7 AS a").csv, "a\n42\n")
            self.assertIsNone(process_of(launcher, 1))


class ExitStatus(unittest.TestCase):
    def run_with_fault(self, *options):
        """UCX must print nothing, whatever a dying process leaves behind."""
        done = pistachio.run("cluster", "-n", "3", "--", "-d", ensure_tpch("0.01"), "-s", "peer_timeout=2s", "-s", "allow_faults=on", "-s", "fault_at=stage_begun:1=kill", *options,
                             "-c", SHORT, "--format", "csv")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done

    def test_retried_query(self):
        done = self.run_with_fault("-s", "restart_ranks=on")
        self.assertEqual((done.returncode, done.stdout), (0, ANSWER))
        self.assertRegex(done.stderr, r"^note: rank 1 was lost \(.*\) and started again; the query was run again\n$")

    def test_without_restarts_query_fails(self):
        done = self.run_with_fault()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^error: .*rank 1 \(host ")
        report = Path(re.search(r"the last messages of rank 0 are in (\S+)$", done.stderr.strip())[1]).read_text(encoding="utf-8")
        self.assertIn("messages of rank 0, oldest first\n", report)
        self.assertRegex(report, r"exchange 0\n  to 1: \d+ messages, .* without credit of a window of ")
        self.assertRegex(report, r"to [12]  kind 16  ")


class StartedByHand(unittest.TestCase):
    def test_rank_restarted_by_its_launcher(self):
        words = ("-s", "restart_ranks=on", "-s", "peer_timeout=2s", "--", "-d", ensure_tpch("0.01"), "-f", "-", "--format", "csv")
        with Job() as job:
            first = job.start(0, 2, *words, stdin=subprocess.PIPE)
            other = job.start(1, 2, *words)

            def answer():
                # Rows are printed before the other ranks report their end: only the next statement shows that the query is over.
                first.stdin.write(SHORT + ";\nSELECT 'over' AS state;\n")
                first.stdin.flush()
                rows = first.stdout.readline() + first.stdout.readline()
                self.assertEqual(first.stdout.readline() + first.stdout.readline(), "state\nover\n")
                return rows
            self.assertEqual(answer(), ANSWER)
            for _ in range(2):
                other.kill()
                other.wait()
                other = job.start(1, 2, *words)
                self.assertEqual(answer(), ANSWER)
            self.assertEqual(ending(first)[0], 0)
            self.assertEqual(ending(other), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
