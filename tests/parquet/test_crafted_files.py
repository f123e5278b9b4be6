"""Files that no library writes, read by the built program: old statistics, bogus counts, absurd schemas. Each must be read
correctly or rejected with an error that names it, within a small memory limit."""

import itertools
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import crafted_parquet as crafted
from tests.support import pistachio_process as pistachio
from tests.support.scan_server import ScanServer

LARGEST_COUNT = 2**31 - 1


class CraftedFile(unittest.TestCase):
    """One process scans all files of a class; it must survive them."""

    @classmethod
    def setUpClass(cls):
        cls.server = ScanServer()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.files = itertools.count()
        self.has_checked_status = False

    def new_path(self):
        """Another one for each file: the process caches footers."""
        self.path = self.folder / str(next(self.files)) / "crafted.parquet"
        self.path.parent.mkdir()
        return self.path

    def write(self, *arguments, **more):
        return crafted.write(self.new_path(), *arguments, **more)

    def scan(self, *where, **settings):
        return self.server.scan(self.path, where=where, **settings)

    def assert_refused(self, *parts, where=()):
        """The first refusal of a test also checks the exit status of a process of its own."""
        if not self.has_checked_status:
            self.has_checked_status = True
            done = pistachio.run("scan", self.path, "-s", "memory_limit=64MB", *(word for each in where for word in ("--where", each)))
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            for part in ("error: ", "crafted.parquet", *parts):
                self.assertIn(part, done.stderr)
        with self.assertRaises(RuntimeError) as refusal:
            self.scan(*where, memory_limit="64MB")
        for part in ("crafted.parquet", *parts):
            self.assertIn(part, str(refusal.exception))


class Statistics(CraftedFile):
    # Big-endian decimals, whose bounds an old writer chose by signed bytes: 0x0080 sorts below 0x0001.
    def write_decimals(self, stats, **more):
        body = b"".join(struct.pack(">h", value) for value in (128, 1, 256))
        schema = [crafted.root(), crafted.column(crafted.FIXED_LEN_BYTE_ARRAY, converted=crafted.DECIMAL, length=2, scale=0, precision=4)]
        self.write(schema, crafted.FIXED_LEN_BYTE_ARRAY, crafted.data_page(body, 3), 3, stats=stats, **more)

    def test_bytes_of_unknown_order_prune_nothing(self):
        self.write_decimals(crafted.statistics(old_minimum=struct.pack(">h", 128), old_maximum=struct.pack(">h", 256)),
                            created_by=b"parquet-mr version 1.8.1 (build x)")
        answer = self.scan("c = 1")
        self.assertEqual((answer["rows"], answer["row_groups_pruned"]), (1, 0))

    def test_text_of_unknown_order_prunes_nothing(self):
        words = [b"ab", "aé".encode(), b"c"]
        body = b"".join(struct.pack("<I", len(word)) + word for word in words)
        self.write([crafted.root(), crafted.column(crafted.BYTE_ARRAY, converted=crafted.UTF8)], crafted.BYTE_ARRAY, crafted.data_page(body, 3), 3,
                   stats=crafted.statistics(old_minimum="aé".encode(), old_maximum=b"c"), created_by=b"other-writer version 2.0.0 (build x)")
        self.assertEqual(self.scan("c = ab")["rows"], 1)

    def test_bytes_in_the_order_of_their_type_prune(self):
        self.write_decimals(crafted.statistics(minimum=struct.pack(">h", 1), maximum=struct.pack(">h", 256)), ordered=True)
        self.assertEqual(self.scan("c = 128")["rows"], 1)
        self.assertEqual(self.scan("c > 256")["row_groups_pruned"], 1)


class Schemas(CraftedFile):
    def test_schemas_that_are_too_deep_are_refused(self):
        numbers = struct.pack("<3q", 1, 2, 3)
        for groups in (1_000, 1_001, 200_000):
            schema = [crafted.root()] + [crafted.schema_element(b"g", repetition=crafted.OPTIONAL, children=1)] * groups
            self.write(schema + [crafted.column(crafted.INT64)], crafted.INT64, crafted.data_page(numbers, 3), 3)
            if groups > 1_000:
                self.assert_refused("more than 1000 levels of nested groups")
            else:
                self.assertEqual(pistachio.run("schema", self.path).returncode, 0)


