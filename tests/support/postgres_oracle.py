"""PostgreSQL as the reference for expressions: a private server in a temporary folder, reachable only through a Unix socket."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support.duckdb_oracle import split_records

MARK = "=== end of expression ==="
NULL = "=== null ==="
START_SECONDS = 60


def find_programs():
    """The folder of the newest installed server's programs, or None."""
    folders = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if folders:
        return max(folders, key=lambda folder: int(folder.parent.name))
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class PostgresServer:
    """Use as a context manager: it owns a folder and a server process, which always ends with this one. Dates are in ISO format,
    the time zone is UTC, text is ordered by bytes."""

    def __init__(self, programs=None):
        self.programs = programs or find_programs()
        self.folder = None
        self.process = None

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="pistachio_postgres_"))
        try:
            if os.geteuid() == 0:
                # The server refuses to run as root.
                account = pwd.getpwnam("postgres")
                os.chown(self.folder, account.pw_uid, account.pw_gid)
            with open(self.folder / "log", "w") as log:
                made = self._start(log, "initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--lc-collate=C", "--lc-ctype=C.UTF-8",
                                   "--lc-messages=C").wait()
                if made == 0:
                    self.process = self._start(log, "postgres", "-D", self.folder / "data", "-c", "listen_addresses=", "-c", f"unix_socket_directories={self.folder}", "-c", "fsync=off",
                                               "-c", "timezone=UTC")
            self._wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.send_signal(signal.SIGQUIT)  # an immediate shutdown
            try:
                self.process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, log, program, *words):
        command = ["setpriv", "--pdeathsig", "QUIT"]
        if os.geteuid() == 0:
            command += ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        command += [str(word) for word in (self.programs / program, *words)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd="/")

    def _wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while self.process and self.process.poll() is None and time.monotonic() < deadline:
            if subprocess.run([self.programs / "pg_isready", "-q", "-h", self.folder], check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL did not start: {(self.folder / 'log').read_text()[-1000:]}")

    def evaluate(self, queries):
        """For each query with one column v and one row, a pair of the value (text, or None for NULL) and the name of its type, or
        the text of an error (str)."""
        script = ["\\pset format csv", "\\pset tuples_only on", f"\\pset null '{NULL}'", "SET client_min_messages = error;"]
        for query in queries:
            script += [f"SELECT v, pg_typeof(v) FROM ({query}) AS q;", f"\\echo '{MARK}'"]
        words = [str(self.programs / "psql"), "-X", "-q", "-h", str(self.folder), "-U", "postgres", "-d", "postgres", "-f", "-"]
        # One pipe for both streams preserves their order.
        output = subprocess.run(words, input="\n".join(script) + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                                check=True).stdout
        answers = output.split(MARK + "\n")
        assert len(answers) == len(queries) + 1, f"{len(answers) - 1} answers to {len(queries)} queries: {answers[-1][-500:]}"
        return [self._answer(text) for text in answers[:-1]]

    @staticmethod
    def _answer(text):
        if "ERROR:" in text:
            return text.split("ERROR:", 1)[1].split("\n")[0].strip()
        (value, type_name), = split_records(text)
        # Empty text is not quoted.
        return None if value == NULL else value or "", type_name
