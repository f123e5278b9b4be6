"""Runs a program by forking a process that has already loaded it (fork_server.c), which saves most of the CPU time of a short command."""

import array
import atexit
import os
import selectors
import signal
import socket
import struct
import subprocess
import threading
import time


class ForkServer:
    """Starts on the first run and ends with this process. One run at a time: `run` returns None if another thread is in it."""

    def __init__(self, program, library):
        self.program, self.library = str(program), str(library)
        self.process = None
        self.socket = None
        self._lock = threading.Lock()

    def run(self, words, environment, limit, *, text, stdout=None):
        """What subprocess.run(..., timeout=limit) returns without input; standard error and, if no `stdout` is given, output are captured."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self._run([self.program, *words], environment, limit, text, stdout)
        finally:
            self._lock.release()

    def close(self):
        if self.process:
            self.socket.close()
            self.process.wait()
            self.process = None

    def _start(self):
        atexit.register(self.close)
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([self.program], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                                            env=os.environ | {"LD_PRELOAD": self.library, "FORK_SERVER_SOCKET": str(theirs.fileno())})

    def _run(self, command, environment, limit, text, stdout):
        if self.process is None:
            self._start()
        pipes = [os.pipe() for _ in range(1 if stdout is not None else 2)]
        readers, writers = map(list, zip(*pipes))
        try:
            try:
                self._request(command, environment, writers if stdout is None else [stdout, *writers])
            finally:
                for writer in writers:
                    os.close(writer)
            process = self._receive()
            try:
                captured = self._read(readers, time.monotonic() + limit)
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                self._receive()
                raise subprocess.TimeoutExpired(command, limit) from None
        finally:
            for reader in readers:
                os.close(reader)
        if text:
            captured = [piece.decode().replace("\r\n", "\n") for piece in captured]
        return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(self._receive()), captured[0] if stdout is None else None, captured[-1])

    def _request(self, command, environment, outputs):
        texts = [os.fsencode(word) for word in command] + [os.fsencode(f"{name}={value}") for name, value in environment.items()]
        body = b"".join(text + b"\0" for text in texts)
        header = struct.pack("=III", len(body), len(command), len(environment))
        self.socket.sendmsg([header], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", outputs))])
        self.socket.sendall(body)

    def _receive(self):
        answer = self.socket.recv(4, socket.MSG_WAITALL)
        if len(answer) != 4:
            raise RuntimeError(f"the fork server ended with status {self.process.wait()}")
        return struct.unpack("=i", answer)[0]

    @staticmethod
    def _read(readers, deadline):
        """The bytes of each pipe up to its end."""
        pieces = {reader: [] for reader in readers}
        with selectors.DefaultSelector() as selector:
            for reader in readers:
                selector.register(reader, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    piece = os.read(key.fd, 1 << 16)
                    if piece:
                        pieces[key.fd].append(piece)
                    else:
                        selector.unregister(key.fd)
        return [b"".join(pieces[reader]) for reader in readers]
