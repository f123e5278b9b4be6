"""Where tests put thousands of small files."""

import os


def memory_folder():
    """A folder in memory for `tempfile`, or None where there is none: file systems that discard freed blocks at once take 4 ms to remove
    a file or a folder. Memory does not support direct I/O."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
