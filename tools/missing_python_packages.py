"""Prints the lines of a requirements file (only `name[extra]==version` lines) that this Python does not have; exit 1 if any.

scripts/setup asks this before it calls pip, so that a machine that has everything needs no network.
"""

import re
import sys
from importlib import metadata


def missing(lines):
    for line in lines:
        line = line.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)", line)
        if not match:
            sys.exit(f"not pinned as name==version: {line}")
        name, wanted = match.groups()
        try:
            # A local part such as the +cpu of 2.13.0+cpu names a flavour of the same version.
            if metadata.version(name).split("+")[0] == wanted:
                continue
        except metadata.PackageNotFoundError:
            pass
        yield line


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = list(missing(file))
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
