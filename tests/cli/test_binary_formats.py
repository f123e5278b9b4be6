"""Results as Parquet files and Arrow streams, read back by pyarrow."""

import datetime
import io
import json
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.terminal_session import TerminalSession

EVERY_TYPE = """
SELECT true AS boolean, CAST(-1 AS TINYINT) AS tinyint, CAST(-2 AS SMALLINT) AS smallint, -3 AS integer, -4000000000 AS bigint,
       CAST(1.5 AS REAL) AS real, CAST(-0.1 AS DOUBLE) AS double, CAST(-12.34 AS DECIMAL(5,2)) AS small_decimal,
       CAST(-123456789012.345 AS DECIMAL(18,3)) AS decimal, CAST(-12345678901234567890123456.789 AS DECIMAL(38,3)) AS large_decimal,
       DATE '1969-12-31' AS date, TIME '23:59:59.999999' AS time, TIMESTAMP '1969-12-31 23:59:59.999999' AS timestamp,
       TIMESTAMP WITH TIME ZONE '2024-02-29 12:00:00+00' AS timestamptz, INTERVAL '14 months 3 days 4.5 seconds' AS interval,
       'Grüße' AS varchar, CAST('bytes' AS BLOB) AS blob
"""
NAMES = "boolean tinyint smallint integer bigint real double small_decimal decimal large_decimal date time timestamp timestamptz interval varchar blob".split()
# The same row, and one of NULLs.
WITH_NULLS = f"""
SELECT {', '.join(f't."{name}"' for name in NAMES)} FROM (VALUES (1), (2)) v(i) LEFT JOIN (SELECT *, 1 AS k FROM ({EVERY_TYPE}) e) t ON v.i = t.k ORDER BY v.i
"""
EXPECTED = {
    "boolean": True, "tinyint": -1, "smallint": -2, "integer": -3, "bigint": -4000000000, "real": 1.5, "double": -0.1,
    "small_decimal": Decimal("-12.34"), "decimal": Decimal("-123456789012.345"), "large_decimal": Decimal("-12345678901234567890123456.789"),
    "date": datetime.date(1969, 12, 31), "time": datetime.time(23, 59, 59, 999999), "timestamp": datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    "timestamptz": datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc), "varchar": "Grüße", "blob": b"bytes",
}
TYPES = {
    "boolean": pa.bool_(), "tinyint": pa.int8(), "smallint": pa.int16(), "integer": pa.int32(), "bigint": pa.int64(), "real": pa.float32(),
    "double": pa.float64(), "small_decimal": pa.decimal128(5, 2), "decimal": pa.decimal128(18, 3), "large_decimal": pa.decimal128(38, 3),
    "date": pa.date32(), "time": pa.time64("us"), "timestamp": pa.timestamp("us"), "timestamptz": pa.timestamp("us", "UTC"), "varchar": pa.string(),
    "blob": pa.binary(),
}


def run(*words):
    return pistachio.run(*words, text=False)


