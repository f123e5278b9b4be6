"""read_json against DuckDB on the same files: lines, arrays, loose objects, widened types, hostile texts."""

import gzip
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support.file_comparison import FileComparison, literal
from tests.support.pistachio_session import StatementFailed

LINES = b"".join(b'{"k": %d, "name": "n%d", "x": %d.5, "day": "2020-01-%02d"}\n' % (i, i % 7, i, i % 28 + 1) for i in range(500))

# name, bytes, options
FILES = [
    ("lines", b'{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n', ""),
    ("no newline at the end", b'{"a":1}\n{"a":2}', ""),
    ("array", b'[{"a":1},{"a":2}]', ""),
    ("array over lines", b'[\n  {"a": 1, "b": [1, 2]},\n  {"a": 2}\n]\n', "columns = {'a': 'INT'}"),
    ("empty array", b"[]", "columns = {'a': 'INT'}"),
    ("pretty objects", b'{\n"a": 1\n}\n{\n"a": 2}', ""),
    ("missing members", b'{"a":1}\n{"b":"x"}\n{}\n{"b":null,"a":3}\n', ""),
    ("types", b'{"i":1,"f":1.5,"s":"x","t":"10:11:12","d":"2020-01-02","ts":"2020-01-02 10:11:12","g":true,"num":"12"}\n', ""),
    ("integers and floating", b'{"a":1}\n{"a":1.5}\n{"a":1e3}\n', ""),
    ("escapes", b'{"a":"x\\u00e9\\n\\"q\\\\ \\ud83d\\ude00 \\/"}\n', ""),
    ("escaped names", b'{"a\\u0062":1}\n', ""),
    ("values", b"1\n2\n3\n", ""),
    ("array of values", b"[1, 2, 3]", ""),
    ("names that differ in case", b'{"a":1,"A":2}\n', ""),
    ("blank lines", b'\n{"a":1}\n\n  {"a":2}  \n\n', ""),
    ("CRLF", b'{"a":1}\r\n{"a":2}\r\n', ""),
    ("byte order mark", b'\xef\xbb\xbf{"a":1}\n', ""),
    ("given columns", b'{"a":1,"b":2}\n{"b":3}\n', "columns = {'a': 'INT', 'z': 'VARCHAR', 'b': 'DOUBLE'}"),
    ("brackets in texts", b'[{"a":"]},{"},{"a":"[\\"{"}]', ""),
    ("format is given", b'{"a":1}\n{"a":2}\n', "format = 'newline_delimited'"),
    ("array is given", b'[{"a":1},{"a":2}]', "format = 'array'"),
    ("many lines", LINES, ""),
    ("a large array", b"[" + LINES.strip().replace(b"\n", b",\n") + b"]", ""),
    ("arrays on lines", b'[1,2]\n[3]\n', "columns = {'json': 'VARCHAR'}, records = false"),
    ("blanks around commas", b' [ {"a":1}\n,\n{"a":2} ,{"a":3}\n]\n ', ""),
    ("objects without blanks", b'{"a":1}{"a":2}', "format = 'unstructured'"),
    ("a megabyte in a text", b'{"a":"' + b"y" * (1 << 20) + b'","b":1}\n{"a":"","b":2}\n', ""),
]

