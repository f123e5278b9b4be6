"""Runs one unittest file and writes {"matched", "passed", "skipped", "failures": [[name, text]]} as JSON.

Usage: tools/run_python_suite.py TEST_FILE RESULT_FILE [REGEX]; runs the tests whose `path.Class.test` matches. tools/run_tests.py
calls this once per file, so that a crash affects no other file."""

import importlib.util
import json
import re
import sys
import unittest
from pathlib import Path


class CountingResult(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):  # noqa: N802 (unittest's own name)
        super().addSuccess(test)
        self.passed += 1


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def main():
    path, answer = Path(sys.argv[1]), Path(sys.argv[2])
    pattern = re.compile(sys.argv[3] if len(sys.argv) > 3 else "", re.IGNORECASE)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)

    tests = [t for t in flatten(unittest.defaultTestLoader.loadTestsFromModule(module)) if pattern.search(f"{path}.{t.id()}")]
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=CountingResult).run(unittest.TestSuite(tests))
    failures = [[str(test), text] for test, text in result.failures + result.errors]
    failures += [[str(test), "passed, though it is marked as an expected failure"] for test in result.unexpectedSuccesses]
    answer.write_text(json.dumps({
        "matched": len(tests),
        "passed": result.passed,
        "skipped": len(result.skipped),
        "failures": failures,
    }), encoding="utf-8")


if __name__ == "__main__":
    main()
