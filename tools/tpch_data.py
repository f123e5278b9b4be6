"""Generates TPC-H Parquet files with tpchgen-cli under data/sf<N>, once. Used by scripts/demo and the benchmarks."""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def ensure_tpch(scale_factor):
    """Returns the folder with one file per table. An interrupted run leaves nothing that looks complete."""
    folder = ROOT / "data" / f"sf{scale_factor}"
    if all((folder / f"{table}.parquet").exists() for table in TABLES):
        return folder
    print(f"data: making TPC-H scale factor {scale_factor} in {folder.relative_to(ROOT)}", file=sys.stderr)
    began = time.perf_counter()
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    beside_python = Path(sys.executable).with_name("tpchgen-cli")
    generator = beside_python if beside_python.exists() else shutil.which("tpchgen-cli") or beside_python
    subprocess.run([generator, "parquet", "-s", str(scale_factor), "--output-dir", partial], check=True)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    print(f"data: done ({time.perf_counter() - began:.1f} s)", file=sys.stderr)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sf", default="1", help="scale factor (1: 6 million lineitem rows, 350 MB)")
    print(ensure_tpch(parser.parse_args().sf).relative_to(ROOT))
