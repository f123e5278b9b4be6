"""A cluster of processes on this machine, for tests that kill or stop some of them."""

import os
import signal
import threading
import time
from pathlib import Path

from tests.support import pistachio_process
from tests.support.pistachio_session import PistachioSession, StatementFailed

ENDED = "Z"


def environment_of(pid):
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has exited
        return {}
    return dict(word.decode(errors="replace").split("=", 1) for word in words if b"=" in word)


def status_of(pid):
    """(state, parent), or None if there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[0], int(fields[1])


def children_of(pid):
    found = []
    for folder in Path("/proc").iterdir():
        status = status_of(folder.name) if folder.name.isdigit() else None
        if status and status[1] == pid and status[0] != ENDED:
            found.append(int(folder.name))
    return found


def is_running(pid):
    status = status_of(pid)
    return status is not None and status[0] != ENDED


def wait_until(condition, what, seconds=pistachio_process.WATCHDOG_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.01)


def rank_processes(launcher, count):
    """{rank: process id} of the ranks that the launcher started; waits until all of them run our program."""
    found = {}

    def all_there():
        for child in children_of(launcher):
            rank = environment_of(child).get("RANK")
            if rank is not None:
                found[int(rank)] = child
        return len(found) == count
    wait_until(all_there, f"{count} ranks beside the first")
    return found


class Statement(threading.Thread):
    """A statement that runs in the background of the test."""

    def __init__(self, session, sql):
        super().__init__(daemon=True)
        self.session, self.sql = session, sql
        self.error = self.result = self.crash = None
        self.start()

    def run(self):
        try:
            self.result = self.session.run(self.sql)
        except StatementFailed as error:
            self.error = str(error)
        except Exception as error:  # pylint: disable=broad-except
            self.crash = error

    def wait(self):
        """The text of its error, or None."""
        self.join(pistachio_process.WATCHDOG_SECONDS)
        if self.is_alive():
            raise AssertionError(f"the statement hangs: {self.sql}")
        if self.crash:
            raise self.crash
        return self.error


class PistachioCluster(PistachioSession):
    """Knows its processes: `ranks` is {rank: process id} without rank 0, which is `process`."""

    def __init__(self, count, *options, **more):
        super().__init__(*options, ranks=count, **more)
        self.run("SELECT 1 AS ready")
        self.ranks = rank_processes(self.process.pid, count - 1)

    def begin(self, sql):
        return Statement(self, sql)

    def signal(self, rank, number):
        os.kill(self.ranks[rank], number)

    def find_ranks(self):
        """Call after ranks were restarted."""
        self.ranks = rank_processes(self.process.pid, len(self.ranks))
        return self.ranks

    def memory(self):
        """Reserved bytes by rank; None for a lost rank."""
        rows = [line.split(",") for line in self.run("SHOW memory").csv.splitlines()[1:]]
        return [int(row[2]) if row[2] else None for row in rows]

    def close(self):
        if self.process:
            for pid in getattr(self, "ranks", {}).values():  # none may outlive its test, least of all a stopped one
                if is_running(pid) and status_of(pid)[1] == self.process.pid:
                    os.kill(pid, signal.SIGKILL)
        super().close()
