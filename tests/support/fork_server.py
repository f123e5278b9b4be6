"""Starts a program by forking a process that has already loaded it (fork_server.c), which saves most of the CPU time of a short command."""

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


class ForkedProcess:
    """The part of subprocess.Popen that tests need. `stdin` and `stdout` are files in text mode if they were requested as pipes."""

    def __init__(self, args, status, stdin, stdout):
        self.args, self.stdin, self.stdout = args, stdin, stdout
        self.returncode = None
        self._status = status  # of the process that waits for the program: its id, then its status
        self.pid = self._receive()

    def _receive(self):
        answer = self._status.recv(4, socket.MSG_WAITALL)
        if len(answer) != 4:
            raise RuntimeError("the fork server has died")
        return struct.unpack("=i", answer)[0]

    def wait(self, timeout=None):
        if self.returncode is None:
            self._status.settimeout(timeout)
            try:
                self.returncode = os.waitstatus_to_exitcode(self._receive())
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout) from None
            self._status.close()
        return self.returncode

    def poll(self):
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self):
        """Closes the input, discards the rest of the output and waits for the end."""
        if self.stdin:
            try:
                self.stdin.close()
            except BrokenPipeError:
                pass
        if self.stdout:
            self.stdout.read()
            self.stdout.close()
        self.wait()


class ForkServer:
    """Starts on first use and ends with this process. Any thread."""

    def __init__(self, program, library):
        self.program, self.library = str(program), str(library)
        self.process = None
        self.socket = None
        self._lock = threading.Lock()

    def close(self):
        if self.process:
            self.socket.close()
            self.process.wait()
            self.process = None

    def run(self, words, environment, limit, *, text, stdout=None):
        """What subprocess.run(..., timeout=limit) returns without input; standard error and, if no `stdout` is given, output are captured."""
        pipes = [os.pipe() for _ in range(1 if stdout is not None else 2)]
        readers, writers = map(list, zip(*pipes))
        try:
            try:
                with open(os.devnull, encoding="utf-8") as nothing:
                    process = self._start(words, environment, [nothing.fileno(), *(writers if stdout is None else [stdout, *writers])])
            finally:
                for writer in writers:
                    os.close(writer)
            try:
                captured = self._read(readers, time.monotonic() + limit)
            except TimeoutError:
                process.kill()
                process.wait()
                raise subprocess.TimeoutExpired(process.args, limit) from None
        finally:
            for reader in readers:
                os.close(reader)
        if text:
            captured = [piece.decode().replace("\r\n", "\n") for piece in captured]
        return subprocess.CompletedProcess(process.args, process.wait(), captured[0] if stdout is None else None, captured[-1])

    def start(self, words, environment):
        """A process with pipes for its input and for its output, which contains its errors; both in text mode."""
        (input_reader, input_writer), (output_reader, output_writer) = os.pipe(), os.pipe()
        try:
            return self._start(words, environment, [input_reader, output_writer, output_writer],
                               open(input_writer, "w", encoding="utf-8", errors="replace"),
                               open(output_reader, encoding="utf-8", errors="replace"))
        finally:
            os.close(input_reader)
            os.close(output_writer)

    def _start(self, words, environment, descriptors, stdin=None, stdout=None):
        command = [self.program, *words]
        texts = [os.fsencode(word) for word in command] + [os.fsencode(f"{name}={value}") for name, value in environment.items()]
        body = b"".join(text + b"\0" for text in texts)
        header = struct.pack("=III", len(body), len(command), len(environment))
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            if self.process is None:
                self._start_server()
            self.socket.sendmsg([header], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [*descriptors, theirs.fileno()]))])
            self.socket.sendall(body)
        return ForkedProcess(command, ours, stdin, stdout)

    def _start_server(self):
        atexit.register(self.close)
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([self.program], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                                            env=os.environ | {"LD_PRELOAD": self.library, "FORK_SERVER_SOCKET": str(theirs.fileno())})

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
