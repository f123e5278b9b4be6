"""Columns with nanoseconds in files that pyarrow and DuckDB wrote, read by the built program. DuckDB is the reference where it
does not round."""

import io
import itertools
import json
import operator
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support import pistachio_process as pistachio  # noqa: E402
from tests.support.pistachio_session import PistachioSession  # noqa: E402

NOON = 1704112496123456789  # 2024-01-01 12:34:56.123456789
# Neighbours that are equal in microseconds, on both sides of 1970, and both ends of the range.
EDGES = [NOON, NOON + 1, NOON - 789, NOON + 211, 0, 1, -1, -999, -1000, -1001, None, 2**63 - 2, 2 - 2**63]
COMPARISONS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
COLUMNS = {"ts": pa.timestamp("ns"), "tz": pa.timestamp("ns", "UTC"), "t": pa.time64("ns")}


def moments(rows):
    """Ascending within a million rows, so that row groups and pages have distinct ranges."""
    return [None if row % 17 == 0 else NOON + row * 137 for row in range(rows)]


def table_of(values):
    arrays = [pa.array(values, pa.timestamp("ns")), pa.array(values, pa.timestamp("ns", "UTC")),
              pa.array([None if value is None else value % 86_400_000_000_000 for value in values], pa.time64("ns"))]
    return pa.table({"i": range(len(values)), "ts": arrays[0], "tz": arrays[1], "t": arrays[2]})


def text_of(nanos):
    return duckdb.sql(f"SELECT make_timestamp_ns({nanos})::VARCHAR").fetchall()[0][0]


def pistachio_bytes(*words):
    return subprocess.run([pistachio.BINARY, *words], capture_output=True, timeout=pistachio.WATCHDOG_SECONDS, check=True, stdin=subprocess.DEVNULL).stdout


