"""Ctrl-C and query_timeout end a statement on all ranks; later statements run normally."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_cluster import PistachioCluster, is_running, rank_processes
from tests.support.pistachio_session import StatementFailed
from tests.support.terminal_session import CTRL_C, PROMPT, TerminalSession
from tools.tpch_data import ensure_tpch

ENDLESS = "SELECT count(*) FROM lineitem a, lineitem b WHERE a.l_linenumber = b.l_linenumber AND a.l_comment || b.l_shipmode < b.l_comment"
SHORT = "SELECT count(*) FROM lineitem, orders WHERE l_orderkey = o_orderkey"


def processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Cancel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ensure_tpch("0.01")

    def check_idle(self, processes):
        """They only send heartbeats."""
        before = {pid: processor_seconds(pid) for pid in processes}
        time.sleep(1)
        for pid in processes:
            self.assertLess(processor_seconds(pid) - before[pid], 0.5)

    def test_interrupt_of_a_command(self):
        words = [pistachio.BINARY, "cluster", "-n", "3", "--", "-d", str(self.folder), "-c", ENDLESS]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ranks = rank_processes(process.pid, 2)
        # Until the query runs on all of them: starting takes at most a second of a core per rank.
        end = time.monotonic() + pistachio.WATCHDOG_SECONDS
        while min(processor_seconds(pid) for pid in ranks.values()) < 1.5 and time.monotonic() < end:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
        self.assertEqual((process.returncode, output, errors), (130, "", "error: interrupted\n"))
        self.assertEqual([pid for pid in ranks.values() if is_running(pid)], [])

    def test_interrupt_while_the_ranks_meet(self):
        words = [pistachio.BINARY, "cluster", "-n", "3", "--", "-c", "SELECT 1"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ranks = rank_processes(process.pid, 2)
        os.kill(ranks[1], signal.SIGSTOP)  # so they do not
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
        self.assertEqual((process.returncode, output), (130, ""))
        self.assertIn("error: interrupted\n", errors)
        self.assertEqual([pid for pid in ranks.values() if is_running(pid)], [])

    def test_interrupt_at_the_prompt(self):
        with TerminalSession("cluster", "-n", "3", "--", "-d", self.folder) as terminal:
            terminal.wait_for(PROMPT)
            ranks = rank_processes(terminal.process.pid, 2)
            terminal.type(ENDLESS + ";\n")
            time.sleep(1)
            terminal.type(CTRL_C)
            terminal.wait_for("interrupted")
            terminal.wait_for(PROMPT)
            self.check_idle(ranks.values())
            self.assertIn("60175", terminal.ask(SHORT + ";"))

    def test_query_timeout(self):
        with PistachioCluster(3, folder=self.folder) as cluster:
            cluster.run("SET query_timeout = '500ms'")
            for _ in range(2):
                with self.assertRaisesRegex(StatementFailed, "^the statement ran longer than query_timeout=500ms$"):
                    cluster.run(ENDLESS)
            self.check_idle([cluster.process.pid, *cluster.ranks.values()])
            cluster.run("SET query_timeout = 'off'")
            self.assertEqual(cluster.run(SHORT).csv, "count\n60175\n")


if __name__ == "__main__":
    unittest.main()
