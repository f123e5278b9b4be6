"""TPC-H data and queries for tests and benchmarks: data made once by tpchgen-cli, queries from the files beside this one."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def query_text(number):
    return (HERE / "queries" / f"q{number:02}.sql").read_text()


def data_folder(scale):
    """The folder with the tables of a scale factor; makes it if it is not there."""
    folder = ROOT / "data" / f"sf{scale}"
    if not all((folder / f"{table}.parquet").exists() for table in TABLES):
        folder.mkdir(parents=True, exist_ok=True)
        generator = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run([str(generator), "parquet", "-s", str(scale), "--output-dir", str(folder)], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ)
    return folder
