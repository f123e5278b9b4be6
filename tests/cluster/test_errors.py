"""An error on one rank reaches the user once, with its rank, and the next statement works."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support.pistachio_cluster import PistachioCluster
from tests.support.pistachio_session import StatementFailed
from tools.tpch_data import ensure_tpch

ROWS, ROWS_OF_A_GROUP, GROUPS = 60_000, 10_000, 6


def write_numbers(path):
    """One row, in the last row group, overflows when it is multiplied."""
    numbers = [1] * (ROWS - 1) + [2**62]
    table = pa.table({"k": pa.array(numbers, pa.int64()), "row": pa.array(range(ROWS), pa.int64())})
    pq.write_table(table, path, row_group_size=ROWS_OF_A_GROUP, use_dictionary=False, compression="none")


def damage(path, row_group):
    column = pq.ParquetFile(path).metadata.row_group(row_group).column(1)
    content = bytearray(path.read_bytes())
    content[column.data_page_offset:column.data_page_offset + 8] = b"\xff" * 8
    path.write_bytes(content)


def resident_megabytes(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))[1]) / 1024


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="pistachio_cluster_")
        cls.folder = Path(cls.temporary.name)
        write_numbers(cls.folder / "numbers.parquet")
        for group in range(GROUPS):
            write_numbers(cls.folder / f"damaged_{group}.parquet")
            damage(cls.folder / f"damaged_{group}.parquet", group)
        cls.cluster = PistachioCluster(3, folder=cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()
        cls.temporary.cleanup()

    def error_of(self, sql):
        """The error's text: one line."""
        with self.assertRaises(StatementFailed) as raised:
            self.cluster.run(sql)
        error = str(raised.exception)
        self.assertEqual(error.count("\n"), 0, error)
        return error

    def check_alive(self):
        self.assertEqual(self.cluster.run("SELECT count(*) AS c, sum(a.row) AS s FROM numbers a, numbers b WHERE a.row = b.row").csv,
                         f"c,s\n{ROWS},{ROWS * (ROWS - 1) // 2}\n")

    def test_a_damaged_row_group(self):
        ranks = set()
        for group in range(GROUPS):
            error = self.error_of(f"SELECT max(a.row) FROM damaged_{group} a JOIN numbers b ON a.row = b.row")
            self.assertRegex(error, rf"^\S*damaged_{group}.parquet, row group {group}, column row")
            ranks.update(re.findall(r"\(on rank (\d)\)$", error))
            self.check_alive()
        # Row groups are dealt out, so each rank has read one.
        self.assertEqual(ranks, {"1", "2"})

    def test_an_overflow(self):
        self.assertRegex(self.error_of("SELECT max(k * 4) FROM numbers"), r"out of range|overflow")
        self.check_alive()

    def test_a_cast_of_one_row(self):
        error = self.error_of("SELECT a.row FROM numbers a JOIN numbers b ON a.row = b.row "
                          "WHERE CAST(CASE WHEN a.row = 41000 THEN 'x' ELSE '1' END AS INTEGER) = 1")
        self.assertIn("'x'", error)
        self.check_alive()

    def test_memory_is_freed_after_errors(self):
        sql = ("SELECT a.row, count(*), max(a.k * CASE WHEN b.row = 59000 THEN 4611686018427387904 ELSE 1 END * 4) "
               "FROM numbers a JOIN numbers b ON a.row = b.row GROUP BY a.row")
        processes = [self.cluster.process.pid, *self.cluster.ranks.values()]
        for _ in range(5):
            self.error_of(sql)
        before = {pid: resident_megabytes(pid) for pid in processes}
        for _ in range(20):
            self.error_of(sql)
        self.check_alive()
        for pid in processes:
            self.assertLess(resident_megabytes(pid), before[pid] + 40)


class SmallMemory(unittest.TestCase):
    def test_too_little_memory(self):
        with PistachioCluster(3, "-s", "memory_limit=32MiB", "-s", "spill=off", folder=ensure_tpch("0.1")) as cluster:
            with self.assertRaisesRegex(StatementFailed, "memory_limit") as raised:
                cluster.run("SELECT l_comment, l_orderkey, l_partkey, count(*) FROM lineitem GROUP BY 1, 2, 3 ORDER BY 4, 1")
            self.assertEqual(str(raised.exception).count("out of memory"), 1, raised.exception)
            self.assertEqual(cluster.run("SELECT count(*) FROM nation JOIN region ON n_regionkey = r_regionkey").csv, "count\n25\n")


if __name__ == "__main__":
    unittest.main()
