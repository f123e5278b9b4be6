"""How rows move between ranks: ORDER BY, frequent keys, join filters, small tables, rank-local files. One cluster each; results
are checked against DuckDB."""

import csv
import functools
import io
import json
import random
import sys
import tempfile
import unittest
from pathlib import Path

import duckdb
import numpy
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support.pistachio_cluster import PistachioCluster
from tests.support.pistachio_session import StatementFailed

RANKS = 3
PROBE_ROWS = 1_500_000
LATE_ROWS = 6_000_000


def write_tables(folder):
    chance = numpy.random.default_rng(11)
    is_odd = numpy.arange(PROBE_ROWS) % 2 == 1
    # Half of the rows have one key, which occurs in every row group.
    keys = numpy.where(is_odd, 7, chance.integers(0, 20_000, PROBE_ROWS))
    probe = pa.table({"k": pa.array(keys, pa.int32()), "v": pa.array(numpy.arange(PROBE_ROWS))})
    pq.write_table(probe, folder / "probe.parquet", row_group_size=100_000)
    # Here it is the greatest key of a sorted table.
    keys = numpy.sort(numpy.where(is_odd, 19_999, chance.integers(0, 20_000, PROBE_ROWS)))
    pq.write_table(probe.set_column(0, "k", pa.array(keys, pa.int32())), folder / "sorted_probe.parquet", row_group_size=100_000)
    # And here it occurs only after the rows that each rank reads first.
    places = numpy.arange(LATE_ROWS)
    is_read_first = (places + LATE_ROWS // RANKS // 5) % (LATE_ROWS // RANKS) < LATE_ROWS // RANKS * 0.6
    keys = numpy.where(~is_read_first & (places % 8 > 0), 77, numpy.random.default_rng(5).integers(0, 20_000, LATE_ROWS))
    late_probe = pa.table({"k": pa.array(keys, pa.int32()), "v": pa.array(places, pa.int64())})
    pq.write_table(late_probe, folder / "late_probe.parquet", row_group_size=20_000)
    names = [f"name {i % 977}" for i in range(40_000)]
    build = pa.table({"k": pa.array([i % 20_000 for i in range(40_000)], pa.int32()), "name": pa.array(names),
                      "price": pa.array([None if i % 11 == 0 else i % 1000 / 8 for i in range(40_000)])})
    pq.write_table(build, folder / "build.parquet", row_group_size=5_000)
    pq.write_table(pa.table({"name": pa.array(["name 1", "name 5", "name 900"])}), folder / "few.parquet")


def steps_of(plan):
    yield plan
    for child in plan["inputs"]:
        yield from steps_of(child)


class Movement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="pistachio_movement_")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        write_tables(cls.folder)
        cls.duckdb = duckdb.connect()
        for name in ("probe", "sorted_probe", "late_probe", "build", "few"):
            cls.duckdb.execute(f"CREATE VIEW {name} AS SELECT * FROM '{cls.folder / name}.parquet'")
        cls.cluster = PistachioCluster(RANKS, folder=cls.folder)
        cls.addClassCleanup(cls.cluster.close)

    def tearDown(self):
        self.cluster.run("RESET ALL")

    def set(self, **settings):
        for name, value in settings.items():
            self.cluster.run(f"SET {name} = '{value}'")

    def rows(self, sql):
        return list(csv.reader(io.StringIO(self.cluster.run(sql).csv)))[1:]

    @functools.cache
    def expected(self, sql):
        return [["" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in row]
                for row in self.duckdb.execute(sql).fetchall()]

    def profile(self, sql):
        return json.loads(self.rows(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")[0][0])

    def steps(self, sql):
        return list(steps_of(self.profile(sql)["plan"]))

    def names(self, sql):
        return [step["operator"] for step in self.steps(sql)]

    def test_order_by_is_the_same_in_all_ways(self):
        for order in ("name DESC, price NULLS FIRST, k", "price DESC NULLS LAST, k, name"):
            sql = f"SELECT k, name, price FROM build WHERE k % 3 = 0 ORDER BY {order}"
            expected = self.expected(sql)
            for way, step in (("gather", "gather"), ("merge", "merge"), ("range", "rank by rank"), ("auto", "merge")):
                with self.subTest(way=way, order=order):
                    self.set(sort_distribution=way)
                    self.assertIn(step, self.names(sql))
                    self.assertEqual(self.rows(sql), expected)

    def test_groups_are_the_same_in_all_ways(self):
        sql = "SELECT k % 50000 AS part, count(*) AS rows FROM probe GROUP BY part ORDER BY rows, part LIMIT 1000"
        expected = self.expected(sql)
        for way, exchanges in (("gather", {"gather"}), ("repartition", {"gather", "repartition"})):
            for partial in ("on", "off"):
                with self.subTest(way=way, partial=partial):
                    self.set(group_distribution=way, partial_aggregation=partial)
                    names = self.names(sql)
                    self.assertEqual({"gather", "repartition"} & set(names), exchanges)
                    self.assertEqual("partial aggregate" in names, partial == "on")
                    self.assertEqual(self.rows(sql), expected)

    def test_a_sort_by_ranges_is_shared_evenly(self):
        self.set(sort_distribution="range")
        sort = next(step for step in self.steps("SELECT v, k FROM probe ORDER BY k * 0.5 + v % 1000, v") if step["operator"].startswith("sort"))
        self.assertLess(sort["ranks"]["imbalance"], 1.5)

    def test_limit_ends_the_merge(self):
        sql = "SELECT k, name FROM (SELECT k, name, price FROM build ORDER BY k, name, price) AS sorted LIMIT 5"
        self.assertEqual(self.rows(sql), self.expected(sql))

    def check_frequent_key(self, table):
        sql = f"SELECT count(*), sum(v), count(price) FROM {table} AS probe JOIN build ON probe.k = build.k"
        self.set(join_distribution="repartition", join_filters="off")
        expected = self.expected(sql)
        work = {}
        for spread in ("off", "on"):
            self.set(spread_keys=spread)
            self.assertEqual(self.rows(sql), expected)
            steps = self.steps(sql)
            join = next(step for step in steps if "join" in step["operator"])
            work[spread] = join["ranks"]["imbalance"]
            self.assertEqual("spread" in [step["operator"] for step in steps], spread == "on")
        self.assertGreater(work["off"], 1.4)
        self.assertLess(work["on"], 1.15)

    def test_frequent_key_is_spread_over_ranks(self):
        self.check_frequent_key("probe")

    def test_frequent_key_of_sorted_table_is_found(self):
        self.check_frequent_key("sorted_probe")

    def test_ranks_help_rank_overloaded_later(self):
        tables = "late_probe AS probe JOIN build ON probe.k = build.k"
        self.set(join_distribution="repartition", join_filters="off")
        work, taken = {}, {}
        for rows in (0, 400_000):
            self.set(rows_before_help=rows)
            for sql in (f"SELECT count(*), sum(v), count(price) FROM {tables}",
                        f"SELECT probe.k, name, count(*), sum(v) FROM {tables} WHERE price > 100 GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 1000",
                        "SELECT count(*), sum(v), count(name) FROM late_probe LEFT JOIN build ON late_probe.k = build.k AND price < 10",
                        "SELECT count(*), sum(v) FROM late_probe WHERE k NOT IN (SELECT k FROM build WHERE price < 90)",
                        "SELECT count(*), sum(v) FROM late_probe WHERE EXISTS (SELECT 1 FROM build WHERE build.k = late_probe.k AND v % 7 < price)"):
                self.assertEqual(self.rows(sql), self.expected(sql), (rows, sql))
            # Slow enough for help to arrive while much is left to do.
            self.set(storage_bandwidth_limit="10MB")
            join = next(step for step in self.steps(f"SELECT count(*), sum(v), count(price) FROM {tables}") if "join" in step["operator"])
            self.set(storage_bandwidth_limit=0)
            work[rows], taken[rows] = join["ranks"]["imbalance"], join["ranks"].get("buckets_taken_over")
        self.assertGreater(work[0], 1.4)
        self.assertIsNone(taken[0])
        self.assertLess(work[400_000], work[0] - 0.2)
        # All but the owner of the bucket.
        self.assertEqual(sorted(taken[400_000]), [0] + [1] * (RANKS - 1))

    def test_values_of_a_frequent_key_are_counted_once(self):
        sql = "SELECT count(DISTINCT probe.k), count(DISTINCT name) FROM probe JOIN build ON probe.k = build.k"
        self.set(join_distribution="repartition")
        self.assertEqual(self.rows(sql), self.expected(sql))
        sql = "SELECT probe.k, count(*) FROM probe LEFT JOIN build ON probe.k = build.k AND price > 100 GROUP BY probe.k ORDER BY 2 DESC, 1 LIMIT 20"
        self.assertEqual(self.rows(sql), self.expected(sql))

    def test_scan_sends_only_rows_that_may_match(self):
        sql = "SELECT count(*), sum(v) FROM probe JOIN build ON probe.k = build.k WHERE build.name IN ('name 3', 'name 4') AND build.price > 3"
        self.set(join_distribution="repartition")
        expected = self.expected(sql)
        moved = {}
        for filters in ("off", "on"):
            self.set(join_filters=filters)
            self.assertEqual(self.rows(sql), expected)
            moved[filters] = sum(self.profile(sql)["ranks"]["bytes_received"])
        self.assertLess(moved["on"] * 20, moved["off"])

    def test_nothing_is_read_for_an_empty_build_side(self):
        self.set(join_distribution="repartition")
        sql = "SELECT count(*) FROM probe JOIN build ON probe.k = build.k WHERE build.name = 'nobody'"
        scan = next(step for step in self.steps(sql) if step["operator"] == "scan probe")
        self.assertEqual(scan["rows"], 0)
        self.assertEqual(self.rows(sql), [["0"]])

    def test_small_tables_are_read_by_every_rank(self):
        sql = "SELECT count(*) FROM build JOIN few ON build.name = few.name"
        self.assertEqual(self.rows(sql), self.expected(sql))
        self.assertNotIn("broadcast", self.names(sql))
        # Rows that every rank would compute differently are computed once.
        self.assertIn("broadcast", self.names("SELECT count(*) FROM build JOIN (SELECT name FROM few WHERE random() < 2) f ON build.name = f.name"))


class ScanHelp(unittest.TestCase):
    """Rank 1 sleeps at its first chunk, with one thread: the others read the units that it has not started."""

    def test_idle_ranks_read_for_slow_one(self):
        with tempfile.TemporaryDirectory(prefix="pistachio_help_") as name:
            folder = Path(name)
            rows = 400_000
            pq.write_table(pa.table({"n": pa.array(range(rows), pa.int64())}), folder / "numbers.parquet", row_group_size=500)
            with PistachioCluster(RANKS, "-s", "threads=1", "-s", "io_threads=2", "-s", "allow_faults=on", folder=folder) as cluster:
                cluster.run("SET fault_at = 'scan_chunk:1=delay'")
                sql = "SELECT count(*) AS rows, sum(n) AS n FROM numbers WHERE n >= 0"
                read_for_others = {}
                for helping in ("on", "off"):
                    cluster.run(f"SET scan_help = {helping}")
                    self.assertEqual(cluster.run(sql).csv.split()[1], f"{rows},{rows * (rows - 1) // 2}")
                    text = list(csv.reader(io.StringIO(cluster.run(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").csv)))[1][0]
                    scan = next(step for step in steps_of(json.loads(text)["plan"]) if step["operator"] == "scan numbers")
                    self.assertEqual(sum(scan["ranks"]["rows"]), rows)
                    read_for_others[helping] = scan["ranks"].get("read_for_others")
                self.assertGreater(read_for_others["on"][0] + read_for_others["on"][2], 10)
                self.assertEqual(read_for_others["on"][1], 0)
                self.assertIsNone(read_for_others["off"])


class LittleMemory(unittest.TestCase):
    def test_a_probe_side_leaves_memory_for_the_build_side(self):
        """Both sides exceed the memory for scans, and the probe side cannot proceed before the whole build side has arrived."""
        with tempfile.TemporaryDirectory(prefix="pistachio_little_") as name:
            folder = Path(name)
            chance = random.Random(3)
            for table, rows in (("probe", 600_000), ("build", 400_000)):
                texts = [chance.randbytes(50).hex() for _ in range(rows)]
                keys = pa.array([i * 7919 % rows for i in range(rows)], pa.int64())
                pq.write_table(pa.table({f"{table}_key": keys, f"{table}_text": pa.array(texts)}), folder / f"{table}.parquet", row_group_size=50_000,
                               use_dictionary=False)
            with PistachioCluster(2, "-s", "memory_limit=160MB", "-s", "join_distribution=repartition", "-s", "join_filters=off", folder=folder) as cluster:
                sql = "SELECT count(*), sum(length(probe_text)), sum(length(build_text)) FROM probe JOIN build ON probe_key = build_key"
                self.assertEqual(cluster.run(sql).csv.split()[1], "400000,40000000,40000000")

    def test_scans_of_wide_rows_do_not_wait_for_each_other(self):
        """A strip of either side, of chunk_rows rows, exceeds half of the memory for scans."""
        with tempfile.TemporaryDirectory(prefix="pistachio_wide_") as name:
            folder = Path(name)
            rows = 300_000
            values = numpy.random.default_rng(8).integers(0, 2**62, rows)
            for table in ("probe", "build"):
                columns = {f"{table}_key": pa.array(numpy.arange(rows) * 7919 % rows)} | {f"{table}_{i}": pa.array(values + i) for i in range(40)}
                pq.write_table(pa.table(columns), folder / f"{table}.parquet", row_group_size=75_000, use_dictionary=False, compression="none")
            sums = ", ".join(f"max({table}_{i})" for table in ("probe", "build") for i in range(40))
            with PistachioCluster(2, "-s", "memory_limit=80MB", "-s", "join_distribution=repartition", "-s", "queue_limit=1MiB", folder=folder) as cluster:
                sql = f"SELECT count(*), {sums} FROM probe LEFT JOIN (SELECT * FROM build WHERE build_key % 8 = 0) b ON probe_key = build_key"
                self.assertEqual(cluster.run(sql).csv.split()[1].split(",")[0], str(rows))

    def test_message_without_memory_fails_only_the_query(self):
        with tempfile.TemporaryDirectory(prefix="pistachio_no_room_") as name:
            folder = Path(name)
            texts = [chr(97 + i % 26) * (2_000_000 if i % 10 == 0 else 20_000) for i in range(200)]
            pq.write_table(pa.table({"k": pa.array(range(200), pa.int64()), "s": pa.array(texts)}), folder / "longs.parquet", row_group_size=20)
            with PistachioCluster(RANKS, "-s", "memory_limit=24MB", "-s", "join_distribution=repartition", folder=folder) as cluster:
                for _ in range(5):
                    with self.assertRaisesRegex(StatementFailed, "out of memory.*raise memory_limit"):
                        cluster.run("SELECT count(*) FROM (SELECT a.*, b.s AS s2 FROM longs a FULL JOIN longs b ON a.s = b.s) x WHERE length(s) + length(s2) > 0")
                    self.assertEqual(cluster.run("SELECT count(*), sum(k) FROM longs WHERE k >= 0").csv.split()[1], "200,19900")


class WideRows(unittest.TestCase):
    def test_large_texts_span_several_messages(self):
        with tempfile.TemporaryDirectory(prefix="pistachio_wide_") as name:
            folder = Path(name)
            rows, length = 20_000, 8_000
            texts = [f"{i:08}".ljust(length, "x") for i in range(rows)]
            table = pa.table({"n": pa.array(range(rows), pa.int32()), "text": pa.array(texts)})
            pq.write_table(table, folder / "wide.parquet", row_group_size=10_000, use_dictionary=False)
            with PistachioCluster(2, "-s", "sort_distribution=merge", "-s", "network_compression=off", folder=folder) as cluster:
                sql = "SELECT count(*), sum(length(text)) FROM (SELECT * FROM wide ORDER BY n DESC OFFSET 0) AS sorted"
                self.assertEqual(cluster.run(sql).csv.split()[1], f"{rows},{rows * length}")
                text = list(csv.reader(io.StringIO(cluster.run("EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM wide ORDER BY n DESC").csv)))[1][0]
                merge = next(step for step in steps_of(json.loads(text)["plan"]) if step["operator"] == "merge")
                self.assertGreaterEqual(merge["ranks"]["messages_sent"][1], 2)


class LocalFiles(unittest.TestCase):
    def test_every_rank_reads_its_own(self):
        with tempfile.TemporaryDirectory(prefix="pistachio_local_") as name:
            folder = Path(name)
            for rank in range(RANKS):
                (folder / f"rank{rank}").mkdir()
                numbers = pa.table({"n": pa.array(range(rank * 1000, rank * 1000 + 500 * (rank + 1)), pa.int64())})
                pq.write_table(numbers, folder / f"rank{rank}" / "numbers.parquet")
                kind = pa.int64() if rank < 2 else pa.string()
                pq.write_table(pa.table({"odd": pa.array([1], pa.int64()).cast(kind)}), folder / f"rank{rank}" / "odd.parquet")
            with PistachioCluster(RANKS, "-s", "local_files=on", folder=folder / "rank{rank}") as cluster:
                self.assertEqual(cluster.run("SELECT count(*), sum(n), max(n) FROM numbers").csv.split()[1], "3000,5748500,3499")
                self.assertEqual(cluster.run("SELECT count(*) FROM numbers").csv.split()[1], "3000")
                joined = cluster.run("SELECT count(*) FROM numbers a JOIN numbers b ON a.n = b.n").csv.split()[1]
                self.assertEqual(joined, "3000")
                path = folder / "rank{rank}" / "numbers.parquet"
                self.assertEqual(cluster.run(f"SELECT count(*) FROM '{path}' WHERE n >= 2000").csv.split()[1], "1500")
                with self.assertRaisesRegex(StatementFailed, "column 1 is odd VARCHAR, there it is odd BIGINT"):
                    cluster.run("SELECT count(odd) FROM odd")
                with self.assertRaisesRegex(StatementFailed, "local_files"):
                    cluster.run("WITH RECURSIVE r(n) AS (SELECT CAST(1 AS BIGINT) UNION SELECT numbers.n FROM r JOIN numbers ON numbers.n = r.n + 1) SELECT count(*) FROM r")
                self.assertEqual(cluster.run("SELECT count(*) FROM numbers").csv.split()[1], "3000")


if __name__ == "__main__":
    unittest.main()
