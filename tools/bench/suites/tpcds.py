"""TPC-DS: the 99 queries and the data of DuckDB's extension `tpcds`.

PyPI has the extension for another version of DuckDB than the one to compare with (scripts/packages/tpcds_generator.txt). Both are
installed into a folder of their own, build/tpcds_generator, on first use; a process of its own runs them."""

import json
import os
import subprocess
import sys

from tools.bench.suites.query_suite import Query, Suite
from tools.data_folder import ROOT, ensure_folder

GENERATOR = ROOT / "build/tpcds_generator"
PACKAGES = ROOT / "scripts/packages/tpcds_generator.txt"
PROGRAM = """
import json, pathlib, sys
import duckdb, duckdb_extension_tpcds
extension, = pathlib.Path(duckdb_extension_tpcds.__file__).parent.rglob('tpcds.duckdb_extension')
connection = duckdb.connect()
connection.execute(f"LOAD '{extension}'")
if len(sys.argv) == 1:
    print(json.dumps(connection.execute('FROM tpcds_queries()').fetchall()))
else:
    scale, folder = sys.argv[1:]
    connection.execute(f'CALL dsdgen(sf = {float(scale)})')
    for table, in connection.execute('SHOW TABLES').fetchall():
        connection.execute(f"COPY {table} TO '{folder}/{table}.parquet' (FORMAT parquet)")
"""


def add_options(parser):
    parser.add_argument("--sf", default="1", help="scale factor (default 1)")


def prepare(arguments):
    install_generator()
    folder = ensure_folder(f"tpcds_sf{arguments.sf}", lambda partial: generator(arguments.sf, str(partial)))
    queries = [Query(f"q{number}", text) for number, text in json.loads(generator())]
    return Suite(f"TPC-DS, scale factor {arguments.sf}", folder, queries)


def install_generator():
    stamp = GENERATOR / "packages"
    wanted = PACKAGES.read_text()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target", GENERATOR, "-r", PACKAGES]
    if subprocess.run(command).returncode != 0:
        raise SystemExit("pip could not install the TPC-DS generator; is there a network? By hand:\n  " + " ".join(map(str, command)))
    stamp.write_text(wanted)


def generator(*words):
    """What the program prints: the queries, if there are no words; else it writes tables of a scale factor to a folder."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], env={**os.environ, "PYTHONPATH": str(GENERATOR)}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the TPC-DS generator failed:\n{done.stderr}")
    return done.stdout
