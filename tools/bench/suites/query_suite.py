"""What a suite of benchmark queries consists of, and how its data comes to lie under data/."""

import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent


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


def ensure_folder(name, fill):
    """Returns data/NAME, which `fill(folder)` makes once. An interrupted run leaves nothing that looks complete."""
    folder = ROOT / "data" / name
    if folder.exists():
        return folder
    print(f"data: making {folder.relative_to(ROOT)}", file=sys.stderr)
    began = time.perf_counter()
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    fill(partial)
    partial.rename(folder)
    print(f"data: done ({time.perf_counter() - began:.1f} s)", file=sys.stderr)
    return folder


def checksum(sql, *columns):
    """A query that adds up the rows of `sql`, for results too large to fetch: their transfer would be timed instead of the query."""
    return f"SELECT count(*), {', '.join(columns)} FROM ({sql}) AS answer"
