"""The comparison with PostgreSQL reports planted differences and only skips those that docs/sql.md lists. Stand-ins play both
engines, so no server is needed; the messages of listed errors come from Pistachio itself."""

import re
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.oracle import two_dialects
from tests.oracle.scalar_generator import Scalar, ScalarGenerator, quoted
from tests.oracle.two_dialects import DATE_TYPES, differences, evaluate, is_listed, same_answer

SEED = 1811
COUNT = 4000
NOON = ("12:00:00", "time without time zone")


class TolerantServer:
    """Has a value for every query."""

    @staticmethod
    def evaluate(queries):
        return [NOON for _ in queries]


def found_with(evaluate_ours):
    """Indexes of the expressions that are reported if Pistachio answers like this."""
    return {difference.index for difference in differences(TolerantServer(), SEED, COUNT, evaluate_ours)}


def refuse_dates(queries):
    """Rejects each cast of a text to a date or time, as Pistachio words it; has the server's value for everything else."""
    return [refusal_of(query) or NOON[:1] for query in queries]


def refusal_of(query):
    literals = set(re.findall("'((?:[^']|'')*)'", query))
    literal = "'(?:[^']|'')*'"
    cast = re.match(rf"SELECT (?:CAST\(|\()?(?:{literal}(?:::varchar)?|t\.c1)\)?(?: AS |::)(\w+)\)? AS v(?: FROM \(VALUES \({literal}::varchar\)\) AS t\(c1\))?$", query)
    if cast is None or cast[1] not in DATE_TYPES or len(literals) != 1:
        return None
    text = literals.pop().replace("''", "'").strip()
    return f"'{text}' is not a valid {DATE_TYPES[cast[1]]}"


class DamagedDates(unittest.TestCase):
    def is_skipped(self, damaged, type_name="time", error=None, theirs=NOON):
        error = error or f"'{damaged}' is not a valid {DATE_TYPES[type_name]}"
        return is_listed(Scalar(f"'{damaged}'::{type_name}", type_name, damaged=damaged), error, theirs)

    def test_refused_stray_character_is_skipped(self):
        for type_name, damaged in (("time", "1:2:x3"), ("time", "00:01:015"), ("time", ":01:59:59"), ("date", "0004-03-028"), ("date", "190--03-05 12:00:00"),
                                   ("timestamp", "2020-01-29,01:00:59"), ("timestamptz", "_2024-12-31T23:59:00-12")):
            with self.subTest(damaged):
                self.assertTrue(self.is_skipped(damaged, type_name))

    def test_refused_undamaged_text_is_reported(self):
        scalar = Scalar("'00:01:015'::time", "time")
        self.assertFalse(is_listed(scalar, "'00:01:015' is not a valid TIME", NOON))

    def test_refused_iso_form_is_reported(self):
        for type_name, text in (("time", "12:34:56.5"), ("time", "1:2"), ("date", "2020-02-29"), ("date", "0044-03-15 BC"), ("date", "2020-1-5 12:00:00"),
                                ("timestamp", "2020-02-29T12:00"), ("timestamptz", "2020-02-29 12:00:00.5+02"), ("timestamptz", "2020-02-29 12:00:00 Z")):
            with self.subTest(text):
                self.assertFalse(self.is_skipped(text, type_name))

    def test_other_errors_are_reported(self):
        for error in ("'1:2:3' is not a valid TIME", "'1:2:x3' is not a valid DATE", "'1:2:x3' is out of range for TIME", "internal error: '1:2:x3' is not a valid TIME"):
            with self.subTest(error):
                self.assertFalse(self.is_skipped("1:2:x3", error=error))

    def test_null_is_not_a_value(self):
        self.assertFalse(self.is_skipped("1:2:x3", theirs=(None, NOON[1])))

    def test_different_value_is_reported(self):
        scalar = Scalar("'1:2:x3'::time", "time", damaged="1:2:x3")
        for ours, theirs in (((NOON[0],), ("12:00:01", NOON[1])), ((None,), NOON), ((NOON[0],), "invalid input syntax")):
            with self.subTest(ours=ours, theirs=theirs):
                self.assertFalse(same_answer(ours, theirs, approximate=False))
                self.assertFalse(is_listed(scalar, ours, theirs))


