"""Bandwidth of storage when files are read sequentially and discarded: the lower bound of every query that reads them."""

import mmap
import os
import time

PIECE_BYTES = 4 << 20


def read_once(files, direct):
    """Bytes and seconds."""
    # A mapping is page-aligned, as direct I/O requires.
    buffer = mmap.mmap(-1, PIECE_BYTES)
    total, begin = 0, time.perf_counter()
    for file in files:
        handle = os.open(file, os.O_RDONLY | (os.O_DIRECT if direct else 0))
        try:
            while count := os.readv(handle, [buffer]):
                total += count
        finally:
            os.close(handle)
    return total, time.perf_counter() - begin


def measure(files, direct=False, rounds=3):
    """Bytes per second, the best of several rounds. Without `direct`, later rounds come from the page cache if the files fit."""
    return max(total / seconds for total, seconds in (read_once(files, direct) for _ in range(rounds)))
