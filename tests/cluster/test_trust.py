"""Strangers who reach the ports of a job: they are not admitted, learn nothing and delay no one."""

import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_cluster import PistachioCluster, wait_until
from tests.support.pistachio_session import NOTICE, StatementFailed
from tests.support.started_ranks import Job, ending, free_port
from tools.tpch_data import ensure_tpch

ANSWER = ("-c", "SELECT count(*) AS n FROM (VALUES (1), (2)) v")
TORCHRUN = Path(sys.executable).with_name("torchrun")
JOIN = "SELECT count(*) AS n FROM lineitem JOIN orders ON l_orderkey = o_orderkey"


def listening_ports(pid):
    """TCP ports that a process listens on; none if it has ended."""
    sockets = set()
    try:
        links = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return set()
    for link in links:
        try:
            target = os.readlink(link)
        except OSError:  # closed meanwhile
            continue
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="utf-8").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports


class Flood:
    """Strangers that connect to `ports` as fast as they can: they send noise or nothing, and close at once or stay. Use as a context manager."""

    def __init__(self, *ports):
        self.ports = frozenset(ports)  # replaced, not changed, while the threads run
        self.connections = 0  # made so far
        self._random = random.Random(7)
        self._open = []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._disturb, daemon=True) for _ in range(2)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()
        for stranger in self._open:
            stranger.close()

    def stop(self):
        """No more connections; those that stayed are open until the context ends."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _disturb(self):
        while not self._ended.is_set():
            try:
                stranger = socket.create_connection(("127.0.0.1", self._random.choice(tuple(self.ports))), timeout=5)
            except OSError:
                time.sleep(0.001)  # nobody listens yet, or no more
                continue
            self.connections += 1
            kind = self._random.randrange(4)
            try:
                if kind < 2:
                    stranger.sendall(self._random.randbytes(self._random.choice((1, 8, 64, 200, 5000))))
                elif kind == 2:
                    stranger.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            except OSError:
                pass
            if self._random.randrange(2) or len(self._open) > 300:
                stranger.close()
            else:
                self._open.append(stranger)


class Secrets(unittest.TestCase):
    def run_two(self, first, second):
        """(status, output, errors) of two ranks, started separately with these secrets."""
        with Job() as job:
            other = job.start_with({"RANK": 1, "WORLD_SIZE": 2, "LOCAL_RANK": 1, **second})
            rank0 = job.start_with({"RANK": 0, "WORLD_SIZE": 2, "LOCAL_RANK": 0, **first}, "--", *ANSWER)
            if first == second:
                return ending(rank0), ending(other)
            outcome = ending(other)
            rank0.kill()
            return ending(rank0), outcome

    def test_launched_ranks_need_a_secret(self):
        with Job() as job:
            status, output, errors = ending(job.start_with({"RANK": 1, "WORLD_SIZE": 2, "LOCAL_RANK": 1}, without=("PISTACHIO_JOB_SECRET",)))
            self.assertEqual((status, output), (1, ""))
            self.assertIn("share no secret: give all of them the same PISTACHIO_JOB_SECRET", errors)

    def test_job_meets_after_a_rank_without_secret(self):
        for wrong in (0, 1):
            with self.subTest(wrong=wrong), Job() as job:
                words = {0: ("--", *ANSWER), 1: ()}
                first = job.start(1 - wrong, 2, *words[1 - wrong])
                status, output, errors = ending(job.start_with({"RANK": wrong, "WORLD_SIZE": 2, "LOCAL_RANK": wrong}, *words[wrong], without=("PISTACHIO_JOB_SECRET",)))
                self.assertEqual((status, output), (1, ""))
                self.assertIn("share no secret: give all of them the same PISTACHIO_JOB_SECRET", errors)
                second = job.start(wrong, 2, *words[wrong])
                for process, answer in ((first, words[1 - wrong]), (second, words[wrong])):
                    self.assertEqual(ending(process)[:2], (0, "n\n2\n" if answer else ""))

    def test_wrong_secret_under_torchrun(self):
        if not TORCHRUN.exists():
            self.skipTest(f"there is no {TORCHRUN}")
        script = 'if [ "$RANK" = 1 ]; then export PISTACHIO_JOB_SECRET="$OTHER_SECRET"; fi; exec "$@"'
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "MASTER_"))}
        done = subprocess.run([TORCHRUN, "--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", str(free_port()), "--no-python",
                               "sh", "-c", script, "sh", pistachio.BINARY, "cluster", "--", *ANSWER], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=pistachio.WATCHDOG_SECONDS,
                              env=environment | {"PISTACHIO_JOB_SECRET": "a" * 32, "OTHER_SECRET": "b" * 32})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"rank 1 found a rank 0 with a different secret in torchrun's store at 127\.0\.0\.1:\d+: PISTACHIO_JOB_SECRET must be the same")

    def test_rank_with_wrong_secret_is_rejected(self):
        _, (status, output, errors) = self.run_two({"PISTACHIO_JOB_SECRET": "a" * 32}, {"PISTACHIO_JOB_SECRET": "b" * 32})
        self.assertEqual((status, output), (1, ""))
        self.assertIn("has a different secret: PISTACHIO_JOB_SECRET must be the same for all ranks", errors)

    def test_secret_from_file(self):
        with tempfile.TemporaryDirectory(prefix="pistachio_trust_") as name:
            path = Path(name) / "secret"
            path.write_text("0123456789abcdef" * 4 + "\n", encoding="utf-8")
            path.chmod(0o600)
            with Job() as job:
                variables = {"WORLD_SIZE": 2, "PISTACHIO_JOB_SECRET_FILE": path}
                without = ("PISTACHIO_JOB_SECRET",)
                other = job.start_with({"RANK": 1, "LOCAL_RANK": 1} | variables, without=without)
                status, output, errors = ending(job.start_with({"RANK": 0, "LOCAL_RANK": 0} | variables, "--", *ANSWER, without=without))
                self.assertEqual((status, errors), (0, ""))
                self.assertIn("2", output)
                self.assertEqual(ending(other)[0], 0)
            path.chmod(0o644)
            with Job() as job:
                status, _, errors = ending(job.start_with({"RANK": 1, "LOCAL_RANK": 1} | variables, without=without))
                self.assertEqual(status, 1)
                self.assertIn("others can read (mode 644): chmod 600 it", errors)

    def test_secret_is_shown_nowhere(self):
        with PistachioCluster(2) as cluster:
            shown = cluster.run("SHOW ALL").csv
            self.assertNotIn("secret", shown.lower())


class Strangers(unittest.TestCase):
    """They connect to every port of every process of a running job."""

    def test_random_bytes_half_open_connections_and_floods(self):
        with PistachioCluster(3, "-s", "peer_timeout=5s", folder=ensure_tpch("0.01")) as cluster:
            expected = cluster.run(JOIN).csv
            processes = [cluster.process.pid, *cluster.ranks.values()]
            ports = sorted(set().union(*map(listening_ports, processes)))
            self.assertGreaterEqual(len(ports), 1)
            with Flood(*ports) as flood:
                for _ in range(15):
                    self.assertEqual(cluster.run(JOIN).csv, expected)
                flood.stop()
                self.assertEqual(cluster.run(JOIN).csv, expected)  # silent connections are still open
            self.assertEqual(cluster.run(JOIN).csv, expected)
            self.assertTrue(all(Path(f"/proc/{process}").exists() for process in processes))

    def test_a_flood_while_the_ranks_meet(self):
        with Job() as job:
            rank0 = job.start(0, 2, "--", *ANSWER)

            def connections():
                try:
                    return [socket.create_connection(("127.0.0.1", job.port), timeout=5) for _ in range(400)]
                except ConnectionRefusedError:
                    return []
            flood = []

            def flood_is_there():
                flood.extend(connections())
                return len(flood) >= 400
            wait_until(flood_is_there, "the port of rank 0")
            other = job.start(1, 2)
            status, output, errors = ending(rank0)
            self.assertEqual((status, errors), (0, ""))
            self.assertIn("2", output)
            self.assertEqual(ending(other)[0], 0)
            for stranger in flood:
                stranger.close()

    def test_a_flood_that_lasts_as_long_as_the_job(self):
        words = ("--", "-d", ensure_tpch("0.01"), *("-c", JOIN) * 5)
        with Job() as job, Flood(job.port) as flood:
            ranks = [job.start(0, 2, *words)]
            wait_until(lambda: flood.connections >= 100, "a flood of the port of rank 0")
            ranks.append(job.start(1, 2, *words))
            before = flood.connections
            while ranks[0].poll() is None:
                # Those for rows are opened when the ranks have met.
                for rank in ranks:
                    flood.ports = flood.ports | listening_ports(rank.pid)
                time.sleep(0.02)
            self.assertGreater(flood.connections, before)
            self.assertGreaterEqual(len(flood.ports), 2)
            status, output, errors = ending(ranks[0])
            self.assertEqual((status, NOTICE.sub("", errors)), (0, ""))
            self.assertEqual(output, "n\n60175\n" * 5)
            self.assertEqual(ending(ranks[1])[0], 0)


class Faults(unittest.TestCase):
    def test_sql_cannot_enable_faults(self):
        with PistachioCluster(2) as cluster:
            for sql in ("SET fault_at = 'plan_received:1=kill'", "SET allow_faults = on"):
                with self.assertRaises(StatementFailed) as refusal:
                    cluster.run(sql)
                self.assertRegex(str(refusal.exception), "-s allow_faults=")
            cluster.run("SET fault_at = ''")
        done = pistachio.run("-s", "fault_at=plan_received=kill", "-c", "SELECT 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("allow_faults=on", done.stderr)


if __name__ == "__main__":
    unittest.main()
