"""read_csv against DuckDB on the same files: marks, headers, types, line ends, options, hostile texts. Every file is read by one rank,
with tiny blocks (records and quotes then cross their ends) and by three ranks."""

import gzip
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle
from tests.support.file_comparison import FileComparison, literal
from tests.support.pistachio_session import PistachioSession, StatementFailed

# name, bytes, options
FILES = [
    ("text only", b"a,b\nx,y\nz,w\n", ""),
    ("one line of text", b"x,y\n", ""),
    ("numbers without header", b"1,2\n3,4\n", ""),
    ("header over numbers", b"a,b\n3,4\n", ""),
    ("header only", b"a,b,c\n", ""),
    ("no newline at the end", b"a,b\n1,2\n3,4", ""),
    ("repeated names", b"a,a,\n1,2,3\n", ""),
    ("names that differ in case", b"a,A\n1,2\n", ""),
    ("quoted empty text", b'a,b\n"",1\n,2\nx,3\n', ""),
    ("quoted numbers", b'a,b\n"12",1\n5,2\n', ""),
    ("dates and times", b"d,t,s\n2020-01-02,10:11:12,2020-01-01 10:11:12\n2021-03-04,01:02,2020-01-01T10:11:12.125\n", ""),
    ("day first", b"d,e\n01/02/2020,13/02/2020\n", ""),
    ("month first", b"d,e\n01/02/2020,x\n02/13/2020,y\n", ""),
    ("dates with slashes", b"d,e\n2020/01/02,20200102\n", ""),
    ("dates with points", b"d,e\n31.12.2020,1\n", ""),
    ("booleans", b"a,b,c,d\ntrue,T,yes,1\nfalse,F,no,0\n", ""),
    ("floating point", b"a,b,c,d\n1.5,1e5,.5,-2\n2,3,1.,7.25\n", ""),
    ("leading zeros", b"a,b\n10,007\n1,+5\n", ""),
    ("blanks around numbers", b"a,b\n 1, x\n2 ,y \n", ""),
    ("NULL as a word", b"a,b\nNULL,1\n3,null\n", ""),
    ("empty lines", b"a,b\n1,2\n\n3,4\n\n", ""),
    ("empty lines of one column", b"a\n1\n\n3\n", ""),
    ("bar", b"a|b\n1|2,3\n", ""),
    ("tabulator", b"a\tb\n1\t2\n", ""),
    ("semicolon", b"a;b\n1,5;2,5\n3,5;4,5\n", "delim = ';'"),
    ("one column", b"hello\nworld\n", ""),
    ("single quotes", b"a,b\n'x,y',2\n'z',3\n", ""),
    ("backslash escapes", b'a,b\n"x\\"y",2\n"z",3\n', ""),
    ("doubled quotes", b'a,b\n"x""y",2\n"z",3\n', ""),
    ("comment above", b"# comment\na,b\n1,2\n3,4\n", ""),
    ("preamble", b"Report of today\n\na,b\n1,2\n3,4\n", ""),
    ("CRLF", b"a,b\r\n1,2\r\n3,x\r\n", ""),
    ("CR", b"a,b\r1,2\r3,x\r", ""),
    ("byte order mark", b"\xef\xbb\xbfa,b\n1,2\n", ""),
    ("NUL bytes", b"a,b\nx\0y,2\n", ""),
    ("quote in the middle", b'a,b\nx"y,2\nz,3\n', ""),
    ("column of NULLs", b"a,b\n1,\n2,\n", ""),
    ("lines end with a comma", b"a,b,\n1,2,\n3,4,\n", ""),
    ("quoted header", b'"a b","c"\n1,2\n', ""),
    ("blanks in the header", b" a ,b\n1,2\n", ""),
    ("newlines in quotes", b'a,b\n"x\ny",2\n"\n\n",3\n"p,\nq",4\n', ""),
    ("blanks around quotes", b'a,b\n "x" ,2\n"y",3\n', ""),
    ("letters beyond ASCII", "a,b\nä,ö\n日本,1\n".encode(), ""),
    ("columns", b"1,2\n1,3\n", "columns = {'a': 'INT', 'b': 'VARCHAR'}"),
    ("decimals", b"a,b\n1.25,-3\n7,1e2\n", "columns = {'a': 'DECIMAL(10,1)', 'b': 'DECIMAL(30,2)'}"),
    ("all types", b"1,2,3,4,1.5,2.5,true,2020-01-01,10:11:12,2020-01-01 01:02:03\n,,,,,,,,,\n",
     "columns = {'a': 'TINYINT', 'b': 'SMALLINT', 'c': 'INTEGER', 'd': 'BIGINT', 'e': 'REAL', 'f': 'DOUBLE', 'g': 'BOOLEAN', 'h': 'DATE', 'i': 'TIME', 'j': 'TIMESTAMP'}"),
    ("names without header", b"1,2\n1,3\n", "names = ['q']"),
    ("names over a header", b"a,b\n1,2\n1,3\n", "names = ['q', 'r']"),
    ("types by name", b"a,b\n1,2\n1,3\n", "types = {'b': 'DOUBLE'}"),
    ("types by place", b"a,b\n1,2\n1,3\n", "types = ['VARCHAR']"),
    ("skip", b"zz\na,b\n1,2\n1,3\n", "skip = 1"),
    ("NULL text", b"a,b\n1,NA\nNA,3\n", "nullstr = 'NA'"),
    ("NULL texts", b"a,b\n1,NA\n-,3\n,4\n", "nullstr = ['NA', '-']"),
    ("quoted NULL text", b'a,b\n"NA",x\nNA,y\n', "nullstr = 'NA'"),
    ("quoted text is not NULL", b'a,b\n"",x\n,y\n', "allow_quoted_nulls = false"),
    ("no header", b"a,b\n1,2\n", "header = false"),
    ("all text", b"a,b\n1,2\n", "all_varchar = true"),
    ("padding", b"a,b,c\n1,2\n1,2,3\n", "null_padding = true"),
    ("comments", b"a,b\n1,2\n#3,4\n5,6\n", "comment = '#'"),
    ("quotes in comments", b'a,b\n1,"x\n# y"\n' + b'# he said, "hi\n3,z\n5,"p\nq"\n# "\n' * 20, "comment = '#', header = true, delim = ',', quote = '\"'"),
    ("header as Parquet begins", b"PARENT,CHILD\n1,2\n", ""),
    ("header as ORC begins", b"ORCID,n\n0000-1,2\n", ""),
    ("header as bzip2 begins", b"BZh,GIF8\n1,2\n", ""),
    ("a header of one word", b"GIF8\n1\n", ""),
    ("years beyond a timestamp", b"t\n300000-01-01 00:00:00\n", "header = true, delim = ','"),
    ("own marks", b"a^b\n~x^y~^2\n~p~~q~^3\n", "delim = '^', quote = '~', escape = '~'"),
    ("no quotes", b'a,b\n"x,2\ny",3\n', "quote = '', header = true"),
    ("errors ignored", b"a,b\n1,2\nx,3\n4,5\n6\n7,8,9\n10,11\n", "ignore_errors = true, columns = {'a': 'INT', 'b': 'INT'}, header = true"),
    ("wide", (",".join(f"c{i}" for i in range(300)) + "\n" + "".join(",".join(str(i * j) for i in range(300)) + "\n" for j in range(20))).encode(), ""),
    ("a megabyte in a field", b"a,b\n" + b"x" * (1 << 20) + b",1\n" + b'"' + b"y,\n" * 300_000 + b'",2\n', ""),
]