REFUSED = [
    (b'{"a":1}\n{"a":}\n', "", "line 2: it is not JSON: a value is damaged"),
    (b'{"a":1}\n{"a":2} x\n', "format = 'nd'", "line 2: text follows the record"),
    (b'{"a":1}\n{"a":2\n', "", "line 2: it is not JSON: a comma or a bracket is missing"),
    (b'{"a":1}\n' * 30000 + b'{"b":2}\n', "", "line 30001: no column is for its member 'b'"),
    (b'{"a":1}\n' * 30000 + b'{"a":"x"}\n', "", "line 30001, column a: 'x' is not a valid BIGINT"),
    (b'{"a":1}\n7\n', "", "line 2: it is not a JSON object"),
    (b"hello\n", "", "is not JSON: line 1 begins with 'hello"),
    (b'[{"a":1},{"a":', "", "it is not JSON"),
    (b'[{"a":1},{"a":2}', "", "line 1: it is not JSON: the file ends within its array"),
    (b'[{"a":1},\n{"a":2},\n', "", "line 3: it is not JSON: the file ends within its array"),
    (b'[{"a":1},\n,{"a":2}]', "", "line 2: it is not JSON at ',{"),
    (b'[{"a":1},\n]', "", "line 2: it is not JSON at ']'"),
    (b'[{"a":1}\n{"a":2}]', "", "line 2: it is not JSON: a comma between elements of the array is missing"),
    (b'[{"a":1}]\nx', "", "line 2: text follows the array"),
    (b'[{"a":1}\n]]', "", "line 2: text follows the array"),
    (b'[{"a":1},\n{"a":[1}}]', "", "line 2: it is not JSON at '}}]'"),
    (b'[{"a":"x"},{"a":"y\nz"}]', "", "line 1: it is not JSON at '.x0az"),
    (b'{"a":"x"}\n{"a":"y\tz"}\n', "", "line 2: it is not JSON: a value is damaged"),
    (b'{"a":"x"}\n{"a":[1}}\n', "", "line 2: it is not JSON: a value is damaged"),
    (b'{"a":1,"b":2}\n{"a":1,"b":2,"a":3}\n', "", "line 2: its member 'a' occurs twice"),
    (b'[{"a":1},\n{"a":1,"\\u0061":3}]', "", "line 2: its member 'a' occurs twice"),
    (b'{"a":1}\n{"a":\n2}\n', "format = 'nd'", "line 2: .*the line ends within the record .format = 'unstructured'"),
    (b'{"a":"x"}\n{"a":"y\nz"}\n', "format = 'nd'", "line 2: .*the line ends within the record"),
    (b'[{"a":1},\noops,\n{"a":2}]', "", "line 2: it is not JSON at 'oops"),
    (b'[{"a":1}]', "ignore_errors = true", "ignore_errors needs JSON with one record per line .format = 'newline_delimited'.; .* is an array"),
    (b'{"a":\n1}', "ignore_errors = true", "ignore_errors needs JSON with one record per line .* has other records"),
    (b'{"a":1}\n', "fromat = 'nd'", "read_json has no option fromat; did you mean format?"),
    (b'{"a":1}\n', "delim = ','", "read_json has no option delim"),
    (b'{"a":1}\n', "format = 'lines'", "format of read_json takes auto, newline_delimited"),
]


