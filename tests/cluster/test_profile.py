"""EXPLAIN ANALYZE and SHOW links of queries on several ranks."""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio

RANKS = 3
ROWS = 60_000
GROUPED = "SELECT word, count(*), sum(price) FROM example GROUP BY word"


def steps_of(plan):
    yield plan
    for child in plan["inputs"]:
        yield from steps_of(child)


class ProfileOfRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        table = pa.table({"price": pa.array([i / 4 for i in range(ROWS)]), "word": pa.array([f"word {i % 5000}" for i in range(ROWS)])})
        pq.write_table(table, cls.folder / "example.parquet", row_group_size=5_000)

    def output(self, *statements, settings=(), ranks=RANKS, form="json"):
        words = [part for setting in settings for part in ("-s", setting)]
        commands = [part for statement in statements for part in ("-c", statement)]
        done = pistachio.run("cluster", "-n", ranks, *words, "--", "-d", self.folder, "--format", form, *commands)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def profile(self, sql, **options):
        return json.loads(json.loads(self.output(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", **options))[0]["plan"])

    def text(self, sql, **options):
        return "\n".join(row["plan"] for row in json.loads(self.output(f"EXPLAIN ANALYZE {sql}", **options)))

    def test_json_has_an_array_for_each_rank(self):
        profile = self.profile(GROUPED)
        steps = list(steps_of(profile["plan"]))
        scan = next(step for step in steps if step["operator"].startswith("scan"))
        self.assertEqual(len(scan["ranks"]["rows"]), RANKS)
        self.assertEqual(sum(scan["ranks"]["rows"]), ROWS)
        self.assertEqual(scan["rows"], ROWS)
        self.assertAlmostEqual(scan["ranks"]["imbalance"], max(scan["ranks"]["rows"]) * RANKS / ROWS)
        exchanges = [step for step in steps if "rows_sent" in step.get("ranks", {})]
        self.assertGreaterEqual(len(exchanges), 2)
        received = [0] * RANKS
        for exchange in exchanges:
            figures = exchange["ranks"]
            for name in ("rows", "milliseconds", "bytes", "bytes_sent", "bytes_across_network", "bytes_received", "messages_sent", "messages_received",
                         "milliseconds_stalled_sending", "milliseconds_stalled_for_credit", "milliseconds_stalled_receiving"):
                self.assertEqual(len(figures[name]), RANKS, name)
            # Nothing is lost in transit, and every received row was sent.
            self.assertEqual(sum(figures["bytes_sent"]), sum(figures["bytes_received"]))
            # All ranks are on one host: the network is taken to be between them.
            self.assertEqual(figures["bytes_across_network"], figures["bytes_sent"])
            self.assertEqual(sum(figures["messages_sent"]), sum(figures["messages_received"]))
            self.assertEqual(sum(figures["rows_sent"]), sum(rows or 0 for rows in figures["rows"]))
            self.assertGreater(sum(figures["bytes_sent"]), 0)
            received = [one + more for one, more in zip(received, figures["bytes_received"])]
        gather = next(step for step in exchanges if step["operator"] == "gather")
        self.assertEqual(gather["ranks"]["rows"], [5000, None, None])
        self.assertEqual(profile["ranks"]["bytes_received"], received)
        self.assertEqual(len(profile["ranks"]["bytes_read"]), RANKS)
        self.assertEqual(profile["bytes_read"], sum(profile["ranks"]["bytes_read"]))
        # Storage bandwidth is not measured; the link is.
        self.assertIsNone(profile["storage_bytes_per_second"])
        self.assertGreater(profile["link_bytes_per_second"], 0)
        self.assertAlmostEqual(profile["t_min_milliseconds"], max(received) / profile["link_bytes_per_second"] * 1e3)

    def test_text_has_lines_for_ranks(self):
        text = self.text(GROUPED, settings=["storage_bandwidth_limit=1GB", "link_bandwidth_limit=2GB"])
        self.assertRegex(text, r"ranks: rows \d+/\d+/\d+ \(imbalance \d+\.\d\), ms [\d.]+/[\d.]+/[\d.]+")
        self.assertRegex(text, r"ranks: rows 5000/-/-, ms ")
        self.assertRegex(text, r"moved: rows \d+/\d+/\d+ \(imbalance [\d.]+\), sent [\d.]+ \w+ in \d+ messages?, received [\d.]+ \w+ in \d+ messages?, "
                               r"stalled [\d.]+ ms sending, [\d.]+ ms for credit, [\d.]+ ms receiving")
        self.assertRegex(text, r"received by ranks: [\d.]+ \w+/[\d.]+ \w+/[\d.]+ \w+\n")
        self.assertRegex(text, r"T_min: [\d.]+ ms \(storage at 1 GB/s a rank, link at 2 GB/s\), T / T_min [\d.]+\n")
        self.check_timelines(text.split("\n"))

    def check_timelines(self, lines):
        first = next(place for place, line in enumerate(lines) if re.fullmatch(r"use over time, \d+ slots of [\d.]+ ms:", line))
        timelines = lines[first + 1:]
        self.assertEqual(len(timelines), 3 * RANKS)
        for place, line in enumerate(timelines):
            resource = ("storage", "network", "cores")[place % 3]
            self.assertRegex(line, rf"^    rank {place // 3} {resource} *\|[ ▁▂▃▄▅▆▇█]{{32,64}}\| peak [\d.e+-]+ (GB/s|busy)$")
        self.assertTrue(all("█" in line for line in timelines if " cores " in line))

    def test_json_has_timelines(self):
        # The limits make the query so long that startup and teardown do not matter.
        limits = ["storage_bandwidth_limit=500KB", "link_bandwidth_limit=5MB"]
        profile = self.profile(GROUPED, settings=limits)
        timeline = profile["timeline"]
        slots = len(timeline["busy_cores"][0])
        self.assertGreaterEqual(slots, 32)
        self.assertAlmostEqual(timeline["slot_milliseconds"] * slots, profile["milliseconds"], places=3)
        for name, totals in (("storage_bytes_per_second", profile["ranks"]["bytes_read"]),
                             ("network_bytes_per_second", profile["ranks"]["bytes_received"])):
            self.assertEqual([len(rank) for rank in timeline[name]], [slots] * RANKS)
            for rank, total in zip(timeline[name], totals):
                # Footers are read before the clock starts.
                moved = sum(rank) * timeline["slot_milliseconds"] / 1e3
                self.assertLessEqual(moved, total * 1.001)
                self.assertGreater(moved, total * 0.5)
        self.assertTrue(all(0 <= busy for rank in timeline["busy_cores"] for busy in rank))
        self.assertTrue(all(sum(rank) > 0 for rank in timeline["busy_cores"]))

    def test_one_rank_has_no_rank_figures(self):
        text = self.text(GROUPED, ranks=1)
        self.assertIn("actual 5000", text)
        self.assertNotIn("ranks", text)

    def test_unknown_bandwidths_are_reported(self):
        text = self.text(GROUPED, settings=["calibrate_links=off"])
        self.assertIn("T_min: storage not known (storage_bandwidth_limit), link not known (SHOW links)", text)

    def test_small_messages_are_more_messages(self):
        def messages(*settings):
            plan = self.profile("SELECT * FROM example", settings=settings)["plan"]
            return sum(sum(step["ranks"]["messages_sent"]) for step in steps_of(plan) if "messages_sent" in step.get("ranks", {}))

        gathered = messages("message_bytes=1GB")
        self.assertGreater(messages("message_bytes=4KB"), gathered)
        self.assertGreater(messages("dynamic_buffering=off"), gathered)

    def test_network_settings_change_no_result(self):
        sql = "SELECT count(*) AS n, sum(length(word)) AS s FROM (SELECT DISTINCT word, price FROM example) AS rows"
        expected = json.loads(self.output(sql))
        self.assertEqual(json.loads(self.output(sql, settings=["network_checksum=on", "link_bandwidth_limit=100MB"])), expected)

    def test_compression_moves_fewer_bytes(self):
        def bytes_sent(*settings):
            plan = self.profile("SELECT * FROM example ORDER BY price", settings=settings)["plan"]
            figures = [step["ranks"] for step in steps_of(plan) if "bytes_sent" in step.get("ranks", {})]
            sent, received = (sum(sum(one[name]) for one in figures) for name in ("bytes_sent", "bytes_received"))
            self.assertEqual(sent, received)
            return sent

        # A link that is slower than the codec.
        raw = bytes_sent("network_compression=off", "link_bandwidth_limit=100MB")
        self.assertLess(bytes_sent("link_bandwidth_limit=100MB"), 0.8 * raw)

    def test_compression_changes_no_result(self):
        rows = json.loads(self.output("SELECT word, price FROM example WHERE price < 2000 ORDER BY price",
                                      settings=["network_compression=on", "message_bytes=16KB"]))
        self.assertEqual(rows, [{"word": f"word {i % 5000}", "price": i / 4} for i in range(8000)])

    def test_show_links(self):
        links = json.loads(self.output("SHOW links"))
        self.assertEqual({(row["from"], row["to"]) for row in links}, {(0, 1)})  # one host: one pair represents all
        self.assertEqual(sum(row["chosen"] for row in links), 1)
        self.assertEqual([row["message_bytes"] for row in links], sorted(row["message_bytes"] for row in links))
        self.assertTrue(all(row["gb_per_second"] >= 0 and row["route"] for row in links))
        self.assertEqual(json.loads(self.output("SHOW links", ranks=1)), [])
        self.assertEqual(json.loads(pistachio.run("-c", "SHOW links", "--format", "json").stdout), [])

    def test_settings_of_the_network_are_fixed(self):
        done = pistachio.run("-c", "SET link_bandwidth_limit = '1GB'")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fixed when the engine starts", done.stderr)


if __name__ == "__main__":
    unittest.main()
