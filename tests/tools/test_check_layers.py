"""tools/check_layers.py on small trees: a valid one passes, each kind of violation is found and named."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKER = ROOT / "tools" / "check_layers.py"

GOOD_TREE = {
    "src/layers.txt": "# comment\nbase:\nkernels/ops: base\nkernels/cpu: kernels/ops base\nstorage: kernels/ops base\n",
    "src/base/CMakeLists.txt": "pistachio_folder(NAME base LIBRARIES format_text)\n",
    "src/base/README.md": "Errors.\n",
    "src/base/error.h": "#pragma once\n#include <string>\n",
    "src/kernels/README.md": "Kernels.\n",
    "src/kernels/ops/CMakeLists.txt": "pistachio_folder(NAME kernels_ops USES base ATEN)\n",
    "src/kernels/ops/gather.h": '#include "base/error.h"\n',
    "src/kernels/cpu/CMakeLists.txt": "pistachio_folder(NAME kernels_cpu USES kernels_ops base LIBRARIES highway)\n",
    "src/kernels/cpu/gather.cpp": '#include "kernels/ops/gather.h"\n',
    "src/storage/CMakeLists.txt": "# needs kernels\npistachio_folder(NAME storage USES kernels base\n  LIBRARIES arrow_parquet)\n",
    "src/storage/README.md": "Files.\n",
    "src/storage/reader.cpp": '#include "kernels/ops/gather.h"\n#include "base/error.h"\n#include "storage/reader.h"\n',
    "src/storage/reader.h": "#pragma once\n",
}


class CheckLayersTest(unittest.TestCase):
    def check(self, changes):
        """Runs the checker on the good tree with `changes` (path -> text, None removes); returns exit status and output."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in (GOOD_TREE | changes).items():
                if text is not None:
                    (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                    (Path(folder) / path).write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, CHECKER, folder], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def assert_found(self, changes, *parts):
        status, output = self.check(changes)
        self.assertEqual(status, 1, output)
        for part in parts:
            self.assertIn(part, output)
        self.assertIn("layers: 1 problems", output)

    def test_good_tree_passes(self):
        self.assertEqual(self.check({}), (0, "layers: ok\n"))

    def test_upward_include(self):
        self.assert_found({"src/base/bad.cpp": '\n#include "storage/reader.h"\n'}, "src/base/bad.cpp:2", "storage/reader.h")

    def test_include_of_unlisted_sibling(self):
        self.assert_found({"src/storage/bad.cpp": '#include "kernels/cpu/gather.h"\n'}, "src/storage/bad.cpp:1", "kernels/cpu")

    def test_include_with_dots(self):
        self.assert_found({"src/storage/bad.cpp": '#include "../base/error.h"\n'}, 'without ".."')

    def test_uses_against_the_layers(self):
        self.assert_found({"src/base/CMakeLists.txt": "pistachio_folder(NAME base USES storage)\n"}, "src/base/CMakeLists.txt", "USES storage")

    def test_uses_of_an_unknown_folder(self):
        self.assert_found({"src/base/CMakeLists.txt": "pistachio_folder(NAME base USES utils)\n"}, "USES utils")

    def test_cycle_in_the_layers(self):
        layers = GOOD_TREE["src/layers.txt"].replace("base:", "base: storage", 1)
        self.assert_found({"src/layers.txt": layers}, "src/layers.txt:2", "no earlier line")

    def test_folder_without_a_line(self):
        self.assert_found({"src/utils/text.h": "#pragma once\n"}, "src/utils/text.h", "no line in src/layers.txt")

    def test_missing_readme(self):
        self.assert_found({"src/storage/README.md": None}, "src/storage/README.md: missing")

    def test_kernels_share_a_readme(self):
        status, output = self.check({"src/kernels/README.md": None})
        self.assertEqual(status, 1)
        self.assertIn("src/kernels/README.md: missing", output)

    def test_long_readme(self):
        self.assert_found({"src/base/README.md": "line\n" * 21}, "src/base/README.md: longer than 20 lines")

    def test_long_file(self):
        self.assert_found({"src/base/long.cpp": "//\n" * 701}, "src/base/long.cpp: 701 lines")


if __name__ == "__main__":
    unittest.main()
