"""The program at a pseudo terminal, as a user sees it: type keys, wait for text."""

import os
import pty
import select
import signal
import subprocess
import time

from tests.support import pistachio_process as pistachio

CTRL_C, CTRL_D, TAB, UP = "\x03", "\x04", "\t", "\x1b[A"
PROMPT = "pistachio> "


class TerminalSession:
    """Ends the program at the end of the block. `shown` is everything the terminal has shown so far."""

    def __init__(self, *words, environment=None, ignores_hangup=False):
        self.shown = ""
        self.read_to = 0
        self.terminal, other = pty.openpty()
        self.process = subprocess.Popen([pistachio.BINARY, *map(str, words)], stdin=other, stdout=other, stderr=other, close_fds=True,
                                        preexec_fn=lambda: _take_terminal(ignores_hangup), env=os.environ | {"TERM": "xterm"} | (environment or {}))
        os.close(other)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.terminal is not None:
            os.close(self.terminal)

    def hang_up(self):
        """Closes the terminal."""
        os.close(self.terminal)
        self.terminal = None

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def wait_for(self, text):
        """Waits until the text appears after the match of the last wait; returns everything up to its end."""
        end = time.monotonic() + pistachio.WATCHDOG_SECONDS
        while text not in self.shown[self.read_to:]:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            try:
                piece = os.read(self.terminal, 65536) if ready else b""
            except OSError:  # the program closed the terminal
                piece = b""
            if not piece:
                raise AssertionError(f"waited for {text!r} in vain; shown: {self.shown!r}")
            self.shown += piece.decode(errors="replace")
        begin = self.read_to
        self.read_to = self.shown.index(text, begin) + len(text)
        return self.shown[begin:self.read_to]

    def ask(self, line):
        """Types a line at the prompt; returns what is shown until the next prompt."""
        self.type(line + "\n")
        return self.wait_for("\n") and self.wait_for(PROMPT)

    def end(self):
        """Waits for the program to exit; returns its exit code."""
        while True:
            try:
                if not os.read(self.terminal, 65536):
                    break
            except OSError:
                break
        return self.process.wait(timeout=pistachio.WATCHDOG_SECONDS)


def _take_terminal(ignores_hangup):
    if ignores_hangup:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # A new session with this controlling terminal, so that Ctrl-C is a signal.
    os.setsid()
    import fcntl
    import termios
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