# bytes, options, what the error says
REFUSED = [
    (b"a,b\n1,2\n3,4\n5\n6,7\n8,9\n1,2\n", "", r"line 4: it has 1 value; 2 are expected"),
    (b"a,b\n1,2\n3,4\n5,6,7\n6,7\n8,9\n", "", r"line 4: it has 3 values; 2 are expected"),
    (b"a,b\n1,2\n3,x\n", "columns = {'a': 'INT', 'b': 'INT'}, header = true", r"line 3, column b: 'x' is not a valid INTEGER"),
    (b"a,b\n1,2\n" * 1 + b"3,4\n" * 30000 + b"5,x\n", "", r"line 30003, column b: 'x' is not a valid BIGINT"),
    (b'a,b\n"x\n\ny",2\n"z",w\n', "columns = {'a': 'VARCHAR', 'b': 'INT'}, header = true", r"line 5, column b: 'w' is not"),
    (b"a\n+-5\n", "columns = {'a': 'INT'}, header = true", r"line 2, column a: '\+-5' is not a valid INTEGER"),
    (b"a\n300000-01-01\n", "columns = {'a': 'TIMESTAMP'}, header = true", r"line 2, column a: '300000-01-01' is not a valid TIMESTAMP"),
    (b"a\n300000-01-01 00:00:00\n", "columns = {'a': 'TIMESTAMP'}, header = true", r"line 2, column a: '300000-01-01 00:00:00' is not"),
    (b"a,b\nx\xff,2\n", "", r"line 2, column a: the text is not UTF-8"),
    (b'a,b\n"x,2\n', "quote = '\"', header = true, delim = ','", r"line 2: a quote is not closed"),
    (b'a,b\n"x"y,2\n', "quote = '\"', header = true, delim = ','", r"line 2: text follows a closing quote"),
    (b"\xff\xfea\0,\0b\0\n\0", "", "is UTF-16 text, not CSV"),
    (b"PAR1\x15\0xxPAR1", "", "is a Parquet file, not CSV"),
    (b"a\n1\n", "headr = true", "read_csv has no option headr; did you mean header?"),
    (b"a\n1\n", "foo = 1", "read_csv has no option foo; it has delim,"),
    (b"a\n1\n", "skip = -1", "skip of read_csv takes a whole number of at least 0, not '-1'"),
    (b"a\n1\n", "delim = 'ab'", "delim of read_csv takes one ASCII character"),
    (b"a\n1\n", "types = {'z': 'INT'}", "types names the column z, which the file does not have"),
    (b"a\n1\n", "types = {'a': 'NOTYPE'}", "types of read_csv: .*notype"),
    (b"a\n1\n", "auto_detect = false", "needs columns"),
]