class Sizes(CraftedFile):
    def write_numbers(self, rows, page_rows=3, **more):
        page = crafted.data_page(struct.pack("<3q", 1, 2, 3), page_rows)
        self.write([crafted.root(), crafted.column(crafted.INT64)], crafted.INT64, page, rows, **more)

    def test_wrong_decompressed_size_allocates_nothing(self):
        for codec in (crafted.UNCOMPRESSED, crafted.SNAPPY, crafted.ZSTD):
            for rows in (200_000_000, LARGEST_COUNT):
                self.write_numbers(rows, codec=codec, uncompressed=2**61)
                self.assert_refused("row group 0, column c", f"the pages hold 3 of the row group's {rows} rows")
        self.write_numbers(3, uncompressed=2**61)
        self.assertEqual(self.scan(memory_limit="64MB")["columns"]["c"]["sum"], "6")

    def test_many_wrong_row_groups_make_short_plan(self):
        self.write_numbers(50_000_000, codec=crafted.SNAPPY, uncompressed=2**61, row_groups=5_000)
        self.assert_refused("the pages hold 3 of", where=("c > 0",))

    def test_wrong_page_counts_are_bad_data(self):
        self.write_numbers(LARGEST_COUNT, LARGEST_COUNT)
        self.assert_refused("column c, offset 4", f"the page has 24 bytes where {8 * LARGEST_COUNT} are needed")
        codes = crafted.data_page(bytes([1, 3, 0b010]), 3, crafted.RLE_DICTIONARY)
        for count in (2, LARGEST_COUNT):
            self.write([crafted.root(), crafted.column(crafted.INT64)], crafted.INT64, codes, 3,
                       dictionary=crafted.dictionary_page(struct.pack("<2q", 5, 6), count))
            if count == 2:
                self.assertEqual(self.scan()["columns"]["c"]["sum"], "16")
            else:
                self.assert_refused("column c, offset 4", f"the page has 16 bytes where {8 * LARGEST_COUNT} are needed")

    def test_impossible_row_counts_are_refused(self):
        self.write_numbers(2**62)
        self.assert_refused("row group 0, column c", "rows do not fit")
        self.write_numbers(-1)
        self.assert_refused("-1 rows")

    def test_sizes_below_zero_are_refused(self):
        self.write_numbers(3, uncompressed=-1)
        self.assert_refused("negative size")


class Timestamps(CraftedFile):
    def test_days_out_of_microsecond_range_are_refused(self):
        for day, fits in ((2440588, True), (100_000_000, True), (2**31 - 1, False), (-(2**31), False)):
            self.write([crafted.root(), crafted.column(crafted.INT96)], crafted.INT96, crafted.data_page(struct.pack("<qi", 0, day), 1), 1)
            if fits:
                self.assertEqual(self.scan()["columns"]["c"]["sum"], str((day - 2440588) * 86_400_000_000))
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


def varints(*numbers):
    return b"".join(map(crafted.varint, numbers))


def delta(values):
    """DELTA_BINARY_PACKED of up to 33 numbers with steps below two: one block of four miniblocks, the first with one-bit deltas."""
    steps = [later - earlier for earlier, later in zip(values, values[1:])]
    packed = sum(step << place for place, step in enumerate(steps)).to_bytes(4, "little")
    head = varints(128, 4, len(values)) + crafted.zigzag(values[0] if values else 0)
    return head + (crafted.zigzag(0) + bytes([1, 0, 0, 0]) + packed if steps else b"")


