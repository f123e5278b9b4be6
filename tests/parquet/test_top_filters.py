"""ORDER BY with LIMIT over files: scans drop rows beyond the best ones so far. DuckDB is the reference, for every type and order of NULLs."""

import decimal
import math
import random
import re
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle  # noqa: E402
from tests.support.pistachio_session import PistachioSession  # noqa: E402

ROWS = 12_000
SEED = 20261119


def make_columns(draw):
    def some(make, nulls=0.05):
        return [None if draw.random() < nulls else make(row) for row in range(ROWS)]

    def float_of(row):
        return draw.choice([math.nan, math.inf, -math.inf, 0.0, -0.0]) if draw.random() < 0.02 else draw.uniform(-1e6, 1e6)

    return {
        "id": pa.array(range(ROWS), pa.int64()),
        "small": pa.array(some(lambda row: draw.randrange(5)), pa.int16()),
        "number": pa.array(some(lambda row: draw.randrange(-10**9, 10**9)), pa.int32()),
        "whole": pa.array([draw.randrange(10**12) for _ in range(ROWS)], pa.int64()),
        "rising": pa.array([row // 3 for row in range(ROWS)], pa.int32()),
        "falling": pa.array(some(lambda row: ROWS - row, nulls=0.001), pa.int64()),
        "floating": pa.array(some(float_of), pa.float64()),
        "money": pa.array(some(lambda row: decimal.Decimal(draw.randrange(-10**9, 10**9)).scaleb(-2)), pa.decimal128(15, 2)),
        "wide": pa.array(some(lambda row: decimal.Decimal(draw.randrange(-10**29, 10**29)).scaleb(-4)), pa.decimal128(30, 4)),
        "day": pa.array(some(lambda row: draw.randrange(-20_000, 20_000)), pa.date32()),
        "moment": pa.array(some(lambda row: draw.randrange(2 * 10**15)), pa.timestamp("us")),
        "truth": pa.array(some(lambda row: draw.random() < 0.5), pa.bool_()),
        "word": pa.array(some(lambda row: f"w{draw.randrange(300)}"), pa.string()),
        "text": pa.array(some(lambda row: f"{draw.randrange(10**6)}{'ä' * draw.randrange(3)}"), pa.string()),
        "nothing": pa.array([None] * ROWS, pa.int32()),
        "late_nulls": pa.array([None if row > ROWS - 7 else row for row in range(ROWS)], pa.int32()),
    }


class TopFilters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        draw = random.Random(SEED)
        cls.columns = make_columns(draw)
        table = pa.table(cls.columns)
        path = Path(folder.name)
        # Several row groups, and pages with bounds.
        pq.write_table(table.slice(0, 9_000), path / "a.parquet", row_group_size=1_500, data_page_size=512, write_page_index=True)
        pq.write_table(table.slice(9_000), path / "b.parquet", row_group_size=1_000, use_dictionary=False)
        cls.table = f"'{path}/*.parquet'"
        cls.session = PistachioSession("-s", "threads=2")
        cls.addClassCleanup(cls.session.close)
        cls.duckdb = duckdb_oracle.connect()

    def sql(self, statement):
        return duckdb_oracle.parse_csv(self.session.run(statement).csv)

    def judge(self, statement):
        ours = self.sql(statement)
        theirs = duckdb_oracle.answer(self.duckdb, statement)
        self.assertIsNone(duckdb_oracle.difference(ours, theirs, ordered=True), statement)

    def rows_scanned(self, statement):
        lines = [line for (line,) in self.sql(f"EXPLAIN ANALYZE {statement}")]
        return [int(re.search(r"actual (\d+)", line)[1]) for line in lines if line.strip().startswith("scan ")][0]

    def test_every_type_and_order(self):
        for key in self.columns:
            for order in ("ASC NULLS LAST", "ASC NULLS FIRST", "DESC NULLS LAST", "DESC NULLS FIRST"):
                with self.subTest(key=key, order=order):
                    # Ties of the first key are decided by the second one.
                    self.judge(f"SELECT * FROM {self.table} ORDER BY {key} {order}, id LIMIT 12")
                    # Without a second key any of the tied rows may be there, but the keys are known.
                    self.judge(f"SELECT {key} FROM {self.table} ORDER BY {key} {order} LIMIT 5 OFFSET 3")

    def test_filters_and_joins_below(self):
        for statement in (
                f"SELECT * FROM {self.table} WHERE small = 3 ORDER BY number, id LIMIT 10",
                f"SELECT * FROM {self.table} WHERE text LIKE '%77%' ORDER BY falling, id LIMIT 10",
                f"SELECT * FROM {self.table} WHERE text LIKE '%7777%' AND small IS NULL ORDER BY falling DESC NULLS LAST, id LIMIT 10",
                f"SELECT id, k, number + 1 FROM (SELECT id, number, rising AS k FROM {self.table}) ORDER BY k DESC, id LIMIT 7",
                f"SELECT a.id, a.whole, b.word FROM {self.table} a JOIN {self.table} b ON a.id = b.rising ORDER BY a.whole, b.id LIMIT 9",
                f"SELECT a.id, a.whole FROM {self.table} a LEFT JOIN {self.table} b ON a.id = b.number ORDER BY a.whole DESC, a.id LIMIT 9",
                f"SELECT id FROM {self.table} a WHERE NOT EXISTS (SELECT 1 FROM {self.table} b WHERE b.small = 1 AND a.id = b.id) "
                "ORDER BY number NULLS LAST, id LIMIT 9",
                f"SELECT * FROM (SELECT id, number FROM {self.table} ORDER BY number NULLS LAST, id LIMIT 20) ORDER BY id DESC LIMIT 3",
                f"SELECT id FROM {self.table} ORDER BY number NULLS LAST, id LIMIT 4000",
                f"SELECT id FROM {self.table} WHERE id < 0 ORDER BY number LIMIT 4"):
            with self.subTest(statement=statement):
                self.judge(statement)

    def test_settings(self):
        statement = f"SELECT * FROM {self.table} WHERE small <> 2 ORDER BY number DESC NULLS LAST, id LIMIT 10"
        for options in (("late_materialization=off",), ("reader=blocking",), ("overlap=off",), ("chunk_rows=7", "threads=1"), ("top_filters=off",),
                        ("metadata_cache=off",)):
            with self.subTest(options=options), PistachioSession(*(word for option in options for word in ("-s", option))) as session:
                ours = duckdb_oracle.parse_csv(session.run(statement).csv)
                self.assertIsNone(duckdb_oracle.difference(ours, duckdb_oracle.answer(self.duckdb, statement), ordered=True))

    def test_each_rank_has_its_own_threshold(self):
        with PistachioSession("-s", "threads=1", ranks=2) as session:
            for rest in ("ORDER BY number DESC NULLS LAST, id LIMIT 10", "WHERE text LIKE '%7%' ORDER BY rising DESC, id LIMIT 10"):
                statement = f"SELECT * FROM {self.table} {rest}"
                with self.subTest(statement=statement):
                    ours = duckdb_oracle.parse_csv(session.run(statement).csv)
                    self.assertIsNone(duckdb_oracle.difference(ours, duckdb_oracle.answer(self.duckdb, statement), ordered=True))

    def test_conditions_are_evaluated_inside_the_scan(self):
        statement = f"SELECT * FROM {self.table} WHERE text LIKE '%7%' AND id % 3 = 1 ORDER BY whole LIMIT 10"
        lines = [line.strip() for (line,) in self.sql(f"EXPLAIN {statement}")]
        self.assertTrue(any(line.startswith("row tests: ") for line in lines), lines)
        self.assertFalse(any(line.startswith("filter") for line in lines), lines)
        # The scan knows the best rows before it delivers the first one, of two lanes each.
        self.assertLess(self.rows_scanned(statement), 500)
        self.judge(statement)

    def test_scans_deliver_fewer_rows(self):
        # Row groups in the order of the key: those with the greatest values come first, and no other is read.
        self.assertLess(self.rows_scanned(f"SELECT * FROM {self.table} ORDER BY rising DESC LIMIT 10"), 500)
        self.assertLess(self.rows_scanned(f"SELECT * FROM {self.table} ORDER BY whole LIMIT 10"), 500)
        self.sql("SET top_filters = off")
        self.assertEqual(self.rows_scanned(f"SELECT * FROM {self.table} ORDER BY whole LIMIT 10"), ROWS)
        self.sql("SET top_filters = on")

    def test_explain_shows_the_filter(self):
        lines = [line.strip() for (line,) in self.sql(f"EXPLAIN SELECT * FROM {self.table} ORDER BY whole DESC, id LIMIT 10")]
        self.assertIn("gives top-n filter: 0", lines)
        self.assertTrue(any(re.fullmatch(r"top-n filter: 0 on whole#\d+", line) for line in lines), lines)
        for statement in (f"SELECT * FROM {self.table} ORDER BY whole", f"SELECT * FROM {self.table} ORDER BY whole + 1 LIMIT 10",
                          f"SELECT * FROM {self.table} ORDER BY whole LIMIT 100000",
                          f"SELECT * FROM (SELECT * FROM {self.table} LIMIT 100) ORDER BY whole LIMIT 10"):
            with self.subTest(statement=statement):
                self.assertFalse(any("top-n filter" in line for (line,) in self.sql(f"EXPLAIN {statement}")))


if __name__ == "__main__":
    unittest.main()
