"""DuckDB as the reference: runs the same SQL on the same files and compares the rows."""

import datetime
import decimal
import math
import re
from collections import defaultdict
from dataclasses import dataclass

import duckdb


@dataclass
class Answer:
    """Rows are tuples of text or None. A column's kind determines how its values are compared: exact, floating or other."""

    names: list
    kinds: list
    rows: list


def connect(folder=None, threads=2):
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    if folder is not None:
        for file in sorted(folder.glob("*.parquet")):
            connection.execute(f"CREATE VIEW \"{file.stem}\" AS SELECT * FROM read_parquet('{file}')")
    return connection


def speak_like_pistachio(connection):
    """Settings that make DuckDB order NULLs and divide integers as PostgreSQL does."""
    connection.execute("SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'; SET integer_division = true")


def answer(connection, sql):
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    types = [str(column[1]) for column in result.description]
    kinds = [kind_of(name) for name in types]
    if any(name.endswith("_NS") for name in types):
        # Python has no nanoseconds: fetch those as text.
        columns = [f"c{place}" for place in range(len(types))]
        shown = ", ".join(f"{column}::VARCHAR" if name.endswith("_NS") else column for column, name in zip(columns, types))
        result = connection.execute(f"SELECT {shown} FROM ({sql}) AS t({', '.join(columns)})")
    return Answer(names, kinds, [tuple(None if value is None else text_of(value) for value in row) for row in result.fetchall()])


def kind_of(type_name):
    if type_name in ("DOUBLE", "FLOAT"):
        return "floating"
    return "exact" if re.match(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|DECIMAL)", type_name) else "other"


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


def same_floating(left, right):
    a, b = float(left), float(right)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    # Relative to infinity everything would be close.
    return a == b or (math.isfinite(a) and math.isfinite(b) and abs(a - b) <= 1e-9 * max(abs(a), abs(b)))


def exact_form(value, kind):
    """Equal for equal values; None for a floating value, which has no exact form."""
    if value is None or kind == "floating":
        return None
    if kind == "exact":
        try:
            return decimal.Decimal(value)
        except decimal.InvalidOperation:
            return value
    # DuckDB prints a midnight timestamp with its time, and so do we; dates compare as text.
    return value.removesuffix(" 00:00:00")


def same_value(left, right, kind):
    if left is None or right is None:
        return left is None and right is None
    if kind == "floating":
        try:
            return same_floating(left, right)
        except ValueError:
            return left == right
    return exact_form(left, kind) == exact_form(right, kind)


def same_row(left, right, kinds):
    return len(left) == len(right) == len(kinds) and all(map(same_value, left, right, kinds))


def rows_without_partner(ours, theirs, kinds):
    """The rows of ours and of theirs without an equal row on the other side, as multisets."""
    def bucket(row):
        return tuple((value is None, exact_form(value, kind)) for value, kind in zip(row, kinds))

    candidates = defaultdict(list)
    for row in theirs:
        candidates[bucket(row)].append(row)
    alone = []
    for row in ours:
        fitting = candidates[bucket(row)]
        partner = next((place for place, other in enumerate(fitting) if same_row(row, other, kinds)), None)
        if partner is None:
            alone.append(row)
        else:
            fitting.pop(partner)
    return alone, [row for fitting in candidates.values() for row in fitting]


def difference(ours, expected, ordered=False):
    """None if our rows agree with DuckDB's, else a text that says where they do not."""
    theirs = expected.rows
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, DuckDB has {len(theirs)}: {ours[:3]} against {theirs[:3]}"
    if ordered:
        for number, (own, other) in enumerate(zip(ours, theirs)):
            if not same_row(own, other, expected.kinds):
                return f"row {number}: {own} against {other}"
        return None
    only_ours, only_theirs = rows_without_partner(ours, theirs, expected.kinds)
    return f"{len(only_ours)} rows differ: {only_ours[:3]} against {only_theirs[:3]}" if only_ours or only_theirs else None


def ordered_difference(ours, expected, keys, limit=None):
    """Like `difference`, for ORDER BY the columns `keys` LIMIT `limit`: the sequence of keys is fixed, rows with equal keys may
    come in any order, and the limit may keep any of them. `expected` is DuckDB's result without the limit."""
    kept = expected.rows if limit is None else expected.rows[:limit]
    if len(ours) != len(kept):
        return f"{len(ours)} rows, DuckDB has {len(kept)}: {ours[:3]} against {kept[:3]}"
    for number, (own, other) in enumerate(zip(ours, kept)):
        if len(own) != len(other) or not all(same_value(own[key], other[key], expected.kinds[key]) for key in keys):
            return f"row {number}: {own} against {other}, ordered by columns {[key + 1 for key in keys]}"
    only_ours, _ = rows_without_partner(ours, expected.rows, expected.kinds)
    return f"{len(only_ours)} rows that DuckDB does not have: {only_ours[:3]}" if only_ours else None
