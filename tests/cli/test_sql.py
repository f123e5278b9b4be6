"""SQL on the command line: formats, exit codes, errors with their position, scripts and pipes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_session import PistachioSession, StatementFailed


class Formats(unittest.TestCase):
    SQL = "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c, '' AS d"

    def output(self, *words):
        done = pistachio.run("-c", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_csv(self):
        self.assertEqual(self.output(self.SQL, "--format", "csv"), 'a,b,c,d\n1,"x,""y",,""\n')

    def test_json(self):
        self.assertEqual(json.loads(self.output(self.SQL, "--format", "json")), [{"a": 1, "b": 'x,"y', "c": None, "d": ""}])
        self.assertEqual(json.loads(self.output("SELECT 1 AS a WHERE false", "--format", "json")), [])
        lines = self.output("VALUES (1), (2)", "--format", "jsonl").splitlines()
        self.assertEqual([json.loads(line) for line in lines], [{"column1": 1}, {"column1": 2}])

    def test_markdown_and_box(self):
        self.assertIn("| 1 ", self.output("SELECT 1 AS a, 'b|c' AS d", "--format", "markdown").replace("   1 ", " 1 "))
        box = self.output("SELECT 1 AS a", "--format", "box")
        self.assertIn("│   1 │", box)
        self.assertIn("1 row\n", box)

    def test_column_names_are_escaped_like_values(self):
        self.assertEqual(self.output('SELECT 1 AS "a|b", 2 AS "c\nd"', "--format", "markdown").splitlines()[0], "| a\\|b | c\\nd |")

    def test_box_aligns_wide_characters(self):
        lines = self.output("VALUES ('日本'), ('abcd')", "--format", "box").splitlines()
        self.assertEqual([lines[3], lines[4]], ["│ 日本    │", "│ abcd    │"])

    def test_values_of_every_type(self):
        sql = """SELECT true AS b, CAST(-128 AS TINYINT) AS t, -9223372036854775807 - 1 AS l, CAST(1.5 AS REAL) AS r, CAST('-inf' AS DOUBLE) AS i,
                        CAST(-0.05 AS DECIMAL(5,2)) AS d, CAST(-99999999999999999999999999999999999999 AS DECIMAL(38,0)) AS w,
                        DATE '0044-03-15 BC' AS bc, DATE '12345-01-01' AS far, TIME '24:00:00' AS time, TIMESTAMP '1969-12-31 23:59:59.5' AS ts,
                        TIMESTAMP WITH TIME ZONE '2024-02-29 12:00:00+00' AS tz, INTERVAL '-14 months 3 days -4.5 seconds' AS iv, CAST('ab' AS BLOB) AS bl"""
        shown = ["true", "-128", "-9223372036854775808", "1.5", "-inf", "-0.05", "-99999999999999999999999999999999999999", "0044-03-15 BC", "12345-01-01",
                 "24:00:00", "1969-12-31 23:59:59.5", "2024-02-29 12:00:00+00", "-1 years -2 mons +3 days -00:00:04.5", "\\x6162"]
        self.assertEqual(self.output(sql, "--format", "csv").splitlines()[1], ",".join(shown))
        numbers = shown[:4] + shown[5:7]
        values = [text if text in numbers else json.dumps(text) for text in shown]
        names = "b t l r i d w bc far time ts tz iv bl".split()
        self.assertEqual(self.output(sql, "--format", "jsonl"), "{" + ",".join(f'"{name}":{value}' for name, value in zip(names, values)) + "}\n")
        cells = [cell.strip() for cell in self.output(sql, "--format", "markdown").splitlines()[2].split("|")[1:-1]]
        self.assertEqual(cells, shown)

    def test_texts_that_need_escaping(self):
        sql = "SELECT 'a\"b\\c' AS a, 'l\nm' AS b, 't\tu' AS c, 'x|y' AS d, 'Grüße' AS e, chr(1) AS f, NULL AS g, '' AS h"
        self.assertEqual(self.output(sql, "--format", "csv"), 'a,b,c,d,e,f,g,h\n"a""b\\c","l\nm",t\tu,x|y,Grüße,\x01,,""\n')
        line = '{"a":"a\\"b\\\\c","b":"l\\nm","c":"t\\tu","d":"x|y","e":"Grüße","f":"\\u0001","g":null,"h":""}\n'
        self.assertEqual(self.output(sql, "--format", "jsonl"), line)
        self.assertEqual(self.output(sql, "--format", "markdown").splitlines()[2],
                         '| a"b\\c | l\\nm | t\\tu | x\\|y | Grüße | \\x01 | NULL |     |')

    def test_long_results_with_dictionaries_and_nulls(self):
        with tempfile.TemporaryDirectory() as folder:
            import pyarrow
            import pyarrow.parquet
            rows = [(i, None if i % 7 == 0 else f"word {i % 50}", None if i % 11 == 0 else f"a,{i}") for i in range(20_000)]
            table = pyarrow.table({"n": [row[0] for row in rows], "word": [row[1] for row in rows], "text": [row[2] for row in rows]})
            pyarrow.parquet.write_table(table, Path(folder) / "t.parquet", row_group_size=7000)
            for chunk_rows in (20, 1000, 131072):
                words = ("SELECT * FROM t ORDER BY n", "-d", folder, "-s", f"chunk_rows={chunk_rows}", "--format")
                expected = "".join(f"{n},{word or ''}," + (f'"{text}"' if text else "") + "\n" for n, word, text in rows)
                self.assertEqual(self.output(*words, "csv"), "n,word,text\n" + expected)
                self.assertEqual([tuple(row.values()) for row in json.loads(self.output(*words, "json"))], rows)
                box = self.output(*words, "box").splitlines()
                self.assertEqual(len(box), 3 + 40 + 1 + 20 + 2)
                self.assertIn("│ 19999 │ NULL    │ a,19999 │", box[-3])
                self.assertEqual(box[-1], "20000 rows, 19940 not shown")

    def test_results_follow_each_other(self):
        self.assertEqual(self.output("SELECT 1 AS a; CREATE TABLE t(x INTEGER); SELECT 2 AS b", "--format", "csv"), "a\n1\nb\n2\n")

    def test_unknown_format_is_wrong_usage(self):
        self.assertEqual(pistachio.run("-c", "SELECT 1", "--format", "xml").returncode, 2)


class Statements(unittest.TestCase):
    def test_errors_show_their_place_and_end_the_run(self):
        done = pistachio.run("-c", "SELECT 1 AS a;\nSELECT zz;\nSELECT 2")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "a\n1\n")
        self.assertIn("error: there is no column zz", done.stderr)
        self.assertIn("SELECT zz\n", done.stderr)
        self.assertRegex(done.stderr, r"\n +\^\n")

    def test_errors_count_the_lines_of_the_script(self):
        script = "-- first\nSELECT 1 AS a; SELECT\n  2 AS b;\n\n/* a\ncomment */ SELECT 3,\n\n  zz;\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "script.sql"
            path.write_text(script)
            from_file = pistachio.run("-f", path)
        self.assertEqual(from_file.stderr, "error: there is no column zz; there is no FROM\nline 8:   zz\n          ^\n")
        self.assertEqual(pistachio.run("-c", script).stderr, from_file.stderr)
        piped = subprocess.run([pistachio.BINARY], input=script, capture_output=True, text=True, timeout=pistachio.WATCHDOG_SECONDS, check=False)
        self.assertEqual(piped.stderr, from_file.stderr)
        same_line = pistachio.run("-c", "SELECT 1;\nSELECT 2; SELECT zz")
        self.assertEqual(same_line.stderr, "error: there is no column zz; there is no FROM\nline 2: SELECT zz\n               ^\n")

    def test_closed_output_is_not_an_error(self):
        many = "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 320) SELECT x.i * 1000 + y.i FROM r x, r y"
        for words in ([*("--format", form), "-c", sql] for form in ("csv", "json", "jsonl", "markdown", "parquet", "arrow") for sql in ("SELECT 1", many)):
            self.assertEqual(self.run_without_reader(words), (141, ""), words)
        self.assertEqual(self.run_without_reader(["-s", "on_error=continue", "-c", "SELECT zz", "-c", "SELECT 1"]), (141, ""))
        self.assertEqual(self.run_without_reader(["help"]), (141, ""))
        self.assertEqual(self.run_without_reader(["settings"]), (141, ""))
        # Other errors are still reported.
        code, message = self.run_without_reader(["-c", "SELECT zz"])
        self.assertEqual(code, 1)
        self.assertIn("there is no column zz", message)

    def run_without_reader(self, words):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = pistachio.run(*words, stdout=writing)
        finally:
            os.close(writing)
        return done.returncode, done.stderr

    def test_errors_in_place_of_results(self):
        done = pistachio.run("-s", "on_error=continue", "-c", "SELECT zz; SELECT 2 AS b", "--format", "csv")
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("error: there is no column zz"))
        self.assertEqual(lines[1:], ["b", "2"])

    def test_query_failing_at_run_time_prints_only_error(self):
        for form in ("csv", "json", "jsonl", "box", "markdown"):
            done = pistachio.run("-s", "on_error=continue", "-c", "SELECT 1 / a AS x FROM (VALUES (0)) v(a)", "--format", form)
            self.assertEqual((done.returncode, done.stdout), (1, "error: division by zero\n"), form)
            done = pistachio.run("-c", "SELECT 1 / a AS x FROM (VALUES (0)) v(a)", "--format", form)
            self.assertEqual((done.returncode, done.stdout), (1, ""), form)

    def test_error_after_rows_starts_a_new_line(self):
        with tempfile.TemporaryDirectory() as folder:
            import pyarrow
            import pyarrow.parquet
            # More than the engine buffers for a slow reader, so that rows are printed before the last one fails.
            rows = 3000
            table = pyarrow.table({"a": [1] * (rows - 1) + [0], "t": [f"{i:020}" * 1000 for i in range(rows)]})
            pyarrow.parquet.write_table(table, Path(folder) / "t.parquet", row_group_size=100, use_dictionary=False)
            for form, first in (("json", "["), ("jsonl", '{"x":1,'), ("csv", "x,t")):
                done = pistachio.run("-d", folder, "-s", "on_error=continue", "-s", "threads=1", "-c", "SELECT 1 / a AS x, t FROM t; SELECT 2 AS b", "--format", form)
                lines = done.stdout.splitlines()
                self.assertTrue(lines[0].startswith(first), form)
                self.assertEqual(lines.count("error: division by zero"), 1, form)
                after = "\n".join(lines[lines.index("error: division by zero") + 1:])
                self.assertEqual(after, {"json": '[\n{"b":2}\n]', "jsonl": '{"b":2}', "csv": "b\n2"}[form])

    ENDLESS = ("CREATE TABLE t AS SELECT a.n FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) a(n), (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) b(n);"
               "CREATE TABLE u AS SELECT a.n FROM t a, t b;")

    def test_query_timeout_ends_the_statement_only(self):
        sql = (self.ENDLESS + "SET query_timeout = '200ms'; SELECT count(*) AS c FROM u a, u b, u c, u d; SET query_timeout = off; SELECT count(*) AS n FROM u;"
               "SHOW query_timeout")
        done = pistachio.run("-s", "on_error=continue", "-s", "memory_limit=200MB", "-c", sql, "--format", "csv")
        self.assertEqual(done.stdout, "error: the statement ran longer than query_timeout=200ms\nn\n10000\nquery_timeout\noff\n", done.stderr)
        done = pistachio.run("-s", "query_timeout=200ms", "-c", self.ENDLESS + "SELECT count(*) AS c FROM u a, u b, u c, u d")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", "error: the statement ran longer than query_timeout=200ms\n"))

    def test_query_timeout_releases_memory(self):
        # Each statement holds rows while it runs: memory that one fails to release would be missing for the next.
        sorting = "SELECT a.n FROM u a, u b ORDER BY a.n LIMIT 5 OFFSET 99999990;"
        done = pistachio.run("-s", "on_error=continue", "-s", "memory_limit=4GB", "-s", "query_timeout=300ms", "-c", self.ENDLESS + sorting * 3, "--format", "csv")
        self.assertEqual(done.stdout, "error: the statement ran longer than query_timeout=300ms\n" * 3, done.stderr)

    def test_wrong_timeouts_are_refused(self):
        done = pistachio.run("-s", "query_timeout=soon", "-c", "SELECT 1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("it takes a time such as 500ms", done.stderr)

    def test_scripts_and_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.sql"
            script.write_text("-- a comment; with a semicolon\nSET timer = on;\nSELECT 1 AS a;\n")
            done = pistachio.run("-f", script, "-c", "SELECT 2 AS b", "--format", "csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "a\n1\nb\n2\n")
            self.assertRegex(done.stderr, r"-- time: [0-9.]+ ms")
            self.assertEqual(pistachio.run("-f", Path(folder) / "none.sql").returncode, 1)

    def test_scripts_are_read_within_memory_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "long.sql"
            script.write_text("".join(f"SELECT {number}{' ' * (9 << 20)};" for number in (1, 2)))
            done = pistachio.run("-s", "memory_limit=64MiB", "-f", script)
            self.assertEqual(done.returncode, 1)
            self.assertIn("a script may have a quarter of memory_limit, 16.0 MiB", done.stderr)
            done = pistachio.run("-s", "memory_limit=1GiB", "-f", script)
            self.assertEqual((done.returncode, done.stdout.split()), (0, ["?column?", "1", "?column?", "2"]), done.stderr)

    def test_endless_input_line_is_refused(self):
        done = subprocess.run([pistachio.BINARY], input="SELECT 1;\n" + "x" * (17 << 20), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a line of the input is longer than 16 MiB", done.stderr)

    def test_reset_all_restores_command_line_settings(self):
        done = pistachio.run("-s", "query_timeout=7min", "-c", "SET query_timeout = '5min'; RESET ALL; SHOW query_timeout",
                             "-c", "SET chunk_rows = 100; RESET ALL; SHOW chunk_rows")
        self.assertEqual(done.returncode, 0, done.stderr)
        default = pistachio.run("-c", "SHOW chunk_rows").stdout
        self.assertEqual(done.stdout, pistachio.run("-s", "query_timeout=7min", "-c", "SHOW query_timeout").stdout + default)

    def test_tables_of_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            import pyarrow
            import pyarrow.parquet
            pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2, 3]}), Path(folder) / "one.parquet")
            (Path(folder) / "two").mkdir()
            for part in range(2):
                pyarrow.parquet.write_table(pyarrow.table({"b": [part]}), Path(folder) / "two" / f"{part}.parquet")
            done = pistachio.run("-d", folder, "-c", "SELECT sum(a) AS s FROM one; SELECT count(*) AS n FROM two; SHOW TABLES", "--format", "csv")
            self.assertEqual(done.stdout, "s\n6\nn\n2\nname\none\ntwo\n", done.stderr)
            done = pistachio.run("-c", f"SELECT a FROM '{folder}/one.parquet' WHERE a > 1 ORDER BY a", "--format", "csv")
            self.assertEqual(done.stdout, "a\n2\n3\n", done.stderr)

    def test_pipe_gets_each_result_immediately(self):
        process = subprocess.Popen([pistachio.BINARY, "--format", "csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(3):
            process.stdin.write(f"SELECT {number} AS n;\n")
            process.stdin.flush()
            self.assertEqual((process.stdout.readline(), process.stdout.readline()), ("n\n", f"{number}\n"))
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)
        process.stdout.close()

    def test_statement_of_many_lines_is_lexed_once(self):
        rows = 30_000
        values = ",\n".join(f"({number}, 'row; {number}')" for number in range(rows))
        script = f"CREATE TABLE t(a BIGINT, b VARCHAR);\nINSERT INTO t VALUES\n{values}\n;\nSELECT count(*) AS n FROM t;\n"
        # If the statement were lexed again for each line, this would take a minute.
        done = subprocess.run([pistachio.BINARY, "--format", "csv"], input=script, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout, f"n\n{rows}\n", done.stderr)

    def test_explain(self):
        text = pistachio.run("-c", "EXPLAIN ANALYZE SELECT count(*) FROM (VALUES (1), (2)) v(a) WHERE a > 1", "--format", "csv").stdout
        self.assertIn("aggregate", text)
        self.assertIn("actual 1", text)
        plan = pistachio.run("-c", "EXPLAIN (FORMAT JSON) SELECT 1 AS a", "--format", "csv").stdout
        self.assertIn("estimated_rows", plan)

    def test_plans_in_a_pipe_are_raw(self):
        lines = pistachio.run("-c", "EXPLAIN SELECT count(*), 'a,b' FROM (VALUES (1), (2)) v(a)").stdout.splitlines()
        self.assertNotEqual(lines[0], "plan")
        self.assertFalse(any(line.startswith('"') for line in lines), lines)
        json.loads(pistachio.run("-c", "EXPLAIN (FORMAT JSON) SELECT 1 AS a").stdout)

    def test_addresses_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "some file.parquet"
            pq.write_table(pa.table({"a": [1, 2, 3]}), path)
            # The content of a file counts, not its name.
            shutil.copy(path, Path(folder) / "really.csv")
            with PistachioSession() as session:
                for address in (f"file://{path}", f"file://localhost{path}", "file://" + urllib.parse.quote(str(path)), f"{folder}/really.csv"):
                    self.assertEqual(session.run(f"SELECT sum(a) AS s FROM '{address}'").csv, "s\n6\n")
                for name, content, kind in (("x.parquet", "a,b\n1,2\n", "CSV text, not a Parquet file; read_csv"), ("y.parquet", "{}", "JSON text, not"),
                                            ("z.parquet", "", "an empty file, not"), ("x.csv", "PK\x03\x04", "a ZIP archive .*, not CSV")):
                    (Path(folder) / name).write_text(content, encoding="utf-8")
                    with self.assertRaisesRegex(StatementFailed, f"{name}.* is {kind}"):
                        session.run(f"SELECT * FROM '{folder}/{name}'")
                for scheme in ("http", "https", "hdfs", "ftp"):
                    with self.assertRaisesRegex(StatementFailed, f"{scheme}:// addresses cannot be read"):
                        session.run(f"SELECT * FROM '{scheme}://host/x.parquet'")

    def test_memory_limit_ends_in_an_error(self):
        sql = "CREATE TABLE t AS SELECT a.n FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) a(n), (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) b(n)"
        # Sorted rows go to disk; those of a table in memory cannot.
        done = pistachio.run("-c", f"{sql}; SELECT count(*), sum(x.n) FROM (SELECT p.n FROM t p, t q, t r ORDER BY p.n) x", "--format", "csv", "-s", "memory_limit=16MB")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "1000000,5500000"))
        table = "CREATE TABLE u AS SELECT CAST(p.n * 1000003 + q.n * 1009 + r.n AS VARCHAR) || 'a tail of 32 bytes, also retained' AS x FROM t p, t q, t r"
        done = pistachio.run("-c", f"{sql}; {table}", "-s", "memory_limit=16MB")
        self.assertEqual(done.returncode, 1)
        self.assertIn("memory_limit", done.stderr)


if __name__ == "__main__":
    unittest.main()
