"""Results that come from footers: minima, maxima and counts of whole tables, and sums whose overflow the footers rule out. DuckDB is the
reference; plans show where the footers were used."""

import decimal
import math
import re
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import PistachioSession, StatementFailed  # noqa: E402

ROWS = 3_000


def with_nulls(values):
    return [None if row % 7 == 3 else value for row, value in enumerate(values)]


COLUMNS = {
    "id": pa.array(range(ROWS), pa.int64()),
    "tiny": pa.array(with_nulls(row % 100 - 50 for row in range(ROWS)), pa.int8()),
    "small": pa.array(with_nulls(row * 7 % 30_000 for row in range(ROWS)), pa.int16()),
    "number": pa.array(with_nulls(row * 7919 % 100_003 - 50_000 for row in range(ROWS)), pa.int32()),
    "extreme": pa.array([-2**31, 2**31 - 1] * (ROWS // 2), pa.int32()),
    "whole": pa.array(with_nulls(row * 10**14 for row in range(ROWS)), pa.int64()),
    "money": pa.array(with_nulls(decimal.Decimal(row * 31 % 4001 - 2000).scaleb(-2) for row in range(ROWS)), pa.decimal128(9, 2)),
    "wide": pa.array(with_nulls(decimal.Decimal(row * 10**20).scaleb(-4) for row in range(ROWS)), pa.decimal128(30, 4)),
    "floating": pa.array([math.nan if row == 5 else row - 0.5 for row in range(ROWS)], pa.float64()),
    "day": pa.array(with_nulls(row % 1000 for row in range(ROWS)), pa.date32()),
    "moment": pa.array(with_nulls(row * 10**9 for row in range(ROWS)), pa.timestamp("us")),
    "text": pa.array(with_nulls(f"t{row * 17 % 1000}" for row in range(ROWS)), pa.string()),
    "truth": pa.array(with_nulls(row % 2 == 0 for row in range(ROWS)), pa.bool_()),
    "nothing": pa.array([None] * ROWS, pa.int32()),
    "grouping_key": pa.array((row % 3 for row in range(ROWS)), pa.int32()),
}
# Bounds of floating-point numbers omit NaN.
BOUNDED = [name for name in COLUMNS if name != "floating"]


class FooterAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        table = pa.table(COLUMNS)
        path = Path(folder.name)
        pq.write_table(table.slice(0, 2_000), path / "a.parquet", row_group_size=600)
        pq.write_table(table.slice(2_000), path / "b.parquet", row_group_size=400)
        pq.write_table(table.slice(0, 0), path / "c.parquet")
        pq.write_table(table, path / "plain.txt", write_statistics=False)
        cls.duckdb = duckdb_oracle.connect()
        long_texts = f"SELECT repeat('ab', 200 + i % 7) || i AS t, repeat(chr(1114111), 50) AS u FROM range(3000) r(i)"
        cls.duckdb.execute(f"COPY ({long_texts}) TO '{path}/long.txt' (FORMAT parquet)")
        cls.long_texts = f"'{path}/long.txt'"
        cls.table = f"'{path}/*.parquet'"
        cls.empty = f"'{path}/c.parquet'"
        cls.without_statistics = f"'{path}/plain.txt'"
        cls.session = PistachioSession("-s", "threads=2")
        cls.addClassCleanup(cls.session.close)

    def sql(self, statement):
        return duckdb_oracle.parse_csv(self.session.run(statement).csv)

    def plan(self, statement):
        return [line.strip() for (line,) in self.sql(f"EXPLAIN {statement}")]

    def reads_rows(self, statement):
        return any(line.startswith("scan ") for line in self.plan(statement))

    def judge(self, statement):
        theirs = re.sub(r"'[^']*\.txt'", r"read_parquet(\g<0>)", statement)
        self.assertIsNone(duckdb_oracle.difference(self.sql(statement), duckdb_oracle.answer(self.duckdb, theirs)), statement)

    def test_bounds_and_counts(self):
        for name in COLUMNS:
            with self.subTest(column=name):
                self.judge(f"SELECT min({name}), max({name}), count({name}), count(*) FROM {self.table}")
                self.assertEqual(self.reads_rows(f"SELECT max({name}), count(*) FROM {self.table}"), name not in BOUNDED)
                self.judge(f"SELECT min({name}), max({name}), count({name}), count(*) FROM {self.empty}")
                self.judge(f"SELECT count({name}) FROM {self.table}")
                self.assertFalse(self.reads_rows(f"SELECT count({name}) FROM {self.table}"))
        everything = ", ".join(f"min({name}), max({name})" for name in BOUNDED)
        self.judge(f"SELECT {everything} FROM {self.table}")
        self.assertFalse(self.reads_rows(f"SELECT {everything} FROM {self.table}"))
        self.judge(f"SELECT max(k) - min(k) + count(*) FROM (SELECT number AS k, id FROM {self.table})")

    def test_long_texts(self):
        self.judge(f"SELECT min(t), max(t), count(t), min(u), max(u) FROM {self.long_texts}")

    def test_rows_are_read_where_footers_do_not_suffice(self):
        for what in ("min(number), sum(small)", "count(DISTINCT number)", "max(number) FILTER (WHERE id > 5)", "max(number + 1)"):
            with self.subTest(what=what):
                self.judge(f"SELECT {what} FROM {self.table}")
                self.assertTrue(self.reads_rows(f"SELECT {what} FROM {self.table}"))
        for rest in (f"FROM {self.table} WHERE id > 10", f"FROM {self.table} GROUP BY grouping_key", f"FROM {self.without_statistics}",
                     f"FROM (SELECT * FROM {self.table} LIMIT 10)"):
            with self.subTest(rest=rest):
                self.assertTrue(self.reads_rows(f"SELECT max(number) {rest}"))
        self.judge(f"SELECT max(number), count(number) FROM {self.without_statistics}")

    def test_shifted_sums(self):
        sums = ["sum(number + 1)", "sum(number - 3)", "sum(7 + number)", "sum(number)", "sum(small + 1)", "sum(small + 100000)", "sum(tiny + 1)",
                "sum(whole + 5)", "sum(money + 1)", "sum(money - 0.005)", "sum(1.25 + money)", "sum(number + 0.5)", "sum(nothing + 1)", "count(number)",
                "avg(number)", "avg(number + 1)", "sum(number + 1) FILTER (WHERE id % 2 = 0)", "sum(number - 1) FILTER (WHERE id < 0)",
                "sum(DISTINCT number + 1)", "sum(number + NULL)"]
        for rest in (f"FROM {self.table}", f"FROM {self.table} WHERE id % 5 = 0", f"FROM {self.table} WHERE id < 0", f"FROM {self.empty}",
                     f"FROM {self.without_statistics}", f"FROM {self.table} GROUP BY grouping_key",
                     f"FROM {self.table} RIGHT JOIN (SELECT 5000 AS k UNION ALL SELECT 7) ON id = k"):
            with self.subTest(rest=rest):
                self.judge(f"SELECT {', '.join(sums)} {rest}")
        types = ["sum(number + 1)", "sum(whole + 1)", "sum(small + 1)", "sum(money + 0.125)"]
        statement = f"SELECT {', '.join(types)} FROM {self.table}"
        shared = self.session.run(statement).csv
        self.sql("SET disabled_rules = 'share_shifted_sums'")
        self.assertEqual(self.session.run(statement).csv, shared)
        self.sql("SET disabled_rules = ''")

    def test_shifted_sums_share_one_sum(self):
        plan = self.plan(f"SELECT {', '.join(f'sum(number + {k})' for k in range(1, 90))} FROM {self.table}")
        calls = [line for line in plan if line.startswith("calls: ")]
        self.assertEqual(len(calls), 1)
        self.assertEqual((calls[0].count(" AS sum#"), calls[0].count(" AS count#")), (1, 1), calls)
        for table in (self.table, self.without_statistics):
            self.assertTrue(any("+ 1)" in line and "calls: " in line for line in self.plan(f"SELECT sum(extreme + 1) FROM {table}")))

    def test_an_overflow_is_an_error(self):
        for what in ("extreme + 1", "extreme - 1", "1 + extreme"):
            with self.subTest(what=what), self.assertRaisesRegex(StatementFailed, "out of range|overflow"):
                self.session.run(f"SELECT sum({what}) FROM {self.table}")
        # No row gets there.
        self.assertEqual(self.sql(f"SELECT sum(extreme + 1) FROM {self.table} WHERE extreme < 0 AND id < 2"), [(str(1 - 2**31),)])


if __name__ == "__main__":
    unittest.main()
