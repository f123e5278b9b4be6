"""The command line as a user sees it: results, errors, exit codes, limits, signals."""

import functools
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.scan_server import ScanServer

ROWS = 50_000


def example_table(rows=ROWS):
    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "price": pa.array([i % 1000 / 4 for i in range(rows)], pa.float64()),
        "word": pa.array([None if i % 7 == 0 else f"word {i % 100}" for i in range(rows)], pa.string()),
    })


@functools.cache
def example_file():
    """The bytes of a Parquet file with the example table."""
    file = io.BytesIO()
    pq.write_table(example_table(), file, row_group_size=10_000, data_page_size=4096, write_page_index=True)
    return file.getvalue()


class WithFolder(unittest.TestCase):
    """`self.server` serves the scans of all tests of a class in which the start and the end of the program are not the subject."""

    @classmethod
    def setUpClass(cls):
        cls.server = ScanServer()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "example.parquet"
        self.file.write_bytes(example_file())

    def assert_error(self, done, code, *parts):
        self.assertEqual(done.returncode, code, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        self.assertEqual(done.stdout, "")


class Scan(WithFolder):
    def test_sums_up_every_column(self):
        answer = pistachio.scan(self.file)
        self.assertEqual(answer["rows"], ROWS)
        columns = answer["columns"]
        self.assertEqual(columns["id"]["sum"], str(sum(range(ROWS))))
        self.assertEqual((columns["id"]["min"], columns["id"]["max"]), ("0", str(ROWS - 1)))
        words = [f"word {i % 100}" for i in range(ROWS) if i % 7]
        self.assertEqual(columns["word"]["count"], len(words))
        self.assertEqual(columns["word"]["sum"], str(sum(map(len, words))))
        self.assertAlmostEqual(float(columns["price"]["sum"]), sum(i % 1000 / 4 for i in range(ROWS)))

    def test_box_names_every_column(self):
        done = pistachio.run("scan", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("rows", "50,000", "GB/s", "peak memory", "id", "price", "word", "characters"):
            self.assertIn(word, done.stdout)

    def test_columns_and_filters(self):
        answer = pistachio.scan(self.file, "--columns", "price", "--where", "id >= 49990", "--where", "id <> 49995")
        self.assertEqual(answer["rows"], 9)
        self.assertEqual(list(answer["columns"]), ["price"])
        self.assertEqual(answer["row_groups_pruned"], 4)
        self.assertGreater(answer["pages_skipped"], 0)

    def test_upper_case_uuids_match(self):
        file = self.folder / "uuid.parquet"
        value = uuid.UUID("0123abcd-4567-89ab-cdef-0123456789ab")
        pq.write_table(pa.table({"u": pa.array([value.bytes, bytes(16)], pa.uuid())}), file)
        self.assertEqual(self.server.scan(file, where=[f"u = {str(value).upper()}"])["rows"], 1)
        self.assertEqual(self.server.scan(file, where=[f"u = {value}"])["rows"], 1)

    def test_filter_constants_in_quotes_and_between_values(self):
        self.assertEqual(self.server.scan(self.file, where=["word = 'word 3'"])["rows"], sum(1 for i in range(ROWS) if i % 7 and i % 100 == 3))
        self.assertEqual(self.server.scan(self.file, where=["id < 3.5"])["rows"], 4)

    def test_overflowing_sums_are_an_error(self):
        wide = self.folder / "wide.parquet"
        numbers = pa.array([Decimal("9" * 38)] * 2, pa.decimal128(38, 0))
        for rows in (1, 2):  # the sum overflows between two chunks, or inside one
            pq.write_table(pa.table({"d": numbers}), wide, row_group_size=rows)
            for threads in (1, 2):
                done = pistachio.run("scan", wide, "-s", f"threads={threads}")
                self.assert_error(done, 1, "error: sum of column d is out of range", "--columns")

    def test_every_variant_gives_the_same_answer(self):
        expected = self.server.scan(self.file, where=["id > 12345"])["columns"]
        for name, value in (("reader", "blocking"), ("overlap", "off"), ("metadata_cache", "off"), ("late_materialization", "off"), ("threads", 1), ("threads", 8),
                            ("chunk_rows", 7), ("chunk_rows", 1024), ("composite_kernels", "on"), ("direct_io", "on"), ("memory_limit", "17MB")):
            try:
                got = self.server.scan(self.file, where=["id > 12345"], **{name: value})["columns"]
            except RuntimeError as problem:
                if name == "direct_io" and "does not support direct I/O" in str(problem):
                    continue
                raise
            got["price"]["sum"] = expected["price"]["sum"]  # the order of additions may differ
            self.assertEqual(got, expected, (name, value))

    def test_short_chunks_give_the_same_answer(self):
        # Chunks of one row are slow: a fifth of the rows is enough for them.
        small = self.folder / "small.parquet"
        pq.write_table(example_table(ROWS // 5), small, row_group_size=2_000, data_page_size=1024, write_page_index=True)
        for file, scale, sizes in ((small, 5, (1, 3)), (self.file, 1, (4097,))):
            for where in ([], ["word > 'word 3'"], ["word > 'word 3'", f"id >= {12345 // scale}"], [f"id < {40000 // scale}"]):
                expected = self.server.scan(file, where=where)["columns"]
                for chunk_rows in sizes:
                    for late in ("on", "off"):
                        found = self.server.scan(file, where=where, chunk_rows=chunk_rows, late_materialization=late)["columns"]
                        self.assertEqual(found, expected, (file.name, where, chunk_rows, late))

    def test_pages_are_pruned_without_late_materialization(self):
        # The pruned pages of both columns exceed the gap that a read bridges.
        indexed = self.folder / "indexed.parquet"
        rows = 200_000
        pq.write_table(pa.table({"k": pa.array(range(rows), pa.int64()), "v": pa.array([i * 0.5 for i in range(rows)])}), indexed,
                       row_group_size=rows, data_page_size=8192, write_batch_size=512, use_dictionary=False, write_page_index=True)
        for filters in (["k >= 150000", "k < 150010"], ["k < 10"], ["k <> 3", "v < 9.75"]):
            expected = self.server.scan(indexed, where=filters)
            answer = self.server.scan(indexed, where=filters, late_materialization="off")
            self.assertEqual(answer["columns"], expected["columns"])
            self.assertGreater(answer["pages_skipped"], 0)

    def test_memory_stays_under_the_limit(self):
        big = self.folder / "big.parquet"
        pq.write_table(example_table(400_000), big, row_group_size=400_000, compression="zstd")
        answer = pistachio.scan(big, "-s", "memory_limit=20MB")
        self.assertEqual(answer["rows"], 400_000)
        self.assertLessEqual(answer["peak_memory_bytes"], 20_000_000)

    def resident_peak(self, file, *words):
        """Peak resident memory of a process that scanned the file."""
        with subprocess.Popen([pistachio.BINARY, "scan", "--serve", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write(json.dumps({"files": str(file)}) + "\n")
            process.stdin.flush()
            self.assertNotIn("error", json.loads(process.stdout.readline()))
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")  # it waits for the next request
            process.stdin.close()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    def test_reservations_cover_long_pages_and_kept_filter_columns(self):
        rows = 2_000_000
        long_pages = self.folder / "long_pages.parquet"
        columns = {f"c{i}": pa.array([i, i + 1, i + 2, None] * (rows // 4), pa.int64()) for i in range(4)}
        pq.write_table(pa.table(columns | {"k": pa.array(range(rows), pa.int64())}), long_pages, row_group_size=rows, data_page_size=1 << 28, max_rows_per_page=rows,
                       use_dictionary=list(columns))
        for words in ([], ["--where", "k >= 0"], ["--where", "c0 < 100", "--where", "c1 > 0"]):
            answer = pistachio.scan(long_pages, *words, "-s", "threads=1", "-s", "memory_limit=4GB")
            self.assertLess(answer["peak_memory_bytes"], answer["peak_reserved_bytes"] + 8_000_000)

    def test_the_process_stays_near_the_limit(self):
        rows = 2_500_000
        big = self.folder / "big.parquet"
        pq.write_table(pa.table({
            "id": pa.array(range(rows), pa.int64()),
            "remark": pa.array([f"a remark of some length, of which {i} are needed to fill memory" for i in range(rows)]),
        }), big, row_group_size=100_000, use_dictionary=False, compression="none")
        libraries = self.resident_peak(self.file)
        for limit in (64_000_000, 128_000_000):
            used = self.resident_peak(big, "-s", f"memory_limit={limit}", "-s", "threads=4") - libraries
            self.assertLess(used, limit + 32_000_000)
        # Sanity check: the whole file, as the blocking reader holds it, exceeds both limits.
        whole = self.resident_peak(big, "-s", "memory_limit=4GB", "-s", "reader=blocking") - libraries
        self.assertGreater(whole, 128_000_000 + 32_000_000)

    def test_serve_answers_line_by_line_and_survives_errors(self):
        requests = [{"files": str(self.file), "columns": ["id"]}, {"files": str(self.folder / "none.parquet")}, "no json",
                    {"files": [str(self.file)], "columns": ["id"], "where": ["id < 10"], "settings": {"threads": 1}}]
        text = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in requests)
        done = subprocess.run([pistachio.BINARY, "scan", "--serve"], input=text, capture_output=True, text=True, timeout=pistachio.WATCHDOG_SECONDS, check=False)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(answers[0]["rows"], ROWS)
        self.assertIn("does not exist", answers[1]["error"])
        self.assertIn("error", answers[2])
        self.assertEqual(answers[3]["columns"]["id"]["sum"], "45")

    def serve(self, requests):
        text = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([pistachio.BINARY, "scan", "--serve"], input=text, capture_output=True, text=True, timeout=pistachio.WATCHDOG_SECONDS, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_serve_follows_settings_of_the_engine(self):
        wide = self.folder / "wide.parquet"
        pq.write_table(pa.table({"id": [1], "blob": pa.array([b"x" * 40_000_000])}), wide, compression="none", use_dictionary=False)
        small, large = {"memory_limit": "17MB"}, {"memory_limit": "1GB"}
        # Only in the filter: the answer would contain the blob twice, as its minimum and its maximum.
        answers = self.serve([{"files": str(wide), "columns": ["id"], "where": ["blob > a"], "settings": settings} for settings in (large, small, large)])
        self.assertEqual([answer.get("rows") for answer in answers], [1, None, 1])
        self.assertIn("memory_limit", answers[1]["error"])
        self.assertIn("--serve", pistachio.run("help").stdout)

    def test_repeated_columns_get_distinct_names(self):
        columns = pistachio.scan(self.file, "--columns", "id,price,id")["columns"]
        self.assertEqual(list(columns), ["id", "price", "id:1"])
        self.assertEqual(columns["id"], columns["id:1"])

    def test_interrupt_cancels_with_130(self):
        # A storage limit of one byte per second never finishes.
        process = subprocess.Popen([pistachio.BINARY, "scan", str(self.file), "-s", "storage_bandwidth_limit=1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pistachio.wait_until_it_watches_signals(process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted", errors)

    def test_termination_cancels_with_143(self):
        for words in (["scan", str(self.file), "-s", "storage_bandwidth_limit=1"], ["scan", "--serve"]):
            process = subprocess.Popen([pistachio.BINARY, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            pistachio.wait_until_it_watches_signals(process)
            process.terminate()
            # Its standard input stays open meanwhile: end of input would also end it.
            self.assertEqual(process.wait(timeout=pistachio.WATCHDOG_SECONDS), 143)
            self.assertEqual(process.communicate()[1], "error: terminated\n")

    def test_every_command_explains_itself(self):
        for command in ("cluster", "scan", "schema", "bench", "settings", "version"):
            for words in ([command, "--help"], [command, "-h"], [command, "any", "--help"]):
                done = pistachio.run(*words)
                self.assertEqual((done.returncode, done.stderr), (0, ""), words)
                self.assertIn(f"pistachio {command}", done.stdout)

    def test_wrong_setting_is_wrong_usage_anywhere(self):
        for words in (["scan", self.file, "-s", "threads=many"], ["-s", "threads=many", "-c", "SELECT 1"], ["bench", "scan", "-s", "thread=1"],
                      ["cluster", "-n", 2, "-s", "threads=many", "--", "-c", "SELECT 1"], ["cluster", "-n", 2, "--", "-s", "threads=many"]):
            done = pistachio.run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("thread", done.stderr)

    def test_a_hangup_ends_the_program(self):
        # A network library installs its own handler for the signal when it is loaded. The tests may run under nohup, which is inherited.
        process = subprocess.Popen([pistachio.BINARY, "scan", str(self.file), "-s", "storage_bandwidth_limit=1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        pistachio.wait_until_it_watches_signals(process)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
        self.assertEqual(process.returncode, -signal.SIGHUP)

    def test_interrupt_ends_a_wait_for_requests(self):
        process = subprocess.Popen([pistachio.BINARY, "scan", "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write(json.dumps({"files": str(self.file)}) + "\n")
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline())["rows"], ROWS)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=pistachio.WATCHDOG_SECONDS), 130)
        process.communicate()


class Partitions(WithFolder):
    def test_hive_folders_become_columns_and_prune(self):
        root = self.folder / "sales"
        for year in (2023, 2024):
            for region in ("north", "__HIVE_DEFAULT_PARTITION__"):
                place = root / f"year={year}" / f"region={region}"
                place.mkdir(parents=True)
                pq.write_table(pa.table({"amount": pa.array([year, year], pa.int32())}), place / "part.parquet")
        (root / "_SUCCESS").write_text("")
        answer = self.server.scan(root)
        self.assertEqual(answer["rows"], 8)
        self.assertEqual(answer["columns"]["year"]["type"], "BIGINT")
        self.assertEqual(answer["columns"]["region"]["count"], 4)
        pruned = self.server.scan(root, where=["year = 2024"])
        self.assertEqual((pruned["rows"], pruned["row_groups_pruned"]), (4, 2))
        self.assertEqual(self.server.scan(f"{root}/year=20*/region=north/*.parquet")["rows"], 4)
        self.assertEqual(self.server.scan(f"{root}/**/part.parquet", where=["region = north"])["rows"], 4)

    def test_dates_out_of_range_are_text(self):
        place = self.folder / "far" / "day=9999999-01-01"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"a": [1]}), place / "part.parquet")
        day = self.server.scan(self.folder / "far")["columns"]["day"]
        self.assertEqual((day["type"], day["max"]), ("VARCHAR", "9999999-01-01"))


class Errors(WithFolder):
    def test_wrong_usage_is_two(self):
        self.assertEqual(pistachio.run("frobnicate").returncode, 2)
        self.assert_error(pistachio.run("scan"), 2, "scan needs a path", "usage:")
        self.assert_error(pistachio.run("scan", self.file, "--frob"), 2, "unknown option --frob")
        self.assert_error(pistachio.run("scan", self.file, "--repeat", "0"), 2, "--repeat")
        self.assert_error(pistachio.run("scan", self.file, "--format", "xml"), 2, "xml")

    def test_missing_things(self):
        self.assert_error(pistachio.run("scan", self.folder / "none.parquet"), 1, "none.parquet does not exist")
        self.assert_error(pistachio.run("scan", self.folder / "*.pq"), 1, "no file matches")
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_error(pistachio.run("scan", empty), 1, "has no Parquet files")
        self.assert_error(pistachio.run("scan", self.file, "--columns", "colour"), 1, "there is no column colour", "id, price, word")
        self.assert_error(pistachio.run("schema", self.folder / "none.parquet"), 1, "does not exist")

    def test_non_files_are_refused_without_waiting(self):
        pipe = self.folder / "pipe.parquet"
        os.mkfifo(pipe)
        self.assert_error(pistachio.run("scan", pipe), 1, "not a regular file")
        self.assert_error(pistachio.run("scan", "/dev/null"), 1, "not a regular file")

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([pistachio.BINARY, "scan", str(self.file)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=pistachio.WATCHDOG_SECONDS, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write to standard output", done.stderr)

    def in_shell(self, line):
        """Runs a line of bash in which $0 is the program and $1 a file; returns its status and stderr."""
        done = subprocess.run(["bash", "-c", line, pistachio.BINARY, str(self.file)], capture_output=True, text=True,
                              timeout=pistachio.WATCHDOG_SECONDS, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stderr

    def test_unprintable_errors_keep_the_exit_status(self):
        for where in ("2>/dev/full", "2>&-"):
            for words, status in (('-c "SELEC"', 1), ('cluster -n 2 -- -c "SELEC"', 1), ("scan --nonsense", 2), ("nonsense", 2), ('-c "SELECT 1" >/dev/full', 1)):
                with self.subTest(words=words, where=where):
                    self.assertEqual(self.in_shell(f'"$0" {words} {where}')[0], status)

    def test_closed_standard_descriptors_are_not_reused(self):
        status, said = self.in_shell('"$0" cluster -n 2 -- -c "SELECT 1" <&- >&-')
        self.assertEqual(status, 1)
        self.assertIn("cannot write to standard output: Bad file descriptor", said)

    def test_file_size_limit_is_an_error(self):
        status, said = self.in_shell('ulimit -f 1; "$0" -c "SELECT * FROM \'$1\'" --format parquet > "$1.too_large"')
        self.assertEqual(status, 1, said)
        self.assertIn("File too large", said)

    def test_small_address_space_suffices(self):
        # As batch systems set it; the program uses what is available.
        for limit in (80_000_000, 48_000_000, 6_000_000):
            status, said = self.in_shell(f'ulimit -v {limit}; "$0" scan "$1"')
            self.assertEqual(status, 0, said)

    def test_too_small_address_space_is_named(self):
        status, said = self.in_shell('ulimit -v 3000000; "$0" -s memory_limit=16GB -c "SELECT repeat(\'x\', 250000000), repeat(\'y\', 250000000), repeat(\'z\', 250000000)" > /dev/null')
        self.assertEqual(status, 1, said)
        self.assertIn("ulimit -v", said)

    def test_no_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        self.file.chmod(0)
        self.assert_error(pistachio.run("scan", self.file), 1, "cannot open", "Permission denied")

    def test_wrong_filters_and_settings(self):
        self.assert_error(pistachio.run("scan", self.file, "--where", "id ~ 3"), 1, "'id ~ 3' is not a filter")
        self.assert_error(pistachio.run("scan", self.file, "--where", "id < three"), 1, "column id", "'three' is not a valid BIGINT")
        self.assert_error(pistachio.run("scan", self.file, "-s", "threads=many"), 2, "threads", "an integer from")
        self.assert_error(pistachio.run("scan", self.file, "-s", "thread=1"), 2, "did you mean threads?")
        self.assert_error(pistachio.run("scan", self.file, environment={"PISTACHIO_MEMORY_LIMIT": "1KB"}), 2,
                          "PISTACHIO_MEMORY_LIMIT in the environment", "memory_limit")
        unknown = pistachio.run("scan", self.file, environment={"PISTACHIO_FOO": "1"})
        self.assertEqual(unknown.returncode, 0)
        self.assertIn("warning: PISTACHIO_FOO in the environment: there is no setting 'FOO'", unknown.stderr)
        self.assert_error(pistachio.run("scan", self.file, "--where", "word = 'word 1' AND id = 1"), 1, "a filter is one comparison")
        self.assert_error(pistachio.run("scan", self.file, "--where", "word = NULL"), 1, "a comparison with NULL is never true")

    def test_damaged_files(self):
        content = self.file.read_bytes()
        cut = self.folder / "cut.parquet"
        cut.write_bytes(content[:-5])
        self.assert_error(pistachio.run("scan", cut), 1, "cut.parquet", "PAR1")
        garbage = self.folder / "garbage.parquet"
        garbage.write_bytes(b"not a parquet file at all")
        self.assert_error(pistachio.run("scan", garbage), 1, "garbage.parquet")
        changed = bytearray(content)
        changed[len(content) // 4: len(content) // 4 + 64] = b"\xff" * 64
        broken = self.folder / "broken.parquet"
        broken.write_bytes(changed)
        self.assert_error(pistachio.run("scan", broken), 1, "broken.parquet, row group", "column", "offset")

    def test_checksums_find_a_flipped_bit(self):
        checked = self.folder / "checked.parquet"
        pq.write_table(pa.table({"id": pa.array(range(1000), pa.int64())}), checked, compression="none", use_dictionary=False, write_page_checksum=True)
        content = bytearray(checked.read_bytes())
        content[1000] ^= 1
        checked.write_bytes(content)
        self.assert_error(pistachio.run("scan", checked), 1, "checksum does not match")
        self.assertEqual(self.server.scan(checked, verify_checksums="off")["rows"], 1000)

    def test_mixed_schemas(self):
        pq.write_table(pa.table({"id": pa.array(["a"]), "price": [1.0], "word": ["b"]}), self.folder / "other.parquet")
        self.assert_error(pistachio.run("scan", self.folder), 1, "column id is BIGINT in", "and VARCHAR in", "other.parquet")
        pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), self.folder / "other.parquet")
        self.assert_error(pistachio.run("scan", self.folder), 1, "other.parquet has no column price")

    def test_nested_columns_are_refused_others_readable(self):
        nested = self.folder / "nested.parquet"
        pq.write_table(pa.table({"id": [1, 2], "list": [[1], [2, 3]], "pair": pa.array([{"a": 1, "b": "x"}, None])}), nested)
        self.assertEqual(self.server.scan(nested)["columns"]["id"]["sum"], "3")
        self.assertEqual(self.server.scan(nested, columns=["pair.a"])["columns"]["pair.a"]["count"], 1)
        self.assert_error(pistachio.run("scan", nested, "--columns", "list.list.element"), 1, "list.list.element cannot be read", "list")
        self.assert_error(pistachio.run("scan", nested, "--columns", "pair"), 1, "pair is nested", "pair.a")

    def test_fixed_width_values_are_read_or_refused(self):
        for width, encoding in ((65_536, "PLAIN"), (65_536, "BYTE_STREAM_SPLIT"), (65_536, "DELTA_BYTE_ARRAY"), (65_537, "PLAIN"), (70_000, "PLAIN")):
            wide = self.folder / f"{width}_{encoding}.parquet"
            pq.write_table(pa.table({"id": [1], "b": pa.array([b"x" * width], pa.binary(width))}), wide, use_dictionary=False,
                           column_encoding={"b": encoding, "id": "PLAIN"})
            if width <= 65_536:
                self.assertEqual(self.server.scan(wide)["columns"]["b"]["sum"], str(width))
            else:
                self.assertEqual(list(self.server.scan(wide)["columns"]), ["id"])
                self.assert_error(pistachio.run("scan", wide, "--columns", "b"), 1, "column b cannot be read", f"of {width} bytes")

    def test_duplicate_names_are_refused_others_readable(self):
        twice = self.folder / "twice.parquet"
        pq.write_table(pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"]), pa.array([5, 6])], names=["a", "a", "b"]), twice)
        answer = self.server.scan(twice)
        self.assertEqual({name: column["sum"] for name, column in answer["columns"].items()}, {"b": "11"})
        self.assert_error(pistachio.run("scan", twice, "--columns", "a"), 1, "column a cannot be read", "appears twice in", "twice.parquet")
        self.assertIn("appears twice", pistachio.run("schema", twice).stdout)
        dotted = self.folder / "dotted.parquet"
        pq.write_table(pa.table({"a.b": [1], "a": pa.array([{"b": 2, "c": 3}])}), dotted)
        self.assertEqual(list(self.server.scan(dotted)["columns"]), ["a.c"])
        self.assert_error(pistachio.run("scan", dotted, "--where", "a.b = 1"), 1, "column a.b cannot be read", "appears twice in")

    def test_names_differing_in_case_are_distinct(self):
        both = self.folder / "both"
        both.mkdir()
        pq.write_table(pa.table({"a": [1], "A": [2]}), both / "1.parquet")
        self.assertEqual([column["sum"] for column in self.server.scan(both)["columns"].values()], ["1", "2"])
        pq.write_table(pa.table({"a": [10]}), both / "2.parquet")
        self.assert_error(pistachio.run("scan", both), 1, "2.parquet has no column A")
        one = self.folder / "one"
        one.mkdir()
        pq.write_table(pa.table({"a": [1]}), one / "1.parquet")
        pq.write_table(pa.table({"A": [2]}), one / "2.parquet")
        self.assertEqual(self.server.scan(one)["columns"]["a"]["sum"], "3")
        pq.write_table(pa.table({"a": [2], "A": [3]}), one / "2.parquet")
        self.assert_error(pistachio.run("scan", one), 1, "2.parquet has a column A", "must have the same columns")

    def test_too_little_memory_error_names_a_remedy(self):
        wide = self.folder / "wide.parquet"
        pq.write_table(pa.table({"blob": pa.array([b"x" * 40_000_000])}), wide, compression="none", use_dictionary=False)
        self.assert_error(pistachio.run("scan", wide, "-s", "memory_limit=17MB"), 1, "memory_limit", "wide.parquet")

    def test_failure_to_start_threads_is_an_error(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs a user without other processes")
        self.folder.chmod(0o755)
        for processes in (1, 2, 3, 20):
            command = f"ulimit -u {processes}; exec setpriv --reuid 54322 --clear-groups {pistachio.BINARY} scan {self.file} -s threads=100"
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn("error: cannot start a thread for", done.stderr)

    def test_reads_continue_with_fewer_threads(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs a user without other processes")
        self.folder.chmod(0o755)
        for processes in range(2, 7):
            command = f"ulimit -u {processes}; exec setpriv --reuid 54323 --clear-groups {pistachio.BINARY} scan {self.file} -s threads=1 -s direct_io=on"
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != 0:
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                self.assertIn("error: cannot start a thread for", done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)


class ManyFiles(WithFolder):
    def test_more_files_than_may_be_open(self):
        many = self.folder / "many"
        many.mkdir()
        for i in range(600):
            pq.write_table(pa.table({"a": [i]}), many / f"{i}.parquet")
        command = f"ulimit -n 200; exec {pistachio.BINARY} scan {many} --format json"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=pistachio.WATCHDOG_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["columns"]["a"]["sum"], str(sum(range(600))))


class SmallPages(WithFolder):
    """A row group of very many pages, read in parts under the smallest memory limit."""

    ROWS = 100_000

    def write(self, **options):
        file = self.folder / "pages.parquet"
        table = pa.table({"a": pa.array(range(self.ROWS), pa.int64()), "b": pa.array([str(i) for i in range(self.ROWS)])})
        pq.write_table(table, file, data_page_size=1, write_batch_size=1, row_group_size=self.ROWS, use_dictionary=False, **options)
        return file

    def test_page_headers_are_read_once(self):
        file = self.write()
        answer = self.server.scan(file, memory_limit="16MB", threads=1, overlap="off")
        self.assertEqual(answer["columns"]["a"]["sum"], str(sum(range(self.ROWS))))
        self.assertEqual(answer["columns"]["b"]["count"], self.ROWS)
        self.assertLess(answer["bytes_read"], 3 * file.stat().st_size)
        filtered = self.server.scan(file, where=["b = 77777"], memory_limit="16MB")
        self.assertEqual(filtered["columns"]["a"]["sum"], "77777")

    def test_with_a_page_index(self):
        answer = self.server.scan(self.write(write_page_index=True), memory_limit="16MB")
        self.assertEqual(answer["columns"]["a"]["sum"], str(sum(range(self.ROWS))))


class OtherCommands(WithFolder):
    def test_schema_shows_types_and_layout(self):
        done = pistachio.run("schema", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("50,000 rows", "5 row groups", "BIGINT", "DOUBLE", "VARCHAR", "BYTE_ARRAY", "SNAPPY", "RLE_DICTIONARY", "pages/chunk"):
            self.assertIn(word, done.stdout)

    def test_version_and_settings(self):
        version = pistachio.run("version")
        for word in ("PyTorch", "Arrow", "UCX", "PostgreSQL", "kernels"):
            self.assertIn(word, version.stdout)
        timed = pistachio.run("version", "--timing")
        self.assertRegex(timed.stdout, r"engine started +\d+\.\d +\d+\.\d\n(.*\n)*total ")
        self.assertEqual(pistachio.run("version", "--time").returncode, 2)
        settings = pistachio.run("settings", "-s", "threads=3")
        self.assertRegex(settings.stdout, r"threads +3 ")

    def test_bench_scan_writes_table_and_json(self):
        figures = self.folder / "figures.json"
        done = pistachio.run("bench", "scan", self.file, "--threads", "1,2", "--repeat", "1", "--json", figures)
        self.assertEqual(done.returncode, 0, done.stderr)
        cases = json.loads(figures.read_text())["cases"]
        self.assertEqual(len(cases), 7)
        self.assertEqual(cases[0]["variant"], "blocking")
        for case in cases:
            self.assertGreater(case["ratio"], 0)

    def test_benchmarks_of_a_gpu_need_one(self):
        for words, problem in ((["bench", "copy", self.file], "set device=cuda"), (["bench", "copy", "--device", "cuda"], "needs the files"),
                               (["bench", "copy", self.file, "--device", "gpu"], "cpu, cuda or auto")):
            self.assertIn(problem, pistachio.run(*words).stderr)
        if re.search(r"cuda +yes", pistachio.run("version").stdout):
            return  # there may be a GPU
        for words in (["bench", "scan"], ["bench", "copy", self.file]):
            done = pistachio.run(*words, "--device", "cuda")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Aerror: device=cuda: there is no CUDA device [^\n]*\n\Z")

    def test_bench_scan_shows_partial_results_after_interrupt(self):
        figures = self.folder / "interrupted.json"
        words = ["bench", "scan", self.file, "--threads", "1", "--repeat", "10000000", "--json", figures]
        for seconds in (2, 10, 60):
            with subprocess.Popen([pistachio.BINARY, *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                pistachio.wait_until_it_watches_signals(process)
                time.sleep(seconds)  # for the first round
                process.send_signal(signal.SIGINT)
                shown, _ = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
                self.assertEqual(process.returncode, 130)
            if shown:
                break
        report = json.loads(figures.read_text())
        self.assertTrue(report["interrupted"])
        self.assertGreaterEqual(len(report["cases"]), 1)
        self.assertEqual(len(re.findall(r"^(?:blocking|chunked)", shown, re.MULTILINE)), len(report["cases"]))

    def test_bench_scan_makes_its_own_files(self):
        figures = self.folder / "generated.json"
        done = pistachio.run("bench", "scan", "--rows", "30000", "--threads", "1", "--repeat", "1", "--json", figures, 
                             environment={"TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(figures.read_text())["cases"]), 4)
        self.assertEqual([path.name for path in self.folder.glob("pistachio_bench_*")], [])
        self.assertEqual(pistachio.run("bench", "scan", self.file, "--rows", "5").returncode, 2)


if __name__ == "__main__":
    unittest.main()
