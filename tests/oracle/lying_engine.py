"""A stand-in for `pistachio` with planted bugs, to test the tools that look for bugs. It answers with DuckDB and implements as
much of the command line and the pipe protocol as PistachioSession uses.

Planted: upper() returns lower case, every query with ILIKE ends the process, sqrt() is an unknown function, and repeat() never
returns."""

import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from tests.support import duckdb_oracle  # noqa: E402


def csv_field(value):
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if value == "" or re.search(r'[",\n]', value) else value


def run(connection, sql):
    if re.search(r"\bilike\b", sql, re.IGNORECASE):
        sys.exit(3)
    if re.search(r"\bsqrt\b", sql, re.IGNORECASE):
        print("error: there is no function sqrt", flush=True)
        return
    while re.search(r"\brepeat\b", sql, re.IGNORECASE):
        time.sleep(60)
    try:
        answer = duckdb_oracle.answer(connection, re.sub(r"\bupper\b", "lower", sql, flags=re.IGNORECASE))
    except duckdb.Error as error:
        print("error: " + str(error).split("\n")[0], flush=True)
        return
    for row in [answer.names, *answer.rows]:
        print(",".join(map(csv_field, row)))
    print("-- time: 1.000 ms", flush=True)


def main():
    connection = duckdb_oracle.connect(Path(sys.argv[sys.argv.index("-d") + 1]), threads=1)
    duckdb_oracle.speak_like_pistachio(connection)
    for line in sys.stdin:
        run(connection, line)


if __name__ == "__main__":
    main()
