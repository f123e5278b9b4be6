"""Startup of jobs, and everything that can prevent it."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_cluster import PistachioCluster, rank_processes, wait_until
from tests.support.started_ranks import Job, ending
from tools.tpch_data import ensure_tpch

COUNT = "SELECT count(*) FROM lineitem JOIN orders ON l_orderkey = o_orderkey"


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=pistachio.WATCHDOG_SECONDS).close()
    except ConnectionRefusedError:
        return False
    return True


def held_cores(pid, cores):
    """The cores of the threads that are bound to fewer than all of them."""
    held = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        allowed = os.sched_getaffinity(int(thread))
        held |= allowed if allowed != set(cores) else set()
    return held


class LocalCluster(unittest.TestCase):
    def test_rank_ending_before_rendezvous(self):
        process = subprocess.Popen([pistachio.BINARY, "cluster", "-n", "3", "--", "-c", "SELECT 1"], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        ranks = rank_processes(process.pid, 2)
        os.kill(ranks[2], signal.SIGKILL)
        status, output, errors = ending(process)
        self.assertEqual((status, output), (1, ""))
        self.assertIn(f"error: rank 2 (process {ranks[2]}) was ended by signal 9 (Killed) during startup", errors)

    def test_topology(self):
        done = pistachio.run("cluster", "-n", 4, "--hosts", 2, "--topology")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        ranks, devices = (part.splitlines() for part in done.stdout.split("\n\n"))
        heading, _, *rows = ranks
        self.assertEqual(heading.split(), ["rank", "host", "process", "cores", "threads", "node", "GPU", "RDMA", "route", "to", "rank", "0"])
        self.assertEqual([row.split()[:2] for row in rows], [["0", "host-0"], ["1", "host-0"], ["2", "host-1"], ["3", "host-1"]])
        self.assertEqual(len({row.split()[2] for row in rows}), 4)
        # The machine's hardware: its cores, and every physical network device.
        self.assertEqual(devices[0].split(), ["host", "kind", "name", "PCI", "address", "node", "cores"])
        if Path("/sys/devices/system/node/node0/cpulist").exists():
            cores = Path("/sys/devices/system/node/node0/cpulist").read_text(encoding="utf-8").strip()
            self.assertTrue(any(re.match(rf"host-0 +NUMA node +0 +- +0 +{cores}$", row) for row in devices), devices)
        hardware = {folder.parent.name for folder in Path("/sys/class/net").glob("*/device")}
        self.assertEqual({row.split()[2] for row in devices if row.split()[1] == "network"}, hardware)

    def test_hosts_of_given_sizes(self):
        done = pistachio.run("cluster", "-n", 3, "--hosts", "1,2", "--topology")
        rows = done.stdout.split("\n\n")[0].splitlines()[2:]
        self.assertEqual([row.split()[:2] for row in rows], [["0", "host-0"], ["1", "host-1"], ["2", "host-1"]])

    def test_workers_stay_on_cores_of_their_rank(self):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("there is only one core")
        for binding, held in (("auto", True), ("off", False)):
            with self.subTest(binding=binding), PistachioCluster(2, "-s", f"bind_threads={binding}") as cluster:
                first, second = (held_cores(pid, cores) for pid in (cluster.process.pid, cluster.ranks[1]))
                self.assertEqual(first, set(cores[:len(cores) // 2]) if held else set())
                self.assertEqual(second, set(cores[len(cores) // 2:]) if held else set())

    def test_wrong_usage(self):
        for words, text in ((["cluster"], "-n says how many ranks"), (["cluster", "-n", "0"], "at least 1"),
                            (["cluster", "-n", "2", "--hosts", "3"], "2 ranks cannot be on so many hosts"),
                            (["cluster", "-n", "2", "--hosts", "1,2"], "these are hosts of 3 ranks, and there are 2"),
                            (["cluster", "-n", "2", "-c", "SELECT 1"], "unknown option -c"),
                            (["cluster", "-n", "2", "--topology", "--", "-c", "SELECT 1"], "--topology runs no SQL")):
            with self.subTest(words=words):
                done = pistachio.run(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(text, done.stderr)


class StartedByHand(unittest.TestCase):
    def test_a_job(self):
        with Job() as job:
            words = ("--", "-d", ensure_tpch("0.01"), "-c", COUNT)
            others = [job.start(rank, 3, *words, OMP_NUM_THREADS="1") for rank in (2, 1)]
            self.assertEqual(ending(job.start(0, 3, *words)), (0, "count\n60175\n", ""))
            for process in others:
                self.assertEqual(ending(process), (0, "", ""))

    def test_another_world_size(self):
        with Job() as job:
            first, other = job.start(0, 2), job.start(2, 3)
            for process in (other, first):
                status, _, errors = ending(process)
                self.assertEqual(status, 1)
                self.assertIn("rank 2 was started for a job of 3 ranks, rank 0 at 127.0.0.1", errors)

    def test_a_second_job_on_the_same_port(self):
        with Job() as job, Job(job.port) as second:
            job.start(0, 2)  # waits for rank 1
            wait_until(lambda: is_listening(job.port), "the store of the first job")
            status, _, errors = ending(second.start(0, 2))
            self.assertEqual(status, 1)
            self.assertIn(f"rank 0 cannot listen on port {job.port}", errors)
            self.assertIn("set MASTER_PORT to a free one", errors)

    def test_two_processes_of_one_rank(self):
        with Job() as job:
            first = job.start(0, 3)
            wait_until(lambda: is_listening(job.port), "the store")
            # Whichever of the two comes second aborts the job for all, including ranks that would wait for the missing one.
            for process in (job.start(1, 3), job.start(1, 3), first):
                status, _, errors = ending(process)
                self.assertEqual(status, 1)
                self.assertIn("two processes say they are rank 1: each must have a RANK of its own", errors)

    def test_a_long_wait_is_explained(self):
        with Job() as job:
            lonely = job.start(0, 3)
            self.assertRegex(lonely.stderr.readline(), r"^rank 0 is waiting for ranks 1, 2 of 3; giving up in \d+ s$")
            stray = job.start(1, 3, MASTER_ADDR="there-is-no-such-host.invalid")
            self.assertRegex(stray.stderr.readline(),
                             r"^rank 1 is waiting for rank 0 at there-is-no-such-host\.invalid:\d+ \(.+\); giving up in \d+ s$")

    def test_starting_ranks_end_with_the_job(self):
        process = subprocess.Popen([pistachio.BINARY, "cluster", "-n", "12", "--", "-c", "SELECT 1"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ranks = rank_processes(process.pid, 11)
        process.send_signal(signal.SIGINT)
        status, output, errors = ending(process)
        self.assertEqual((status, output, errors), (130, "", "error: interrupted\n"))
        for rank in ranks.values():
            self.assertFalse(Path(f"/proc/{rank}").exists(), rank)

    def test_too_few_open_files(self):
        def allow(count):
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
        words = [pistachio.BINARY, "cluster", "-n", "2", "--", "-c", "SELECT 1"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=pistachio.WATCHDOG_SECONDS, preexec_fn=allow(24))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("a rank of 2 needs 80 open files at least, and the limit is 24: raise it (ulimit -n 1024)", done.stderr)
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=pistachio.WATCHDOG_SECONDS, preexec_fn=allow(80))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_missing_network(self):
        done = pistachio.run("cluster", "-n", 2, "--", "-c", "SELECT 1", environment={"UCX_TLS": "carrier_pigeon"})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the environment has UCX_TLS=carrier_pigeon: does this machine have that?", done.stderr)

    def test_missing_or_wrong_variables(self):
        for variables, text in (({"RANK": "1"}, "RANK is set but WORLD_SIZE is not"),
                                ({"RANK": "2", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, "RANK is '2'"),
                                ({"RANK": "1", "WORLD_SIZE": "2"}, "MASTER_ADDR is not set")):
            with self.subTest(variables=variables):
                done = pistachio.run("cluster", environment=variables)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
