"""DuckDB as the judge: runs the same SQL on the same files and compares the rows."""

import datetime
import decimal
import math
import re

import duckdb


def connect(folder=None, threads=2):
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    if folder is not None:
        for file in sorted(folder.glob("*.parquet")):
            connection.execute(f"CREATE VIEW \"{file.stem}\" AS SELECT * FROM read_parquet('{file}')")
    return connection


def rows_of(connection, sql):
    """Rows as tuples of text or None, with the kinds of the columns: exact, floating or other."""
    result = connection.execute(sql)
    kinds = [kind_of(str(column[1])) for column in result.description]
    return [tuple(None if value is None else text_of(value) for value in row) for row in result.fetchall()], kinds


def kind_of(type_name):
    if type_name in ("DOUBLE", "FLOAT", "NUMBER"):
        return "number"
    return "number" if re.match(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL)", type_name) else "other"


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        text = str(value)
        return text.rstrip("0") if "." in text else text
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return str(value)


def parse_csv(text):
    """Rows of our CSV: None for NULL (an empty field without quotes)."""
    rows = []
    for line in split_records(text):
        rows.append(tuple(line))
    return rows[1:] if rows else []


def split_records(text):
    record, field, quoted, was_quoted, i = [], [], False, False, 0
    while i < len(text):
        letter = text[i]
        if quoted:
            if letter == '"' and text[i + 1:i + 2] == '"':
                field.append('"')
                i += 1
            elif letter == '"':
                quoted = False
            else:
                field.append(letter)
        elif letter == '"':
            quoted = was_quoted = True
        elif letter in ",\n":
            record.append("".join(field) if field or was_quoted else None)
            field, was_quoted = [], False
            if letter == "\n":
                yield record
                record = []
        else:
            field.append(letter)
        i += 1


def same_number(left, right):
    a, b = float(left), float(right)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def looks_exact(text):
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def same_value(left, right):
    if left is None or right is None:
        return left is None and right is None
    if left == right:
        return True
    try:
        return same_number(left, right)
    except ValueError:
        # DuckDB prints a midnight timestamp with its time, and so do we; dates compare as text.
        return left.removesuffix(" 00:00:00") == right.removesuffix(" 00:00:00")


def sort_key(row):
    key = []
    for value in row:
        if value is None:
            key.append((2, 0.0, ""))
            continue
        try:
            key.append((0, round(float(value), 6), ""))
        except ValueError:
            key.append((1, 0.0, value))
    return key


def difference(ours, theirs, ordered=False):
    """None when the rows agree, else a text that says where they do not."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, DuckDB has {len(theirs)}: {ours[:3]} against {theirs[:3]}"
    if not ordered:
        ours, theirs = sorted(ours, key=sort_key), sorted(theirs, key=sort_key)
    for number, (own, other) in enumerate(zip(ours, theirs)):
        if len(own) != len(other) or not all(same_value(a, b) for a, b in zip(own, other)):
            return f"row {number}: {own} against {other}"
    return None
