"""COPY TO files and folders, read back by DuckDB and by the engine, and COPY FROM. A file appears complete or not at all."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import duckdb
import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_session import PistachioSession, StatementFailed

EVERY_TYPE = """
SELECT i AS number, CASE WHEN i % 5 <> 0 THEN i % 3 = 0 END AS truth, CAST(i AS SMALLINT) AS short, CAST(i AS BIGINT) * 5000000000 AS long,
       CAST(i AS DOUBLE) / 8 AS floating, CAST(i AS DECIMAL(20, 3)) / 4 AS decimal, DATE '1999-12-28' + CAST(i AS INTEGER) AS day,
       TIMESTAMP '2024-02-28 23:59:59.000001' + i * INTERVAL '1 hour' AS moment, TIME '01:02:03' AS time,
       CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a,b' WHEN 3 THEN 'say "hi"' WHEN 4 THEN E'two\nlines' ELSE 'Grüße' END AS text
FROM generate_series(0, 2999) t(i)
"""
LARGE = "SELECT i, i * i AS square, repeat('x', CAST(i % 97 AS INTEGER)) AS filler FROM generate_series(1, 500000) t(i)"
KILLS = int(os.environ.get("COPY_KILLS", "3"))


class Copy(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    @classmethod
    def setUpClass(cls):
        cls.session = PistachioSession()
        cls.addClassCleanup(cls.session.close)

    def copy(self, query, name, options=""):
        path = self.folder / name
        self.session.run(f"COPY ({query}) TO '{path}' {options}")
        return path

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def assert_refused(self, sql, text):
        with self.assertRaises(StatementFailed) as caught:
            self.session.run(sql)
        self.assertIn(text, str(caught.exception))

    def expected_rows(self):
        query = EVERY_TYPE.replace("E'two\nlines'", "'two' || chr(10) || 'lines'")
        return duckdb.sql(f"SELECT * FROM ({query}) ORDER BY number").fetchall()


class Formats(Copy):
    def test_parquet_has_all_types(self):
        path = self.copy(EVERY_TYPE, "rows.parquet")
        self.assertEqual(duckdb.sql(f"SELECT * FROM '{path}' ORDER BY number").fetchall(), self.expected_rows())

    def test_parquet_options(self):
        path = self.copy(EVERY_TYPE, "rows.data", "(FORMAT PARQUET, COMPRESSION zstd, COMPRESSION_LEVEL 5, ROW_GROUP_SIZE 1000)")
        metadata = pyarrow.parquet.ParquetFile(path).metadata
        self.assertEqual((metadata.num_row_groups, metadata.row_group(0).num_rows), (3, 1000))
        self.assertEqual(metadata.row_group(0).column(0).compression, "ZSTD")
        for name, stored in {"none": "UNCOMPRESSED", "snappy": "SNAPPY", "gzip": "GZIP", "lz4": "LZ4", "brotli": "BROTLI"}.items():
            path = self.copy("SELECT 1 AS a", f"{name}.parquet", f"(COMPRESSION {name})")
            self.assertEqual(pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0).compression, stored)

    def test_csv_has_all_types(self):
        path = self.copy(EVERY_TYPE, "rows.csv")
        types = "{'number': 'BIGINT', 'truth': 'BOOLEAN', 'short': 'SMALLINT', 'long': 'BIGINT', 'floating': 'DOUBLE', 'decimal': 'DECIMAL(38,7)', 'day': 'DATE', 'moment': 'TIMESTAMP', 'time': 'TIME', 'text': 'VARCHAR'}"
        rows = duckdb.sql(f"SELECT * FROM read_csv('{path}', columns={types}, header=true, allow_quoted_nulls=false) ORDER BY number").fetchall()
        self.assertEqual(rows, self.expected_rows())

    def test_csv_options(self):
        values = "VALUES (1, 'a;b', NULL), (2, 'NA', 'it''s'), (3, '', 'x')"
        path = self.copy(f"SELECT * FROM ({values}) v(a, b, c) ORDER BY a", "rows.txt", "(FORMAT csv, DELIMITER ';', QUOTE '''', NULL 'NA', HEADER false)")
        self.assertEqual(path.read_text(encoding="utf-8"), "1;'a;b';NA\n2;'NA';'it''s'\n3;;x\n")
        path = self.copy("SELECT 1 AS a, 'x' AS b", "rows.tsv")
        self.assertEqual(path.read_text(encoding="utf-8"), "a\tb\n1\tx\n")
        self.session.run(f"COPY (SELECT 1 AS a) TO '{path}' WITH CSV HEADER DELIMITER '|'")
        self.assertEqual(path.read_text(encoding="utf-8"), "a\n1\n")

    def test_json(self):
        path = self.copy("SELECT 1 AS a, NULL AS b, 'x\"' AS a", "rows.json")
        self.assertEqual(path.read_text(encoding="utf-8"), '{"a":1,"b":null,"a_1":"x\\""}\n')
        path = self.copy("SELECT i FROM generate_series(1, 2) t(i)", "list.json", "(ARRAY)")
        self.assertEqual(duckdb.sql(f"SELECT * FROM '{path}'").fetchall(), [(1,), (2,)])

    def test_arrow(self):
        path = self.copy("SELECT 7 AS a", "rows.arrow")
        self.assertEqual(pyarrow.ipc.open_stream(path).read_all().to_pydict(), {"a": [7]})

    def test_empty_result(self):
        path = self.copy("SELECT 1 AS a, 'x' AS b WHERE false", "rows.parquet")
        self.assertEqual(pyarrow.parquet.read_table(path).to_pydict(), {"a": [], "b": []})

    def test_table_and_columns(self):
        self.session.run("CREATE TABLE copied AS SELECT i, -i AS j FROM generate_series(1, 3) t(i)")
        self.session.run(f"COPY copied TO '{self.folder}/all.csv'")
        self.session.run(f"COPY copied (j, i) TO '{self.folder}/two.csv'")
        self.assertEqual((self.folder / "all.csv").read_text(encoding="utf-8"), "i,j\n1,-1\n2,-2\n3,-3\n")
        self.assertEqual((self.folder / "two.csv").read_text(encoding="utf-8"), "j,i\n-1,1\n-2,2\n-3,3\n")
        self.session.run("DROP TABLE copied")

    def test_copy_from(self):
        path = self.copy("SELECT i AS a, CAST(i AS VARCHAR) AS b FROM generate_series(1, 3) t(i)", "rows.parquet")
        self.session.run("CREATE TABLE target (x BIGINT NOT NULL, y TEXT, z INT DEFAULT 9)")
        self.session.run(f"COPY target (x, y) FROM '{path}' (FORMAT parquet)")
        self.assertEqual(self.session.run("SELECT * FROM target ORDER BY x").csv, "x,y,z\n1,1,9\n2,2,9\n3,3,9\n")
        self.session.run("DROP TABLE target")


class Partitions(Copy):
    def test_values_in_folder_names(self):
        path = self.copy(f"SELECT number % 3 AS part, text, number FROM ({EVERY_TYPE})", "table", "(PARTITION_BY (part, text))")
        rows = duckdb.sql(f"SELECT number, text, CAST(part AS BIGINT) FROM read_parquet('{path}/**/*.parquet', hive_partitioning=true) ORDER BY number").fetchall()
        self.assertEqual(rows, [(row[0], row[-1], row[0] % 3) for row in self.expected_rows()])
        ours = self.session.run(f"SELECT count(*), count(DISTINCT text) FROM '{path}' WHERE part = number % 3").csv
        self.assertEqual(ours, "count,count\n3000,5\n")
        self.assertEqual(sorted(entry.name for entry in path.iterdir()), ["part=0", "part=1", "part=2"])
        self.assertTrue((path / "part=0" / "text=__HIVE_DEFAULT_PARTITION__" / "data_0.parquet").exists())

    def test_folder_with_files_is_kept(self):
        path = self.copy("SELECT 1 AS a, 2 AS b", "table", "(FORMAT csv, PARTITION_BY (a))")
        self.assert_refused(f"COPY (SELECT 3 AS a, 4 AS b) TO '{path}' (FORMAT csv, PARTITION_BY (a))", "has files; OVERWRITE true replaces them")
        self.assertEqual((path / "a=1" / "data_0.csv").read_text(encoding="utf-8"), "b\n2\n")
        self.copy("SELECT 3 AS a, 4 AS b", "table", "(FORMAT csv, PARTITION_BY (a), OVERWRITE)")
        self.assertEqual([entry.name for entry in path.iterdir()], ["a=3"])
        self.assertEqual(self.names(), ["table"])

    def test_wrong_columns(self):
        self.assert_refused(f"COPY (SELECT 1 AS a) TO '{self.folder}/t' (PARTITION_BY (a))", "names all columns of the result")
        self.assert_refused(f"COPY (SELECT 1 AS a, 2 AS b) TO '{self.folder}/t' (PARTITION_BY (c))", "no column c")
        self.assert_refused(f"COPY (SELECT 1 AS a, 0.5::DOUBLE AS b) TO '{self.folder}/t' (PARTITION_BY (b))", "cast it to a type whose equal values are one text")
        self.assert_refused(f"COPY (SELECT 1 AS a, INTERVAL '1 month' AS b) TO '{self.folder}/t' (PARTITION_BY (b))", "cast it to a type whose equal values are one text")
        self.assert_refused(f"COPY (SELECT 1 AS a, 2 AS b) TO '{self.folder}/t' (PARTITION_BY (a, a))", "names a twice")
        self.assert_refused(f"COPY (SELECT 1 AS a, 2 AS \"A\", 3 AS c) TO '{self.folder}/t' (PARTITION_BY (a))", "another column of the result is called A")
        self.assert_refused(f"COPY (SELECT p, 1 AS x FROM (VALUES ('__HIVE_DEFAULT_PARTITION__'), ('a'), (NULL)) v(p)) TO '{self.folder}/t' (PARTITION_BY (p))", "stands for NULL")
        self.assert_refused(f"COPY (SELECT 1 AS a, 2 AS b) TO '{self.folder}/no/t' (PARTITION_BY (a))", "No such file or directory")
        self.assertEqual(self.names(), [])

    def test_names_of_columns(self):
        path = self.copy('SELECT 1 AS "Part", 2 AS b', "upper", "(PARTITION_BY (part))")
        self.assertEqual([entry.name for entry in path.iterdir()], ["Part=1"])
        path = self.copy('SELECT 1 AS ".h", 2 AS b', "hidden", '(PARTITION_BY (".h"))')
        self.assertEqual(self.session.run(f"SELECT * FROM '{path}'").csv, "b,.h\n2,1\n")

    def test_link_to_a_folder_is_followed(self):
        path = self.copy("SELECT 1 AS a, 2 AS b", "table", "(PARTITION_BY (a))")
        (self.folder / "link").symlink_to(path)
        self.copy("SELECT 3 AS a, 4 AS b", "link", "(PARTITION_BY (a), OVERWRITE)")
        self.assertEqual(([entry.name for entry in path.iterdir()], (self.folder / "link").is_symlink()), (["a=3"], True))

    def test_on_three_ranks(self):
        source = self.copy("SELECT i % 4 AS part, i FROM generate_series(1, 20000) t(i)", "source.parquet", "(ROW_GROUP_SIZE 1000)")
        done = pistachio.run("cluster", "-n", "3", "-s", "spread_tables=on", "--", "-c",
                             f"COPY (SELECT * FROM '{source}') TO '{self.folder}/table' (PARTITION_BY (part)); COPY (SELECT * FROM '{source}') TO '{self.folder}/rows.csv'")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = duckdb.sql(f"SELECT part, count(*), sum(i) FROM read_parquet('{self.folder}/table/*/*.parquet', hive_partitioning=true) GROUP BY 1 ORDER BY 1").fetchall()
        self.assertEqual(rows, duckdb.sql(f"SELECT part, count(*), sum(i) FROM '{source}' GROUP BY 1 ORDER BY 1").fetchall())
        self.assertEqual(duckdb.sql(f"SELECT count(*), sum(i) FROM '{self.folder}/rows.csv'").fetchall(), [(20000, 200010000)])


class Refusals(Copy):
    def test_options(self):
        for options, text in {
            "(FROB 1)": "COPY has no option FROB for csv files; it has FORMAT, PARTITION_BY, OVERWRITE, HEADER, DELIMITER, QUOTE, NULL",
            "(COMPRESSION zstd)": "COPY has no option COMPRESSION for csv files",
            "(FORMAT xml)": "FORMAT of COPY takes parquet, csv, json or arrow, not 'xml'",
            "(HEADER maybe)": "HEADER of COPY takes true or false, not 'maybe'",
            "(DELIMITER '-')": "DELIMITER of COPY takes one ASCII character",
            "(DELIMITER ';', QUOTE ';')": "DELIMITER and QUOTE of COPY are the same character",
            "(FORMAT parquet, ROW_GROUP_SIZE 0)": "ROW_GROUP_SIZE of COPY takes a positive whole number, not '0'",
            "(FORMAT parquet, COMPRESSION rar)": "COMPRESSION of COPY takes none, snappy, gzip, zstd, lz4 or brotli, not 'rar'",
            "(FORMAT parquet, ROW_GROUP_SIZE -7)": "ROW_GROUP_SIZE of COPY takes a positive whole number, not '-7'",
            "(FORMAT parquet, COMPRESSION_LEVEL 3)": "COMPRESSION_LEVEL of COPY needs COMPRESSION gzip (1 to 9), zstd (1 to 22) or brotli (0 to 11)",
            "(FORMAT parquet, COMPRESSION gzip, COMPRESSION_LEVEL 10)": "COMPRESSION_LEVEL of COPY needs COMPRESSION gzip (1 to 9)",
            "(QUOTE '-')": "QUOTE of COPY takes one ASCII character",
            "(NULL '0')": "NULL '0' of COPY could be a value",
            "(NULL ',')": "NULL ',' of COPY could be a value",
            "(NULL 'Infinity')": "could be a value",
            "(HEADER, HEADER false)": "COPY has the option HEADER twice",
            "(PARTITION_BY)": "PARTITION_BY of COPY takes one list of columns",
            "(FORMAT json, HEADER)": "COPY has no option HEADER for json files; it has FORMAT, PARTITION_BY, OVERWRITE, ARRAY",
            "(OVERWRITE)": "COPY has no option OVERWRITE",
        }.items():
            with self.subTest(options):
                self.assert_refused(f"COPY (SELECT 1 AS a) TO '{self.folder}/t.csv' {options}", text)
        self.assert_refused(f"COPY (SELECT 1) TO '{self.folder}/t'", "the format of")
        self.assert_refused("COPY (SELECT 1) TO STDOUT", "COPY with STDIN or STDOUT")
        self.assert_refused("COPY (SELECT 1) TO PROGRAM 'cat'", "COPY with PROGRAM")
        self.assert_refused("COPY t FROM 'x.csv' (FORMAT avro)", "FORMAT of COPY FROM is csv, json, arrow or parquet")
        self.assertEqual(self.names(), [])

    def test_paths(self):
        self.assert_refused(f"COPY (SELECT 1 AS a) TO '{self.folder}/none/t.csv'", "No such file or directory")
        self.assert_refused(f"COPY (SELECT 1 AS a) TO '{self.folder}' (FORMAT csv)", "it is a folder")
        self.assert_refused("COPY (SELECT 1 AS a) TO '' (FORMAT csv)", "the path to write to is empty")
        self.assert_refused("COPY (SELECT 1 AS a) TO 's3://bucket/t.csv'", "COPY writes local files only")
        (self.folder / "dangling").symlink_to(self.folder / "none")
        self.assert_refused(f"COPY (SELECT 1 AS a) TO '{self.folder}/dangling' (FORMAT csv)", "cannot follow the link")
        (self.folder / "file").write_text("", encoding="utf-8")
        self.assert_refused(f"COPY (SELECT 1 AS a, 2 AS b) TO '{self.folder}/file' (PARTITION_BY (a))", "it is a file")


class Completeness(Copy):
    def test_failed_query_leaves_the_old_file(self):
        path = self.copy("SELECT 1 AS a", "t.csv")
        self.assert_refused(f"COPY (SELECT 10 / (i - 2500) AS a FROM generate_series(1, 3000) t(i)) TO '{path}'", "division by zero")
        self.assert_refused(f"COPY (SELECT i % 2 AS p, 10 / (i - 2500) AS a FROM generate_series(1, 3000) t(i)) TO '{self.folder}/p' (PARTITION_BY (p))", "division by zero")
        self.assertEqual((self.names(), path.read_text(encoding="utf-8")), (["t.csv"], "a\n1\n"))

    def test_link_is_followed(self):
        path = self.copy("SELECT 1 AS a", "t.csv")
        (self.folder / "link.csv").symlink_to(path)
        self.copy("SELECT 2 AS a", "link.csv")
        self.assertEqual((path.read_text(encoding="utf-8"), (self.folder / "link.csv").is_symlink()), ("a\n2\n", True))

    def test_devices_are_written_directly(self):
        self.session.run("COPY (SELECT 1 AS a) TO '/dev/null' (FORMAT csv)")
        self.assert_refused("COPY (SELECT 1 AS a) TO '/dev/full' (FORMAT csv)", "cannot write /dev/full: No space left on device")
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_full_disk(self):
        probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
        if probe.returncode != 0:
            self.skipTest("no mount namespaces")
        small = self.folder / "small"
        small.mkdir()
        script = ('mount -t tmpfs -o size=200k none "$0" && echo old > "$0/t.csv" && '
                  '"$@" -c "COPY ($QUERY) TO \'$0/t.csv\'"; echo "status $?"; cat "$0/t.csv"; ls -A "$0"')
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, str(small), pistachio.BINARY], capture_output=True, text=True, timeout=pistachio.WATCHDOG_SECONDS,
                              check=False, env=os.environ | {"QUERY": LARGE})
        self.assertEqual(done.stdout, "status 1\nold\nt.csv\n", done.stderr)
        self.assertIn("No space left on device", done.stderr)

    def test_query_timeout_ends_a_write_that_nobody_reads(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.assert_refused(f"COPY (SELECT 1 AS a) TO '{pipe}' (FORMAT csv)", "nothing reads it")
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.session.run("SET query_timeout = '300ms'")
        self.addCleanup(self.session.run, "RESET query_timeout")
        self.assert_refused(f"COPY ({LARGE}) TO '{pipe}' (FORMAT csv)", "ran longer than query_timeout")

    def test_killed_process_leaves_the_old_file(self):
        """Killed while it writes a file that would never end."""
        for form in ("csv", "parquet"):
            path = self.copy("SELECT 0 AS i", f"t.{form}")
            old = path.read_bytes()
            for _ in range(KILLS):
                query = "SELECT i, repeat('x', 100) FROM generate_series(1, 1000000000000) t(i)"
                process = subprocess.Popen([pistachio.BINARY, "-c", f"COPY ({query}) TO '{path}'"])
                self.wait_until_it_writes(process)
                process.send_signal(signal.SIGKILL)
                self.assertEqual(process.wait(), -signal.SIGKILL)
                self.assertEqual((path.read_bytes(), [name for name in self.names() if name.startswith(".")]), (old, []))

    def wait_until_it_writes(self, process):
        end = time.monotonic() + pistachio.WATCHDOG_SECONDS
        while time.monotonic() < end:
            self.assertIsNone(process.poll())
            for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
                try:
                    if str(self.folder) in os.readlink(descriptor) and descriptor.stat().st_size > 0:
                        return
                except FileNotFoundError:
                    pass
            time.sleep(0.01)
        process.kill()
        self.fail("nothing was written")


if __name__ == "__main__":
    unittest.main()
