"""Generates TPC-H Parquet files with tpchgen-cli under data/sf<N>, once. Used by scripts/demo and the benchmarks."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from data_folder import ROOT, ensure_folder  # noqa: E402

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def ensure_tpch(scale_factor):
    """Returns the folder with one file per table."""
    beside_python = Path(sys.executable).with_name("tpchgen-cli")
    generator = beside_python if beside_python.exists() else shutil.which("tpchgen-cli") or beside_python
    command = [generator, "parquet", "-s", str(scale_factor), "--output-dir"]
    return ensure_folder(f"sf{scale_factor}", lambda partial: subprocess.run([*command, partial], check=True),
                         lambda folder: all((folder / f"{table}.parquet").exists() for table in TABLES))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sf", default="1", help="scale factor (1: 6 million lineitem rows, 350 MB)")
    print(ensure_tpch(parser.parse_args().sf).relative_to(ROOT))
