"""Two hosts with two ranks each, over a real network stack: a slow or lossy link changes no result, a cut one ends the query with
an error."""

import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import network_namespaces, pistachio_process
from tests.support.network_namespaces import TwoHosts
from tests.support.pistachio_cluster import wait_until
from tests.support.started_ranks import Job, ending
from tools.tpch_data import ensure_tpch

RANKS = 4
END = "=== end ==="
JOINED = """SELECT o_orderpriority, count(*), sum(l_quantity) FROM lineitem JOIN orders ON l_orderkey = o_orderkey
            GROUP BY o_orderpriority ORDER BY o_orderpriority"""
# Most rows go to another rank: that takes seconds on a throttled link.
MOVED = "SELECT count(*) FROM (SELECT DISTINCT l_orderkey, l_linenumber, l_comment FROM lineitem) AS rows"
# Addresses of other devices are unreachable for the other host; without shared memory all messages use the link.
VARIABLES = {"MASTER_ADDR": TwoHosts.addresses[0], "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": network_namespaces.DEVICE}


class Statements:
    """The first rank as a process that runs one statement at a time."""

    def __init__(self, process):
        self.process = process

    def run(self, sql):
        """The output of the statement, or its error."""
        watchdog = threading.Timer(pistachio_process.WATCHDOG_SECONDS, self.process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            self.process.stdin.write(f"{sql};\nSELECT '{END}' AS mark;\n")
            self.process.stdin.flush()
            lines = []
            for line in self.process.stdout:
                if line.strip() == END:
                    return "".join(lines[:-1])
                lines.append(line)
            raise AssertionError(f"the first rank ended: {''.join(lines)}{self.process.stderr.read()}")
        finally:
            watchdog.cancel()


class FourRanksOnTwoHosts:
    """A job whose ranks 0 and 1 are on the left host, 2 and 3 on the right one."""

    def __init__(self, hosts, *settings):
        self.hosts, self.job = hosts, Job()
        words = ["--hosts", 2, *(part for setting in settings for part in ("-s", setting)), "--", "-d", ensure_tpch("0.01"), "--format", "csv",
                 "-s", "on_error=continue"]
        self.others = [self._start(rank, *words, "-c", "SELECT 1") for rank in range(1, RANKS)]
        first = self._start(0, *words, "-f", "-", stdin=subprocess.PIPE)
        self.first = Statements(first)

    def _start(self, rank, *words, **channels):
        host = rank * 2 // RANKS
        variables = VARIABLES | {"RANK": rank, "WORLD_SIZE": RANKS, "LOCAL_RANK": rank % 2, "LOCAL_WORLD_SIZE": 2}
        return self.job.start_with(variables, *words, before=self.hosts.inside(host), **channels)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.job.__exit__()


class NetworkNamespaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = network_namespaces.why_not()
        if missing:
            raise unittest.SkipTest(missing)
        done = pistachio_process.run("-d", ensure_tpch("0.01"), "--format", "csv", "-c", JOINED)
        cls.expected = done.stdout
        assert done.returncode == 0 and cls.expected, done.stderr

    def hosts(self):
        hosts = TwoHosts()
        self.enterContext(hosts)
        return hosts

    def require(self, missing):
        if missing:
            self.skipTest(missing)

    def check_answers(self, hosts):
        with FourRanksOnTwoHosts(hosts) as ranks:
            before = hosts.bytes_sent(0)
            self.assertEqual(ranks.first.run(JOINED), self.expected)
            # The rows did use the link.
            self.assertGreater(hosts.bytes_sent(0), before + 10_000)
            for process in (ranks.first.process, *ranks.others):
                self.assertEqual(ending(process), (0, "", ""))

    def test_slow_link(self):
        hosts = self.hosts()
        self.require(hosts.hold_to(100_000_000))
        self.check_answers(hosts)

    def test_link_with_delay_and_loss(self):
        hosts = self.hosts()
        self.require(hosts.disturb(3, 0.5))
        self.check_answers(hosts)

    def test_cut_link_ends_query_on_both_sides(self):
        hosts = self.hosts()
        self.require(hosts.hold_to(2_000_000))
        # Small messages: none is in flight for as long as a rank may be silent.
        with FourRanksOnTwoHosts(hosts, "peer_timeout=3s", "message_bytes=16KB") as ranks:
            self.assertEqual(ranks.first.run("SELECT count(*) FROM nation"), "count\n25\n")
            before = hosts.bytes_sent(0)
            answers = []
            query = threading.Thread(target=lambda: answers.append(ranks.first.run(MOVED)), daemon=True)
            query.start()
            wait_until(lambda: hosts.bytes_sent(0) > before + 100_000, "rows on the link")
            hosts.cut()
            query.join(pistachio_process.WATCHDOG_SECONDS)
            self.assertEqual(len(answers), 1, "the statement hangs")
            self.assertRegex(answers[0], r"^error: .*rank [23] \(host host-1, process \d+\)")
            # The first host lives on: statements that need no other rank run, others report who is missing.
            self.assertEqual(ranks.first.run("SELECT 1 AS one"), "one\n1\n")
            self.assertRegex(ranks.first.run(JOINED), r"^error: rank [23] is lost, and this statement needs all ranks")
            # The other host has noticed too: its ranks are useless without the first, and exit.
            for other in ranks.others[1:]:
                self.assertEqual(ending(other)[0], 0)


if __name__ == "__main__":
    unittest.main()