class Nanoseconds(unittest.TestCase):
    """One process answers the queries of all tests. It caches no footers: tests write the same file several times."""

    @classmethod
    def setUpClass(cls):
        cls.session = PistachioSession("-s", "metadata_cache=off")
        cls.addClassCleanup(cls.session.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "n.parquet"

    def sql(self, statement):
        return duckdb_oracle.parse_csv(self.session.run(statement).csv)

    def number(self, statement):
        return int(self.sql(statement)[0][0])

    def error(self, *words):
        done = pistachio.run(*words)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def judge(self, statement):
        """Our rows and DuckDB's, whose session is in UTC."""
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        self.assertIsNone(duckdb_oracle.difference(self.sql(statement), duckdb_oracle.answer(connection, statement)), statement)

    def test_types_are_those_of_duckdb(self):
        pq.write_table(table_of(EDGES), self.file)
        described = dict(self.sql(f"DESCRIBE SELECT * FROM '{self.file}'"))
        self.assertEqual(described, {"i": "BIGINT", "ts": "TIMESTAMP_NS", "tz": "TIMESTAMPTZ_NS", "t": "TIME_NS"})
        self.assertEqual({name: str(kind) for name, kind in zip(described, duckdb.sql(f"FROM '{self.file}'").types)}, described)

    def test_every_encoding(self):
        for encoding in ("PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", None):
            for version in ("1.0", "2.0"):
                encodings = {} if encoding is None else {"column_encoding": {name: encoding for name in COLUMNS}}
                pq.write_table(table_of(EDGES + moments(3000)), self.file, use_dictionary=encoding is None, data_page_version=version,
                               row_group_size=1000, **encodings)
                self.judge(f"SELECT * FROM '{self.file}'")
                self.judge(f"SELECT min(ts), max(ts), min(tz), max(tz), min(t), max(t), count(DISTINCT ts) FROM '{self.file}'")

    def test_filters_agree_with_unpruned_expressions(self):
        values = EDGES + moments(4000)
        pq.write_table(table_of(values), self.file, row_group_size=500, write_page_index=True, data_page_size=1000,
                       bloom_filter_options={"ts": {"ndv": 1000, "fpp": 0.01}, "tz": {"ndv": 1000, "fpp": 0.01}})
        cases = list(itertools.product(("ts", "tz"), (NOON, NOON + 137 * 1234, NOON + 137 * 1234 + 1, NOON - 789, -1, -1000), COMPARISONS))
        for left in ("{}", "{} + interval '0 seconds'"):
            counts = [f"SELECT {place}, count(*) FROM '{self.file}' WHERE {left.format(column)} {comparison} '{text_of(nanos)}'"
                      for place, (column, nanos, comparison) in enumerate(cases)]
            answer = dict(self.sql(" UNION ALL ".join(counts)))
            for place, (column, nanos, comparison) in enumerate(cases):
                expected = sum(value is not None and COMPARISONS[comparison](value, nanos) for value in values)
                self.assertEqual(int(answer[str(place)]), expected, f"{left.format(column)} {comparison} {nanos}")

    def test_row_groups_are_pruned_by_nanoseconds(self):
        pq.write_table(table_of(moments(4000)), self.file, row_group_size=500)
        inside = NOON + 137 * 1234
        for column in ("ts", "tz", "t"):
            shown = text_of(inside).split(" ")[1] if column == "t" else text_of(inside)
            where = f"{column} = {shown}"
            answer = pistachio.scan(self.file, "--where", where)
            self.assertEqual((answer["rows"], answer["row_groups_pruned"]), (1, 7), where)
        # Between two values of the same microsecond.
        answer = pistachio.scan(self.file, "--where", f"ts < {text_of(NOON + 137 * 500)}")
        self.assertEqual(answer["row_groups_pruned"], 7)

    def test_bloom_filters_use_nanoseconds(self):
        values = [NOON + row * 1000 for row in range(1000)]
        pq.write_table(pa.table({"ts": pa.array(values, pa.timestamp("ns"))}), self.file, bloom_filter_options={"ts": {"ndv": 1000, "fpp": 0.0001}})
        self.assertEqual(pistachio.scan(self.file, "--where", f"ts = {text_of(values[500])}")["rows"], 1)
        answer = pistachio.scan(self.file, "--where", f"ts = {text_of(values[500] + 1)}")
        self.assertEqual((answer["rows"], answer["row_groups_pruned"]), (0, 1))

    def test_files_of_mixed_precision_are_one_table(self):
        micros = [1704112496123456, 0, -1, None]
        for place, (unit, factor) in enumerate((("us", 1), ("ns", 1000), ("ms", 0.001))):
            values = [None if value is None else int(value * factor) + (1 if unit == "ns" else 0) for value in micros]
            pq.write_table(pa.table({"f": [place] * 4, "ts": pa.array(values, pa.timestamp(unit)), "tz": pa.array(values, pa.timestamp(unit, "UTC"))}),
                           self.folder / f"m{place}.parquet", write_page_index=True)
        files = f"read_parquet('{self.folder}/m*.parquet')"
        self.assertEqual(self.sql(f"DESCRIBE SELECT * FROM {files}"), [("f", "BIGINT"), ("ts", "TIMESTAMP_NS"), ("tz", "TIMESTAMPTZ_NS")])
        self.assertEqual(sorted(self.sql(f"SELECT f, ts FROM {files} WHERE ts > '2000-01-01'")),
                         [("0", "2024-01-01 12:34:56.123456"), ("1", "2024-01-01 12:34:56.123456001"), ("2", "2024-01-01 12:34:56.123")])
        self.assertEqual(self.sql(f"SELECT f FROM {files} WHERE tz = '2024-01-01 12:34:56.123456'"), [("0",)])
        self.assertEqual(self.sql(f"SELECT f FROM {files} WHERE ts = '2024-01-01 12:34:56.123456001'"), [("1",)])
        # A file of microseconds alone has no nanoseconds.
        self.assertEqual(dict(self.sql(f"DESCRIBE SELECT * FROM '{self.folder}/m0.parquet'"))["ts"], "TIMESTAMP")

    def test_microseconds_out_of_nanosecond_range_are_an_error(self):
        pq.write_table(pa.table({"ts": pa.array([NOON], pa.timestamp("ns"))}), self.folder / "m0.parquet")
        pq.write_table(pa.table({"ts": pa.array([10_413_792_000_000_000], pa.timestamp("us"))}), self.folder / "m1.parquet")
        message = self.error("-c", f"SELECT ts FROM '{self.folder}/m*.parquet'")
        self.assertIn("outside the range of nanoseconds", message)
        self.assertIn("m1.parquet", message)

    def test_int96_is_truncated_to_microseconds(self):
        values = [value for value in EDGES if value is None or abs(value) < 2**62]
        pq.write_table(pa.table({"ts": pa.array(values, pa.timestamp("ns"))}), self.file, use_deprecated_int96_timestamps=True)
        self.assertEqual(self.sql(f"DESCRIBE SELECT * FROM '{self.file}'"), [("ts", "TIMESTAMP")])
        self.judge(f"SELECT ts FROM '{self.file}'")
        # Next to a file with nanoseconds, too.
        pq.write_table(pa.table({"ts": pa.array([NOON], pa.timestamp("ns"))}), self.folder / "other.parquet")
        self.assertEqual(self.number(f"SELECT count(*) FROM '{self.folder}/*.parquet' WHERE ts = '2024-01-01 12:34:56.123456789'"), 1)
        self.assertEqual(self.number(f"SELECT count(*) FROM '{self.folder}/*.parquet' WHERE ts = '2024-01-01 12:34:56.123456'"), 3)

    def test_microseconds_with_a_time_zone_are_filtered_exactly(self):
        values = [value if value is None else value // 1000 for value in moments(4000)]
        pq.write_table(pa.table({"tz": pa.array(values, pa.timestamp("us", "UTC"))}), self.file, row_group_size=500)
        for constant in ("'2024-01-01 14:34:56.1236+02'", "'2024-01-01 12:34:56.123600789+00'::timestamptz_ns", "timestamp '2024-01-01 12:34:56.1236'"):
            pruned, plain = (self.number(f"SELECT count(*) FROM '{self.file}' WHERE {left} < {constant}") for left in ("tz", "tz + interval '0 seconds'"))
            self.assertEqual(pruned, plain, constant)
            self.assertGreater(pruned, 0)

    def test_a_timestamp_column_against_nanoseconds(self):
        pq.write_table(pa.table({"u": pa.array([0, 1, 2], pa.timestamp("us")), "d": pa.array([0, 1, 2], pa.date32())}), self.file)
        for where in ("u = '1970-01-01 00:00:00.000001001'::timestamp_ns", "u > '1970-01-01 00:00:00.000001001'::timestamp_ns",
                      "u <= '1970-01-01 00:00:00.000001'::timestamp_ns", "d < '1970-01-02 00:00:00.000000001'::timestamp_ns"):
            self.judge(f"SELECT u FROM '{self.file}' WHERE {where}")

    def test_ranks_exchange_nanoseconds(self):
        pq.write_table(table_of(EDGES * 20), self.file, row_group_size=20)
        statement = f"SELECT x.ts, x.tz, x.t, count(*) FROM '{self.file}' x JOIN '{self.file}' y ON x.ts = y.ts GROUP BY x.ts, x.tz, x.t"
        alone = self.sql(statement)
        done = pistachio.run("cluster", "-n", "3", "--", "--format", "csv", "-s", "spread_tables=on", "-c", statement)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(alone), sorted(duckdb_oracle.parse_csv(done.stdout)))
        self.assertEqual(len(alone), len(EDGES) - 1)

    def test_results_keep_nanoseconds(self):
        pq.write_table(table_of(EDGES), self.file)
        expected = pq.read_table(self.file)
        for form in ("parquet", "arrow"):
            done = pistachio_bytes("--format", form, "-c", f"SELECT * FROM '{self.file}'")
            read = pq.read_table(io.BytesIO(done)) if form == "parquet" else pa.ipc.open_stream(done).read_all()
            self.assertEqual(read.cast(expected.schema), expected, form)
            self.assertEqual({name: read.schema.field(name).type for name in COLUMNS}, COLUMNS)
        rows = json.loads(pistachio.run("--format", "json", "-c", f"SELECT * FROM '{self.file}' ORDER BY i LIMIT 1").stdout)
        self.assertEqual(rows[0], {"i": 0, "ts": "2024-01-01 12:34:56.123456789", "tz": "2024-01-01 12:34:56.123456789+00", "t": "12:34:56.123456789"})

    def test_plans_show_the_type(self):
        pq.write_table(table_of(EDGES), self.file)
        done = pistachio.run("-c", f"EXPLAIN SELECT i FROM '{self.file}' WHERE ts + interval '1 day' > '2024-01-01 12:34:56.123456789'")
        self.assertIn("TIMESTAMP_NS '2024-01-01 12:34:56.123456789'", done.stdout)


if __name__ == "__main__":
    unittest.main()