VALUES = [
    lambda g: str(g.randrange(-10**g.randrange(1, 18), 10**g.randrange(1, 18))),
    lambda g: f"{g.uniform(-1e6, 1e6):.{g.randrange(1, 8)}f}",
    lambda g: f"{g.randrange(1900, 2100)}-{g.randrange(1, 13):02}-{g.randrange(1, 29):02}",
    lambda g: f"{g.randrange(1900, 2100)}-{g.randrange(1, 13):02}-{g.randrange(1, 29):02} {g.randrange(24):02}:{g.randrange(60):02}:{g.randrange(60):02}.{g.randrange(10**6):06}",
    lambda g: g.choice(["true", "false"]),
    lambda g: "t" + "".join(g.choice('abc ,"\nö;|\t\'') for _ in range(g.randrange(30))),
    lambda g: "x" * g.randrange(3000),
]


def random_file(generator):
    """Columns of one kind each, with NULLs; a text that needs quotes gets them, others sometimes."""
    kinds = [generator.choice(VALUES) for _ in range(generator.randrange(2, 9))]
    line_end = generator.choice(["\n", "\r\n"])
    lines = [",".join(f"c{place}" for place in range(len(kinds)))]
    for _ in range(generator.randrange(1, 300)):
        fields = []
        for kind in kinds:
            value = "" if generator.random() < 0.1 else kind(generator)
            needs_quotes = any(mark in value for mark in ',"\n') or (value != value.strip())
            quoted = needs_quotes or (value and generator.random() < 0.2)
            fields.append('"' + value.replace('"', '""') + '"' if quoted else value)
        lines.append(",".join(fields))
    return (line_end.join(lines) + generator.choice(["", line_end])).encode()


