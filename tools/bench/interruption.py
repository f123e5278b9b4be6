"""Ctrl-C in a benchmark: ends the running case; completed cases are reported."""

import signal

EXIT_STATUS = 130  # what a shell shows for a program that Ctrl-C ended


class Interruption:
    """Records whether Ctrl-C was pressed: an engine may turn a KeyboardInterrupt during a call into an error of its own.

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
