"""The 22 TPC-H queries, and how their results are compared."""

import re
from pathlib import Path

from tests.support import duckdb_oracle

FOLDER = Path(__file__).resolve().parent / "queries"
NUMBERS = range(1, 23)


def query_text(number, replacements=None):
    """The query with the validation parameters of its file, or with replacements: {text in the file: new text}."""
    text = (FOLDER / f"q{number:02}.sql").read_text()
    if not replacements:
        return text
    missing = [old for old in replacements if old not in text]
    if missing:
        raise ValueError(f"query {number} does not contain {missing}")
    # A single pass: a new value may equal the old value of another parameter.
    return re.sub("|".join(map(re.escape, replacements)), lambda found: replacements[found[0]], text)


class ExpectedAnswer:
    """DuckDB's result of one of the queries, taking into account what its ORDER BY and LIMIT leave open."""

    def __init__(self, connection, sql):
        unlimited, limit = re.fullmatch(r"(.*?)(?:\s+limit (\d+))?;?\s*", sql, re.DOTALL).groups()
        self.limit = int(limit) if limit else None
        self.answer = duckdb_oracle.answer(connection, unlimited)
        order = re.search(r"\norder by ([^()]*)$", unlimited)
        self.keys = [self.answer.names.index(key.split()[0]) for key in order[1].split(",")] if order else []

    def difference(self, csv):
        """None, or how the rows of our CSV differ."""
        return duckdb_oracle.ordered_difference(duckdb_oracle.parse_csv(csv), self.answer, self.keys, self.limit)
