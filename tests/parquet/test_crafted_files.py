"""Files that no library writes, read by the built program: old statistics, counts that lie, absurd schemas. Each must be read right or
refused with an error that names it, and within a small memory limit."""

import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import crafted_parquet as crafted  # noqa: E402
import pistachio_process as pistachio  # noqa: E402

LARGEST_COUNT = 2**31 - 1


class CraftedFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "crafted.parquet"

    def write(self, *arguments, **more):
        return crafted.write(self.path, *arguments, **more)

    def assert_refused(self, *parts, words=()):
        done = pistachio.run("scan", self.path, "-s", "memory_limit=64MB", *words)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for part in ("error: ", "crafted.parquet", *parts):
            self.assertIn(part, done.stderr)


class Statistics(CraftedFile):
    # Big-endian decimals, whose smallest and greatest an old writer chose by signed bytes: 0x0080 counts as below 0x0001.
    def write_decimals(self, stats, **more):
        body = b"".join(struct.pack(">h", value) for value in (128, 1, 256))
        schema = [crafted.root(), crafted.column(crafted.FIXED_LEN_BYTE_ARRAY, converted=crafted.DECIMAL, length=2, scale=0, precision=4)]
        self.write(schema, crafted.FIXED_LEN_BYTE_ARRAY, crafted.data_page(body, 3), 3, stats=stats, **more)

    def test_bytes_of_unknown_order_prune_nothing(self):
        self.write_decimals(crafted.statistics(old_minimum=struct.pack(">h", 128), old_maximum=struct.pack(">h", 256)),
                            created_by=b"parquet-mr version 1.8.1 (build x)")
        answer = pistachio.scan(self.path, "--where", "c = 1")
        self.assertEqual((answer["rows"], answer["row_groups_pruned"]), (1, 0))

    def test_text_of_unknown_order_prunes_nothing(self):
        words = [b"ab", "aé".encode(), b"c"]
        body = b"".join(struct.pack("<I", len(word)) + word for word in words)
        self.write([crafted.root(), crafted.column(crafted.BYTE_ARRAY, converted=crafted.UTF8)], crafted.BYTE_ARRAY, crafted.data_page(body, 3), 3,
                   stats=crafted.statistics(old_minimum="aé".encode(), old_maximum=b"c"), created_by=b"other-writer version 2.0.0 (build x)")
        self.assertEqual(pistachio.scan(self.path, "--where", "c = ab")["rows"], 1)

    def test_bytes_in_the_order_of_their_type_prune(self):
        self.write_decimals(crafted.statistics(minimum=struct.pack(">h", 1), maximum=struct.pack(">h", 256)), ordered=True)
        self.assertEqual(pistachio.scan(self.path, "--where", "c = 128")["rows"], 1)
        self.assertEqual(pistachio.scan(self.path, "--where", "c > 256")["row_groups_pruned"], 1)


class Schemas(CraftedFile):
    def test_schemas_that_are_too_deep_are_refused(self):
        numbers = struct.pack("<3q", 1, 2, 3)
        for groups in (1_000, 1_001, 200_000):
            schema = [crafted.root()] + [crafted.schema_element(b"g", repetition=crafted.OPTIONAL, children=1)] * groups
            self.write(schema + [crafted.column(crafted.INT64)], crafted.INT64, crafted.data_page(numbers, 3), 3)
            if groups > 1_000:
                self.assert_refused("more than 1000 groups inside each other")
            else:
                self.assertEqual(pistachio.run("schema", self.path).returncode, 0)


