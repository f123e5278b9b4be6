"""`pistachio bench join|skew|overlap|alltoall|scaling`: tables, JSON and charts are well-formed and consistent; wrong input is
rejected at once."""

import json
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
from pathlib import Path

import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.pistachio_cluster import is_running, rank_processes, wait_until
from tools.tpch_data import ensure_tpch

QUERIES = pistachio.ROOT / "tests/tpch/queries"
SVG = "{http://www.w3.org/2000/svg}"
TINY = ("--build", 20_000, "--probe", 30_000, "--repeat", 1)


class BenchOfRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def bench(self, kind, *words):
        """(standard output, JSON, root of the SVG)"""
        figures, picture = self.folder / f"{kind}.json", self.folder / f"{kind}.svg"
        done = pistachio.run("bench", kind, *words, "--json", figures, "--plot", picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, json.loads(figures.read_text()), xml.etree.ElementTree.parse(picture).getroot()

    def check_variants(self, figures, cases, variants):
        self.assertEqual([(row["case"], row["variant"]) for row in figures["variants"]], [(case, name) for case in cases for name in variants])
        for row in figures["variants"]:
            self.assertGreater(row["t"], 0)
            phases = row["phases"]
            known = [phases[name] for name in ("storage", "link", "cores") if phases[name] is not None]
            self.assertAlmostEqual(phases["sum"], sum(known))
            self.assertAlmostEqual(phases["maximum"], max(known))
            self.assertAlmostEqual(phases["possible_gain"], sum(known) / max(known))
            if row["t_min"] is not None:
                self.assertAlmostEqual(row["t_min"], max(phases["storage"] or 0, phases["link"] or 0))
            if row["t_min"]:
                self.assertAlmostEqual(row["ratio"], row["t"] / row["t_min"])
            else:
                self.assertIsNone(row["ratio"])
            if row["link_use"] is not None:
                self.assertAlmostEqual(row["link_use"], phases["link"] / row["t"])
        for case in cases:
            rows = [row for row in figures["variants"] if row["case"] == case]
            for row in rows:
                self.assertAlmostEqual(row["gain"], rows[0]["t"] / row["t"])

    def check_bars(self, picture, count):
        texts = [text.text for text in picture.iter(f"{SVG}text")]
        self.assertGreaterEqual(len([text for text in texts if re.search(r"[\d.]+ s$", text)]), count)
        self.assertIn("published figure", texts[0])

    def test_join(self):
        shown, figures, picture = self.bench("join", "--columns", "1,3", *TINY, "--cache", self.folder, "-s", "link_bandwidth_limit=40MB",
                                             "-s", "storage_bandwidth_limit=80MB")
        self.check_variants(figures, ["1 column", "3 columns"], ["blocking", "tuned", "chunked", "deferred"])
        self.check_bars(picture, 8)
        self.assertEqual((figures["kind"], figures["figure"]), ("join", "5, 8"))
        self.assertEqual(figures["settings"]["join_distribution"], "repartition")
        self.assertEqual(len(re.findall(r"^\d columns? ", shown, re.MULTILINE)), 8)
        for row in figures["variants"]:
            self.assertEqual(row["limits"], {"storage_bandwidth_limit": 80_000_000, "link_bandwidth_limit": 40_000_000})
            # Half of the rows of both sides move between two ranks, with 8 bytes per column.
            columns = 1 + int(row["case"].split()[0])
            self.assertGreater(row["bytes_received"], 50_000 * columns * 8 / 4 * 0.8)
            self.assertGreater(row["ratio"], 0.9)
        # The tables have the requested contents.
        probe = pq.read_table(self.folder / "join_20000_30000_3_0.5/probe.parquet")
        build = pq.read_table(self.folder / "join_20000_30000_3_0.5/build.parquet")
        self.assertEqual((probe.num_rows, probe.column_names), (30_000, ["k", "p1", "p2", "p3"]))
        self.assertEqual(sorted(build["k"].to_pylist()), list(range(20_000)))
        self.assertAlmostEqual(sum(key < 20_000 for key in probe["k"].to_pylist()) / 30_000, 0.5, delta=0.03)

    def test_skew(self):
        shown, figures, _ = self.bench("skew", "--columns", 1, *TINY, "--cache", self.folder)
        self.check_variants(figures, ["1 column"], ["uniform", "skewed"])
        self.assertRegex(shown, r"one key with 50 % of the rows takes [\d.]+ times as long as even keys")
        uniform, skewed = figures["variants"]
        self.assertAlmostEqual(figures["ratios"][0]["ratio"], skewed["t"] / uniform["t"])
        keys = pq.read_table(self.folder / "join_20000_30000_1_0.5_skew_0.5/probe.parquet")["k"].to_pylist()
        self.assertAlmostEqual(keys.count(0) / 30_000, 0.5, delta=0.03)

    def test_overlap_with_balanced_limits(self):
        shown, figures, picture = self.bench("overlap", "--data", ensure_tpch("0.01"), "--queries", 3, "--query-folder", QUERIES, "--repeat", 1,
                                             "--balance", "io")
        self.check_variants(figures, ["q03"], ["fully blocking", "fast network and storage", "+ reader combining and dynamic buffering", "+ overlap"])
        self.check_bars(picture, 4)
        storage, link = map(int, re.search(r"q03: storage_bandwidth_limit=(\d+) and link_bandwidth_limit=(\d+): each needs", shown).groups())
        last = figures["variants"][-1]
        self.assertEqual(last["limits"], {"storage_bandwidth_limit": storage, "link_bandwidth_limit": link})
        # About the same time, for the variant that the limits were derived from.
        self.assertLess(max(last["phases"]["storage"], last["phases"]["link"]) / min(last["phases"]["storage"], last["phases"]["link"]), 1.5)

    def test_scaling(self):
        _, figures, picture = self.bench("scaling", "--data", ensure_tpch("0.01"), "--ranks", 2, QUERIES / "q06.sql", "--repeat", 1)
        self.check_variants(figures, ["q06 sf0.01"], ["1 rank", "2 ranks"])
        self.assertEqual([row["ranks"] for row in figures["variants"]], [1, 2])
        self.assertEqual(len(list(picture.iter(f"{SVG}circle"))), 2)

    def test_all_to_all(self):
        # A stand-in for UCX's program, which may not be installed: a server that waits, and a client that prints like the real one.
        perftest = self.folder / "perftest"
        perftest.write_text("#!/bin/sh\ncase \"$*\" in *am_bw*) echo 'iterations,overall_bw,overall_mr'; echo ' 7,1000.00,3486';; *) exec sleep 60;; esac\n")
        perftest.chmod(perftest.stat().st_mode | stat.S_IXUSR)
        shown, figures, picture = self.bench("alltoall", "--ranks", 3, "--sizes", "16KiB,256KiB", "--bytes", "1MiB", "--rows", 20_000, "--repeat", 1,
                                             "--cache", self.folder, "--perftest", perftest)
        self.assertEqual([size["message_bytes"] for size in figures["sizes"]], [16384, 262144])
        for size in figures["sizes"]:
            for name in ("one_link", "all_to_all", "partition", "join"):
                self.assertGreater(size[name], 0, name)
            self.assertEqual(size["perftest"], 1000 * 2**20)
            self.assertAlmostEqual(size["ratio"], size["one_link"] / size["perftest"])
        self.assertEqual(len(list(picture.iter(f"{SVG}polyline"))), 5)
        # One row per size in the table of messages and in that of queries.
        self.assertEqual(len(re.findall(r"^ *\d+\.0 KiB ", shown, re.MULTILINE)), 4)
        self.assertFalse(figures["interrupted"])

    def test_wrong_input_is_refused_at_once(self):
        data = ensure_tpch("0.01")
        for words, status, text in (
                ([], 2, "bench needs the name of a benchmark"), (["speed"], 2, "there is no benchmark 'speed'"),
                (["join", "--ranks", 0], 2, "--ranks takes a whole number of at least 1"),
                (["join", "--ranks", 100_000], 2, "at most 256"),
                (["join", "--columns", "1,x"], 2, "--columns takes whole numbers"),
                (["join", "--hit", "1.5"], 2, "--hit takes a share from 0 to 1"),
                (["join", "--balance", "some"], 2, "--balance takes io or all"),
                (["join", "--probe", 20_000, "--build", 20_000, "--cache", "/proc/none"], 1, "cannot make the folder /proc/none"),
                (["skew", "more"], 2, "there is no option 'more'"),
                (["overlap"], 2, "--data says which folder"),
                (["overlap", "--data", self.folder / "none"], 1, "there is no such folder"),
                (["overlap", "--data", data, "--queries", 77, "--query-folder", QUERIES], 1, "there is no query 77"),
                (["overlap", "--data", data, self.folder / "none.sql"], 1, "there is no query file"),
                (["scaling", "--data", data, "--ranks", "1,0"], 2, "--ranks takes whole numbers"),
                (["alltoall", "--ranks", 1], 2, "at least 2 ranks"), (["alltoall", "--sizes", "many"], 2, "'many' is not a size"),
                (["alltoall", "--perftest", self.folder / "none"], 1, "there is no such program"),
                (["join", "--json", self.folder / "none/figures.json", "--cache", self.folder, *TINY], 1, "none/figures.json: No such file"),
                (["join", "--plot", self.folder / "figures.pdf"], 2, "ends in .svg or .png")):
            with self.subTest(words=words):
                done = pistachio.run("bench", *words)
                self.assertEqual((done.returncode, done.stdout), (status, ""))
                self.assertIn(text, done.stderr)

    def test_a_png_needs_a_converter(self):
        done = pistachio.run("bench", "join", "--plot", self.folder / "figures.png", *TINY, "--cache", self.folder,
                             environment={"PATH": str(self.folder)})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("a PNG needs the program rsvg-convert", done.stderr)

    def test_a_png_is_converted(self):
        programs = self.folder / "programs"
        programs.mkdir()
        # A stand-in for rsvg-convert, which may not be installed: -o TARGET SOURCE.
        converter = programs / "rsvg-convert"
        converter.write_text('#!/bin/sh\nexec /bin/cp "$3" "$2"\n')
        converter.chmod(converter.stat().st_mode | stat.S_IXUSR)
        picture = self.folder / "scaling.png"
        done = pistachio.run("bench", "scaling", "--data", ensure_tpch("0.01"), "--ranks", 1, QUERIES / "q06.sql", "--repeat", 1, "--plot", picture,
                             environment={"PATH": str(programs)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(xml.etree.ElementTree.parse(picture).getroot().tag, f"{SVG}svg")
        self.assertFalse(Path(f"{picture}.svg").exists())

    def test_ctrl_c_ends_it_and_its_ranks(self):
        words = ["bench", "overlap", "--data", ensure_tpch("0.01"), QUERIES / "q03.sql", "-s", "storage_bandwidth_limit=1KB"]
        with subprocess.Popen([pistachio.BINARY, *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            pistachio.wait_until_it_watches_signals(process)
            rank = rank_processes(process.pid, 1)[1]
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
            self.assertEqual((process.returncode, output), (130, ""))
        wait_until(lambda: not is_running(rank), "the end of the other rank")

    def interrupted(self, kind, words, is_time):
        """(standard output, JSON) of a benchmark that receives Ctrl-C once `is_time` is true of its output so far."""
        figures = self.folder / "interrupted.json"
        figures.unlink(missing_ok=True)
        command = [pistachio.BINARY, "bench", kind, *map(str, words), "--json", str(figures)]
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            pistachio.wait_until_it_watches_signals(process)
            lines = []
            while not is_time(lines):
                line = process.stdout.readline()
                self.assertNotEqual(line, "", process.stderr.read() if line == "" else "")
                lines.append(line)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=pistachio.WATCHDOG_SECONDS)
            self.assertEqual(process.returncode, 130)
        return "".join(lines) + rest, json.loads(figures.read_text())

    def test_measured_rows_are_printed_before_ctrl_c(self):
        quick, endless = self.folder / "quick.sql", self.folder / "endless.sql"
        quick.write_text("SELECT count(*) FROM region")
        endless.write_text("SELECT count(*) FROM lineitem a, lineitem b, lineitem c WHERE a.l_orderkey + b.l_orderkey + c.l_orderkey = 1")
        shown, figures = self.interrupted("overlap", ["--data", ensure_tpch("0.01"), quick, endless, "--repeat", 2],
                                          lambda lines: sum(line.startswith("quick ") for line in lines) == 4)
        self.assertEqual(len(re.findall(r"^quick ", shown, re.MULTILINE)), 4)
        self.assertNotIn("endless", shown)
        self.assertTrue(figures["interrupted"])
        self.check_variants(figures, ["quick"], ["fully blocking", "fast network and storage", "+ reader combining and dynamic buffering", "+ overlap"])

    def test_ctrl_c_shows_partly_measured_variants(self):
        # No row is due before the last round, so this waits for some rounds to pass, longer each time.
        for seconds in (3, 10, 30, 100):
            try:
                shown, figures = self.interrupted("join", ["--columns", 1, "--build", 2_000, "--probe", 2_000, "--repeat", 1_000_000, "--cache", self.folder],
                                                  lambda lines: not time.sleep(seconds))
                break
            except FileNotFoundError:  # nothing was measured yet, so nothing was written
                continue
        self.assertTrue(figures["interrupted"])
        rows = figures["variants"]
        self.assertEqual(len(re.findall(r"^1 column ", shown, re.MULTILINE)), len(rows))
        for row in rows:
            self.assertGreaterEqual(len(row["runs"]), 1)
            self.assertLess(len(row["runs"]), 1_000_000)

    def test_failing_query_is_reported(self):
        query = self.folder / "wrong.sql"
        query.write_text("SELECT no_such_column FROM lineitem")
        done = pistachio.run("bench", "overlap", "--data", ensure_tpch("0.01"), query)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no_such_column", done.stderr)


if __name__ == "__main__":
    unittest.main()
