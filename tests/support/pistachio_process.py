"""Runs the built `pistachio` binary for the Python tests. TESTED_BINARY selects another binary than the release build's."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("TESTED_BINARY", str(ROOT / "build/release/pistachio"))
# A hang is a failure; no test measures time.
WATCHDOG_SECONDS = 300


def run(*words, environment=None):
    """Returns the finished process with text output."""
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=False,
                          env=os.environ | (environment or {}), stdin=subprocess.DEVNULL)


def scan(*words, environment=None):
    """Runs `scan` and returns its JSON result; raises with stderr if it failed."""
    done = run("scan", *words, "--format", "json", environment=environment)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def wait_until_it_watches_signals(process):
    """A signal during program load would kill it, as it would any program."""
    end = time.monotonic() + WATCHDOG_SECONDS
    while time.monotonic() < end:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk:")).split()[1], 16)
        # All signals are blocked for a moment whenever a thread is created; the program itself leaves most of them unblocked.
        if blocked >> (signal.SIGINT - 1) & 1 and not blocked >> (signal.SIGALRM - 1) & 1:
            return
        time.sleep(0.01)
    raise AssertionError("the program does not watch for signals")
