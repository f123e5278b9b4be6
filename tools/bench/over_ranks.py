"""Generates the data for `pistachio bench join|skew|overlap|alltoall|scaling|onpath` and runs it; passes on all options but --sf.

Started by `scripts/bench join` and so on. overlap and scaling use TPC-H data of the scale factors of --sf unless --data names
folders. onpath with --queries is on_path_queries.py."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tpch_data import ROOT, ensure_tpch  # noqa: E402

ON_GENERATED_TABLES = {"join", "skew", "alltoall", "onpath"}


def taken_option(words, name, otherwise):
    """(its value, the other words)"""
    for place, word in enumerate(words):
        if word == name and place + 1 < len(words):
            return words[place + 1], words[:place] + words[place + 2:]
        if word.startswith(f"{name}="):
            return word.split("=", 1)[1], words[:place] + words[place + 1:]
    return otherwise, words


def main():
    kind, *words = sys.argv[1:]
    binary = ROOT / "build/release/pistachio"
    given = {word.split("=", 1)[0] for word in words}
    if kind == "onpath" and "--queries" in given:
        os.execv(sys.executable, [sys.executable, str(Path(__file__).with_name("on_path_queries.py")), *words])
    if given & {"-h", "--help"}:
        os.execv(binary, [str(binary), "help"])
    if kind in ON_GENERATED_TABLES:
        own = [] if "--cache" in given else ["--cache", str(ROOT / "data")]
    else:
        scale_factors, words = taken_option(words, "--sf", "1")
        own = [] if "--query-folder" in given else ["--query-folder", str(ROOT / "tests/tpch/queries")]
        if "--data" not in given:
            own += ["--data", ",".join(str(ensure_tpch(factor)) for factor in scale_factors.split(","))]
    os.execv(binary, [str(binary), "bench", kind, *own, *words])


if __name__ == "__main__":
    main()
