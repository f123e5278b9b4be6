"""How fast storage gives the bytes of files, read one after the other and thrown away: the floor under every query that needs them."""

import mmap
import os
import time

PIECE_BYTES = 4 << 20


def read_once(files, direct):
    """Bytes and seconds."""
    # A mapping is aligned to pages, as reads past the page cache need it.
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
    """Bytes a second, the best of some rounds. Without `direct` the later rounds come from the page cache, if the files fit into it."""
    return max(total / seconds for total, seconds in (read_once(files, direct) for _ in range(rounds)))