class Sizes(CraftedFile):
    def write_numbers(self, rows, page_rows=3, **more):
        page = crafted.data_page(struct.pack("<3q", 1, 2, 3), page_rows)
        self.write([crafted.root(), crafted.column(crafted.INT64)], crafted.INT64, page, rows, **more)

    def test_a_lie_about_the_decompressed_size_costs_nothing(self):
        for codec in (crafted.UNCOMPRESSED, crafted.SNAPPY, crafted.ZSTD):
            for rows in (200_000_000, LARGEST_COUNT):
                self.write_numbers(rows, codec=codec, uncompressed=2**61)
                self.assert_refused("row group 0, column c", f"the pages hold 3 of the row group's {rows} rows")
        self.write_numbers(3, uncompressed=2**61)
        self.assertEqual(pistachio.scan(self.path, "-s", "memory_limit=64MB")["columns"]["c"]["sum"], "6")

    def test_many_row_groups_that_lie_make_a_short_plan(self):
        self.write_numbers(50_000_000, codec=crafted.SNAPPY, uncompressed=2**61, row_groups=5_000)
        self.assert_refused("the pages hold 3 of", words=("--where", "c > 0"))

    def test_lying_counts_of_pages_are_bad_data(self):
        self.write_numbers(LARGEST_COUNT, LARGEST_COUNT)
        self.assert_refused("column c, offset 4", f"the page has 24 bytes where {8 * LARGEST_COUNT} are needed")
        codes = crafted.data_page(bytes([1, 3, 0b010]), 3, crafted.RLE_DICTIONARY)
        for count in (2, LARGEST_COUNT):
            self.write([crafted.root(), crafted.column(crafted.INT64)], crafted.INT64, codes, 3,
                       dictionary=crafted.dictionary_page(struct.pack("<2q", 5, 6), count))
            if count == 2:
                self.assertEqual(pistachio.scan(self.path)["columns"]["c"]["sum"], "16")
            else:
                self.assert_refused("column c, offset 4", f"the page has 16 bytes where {8 * LARGEST_COUNT} are needed")

    def test_rows_that_no_page_can_hold_are_refused(self):
        self.write_numbers(2**62)
        self.assert_refused("row group 0, column c", "rows do not fit")
        self.write_numbers(-1)
        self.assert_refused("-1 rows")

    def test_sizes_below_zero_are_refused(self):
        self.write_numbers(3, uncompressed=-1)
        self.assert_refused("negative size")


class Timestamps(CraftedFile):
    def test_days_beyond_the_range_of_microseconds_are_refused(self):
        for day, fits in ((2440588, True), (100_000_000, True), (2**31 - 1, False), (-(2**31), False)):
            self.write([crafted.root(), crafted.column(crafted.INT96)], crafted.INT96, crafted.data_page(struct.pack("<qi", 0, day), 1), 1)
            if fits:
                self.assertEqual(pistachio.scan(self.path)["columns"]["c"]["sum"], str((day - 2440588) * 86_400_000_000))
            else:
                self.assert_refused("column c, offset 4", "a timestamp lies outside the range of microseconds")


class Places(CraftedFile):
    def test_errors_of_kernels_name_the_page_once(self):
        good, short = (crafted.data_page(struct.pack(f"<{count}q", *range(count)), 3) for count in (3, 2))
        for pages, offset in ((good + short, 4 + len(good)), (good + short + good, 4 + len(good)), (short + good, 4)):
            self.write([crafted.root(), crafted.column(crafted.INT64)], crafted.INT64, pages, len(pages) // len(short) * 3)
            done = pistachio.run("scan", self.path)
            self.assertEqual(done.stderr, f"error: {self.path}, row group 0, column c, offset {offset}: "
                                          "the page has 16 bytes where 24 are needed\n")


class Levels(CraftedFile):
    # Eight rows, the last one NULL, as booleans in runs.
    def write_booleans(self, nulls, levels=bytes([3, 0x7f])):
        runs = bytes([3, 0b01010101])
        page = crafted.data_page_v2(levels, struct.pack("<I", len(runs)) + runs, 8, nulls, crafted.RLE)
        self.write([crafted.root(), crafted.column(crafted.BOOLEAN, crafted.OPTIONAL)], crafted.BOOLEAN, page, 8)

    def test_pages_whose_levels_and_count_of_nulls_differ_are_refused(self):
        self.write_booleans(1)
        column = pistachio.scan(self.path)["columns"]["c"]
        self.assertEqual((column["count"], column["sum"]), (7, "4"))
        for nulls in (0, 2):
            self.write_booleans(nulls)
            self.assert_refused("column c, offset 4", "definition levels and its count of NULLs differ")

    def test_levels_without_nulls(self):
        for levels in (b"", bytes([16, 1]), bytes([3, 0xff])):
            self.write_booleans(0, levels)
            self.assertEqual(pistachio.scan(self.path)["columns"]["c"]["count"], 8)


if __name__ == "__main__":
    unittest.main()
