"""A long-lived `scan --serve` process: requests are sent through a pipe, so that many scans need only one program start."""

import json
import subprocess
import threading

from tests.support import pistachio_process


class ScanServer:
    """Not thread-safe. Starts the process on the first request."""

    def __init__(self):
        self.process = None

    def close(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def scan(self, files, *, columns=(), where=(), **settings):
        """Returns the answer, the same as that of `scan --format json`; raises RuntimeError with the engine's message if the scan failed."""
        request = {"files": str(files), "columns": list(columns), "where": list(where), "settings": settings}
        if self.process is None:
            self.process = subprocess.Popen([pistachio_process.BINARY, "scan", "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        watchdog = threading.Timer(pistachio_process.WATCHDOG_SECONDS, self.process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            line = self._exchange(json.dumps(request))
        finally:
            watchdog.cancel()
        if not line:
            status = self.process.wait()
            self.close()
            raise AssertionError(f"the process ended with status {status} at the request {request}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def _exchange(self, request):
        """The line of the answer; empty if the process has ended."""
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        return self.process.stdout.readline()