class JsonFiles(FileComparison):
    def test_files_against_duckdb(self):
        for number, (name, data, options) in enumerate(FILES):
            with self.subTest(name):
                path = self.write(f"f{number}.json", data)
                self.compare(f"SELECT * FROM read_json({literal(path)}{', ' + options if options else ''})")

    def test_refused_files_name_the_line(self):
        for number, (data, options, message) in enumerate(REFUSED):
            path = self.write(f"r{number}.json", data)
            for name, session in self.sessions.items():
                with self.subTest(message, session=name), self.assertRaisesRegex(StatementFailed, message):
                    session.run(f"SELECT * FROM read_json({literal(path)}{', ' + options if options else ''})")

    def test_nested_values_are_json_text(self):
        path = self.write("nested.json", b'{"a": {"b": 1}, "c": [1, "x"], "d": 1}\n{"a": null, "c": {}, "d": "text"}\n')
        for session in self.sessions.values():
            self.assertEqual(session.run(f"SELECT a, c, d FROM {literal(path)} ORDER BY d").csv,
                             'a,c,d\n"{""b"": 1}","[1, ""x""]",1\n,{},text\n')

    def test_ignored_errors_are_counted(self):
        path = self.write("bad.json", b'{"a":1}\n{"a":}\n{"a":"x"}\n{"a":4}\n')
        for session in self.sessions.values():
            result = session.run(f"SELECT a FROM read_json({literal(path)}, columns = {{'a': 'INT'}}, ignore_errors = true) ORDER BY a")
            self.assertEqual((result.csv, result.notes), ("a\n1\n4\n", ("2 bad records were skipped (ignore_errors)",)))

    def test_endings(self):
        for name, data in (("x.jsonl", LINES), ("x.ndjson", LINES), ("x.json.gz", gzip.compress(LINES))):
            self.compare(f"SELECT count(*), sum(k), min(name), max(day) FROM {literal(self.write(name, data))}")
        self.compare(f"SELECT count(*) FROM read_ndjson({literal(self.write('y.txt', LINES))})")

    def test_union_of_files(self):
        self.write("u1.json", b'{"a":1}\n')
        self.write("u2.json", b'{"a":2.5,"b":"x"}\n')
        for session in self.sessions.values():
            self.assertEqual(session.run(f"SELECT a, b FROM '{self.folder.name}/u*.json' ORDER BY a").csv, "a,b\n1,\n2.5,x\n")

    def test_records_of_lines_end_wherever_blocks_are_cut(self):
        # Members on lines of their own: a block that ends behind one of them would hide the damage.
        path = self.write("split.json", b"".join(b'{"a":%d,\n"b":1}\n' % i for i in range(200)))
        for session in self.sessions.values():
            with self.assertRaisesRegex(StatementFailed, "line [0-9]+: .*(the line ends within the record|is not a JSON object)"):
                session.run(f"SELECT count(*) FROM read_json({literal(path)}, format = 'nd')")
            result = session.run(f"SELECT count(*) AS n FROM read_json({literal(path)}, format = 'nd', ignore_errors = true, "
                                 "columns = {'a': 'INT', 'b': 'INT'})")
            self.assertEqual((result.csv, result.notes), ("n\n0\n", ("400 bad records were skipped (ignore_errors)",)))

    def test_a_large_array_is_checked_to_its_end(self):
        elements = [b'{"k":%d,"n":{"k":[%d]}}' % (i, i) for i in range(60000)]
        whole = self.write("whole.json", b"[" + b",\n".join(elements) + b"]")
        self.compare(f"SELECT count(*), sum(k), max(k) FROM read_json({literal(whole)})")
        elements[41000] = b"oops"
        damaged = self.write("damaged.json", b"[" + b",\n".join(elements) + b"]")
        cut = self.write("cut.json", whole.read_bytes()[:-1])
        for session in self.sessions.values():
            with self.assertRaisesRegex(StatementFailed, "line 41001: it is not JSON at 'oops"):
                session.run(f"SELECT sum(k) FROM read_json({literal(damaged)})")
            with self.assertRaisesRegex(StatementFailed, "is an array"):
                session.run(f"SELECT sum(k) FROM read_json({literal(damaged)}, ignore_errors = true)")
            with self.assertRaisesRegex(StatementFailed, "line 60000: it is not JSON: the file ends within its array"):
                session.run(f"SELECT sum(k) FROM read_json({literal(cut)})")

    def test_files_of_objects_and_of_values(self):
        self.write("m1.json", b'{"a":"x"}\n')
        self.write("m2.json", b'"hello"\n')
        self.write("m3.json", b"")
        folder = self.folder.name
        for session in self.sessions.values():
            for first, second in ((1, 2), (2, 1)):
                with self.assertRaisesRegex(StatementFailed, "m1.json are JSON objects, those of .*m2.json are not; records = false reads both"):
                    session.run(f"SELECT * FROM read_json(['{folder}/m{first}.json', '{folder}/m{second}.json'])")
            self.assertEqual(session.run(f"SELECT * FROM read_json('{folder}/m*.json', records = false) ORDER BY 1 DESC").csv,
                             'json\n"{""a"":""x""}"\nhello\n')
            for number, answer in ((1, "a\nx\n"), (2, "json\nhello\n")):
                self.assertEqual(session.run(f"SELECT * FROM read_json(['{folder}/m3.json', '{folder}/m{number}.json'])").csv, answer)

    def test_copy_from(self):
        session = self.sessions["one rank"]
        session.run("CREATE TABLE copied(k INTEGER, name VARCHAR)")
        path = self.write("c.json", b'{"name":"x","k":1}\n{"k":2,"name":"y"}\n')
        session.run(f"COPY copied FROM {literal(path)}")
        self.assertEqual(session.run("SELECT * FROM copied ORDER BY k").csv, "k,name\n1,x\n2,y\n")
        session.run("DROP TABLE copied")


if __name__ == "__main__":
    unittest.main()