class CsvFiles(FileComparison):
    def test_files_against_duckdb(self):
        for number, (name, data, options) in enumerate(FILES):
            with self.subTest(name):
                path = self.write(f"f{number}.csv", data)
                self.compare(f"SELECT * FROM read_csv({literal(path)}{', ' + options if options else ''})")

    def test_refused_files_name_the_line(self):
        for number, (data, options, message) in enumerate(REFUSED):
            path = self.write(f"r{number}.csv", data)
            for name, session in self.sessions.items():
                with self.subTest(message, session=name), self.assertRaisesRegex(StatementFailed, message):
                    session.run(f"SELECT * FROM read_csv({literal(path)}{', ' + options if options else ''})")

    def test_carriage_returns_in_quotes_stay(self):
        path = self.write("cr.csv", b'a,b\r\n"p,\r\nq",4\r\n')
        self.compare(f"SELECT hex(a), b FROM {literal(path)}")

    def test_one_order_of_dates_for_all_columns(self):
        path = self.write("mdy.csv", b"d,e\n01/02/2020,02/13/2020\n")
        self.assertEqual(self.sessions["one rank"].run(f"FROM {literal(path)}").csv, "d,e\n2020-01-02,2020-02-13\n")

    def test_one_order_of_dates_for_all_files(self):
        self.write("o1.csv", b"d\n01/02/2020\n")
        self.write("o2.csv", b"d\n02/13/2020\n")
        for first, second in ((1, 2), (2, 1)):
            sql = f"SELECT typeof(d) AS t, d FROM read_csv(['{self.folder.name}/o{first}.csv', '{self.folder.name}/o{second}.csv']) ORDER BY d"
            for name, session in self.sessions.items():
                with self.subTest(session=name, first=first):
                    self.assertEqual(session.run(sql).csv, "t,d\nDATE,2020-01-02\nDATE,2020-02-13\n")

    def test_the_first_file_tells_whether_there_are_headers(self):
        folder = self.folder.name
        self.write("h1.csv", b"a,1\nb,2\n")
        self.write("h2.csv", b"c,\nd,\ne,\n")
        self.compare(f"SELECT column0, column1 FROM read_csv(['{folder}/h1.csv', '{folder}/h2.csv'])")
        self.write("h3.csv", b"a,1\nx,2\n")  # a header over numbers: its second name is one
        self.write("h4.csv", b"a,1\ny,3\n")
        self.compare(f"SELECT * FROM read_csv(['{folder}/h3.csv', '{folder}/h4.csv'], header = true)")
        self.write("h5.csv", b"n,t\n1,x\n")
        self.write("h6.csv", b"n,t\n")
        # DuckDB takes the header of a file without rows for a row.
        for session in self.sessions.values():
            self.assertEqual(session.run(f"SELECT * FROM read_csv(['{folder}/h5.csv', '{folder}/h6.csv'])").csv, "n,t\n1,x\n")

    def test_empty_files_of_a_list(self):
        folder = self.folder.name
        self.write("e1.csv", b"a,b\n1,x\n")
        self.write("e2.csv", b"")
        self.write("e3.csv", b"a,b\n2,y\n")
        for files in ("132", "123", "231"):
            paths = ", ".join(f"'{folder}/e{number}.csv'" for number in files)
            for name, session in self.sessions.items():
                with self.subTest(session=name, files=files):
                    self.assertEqual(session.run(f"SELECT * FROM read_csv([{paths}]) ORDER BY a").csv, "a,b\n1,x\n2,y\n")

    def test_long_records_of_later_files(self):
        folder = self.folder.name
        names = ",".join(f"a column with a long name {i}" for i in range(4000)).encode()
        self.write("w1.csv", names + b"\n" + b",".join([b"1"] * 4000) + b"\n")
        self.write("w2.csv", names + b"\n" + b",".join([b"2"] * 4000) + b"\n")
        self.compare(f'SELECT "a column with a long name 0" AS a, "a column with a long name 3999" AS b FROM read_csv([\'{folder}/w1.csv\', \'{folder}/w2.csv\'])')
        self.write("w3.csv", b"a,b\n1,x\n")
        self.write("w4.csv", b'a,b\n2,"' + b"y,\n" * 60_000 + b'"\n')
        self.compare(f"SELECT a, length(b) AS n FROM read_csv(['{folder}/w3.csv', '{folder}/w4.csv'])")

    def test_ignored_errors_are_counted(self):
        path = self.write("bad.csv", b"a,b\n1,2\nx,3\n4\n5,6\n7,8,9\n")
        for session in self.sessions.values():
            result = session.run(f"SELECT a FROM read_csv({literal(path)}, types = {{'a': 'INT'}}, ignore_errors = true) ORDER BY a")
            self.assertEqual((result.csv, result.notes), ("a\n1\n5\n", ("3 bad records were skipped (ignore_errors)",)))

    def test_empty_file(self):
        path = self.write("empty.csv", b"")
        self.compare(f"SELECT * FROM {literal(path)}")

    def test_compressed_files(self):
        data = b"a,b\n" + b"".join(b"%d,text %d\n" % (i, i % 7) for i in range(20000))
        gz = self.write("x.csv.gz", gzip.compress(data))
        two = self.write("two.csv.gz", gzip.compress(data[:1000]) + gzip.compress(data[1000:]))
        zst = Path(self.folder.name) / "x.csv.zst"
        self.judge.execute(f"COPY (SELECT * FROM read_csv({literal(gz)})) TO {literal(zst)} (COMPRESSION zstd)")
        for path in (gz, two, zst):
            with self.subTest(path.name):
                self.compare(f"SELECT count(*), sum(a), min(b), max(b) FROM {literal(path)}")
        for name, broken in (("cut.csv.gz", gzip.compress(data)[:-20000]), ("flip.csv.gz", gzip.compress(data)[:3000] + b"\0" * 500)):
            path = self.write(name, broken)
            for session in self.sessions.values():
                with self.subTest(name), self.assertRaisesRegex(StatementFailed, "compressed data"):
                    session.run(f"SELECT count(*) FROM {literal(path)}")

    def test_many_files(self):
        self.write("m1.csv", b"a,b\n1,x\n2,y\n")
        self.write("m2.csv", b"a,b\n3,z\n4.5,w\n")
        self.write("n1.csv", b"b,a,c\nq,9,true\n")
        folder = self.folder.name
        rows = self.sessions["one rank"].run(f"SELECT a, b FROM '{folder}/m*.csv' ORDER BY a").csv
        self.assertEqual(rows, "a,b\n1,x\n2,y\n3,z\n4.5,w\n")
        self.compare(f"SELECT a, b, filename FROM read_csv('{folder}/m1.csv', filename = true)")
        self.compare(f"SELECT a, b, c FROM read_csv(['{folder}/m1.csv', '{folder}/n1.csv'], union_by_name = true)")
        with self.assertRaisesRegex(StatementFailed, "n1.csv has a column c, which .*m1.csv does not have; union_by_name"):
            self.sessions["one rank"].run(f"SELECT * FROM read_csv(['{folder}/m1.csv', '{folder}/n1.csv'])")

    def test_large_files_need_little_memory(self):
        path = self.write("large.csv", b"a,b,c\n" + b"".join(b"%d,text of row %d,%d.5\n" % (i, i, i) for i in range(600_000)))
        sql = f"SELECT count(*), sum(a), max(b), sum(c) FROM {literal(path)}"
        expected = duckdb_oracle.answer(self.judge, sql)
        with PistachioSession("-s", "memory_limit=32MB", "-s", "threads=2") as session:
            problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(session.run(sql).csv), expected)
        self.assertFalse(problem, problem)

    def test_unclosed_quotes_in_little_memory_are_located(self):
        path = self.write("unclosed.csv", b'a,b\n1,x\n2,"y\n' + b"3,z\n" * 10_000_000)
        options = "header = true, delim = ',', quote = '\"', escape = '\"', columns = {'a': 'INT', 'b': 'VARCHAR'}"
        with PistachioSession("-s", "memory_limit=32MB", "-s", "threads=2") as session:
            with self.assertRaisesRegex(StatementFailed, r"unclosed.csv, line 3: a record is longer than \d+ KiB; perhaps a quote is not closed; out of memory"):
                session.run(f"SELECT count(*) FROM read_csv({literal(path)}, {options})")

    def test_whole_files_as_samples(self):
        path = self.write("sampled.csv", b"a,b\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(100_000)) + b"x,7\n")
        self.compare(f"SELECT a, b FROM read_csv({literal(path)}, sample_size = -1) WHERE b < 10")
        largest = 2**63 - 2
        self.assertEqual(self.sessions["one rank"].run(f"SELECT max(b) AS b FROM read_csv({literal(path)}, sample_size = {largest})").csv, "b\n99999\n")

    def test_partition_folders(self):
        for key in (1, 2):
            inner = Path(self.folder.name) / "p" / f"key={key}"
            inner.mkdir(parents=True)
            (inner / "x.csv").write_bytes(b"a\n%d\n" % (key * 10))
        self.compare(f"SELECT a, key FROM read_csv('{self.folder.name}/p/*/*.csv', hive_partitioning = true)")
        self.compare(f"SELECT * FROM read_csv('{self.folder.name}/p/*/*.csv', hive_partitioning = false)")

    def test_plans_around_a_scan(self):
        left = self.write("left.csv", b"k,v\n" + b"".join(b"%d,%d\n" % (i % 50, i) for i in range(3000)))
        right = self.write("right.csv", b"k,name\n" + b"".join(b"%d,name %d\n" % (i, i) for i in range(40)))
        for sql in (f"SELECT count(*) FROM {literal(left)}",
                    f"SELECT name, sum(v) FROM {literal(left)} l JOIN {literal(right)} r ON l.k = r.k WHERE v > 100 GROUP BY name",
                    f"SELECT max(v) FROM {literal(left)} WHERE k IN (SELECT k FROM {literal(right)} WHERE name LIKE '%3')",
                    f"SELECT v FROM {literal(left)} ORDER BY v DESC LIMIT 5",
                    f"SELECT count(*) FROM (SELECT * FROM {literal(left)} LIMIT 7)",
                    f"SELECT k, count(*) FROM (SELECT k FROM {literal(left)} UNION ALL SELECT k FROM {literal(right)}) GROUP BY k"):
            with self.subTest(sql):
                self.compare(sql)

    def test_random_files(self):
        seed = random.randrange(1 << 30)
        print("seed", seed)
        generator = random.Random(seed)
        for number in range(12):
            path = self.write(f"random{number}.csv", random_file(generator))
            with self.subTest(seed=seed, number=number):
                self.compare(f"SELECT * FROM read_csv({literal(path)}, header = true, delim = ',', quote = '\"', escape = '\"')")

    def test_copy_from(self):
        path = self.write("copy.csv", b"code,n,day\n007,1,2020-01-02\n\"a,b\",,\n")
        session = self.sessions["one rank"]
        session.run("CREATE TABLE copied(code VARCHAR, n INTEGER, day DATE)")
        session.run(f"COPY copied FROM {literal(path)} (HEADER)")
        session.run(f"COPY copied (code, n, day) FROM {literal(path)} (FORMAT csv, HEADER true, DELIMITER ',')")
        self.assertEqual(session.run("SELECT code, n, day, count(*) AS c FROM copied GROUP BY ALL ORDER BY code").csv,
                         'code,n,day,c\n007,1,2020-01-02,2\n"a,b",,,2\n')
        with self.assertRaisesRegex(StatementFailed, "line 2, column n: 'x' is not a valid INTEGER"):
            session.run(f"COPY copied FROM {literal(self.write('bad.csv', b'code,n,day' + bytes([10]) + b'q,x,2020-01-01' + bytes([10])))} (HEADER)")
        session.run("DROP TABLE copied")


if __name__ == "__main__":
    unittest.main()
