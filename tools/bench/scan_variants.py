"""Generates TPC-H lineitem and runs `pistachio bench scan` on it; passes on all options but --sf. Started by `scripts/bench
variants`."""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tpch_data import ROOT, ensure_tpch  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench variants", description="Scan variants of the engine against T_min.")
    parser.add_argument("--sf", default="1", help="scale factor (default 1)")
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/pistachio", help="of a CUDA build for --device cuda")
    options, passed_on = parser.parse_known_args()
    folder = ensure_tpch(options.sf)
    os.execv(options.binary, [str(options.binary), "bench", "scan", str(Path(folder) / "lineitem.parquet"), *passed_on])


if __name__ == "__main__":
    main()
