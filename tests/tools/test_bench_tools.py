"""The benchmarks against DuckDB: after Ctrl-C they report the completed cases and exit as interrupted."""

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


if __name__ == "__main__":
    unittest.main()