class Counts(CraftedFile):
    """Pages of eight rows with seven values according to their levels, whose bytes hold another number."""

    ENCODINGS = {
        "PLAIN": (crafted.INT64, crafted.PLAIN, lambda count: struct.pack(f"<{count}q", *range(count)), {}),
        "BYTE_STREAM_SPLIT": (crafted.INT64, crafted.BYTE_STREAM_SPLIT, lambda count: bytes(range(count)) + bytes(7 * count), {}),
        "DELTA_BINARY_PACKED": (crafted.INT64, crafted.DELTA_BINARY_PACKED, lambda count: delta(list(range(count))), {}),
        "fixed PLAIN": (crafted.FIXED_LEN_BYTE_ARRAY, crafted.PLAIN, lambda count: b"abc" * count, {"length": 3}),
        "fixed BYTE_STREAM_SPLIT": (crafted.FIXED_LEN_BYTE_ARRAY, crafted.BYTE_STREAM_SPLIT, lambda count: b"abc" * count, {"length": 3}),
        "text PLAIN": (crafted.BYTE_ARRAY, crafted.PLAIN, lambda count: struct.pack("<Ic", 1, b"x") * count, {}),
        "DELTA_LENGTH_BYTE_ARRAY": (crafted.BYTE_ARRAY, 6, lambda count: delta([1] * count) + b"x" * count, {}),
        "DELTA_BYTE_ARRAY": (crafted.BYTE_ARRAY, 7, lambda count: delta([0] * count) + delta([1] * count) + b"x" * count, {}),
        "boolean PLAIN": (crafted.BOOLEAN, crafted.PLAIN, lambda count: bytes((count + 7) // 8), {}),
        "boolean RLE": (crafted.BOOLEAN, crafted.RLE, lambda count: struct.pack("<I", 2) + varints(count << 1, 1), {}),
        "dictionary": (crafted.INT64, crafted.RLE_DICTIONARY, lambda count: bytes([1]) + varints(count << 1, 1), {}),
    }

    def write_page(self, name, count, version):
        physical, encoding, encode, more = self.ENCODINGS[name]
        levels = bytes([3, 0b1111111])
        if version == 1:
            page = crafted.data_page(struct.pack("<I", len(levels)) + levels + encode(count), 8, encoding)
        else:
            page = crafted.data_page_v2(levels, encode(count), 8, 1, encoding)
        dictionary = crafted.dictionary_page(struct.pack("<2q", 5, 6), 2) if encoding == crafted.RLE_DICTIONARY else b""
        self.write([crafted.root(), crafted.column(physical, crafted.OPTIONAL, **more)], physical, page, 8, dictionary=dictionary)

    def test_pages_match_the_value_count_of_levels(self):
        for place, name in enumerate(self.ENCODINGS):
            version = 1 + place % 2
            with self.subTest(name, version=version):
                self.write_page(name, 7, version)
                self.assertEqual(self.scan()["columns"]["c"]["count"], 7)
                # Bits and runs are padded to eight values.
                is_filled_up = name.startswith("boolean") or name == "dictionary"
                for count in (0 if is_filled_up else 6, 30 if is_filled_up else 8):
                    self.write_page(name, count, version)
                    self.assert_refused("row group 0, column c")


class UnknownType(CraftedFile):
    def test_every_value_is_null(self):
        unknown = crafted.Struct().struct(11, crafted.Struct())  # of the union LogicalType
        for repetition in (crafted.REQUIRED, crafted.OPTIONAL):
            element = crafted.Struct().i32(1, crafted.INT32).i32(3, repetition).binary(4, b"c").struct(10, unknown).bytes()
            page = crafted.optional_page(crafted.INT32, [1, None, 3]) if repetition else crafted.data_page(struct.pack("<3i", 1, 2, 3), 3)
            self.write([crafted.root(), element], crafted.INT32, page, 3, ordered=True,
                       stats=crafted.statistics(struct.pack("<i", 1), struct.pack("<i", 3)))
            done = pistachio.run("-c", f"SELECT count(*), count(c) FROM '{self.path}'", "-c", f"SELECT count(*) FROM '{self.path}' WHERE c = 1")
            self.assertEqual(done.stdout.splitlines()[1::2], ["3,0", "0"], done.stderr)


class WrongFooters(CraftedFile):
    """Footers that Arrow and DuckDB tolerate: the pages have the information that the footer lacks."""

    CODES = crafted.data_page(bytes([1, 3, 0b010]), 3, crafted.RLE_DICTIONARY)
    DICTIONARY = crafted.dictionary_page(struct.pack("<2q", 5, 6), 2)
    NUMBERS = crafted.data_page(struct.pack("<3q", 1, 2, 3), 3)

    def write_chunks(self, *chunks, rows=None, created_by=b"crafted"):
        """Two columns, so that something follows the first."""
        schema = [crafted.root(len(chunks)), *(crafted.schema_element(chunk.name, crafted.INT64, crafted.REQUIRED) for chunk in chunks)]
        crafted.write_file(self.new_path(), schema, [list(chunks)], rows=rows, created_by=created_by)

    def numbers(self, name=b"c", **claims):
        return crafted.Chunk(name, crafted.INT64, [(self.NUMBERS, 3)], claims=claims)

    def codes(self, name=b"c", **claims):
        return crafted.Chunk(name, crafted.INT64, [(self.CODES, 3)], dictionary=self.DICTIONARY, claims=claims)

    def assert_sums(self, **sums):
        for where, settings in (((), {}), (("c > 0",), {}), ((), {"metadata_cache": "off"})):
            columns = self.scan(*where, **settings)["columns"]
            self.assertEqual({name: int(columns[name]["sum"]) for name in sums}, sums)

    def test_sizes_of_zero(self):
        self.write_chunks(self.numbers(size=0), self.numbers(b"d", size=0))
        self.assert_sums(c=6, d=6)
        self.write_chunks(self.codes(size=0, uncompressed=0), self.codes(b"d", uncompressed=0))
        self.assert_sums(c=16, d=16)

    def test_sizes_without_the_dictionary_header(self):
        header = len(self.DICTIONARY) - 16
        self.write_chunks(self.codes(size=len(self.DICTIONARY) + len(self.CODES) - header), self.numbers(b"d"))
        self.assert_sums(c=16, d=6)

    def test_totals_of_zero_rows(self):
        self.write_chunks(self.numbers(), self.numbers(b"d"), rows=0)
        self.assert_sums(c=6, d=6)
        done = pistachio.run("-c", f"SELECT count(*) FROM '{self.path}'")
        self.assertEqual(done.stdout, "count\n3\n", done.stderr)
        self.write_chunks(self.numbers(), self.numbers(b"d"), rows=2)
        self.assert_refused("the footer claims 2 rows, its row groups have 3")

    def test_dictionary_offsets_of_old_writers(self):
        begin = 4
        for claims in (dict(dictionary_offset=0, data_offset=begin), dict(dictionary_offset=None, data_offset=begin),
                       dict(dictionary_offset=begin + len(self.DICTIONARY), data_offset=begin), dict(data_offset=0), dict(data_offset=begin)):
            self.write_chunks(self.codes(**claims), self.numbers(b"d"))
            self.assert_sums(c=16, d=6)
        for offset in (0, None):
            self.write_chunks(self.numbers(dictionary_offset=offset), self.numbers(b"d"))
            self.assert_sums(c=6, d=6)

    def test_repetition_levels_of_flat_columns(self):
        repetition, definition = bytes([6, 0]), bytes([6, 1])
        for optional in (False, True):
            levels = repetition + (definition if optional else b"")
            body = struct.pack("<3q", 1, 2, 3)
            size = len(levels) + len(body)
            header = crafted.Struct().i32(1, 3).i32(2, size).i32(3, size)
            header.struct(8, crafted.Struct().i32(1, 3).i32(2, 0).i32(3, 3).i32(4, crafted.PLAIN).i32(5, len(levels) - 2).i32(6, 2).boolean(7, False))
            self.write([crafted.root(), crafted.column(crafted.INT64, crafted.OPTIONAL if optional else crafted.REQUIRED)], crafted.INT64,
                       header.bytes() + levels + body, 3)
            self.assert_sums(c=6)


class Levels(CraftedFile):
    # Eight rows, the last one NULL, as RLE booleans.
    def write_booleans(self, nulls, levels=bytes([3, 0x7f])):
        runs = bytes([3, 0b01010101])
        page = crafted.data_page_v2(levels, struct.pack("<I", len(runs)) + runs, 8, nulls, crafted.RLE)
        self.write([crafted.root(), crafted.column(crafted.BOOLEAN, crafted.OPTIONAL)], crafted.BOOLEAN, page, 8)

    def test_null_counts_must_match_levels(self):
        self.write_booleans(1)
        column = self.scan()["columns"]["c"]
        self.assertEqual((column["count"], column["sum"]), (7, "4"))
        for nulls in (0, 2):
            self.write_booleans(nulls)
            self.assert_refused("column c, offset 4", "definition levels and its count of NULLs differ")

    def test_levels_without_nulls(self):
        for levels in (b"", bytes([16, 1]), bytes([3, 0xff])):
            self.write_booleans(0, levels)
            self.assertEqual(self.scan()["columns"]["c"]["count"], 8)


if __name__ == "__main__":
    unittest.main()
