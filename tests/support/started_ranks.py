"""Ranks that are started separately, as launchers do."""

import os
import socket
import subprocess

from tests.support import pistachio_process


SECRET = "a secret that only these tests have"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ending(process):
    """(exit status, output, errors)"""
    output, errors = process.communicate(timeout=pistachio_process.WATCHDOG_SECONDS)
    return process.returncode, output, errors


class Job:
    """Processes with the variables of torchrun. None outlives the context."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()

    def start(self, rank, ranks, *words, stdin=subprocess.DEVNULL, **variables):
        return self.start_with({"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank} | variables, *words, stdin=stdin)

    def start_with(self, variables, *words, before=(), without=(), **more):
        """With other variables than those of torchrun; `before` is a command prefix to run it elsewhere."""
        environment = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.port), "PISTACHIO_JOB_SECRET": SECRET} | {name: str(value) for name, value in variables.items()}
        for name in without:
            environment.pop(name, None)
        channels = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        process = subprocess.Popen([*before, pistachio_process.BINARY, "cluster", *map(str, words)], env=environment, text=True, **channels)
        self.processes.append(process)
        return process
