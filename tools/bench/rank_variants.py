"""Distributed joins and queries in their published variants, each against T_min.

    scripts/bench join --ranks 2 --columns 1,4,8 -s link_bandwidth_limit=50MB
    scripts/bench overlap --ranks 2 --queries 3 -s link_bandwidth_limit=20MB -s storage_bandwidth_limit=60MB

join     a repartition join of generated tables in the four schedules (published figures 5 and 8)
overlap  TPC-H queries, from fully blocking to everything at once (figures 14 and 15)

T is the engine's time, the median of the runs; the variants take turns. T_min is what storage and links need at least, and `link` the share of its
bandwidth that the busiest link was used at over the whole query."""

import argparse
import json
import random
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tools"))

from tests.support.pistachio_session import PistachioSession  # noqa: E402
from tests.tpch import tpch_queries  # noqa: E402
from tpch_data import ensure_tpch  # noqa: E402

SCHEDULES = {name: {"join_schedule": name} for name in ("blocking", "tuned", "chunked", "deferred")}

# Cumulative, in the published order.
QUERY_VARIANTS = {
    "fully blocking": {"join_schedule": "blocking", "overlap": "off", "reader": "blocking", "reader_combining": "off", "dynamic_buffering": "off"},
    "fast network and storage": {"join_schedule": "tuned", "overlap": "off", "reader": "chunked", "reader_combining": "off", "dynamic_buffering": "off"},
    "+ reader combining and dynamic buffering": {"join_schedule": "tuned", "overlap": "off", "reader": "chunked", "reader_combining": "on",
                                                 "dynamic_buffering": "on"},
    "+ overlap": {"join_schedule": "deferred", "overlap": "on", "reader": "chunked", "reader_combining": "on", "dynamic_buffering": "on"},
}


def make_tables(folder, build_rows, probe_rows, columns, hit_ratio):
    """build(k, b1..) with different keys, probe(k, p1..) of which a share finds a partner; columns of 8 bytes that do not compress."""
    import numpy
    import pyarrow
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "probe.parquet").exists():
        return
    generator = numpy.random.default_rng(1)
    keys = generator.permutation(build_rows).astype(numpy.int64)
    hits = generator.random(probe_rows) < hit_ratio
    probed = numpy.where(hits, generator.integers(0, build_rows, probe_rows), generator.integers(build_rows, 2 * build_rows, probe_rows))
    for name, key in (("build", keys), ("probe", probed.astype(numpy.int64))):
        data = {"k": key} | {f"{name[0]}{i}": generator.integers(0, 1 << 40, len(key)) for i in range(1, columns + 1)}
        pyarrow.parquet.write_table(pyarrow.table(data), folder / f"{name}.parquet.new", use_dictionary=False, compression="none", row_group_size=100_000)
        (folder / f"{name}.parquet.new").rename(folder / f"{name}.parquet")


def join_cases(options):
    for columns in options.columns:
        folder = ROOT / "data" / f"join_{options.build}_{options.probe}_{columns}_{options.hit}"
        make_tables(folder, options.build, options.probe, columns, options.hit)
        sums = ", ".join(f"sum(b{i}), sum(p{i})" for i in range(1, columns + 1))
        yield f"{columns} columns", folder, f"SELECT count(*), {sums} FROM probe JOIN build ON probe.k = build.k"


def query_cases(options):
    folder = ensure_tpch(options.sf)
    for number in options.queries:
        yield f"q{number}", folder, tpch_queries.query_text(number)


def profile(session, settings, sql):
    for name, value in settings.items():
        session.run(f"SET {name} = '{value}'")
    rows = session.run(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql.strip().rstrip(';')}").csv
    text = rows.split("\n", 1)[1].strip()
    return json.loads(text[1:-1].replace('""', '"'))


def measure(session, variants, sql, repeat):
    runs = {name: [] for name in variants}
    for _ in range(repeat):
        order = list(variants)
        random.shuffle(order)
        for name in order:
            runs[name].append(profile(session, variants[name], sql))
    return runs


