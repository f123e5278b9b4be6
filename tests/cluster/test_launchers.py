"""The launchers of real clusters, if they are installed: the same results, and no fewer threads than without them."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.started_ranks import SECRET, Job, ending, free_port
from tools.tpch_data import ensure_tpch

QUERY = """SELECT o_orderpriority, count(*) AS n, sum(l_quantity) AS s FROM lineitem JOIN orders ON l_orderkey = o_orderkey
           GROUP BY o_orderpriority ORDER BY o_orderpriority"""
TORCHRUN = Path(sys.executable).with_name("torchrun")


def documents(text):
    """The JSON documents in a text, one after the other."""
    found, decoder = [], json.JSONDecoder()
    text = text.strip()
    while text:
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:].strip()
    return found


class Launchers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.words = ["--", "-d", str(ensure_tpch("0.01")), "--format", "json", "-c", QUERY, "-c", "SHOW threads"]
        done = pistachio.run(*cls.words[1:])
        cls.expected = documents(done.stdout)[0]
        assert len(cls.expected) == 5, done.stderr

    def check(self, output, ranks):
        answer, threads = documents(output)
        self.assertEqual(answer, self.expected)
        cores = len(os.sched_getaffinity(0))
        # Each rank has its share of the cores, whatever OMP_NUM_THREADS the launcher sets.
        self.assertEqual(int(list(threads[0].values())[-1]), max(1, cores // ranks))

    def launch(self, *words, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "MASTER_"))} | {"PISTACHIO_JOB_SECRET": SECRET} | variables
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=pistachio.WATCHDOG_SECONDS, check=False, env=environment,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def torchrun(self, ranks, **variables):
        if not TORCHRUN.exists():
            self.skipTest(f"there is no {TORCHRUN}")
        return self.launch(TORCHRUN, "--nproc-per-node", ranks, "--master-addr", "127.0.0.1", "--master-port", free_port(), "--no-python",
                           pistachio.BINARY, "cluster", *self.words, **variables)

    def test_torchrun(self):
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                self.check(self.torchrun(ranks), ranks)

    def test_torchrun_does_not_reduce_threads(self):
        # torchrun sets this itself for more than one rank; with one rank the share is all cores, so that a reduction would show.
        self.check(self.torchrun(1, OMP_NUM_THREADS="1"), 1)

    def test_mpirun(self):
        program = shutil.which("mpirun")
        if program is None:
            self.skipTest("mpirun is not installed")
        is_open_mpi = "Open MPI" in subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        own = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if is_open_mpi else []
        self.check(self.launch(program, *own, "-np", 2, pistachio.BINARY, "cluster", *self.words, MASTER_ADDR="127.0.0.1",
                               MASTER_PORT=str(free_port())), 2)

    def check_job(self, variables_of):
        with Job() as job:
            others = [job.start_with(variables_of(rank), *self.words) for rank in (1, 2)]
            status, output, errors = ending(job.start_with(variables_of(0), *self.words))
            self.assertEqual((status, errors), (0, ""))
            self.check(output, 3)
            for process in others:
                self.assertEqual(ending(process), (0, "", ""))

    def test_variables_of_srun(self):
        self.check_job(lambda rank: {"SLURM_PROCID": rank, "SLURM_NTASKS": 3, "SLURM_LOCALID": rank, "SLURM_STEP_ID": 0, "SLURM_NTASKS_PER_NODE": 3})

    def test_variables_of_open_mpi(self):
        self.check_job(lambda rank: {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": 3, "OMPI_COMM_WORLD_LOCAL_RANK": rank,
                                     "OMPI_COMM_WORLD_LOCAL_SIZE": 3})

    def test_by_hand(self):
        self.check_job(lambda rank: {"RANK": rank, "WORLD_SIZE": 3, "OMP_NUM_THREADS": 1})


if __name__ == "__main__":
    unittest.main()
