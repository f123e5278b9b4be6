"""Random scalar expressions over the types of docs/sql.md that PostgreSQL has too.

Expressions are typed as they are generated, so that most of them have a value; some are wrong on purpose, and both engines must
reject them. Differences listed in docs/sql.md are avoided or marked: `approximate` values compare as floats."""

import random
import re
from dataclasses import dataclass, replace

INTEGERS = {"smallint": 15, "integer": 31, "bigint": 63}  # bits of the greatest value
DECIMALS = ("decimal(4,1)", "decimal(9,2)", "decimal(18,6)", "decimal(20,0)", "decimal(30,10)")
FLOATS = ("real", "double precision")
DATE_LIKE = ("date", "timestamp", "timestamptz")
TYPES = ("boolean", *INTEGERS, *FLOATS, *DECIMALS, *DATE_LIKE, "time", "interval", "varchar", "bytea")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
WORDS = ("", "a", "abc", "ABC", "Hello World", "  padded ", "x%y", "a_c", "a\\b", "äöü", "日本語", "it''s", "aaa", "12", "-7", "1.5", "true", "2020-02-29")
INTERVAL_UNITS = ("microsecond", "us", "millisecond", "ms", "second", "sec", "s", "minutes", "min", "m", "hour", "hrs", "h", "days", "d", "week", "w",
                  "month", "mons", "year", "y", "yrs", "decade", "century", "c", "millennium", "millennia", "fortnight", "quarter", "centurys")
DATE_PATTERNS = ("YYYY", "YYY", "YY", "Y", "Y,YYY", "IYYY", "IYY", "IY", "I", "CC", "Q", "MONTH", "Month", "month", "MON", "Mon", "mon", "MM", "RM", "rm", "DAY", "Day", "day", "DY", "Dy",
                 "dy", "DDD", "IDDD", "DD", "D", "ID", "W", "WW", "IW", "J", "HH24", "HH12", "HH", "MI", "SS", "SSSS", "MS", "US", "FF1", "FF3", "FF6", "AM", "p.m.", "BC", "a.d.", "FMDD",
                 "FMMonth", "TMMonth", "FMHH24", "DDth", "YYYYTH", '"at"', " ", "-", ":", ".", "/")
FLOAT_VALUES = ("0", "1", "-1", "0.1", "-2.5", "1.5", "3.5", "1e10", "123456.789", "1e-10", "NaN", "inf", "1e38", "-3e5", "0.30000001", "-inf", "-0", "0.5", "2147483647.5",
                "9223372036854775807", "32767.5", "-32768.5")
DATE_VALUES = ("2020-02-29", "1970-01-01", "1969-12-31", "0001-01-01", "2024-12-31", "1999-11-30", "0044-03-15 BC", "9999-12-31", "294246-01-01", "5874897-12-31", "4714-11-24 BC")
INTERVAL_VALUES = ("1 day", "-1 day", "1 month", "1 year 2 months 3 days", "25 hours", "00:00:00.000001", "-3 months 5 days", "30 days", "1000 years", "1.5 hours", "0",
                   "178956970 years 7 months", "2147483647 days", "-2147483648 days", "2562047764:00:54.775807", "-178956970 years", "1 mon -1 day", "-1 mon 1 day -00:00:01")
INTERVAL_FIELDS = ("year", "month", "day", "hour", "minute", "second", "year to month", "day to hour", "day to minute", "day to second", "hour to minute",
                   "hour to second", "minute to second")