class BinaryFormats(unittest.TestCase):
    def output(self, form, *words):
        done = run("--format", form, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def parquet(self, *words):
        return pq.read_table(io.BytesIO(self.output("parquet", *words)))

    def arrow(self, *words):
        return pa.ipc.open_stream(self.output("arrow", *words)).read_all()

    def read(self, form, *words):
        table = self.parquet(*words) if form == "parquet" else self.arrow(*words)
        table.validate(full=True)
        return table

    def test_every_type(self):
        for form in ("parquet", "arrow"):
            table = self.read(form, "-c", EVERY_TYPE)
            row = table.to_pylist()[0]
            interval = row.pop("interval")
            self.assertEqual(row, EXPECTED, form)
            for name, own in TYPES.items():
                self.assertEqual(table.schema.field(name).type, own, f"{form} {name}")
            if form == "arrow":
                self.assertEqual(interval, pa.MonthDayNano((14, 3, 4_500_000_000)))
            else:
                self.assertEqual(interval, (14).to_bytes(4, "little") + (3).to_bytes(4, "little") + (4500).to_bytes(4, "little"))

    def test_parquet_is_read_back_by_the_engine(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "t.parquet"
            file.write_bytes(self.output("parquet", "-c", WITH_NULLS))
            self.assertEqual(self.output("csv", "-c", f"SELECT * FROM '{file}' ORDER BY tinyint"), self.output("csv", "-c", WITH_NULLS))
            self.assertEqual(self.output("csv", "-c", f"DESCRIBE SELECT * FROM '{file}'"), self.output("csv", "-c", f"DESCRIBE {WITH_NULLS}"))

    def test_nulls_and_no_rows(self):
        for form in ("parquet", "arrow"):
            row, nulls = self.read(form, "-c", WITH_NULLS).to_pylist()
            self.assertEqual(row | EXPECTED, row, form)
            self.assertEqual(set(nulls.values()), {None}, form)
            table = self.read(form, "-c", f"SELECT * FROM ({EVERY_TYPE}) t WHERE tinyint > 0")
            self.assertEqual((table.num_rows, table.num_columns), (0, 17))
            self.assertEqual(table.schema.field("large_decimal").type, pa.decimal128(38, 3))

    def test_large_results_with_dictionaries_and_nulls(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = 300_000
            table = pa.table({
                "n": pa.array([None if i % 11 == 0 else i for i in range(rows)], pa.int64()),
                "word": pa.array([None if i % 7 == 0 else f"word {i % 50}" for i in range(rows)]),
                "text": pa.array([f"text {i}" for i in range(rows)]),
                "flag": pa.array([None if i % 5 == 0 else i % 2 == 0 for i in range(rows)]),
                "price": pa.array([Decimal(i).scaleb(-2) for i in range(rows)], pa.decimal128(12, 2)),
            })
            pq.write_table(table, Path(folder) / "t.parquet", row_group_size=70_000)
            for form in ("parquet", "arrow"):
                read = self.read(form, "-d", folder, "-c", "SELECT * FROM t ORDER BY text", "-s", "threads=2")
                self.assertEqual(read, table.sort_by("text"), form)
                read = self.read(form, "-d", folder, "-c", "SELECT word, n FROM t WHERE n % 3 = 0")
                self.assertEqual(read.num_rows, sum(1 for i in range(rows) if i % 11 and i % 3 == 0))

    def test_row_groups_are_bounded(self):
        with tempfile.TemporaryDirectory() as folder:
            pq.write_table(pa.table({"t": [f"{i:08}" * 1000 for i in range(20_000)]}), Path(folder) / "t.parquet", row_group_size=1000, use_dictionary=False)
            output = self.output("parquet", "-d", folder, "-c", "SELECT t FROM t", "-s", "chunk_rows=1000")
            self.assertGreater(pq.ParquetFile(io.BytesIO(output)).num_row_groups, 1)

    def test_several_results(self):
        source = pa.BufferReader(self.output("arrow", "-c", "SELECT 1 AS a; CREATE TABLE t(x INTEGER); SELECT 'x' AS b; SELECT a FROM (VALUES (1)) v(a) WHERE a > 1"))
        tables = [pa.ipc.open_stream(source).read_all() for _ in range(3)]
        self.assertEqual([table.to_pylist() for table in tables], [[{"a": 1}], [{"b": "x"}], []])
        done = run("--format", "parquet", "-c", "SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"a Parquet file holds one result", done.stderr)
        self.assertEqual(pq.read_table(io.BytesIO(done.stdout)).to_pylist(), [{"a": 1}])

    def test_errors_never_mix_with_data(self):
        for form in ("parquet", "arrow"):
            done = run("--format", form, "-s", "on_error=continue", "-c", "SELECT zz; SELECT 1 AS a")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"error: there is no column zz", done.stderr)
            read = pq.read_table(io.BytesIO(done.stdout)) if form == "parquet" else pa.ipc.open_stream(done.stdout).read_all()
            self.assertEqual(read.to_pylist(), [{"a": 1}])

    def test_partial_result_is_not_a_parquet_file(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = 12_000
            table = pa.table({"a": [1] * (rows - 1) + [0], "t": [f"{i:020}" * 500 for i in range(rows)]})
            pq.write_table(table, Path(folder) / "t.parquet", row_group_size=100, use_dictionary=False)
            done = run("--format", "parquet", "-d", folder, "-s", "threads=1", "-c", "SELECT 1 / a AS x, t FROM t")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"division by zero", done.stderr)
            self.assertTrue(done.stdout.startswith(b"PAR1"))
            with self.assertRaises(pa.ArrowInvalid):
                pq.read_table(io.BytesIO(done.stdout))

    def test_intervals_that_do_not_fit_are_refused(self):
        for text in ("-1 day", "0.000001 seconds", "2000 hours"):
            done = run("--format", "parquet", "-c", f"SELECT INTERVAL '{text}' AS i")
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(b"column i has an INTERVAL that Parquet", done.stderr)
            self.assertEqual(self.arrow("-c", f"SELECT INTERVAL '{text}' AS i").num_rows, 1)

    def test_invalid_utf8_is_refused_unless_blob(self):
        broken = b"a\xff"
        text = pa.Array.from_buffers(pa.utf8(), 2, [None, pa.array([0, 1, 3], pa.int32()).buffers()[1], pa.py_buffer(b"x" + broken)])
        with tempfile.TemporaryDirectory() as folder:
            pq.write_table(pa.table({"t": text}), Path(folder) / "t.parquet")
            for form in ("parquet", "arrow"):
                done = run("--format", form, "-d", folder, "-c", "SELECT t FROM t")
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"column t has text that is not UTF-8, which Parquet and Arrow do not allow; cast it to BLOB", done.stderr)
                self.assertEqual(run("--format", form, "-d", folder, "-c", "SELECT t FROM t WHERE t = 'x'").returncode, 0)
            self.assertEqual(self.arrow("-d", folder, "-c", "SELECT t::blob AS t FROM t")["t"].to_pylist(), [b"x", broken])

    def test_repeated_names_are_numbered(self):
        sql = "SELECT 1 AS a, 2 AS a, 3 AS a_1, sum(4), sum(5), 6 AS a"
        expected = {"a": 1, "a_2": 2, "a_1": 3, "sum": 4, "sum_1": 5, "a_3": 6}
        for form in ("parquet", "arrow"):
            self.assertEqual(self.read(form, "-c", sql).to_pylist(), [expected])
        for form in ("json", "jsonl"):
            answer = json.loads(self.output(form, "-c", sql))
            self.assertEqual(answer if form == "jsonl" else answer[0], expected)

    def test_unreadable_columns_are_not_dropped_silently(self):
        with tempfile.TemporaryDirectory() as folder:
            pq.write_table(pa.table({"id": [1], "items": [[1, 2]]}), Path(folder) / "t.parquet")
            for form in ("parquet", "arrow"):
                done = run("--format", form, "-d", folder, "-c", "SELECT * FROM t")
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertIn(b"column items.list.element cannot be written, since it cannot be read", done.stderr)
                self.assertEqual(self.read(form, "-d", folder, "-c", "SELECT id FROM t").to_pylist(), [{"id": 1}])

    def test_output_that_cannot_be_written_is_an_error(self):
        for form in ("parquet", "arrow"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([pistachio.BINARY, "--format", form, "-c", "SELECT 1 AS a"], stdout=full, stderr=subprocess.PIPE,
                                      timeout=pistachio.WATCHDOG_SECONDS, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"cannot write", done.stderr)

    def test_terminals_are_refused(self):
        for form in ("parquet", "arrow"):
            with TerminalSession("--format", form, "-c", "SELECT 1") as session:
                session.wait_for("not for a terminal")
                self.assertEqual(session.end(), 2)


if __name__ == "__main__":
    unittest.main()
