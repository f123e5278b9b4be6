"""Scalar expressions evaluated by Pistachio and by PostgreSQL, and where the two disagree."""

import decimal
import math
import platform
import re
import struct
import subprocess
from dataclasses import dataclass

from tests.oracle.scalar_generator import ScalarGenerator
from tests.support import pistachio_process
from tests.support.duckdb_oracle import split_records

MARK = "=== end of expression ==="
BATCH = 2000

DATE_TYPES = {"date": "DATE", "time": "TIME", "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMP WITH TIME ZONE"}
HAS_FUSED_OPERATIONS = platform.machine() in ("aarch64", "arm64")
FRACTIONS = r"[*] (0\.1|1\.5)|/ (0\.7|3|7)"  # of the generator's intervals
LONG_INTERVALS = "178956970 years|214748364[78] days|2562047764:|294246-|4714-|1000000[)]"

ISO_DATE = "[0-9]{3,7}-[0-9]{1,2}-[0-9]{1,2}"
ISO_TIME = "[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]*)?)?( *([zZ]|[-+][0-9]{1,2}(:?[0-9]{2})?))?"


@dataclass(frozen=True)
class Difference:
    seed: int
    index: int
    query: str
    ours: str
    theirs: str

    def __str__(self):
        return f"seed {self.seed} index {self.index}: {self.query}\n    Pistachio:  {self.ours}\n    PostgreSQL: {self.theirs}"


def evaluate(queries, *options, binary=None):
    """For each single-value query a tuple of the value (text, or None for NULL), or the text of an error (str)."""
    script = "".join(f"{query};\nSELECT '{MARK}' AS m;\n" for query in queries)
    command = [str(binary or pistachio_process.BINARY), "-f", "-", "--format", "csv", "-s", "on_error=continue", *options]
    finished = subprocess.run(command, input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace", check=False)
    answers = finished.stdout.split(f"m\n{MARK}\n")
    if len(answers) != len(queries) + 1:
        raise RuntimeError(f"status {finished.returncode} after {len(answers) - 1} of {len(queries)} queries, at {queries[len(answers) - 1]}: {answers[-1][-500:]}")
    return [answer_of(text) for text in answers[:-1]]


def answer_of(text):
    if "error: " in text:
        return text.split("error: ", 1)[1].split("\n")[0].strip()
    records = list(split_records("".join(line for line in text.splitlines(keepends=True) if not line.startswith("note: "))))
    return (records[1][0],)


def as_number(text):
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}.get(text) or decimal.Decimal(text)


def same_number(left, right, type_name, approximate):
    try:
        ours, theirs = as_number(left), as_number(right)
    except decimal.InvalidOperation:
        return False
    if type_name in ("real", "double precision") or approximate:
        ours, theirs = float(ours), float(theirs)
        if math.isnan(ours) or math.isnan(theirs):
            return math.isnan(ours) and math.isnan(theirs)
        if type_name == "real":
            # Both print the shortest digits that round-trip, but not always the same ones.
            ours, theirs = (struct.unpack("f", struct.pack("f", number))[0] for number in (ours, theirs))
        if approximate:
            return ours == theirs or abs(ours - theirs) <= 1e-12 * max(abs(ours), abs(theirs))
    return ours == theirs


def same_answer(ours, theirs, approximate):
    """`ours` is a tuple of the value, `theirs` of value and type; either may be an error."""
    if isinstance(ours, str) or isinstance(theirs, str):
        return isinstance(ours, str) and isinstance(theirs, str)
    (value,), (other, type_name) = ours, theirs
    if value is None or other is None:
        return value is None and other is None
    if type_name == "boolean":
        return value[:1] == other
    if type_name in ("smallint", "integer", "bigint", "numeric", "real", "double precision"):
        return same_number(value, other, type_name, approximate)
    return value == other


def is_listed(scalar, ours, theirs):
    """Whether docs/sql.md lists the difference."""
    if isinstance(ours, str):
        return not isinstance(theirs, str) and is_our_limit(scalar, ours, *theirs)
    if isinstance(theirs, str):
        return is_their_limit(scalar, theirs)
    return HAS_FUSED_OPERATIONS and is_fused_fraction(scalar, *ours, *theirs)


def is_fused_fraction(scalar, value, other, type_name):
    """Whether the values differ as little as INTERVAL times a fraction may: PostgreSQL fuses multiplication and addition on ARM."""
    if value is None or other is None or re.search(FRACTIONS, scalar.text) is None:
        return False
    if type_name == "numeric" and re.match("extract|date_part", scalar.text):
        ours, theirs = decimal.Decimal(value), decimal.Decimal(other)
        unit = 1000000 if "microseconds" in scalar.text else 1
    elif type_name.startswith(("interval", "time")):
        (date, ours), (other_date, theirs) = clock_apart(value), clock_apart(other)
        if date != other_date:
            return False
        unit = 1
    else:
        return False
    tolerance = decimal.Decimal("0.1" if re.search(LONG_INTERVALS, scalar.query) else "0.000001")
    return abs(ours - theirs) <= tolerance * unit


