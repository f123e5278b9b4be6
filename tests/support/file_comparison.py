"""Files that the tests write, read by the engine in several ways and compared with DuckDB."""

import tempfile
import unittest
from pathlib import Path

import duckdb

from tests.support import duckdb_oracle
from tests.support.pistachio_session import PistachioSession


def literal(path):
    return "'" + str(path).replace("'", "''") + "'"


class FileComparison(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.sessions = {
            "one rank": PistachioSession(),
            "tiny blocks": PistachioSession("-s", "chunk_rows=3"),
            "three ranks": PistachioSession("-s", "chunk_rows=5", ranks=3),
            "composite kernels, spilling": PistachioSession("-s", "composite_kernels=on", "-s", "spill=always", "-s", "disabled_rules=all"),
        }
        cls.judge = duckdb.connect()
        duckdb_oracle.speak_like_pistachio(cls.judge)

    @classmethod
    def tearDownClass(cls):
        for session in cls.sessions.values():
            session.close()
        cls.folder.cleanup()

    def write(self, name, data):
        path = Path(self.folder.name) / name
        path.write_bytes(data)
        return path

    def compare(self, sql):
        expected = duckdb_oracle.answer(self.judge, sql)
        for name, session in self.sessions.items():
            with self.subTest(session=name):
                text = session.run(sql).csv
                if sql.startswith("SELECT *"):
                    self.assertEqual(list(next(duckdb_oracle.split_records(text), [])), expected.names)
                problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(text), expected)
                self.assertFalse(problem, problem)