class FusedFractions(unittest.TestCase):
    def is_skipped(self, text, ours, theirs, type_name="interval", fused=True):
        with mock.patch.object(two_dialects, "HAS_FUSED_OPERATIONS", fused):
            return is_listed(Scalar(text, type_name), (ours,), (theirs, type_name))

    def test_rounding_of_long_interval_is_skipped(self):
        text = "(INTERVAL '2147483647 days' * 0.1)"
        self.assertTrue(self.is_skipped(text, "214748364 days 16:48:00.001545", "214748364 days 16:48:00.00103"))
        self.assertTrue(self.is_skipped(f"(TIME '06:00' - {text})", "05:59:59.9136", "06:00:00", "time without time zone"))
        self.assertTrue(self.is_skipped(f"extract(second FROM {text})", "0.001545", "0.001030", "numeric"))
        self.assertTrue(self.is_skipped(f"extract(microseconds FROM {text})", "1545", "1030", "numeric"))

    def test_greater_difference_is_reported(self):
        text = "(INTERVAL '2147483647 days' * 0.1)"
        self.assertFalse(self.is_skipped(text, "214748364 days 16:48:00.2", "214748364 days 16:48:00.00103"))
        self.assertFalse(self.is_skipped(text, "214748363 days 16:48:00.001545", "214748364 days 16:48:00.00103"))
        self.assertFalse(self.is_skipped(text, "214748364 days -16:48:00", "214748364 days 16:48:00"))
        self.assertFalse(self.is_skipped(text, None, "214748364 days 16:48:00"))
        self.assertFalse(self.is_skipped(f"extract(second FROM {text})", "0.2", "0.001", "numeric"))

    def test_short_interval_may_differ_by_one_microsecond(self):
        text = "(INTERVAL '1.5 hours' * 0.1)"
        self.assertTrue(self.is_skipped(text, "00:09:00.000001", "00:09:00"))
        self.assertFalse(self.is_skipped(text, "00:09:00.000002", "00:09:00"))

    def test_other_expressions_and_processors_must_agree(self):
        self.assertFalse(self.is_skipped("(INTERVAL '2147483647 days' * 2)", "00:00:00.000001", "00:00:00"))
        self.assertFalse(self.is_skipped("(INTERVAL '1 day' * 0.1)", "00:00:00.000001", "00:00:00", fused=False))


class LyingEngine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        generator = ScalarGenerator(SEED)
        cls.scalars = [generator.expression() for _ in range(COUNT)]

    def test_wrong_value_is_always_reported(self):
        self.assertEqual(len(found_with(lambda queries: [("12:00:01",) for _ in queries])), COUNT)

    def test_unexpected_error_is_always_reported(self):
        self.assertEqual(len(found_with(lambda queries: ["internal error" for _ in queries])), COUNT)

    def test_only_damaged_dates_may_be_refused(self):
        found = found_with(refuse_dates)
        refused = {index for index, scalar in enumerate(self.scalars) if refusal_of(scalar.query)}
        damaged = {index for index in refused if self.scalars[index].damaged}
        self.assertLessEqual(refused - damaged, found)
        self.assertLessEqual(found, refused)
        self.assertGreater(len(refused - damaged), 3 * len(damaged))
        # Damage that leaves a well-formed text, such as another digit, is reported too.
        self.assertTrue(0 < len(found & damaged) < len(damaged))


class ListedErrors(unittest.TestCase):
    def test_wording_is_recognized(self):
        """Rewording a message in Pistachio must not turn a listed difference into a reported one."""
        cases = [(Scalar("'0x1.8'::double precision", "double precision"), ("1.5", "double precision")),
                 (Scalar("'0x1f'::real", "real"), ("31", "real")),
                 (Scalar("'15e -1'::decimal(4,1)", "decimal(4,1)"), ("1.5", "numeric")),
                 (Scalar("'P5'::interval", "interval"), ("00:00:05", "interval")),
                 (Scalar("'4:'::interval", "interval"), ("04:00:00", "interval")),
                 (Scalar("('a' LIKE 'b\\')", "boolean"), ("f", "boolean")),
                 (Scalar("('9999999999999999999999999999'::decimal(30,0) * 99999999999)", "numeric"), ("999999999989999999999999999900000000001", "numeric")),
                 (Scalar("(timestamptz '2020-01-01' + interval '2147483647 days' + NULL::interval)", "timestamptz"), (None, "timestamp with time zone")),
                 (Scalar("(timestamptz '2020-01-01' + interval '2147483647 days' + CASE WHEN false THEN interval '1 day' END)", "timestamptz"), (None, "timestamp with time zone")),
                 (Scalar("nullif(1, 2147483647 + 1 + NULL::integer)", "integer"), ("1", "integer"))]
        cases += [(Scalar(f"{quoted(text)}::{type_name}", type_name, damaged=text), (NOON[0], type_name))
                  for type_name, text in (("time", "1:2:x3"), ("date", ":2020-03-29"), ("timestamp", " 9999-02-15 23:00:.0"), ("timestamptz", "1969-01-29 '4:30:30 Z"))]
        for (scalar, theirs), ours in zip(cases, evaluate([scalar.query for scalar, _ in cases])):
            with self.subTest(scalar.query, ours=ours):
                self.assertIsInstance(ours, str)
                self.assertTrue(is_listed(scalar, ours, theirs))

    def test_range_error_without_null_is_reported(self):
        for text in ("(1 + 2)", "nullif(1 + 2, 4)", "CASE WHEN true THEN 1 + 2 ELSE 4 END"):
            with self.subTest(text):
                self.assertFalse(is_listed(Scalar(text, "integer"), "number out of range", ("3", "integer")))


if __name__ == "__main__":
    unittest.main()
