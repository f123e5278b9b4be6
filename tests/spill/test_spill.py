"""Queries whose rows exceed memory_limit: answers, errors, what is left of temporary files and memory."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle
from tests.support import pistachio_process as pistachio
from tests.support.pistachio_cluster import wait_until
from tests.support.pistachio_session import PistachioSession, StatementFailed
from tests.support.terminal_session import CTRL_C, PROMPT, TerminalSession
from tests.tpch.compare_variants import compare, variant_texts
from tools.tpch_data import ensure_tpch

SCALE = "0.1"
MEGABYTE = 1_000_000
# With some margin: they also pass with 24 MB.
LIMIT_BYTES = 32 * MEGABYTE
LIMIT = ("-s", f"memory_limit={LIMIT_BYTES}")
AS_WRITTEN = ("-s", "disabled_rules=choose_build_sides,order_joins")
# A tenth of the rows, for the side that is not retained.
SOME_LINES = "(SELECT l_orderkey, l_linenumber, l_tax, l_partkey, l_comment FROM lineitem WHERE l_orderkey < 60000)"
MANY_LINES = "(SELECT l_orderkey, l_linenumber, l_partkey, l_comment, l_shipinstruct, l_tax, l_linestatus FROM lineitem WHERE l_orderkey < 400000)"
# About 90 MB in memory, 72 MB as CSV.
SORT = "SELECT * FROM lineitem ORDER BY l_comment, l_orderkey, l_linenumber"
SUM_OF_GROUPS = "SELECT count(*) AS n, sum(c) AS s, min(t) AS low, max(t) AS high FROM"
MATCHES = "SELECT count(*) AS n, count(a.l_comment) AS a, count(b.l_comment) AS b, min(a.l_comment) AS low, max(b.l_comment) AS high"
NEXT_LINE = "a.l_orderkey = b.l_orderkey + 1 AND a.l_linenumber = b.l_linenumber"
SAME_COMMENT = "b.l_comment = a.l_comment AND b.l_orderkey <> a.l_orderkey"
TAXED = "(SELECT l_comment FROM lineitem WHERE l_tax > 0.02)"
TAXED_AND_NULL = "(SELECT CASE WHEN l_orderkey = 7 THEN NULL ELSE l_comment END FROM lineitem WHERE l_tax > 0.02)"

GROUPINGS = {
    "integers": f"{SUM_OF_GROUPS} (SELECT l_orderkey, l_linenumber, count(*) AS c, sum(l_partkey) AS t FROM lineitem GROUP BY 1, 2) g",
    "text": f"{SUM_OF_GROUPS} (SELECT l_comment AS t, count(*) AS c FROM lineitem WHERE l_orderkey < 450000 GROUP BY 1) g",
    "several keys": f"{SUM_OF_GROUPS} (SELECT l_orderkey, l_shipmode, l_shipdate, count(*) AS c, max(l_comment) AS t FROM lineitem WHERE l_orderkey < 200000 GROUP BY 1, 2, 3, l_comment) g",
    "distinct text": "SELECT count(DISTINCT l_comment) AS a, count(*) AS b, sum(l_tax) AS c FROM lineitem WHERE l_orderkey < 450000",
    "distinct text of few groups": "SELECT l_shipmode, count(DISTINCT l_comment) AS a, sum(DISTINCT l_partkey) AS b, count(l_tax) AS c FROM lineitem WHERE l_orderkey < 300000 GROUP BY 1",
    "distinct text of many groups": f"{SUM_OF_GROUPS} (SELECT l_orderkey, count(DISTINCT l_comment) AS c, sum(l_tax) AS t FROM lineitem WHERE l_orderkey < 300000 GROUP BY 1) g",
    "DISTINCT": "SELECT count(*) AS n, min(l_comment) AS low FROM (SELECT DISTINCT l_comment, l_orderkey FROM lineitem WHERE l_orderkey < 450000) d",
    "UNION": "SELECT count(*) AS n, max(l_comment) AS high FROM (SELECT l_comment, l_orderkey FROM lineitem WHERE l_tax > 0.05 UNION SELECT l_comment, l_orderkey FROM lineitem WHERE l_tax < 0.06) u",
}
JOINS = {
    "inner": f"{MATCHES} FROM {SOME_LINES} a JOIN {MANY_LINES} b ON {NEXT_LINE}",
    "left": f"{MATCHES} FROM {SOME_LINES} a LEFT JOIN {MANY_LINES} b ON {NEXT_LINE}",
    "right": f"{MATCHES} FROM {SOME_LINES} a RIGHT JOIN {MANY_LINES} b ON {NEXT_LINE}",
    "full": f"{MATCHES} FROM {SOME_LINES} a FULL JOIN {MANY_LINES} b ON a.l_orderkey = b.l_orderkey AND a.l_linenumber < b.l_linenumber AND a.l_comment > b.l_comment",
    "semi": f"SELECT count(*) AS n, min(l_comment) AS low FROM {SOME_LINES} a WHERE EXISTS (SELECT 1 FROM lineitem b WHERE {SAME_COMMENT})",
    "anti": f"SELECT count(*) AS n, min(l_comment) AS low FROM {SOME_LINES} a WHERE NOT EXISTS (SELECT 1 FROM lineitem b WHERE {SAME_COMMENT})",
    "NOT IN": f"SELECT count(*) AS n, min(l_comment) AS low FROM lineitem WHERE l_comment NOT IN {TAXED}",
    "NOT IN of NULL": f"SELECT count(*) AS n FROM lineitem WHERE CASE WHEN l_orderkey % 2 = 0 THEN l_comment END NOT IN {TAXED}",
    "IN with a NULL as a value": f"SELECT x, count(*) AS n FROM (SELECT l_comment IN {TAXED_AND_NULL} AS x FROM lineitem) t GROUP BY 1",
    "single row": f"SELECT count(c) AS n, min(c) AS low, max(c) AS high FROM (SELECT (SELECT b.l_comment FROM lineitem b WHERE b.l_orderkey + 1 = a.l_orderkey AND b.l_linenumber = a.l_linenumber) AS c FROM {SOME_LINES} a) t",
    "range": f"{MATCHES} FROM (SELECT * FROM lineitem WHERE l_orderkey < 3) a JOIN {MANY_LINES} b ON a.l_partkey < b.l_partkey",
    "cross": f"{MATCHES} FROM (SELECT n_comment AS l_comment FROM nation WHERE n_nationkey < 3) a CROSS JOIN {MANY_LINES} b",
}
SORTS = {
    "without a LIMIT": f"{SORT.replace('lineitem', 'lineitem WHERE l_orderkey < 120000')}",
    "with a large LIMIT": "SELECT l_orderkey, l_linenumber, l_comment, l_shipinstruct FROM lineitem ORDER BY l_comment DESC, l_orderkey, l_linenumber LIMIT 1048577 OFFSET 590000",
    "with a small LIMIT behind many rows": "SELECT l_orderkey, l_linenumber, l_comment, l_shipinstruct FROM lineitem ORDER BY l_comment DESC, l_orderkey, l_linenumber LIMIT 5 OFFSET 200000",
}
TWO_ROWS = "SELECT count(c) AS n FROM (SELECT (SELECT b.l_comment FROM lineitem b WHERE b.l_orderkey = a.l_orderkey) AS c FROM lineitem a) t"


def lines_of(result, ordered):
    lines = result.csv.splitlines()
    return lines if ordered else sorted(lines)


def spill_files(pid):
    """{descriptor: bytes on disk} of the open files without a name."""
    files = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if "(deleted)" in os.readlink(entry) and not os.readlink(entry).startswith(("/memfd", "/dev/shm")):
                files[entry.name] = entry.stat().st_blocks * 512
        except OSError:
            pass  # closed meanwhile
    return files


def written_bytes(pid):
    """By all calls that write: results and spilled rows."""
    return int(re.search(r"wchar: (\d+)", Path(f"/proc/{pid}/io").read_text(encoding="utf-8"))[1])


def peak_resident_bytes(pid):
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))[1]) * 1024


def reserved_bytes(session):
    return int(session.run("SHOW memory").csv.splitlines()[1].split(",")[2])


def why_no_mounts():
    """None if a process can mount file systems of its own, else what is missing."""
    if os.geteuid() != 0:
        return "mounts need root"
    if shutil.which("unshare") is None:
        return "the program unshare (util-linux) is not there"
    made = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, timeout=60, check=False)
    return None if made.returncode == 0 else f"file systems cannot be mounted: {made.stderr.strip()}"


class WithTempDirectory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = ensure_tpch(SCALE)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.place = ("-s", f"temp_directory={self.folder}")

    def session(self, *options, data=None, **more):
        session = PistachioSession(*self.place, *options, folder=data or self.data, **more)
        self.addCleanup(session.close)
        return session

    def assert_nothing_left(self, session):
        """No space on disk, no memory; and it runs the next query."""
        self.assertEqual(spill_files(session.process.pid), {})
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(session.run("SELECT count(*) AS n FROM nation").csv, "n\n25\n")
        self.assertEqual(reserved_bytes(session), 0)


class Answers(WithTempDirectory):
    def check_tpch(self, scale, spilling, *options, **more):
        data = ensure_tpch(scale)
        session = self.session(*options, data=data, **more)
        texts = variant_texts(0, 0, scale)
        comparison = compare(texts, duckdb_oracle.connect(data), session)
        self.assertEqual(comparison.problems, [])
        self.assertGreater(comparison.rows, 0)
        queries = dict(texts)
        for number in spilling:
            with self.subTest(query=number):
                self.assertRegex(session.run(f"EXPLAIN ANALYZE {queries[f'query {number}']}").csv, "iB spilled")

    def test_tpch(self):
        self.check_tpch(SCALE, (18, 20), "-s", "memory_limit=20MB")

    def test_tpch_on_three_ranks(self):
        # A third of the rows leaves so little to spill that it is forced.
        self.check_tpch("0.01", (9, 18), "-s", "spill=always", ranks=3)

    def check_same_answers(self, queries, limited, ordered=False, least_spilled=10 * MEGABYTE):
        unlimited = self.session(*AS_WRITTEN)
        for name, query in queries.items():
            with self.subTest(name=name):
                expected = lines_of(unlimited.run(query), ordered)
                limited.run("SELECT 1")
                before = written_bytes(limited.process.pid)
                found = limited.run(query)
                self.assertEqual(lines_of(found, ordered), expected)
                self.assertGreater(len(expected), 1)
                self.assertGreater(written_bytes(limited.process.pid) - before - len(found.csv), least_spilled)
        # Beside memory_limit, the program and its libraries.
        self.assertLess(peak_resident_bytes(limited.process.pid), 1.1 * LIMIT_BYTES + 250 * MEGABYTE)
        self.assert_nothing_left(limited)

    def test_groups(self):
        self.check_same_answers(GROUPINGS, self.session(*LIMIT, *AS_WRITTEN))

    def test_joins(self):
        limited = self.session(*LIMIT, *AS_WRITTEN)
        self.check_same_answers(JOINS, limited)
        with self.assertRaisesRegex(StatementFailed, "^a scalar subquery returned more than one row"):
            limited.run(TWO_ROWS)
        self.assert_nothing_left(limited)

    def test_groups_beside_a_join(self):
        # The table of the join takes nearly half of the memory, and a row group, whose pages are as long as itself, as much.
        rows = 300_000
        texts = {"t": [f"key {n * 7919 % rows} some text" for n in range(rows)], "v": [f"value {n}{'x' * (n % 20)}" for n in range(rows)]}
        pages = {"row_group_size": 122_880, "data_page_size": 64 * MEGABYTE, "use_dictionary": False}
        pq.write_table(pa.table({"id": pa.array(range(rows), pa.int64()), **texts}), self.folder / "left.parquet", **pages)
        pq.write_table(pa.table({"id": pa.array([n * 7 % rows for n in range(rows)], pa.int64())}), self.folder / "right.parquet", **pages)
        tables = f"'{self.folder}/left.parquet' a JOIN '{self.folder}/right.parquet' b ON a.id = b.id"
        query = f"SELECT count(*) AS n, sum(c) AS s, min(t) AS low, max(v) AS high FROM (SELECT a.t AS t, count(*) AS c, min(v) AS v FROM {tables} GROUP BY 1) g"
        limited = self.session(*LIMIT, "-s", "threads=2", *AS_WRITTEN)
        for _ in range(3):
            self.assertEqual(limited.run(query).csv, f"n,s,low,high\n{rows},{rows},key 0 some text,value 9xxxxxxxxx\n")

    def test_frequent_key_joins_by_blocks(self):
        # With spill=always hardly anything fits, so that the build side is read in blocks.
        skewed = ("SELECT count(*) AS n, count(a.l_tax) AS a, count(b.l_comment) AS b FROM (SELECT l_linestatus, l_orderkey, l_tax FROM lineitem WHERE l_partkey < 3) a "
                  "FULL JOIN (SELECT l_linestatus, l_orderkey, l_comment FROM lineitem WHERE l_orderkey < 30000) b ON a.l_linestatus = b.l_linestatus AND a.l_orderkey < b.l_orderkey")
        self.check_same_answers({"full": skewed, "left": skewed.replace("FULL", "LEFT"), "inner": skewed.replace("FULL", "")}, self.session(*LIMIT, "-s", "spill=always", *AS_WRITTEN),
                                least_spilled=MEGABYTE)

    def test_sorts(self):
        self.check_same_answers(SORTS, self.session(*LIMIT), ordered=True)


class Errors(WithTempDirectory):
    def check(self, pattern, *options, query=SORT, limit=LIMIT):
        """It fails alone, and in a session that runs the next query."""
        done = pistachio.run("-d", self.data, "--format", "csv", *limit, *self.place, *options, "-c", query)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr, f"^error: {pattern}\n$")
        session = self.session(*limit, *options)
        with self.assertRaisesRegex(StatementFailed, f"^{pattern}$"):
            session.run(query)
        self.assertEqual(spill_files(session.process.pid), {})
        self.assertEqual(session.run("SELECT count(*) AS n FROM nation").csv, "n\n25\n")
        self.assertEqual(reserved_bytes(session), 0)
        return session

    def check_folder(self, folder, reason):
        self.check(f"cannot create a file .*in temp_directory {folder}: {reason}; set temp_directory to an existing, writable folder, or raise memory_limit", "-s", f"temp_directory={folder}")

    def test_missing_temp_directory(self):
        self.check_folder(self.folder / "missing", "No such file or directory")

    def test_file_as_temp_directory(self):
        file = self.folder / "file"
        file.touch()
        self.check_folder(file, "Not a directory")

    def test_unwritable_temp_directory(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        self.folder.chmod(0o500)
        self.check_folder(self.folder, "Permission denied")

    def test_temp_directory_is_only_needed_to_spill(self):
        done = pistachio.run("-d", self.data, "-s", f"temp_directory={self.folder / 'missing'}", "--format", "csv", "-c", "SELECT count(*) AS n FROM lineitem")
        self.assertEqual((done.returncode, done.stdout), (0, "n\n600572\n"), done.stderr)

    def test_max_temp_size(self):
        session = self.check(r"cannot spill .* more to .*: max_temp_size is 19.1 MiB and .* in use; raise max_temp_size or memory_limit", "-s", "max_temp_size=20MB")
        # What the failed query used is free again: this one needs nearly all of it.
        smaller = "SELECT l_orderkey, l_linenumber, l_comment FROM lineitem WHERE l_orderkey < 300000 ORDER BY 3, 1, 2 LIMIT 1048577 OFFSET 290000"
        self.assertEqual(session.run(smaller).csv, self.session().run(smaller).csv)

    def test_spill_off(self):
        self.check(r"out of memory: .*memory_limit is 30.5 MiB.*; raise memory_limit", "-s", "spill=off")

    def test_value_that_exceeds_memory_limit(self):
        file = self.folder / "large.parquet"
        pq.write_table(pa.table({"t": ["x" * 30 * MEGABYTE]}), file)
        self.check(r"out of memory: .* 30.0 MiB, .*; raise memory_limit .*large.parquet, row group 0\)", query=f"SELECT * FROM '{file}' ORDER BY 1", limit=("-s", "memory_limit=16MB"))

    def test_mounted_file_systems(self):
        missing = why_no_mounts()
        if missing:
            self.skipTest(missing)
        for options, reason in (("size=20m", "cannot write .*: No space left on device; free space there, set temp_directory to another folder"),
                                ("ro", "cannot create a file .*: Read-only file system; set temp_directory to an existing, writable folder")):
            with self.subTest(options=options):
                query = [pistachio.BINARY, "-d", str(self.data), "--format", "csv", "-s", "on_error=continue", *LIMIT, *self.place, "-c", SORT, "-c", "SELECT 1 AS one"]
                script = 'mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@"'
                done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", options, str(self.folder), *query], capture_output=True, text=True,
                                      timeout=pistachio.WATCHDOG_SECONDS, check=False)
                self.assertEqual((done.returncode, done.stdout.endswith("one\n1\n")), (1, True), done.stderr)
                self.assertRegex(done.stdout + done.stderr, f"error: {reason}, or raise memory_limit\n")


class Ends(WithTempDirectory):
    def wait_until_it_spills(self, pid):
        wait_until(lambda: sum(spill_files(pid).values()) > MEGABYTE, "a spilled megabyte")

    def test_kill_leaves_no_file(self):
        for _ in range(5):
            process = pistachio.start("-d", self.data, *LIMIT, *self.place, "--format", "csv", "-c", f"SELECT count(*) FROM ({SORT} LIMIT 2000000) t")
            self.wait_until_it_spills(process.pid)
            process.kill()
            process.communicate()
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_query_timeout(self):
        session = self.session(*LIMIT)
        session.run("SELECT count(*) FROM lineitem")
        session.run("SET spill = always")
        session.run("SET query_timeout = '400ms'")
        with self.assertRaisesRegex(StatementFailed, "^the statement ran longer than query_timeout=400ms$"):
            session.run(SORT)
        self.assert_nothing_left(session)

    def test_interrupt(self):
        with TerminalSession("-d", self.data, *LIMIT, *self.place, "--format", "csv") as terminal:
            terminal.wait_for(PROMPT)
            terminal.type(f"SELECT count(*) FROM ({SORT} LIMIT 2000000) t;\n")
            self.wait_until_it_spills(terminal.process.pid)
            terminal.type(CTRL_C)
            terminal.wait_for("interrupted")
            terminal.wait_for(PROMPT)
            self.assertEqual(spill_files(terminal.process.pid), {})
            self.assertIn("25", terminal.ask("SELECT count(*) AS n FROM nation;"))
            self.assertRegex(terminal.ask("SHOW memory;"), r"0,\S+,0,\d+,32000000")

    def test_limit_ends_a_spilled_join_early(self):
        session = self.session("-s", "spill=always")
        for statement in ("", "", "EXPLAIN ANALYZE "):
            result = session.run(f"{statement}SELECT l_comment FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_orderkey < 60000 LIMIT 3")
            self.assert_nothing_left(session)
        self.assertRegex(result.csv, "iB spilled")


if __name__ == "__main__":
    unittest.main()
