"""A long-lived engine process: statements are sent through a pipe, and each result is read before the next statement is sent."""

import re
import threading
from dataclasses import dataclass

from tests.support import pistachio_process

MARK = "=== end of result ==="
# Printed by a rank on a busy machine, where others take long to start.
NOTICE = re.compile(r"rank \d+ is waiting for .+; giving up in \d+ s\n")


class StatementFailed(RuntimeError):
    """The engine rejected or failed the statement and lives on."""


class EngineDied(RuntimeError):
    """The process exited, or hung and was killed. The next statement starts a new one."""


@dataclass
class Result:
    csv: str
    seconds: float  # by the engine's own clock
    notes: tuple = ()  # messages next to the result


class PistachioSession:
    """Not thread-safe. In-memory tables live as long as the process; files of `folder` are tables in every process. With `ranks`
    the process is the first rank of a cluster on this machine, which simulates several `hosts` if told to."""

    def __init__(self, *options, folder=None, binary=None, ranks=None, hosts=None, watchdog_seconds=pistachio_process.WATCHDOG_SECONDS):
        words = ["cluster", "-n", ranks, *(["--hosts", hosts] if hosts else []), "--"] if ranks else []
        words += ["-d", folder] if folder else []
        # The timer's line after a result distinguishes a result from an error in the middle of its rows.
        self.words = [*words, "-f", "-", "--format", "csv", "-s", "on_error=continue", "-s", "timer=on", *options]
        self.binary = binary
        self.watchdog_seconds = watchdog_seconds
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the process, whatever it is doing."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def run(self, sql):
        """Raises StatementFailed or EngineDied."""
        if self.process is None:
            # One pipe for both streams preserves their order.
            self.process = pistachio_process.start(*self.words, binary=self.binary)
        watchdog = threading.Timer(self.watchdog_seconds, self.process.kill)
        watchdog.daemon = True  # Ctrl-C may come before the `try`: the program must not wait for the timer then
        watchdog.start()
        try:
            lines = self._exchange(sql)
        finally:
            watchdog.cancel()
        time = re.fullmatch(r"-- time: ([0-9.]+) ms\n", lines[-1]) if lines else None
        if time is None:
            errors = [number for number, line in enumerate(lines) if line.startswith("error: ")]
            raise StatementFailed("".join(lines[errors[-1]:] if errors else lines).removeprefix("error: ").strip())
        notes = tuple(line.removeprefix("note: ").strip() for line in lines if line.startswith("note: "))
        return Result("".join(line for line in lines[:-1] if not line.startswith("note: ")), float(time[1]) / 1e3, notes)

    def _exchange(self, sql):
        """The lines that the statement printed."""
        lines = []
        try:
            self.process.stdin.write(f"{sql.strip().rstrip(';')};\nSELECT '{MARK}' AS m;\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its last output is still in the other pipe
        for line in self.process.stdout:
            if not NOTICE.fullmatch(line):
                lines.append(line)
            if line == f"{MARK}\n":
                self.process.stdout.readline()  # the time of the marker statement
                return lines[:-2]
        status = self.process.wait()
        self.close()
        raise EngineDied(f"the process ended with status {status}: {''.join(lines)[-500:].strip()}")
