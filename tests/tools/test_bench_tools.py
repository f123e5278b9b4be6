"""The benchmarks against DuckDB: after Ctrl-C they report the completed cases and exit as interrupted; on a GPU, T_min comes from copies."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import pistachio_process as pistachio  # noqa: E402
from tools.bench import tpch_against_duckdb  # noqa: E402
from tools.tpch_data import ensure_tpch  # noqa: E402


class Interrupted(unittest.TestCase):
    def check(self, program, is_row, *words):
        ensure_tpch("0.01")
        with tempfile.TemporaryDirectory() as folder:
            figures = Path(folder) / "figures.json"
            command = [sys.executable, ROOT / "tools/bench" / program, "--sf", "0.01", "--json", figures, *words]
            # A terminal sends Ctrl-C to the engines as well: they are in the program's process group.
            with subprocess.Popen(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
                rows = 0
                while rows < 2:
                    line = process.stdout.readline()
                    self.assertNotEqual(line, "", "it ended by itself")
                    rows += is_row(line)
                os.killpg(process.pid, signal.SIGINT)
                rest, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
                self.assertEqual(process.returncode, 130, errors)
            report = json.loads(figures.read_text())
        self.assertTrue(report["interrupted"])
        self.assertGreaterEqual(len(report["cases"]), 2)
        self.assertIn("geometric mean", rest)

    def test_scan(self):
        self.check("scan_against_duckdb.py", lambda line: line.startswith("sum "), "--repeat", "200")

    def test_tpch(self):
        self.check("tpch_against_duckdb.py", lambda line: line.rstrip()[-1:].isdigit() and "ms" in line, "--repeat", "50")


class FakeEngine:
    """Answers SHOW."""

    def __init__(self, **settings):
        self.settings = settings

    def run(self, statement):
        name = statement.removeprefix("SHOW ")
        return type("Answer", (), {"csv": f"{name}\n{self.settings[name]}\n"})


class OnGpu(unittest.TestCase):
    RATES = {"staged": 44e9, "registered": 55e9, "pinned": 55.5e9, "better": "registered"}

    def test_bandwidth_is_that_of_the_faster_way(self):
        engine = FakeEngine(storage_bandwidth_limit=0)
        self.assertEqual(tpch_against_duckdb.bandwidth(engine, None, self.RATES), (55e9, "page cache to GPU, registered, measured"))
        refused = {**self.RATES, "registered": None, "better": "staged"}
        self.assertEqual(tpch_against_duckdb.bandwidth(engine, None, refused)[0], 44e9)
        self.assertEqual(tpch_against_duckdb.rates_text(refused), "copies to the GPU: staged 44.00 GB/s, registered refused, pinned 55.50 GB/s")

    def test_limit_goes_before_copies(self):
        self.assertEqual(tpch_against_duckdb.bandwidth(FakeEngine(storage_bandwidth_limit=7), None, self.RATES)[0], 7)

    def test_last_device_counts(self):
        self.assertTrue(tpch_against_duckdb.is_on_gpu(["device=cpu", "device=cuda"]))
        self.assertFalse(tpch_against_duckdb.is_on_gpu(["device=cuda", "device=cpu"]))
        self.assertFalse(tpch_against_duckdb.is_on_gpu(["threads=2"]))


if __name__ == "__main__":
    unittest.main()
