"""Runs the built `pistachio` binary for the Python tests. TESTED_BINARY selects another binary than the release build's."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from tests.support.fork_server import ForkServer

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("TESTED_BINARY", str(ROOT / "build/release/pistachio"))
# A hang is a failure; no test measures time.
WATCHDOG_SECONDS = 300
# Next to the release build's unit tests; a build of the program alone has none.
FORK_LIBRARY = Path(BINARY).parent / "unit_tests/libfork_server.so"
FORK_SERVER = ForkServer(BINARY, FORK_LIBRARY) if FORK_LIBRARY.exists() else None


def run(*words, environment=None, text=True, stdout=None):
    """Returns the finished process; its output is captured unless `stdout` is a descriptor. Its start is a fork: tests of how the program
    is loaded start BINARY themselves."""
    words, environment = list(map(str, words)), os.environ | (environment or {})
    if FORK_SERVER:
        return FORK_SERVER.run(words, environment, WATCHDOG_SECONDS, text=text, stdout=stdout)
    return subprocess.run([BINARY, *words], stdout=subprocess.PIPE if stdout is None else stdout, stderr=subprocess.PIPE, text=text,
                          timeout=WATCHDOG_SECONDS, check=False, env=environment, stdin=subprocess.DEVNULL)


def start(*words, binary=None):
    """Returns a process with pipes for its input and for its output, which contains its errors; both in text mode."""
    if FORK_SERVER and binary in (None, BINARY):
        return FORK_SERVER.start(list(map(str, words)), os.environ)
    return subprocess.Popen([binary or BINARY, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            encoding="utf-8", errors="replace")


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
