"""The reference pages match the program's own descriptions, and every function is described."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tools import reference_pages


class ReferencePages(unittest.TestCase):
    def test_pages_are_not_stale(self):
        self.assertEqual(reference_pages.stale_pages(), [], "run tools/reference_pages.py")

    def test_every_function_and_setting_is_described(self):
        for facts in reference_pages.rows_of("SHOW FUNCTIONS"):
            self.assertTrue(all(facts.values()), facts)
        for facts in reference_pages.rows_of("SHOW ALL"):
            self.assertTrue(facts["name"] and facts["takes"] and facts["description"], facts)


if __name__ == "__main__":
    unittest.main()