def summarize(title, variant, runs):
    t = statistics.median(run["milliseconds"] for run in runs) / 1e3
    last = runs[-1]
    storage = last.get("storage_bytes_per_second") or 0
    link = last.get("link_bytes_per_second") or 0
    received = max(last["ranks"]["bytes_received"])
    storage_time = max(last["ranks"]["bytes_read"]) / storage if storage else 0.0
    link_time = received / link if link else 0.0
    t_min = max(storage_time, link_time)
    return {"case": title, "variant": variant, "t": t, "t_min": t_min, "ratio": t / t_min if t_min else None,
            "link_use": link_time / t if link else None, "phases": {"storage": storage_time, "link": link_time},
            "bytes_received": received, "bytes_read": last["bytes_read"]}


def show(entries, fastest_to_first):
    print(f"{'case':12} {'variant':42} {'T':>9} {'T_min':>9} {'T/T_min':>8} {'link':>6} {'gain':>6}")
    for entry in entries:
        ratio = f"{entry['ratio']:.2f}" if entry["ratio"] else "-"
        use = f"{entry['link_use']:.0%}" if entry["link_use"] else "-"
        gain = f"{fastest_to_first[entry['case']] / entry['t']:.2f}x"
        print(f"{entry['case']:12} {entry['variant']:42} {entry['t']:7.3f} s {entry['t_min']:7.3f} s {ratio:>8} {use:>6} {gain:>6}")


def plot(entries, path):
    """Bars of T with a line at T_min, as SVG."""
    width, bar, left = 900, 22, 330
    longest = max(entry["t"] for entry in entries)
    scale = (width - left - 90) / longest
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{len(entries) * (bar + 6) + 20}" font-family="sans-serif" font-size="12">']
    for i, entry in enumerate(entries):
        y = 10 + i * (bar + 6)
        label = f"{entry['case']}: {entry['variant']}".replace("&", "&amp;").replace("<", "&lt;")
        parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{label}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{entry["t"] * scale:.1f}" height="{bar}" fill="#7aa874"/>')
        parts.append(f'<line x1="{left + entry["t_min"] * scale:.1f}" x2="{left + entry["t_min"] * scale:.1f}" y1="{y - 2}" y2="{y + bar + 2}" stroke="#b03a2e" stroke-width="2"/>')
        parts.append(f'<text x="{left + entry["t"] * scale + 6:.1f}" y="{y + 15}">{entry["t"]:.3f} s</text>')
    parts.append("</svg>")
    Path(path).write_text("\n".join(parts))


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["join", "overlap"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--columns", type=numbers, default=[1, 4, 8], help="join: columns of 8 bytes beside the key, on each side")
    parser.add_argument("--build", type=int, default=300_000, help="join: rows of the build side")
    parser.add_argument("--probe", type=int, default=800_000, help="join: rows of the probe side")
    parser.add_argument("--hit", type=float, default=0.5, help="join: share of the probe rows that find a partner")
    parser.add_argument("--sf", default="1", help="overlap: scale factor")
    parser.add_argument("--queries", type=numbers, default=[3], help="overlap: numbers of queries")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--plot", help="draw them into this SVG file")
    options = parser.parse_args()
    is_join = options.kind == "join"
    variants = SCHEDULES if is_join else QUERY_VARIANTS
    # The published figures are of rows as they are; a setting of the user's comes later and wins.
    words = ["-s", "network_compression=off"]
    words += [word for setting in options.settings for word in ("-s", setting)]
    words += ["-s", "join_distribution=repartition"]
    entries = []
    for title, folder, sql in join_cases(options) if is_join else query_cases(options):
        with PistachioSession(*words, folder=folder, ranks=options.ranks) as session:
            profile(session, {}, sql)  # files and links are known afterwards
            for name, runs in measure(session, variants, sql, options.repeat).items():
                entries.append(summarize(title, name, runs))
    first = {}
    for entry in entries:
        first.setdefault(entry["case"], entry["t"])
    show(entries, first)
    if options.json:
        Path(options.json).write_text(json.dumps({"kind": options.kind, "ranks": options.ranks, "settings": options.settings, "variants": entries}, indent=2))
    if options.plot:
        plot(entries, options.plot)


if __name__ == "__main__":
    main()
