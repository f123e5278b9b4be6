"""Tables with many hive-style partitions: only files that the conditions on partition columns leave are opened. DuckDB is the reference."""

import datetime
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support import pistachio_process as pistachio  # noqa: E402
from tests.support.pistachio_session import PistachioSession, StatementFailed  # noqa: E402

PARTITIONS = 300  # more than are opened without looking at the conditions


def write_partition(folder, values, rows=None):
    place = folder.joinpath(*(f"{key}={value}" for key, value in values.items()))
    place.mkdir(parents=True)
    pq.write_table(pa.table(rows or {"a": [1, 2, 3], "b": ["x", "y", None]}), place / "p.parquet")
    return place / "p.parquet"


class Partitions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        first = datetime.date(2024, 1, 1)
        for i in range(PARTITIONS):
            keys = {"day": first + datetime.timedelta(days=i // 3), "region": "__HIVE_DEFAULT_PARTITION__" if i % 50 == 7 else f"r{i % 7}",
                    "n": i - 100}
            write_partition(cls.folder, keys, {"a": [i, -i, i % 5], "b": ["x", f"t{i}", None]})
        cls.table = f"'{cls.folder}/**/*.parquet'"
        cls.session = PistachioSession()
        cls.addClassCleanup(cls.session.close)
        cls.duckdb = duckdb_oracle.connect()

    def sql(self, statement):
        return duckdb_oracle.parse_csv(self.session.run(statement).csv)

    def files_opened(self, statement):
        lines = [line for (line,) in self.sql(f"EXPLAIN {statement}") if "files: " in line]
        return [int(line.split("files: ")[1].split(" ")[0]) for line in lines]

    def judge(self, statement):
        theirs = statement.replace(self.table, f"read_parquet({self.table}, hive_partitioning = true)")
        self.assertIsNone(duckdb_oracle.difference(self.sql(statement), duckdb_oracle.answer(self.duckdb, theirs)), statement)

    def test_conditions_choose_files(self):
        # The first file is always open: it has the schema.
        for where, opened in {"n = 5": 2, "n IN (5, 7, 150)": 4, "n BETWEEN 10 AND 19": 11, "n % 100 = 0": 3, "day = DATE '2024-02-01'": 4,
                              "day >= '2024-04-01' AND region = 'r3'": 5, "region LIKE 'r_' AND n < -95": 5, "n = 5 OR n = 6 AND a > 0": None,
                              "region IS NULL": 7, "n = 1000": 1, "n > 5 AND n < 5": 1, "abs(n) = 3 AND a > 0": 3, "a = 5": None,
                              "n = a": None, "n + a = 0": None, "region IS NOT DISTINCT FROM 'r1'": 43}.items():
            with self.subTest(where=where):
                self.judge(f"SELECT count(*), sum(a), min(b), max(n) FROM {self.table} WHERE {where}")
                self.judge(f"SELECT a, b, day, region, n FROM {self.table} WHERE {where}")
                # Nothing is said about files if all are open.
                expected = [] if opened is None else [opened]
                self.assertEqual(self.files_opened(f"SELECT a FROM {self.table} WHERE {where}"), expected)

    def test_a_condition_that_fails_for_other_partitions_does_not_fail(self):
        self.judge(f"SELECT count(*) FROM {self.table} WHERE CASE WHEN n = 0 THEN false ELSE 100 / n > 20 END")
        self.assertEqual(self.sql(f"SELECT count(*) FROM {self.table} WHERE n > 0 AND 100 / n > 20"), [("12",)])
        with self.assertRaisesRegex(StatementFailed, "division by zero"):
            self.sql(f"SELECT count(*) FROM {self.table} WHERE 100 / n > 20")

    def test_joins(self):
        t = self.table
        for statement in (f"SELECT x.a, y.b FROM {t} x JOIN {t} y ON x.n = y.n WHERE x.n = 42",
                          f"SELECT x.a, y.b FROM {t} x LEFT JOIN {t} y ON x.n = y.n AND y.n = 42 WHERE x.n IN (41, 42)",
                          f"SELECT x.a, y.b FROM {t} x FULL JOIN (SELECT * FROM {t} WHERE n = 3) y ON x.n = y.n AND x.a = y.a WHERE x.n < -90",
                          f"SELECT count(*) FROM {t} x WHERE n = 42 AND NOT EXISTS (SELECT 1 FROM {t} y WHERE y.n = 43 AND x.a = y.a)",
                          f"SELECT n, count(*) FROM {t} WHERE n IN (SELECT n FROM {t} WHERE a = 7) GROUP BY n",
                          f"WITH c AS (SELECT a, b, n FROM {t} WHERE n = 8) SELECT * FROM c UNION ALL SELECT * FROM c"):
            self.judge(statement)
        self.assertEqual(self.files_opened(f"SELECT x.a, y.b FROM {t} x JOIN {t} y ON x.n = y.n WHERE x.n = 42"), [2, 2])

    def test_ranks_open_the_same_files(self):
        with PistachioSession("-s", "spread_tables=on", ranks=3) as ranks:
            for statement in (f"SELECT n, sum(a) FROM {self.table} WHERE n % 10 = 3 GROUP BY n",
                              f"SELECT x.a, y.b FROM {self.table} x JOIN {self.table} y ON x.a = y.a WHERE x.n < -80 AND y.region = 'r2'",
                              f"SELECT count(*) FROM {self.table}"):
                ours = duckdb_oracle.parse_csv(ranks.run(statement).csv)
                self.assertEqual(sorted(ours, key=str), sorted(self.sql(statement), key=str), statement)

    def test_a_condition_that_needs_much_memory(self):
        with PistachioSession("-s", "memory_limit=64MB") as session:
            for where, rows in {"length(repeat(n::text, 200000)) > 5": 3 * PARTITIONS, "n = 5 AND length(repeat(n::text, 200000)) > 5": 3}.items():
                self.assertEqual(session.run(f"SELECT count(*) FROM {self.table} WHERE {where}").csv.split(), ["count", str(rows)])

    def test_ranks_use_the_keys_of_the_first_rank(self):
        """Other ranks get absolute paths, where a folder above the first rank's current one may look like a partition."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "v=1"
            for k in range(4):
                write_partition(place / "t", {"k": k})
            words = [pistachio.BINARY, "cluster", "-n", "3", "--", "-s", "spread_tables=on", "--format", "csv", "-d", ".", "-c",
                     "SELECT k, count(*) FROM 't/*/*.parquet' GROUP BY k ORDER BY k; SELECT count(*), max(k) FROM t WHERE k >= 2"]
            done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=pistachio.WATCHDOG_SECONDS, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.split(), ["k,count", "0,3", "1,3", "2,3", "3,3", "count,max", "6,3"])

    def test_links_hide_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for k in (1, 3):
                write_partition(Path(folder), {"k": k})
            for name, target in {"k=0": "k=1", "k=2": "k=1", "k=3/up": "..", "k=3/self": ".", "latest": "k=3"}.items():
                (Path(folder) / name).symlink_to(target)
            for pattern in ("", "/**", "/**/*.parquet", "/k=*/**/*.parquet", "/k=*/*.parquet"):
                rows = self.sql(f"SELECT k, count(*) FROM '{folder}{pattern}' GROUP BY k ORDER BY k")
                self.assertEqual(rows, [("0", "3"), ("1", "3"), ("2", "3"), ("3", "3")], pattern)

    def test_a_linked_folder_is_read_once(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "t"
            for name in ("v1", "v2"):
                (root / name).mkdir(parents=True)
                pq.write_table(pa.table({"a": [1, 2, 3]}), root / name / "p.parquet")
            (Path(folder) / "elsewhere").mkdir()
            pq.write_table(pa.table({"a": [4]}), Path(folder) / "elsewhere" / "p.parquet")
            for name, target in {"latest": "v2", "v2/back": "../v1", "other": "../elsewhere", "another": "../elsewhere"}.items():
                (root / name).symlink_to(target)
            for pattern in ("", "/**", "/**/*.parquet"):
                self.assertEqual(self.sql(f"SELECT count(*), sum(a) FROM '{root}{pattern}'"), [("7", "16")], pattern)

    def test_a_repeated_key_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "k=1" / "k=2" / "p.parquet"
            file.parent.mkdir(parents=True)
            pq.write_table(pa.table({"a": [5]}), file)
            self.assertEqual(self.sql(f"SELECT * FROM '{folder}'"), [("5", "1")])

    def make(self, bad=None):
        """Another table; `bad` is called with the path of the file of partition k=200."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for k in range(PARTITIONS):
            file = write_partition(Path(folder.name), {"k": k})
            if k == 200:
                bad(file)
        return f"'{folder.name}'"

    def test_damage_elsewhere_is_not_seen(self):
        table = self.make(lambda file: file.write_bytes(b"PAR1 no footer"))
        self.assertEqual(self.sql(f"SELECT sum(a) FROM {table} WHERE k < 200"), [("1200",)])
        for statement in (f"SELECT sum(a) FROM {table} WHERE k >= 200", f"SELECT sum(a) FROM {table}"):
            with self.assertRaisesRegex(StatementFailed, "k=200"):
                self.sql(statement)

    def test_schemas_of_opened_files_must_agree(self):
        table = self.make(lambda file: pq.write_table(pa.table({"a": ["text"], "b": ["x"]}), file))
        self.assertEqual(self.sql(f"SELECT sum(a) FROM {table} WHERE k < 200"), [("1200",)])
        with self.assertRaisesRegex(StatementFailed, "column a is BIGINT .* and VARCHAR in .*k=200"):
            self.sql(f"SELECT sum(a) FROM {table} WHERE k > 150")

    def test_nanoseconds_in_a_later_partition(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for k in range(PARTITIONS):
            unit, scale = ("ns", 1000) if k == 200 else ("us", 1)
            write_partition(Path(folder.name), {"k": k}, {"t": pa.array([k * scale + (unit == "ns")], pa.timestamp(unit))})
        table = f"'{folder.name}'"
        self.assertEqual(self.sql(f"DESCRIBE SELECT t FROM {table}"), [("t", "TIMESTAMP_NS")])
        self.assertEqual(self.sql(f"SELECT t FROM {table} WHERE k IN (199, 200) ORDER BY k"),
                         [("1970-01-01 00:00:00.000199",), ("1970-01-01 00:00:00.000200001",)])
        self.assertEqual(self.sql(f"SELECT t FROM {table} WHERE k = 199"), [("1970-01-01 00:00:00.000199",)])

    def test_other_partitions_stay_closed_when_types_differ(self):
        """Nanoseconds in one partition make the statement start again, but only for its table."""
        with tempfile.TemporaryDirectory() as folder:
            for k in range(PARTITIONS):
                unit = "ns" if k == 200 else "us"
                write_partition(Path(folder) / "t", {"k": k}, {"t": pa.array([k], pa.timestamp(unit))})
            table = self.make(lambda file: file.write_bytes(b"PAR1 no footer"))
            rows = self.sql(f"SELECT count(*) FROM '{folder}/t' x JOIN {table} y ON x.k = y.k WHERE x.k IN (199, 200) AND y.k = 199")
            self.assertEqual(rows, [("3",)])

    def test_views_are_made_without_opening_all(self):
        table = self.make(lambda file: file.write_bytes(b"PAR1 no footer"))
        with PistachioSession() as session:
            session.run(f"CREATE VIEW v AS SELECT * FROM {table}")
            self.assertEqual(session.run("SELECT sum(a) FROM v WHERE k = 3").csv.split(), ["sum", "6"])

    def test_files_that_disappear(self):
        table = self.make(lambda file: None)
        with PistachioSession() as session:
            session.run(f"SELECT count(*) FROM {table}")
            (Path(table.strip("'")) / "k=200" / "p.parquet").unlink()
            self.assertEqual(session.run(f"SELECT count(*) FROM {table} WHERE k >= 199").csv.split(), ["count", str(3 * (PARTITIONS - 200))])


if __name__ == "__main__":
    unittest.main()
