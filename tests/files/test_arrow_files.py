"""Arrow IPC files and streams (FROM 'x.arrow', read_arrow) against pyarrow's own values; several files; damaged ones."""

import datetime
import decimal
import random
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.feather

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed


def sample_table(rows):
    day = datetime.date(2020, 1, 1)
    return pa.table({
        "i8": pa.array([i % 100 - 50 for i in range(rows)], pa.int8()),
        "u8": pa.array([None if i % 7 == 0 else i % 200 for i in range(rows)], pa.uint8()),
        "i64": pa.array(range(rows), pa.int64()),
        "u64": pa.array([2**64 - 1 - i for i in range(rows)], pa.uint64()),
        "f": pa.array([i / 2 for i in range(rows)], pa.float64()),
        "d": pa.array([None if i % 5 == 0 else decimal.Decimal(i) / 100 for i in range(rows)], pa.decimal128(12, 2)),
        "w": pa.array([decimal.Decimal(i) * 10**20 for i in range(rows)], pa.decimal128(38, 0)),
        "b": pa.array([i % 3 == 0 for i in range(rows)], pa.bool_()),
        "day": pa.array([day + datetime.timedelta(days=i) for i in range(rows)], pa.date32()),
        "ms": pa.array([1000 * i for i in range(rows)], pa.timestamp("ms")),
        "ns": pa.array([i for i in range(rows)], pa.timestamp("ns")),
        "t": pa.array([f"text {i % 11}" if i % 4 else None for i in range(rows)], pa.string()),
        "large": pa.array([f"large {i}" for i in range(rows)], pa.large_string()),
        "coded": pa.array([f"c{i % 3}" if i % 6 else None for i in range(rows)]).dictionary_encode(),
        "nothing": pa.nulls(rows),
    })


SQL = """SELECT count(*) AS n, sum(i8) AS i8, sum(u8) AS u8, max(i64) AS i64, max(u64) AS u64, sum(f) AS f, sum(d) AS d, max(w) AS w,
count(*) FILTER (WHERE b) AS b, max(day) AS day, max(ms) AS ms, max(ns) AS ns, count(t) AS t, max(t) AS mt, max(large) AS large, count(coded) AS coded,
max(coded) AS mc, count(nothing) AS nothing FROM '{}'"""


def expected_line(rows):
    table = sample_table(rows).drop_columns(["ns"]).to_pydict()
    def known(name):
        return [value for value in table[name] if value is not None]
    texts = [rows, sum(table["i8"]), sum(known("u8")), max(table["i64"]), max(table["u64"]), sum(table["f"]), sum(known("d")), max(table["w"]),
             sum(table["b"]), max(table["day"]), max(table["ms"]), "1970-01-01 00:00:00.000001999", len(known("t")), max(known("t")), max(table["large"]),
             len(known("coded")), max(known("coded")), 0]
    return ",".join(str(text) for text in texts)


class ArrowFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.sessions = [PistachioSession(), PistachioSession("-s", "chunk_rows=7"), PistachioSession(ranks=3)]

    @classmethod
    def tearDownClass(cls):
        for session in cls.sessions:
            session.close()
        cls.folder.cleanup()

    def path(self, name):
        return Path(self.folder.name) / name

    def test_types_and_layouts(self):
        table = sample_table(2000)
        with pa.OSFile(str(self.path("file.arrow")), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=300)
        with pa.OSFile(str(self.path("stream.arrows")), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=300)
        pyarrow.feather.write_feather(table, str(self.path("packed.feather")), compression="zstd", chunksize=256)
        for name in ("file.arrow", "stream.arrows", "packed.feather"):
            for session in self.sessions:
                with self.subTest(name):
                    line = session.run(SQL.format(self.path(name))).csv.splitlines()[1]
                    self.assertEqual(line.replace(".0,", ","), expected_line(2000).replace(".0,", ","))
                    self.assertEqual(session.run(f"SELECT count(*) AS n FROM read_arrow('{self.path(name)}')").csv, "n\n2000\n")

    def test_nested_columns_are_named(self):
        table = pa.table({"a": [1, 2], "l": pa.array([[1], [2]])})
        pyarrow.feather.write_feather(table, str(self.path("nested.feather")))
        session = self.sessions[0]
        self.assertEqual(session.run(f"SELECT a FROM '{self.path('nested.feather')}'").csv, "a\n1\n2\n")
        with self.assertRaisesRegex(StatementFailed, "columns of Arrow's type list.* are not supported"):
            session.run(f"SELECT l FROM '{self.path('nested.feather')}'")

    def test_several_files(self):
        for name, table in (("s1", pa.table({"a": pa.array([1], pa.int32())})), ("s2", pa.table({"a": pa.array([2.5])})),
                            ("t1", pa.table({"b": ["x"], "a": pa.array([7], pa.int64())}))):
            pyarrow.feather.write_feather(table, str(self.path(name + ".arrow")), compression="uncompressed")
        for session in self.sessions:
            self.assertEqual(session.run(f"SELECT sum(a) AS s FROM '{self.path('s*.arrow')}'").csv, "s\n3.5\n")
            both = f"read_arrow(['{self.path('s1.arrow')}', '{self.path('t1.arrow')}'], union_by_name = true)"
            self.assertEqual(session.run(f"SELECT a, b FROM {both} ORDER BY a").csv, "a,b\n1,\n7,x\n")
        with self.assertRaisesRegex(StatementFailed, "has a column b, which"):
            self.sessions[0].run(f"SELECT * FROM read_arrow(['{self.path('s1.arrow')}', '{self.path('t1.arrow')}'])")

    def test_values_out_of_range_are_located(self):
        pyarrow.feather.write_feather(pa.table({"a": [1], "late": pa.array([2**62], pa.timestamp("s"))}), str(self.path("late.arrow")))
        for session in self.sessions:
            with self.assertRaisesRegex(StatementFailed, "late.arrow, column late: a timestamp is out of range"):
                session.run(f"SELECT late FROM '{self.path('late.arrow')}'")

    def test_batches_of_all_sizes(self):
        sizes = [1, 1000, 3, 0, 5000, 5000, 1]
        schema = pa.schema([("a", pa.int64()), ("nothing", pa.null())])
        with pa.OSFile(str(self.path("batches.arrow")), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for rows in sizes:
                writer.write_batch(pa.record_batch([pa.array(range(rows), pa.int64()), pa.nulls(rows)], schema=schema))
        expected = f"n,s\n{sum(sizes)},{sum(rows * (rows - 1) // 2 for rows in sizes)}\n"
        for session in self.sessions:
            self.assertEqual(session.run(f"SELECT count(*) AS n, sum(a) AS s FROM '{self.path('batches.arrow')}'").csv, expected)
            self.assertEqual(session.run(f"SELECT count(*) AS n, count(nothing) AS s FROM '{self.path('batches.arrow')}'").csv,
                             f"n,s\n{sum(sizes)},0\n")

    def test_damaged_files_end_in_an_error_or_rows(self):
        whole = self.path("whole.arrow")
        pyarrow.feather.write_feather(sample_table(200), str(whole), compression="uncompressed")
        data = bytearray(whole.read_bytes())
        seed = random.randrange(1 << 30)
        print("seed", seed)
        generator = random.Random(seed)
        session = self.sessions[0]
        for number in range(60):
            damaged = bytearray(data)
            if number % 3 == 0:
                del damaged[generator.randrange(len(damaged)):]
            for _ in range(generator.randrange(1, 9)):
                if damaged:
                    damaged[generator.randrange(len(damaged))] = generator.randrange(256)
            path = self.path("damaged.arrow")
            path.write_bytes(damaged)
            try:
                session.run(SQL.format(path))
            except StatementFailed:
                pass
            except EngineDied:
                self.fail(f"seed {seed}, file {number}: the engine died")
        (self.path("not.arrow")).write_bytes(b"a,b\n1,2\n")
        with self.assertRaisesRegex(StatementFailed, "it is CSV text, not an Arrow file"):
            session.run(f"FROM '{self.path('not.arrow')}'")


if __name__ == "__main__":
    unittest.main()
