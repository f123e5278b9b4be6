"""The same tables in Pistachio and in DuckDB, and the verdict on a query that both run.

The tables are created in DuckDB; Pistachio reads them from Parquet files that DuckDB wrote."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tests.support import duckdb_oracle
from tests.support.pistachio_session import EngineDied, PistachioSession, StatementFailed


@dataclass(frozen=True)
class Verdict:
    kind: str
    text: str = ""

    # `agree`: the same rows; `refused`: an error on both sides; `unsupported`: SQL that Pistachio says it lacks. The others are worth a
    # look; `accepted`, where only DuckDB fails, is often just a limit of DuckDB.
    @property
    def differs(self):
        return self.kind in ("rows", "error", "died")


def new_judge():
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    duckdb_oracle.speak_like_pistachio(connection)
    return connection


def table_names(connection):
    return [name for name, in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY table_oid").fetchall()]


class TwoEngines:
    """The tables are copied once, by the constructor. Use as a context manager: it owns a process and a folder."""

    def __init__(self, connection, *options, binary=None, **session_options):
        self.connection = connection
        self.folder = Path(tempfile.mkdtemp(prefix="pistachio_oracle_"))
        for table in table_names(connection):
            connection.execute(f"COPY {table} TO '{self.folder}/{table}.parquet' (FORMAT parquet)")
        self.session = PistachioSession(*options, folder=self.folder, binary=binary, **session_options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def verdict(self, sql, ordered):
        try:
            expected = duckdb_oracle.answer(self.connection, sql)
        except duckdb.Error as error:
            expected, refusal = None, str(error).split("\n")[0]
        try:
            rows = duckdb_oracle.parse_csv(self.session.run(sql).csv)
        except EngineDied as error:
            return Verdict("died", str(error))
        except StatementFailed as error:
            if expected is None:
                return Verdict("refused", str(error))
            return Verdict("unsupported" if "not supported" in str(error) else "error", str(error))
        if expected is None:
            return Verdict("accepted", refusal)
        problem = duckdb_oracle.difference(rows, expected, ordered)
        return Verdict("rows", problem) if problem else Verdict("agree")
