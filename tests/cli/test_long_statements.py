"""Statements as long as programs generate them: chains and nestings of every kind end in a result or in an error that names the
limit, on one rank and on several, and Ctrl-C and query_timeout end them in every phase. No test measures time."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow
import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_session import PistachioSession, StatementFailed
from tests.support.temporary_files import memory_folder


def listed(separator, write, count):
    return separator.join(write(i) for i in range(count))


# The statement with a given number of terms, and the only column of its first row, if there is one.
ANSWERED = {
    "union all": (10_000, lambda n: f"SELECT count(*) FROM ({' UNION ALL '.join(['SELECT 1 AS a'] * n)})", lambda n: n),
    "union": (10_000, lambda n: f"SELECT count(*) FROM ({' UNION '.join(f'SELECT {i % 10} AS a' for i in range(n))})", lambda n: 10),
    "intersect": (4_000, lambda n: " INTERSECT ".join(["SELECT 7"] * n), lambda n: 7),
    "except": (4_000, lambda n: "SELECT 7" + "".join(f" EXCEPT SELECT {i + 8}" for i in range(n)), lambda n: 7),
    "except all": (1_000, lambda n: f"SELECT count(*) FROM (SELECT 7 UNION ALL SELECT 7 UNION ALL SELECT 8) a(x), (SELECT 1{' EXCEPT ALL SELECT 2' * n})", lambda n: 3),
    "and": (20_000, lambda n: f"SELECT {' AND '.join(f'a <> {i + 5}' for i in range(n))} FROM (VALUES (1)) v(a)", lambda n: "true"),
    "or": (20_000, lambda n: f"SELECT count(*) FROM (VALUES (1)) v(a) WHERE {' OR '.join(f'a = {i}' for i in range(n))}", lambda n: 1),
    "arithmetic": (1_000, lambda n: f"SELECT {' + '.join(['1'] * n)}", lambda n: n),
    "concatenation": (1_000, lambda n: f"SELECT length({' || '.join([chr(39) + 'x' + chr(39)] * n)})", lambda n: n),
    "case": (2_000, lambda n: f"SELECT CASE {' '.join(f'WHEN a = {i + 2} THEN {i}' for i in range(n))} ELSE 7 END FROM (VALUES (1)) v(a)", lambda n: 7),
    "in list": (50_000, lambda n: f"SELECT count(*) FROM (VALUES (1), (-1)) v(a) WHERE a IN ({', '.join(map(str, range(n)))})", lambda n: 1),
    "values": (50_000, lambda n: f"SELECT sum(a) FROM (VALUES {', '.join(f'({i})' for i in range(n))}) v(a)", lambda n: n * (n - 1) // 2),
    "greatest": (2_000, lambda n: f"SELECT greatest({listed(', ', lambda i: f'a + {i}', n)}) FROM (VALUES (1)) v(a)", lambda n: n),
    "least of constants": (5_000, lambda n: f"SELECT least({listed(', ', lambda i: str(i + 3), n)})", lambda n: 3),
    "greatest of texts": (2_000, lambda n: f"SELECT length(greatest({listed(', ', lambda i: f'repeat(a, {i + 1})', n)})) FROM (VALUES ('x')) v(a)", lambda n: n),
    "columns": (2_000, lambda n: f"SELECT {', '.join(f'{i} AS c{i}' for i in range(n))}", lambda n: 0),
    "common tables": (200, lambda n: "WITH t0 AS (SELECT 1 AS a)" + "".join(f", t{i + 1} AS (SELECT a + 1 AS a FROM t{i})" for i in range(n)) + f" SELECT a FROM t{n}", lambda n: n + 1),
    "subqueries": (100, lambda n: "SELECT a FROM " + "(SELECT a FROM " * n + "(VALUES (3)) v(a)" + ")" * n, lambda n: 3),
    "pairs": (10_000, lambda n: f"SELECT count(*) FROM (VALUES (1, 2)) v(a, b) WHERE {listed(' OR ', lambda i: f'(a = {i} AND b = {i + 1})', n)}", lambda n: 1),
    "arithmetic of a column": (11_000, lambda n: f"SELECT {' + '.join(['a'] * n)} FROM (VALUES (1)) v(a)", lambda n: n),
    "aggregates": (10_000, lambda n: f"SELECT {listed(', ', lambda i: f'sum(a + {i})', n)} FROM (VALUES (1)) v(a)", lambda n: 1),
    "filtered aggregates": (2_000, lambda n: f"SELECT {listed(', ', lambda i: f'count(*) FILTER (WHERE a = {i + 1})', n)} FROM (VALUES (1)) v(a)", lambda n: 1),
    "groups": (2_000, lambda n: f"SELECT {listed(', ', lambda i: f'a + {i}', n)} FROM (VALUES (5)) v(a) GROUP BY {listed(', ', lambda i: f'a + {i}', n)}", lambda n: 5),
    "sort keys": (2_000, lambda n: f"SELECT a FROM (VALUES (5), (4)) v(a) ORDER BY {listed(', ', lambda i: f'a + {i}', n)}", lambda n: 4),
    "scalar subqueries": (200, lambda n: f"SELECT {listed(' + ', lambda i: f'(SELECT {i})', n)}", lambda n: n * (n - 1) // 2),
    "tables in from": (10_000, lambda n: f"SELECT count(*) FROM {listed(', ', lambda i: f'(VALUES (1)) t{i}(a)', n)}", lambda n: 1),
    "joined tables in from": (2_000, lambda n: f"SELECT count(*) FROM {listed(', ', lambda i: f'(VALUES (1)) t{i}(a)', n)} WHERE {listed(' AND ', lambda i: f't{i}.a = t{i + 1}.a', n - 1)}", lambda n: 1),
    "long chain of joins": (1_000, lambda n: f"SELECT count(*) FROM (VALUES (1)) t0(a) {listed(' ', lambda i: f'JOIN (VALUES (1)) t{i + 1}(a) ON t{i + 1}.a = t{i}.a', n)}", lambda n: 1),
    "star of joins": (500, lambda n: f"SELECT count(*) FROM (VALUES (1)) t0(a) {listed(' ', lambda i: f'JOIN (VALUES (1)) t{i + 1}(a) ON t{i + 1}.a = t0.a', n)}", lambda n: 1),
    "left joins": (500, lambda n: f"SELECT count(*) FROM (VALUES (1)) t0(a) {listed(' ', lambda i: f'LEFT JOIN (VALUES (1)) t{i + 1}(a) ON t{i + 1}.a = t{i}.a', n)}", lambda n: 1),
    "full joins using": (1_600, lambda n: f"SELECT count(a) FROM (VALUES (0)) t0(a) {listed(' ', lambda i: f'FULL JOIN (VALUES ({i % 7})) t{i + 1}(a) USING (a)', n)}", lambda n: 7),
    "left joins using": (2_000, lambda n: f"SELECT count(a) FROM (VALUES (1)) t0(a) {listed(' ', lambda i: f'LEFT JOIN (VALUES (1)) t{i + 1}(a) USING (a)', n)}", lambda n: 1),
    "right joins using": (1_000, lambda n: f"SELECT count(a) FROM (VALUES (1)) t0(a) {listed(' ', lambda i: f'RIGHT JOIN (VALUES (1)) t{i + 1}(a) USING (a)', n)}", lambda n: 1),
    "inner joins using": (2_000, lambda n: f"SELECT count(a) FROM (VALUES (1)) t0(a) {listed(' ', lambda i: f'JOIN (VALUES (1)) t{i + 1}(a) USING (a)', n)}", lambda n: 1),
    "views": (300, lambda n: "CREATE VIEW t0 AS SELECT 1 AS a; " + listed("", lambda i: f"CREATE VIEW t{i + 1} AS SELECT a + 1 AS a FROM t{i}; ", n) + f"SELECT a FROM t{n}", lambda n: n + 1),
    "joins": (60, lambda n: f"SELECT count(*) FROM (VALUES (1)) t0(a) {' '.join(f'JOIN (VALUES (1)) t{i}(a) ON t{i}.a = t{i - 1}.a' for i in range(1, n))}", lambda n: 1),
}
# Far longer than realistic: anything but a crash or an internal error is accepted.
ENDURED = {
    "or": lambda: f"SELECT count(*) FROM (VALUES (1)) v(a) WHERE {listed(' OR ', lambda i: f'a = {i}', 100_000)}",
    "case": lambda: f"SELECT CASE {listed(' ', lambda i: f'WHEN a = {i + 2} THEN {i}', 50_000)} END FROM (VALUES (1)) v(a)",
    "in list": lambda: f"SELECT count(*) FROM (VALUES (1)) v(a) WHERE a IN ({listed(', ', str, 490_000)})",
    "values": lambda: f"SELECT count(*) FROM (VALUES {listed(', ', lambda i: f'({i})', 240_000)}) v(a)",
    "columns": lambda: f"SELECT {listed(', ', str, 100_000)}",
    "words": lambda: f"SELECT {listed(', ', str, 600_000)}",
    "text": lambda: f"SELECT '{'x' * (17 << 20)}'",
    "unions": lambda: "SELECT 1" + " UNION ALL SELECT 1" * 100_000,
    "intersections": lambda: "SELECT 1" + " INTERSECT SELECT 1" * 100_000,
    "joins": lambda: "SELECT 1 FROM (SELECT 1) t0" + listed("", lambda i: f" CROSS JOIN (SELECT 1) t{i + 1}", 100_000),
    "tables in from": lambda: f"SELECT 1 FROM {listed(', ', lambda i: f'(SELECT 1) t{i}', 20_000)}",
    "arithmetic of a column": lambda: "SELECT " + " + ".join(["a"] * 400_000) + " FROM (VALUES (1)) v(a)",
    "views": lambda: "CREATE VIEW t0 AS SELECT 1 AS a; " + listed("", lambda i: f"CREATE VIEW t{i + 1} AS SELECT a FROM t{i}; ", 600) + "SELECT a FROM t600",
    "functions": lambda: "SELECT " + "abs(" * 2_000 + "1" + ")" * 2_000,
    "mixed set operations": lambda: "SELECT 1" + " UNION SELECT 2 EXCEPT SELECT 3" * 3_000,
    "arithmetic": lambda: "SELECT " + " + ".join(["1"] * 20_000),
    "concatenation": lambda: "SELECT length(" + " || ".join(["'x'"] * 20_000) + ")",
    "parentheses": lambda: "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "not": lambda: "SELECT " + "NOT " * 20_000 + "true",
    "minus": lambda: "SELECT " + "- " * 20_000 + "1",
    "subqueries": lambda: "SELECT " + "(SELECT " * 800 + "1" + ")" * 800,
    "subqueries in from": lambda: "SELECT * FROM " + "(SELECT * FROM " * 900 + "(SELECT 1)" + ")" * 900,
    "common tables": lambda: "WITH t0 AS (SELECT 1 AS a)" + "".join(f", t{i + 1} AS (SELECT a FROM t{i})" for i in range(3_000)) + " SELECT a FROM t3000",
}
# These have more than one statement, or are longer than a line of the input may be.
IN_SCRIPTS = ("views", "text")
# The short round runs every other statement, the others the next day.
SAMPLE = os.environ.get("TEST_QUERY_SAMPLE")


def due_today(statements):
    return list(statements.items())[int(SAMPLE) % 2::2] if SAMPLE else statements.items()


# The same kinds over a table of files, for several ranks: statement, number of terms, result. The table has the rows 0, 1, ..., 999.
OVER_FILES = {
    "or": lambda: (f"SELECT count(*) FROM t WHERE {listed(' OR ', lambda i: f'a = {i}', 5_000)}", 1_000),
    "and": lambda: (f"SELECT count(*) FROM t WHERE {listed(' AND ', lambda i: f'a <> {i + 1_000}', 5_000)}", 1_000),
    "arithmetic": lambda: (f"SELECT max({' + '.join(['a'] * 5_000)}) FROM t", 999 * 5_000),
    "case": lambda: (f"SELECT sum(CASE {listed(' ', lambda i: f'WHEN a = {i} THEN 1', 2_000)} END) FROM t", 1_000),
    "in list": lambda: (f"SELECT count(*) FROM t WHERE a IN ({listed(', ', str, 50_000)})", 1_000),
    "aggregates": lambda: (f"SELECT {listed(', ', lambda i: f'min(a + {i})', 1_000)} FROM t", 0),
    "groups": lambda: (f"SELECT count(*) FROM (SELECT {listed(', ', lambda i: f'a + {i}', 200)} FROM t GROUP BY {listed(', ', lambda i: f'a + {i}', 200)})", 1_000),
    "union all": lambda: (f"SELECT count(*) FROM ({' UNION ALL '.join(['SELECT a FROM t'] * 50)})", 50_000),
    "except": lambda: (f"SELECT count(*) FROM (SELECT a FROM t{listed('', lambda i: f' EXCEPT SELECT {i}', 500)})", 500),
    "joins": lambda: (f"SELECT count(*) FROM t t0 {listed(' ', lambda i: f'JOIN t t{i + 1} ON t{i + 1}.a = t{i}.a', 20)}", 1_000),
    "common tables": lambda: ("WITH t0 AS (SELECT a FROM t)" + listed("", lambda i: f", t{i + 1} AS (SELECT a + 1 AS a FROM t{i})", 400) + " SELECT max(a) FROM t400", 1_399),
    "too many operators": lambda: (f"SELECT max({' + '.join(['a'] * 20_000)}) FROM t",
                                   "error: too many operators, joins or set operations in a row: more than 12000"),
}
# Statements that spend their time in one phase, and how they end when query_timeout expires at once.
TOO_LATE = {
    "parsing": lambda: f"SELECT {listed(' OR ', lambda i: f'a = {i}', 100_000)} FROM (VALUES (1)) v(a)",
    "binding": lambda: "SELECT count(*) FROM v11",
    "footers": lambda: "SELECT count(*) FROM 'files/*.parquet'",
    "running": lambda: "SELECT count(*) FROM u a, u b, u c, u d",
    "writing": lambda: "SELECT a.a, b.a FROM u a, u b, u c",
}


class LongStatements(unittest.TestCase):
    """One process runs the single statements one after the other: it must survive every one of them. If it dies, the statement fails,
    and the next one starts another process."""

    @classmethod
    def setUpClass(cls):
        cls.session = PistachioSession()
        cls.addClassCleanup(cls.session.close)

    def run_script(self, sql):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "statement.sql"
            script.write_text(sql, encoding="utf-8")
            return pistachio.run("-f", script, "--format", "csv")

    def check_answer(self, csv, answer):
        self.assertEqual(csv.splitlines()[1].split(",")[0], str(answer))

    def check_error(self, text):
        self.assertNotIn("internal", text)
        self.assertRegex(text, r"more than|at most|too (deep|long|many)|limit|deeper")


def make_answered(count, write, answer):
    def test(self):
        result = self.session.run(write(count))
        self.assertEqual(result.notes, ())
        self.check_answer(result.csv, answer(count))
    return test


def make_answered_in_script(count, write, answer):
    def test(self):
        done = self.run_script(write(count))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_answer(done.stdout, answer(count))
    return test


def make_endured(write):
    def test(self):
        try:
            result = self.session.run(write())
        except StatementFailed as failure:
            self.check_error(str(failure))
        else:
            self.assertNotIn("internal", "".join(result.notes))
    return test


def make_endured_in_script(write):
    def test(self):
        done = self.run_script(write())
        self.assertIn(done.returncode, (0, 1), done.stderr[-300:])
        self.assertNotIn("internal", done.stderr)
        if done.returncode == 1:
            self.check_error(done.stderr)
    return test


class LongStatementsOverRanks(unittest.TestCase):
    def test_chains_of_every_kind(self):
        written = {kind: write() for kind, write in OVER_FILES.items()}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "t").mkdir()
            for part in range(4):
                rows = pyarrow.array(range(part * 250, part * 250 + 250), pyarrow.int64())
                pyarrow.parquet.write_table(pyarrow.table({"a": rows}), Path(folder) / f"t/{part}.parquet")
            script = Path(folder) / "statements.sql"
            script.write_text(";\nSELECT 'next' AS mark;\n".join(sql for sql, _ in written.values()), encoding="utf-8")
            done = pistachio.run("cluster", "-n", "3", "-s", "spread_tables=on", "-s", "on_error=continue", "--", "-d", folder, "-f", script,
                                 "--format", "csv")
        answers = [text.splitlines()[-1].split(",")[0] for text in done.stdout.split("mark\nnext\n")]
        expected = [str(answer) for _, answer in written.values()]
        self.assertEqual(dict(zip(written, answers)), dict(zip(written, [text.split(",")[0] for text in expected])), done.stderr[-500:])


class EndedStatements(unittest.TestCase):
    """A short query_timeout ends a statement in any phase, and the next one runs; so does Ctrl-C, after which the program exits
    cleanly."""

    SETUP = ("CREATE TABLE u AS WITH RECURSIVE r(a) AS (SELECT 0 UNION ALL SELECT a + 1 FROM r WHERE a < 999) SELECT a FROM r; CREATE VIEW v0 AS SELECT 1 AS a;"
             + listed("", lambda i: f"CREATE VIEW v{i + 1} AS SELECT x.a FROM v{i} x, v{i} y WHERE x.a = y.a; ", 11))

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(dir=memory_folder())
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = Path(cls.scratch.name)
        (cls.folder / "files").mkdir()
        for i in range(2_000):
            (cls.folder / f"files/{i}.parquet").write_bytes(cls.one_file())

    @classmethod
    def one_file(cls):
        if not hasattr(cls, "bytes_of_file"):
            path = cls.folder / "one.parquet"
            pyarrow.parquet.write_table(pyarrow.table({f"c{i}": [1] for i in range(20)}), path)
            cls.bytes_of_file = path.read_bytes()
        return cls.bytes_of_file

    def statement(self, phase):
        return TOO_LATE[phase]().replace("'files/", f"'{self.folder}/files/")

    def test_query_timeout_in_every_phase(self):
        alive = "state\nalive\n"
        script = self.folder / "late.sql"
        script.write_text(self.SETUP + "".join(f"SET query_timeout = '5ms'; {self.statement(phase)}; SET query_timeout = off; SELECT 'alive' AS state;"
                                               for phase in TOO_LATE), encoding="utf-8")
        done = pistachio.run("-s", "on_error=continue", "-f", script, "--format", "csv")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        outputs = done.stdout.split(alive)
        self.assertEqual((len(outputs), outputs[-1]), (len(TOO_LATE) + 1, ""), done.stdout[-200:])
        for phase, output in zip(TOO_LATE, outputs):
            with self.subTest(phase):
                self.assertTrue(output.endswith("error: the statement ran longer than query_timeout=5ms\n"), output[-200:])

    def test_interrupt_in_every_phase(self):
        script = self.folder / "interrupted.sql"
        for phase in TOO_LATE:
            with self.subTest(phase):
                # Whichever phase it is in by then.
                script.write_text(f"{self.SETUP} {(self.statement(phase) + '; ') * 50}", encoding="utf-8")
                process = subprocess.Popen([pistachio.BINARY, "-f", script, "--format", "csv"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                pistachio.wait_until_it_watches_signals(process)
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
                self.assertEqual((process.returncode, errors), (130, "error: interrupted\n"))


class LongTexts(unittest.TestCase):
    """One value may be a gigabyte: its functions take linear time where they can, and query_timeout and Ctrl-C end them."""

    # Far longer than the time-out below.
    SLOW = {
        "repeat": "SELECT length(repeat('ab', 400000000))",
        "strpos": "SELECT strpos(repeat('a', 800000000), 'b')",
        "lpad": "SELECT length(lpad('x', 800000000, 'ab'))",
        "split_part": "SELECT split_part(repeat('a,', 400000000), ',', 300000000)",
        "replace": "SELECT length(replace(repeat('a', 400000000), 'a', 'bc'))",
        "reverse": "SELECT length(reverse(repeat('é', 400000000)))",
        "upper": "SELECT length(upper(repeat('é', 400000000)))",
        "translate": "SELECT length(translate(repeat('é', 400000000), 'é', 'e'))",
        "md5": "SELECT md5(repeat('a', 800000000))",
        "concatenation": "SELECT length(a || a) FROM (SELECT repeat('a', 500000000) AS a)",
        "like": "SELECT repeat('ab', 400000000) LIKE '%b%a%b_c%'",
        "column": "SELECT strpos(repeat(a, 800000000), 'b') FROM (VALUES ('a'), ('c')) v(a)",
        "values": "SELECT length(a) FROM (VALUES (repeat('a', 800000000))) v(a)",
    }
    # Hours: a million places are tried with a hundred thousand and more characters each.
    ENDLESS = {
        "match": "SELECT repeat('a', 1000000) LIKE '%' || repeat('_a', 100000) || 'b%'",
        "match of a long literal": "SELECT repeat('a', 100000000) LIKE '%' || repeat('a', 8000000) || '_b%'",
        "join condition": "SELECT count(*) FROM (SELECT repeat(x, 1000000) AS t FROM (VALUES ('a')) v(x)) a JOIN "
                          "(SELECT repeat(x, 100000) || 'b' AS p FROM (VALUES ('_a')) v(x)) b ON a.t LIKE '%' || b.p || '%'",
        "file name": "SELECT * FROM read_parquet(CASE WHEN repeat('a', 1000000) LIKE '%' || repeat('_a', 100000) || 'b%' THEN 'x' ELSE 'y' END)",
    }

    def test_query_timeout_ends_every_function(self):
        # The statement after each function is named after it.
        sql = "".join(f"SET query_timeout = '50ms'; {sql}; SET query_timeout = off; SELECT 'alive' AS \"{name}\";" for name, sql in self.SLOW.items())
        done = pistachio.run("-s", "on_error=continue", "-c", sql, "--format", "csv")
        self.assertEqual(done.stdout, "".join(f"error: the statement ran longer than query_timeout=50ms\n{name}\nalive\n" for name in self.SLOW), done.stderr)

    def test_query_timeout_ends_endless_statements(self):
        done = pistachio.run("-s", "query_timeout=500ms", "-c", self.ENDLESS["match"])
        self.assertEqual((done.returncode, done.stderr), (1, "error: the statement ran longer than query_timeout=500ms\n"))
        sql = "".join(f"SET query_timeout = '500ms'; {sql}; SET query_timeout = off; SELECT 'alive' AS \"{name}\";"
                      for name, sql in self.ENDLESS.items() if name != "match")
        done = pistachio.run("-s", "on_error=continue", "-c", sql, "--format", "csv")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(done.stdout, "".join(f"error: the statement ran longer than query_timeout=500ms\n{name}\nalive\n"
                                              for name in self.ENDLESS if name != "match"))

    def test_interrupt_ends_endless_match(self):
        process = subprocess.Popen([pistachio.BINARY, "-c", self.ENDLESS["match"]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        pistachio.wait_until_it_watches_signals(process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
        self.assertEqual((process.returncode, errors), (130, "error: interrupted\n"))

    def test_interrupt_ends_printing_of_long_value(self):
        # The reader never stalls, so that no wait for it ends the statement.
        size = 400_000_000
        for form in ("csv", "json", "jsonl", "arrow"):
            with self.subTest(form):
                command = [pistachio.BINARY, "--format", form, "-c", f"SELECT repeat('a', {size}) AS t"]
                with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                    received = 0
                    while piece := os.read(process.stdout.fileno(), 1 << 16):
                        if received <= 10_000 < received + len(piece):  # the value has begun
                            process.send_signal(signal.SIGINT)
                        received += len(piece)
                    errors = process.stderr.read()
                self.assertEqual((process.returncode, errors), (130, b"error: interrupted\n"))
                self.assertLess(received, size)

    def test_searches_are_linear_in_text_and_needle(self):
        text, needle = "repeat('a', 40000000)", "repeat('a', 10000000) || 'b' || repeat('a', 10000000)"
        sql = (f"SELECT strpos({text}, {needle}) AS p; SELECT length(replace({text}, {needle}, 'c')) AS p; SELECT length(split_part({text}, {needle}, 1)) AS p;"
               f"SELECT {text} LIKE '%' || {needle} || '%' AS p")
        done = pistachio.run("-c", sql, "--format", "csv")
        self.assertEqual(done.stdout, "p\n0\np\n40000000\np\n40000000\np\nfalse\n", done.stderr)


class StalledReader(unittest.TestCase):
    """No one reads the output, and the pipe is full: query_timeout and Ctrl-C still end the statement."""

    FORMATS = ("csv", "json", "jsonl", "markdown", "parquet", "arrow")
    # Far more than a pipe holds, in every format.
    ROWS = "WITH RECURSIVE r(a) AS (SELECT 0 UNION ALL SELECT a + 1 FROM r WHERE a < 299) SELECT x.a * 300 + y.a AS a, z.a AS b FROM r x, r y, r z"
    LIMITED = {"markdown": " LIMIT 100000"}  # formatted completely before the first byte is written

    def start(self, form, *words):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        try:
            return reader, subprocess.Popen([pistachio.BINARY, *words, "--format", form, "-c", self.ROWS + self.LIMITED.get(form, "")], stdout=writer,
                                            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        finally:
            os.close(writer)

    def test_query_timeout_ends_statement(self):
        # Side by side: they wait most of the time.
        processes = {form: self.start(form, "-s", "query_timeout=1s")[1] for form in self.FORMATS}
        for form, process in processes.items():
            with self.subTest(form):
                _, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
                self.assertEqual((process.returncode, errors), (1, "error: the statement ran longer than query_timeout=1s\n"))

    def test_interrupt_ends_statement(self):
        for form in self.FORMATS:
            with self.subTest(form):
                reader, process = self.start(form)
                os.read(reader, 1)  # the result has started
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
                self.assertEqual((process.returncode, errors), (130, "error: interrupted\n"))


class WideAndManyFiles(unittest.TestCase):
    def test_file_of_ten_thousand_columns(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "wide.parquet"
            pyarrow.parquet.write_table(pyarrow.table({f"c{i}": pyarrow.array([i], pyarrow.int64()) for i in range(10_000)}), path)
            done = pistachio.run("-c", f"SELECT * FROM '{path}'", "--format", "csv")
            self.assertEqual(done.stdout.splitlines()[1], listed(",", str, 10_000), done.stderr[-300:])
            done = pistachio.run("-c", f"SELECT count(*) FROM '{path}' WHERE {listed(' AND ', lambda i: f'c{i} = {i}', 5_000)}", "--format", "csv")
            self.assertEqual(done.stdout, "count\n1\n", done.stderr[-300:])
            done = pistachio.run("schema", path)
            self.assertEqual(sum(line.startswith("c") for line in done.stdout.splitlines()), 10_001, done.stderr[-300:])

    def test_ten_thousand_partitions(self):
        with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
            one = Path(folder) / "one.parquet"
            pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2, 3]}), one)
            for i in range(10_000):
                part = Path(folder) / f"t/p={i}"
                part.mkdir(parents=True)
                (part / "f.parquet").hardlink_to(one)
            done = pistachio.run("-c", f"SELECT count(*), sum(p) FROM '{folder}/t'; SELECT sum(a) FROM '{folder}/t' WHERE p = 7", "--format", "csv")
            self.assertEqual(done.stdout.splitlines(), ["count,sum", f"30000,{3 * 9_999 * 10_000 // 2}", "sum", "6"], done.stderr[-300:])


for kind, (terms, writer, expected) in due_today(ANSWERED):
    make = make_answered_in_script if kind in IN_SCRIPTS else make_answered
    setattr(LongStatements, f"test_{kind.replace(' ', '_')}", make(terms, writer, expected))
for kind, writer in due_today(ENDURED):
    make = make_endured_in_script if kind in IN_SCRIPTS else make_endured
    setattr(LongStatements, f"test_endless_{kind.replace(' ', '_')}", make(writer))

if __name__ == "__main__":
    unittest.main()
