"""What a suite of benchmark queries consists of."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Query:
    """`checked_sql`, if given, is compared in place of `sql`: the same query with an ORDER BY that leaves nothing open."""

    name: str
    sql: str
    checked_sql: str | None = None


@dataclass
class Suite:
    title: str
    folder: Path  # its files are the tables
    queries: list


def checksum(sql, *columns):
    """A query that adds up the rows of `sql`, for results too large to fetch: their transfer would be timed instead of the query."""
    return f"SELECT count(*), {', '.join(columns)} FROM ({sql}) AS answer"