def clock_apart(text):
    """A time, timestamp or interval without its hours, minutes and seconds, and these in seconds."""
    clock = re.search("(-?)([0-9]+):([0-9]{2}):([0-9.]+)", text)
    if clock is None:
        return text.strip(), decimal.Decimal(0)
    seconds = (int(clock[2]) * 60 + int(clock[3])) * 60 + decimal.Decimal(clock[4])
    return (text[:clock.start()] + text[clock.end():]).strip(), -seconds if clock[1] else seconds


def is_our_limit(scalar, error, value, type_name):
    """Whether Pistachio may reject what has this value in PostgreSQL."""
    # A DECIMAL has 38 digits and no NaN.
    if "DECIMAL(38" in error or "38 digits" in error or (error == "number out of range" and "decimal(30,10)" in scalar.query):
        return True
    if re.search("[eE][+]?[0-9][0-9]' is out of range for DECIMAL", error):
        return True  # a quoted literal with more digits next to a decimal
    if type_name == "numeric" and value and (value in ("NaN", "Infinity", "-Infinity") or len(value.lstrip("-").replace(".", "")) > 38):
        return True
    # Timestamps are limited by 64 bits of microseconds, since 1970 here and since 2000 there; later dates have none. Differences wrap in
    # PostgreSQL 15.
    if (error in ("timestamp out of range", "interval out of range") and re.search("294246|2562047764", scalar.query)) or re.search("-.* is out of range for TIMESTAMP", error):
        return True
    if type_name.startswith("timestamp") and re.match("2942(4[789]|[567])", value or ""):
        return True
    # There, a call with a NULL constant is NULL before its other arguments are evaluated. A CASE without ELSE can be such a constant.
    null = "NULL|THEN (?:(?!ELSE).)*END"
    is_null = (value is None or re.search("greatest|least|coalesce", scalar.text)) and re.search(f"{null}|nullif", scalar.query)
    is_null_operand = "nullif" in scalar.text and re.search(null, scalar.query)
    if (is_null or is_null_operand) and re.search("out of range|division by zero", error):
        return True
    # ISO intervals need a letter after each number, years a number of months after the hyphen, hours one of minutes.
    if re.search(r"('P|[0-9]- |[0-9]:[^0-9]).* is not a valid INTERVAL", error):
        return True
    # PostgreSQL 15 accepts spaces before the digits of an exponent.
    if "is not a valid DECIMAL" in error and re.search("[eE] +[-+]?[0-9]", error):
        return True
    # PostgreSQL 15 accepts hexadecimal floating-point numbers.
    if re.search("'[-+]?0[xX][^']*' is not a valid (REAL|DOUBLE)", error):
        return True
    # PostgreSQL skips stray characters and surplus digits in dates and times.
    if is_refusal_of_damaged_date(scalar, error):
        return value is not None
    # Always an error here; there only if the text reaches the end of the pattern.
    return "LIKE pattern ends in its escape" in error


def is_refusal_of_damaged_date(scalar, error):
    """Whether Pistachio rejects a date or time that the generator damaged. Text that is still in ISO form must be accepted."""
    text = scalar.damaged.strip()
    is_refusal = scalar.type in DATE_TYPES and error == f"'{text}' is not a valid {DATE_TYPES[scalar.type]}"
    form = ISO_TIME if scalar.type == "time" else f"{ISO_DATE}([ tT]{ISO_TIME})?( BC| bc)?"
    return scalar.damaged != "" and is_refusal and re.fullmatch(form, text) is None


def is_their_limit(scalar, error):
    """Whether PostgreSQL may reject what has a value in Pistachio."""
    # There, constant branches that are not taken are evaluated.
    if scalar.has_branches and re.search("cannot cast|syntax error|does not exist", error) is None:
        return True
    # Here, fields of a date need no timestamp, and items of IN are compared one by one.
    if error == "date out of range for timestamp" and re.search("date_part| IN [(]", scalar.text):
        return True
    # Here, BOOLEAN casts to and from every number, and underflow is 0.
    other = "(smallint|bigint|numeric|real|double precision)"
    return "underflow" in error or re.fullmatch(f"cannot cast type (boolean to {other}|{other} to boolean)", error) is not None


def differences(server, seed, count, evaluate_ours=evaluate):
    """The differences among `count` expressions of a seed; `server` is a PostgresServer. Tests replace both engines."""
    generator = ScalarGenerator(seed)
    found = []
    for first in range(0, count, BATCH):
        scalars = [generator.expression() for _ in range(min(BATCH, count - first))]
        queries = [scalar.query for scalar in scalars]
        for offset, (scalar, ours, theirs) in enumerate(zip(scalars, evaluate_ours(queries), server.evaluate(queries))):
            if not same_answer(ours, theirs, scalar.approximate) and not is_listed(scalar, ours, theirs):
                found.append(Difference(seed, first + offset, scalar.query, shown(ours), shown(theirs)))
    return found


def shown(answer):
    return f"error: {answer}" if isinstance(answer, str) else " ".join("NULL" if part is None else repr(part) for part in answer)
