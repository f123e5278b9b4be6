"""The texts of the 22 TPC-H queries."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "queries"


def query_text(number):
    return (FOLDER / f"q{number:02}.sql").read_text()