@dataclass(frozen=True)
class Scalar:
    text: str
    type: str
    approximate: bool = False
    table: str = ""  # for FROM
    damaged: str = ""  # text of a value, if the generator changed it

    @property
    def query(self):
        return f"SELECT {self.text} AS v" + (f" FROM {self.table}" if self.table else "")

    @property
    def has_branches(self):
        """PostgreSQL evaluates constant branches that are not taken, and fails if they do."""
        return re.search(r"CASE|coalesce|AND|OR", self.text) is not None


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class ScalarGenerator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.columns = None  # texts of values that the expression reads from a table; None: it uses constants

    # ---- texts of values

    def digits(self, most=20):
        count = self.random.randint(1, self.random.choice((1, 2, 4, most)))
        return "".join(self.random.choice("0123456789") for _ in range(count))

    def number_text(self, exponent=True):
        text = self.random.choice(("", "", "-", "+")) + self.random.choice((self.digits(), self.digits() + "." + self.digits(), "." + self.digits(), self.digits() + "."))
        if exponent and self.random.random() < 0.3:
            text += self.random.choice("eE") + self.random.choice(("", "-", "+")) + str(self.random.randint(0, self.random.choice((2, 20))))
        return text

    def integer_text(self, type_name="integer"):
        bits = INTEGERS[type_name]
        near = self.random.choice((0, 0, 1, 10, 100, 2 ** bits, 2 ** (bits - 1), 2 ** (bits // 2)))
        return str(self.random.choice((1, -1)) * near + self.random.randint(-2, 2))

    def date_text(self):
        year = self.random.choice((1, 4, 99, 1582, 1900, 1969, 1970, 1999, 2000, 2020, 2024, 9999, 10000, 294246, 5874897))
        month = self.random.choice((1, 2, 2, 3, 6, 11, 12, 12))
        day = self.random.choice((1, 5, 15, 28, 29, 30, 31))
        plain = year < 1000 or self.random.random() < 0.9
        text = f"{year:04}-{month:02}-{day:02}" if plain else f"{year}-{month}-{day}"
        return text + self.random.choice((" BC", "", "", "", "", "", "", "")) if year < 4000 else text

    def time_text(self):
        hour, minute, second = self.random.choice((0, 1, 12, 23, 24)), self.random.choice((0, 1, 30, 59)), self.random.choice((0, 1, 30, 59))
        text = f"{hour:02}:{minute:02}"
        if self.random.random() < 0.8:
            text += f":{second:02}"
            if self.random.random() < 0.4:
                text += "." + self.random.choice(("5", "123456", "000001", "999999", "9999994", "1234565"))
        return text

    def timestamp_text(self):
        year = self.random.choice((1, 99, 1900, 1969, 1970, 1999, 2000, 2020, 2024, 9999, 10000))
        return f"{year:04}-{self.random.choice((1, 2, 3, 12)):02}-{self.random.choice((1, 15, 28, 29, 31)):02}{self.random.choice((' ', ' ', 'T'))}{self.time_text()}"

    def zone(self):
        return self.random.choice(("", "Z", "+00", "+02", "-05:30", "+0100", "-12", "+15:59"))

    def interval_amount(self):
        amount = self.random.choice((0, 1, 2, 5, 13, 59, 60, 100, 1000, 178956970, 2147483647, 2562047788, 9223372036854775807, 9999999999))
        if self.random.random() < 0.6:
            amount = self.random.randint(0, 40)
        text = self.random.choice(("", "", "", "-", "+")) + str(amount)
        return text + ("." + self.digits(7) if self.random.random() < 0.25 else "")

    def interval_text(self):
        form = self.random.random()
        if form < 0.08:
            return self.random.choice(("P1Y2M3DT4H5M6S", "PT36H", "P1W", "P-1Y", "PT1.5S", "P1.5D", "PT", "P1H", "PT1D"))
        parts = []
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            parts.append(f"{self.interval_amount()}{self.random.choice((' ', ' ', ''))}{self.random.choice(INTERVAL_UNITS)}")
        if self.random.random() < 0.25:
            parts.append(self.random.choice(("", "-")) + self.random.choice((self.time_text(), f"{self.random.randint(0, 200)}:{self.random.randint(0, 70):02}")))
        if self.random.random() < 0.1:
            parts.insert(0, self.random.choice(("1-2", "-3-11", "0-12", "5")))
        if self.random.random() < 0.05:
            parts.append(self.random.choice(("5", "47.210", "nonsense")))
        if self.random.random() < 0.1:
            parts.append("ago")
        return " ".join(parts)

    def text_for(self, type_name):
        """Text that is usually a value of the type."""
        if type_name == "boolean":
            return self.random.choice(("true", "t", "tr", "yes", "y", "on", "1", "false", "f", "fal", "no", "n", "off", "of", "0", "o", "2", "", " TRUE ", "T"))
        if type_name in INTEGERS:
            return self.random.choice((self.integer_text(type_name), self.integer_text(type_name), self.number_text(False), " 5 ", "", "1e2", "0x1f", "1_000", "- 5"))
        if type_name in DECIMALS:
            return self.random.choice((self.number_text(), self.number_text(), self.number_text(), " 1.5 ", "", "1e", "1.2.3", "e5", "15e-1", "14.9e-1"))
        if type_name in FLOATS:
            return self.random.choice((self.number_text(), self.number_text(), "NaN", "inf", "-Infinity", "infinity", "1e400", "1e-400", "3.4e38", "1e39", "1e-46", "", " 7"))
        if type_name == "date":
            return self.random.choice((self.date_text(), self.date_text(), self.date_text().removesuffix(" BC") + " 12:00:00", " " + self.date_text() + " ", "2020-13-01",
                                       "2020-00-10", "", "4714-11-23 BC"))
        if type_name == "time":
            return self.random.choice((self.time_text(), self.time_text(), " " + self.time_text(), "25:00", "12:60", "12", "1:2:3", "24:00:01"))
        if type_name == "timestamp":
            return self.random.choice((self.timestamp_text(), self.timestamp_text(), self.date_text(), self.timestamp_text() + self.zone(), "2020-01-01 25:00"))
        if type_name == "timestamptz":
            return self.random.choice((self.timestamp_text() + self.zone(), self.timestamp_text(), self.timestamp_text() + " " + self.zone()))
        if type_name == "interval":
            return self.interval_text()
        if type_name == "bytea":
            return self.random.choice(("\\x0aff", "\\x", "abc", "\\000a", "\\\\", "\\x0", "\\xzz", "\\", "\\400"))
        return self.random.choice(WORDS)

    def damaged(self, text):
        """With one character changed, removed or added."""
        place = self.random.randint(0, len(text))
        return text[:place] + self.random.choice(("", *"0159 -+.:eEx_,'TZ")) + text[place + self.random.randint(0, 1):]

    # ---- values of a type

    def literal(self, type_name):
        scalar = self.constant_of(type_name)
        return Scalar(self.column(scalar.text), type_name)

    def column(self, text):
        """The constant, or a column with its value."""
        if self.columns is None:
            return text
        self.columns.append(text)
        return f"t.c{len(self.columns)}"

    def constant_of(self, type_name):
        if self.random.random() < 0.06:
            return Scalar(f"NULL::{type_name}", type_name)
        if type_name == "boolean":
            return Scalar(self.random.choice(("true", "false")), type_name)
        if type_name in INTEGERS:
            bits = INTEGERS[type_name]
            value = max(-2 ** bits, min(2 ** bits - 1, int(self.integer_text(type_name))))
            return Scalar(f"({value})::{type_name}" if self.random.random() < 0.5 else f"CAST('{value}' AS {type_name})", type_name)
        if type_name in DECIMALS:
            precision, scale = map(int, type_name[8:-1].split(","))
            value = self.random.randint(-10 ** self.random.randint(0, precision) + 1, 10 ** self.random.randint(0, precision) - 1)
            text = f"{'-' if value < 0 else ''}{abs(value) // 10 ** scale}" + (f".{abs(value) % 10 ** scale:0{scale}}" if scale else "")
            return Scalar(f"({text})::{type_name}", type_name)
        if type_name in FLOATS:
            text = self.random.choice(FLOAT_VALUES)
            return Scalar(f"'{text}'::{type_name}", type_name)
        if type_name == "date":
            return Scalar(f"DATE '{self.random.choice(DATE_VALUES)}'", type_name)
        if type_name == "time":
            return Scalar(f"TIME '{self.random.choice(('00:00:00', '12:34:56.789', '23:59:59.999999', '06:00'))}'", type_name)
        if type_name in ("timestamp", "timestamptz"):
            moment = self.random.choice(("2020-02-29 12:34:56.789", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00", "2024-12-31 06:00:00",
                                         "294246-12-31 23:59:59.999999", "4714-11-24 00:00:00 BC", "0001-12-31 12:00:00 BC"))
            return Scalar(f"{type_name} '{moment}'", type_name)
        if type_name == "interval":
            return Scalar(f"INTERVAL '{self.random.choice(INTERVAL_VALUES)}'", type_name)
        if type_name == "bytea":
            return Scalar(self.random.choice(("'\\x0aff'::bytea", "'\\x'::bytea", "'abc'::bytea")), type_name)
        return Scalar(f"'{self.random.choice(WORDS)}'::varchar", type_name)

    def of_type(self, type_name, depth):
        if depth <= 0 or self.random.random() < 0.3:
            return self.literal(type_name)
        makers = [self.conditional, self.conditional]
        if type_name == "boolean":
            makers += [self.comparison, self.comparison, self.logical, self.null_test, self.membership, self.between, self.like, self.row_comparison]
        elif type_name in INTEGERS or type_name in FLOATS:
            makers += [self.arithmetic] * 4 + [self.number_function]
        elif type_name == "varchar":
            makers += [self.text_function] * 5
        elif type_name in DATE_LIKE or type_name in ("interval", "time"):
            makers += [self.date_arithmetic] * 4
        return self.random.choice(makers)(type_name, depth - 1)

    def conditional(self, type_name, depth):
        form = self.random.choice(("case", "coalesce", "nullif", "greatest", "least", "simple case"))
        first, second = self.of_type(type_name, depth), self.of_type(type_name, depth)
        approximate = first.approximate or second.approximate
        if form == "case":
            condition = self.of_type("boolean", depth)
            otherwise = f" ELSE {second.text}" if self.random.random() < 0.8 else ""
            return Scalar(f"CASE WHEN {condition.text} THEN {first.text}{otherwise} END", type_name, approximate)
        if form == "simple case":
            other = self.random.choice(TYPES)
            operand, value = self.literal(other), self.literal(other)
            return Scalar(f"CASE {operand.text} WHEN {value.text} THEN {first.text} ELSE {second.text} END", type_name, approximate)
        return Scalar(f"{form}({first.text}, {second.text})", type_name, approximate)

    def comparison(self, _, depth):
        left, right = self.comparable_pair(depth)
        name = self.random.choice((*COMPARISONS, "IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
        return Scalar(f"({left.text} {name} {right.text})", "boolean")

    def comparable_pair(self, depth):
        family = self.random.choice((tuple(INTEGERS), DECIMALS, (*INTEGERS, *DECIMALS), FLOATS, (*INTEGERS, *FLOATS), DATE_LIKE, ("time",), ("interval",), ("varchar",),
                                     ("bytea",), ("boolean",)))
        return self.of_type(self.random.choice(family), depth), self.of_type(self.random.choice(family), depth)

    def logical(self, _, depth):
        left, right = self.of_type("boolean", depth), self.of_type("boolean", depth)
        return Scalar(self.random.choice((f"({left.text} AND {right.text})", f"({left.text} OR {right.text})", f"(NOT {left.text})")), "boolean")

    def null_test(self, _, depth):
        if self.random.random() < 0.5:
            test = self.random.choice(("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"))
            return Scalar(f"({self.of_type('boolean', depth).text} IS {test})", "boolean")
        value = self.of_type(self.random.choice(TYPES), depth)
        return Scalar(f"({value.text} IS {self.random.choice(('', 'NOT '))}NULL)", "boolean")

    def membership(self, _, depth):
        type_name = self.random.choice(TYPES)
        values = [self.of_type(type_name, depth if i == 0 else 0).text for i in range(self.random.randint(2, 4))]
        if self.random.random() < 0.1:
            values.append("NULL")
        name = self.random.choice(("IN", "NOT IN"))
        if self.random.random() < 0.3:
            rows = " UNION ALL ".join(f"SELECT {value}" for value in values[1:])
            name = self.random.choice(("IN", "NOT IN", *(f"{comparison} {kind}" for comparison in COMPARISONS for kind in ("ANY", "ALL"))))
            return Scalar(f"({values[0]} {name} ({rows}))", "boolean")
        return Scalar(f"({values[0]} {name} ({', '.join(values[1:])}))", "boolean")

    def between(self, _, depth):
        type_name = self.random.choice(TYPES)
        values = [self.of_type(type_name, depth if i == 0 else 0).text for i in range(3)]
        return Scalar(f"({values[0]} {self.random.choice(('', 'NOT '))}BETWEEN {self.random.choice(('', 'SYMMETRIC '))}{values[1]} AND {values[2]})", "boolean")

    def row_comparison(self, _, depth):
        types = [self.random.choice(TYPES) for _ in range(self.random.randint(2, 3))]

        def row():
            return ", ".join(self.small_literal(type_name) for type_name in types)
        form = self.random.random()
        if form < 0.4:
            name = self.random.choice((*COMPARISONS, "IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
            return Scalar(f"(({row()}) {name} ({row()}))", "boolean")
        if form < 0.55:
            return Scalar(f"(({row()}) {self.random.choice(('IN', 'NOT IN'))} (({row()}), ({row()})))", "boolean")
        if form < 0.65:
            return Scalar(f"(({row()}) IS {self.random.choice(('', 'NOT '))}NULL)", "boolean")
        rows = " UNION ALL ".join(f"SELECT {row()}" for _ in range(self.random.randint(1, 3)))
        empty = " WHERE false" if "UNION" not in rows and self.random.random() < 0.2 else ""
        name = self.random.choice(("IN", "NOT IN", *(f"{comparison} {kind}" for comparison in COMPARISONS for kind in ("ANY", "ALL"))))
        return Scalar(f"(({row()}) {name} ({rows}{empty}))", "boolean")

    def small_literal(self, type_name):
        """One of few values, so that the first fields of rows are often equal."""
        if self.random.random() < 0.2:
            return f"NULL::{type_name}"
        if type_name in INTEGERS or type_name in FLOATS or type_name in DECIMALS:
            return f"{self.random.randint(1, 2)}::{type_name}"
        return self.literal(type_name).text

    def like(self, _, depth):
        text = self.of_type("varchar", depth).text
        pattern = "".join(self.random.choice(("%", "_", "a", "b", "c", "A", "\\%", "\\\\", "ä", " ")) for _ in range(self.random.randint(0, 4)))
        name = self.random.choice(("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"))
        escape = self.random.choice(("", "", "", " ESCAPE 'a'", " ESCAPE ''", " ESCAPE '\\'"))
        return Scalar(f"({text} {name} {quoted(pattern)}{escape})", "boolean")

    def arithmetic(self, type_name, depth):
        left, right = self.of_type(type_name, depth), self.of_type(type_name, depth)
        names = ("+", "-", "*", "/") + (("%", "&", "|", "#") if type_name in INTEGERS else ())
        name = self.random.choice(names)
        if self.random.random() < 0.1:
            return Scalar(f"(- {left.text})", type_name)
        return Scalar(f"({left.text} {name} {right.text})", type_name, left.approximate or right.approximate)

    def number_function(self, type_name, depth):
        value = self.of_type(type_name, depth)
        if type_name in INTEGERS:
            other = self.of_type(type_name, depth)
            return self.random.choice((Scalar(f"abs({value.text})", type_name), Scalar(f"mod({value.text}, {other.text})", type_name),
                                       Scalar(f"({value.text} << {self.random.randint(0, 5)})", type_name), Scalar(f"(~ {value.text})", type_name)))
        return Scalar(f"abs({value.text})", type_name)

    def float_function(self):
        value, other = self.literal(self.random.choice(("double precision", "integer"))).text, self.literal("double precision").text
        exact = (f"round({value}::double precision)", f"trunc({value}::double precision)", f"ceil({value}::double precision)", f"floor({value}::double precision)", f"sqrt({value})",
                 f"({value} + {other})", f"({value} * {other})", f"({value} / {other})", f"({value} - {other})")
        close = (f"exp({value})", f"ln({value}::double precision)", f"log({value}::double precision)", f"power({value}::double precision, {other})", f"cbrt({value})", f"sin({value})",
                 f"cos({value})", f"atan({value})", f"atan2({value}, {other})", f"degrees({value})", f"radians({value})", f"tanh({value})")
        return Scalar(self.random.choice(exact), "double precision") if self.random.random() < 0.5 else Scalar(self.random.choice(close), "double precision", approximate=True)

    def date_format(self):
        patterns = [self.random.choice(DATE_PATTERNS) for _ in range(self.random.randint(1, 4))]
        return Scalar(f"to_char({self.literal('timestamp').text}, {quoted(self.random.choice((' ', '-', '')).join(patterns))})", "varchar")

    def integer_function(self):
        first, second = self.literal("bigint").text, self.literal("bigint").text
        return Scalar(self.random.choice((f"gcd({first}, {second})", f"lcm({first}, {second})", f"mod({first}, {second})", f"factorial({self.random.randint(-1, 20)})",
                                          f"width_bucket({self.literal('integer').text}::double precision, 0, 100, {self.random.randint(-1, 10)})",
                                          f"(date {quoted(self.date_text())} - date {quoted(self.date_text())})")), "bigint")

    def text_function(self, _, depth):
        text, other = self.of_type("varchar", depth).text, self.literal("varchar").text
        count = self.random.choice((-100, -3, -2, -1, 0, 1, 2, 3, 5, 100))
        return Scalar(self.random.choice((
            f"upper({text})", f"lower({text})", f"initcap({text})", f"trim({text})", f"ltrim({text}, {other})", f"rtrim({text}, {other})", f"btrim({text}, {other})",
            f"left({text}, {count})", f"right({text}, {count})", f"substring({text}, {count})", f"substring({text}, {count}, {abs(count) - 1})",
            f"substring({text} FROM {count} FOR {self.random.randint(-1, 4)})", f"lpad({text}, {count}, {other})", f"rpad({text}, {count}, {other})", f"lpad({text}, {count})",
            f"replace({text}, {other}, {self.literal('varchar').text})", f"translate({text}, {other}, {self.literal('varchar').text})", f"reverse({text})",
            f"repeat({text}, {min(count, 5)})", f"({text} || {other})", f"concat({text}, {other})", f"concat_ws(',', {text}, {other})",
            f"split_part({text}, {other}, {count})", f"overlay({text} PLACING {other} FROM {count})", f"md5({text})", f"chr({self.random.choice((0, 65, 228, 26085, -1, 1114112))})",
            f"({text})::varchar({self.random.choice((1, 3, 10))})", f"(length({text}))::varchar", f"(strpos({text}, {other}))::varchar", f"(ascii({text}))::varchar",
            f"(position({other} IN {text}))::varchar", f"trim(BOTH {other} FROM {text})", f"trim(LEADING FROM {text})", f"(char_length({text}))::varchar",
            f"overlay({text} PLACING {other} FROM {count} FOR {self.random.randint(-1, 4)})", f"({text} || {self.literal(self.random.choice((*INTEGERS, 'date', 'boolean'))).text})",
            f"concat({text}, {self.literal(self.random.choice((*INTEGERS, 'date', 'time', 'interval'))).text}, NULL)", f"(bit_length({text}))::varchar",
            f"(octet_length({text}))::varchar", f"(starts_with({text}, {other}))::varchar", f"to_hex({self.literal('bigint').text})")), "varchar")

    def date_arithmetic(self, type_name, depth):
        interval = self.of_type("interval", depth).text
        value = self.of_type(type_name, depth).text
        if type_name == "interval":
            kind = self.random.choice(("timestamp", "time"))
            return Scalar(self.random.choice((
                f"({value} + {interval})", f"({value} - {interval})", f"(- {value})", f"({value} * {self.random.choice(('2', '-1', '1.5', '0.1', '1000000', '0'))})",
                f"({value} / {self.random.choice(('2', '3', '0.7', '7', '0'))})", f"({self.of_type(kind, depth).text} - {self.of_type(kind, depth).text})",
                f"age({self.literal('timestamp').text}, {self.literal('timestamp').text})", f"date_trunc('{self.random.choice(('year', 'month', 'day', 'hour', 'minute', 'second'))}', {value})",
                f"({value})::interval {self.random.choice(INTERVAL_FIELDS)}")), type_name)
        if type_name == "date":
            days = self.random.choice(("1", "-1", "365", "1000000", "2147483647", "-800000"))
            return Scalar(self.random.choice((f"({value} + {days})", f"({value} - {days})", f"({value} + {interval})::date", f"({self.of_type('timestamp', depth).text})::date",
                                              f"make_date({self.random.choice((2020, 0, -5, 1999))}, {self.random.randint(1, 13)}, {self.random.randint(1, 31)})")), type_name)
        forms = [f"({value} + {interval})", f"({value} - {interval})"]
        if type_name == "timestamp":
            unit = self.random.choice(("millennium", "century", "decade", "year", "quarter", "month", "week", "day", "hour", "minute", "second", "milliseconds", "microseconds"))
            forms += [f"date_trunc('{unit}', {value})", f"({self.literal('date').text} + {self.literal('time').text})", f"({self.literal('date').text} + {interval})"]
        return Scalar(self.random.choice(forms), type_name)

    # ---- whole expressions

    def text_cast(self):
        type_name = self.random.choice([name for name in TYPES if name != "varchar"] + ["interval", "interval", *DECIMALS])
        plain = self.text_for(type_name)
        written = self.damaged(plain) if self.random.random() < 0.2 else plain
        text = quoted(written)
        if type_name == "interval" and self.random.random() < 0.3:
            fields = self.random.choice(INTERVAL_FIELDS)
            amount = self.random.choice((self.interval_amount(), self.interval_amount(), "1-2", "1 2", "1 2:03:04", "2:03", "3 4:05", self.interval_text()))
            return Scalar(f"INTERVAL {quoted(amount)} {fields}", type_name)
        cast = self.random.choice((f"{text}::{type_name}", f"CAST({text} AS {type_name})", f"({self.column(text + '::varchar')})::{type_name}"))
        return Scalar(cast, type_name, damaged=written if written != plain else "")

    def value_cast(self):
        source, target = self.random.choice(TYPES), self.random.choice(TYPES)
        value = self.of_type(source, self.random.choice((0, 0, 1)))
        if source in FLOATS and target in DECIMALS:
            # PostgreSQL only uses the first 6 or 15 digits.
            value = Scalar(f"'{self.random.choice(('0.5', '-2.5', '1.115', '0.285', '1e5', '-0.0625', 'NaN', 'inf', '1e-10'))}'::{source}", source)
        if source in FLOATS and target == "varchar":
            # Infinity, NaN and large numbers are written differently.
            value = Scalar(self.column(f"'{self.random.choice(('0.5', '-2.5', '1.115', '0.0001', '100000', '-0', '3'))}'::{source}"), source)
        return Scalar(f"({value.text})::{target}", target, value.approximate)

    def constant(self):
        number = self.number_text(exponent=False).lstrip("+")
        target = self.random.choice((*FLOATS, *FLOATS, *DECIMALS, *INTEGERS))
        return Scalar(f"({number})::{target}", target)

    def decimal_arithmetic(self):
        left, right = (self.literal(self.random.choice((*DECIMALS, *INTEGERS))).text for _ in range(2))
        name = self.random.choice(("+", "-", "*", "/", "%"))
        function = self.random.choice(("", "", "", "round", "ceil", "floor", "trunc", "abs", "sign"))
        if function:
            digits = f", {self.random.randint(-2, 4)}" if function in ("round", "trunc") and self.random.random() < 0.5 else ""
            return Scalar(f"{function}({self.literal(self.random.choice(DECIMALS)).text}{digits})", "numeric")
        return Scalar(f"({left} {name} {right})", "numeric", approximate=name == "/")

    def mixed_conditional(self):
        family = self.random.choice(((*INTEGERS, *DECIMALS), (*INTEGERS, *DECIMALS, *FLOATS), DATE_LIKE))
        first, second = (self.literal(self.random.choice(family)).text for _ in range(2))
        return Scalar(f"{self.random.choice(('coalesce', 'nullif', 'greatest', 'least'))}({first}, {second})", "mixed")

    def untyped(self):
        """A literal in quotes takes the type of the other operand."""
        type_name = self.random.choice([name for name in TYPES if name != "varchar"])
        value, text = self.literal(type_name).text, quoted(self.text_for(type_name))
        forms = [f"({value} {self.random.choice(COMPARISONS)} {text})", f"({text} {self.random.choice(COMPARISONS)} {value})", f"coalesce(NULL, {text}, {value})", f"nullif({value}, {text})",
                 f"greatest({text}, {value})", f"CASE WHEN {self.literal('boolean').text} THEN {text} ELSE {value} END", f"({value} IN ({text}, NULL))", f"({value} BETWEEN {text} AND {value})",
                 f"({value} IS DISTINCT FROM {text})", f"(({value}, 1) = ({text}, '1'))"]
        if type_name in INTEGERS or type_name in FLOATS:
            forms += [f"({value} + {text})", f"({text} * {value})"]
        return Scalar(self.random.choice(forms), type_name)

    def mixed_list(self):
        family = self.random.choice(((*INTEGERS, *DECIMALS), (*INTEGERS, *DECIMALS, *FLOATS), DATE_LIKE))
        values = [self.small_literal(self.random.choice(family)) for _ in range(self.random.randint(2, 4))]
        listed = ", ".join(values[1:])
        return Scalar(self.random.choice((f"({values[0]} IN ({listed}))", f"({values[0]} NOT IN ({listed}))", f"({values[0]} BETWEEN {values[1]} AND {values[-1]})")), "boolean")

    def extracted(self):
        type_name = self.random.choice((*DATE_LIKE, "time", "interval"))
        clock = ("hour", "minute", "second", "microseconds")  # milliseconds are integers here
        calendar = ("millennium", "century", "decade", "year", "quarter", "month", "day")
        weeks = ("isoyear", "week", "dow", "isodow", "doy")
        fields = {"time": clock, "interval": clock + calendar, "date": calendar + weeks}.get(type_name, clock + calendar + weeks)
        field = self.random.choice(("epoch", *fields))
        value = self.of_type(type_name, 1).text
        return Scalar(self.random.choice((f"extract({field} FROM {value})", f"date_part('{field}', {value})")), "numeric")

    def row(self):
        return self.row_comparison("boolean", 0)

    def nested(self):
        return self.of_type(self.random.choice(TYPES), self.random.choice((1, 2, 3)))

    def expression(self):
        weights = {self.text_cast: 20, self.value_cast: 15, self.constant: 8, self.decimal_arithmetic: 6, self.mixed_conditional: 5, self.extracted: 5, self.float_function: 4,
                   self.integer_function: 3, self.date_format: 3, self.untyped: 8, self.mixed_list: 3, self.row: 6, self.nested: 45}
        maker = self.random.choices(list(weights), list(weights.values()))[0]
        self.columns = [] if self.random.random() < 0.4 else None
        scalar = maker()
        columns, self.columns = self.columns, None
        if not columns:
            return scalar
        names = ", ".join(f"c{number + 1}" for number in range(len(columns)))
        return replace(scalar, table=f"(VALUES ({', '.join(columns)})) AS t({names})")
