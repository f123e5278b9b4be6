"""Scalar expressions compared with PostgreSQL, the reference of the dialect. The seed is the date, so that every day covers other
expressions.

    tests/oracle/test_postgres_expressions.py                            # 3,000 expressions, today's seed
    tests/oracle/test_postgres_expressions.py --count 50000 --seed 7

Skipped if PostgreSQL's server is not installed (Debian: postgresql)."""

import argparse
import datetime
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.oracle.two_dialects import differences  # noqa: E402
from tests.support.postgres_oracle import PostgresServer, find_programs  # noqa: E402

COUNT = 3000
SHOWN = 20


def seed_of_today():
    return int(datetime.date.today().strftime("%Y%m%d"))


@unittest.skipIf(find_programs() is None, "PostgreSQL's server is not installed (Debian: apt install postgresql)")
class PostgresExpressions(unittest.TestCase):
    def test_expressions_of_the_day(self):
        seed = seed_of_today()
        print(f"seed {seed}")
        with PostgresServer() as server:
            found = differences(server, seed, COUNT)
        self.assertEqual(len(found), 0, "\n" + "\n".join(map(str, found[:SHOWN])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=seed_of_today())
    arguments = parser.parse_args()
    if find_programs() is None:
        print("PostgreSQL's server is not installed (Debian: apt install postgresql)")
        return 0
    with PostgresServer() as server:
        found = differences(server, arguments.seed, arguments.count)
    for difference in found:
        print(difference)
    print(f"seed {arguments.seed}: {arguments.count} expressions, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
