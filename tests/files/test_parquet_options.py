"""read_parquet's options: union_by_name over files with other columns and types, filename, hive_partitioning, against DuckDB."""

import sys
import tempfile
import unittest
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import duckdb_oracle
from tests.support.pistachio_session import PistachioSession, StatementFailed


class ParquetOptions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = Path(cls.folder.name)
        pq.write_table(pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", "y"]}), root / "u1.parquet")
        pq.write_table(pa.table({"b": ["z"], "a": pa.array([3], pa.int64())}), root / "u2.parquet")
        pq.write_table(pa.table({"A": [4.5], "c": [True]}), root / "u3.parquet")
        pq.write_table(pa.table({"a": pa.array([5, 6], pa.int32()), "b": ["v", None]}), root / "u4.parquet")
        pq.write_table(pa.table({"a": ["text"]}), root / "other.parquet")
        for key in (1, 2):
            (root / f"key={key}").mkdir()
            pq.write_table(pa.table({"a": [key * 10]}), root / f"key={key}" / "x.parquet")
        cls.sessions = [PistachioSession(), PistachioSession("-s", "chunk_rows=7"), PistachioSession(ranks=3)]
        cls.judge = duckdb.connect()
        duckdb_oracle.speak_like_pistachio(cls.judge)

    @classmethod
    def tearDownClass(cls):
        for session in cls.sessions:
            session.close()
        cls.folder.cleanup()

    def compare(self, sql):
        sql = sql.format(root=self.folder.name)
        expected = duckdb_oracle.answer(self.judge, sql)
        for session in self.sessions:
            with self.subTest(sql):
                text = session.run(sql).csv
                self.assertEqual(list(next(duckdb_oracle.split_records(text), [])), expected.names)
                problem = duckdb_oracle.difference(duckdb_oracle.parse_csv(text), expected)
                self.assertFalse(problem, problem)

    def test_union_by_name(self):
        self.compare("SELECT * FROM read_parquet('{root}/u*.parquet', union_by_name = true)")
        self.compare("SELECT a, c FROM read_parquet('{root}/u*.parquet', union_by_name := true) WHERE a > 2")
        self.compare("SELECT b, sum(a) AS s FROM read_parquet('{root}/u*.parquet', union_by_name => true) GROUP BY b")
        self.compare("SELECT count(*) AS n FROM read_parquet(['{root}/u1.parquet', '{root}/u3.parquet'], union_by_name = true)")
        self.compare("SELECT * FROM read_parquet(['{root}/u1.parquet', '{root}/u4.parquet'], union_by_name = true)")

    def test_without_union_files_must_agree(self):
        for names, message in (("'{root}/u1.parquet', '{root}/u3.parquet'", "union_by_name = true"), ("'{root}/u1.parquet', '{root}/u2.parquet'", "union_by_name = true widens them")):
            with self.assertRaisesRegex(StatementFailed, message):
                self.sessions[0].run(f"SELECT * FROM read_parquet([{names}])".format(root=self.folder.name))
        with self.assertRaisesRegex(StatementFailed, "column a is INTEGER in some files and VARCHAR in others"):
            self.sessions[0].run("SELECT * FROM read_parquet(['{root}/u1.parquet', '{root}/other.parquet'], union_by_name = true)".format(root=self.folder.name))

    def test_filename(self):
        self.compare("SELECT a, b, filename FROM read_parquet(['{root}/u1.parquet', '{root}/u4.parquet'], filename = true)")
        self.compare("SELECT a, filename FROM read_parquet('{root}/u*.parquet', filename = true, union_by_name = true) WHERE filename LIKE '%u3%'")

    def test_hive_partitioning(self):
        self.compare("SELECT a, key FROM read_parquet('{root}/*/x.parquet', hive_partitioning = true) WHERE key = 2")
        self.compare("SELECT * FROM read_parquet('{root}/*/x.parquet', hive_partitioning = false)")

    def test_unknown_options(self):
        with self.assertRaisesRegex(StatementFailed, "read_parquet has no option filname; did you mean filename"):
            self.sessions[0].run(f"SELECT * FROM read_parquet('{self.folder.name}/u1.parquet', filname = true)")


if __name__ == "__main__":
    unittest.main()
