"""Ctrl-C in a benchmark: it ends the case that runs, and the cases before it are reported."""

import signal

EXIT_STATUS = 130  # what a shell shows for a program that Ctrl-C ended


class Interruption:
    """Knows whether Ctrl-C has come: an engine in whose call it comes may turn KeyboardInterrupt into an error of its own.

        with Interruption() as interruption:
            ...
        if interruption.came: ...
    """

    def __init__(self):
        self.came = False
        signal.signal(signal.SIGINT, self._raise)

    def _raise(self, *_):
        self.came = True
        raise KeyboardInterrupt

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is not None and self.came
