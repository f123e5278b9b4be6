"""`pistachio bench onpath`: a tiny sweep measures what the data model predicts; wrong input is rejected at once; Ctrl-C keeps finished cells."""

import json
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio

TUPLES = 20_000
SVG = "{http://www.w3.org/2000/svg}"
# Combiners are direct-mapped tables: keys that collide there are left to the sink.
MOST_UNMERGED = 1.15
# Ranks that a busy machine holds up do not keep keys from meeting.
TINY = ("--tuples", TUPLES, "--repeat", 1, "--variants", "none,off,on", "-s", "on_path_flush_time=off")


class OnPathBench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def bench(self, *words):
        """(standard output, JSON, root of the SVG)"""
        figures, picture = self.folder / "onpath.json", self.folder / "onpath.svg"
        done = pistachio.run("bench", "onpath", *words, "--cache", self.folder, "--json", figures, "--plot", picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, json.loads(figures.read_text()), xml.etree.ElementTree.parse(picture).getroot()

    def keys(self, model, bits, uniqueness):
        """The keys of ranks 1 to 4."""
        folder = self.folder / f"onpath_{model}_{bits}_{TUPLES}_{uniqueness:g}_2x2"
        self.assertEqual(pq.read_metadata(folder / "rank0.parquet").num_rows, 0)
        tables = [pq.read_table(folder / f"rank{rank}.parquet") for rank in range(1, 5)]
        self.assertEqual({str(table.schema.field("k").type) for table in tables}, {f"int{bits}"})
        return [table["k"].to_pylist() for table in tables]

    def check_cell(self, cell):
        """Rows and bytes that reach the sink are those of the keys in the files, wherever duplicates are removed."""
        ranks = self.keys(cell["model"], cell["key_bits"], cell["uniqueness"])
        self.assertEqual([len(keys) for keys in ranks], [TUPLES] * 4)
        of_ranks = [set(keys) for keys in ranks]
        of_hosts = [of_ranks[0] | of_ranks[1], of_ranks[2] | of_ranks[3]]
        self.assertEqual(cell["distinct_keys"], len(of_hosts[0] | of_hosts[1]))
        rows = {"none": 4 * TUPLES, "off": sum(map(len, of_ranks)), "on": sum(map(len, of_hosts))}
        measured = {row["variant"]: row["wire_rows"] for row in cell["variants"]}
        self.assertEqual((measured["none"], measured["off"]), (rows["none"], rows["off"]))
        self.assertLessEqual(rows["on"], measured["on"])
        self.assertLessEqual(measured["on"], MOST_UNMERGED * rows["on"])
        for row in cell["variants"]:
            bytes_of_rows = row["wire_rows"] * cell["key_bits"] // 8
            self.assertGreaterEqual(row["wire_bytes"], bytes_of_rows)
            self.assertLess(row["wire_bytes"], 1.1 * bytes_of_rows + 4096)
            predicted_rows = row["predicted_wire_bytes"] * 8 / cell["key_bits"]
            self.assertAlmostEqual(predicted_rows / rows[row["variant"]], 1, delta=0.02)
            self.assertAlmostEqual(row["tuples_per_second"], 4 * TUPLES / row["t"])
            self.assertEqual(len(row["runs"]), 1)
            stages = row["stages"]
            self.assertGreater(stages["t6_final_dedupe"], 0)
            self.assertEqual((stages["t1_device_to_host"], stages["t5_host_to_device"]), (0, 0))
            if row["variant"] == "on":
                self.assertEqual(row["combiner_rows"], rows["off"])
                self.assertGreater(row["combiner_rows_per_second"], 0)
                self.assertGreater(stages["t2_combine"], 0)
            else:
                self.assertEqual((row["combiner_rows"], row["combiner_rows_per_second"], stages["t2_combine"]), (0, None, 0))
        return measured

    def test_rows_and_bytes_follow_the_model(self):
        shown, figures, picture = self.bench(*TINY, "--uniqueness", "0.05,1", "--keys", "32,64", "--limits", "off", "-s", "device=cpu")
        cells = figures["cells"]
        self.assertEqual([(cell["model"], cell["key_bits"], cell["uniqueness"]) for cell in cells],
                         [(model, bits, share) for model in ("disjoint", "overlap", "zipf") for bits in (32, 64) for share in (0.05, 1)])
        for cell in cells:
            with self.subTest(model=cell["model"], bits=cell["key_bits"], uniqueness=cell["uniqueness"]):
                rows = self.check_cell(cell)
                if cell["model"] == "disjoint":
                    self.assertEqual(rows["on"], rows["off"])  # the ranks of a host have no key in common
                else:
                    self.assertLess(rows["on"], 0.9 * rows["off"])
        # Every cell and variant has a row in the table; published figures are next to them.
        self.assertEqual(len(re.findall(r"^no limit +(?:disjoint|overlap|zipf) (?:32|64) +20000 ", shown, re.MULTILINE)), 3 * len(cells))
        self.assertRegex(shown, r"16Mi +0\.01 +104 +6393")
        self.assertEqual(len(figures["published"]), 4)
        self.assertRegex(shown, r"bytes on the wire are within 10 % of the prediction: \d+ of 36")
        self.assertEqual({check["rule"] for check in figures["checks"]}, {"bytes on the wire are within 10 % of the prediction"})
        self.assertFalse(figures["interrupted"])
        self.assertEqual((figures["settings"]["local_files"], figures["settings"]["group_distribution"]), ("on", "gather"))
        texts = [text.text for text in picture.iter(f"{SVG}text")]
        for part in ("published on-path figures", "Combiners", "Distinct keys", "End to end"):
            self.assertTrue(any(part in text for text in texts), part)
        # Combiners and throughput for each model and key width, and the distinct keys.
        self.assertEqual(len(list(picture.iter(f"{SVG}g"))), 6 + 6 + 1)

    def test_links_are_limited_to_the_scale(self):
        shown, figures, _ = self.bench(*TINY, "--uniqueness", "0.1", "--models", "overlap", "--limits", "10,200", "--scale", "0.001")
        self.assertEqual([(cell["link_gigabits"], cell["link_bandwidth_limit"]) for cell in figures["cells"]], [(10, 1_250_000), (200, 25_000_000)])
        self.assertEqual(figures["link_scale"], {"factor": 0.001, "reason": "--scale"})
        self.assertIn("10 Gbit/s: link_bandwidth_limit=1250000 (1.2 MB/s)", shown)
        slow = {row["variant"]: row for row in figures["cells"][0]["variants"]}
        # 320 kB cannot pass in less than a quarter of a second; the limit lets a short burst through first.
        self.assertGreater(slow["none"]["t"], 0.5 * slow["none"]["wire_bytes"] / 1_250_000)

    def test_more_ranks_per_host_remove_more(self):
        _, figures, _ = self.bench(*TINY, "--uniqueness", "0.05", "--models", "overlap", "--limits", "off", "--ranks-per-host", 3)
        self.assertEqual(figures["ranks_per_host"], 3)
        rows = {row["variant"]: row["wire_rows"] for row in figures["cells"][0]["variants"]}
        self.assertEqual((rows["none"], rows["off"]), (6 * TUPLES, 6 * TUPLES // 20))
        self.assertLessEqual(rows["on"], MOST_UNMERGED * 2 * TUPLES // 20)

    def test_variants_that_the_setting_lacks_are_skipped(self):
        known = pistachio.run("-s", "on_path=auto", "-c", "SELECT 1").returncode == 0
        shown, figures, _ = self.bench("--tuples", TUPLES, "--repeat", 1, "--uniqueness", 1, "--models", "zipf", "--limits", "off")
        self.assertEqual(figures["skipped_variants"], [] if known else ["auto"])
        self.assertEqual("auto is skipped" in shown, not known)
        self.assertEqual([row["variant"] for row in figures["cells"][0]["variants"]], ["none", "off", "on"] + ["auto"] * known)

    def test_wrong_input_is_refused_at_once(self):
        for words, status, text in (
                (["--tuples", "many"], 2, "--tuples takes counts from 1 to 256Mi"), (["--uniqueness", "0"], 2, "--uniqueness takes numbers above 0"),
                (["--models", "gauss"], 2, "--models takes disjoint, overlap and zipf"), (["--keys", "16"], 2, "--keys takes 32 and 64"),
                (["--limits", "fast"], 2, "--limits takes numbers above 0"), (["--scale", "-1"], 2, "--scale takes numbers above 0"),
                (["--variants", "maybe"], 2, "--variants takes none, off, on and auto"), (["--ranks-per-host", 1], 2, "from 2 to 16"),
                (["more"], 2, "there is no option 'more'"), (["--balance", "io"], 2, "unknown option --balance"),
                (["-s", "link_bandwidth_limit=1MB"], 2, "use --limits"), (["--plot", self.folder / "figures.pdf"], 2, "ends in .svg or .png"),
                (["--cache", "/proc/none"], 1, "cannot make the folder /proc/none"),
                (["--json", self.folder / "none/figures.json"], 1, "No such file")):
            with self.subTest(words=words):
                done = pistachio.run("bench", "onpath", *words)
                self.assertEqual((done.returncode, done.stdout), (status, ""))
                self.assertIn(text, done.stderr)

    def test_an_error_keeps_finished_cells(self):
        figures = self.folder / "failed.json"
        # The distinct keys of 4 Mi tuples do not fit into the memory of a rank.
        done = pistachio.run("bench", "onpath", "--tuples", f"{TUPLES},4Mi", "--uniqueness", 1, "--models", "overlap", "--limits", "off",
                             "--variants", "off", "--repeat", 1, "--cache", self.folder, "--json", figures, "-s", "memory_limit=40MB",
                             "-s", "spill=off")
        self.assertEqual(done.returncode, 1)
        self.assertIn("out of memory", done.stderr)
        self.assertRegex(done.stdout, r"(?m)^no limit +overlap 32 +20000 ")
        measured = json.loads(figures.read_text())
        self.assertTrue(measured["interrupted"])
        self.assertEqual([cell["tuples_per_rank"] for cell in measured["cells"]], [TUPLES])

    def test_ctrl_c_keeps_finished_cells(self):
        figures = self.folder / "interrupted.json"
        # The second cell has so many runs that it cannot finish first.
        words = ["bench", "onpath", "--tuples", "1000", "--uniqueness", "0.5,1", "--models", "overlap", "--limits", "off", "--variants", "off,on",
                 "--repeat", "200", "--cache", str(self.folder), "--json", str(figures)]
        with subprocess.Popen([pistachio.BINARY, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            lines = []
            while sum(line.startswith("no limit") for line in lines) < 2:  # the rows of the first cell
                lines.append(process.stdout.readline())
                self.assertNotEqual(lines[-1], "", process.stderr.read() if lines[-1] == "" else "")
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
        self.assertEqual(process.returncode, 130)
        measured = json.loads(figures.read_text())
        self.assertTrue(measured["interrupted"])
        self.assertEqual([len(row["runs"]) for row in measured["cells"][0]["variants"]], [200, 200])
        shown = "".join(lines) + rest
        self.assertEqual(len(re.findall(r"^no limit +overlap 32 +1000 +0\.5 ", shown, re.MULTILINE)), 2)
        self.assertIn("within 10 %", shown)


if __name__ == "__main__":
    unittest.main()
