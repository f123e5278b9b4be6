"""Files of writers with errors in the data that readers use to skip rows: statistics, page indexes, bloom filters. A filter must
always find the same rows as an equivalent filter that cannot prune."""

import itertools
import json
import os
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import crafted_parquet as crafted
from tests.support import pistachio_process as pistachio
from tests.support.crafted_parquet import Chunk, column_index, statistics
from tests.support.scan_server import ScanServer

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def literal(value):
    if isinstance(value, bytes):
        return "'" + value.decode().replace("'", "''") + "'"
    return f"CAST('{value}' AS DOUBLE)" if isinstance(value, float) else str(value)


def digits(counts):
    """Counts below 100 in one number, two digits each."""
    return " + ".join(f"{count} * {100 ** place}" for place, count in enumerate(counts))


def sample_of_the_day(cases):
    """A fourth of the cases in the short round, different ones each day."""
    sample = os.environ.get("TEST_QUERY_SAMPLE")
    return list(cases)[int(sample)::4] if sample else cases


def int64(value):
    return struct.pack("<q", value)


def int32(value):
    return struct.pack("<i", value)


def double(value):
    return struct.pack("<d", value)


class WriterErrors(unittest.TestCase):
    """Each test writes files and queues filters; one process runs all of them when the test ends."""

    @classmethod
    def setUpClass(cls):
        cls.server = ScanServer()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.files = itertools.count()
        self.queued = []

    def tearDown(self):
        script = self.folder / "filters.sql"
        script.write_text("".join(f"{sql};\n" for _, sql in self.queued), encoding="utf-8")
        done = pistachio.run("--format", "jsonl", "-f", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = done.stdout.splitlines()
        self.assertEqual(len(answers), len(self.queued))
        for (name, sql), answer in zip(self.queued, answers):
            pruned, honest = json.loads(answer).values()
            self.assertEqual(pruned, honest, f"{name}: {sql}")

    def new_path(self):
        self.path = self.folder / f"{next(self.files)}.parquet"
        return self.path

    def assert_pruning_loses_nothing(self, constants, column="c"):
        """Every comparison with every constant."""
        disguise = f"{column} || ''" if isinstance(constants[0], bytes) else f"{column} + 0"
        for constant in constants:
            # Results as digits: one prunable query per comparison, and one that cannot prune for all of them.
            parts = [f"(SELECT count(*) FROM '{self.path}' WHERE {column} {comparison} {literal(constant)})" for comparison in COMPARISONS]
            honest = [f"coalesce(sum(CASE WHEN {disguise} {comparison} {literal(constant)} THEN 1 ELSE 0 END), 0)"
                      for comparison in COMPARISONS]
            self.queued.append((f"{column} and {constant}", f"SELECT {digits(parts)} AS pruned, "
                                                            f"(SELECT {digits(honest)} FROM '{self.path}') AS honest"))

    def write(self, physical, pages, repetition=crafted.REQUIRED, converted=None, ordered=True, created_by=b"crafted", **more):
        """One column `c`; `pages` are lists of values."""
        bodies = [(crafted.optional_page(physical, values) if repetition == crafted.OPTIONAL else
                   crafted.data_page(crafted.plain(physical, values), len(values)), len(values)) for values in pages]
        crafted.write_file(self.new_path(), [crafted.root(), crafted.column(physical, repetition, converted=converted)],
                           [[Chunk(b"c", physical, bodies, **more)]], ordered=ordered, created_by=created_by)

    def pages_skipped(self, where):
        return self.server.scan(self.path, where=[where])["pages_skipped"]

    def row_groups_pruned(self, where):
        return self.server.scan(self.path, where=[where])["row_groups_pruned"]


class RowGroupStatistics(WriterErrors):
    def test_contradictory_counts_are_ignored(self):
        bounds = dict(minimum=int64(1), maximum=int64(9))
        for repetition in (crafted.REQUIRED, crafted.OPTIONAL):
            for nulls, distinct in sample_of_the_day(itertools.product((None, -1, 0, 1, 3, 4, 2**62, -(2**62)), (None, -1, 0, 1, 3, 4, 2**62))):
                for stats in (statistics(nulls=nulls, distinct=distinct), statistics(nulls=nulls, distinct=distinct, **bounds)):
                    self.write(crafted.INT64, [[1, 5, 9]], repetition, stats=stats)
                    self.assert_pruning_loses_nothing([0, 1, 5, 9, 10])

    def test_contradictory_bounds_are_ignored(self):
        for low, high in ((9, 1), (6, 4)):
            self.write(crafted.INT64, [[1, 5, 9]], stats=statistics(int64(low), int64(high)))
            self.assert_pruning_loses_nothing([1, 5, 9])
        for low, high in ((int32(2), int32(3)), (b"", b""), (int64(2), b""), (b"\0" * 9, b"\1" * 9)):
            self.write(crafted.INT64, [[1, 5, 9]], stats=statistics(low, high))
            self.assert_pruning_loses_nothing([1, 5, 9])

    def test_small_integers_with_bounds_out_of_range(self):
        tiny_unsigned = 11  # converted type UINT_8
        self.write(crafted.INT32, [[1, 200, 255]], converted=tiny_unsigned, stats=statistics(int32(-128), int32(127)))
        self.assert_pruning_loses_nothing([0, 1, 200, 255])

    def test_deprecated_text_bounds_use_signed_order(self):
        # As signed bytes, accented letters sort below all others.
        words = ["é".encode(), b"b", b"z"]
        for ordered, created_by in itertools.product((False, True), (b"crafted", b"parquet-mr version 1.12.0 (build x)")):
            self.write(crafted.BYTE_ARRAY, [words], converted=crafted.UTF8, ordered=ordered, created_by=created_by,
                       stats=statistics(old_minimum="é".encode(), old_maximum=b"z"))
            self.assert_pruning_loses_nothing(words + [b"a", "ü".encode()])

    def test_deprecated_unsigned_bounds_use_signed_order(self):
        unsigned = {crafted.INT32: 13, crafted.INT64: 14}
        for physical, ordered in itertools.product(unsigned, (False, True)):
            pack = int32 if physical == crafted.INT32 else int64
            self.write(physical, [[-1, 0, 7]], converted=unsigned[physical], ordered=ordered,
                       stats=statistics(old_minimum=pack(-1), old_maximum=pack(7)))
            self.assert_pruning_loses_nothing([0, 3, 7, 8, 2**32 - 1])

    def test_deprecated_bounds_of_signed_numbers_prune(self):
        self.write(crafted.INT64, [[-3, 0, 7]], ordered=False, stats=statistics(old_minimum=int64(-3), old_maximum=int64(7)))
        self.assert_pruning_loses_nothing([-4, -3, 0, 7, 8])
        self.assertEqual(self.row_groups_pruned("c = 8"), 1)

    def test_zeros_and_nan_as_bounds(self):
        nan = float("nan")
        values = [[-0.0, 0.0], [0.0], [-0.0], [nan, 1.0], [1.0, 2.0, nan], [nan]]
        bounds = (-0.0, 0.0, nan, 1.0)
        for own, low, high in itertools.product(values, bounds, bounds):
            believable = [value for value in own if value == value]
            if low == low and high == high and believable and not (low <= min(believable) and max(believable) <= high):
                continue  # wrong, but undetectable
            self.write(crafted.DOUBLE, [own], stats=statistics(double(low), double(high)))
            self.assert_pruning_loses_nothing([0.0, -0.0, 1.0, 2.0, nan])

    def test_truncated_text_bounds(self):
        words = [b"abcdef", b"abcdxyz", b"abd"]
        for low, high in ((b"abcdef", b"abd"), (b"ab", b"abe"), (b"ab", b"ab"), (b"a", b"a"), (b"abcd", b"abd"), (b"", b"")):
            for exact in (None, False):
                self.write(crafted.BYTE_ARRAY, [words], converted=crafted.UTF8, stats=statistics(low, high, exact=exact))
                self.assert_pruning_loses_nothing(words + [b"ab", b"a", b"abe", b"", b"b", b"abcdx"])
        self.assertEqual(self.row_groups_pruned("c = x"), 0)

    def test_exact_text_bounds_prune(self):
        words = [b"abcdef", b"abd"]
        self.write(crafted.BYTE_ARRAY, [words], converted=crafted.UTF8, stats=statistics(b"abcdef", b"abd", exact=True))
        self.assert_pruning_loses_nothing(words + [b"abdx", b"ab"])
        self.assertEqual(self.row_groups_pruned("c > abd"), 1)


class PageIndexes(WriterErrors):
    PAGES = ([1, 2, 3], [4, 5, 6], [7, 8, 9])
    LOWS = [int64(values[0]) for values in PAGES]
    HIGHS = [int64(values[-1]) for values in PAGES]
    CONSTANTS = [0, 1, 3, 4, 5, 9, 10]

    def write_numbers(self, index, repetition=crafted.REQUIRED, pages=PAGES, stats=None):
        self.write(crafted.INT64, pages, repetition, index=index, stats=stats)

    def test_good_indexes_prune(self):
        for nulls in (None, [0, 0, 0]):
            self.write_numbers(column_index([False] * 3, self.LOWS, self.HIGHS, 1, nulls), stats=statistics(int64(1), int64(9)))
            self.assert_pruning_loses_nothing(self.CONSTANTS)
            self.assertEqual(self.pages_skipped("c = 5"), 2)

    def test_pages_of_nulls_in_required_columns(self):
        none = [b""] * 3
        for nulls in (None, [0, 0, 0], [3, 3, 3], [-1, -1, -1]):
            for stats in (None, statistics(int64(1), int64(9)), statistics(nulls=9), statistics(nulls=None)):
                self.write_numbers(column_index([True] * 3, none, none, 0, nulls), stats=stats)
                self.assert_pruning_loses_nothing(self.CONSTANTS)
                for first in range(3):
                    flags = [page == first for page in range(3)]
                    lows, highs = ([b"" if flag else bound for flag, bound in zip(flags, bounds)] for bounds in (self.LOWS, self.HIGHS))
                    self.write_numbers(column_index(flags, lows, highs, 1, nulls), stats=stats)
                    self.assert_pruning_loses_nothing(self.CONSTANTS)

    def test_pages_wrongly_marked_as_null(self):
        for counts in (None, [0, 0, 0], [3, 0, 0], [3, 3, 3], [-1, -1, -1], [3], []):
            for stats in (None, statistics(int64(1), int64(9)), statistics(int64(1), int64(9), nulls=3), statistics(nulls=None)):
                for flags in ([True] * 3, [True, False, False]):
                    lows, highs = ([b"" if flag else bound for flag, bound in zip(flags, bounds)] for bounds in (self.LOWS, self.HIGHS))
                    self.write_numbers(column_index(flags, lows, highs, 0, counts), crafted.OPTIONAL, stats=stats)
                    self.assert_pruning_loses_nothing(self.CONSTANTS)

    def test_confirmed_pages_of_nulls_are_skipped(self):
        pages = ([1, 2, 3], [None, None, None], [7, None, 9])
        flags, lows, highs = [False, True, False], [int64(1), b"", int64(7)], [int64(3), b"", int64(9)]
        self.write_numbers(column_index(flags, lows, highs, 1, [0, 3, 1]), crafted.OPTIONAL, pages, statistics(int64(1), int64(9), nulls=4))
        self.assert_pruning_loses_nothing(self.CONSTANTS)
        self.assertEqual(self.pages_skipped("c = 2"), 2)

    def test_wrong_orders(self):
        shuffled = ([4, 5, 6], [1, 2, 3], [7, 8, 9])
        lows, highs = ([int64(choose(values)) for values in shuffled] for choose in (min, max))
        for order in (0, 1, 2, 3):
            self.write_numbers(column_index([False] * 3, lows, highs, order, [0] * 3), pages=shuffled)
            self.assert_pruning_loses_nothing(self.CONSTANTS)
            self.write_numbers(column_index([False] * 3, self.LOWS, self.HIGHS, order, [0] * 3))
            self.assert_pruning_loses_nothing(self.CONSTANTS)

    def test_indexes_of_another_column(self):
        # Row-group statistics reveal that the index belongs to another column; swapped bounds reveal themselves.
        other = [int64(value) for value in (100, 200, 300)]
        for stats in (statistics(int64(1), int64(9)), statistics(int64(1), int64(9), nulls=None)):
            self.write_numbers(column_index([False] * 3, other, other, 1, [0] * 3), stats=stats)
            self.assert_pruning_loses_nothing(self.CONSTANTS)
        # A page without bounds says nothing, but the others must still lie within those of the chunk.
        for flags in ([True, False, False], [False, False, True]):
            bounds = [b"" if flag else bound for flag, bound in zip(flags, other)]
            self.write_numbers(column_index(flags, bounds, bounds, 1), crafted.OPTIONAL, stats=statistics(int64(1), int64(9)))
            self.assert_pruning_loses_nothing(self.CONSTANTS)
        self.write_numbers(column_index([False] * 3, self.HIGHS, self.LOWS, 1, [0] * 3))
        self.assert_pruning_loses_nothing(self.CONSTANTS)
        for bounds in ([int32(1)] * 3, [b""] * 3, [b"x"] * 3):
            self.write_numbers(column_index([False] * 3, bounds, bounds, 0, [0] * 3))
            self.assert_pruning_loses_nothing(self.CONSTANTS)
        for length in (0, 1, 2, 4):
            lows, highs = (([*bounds, int64(10)])[:length] for bounds in (self.LOWS, self.HIGHS))
            self.write_numbers(column_index([False] * length, lows, highs, 1, [0] * length))
            self.assert_pruning_loses_nothing(self.CONSTANTS)

    def test_truncated_text_bounds(self):
        pages = ([b"abcd1", b"abcd2"], [b"abcd3", b"abcx"], [b"b", b"bcde"])
        constants = [word for page in pages for word in page] + [b"abcd", b"abc", b"abd", b"bc", b"c"]
        for lows, highs in (([b"abcd1", b"abcd3", b"b"], [b"abcd2", b"abcx", b"bcde"]), ([b"abc", b"abc", b"b"], [b"abd", b"abd", b"bd"]),
                            ([b"abc", b"abc", b"b"], [b"abc", b"abc", b"bc"]), ([b"a", b"a", b"b"], [b"a", b"a", b"b"])):
            for stats in (None, statistics(b"abcd1", b"bcde"), statistics(b"abc", b"bc", exact=False)):
                self.write(crafted.BYTE_ARRAY, pages, converted=crafted.UTF8, index=column_index([False] * 3, lows, highs, 1), stats=stats)
                self.assert_pruning_loses_nothing(constants)

    def test_contradictory_offset_indexes_are_ignored(self):
        good = crafted.offset_index
        self.addCleanup(setattr, crafted, "offset_index", good)
        damages = (lambda places: places[:2] + [(places[2][0] + 10**6, places[2][1], 6)], lambda places: [],
                   lambda places: [(offset, size, 9 - row) for offset, size, row in places], lambda places: [(0, 0, 0)] * 3)
        for damage in damages:
            crafted.offset_index = lambda places, damage=damage: good(damage(places))
            self.write_numbers(column_index([False] * 3, self.LOWS, self.HIGHS, 1, [0] * 3))
            self.assert_pruning_loses_nothing(self.CONSTANTS)


class BloomFilters(WriterErrors):
    OWN, OTHER = crafted.bloom_filter([1, 5, 9]), crafted.bloom_filter([100, 500, 900])

    def write_two(self, first, second, **stats):
        columns = [crafted.schema_element(name, crafted.INT64, crafted.REQUIRED) for name in (b"a", b"b")]
        pages = [[(crafted.data_page(crafted.plain(crafted.INT64, values), 3), 3)] for values in ([1, 5, 9], [100, 500, 900])]
        crafted.write_file(self.new_path(), [crafted.root(2), *columns], [[Chunk(b"a", crafted.INT64, pages[0], bloom=first, stats=stats.get("a")),
                                                                     Chunk(b"b", crafted.INT64, pages[1], bloom=second, stats=stats.get("b"))]])

    def assert_both_right(self):
        for column in "ab":
            self.assert_pruning_loses_nothing([1, 5, 9, 100, 500, 900, 3], column)

    def test_good_filters_prune(self):
        self.write_two(self.OWN, self.OTHER)
        self.assert_both_right()
        self.assertEqual(self.row_groups_pruned("a = 3"), 1)

    def test_filters_of_another_column(self):
        own, other = self.OWN, self.OTHER
        self.write_two(own, 0)
        self.assert_both_right()
        self.write_two(1, other)
        self.assert_both_right()
        self.write_two(other, own, a=statistics(int64(1), int64(9)), b=statistics(int64(100), int64(900)))
        self.assert_both_right()

    def test_damaged_filters(self):
        own, other = self.OWN, self.OTHER
        bounds = dict(a=statistics(int64(1), int64(9)), b=statistics(int64(100), int64(900)))
        for damaged in (own[:20], b"\0" * len(own), b"\xff" * len(own), own[:-32] + b"\0" * 32, own[:15] + b"\0" * (len(own) - 15)):
            self.write_two(damaged, other, **bounds)
            self.assert_both_right()


if __name__ == "__main__":
    unittest.main()
