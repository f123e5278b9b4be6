"""Key types of the join tests: how their values are generated, stored and compared.

Equal means what PostgreSQL's `=` means: NaN equals NaN, -0.0 equals 0.0, 30 days equal one month, and a pair of different types is
compared in its common type."""

import datetime
import decimal
import struct
from dataclasses import dataclass
from typing import Callable, Optional

import pyarrow

EPOCH = datetime.date(2001, 1, 1)
MICROSECONDS_OF_A_DAY = 86_400_000_000
WORDS = ("", " ", "a", "A", "a ", "aa", "zebra", "Zebra", "ß", "é", "東京", "twelve bytes", "thirteen byte", "a word that is longer than any inlined prefix",
         "a word that is longer than any inlined prefiX")
# PostgreSQL orders NaN above every other number.
NAN = (1, 0.0)


@dataclass(frozen=True)
class Interval:
    months: int
    days: int
    microseconds: int

    def text(self):
        return f"{self.months} months {self.days} days {self.microseconds} microseconds"

    def length(self):
        return (self.months * 30 + self.days) * MICROSECONDS_OF_A_DAY + self.microseconds


@dataclass(frozen=True)
class KeyType:
    """`from_number` maps small integers to values, so that columns of different types have values in common; `special` are edge
    values of the type. `show` formats a value as the engine prints it; None: the column is omitted from the output. `arrow` is
    None if Parquet has no such type."""

    name: str
    sql: str
    arrow: Optional[pyarrow.DataType]
    from_number: Callable
    special: tuple = ()
    family: str = ""  # the type it is compared as
    text: Callable = str
    show: Optional[Callable] = None

    def value(self, random, numbers):
        if self.special and random.random() < 0.1:
            return random.choice(self.special)
        return self.from_number(random.choice(numbers))


def to_real(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def interval_of(number):
    """The same length is written in several ways: -1 month 60 days is 30 days."""
    months = number // 30 if number % 2 else number // 30 - 1
    return Interval(months, number - months * 30, 0) if number % 3 else Interval(0, number - 1, MICROSECONDS_OF_A_DAY)


def word_of(number):
    return WORDS[number % 40] if number % 40 < len(WORDS) else f"word {number}"


def integer(name, bits):
    top = 2 ** (bits - 1)
    special = (top - 1, -top, 0, -1)
    if bits == 64:
        special += (2**53, 2**53 + 1, 2**31, -(2**31) - 1)
    return KeyType(name, name, getattr(pyarrow, f"int{bits}")(), lambda number: max(-top, min(top - 1, number)), special, "number", show=str)


def fixed_point(precision, scale):
    # Some values have a fraction that no integer equals.
    def value(number):
        return decimal.Decimal(number) / (2 if number % 3 == 0 else 1)
    top = decimal.Decimal((0, (9,) * precision, -scale))
    name = f"decimal({precision},{scale})"
    return KeyType(name, name, pyarrow.decimal128(precision, scale), value, (top, top.copy_negate(), decimal.Decimal(1).scaleb(-scale)), "number",
                   text=lambda number: format(number, "f"), show=lambda number: f"{number:.{scale}f}")


def floating(name, arrow, narrow):
    special = tuple(narrow(number) for number in (0.0, -0.0, float("nan"), float("inf"), float("-inf"), 0.1, 1e-30, 2.0**53, 16777217.0))
    return KeyType(name, name, arrow, lambda number: narrow(number / 2 if number % 3 == 0 else float(number)), special, "floating", text=repr)


TYPES = [
    integer("tinyint", 8),
    integer("smallint", 16),
    integer("integer", 32),
    integer("bigint", 64),
    fixed_point(12, 2),
    fixed_point(18, 4),
    fixed_point(30, 4),
    fixed_point(38, 2),
    floating("double precision", pyarrow.float64(), float),
    floating("real", pyarrow.float32(), to_real),
    KeyType("varchar", "varchar", pyarrow.string(), word_of, WORDS, "text", show=str),
    KeyType("bytea", "bytea", pyarrow.binary(), lambda number: word_of(number).encode(), (b"", b"\x01", b"\x7f\x7f"), "blob", text=lambda value: "\\x" + value.hex()),
    KeyType("date", "date", pyarrow.date32(), lambda number: EPOCH + datetime.timedelta(number), (datetime.date(1, 1, 1), datetime.date(9999, 12, 31)), "time",
            show=str),
    KeyType("timestamp", "timestamp", pyarrow.timestamp("us"),
            lambda number: datetime.datetime(2001, 1, 1) + datetime.timedelta(number, microseconds=int(number % 3 == 0)),
            (datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(9999, 12, 31, 23, 59, 59)), "time"),
    KeyType("timestamptz", "timestamp with time zone", pyarrow.timestamp("us", tz="UTC"),
            lambda number: datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(hours=number), (), "zoned"),
    KeyType("time", "time", pyarrow.time64("us"), lambda number: datetime.time(number % 24, number % 7), (datetime.time(23, 59, 59, 999999),), "clock"),
    KeyType("interval", "interval", None, interval_of, (Interval(0, 0, 0), Interval(1, -30, 0), Interval(-1, 0, 5)), "interval", text=Interval.text),
    KeyType("boolean", "boolean", pyarrow.bool_(), lambda number: number % 2 == 0, (), "boolean", text=lambda value: str(value).lower(),
            show=lambda value: str(value).lower()),
]
BY_NAME = {key_type.name: key_type for key_type in TYPES}

# Pairs whose common type differs from the type of at least one side.
MIXED_PAIRS = [tuple(BY_NAME[name] for name in pair) for pair in (
    ("tinyint", "bigint"), ("smallint", "integer"), ("integer", "bigint"), ("integer", "decimal(12,2)"), ("bigint", "decimal(30,4)"),
    ("decimal(12,2)", "decimal(18,4)"), ("decimal(12,2)", "decimal(30,4)"), ("decimal(38,2)", "decimal(12,2)"), ("integer", "double precision"),
    ("bigint", "double precision"), ("decimal(12,2)", "double precision"), ("decimal(30,4)", "double precision"), ("real", "double precision"),
    ("real", "integer"), ("real", "decimal(12,2)"), ("date", "timestamp"))]


def comparable(value, own, other):
    """The value as it is compared between the two types: Python's == and < on two such forms agree with SQL's. None stays None."""
    if value is None:
        return None
    if "floating" in (own.family, other.family):
        number = float(value)
        return NAN if number != number else (0, number)
    if own.family == "interval":
        return value.length()
    if own.family == "time" and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value
