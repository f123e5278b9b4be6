"""Where the time of queries goes on the GPU: kernels, copies and CUDA calls that wait, recorded by recorder.cpp.

    python3 -m tools.gpu_timeline.report --data data/sf10 --queries 1 10 18 [-s name=value ...]

Each TPC-H query runs several times; the last run is reported. Needs a CUDA build, and CUPTI, which the CUDA toolkit has."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.pistachio_session import PistachioSession  # noqa: E402
from tests.tpch.tpch_queries import query_text  # noqa: E402

PAUSE_SECONDS = 0.25  # between statements, so that they can be told apart
LONGEST_GAP = 0.15e9  # inside one statement
WAITING_CALLS = ("Synchronize", "Malloc", "Free", "HostAlloc", "HostRegister", "cudaMemcpy_v", "EventQuery")


@dataclass
class Event:
    kind: str
    name: str
    begin: int
    end: int
    place: str  # stream or thread
    size: int


def build_recorder(folder, cuda):
    library = Path(folder) / "recorder.so"
    libraries = [f"-L{cuda}/{name}" for name in ("lib64", "lib", "extras/CUPTI/lib64")]
    subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{cuda}/include", f"-I{cuda}/extras/CUPTI/include",
                    Path(__file__).with_name("recorder.cpp"), "-o", library, *libraries, "-lcupti"], check=True)
    return library


def read_events(path):
    events = []
    for line in path.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) != 6:
            continue  # the process was ended while it wrote
        kind, name, begin, end, place, size = fields
        events.append(Event(kind, name, int(begin), int(end), place, int(size)))
    return sorted(events, key=lambda event: event.begin)


def split_statements(events):
    """Lists of events between pauses of the device; calls belong to the statement they overlap."""
    statements = []
    end = -LONGEST_GAP
    for event in (event for event in events if event.kind != "call"):
        if event.begin - end > LONGEST_GAP:
            statements.append([])
        statements[-1].append(event)
        end = max(end, event.end)
    for statement in statements:
        first, last = statement[0].begin, max(event.end for event in statement)
        statement += [event for event in events if event.kind == "call" and event.end > first and event.begin < last]
    return statements


def busy(events):
    """Time during which at least one of the events runs."""
    total = 0
    reached = 0
    for event in sorted(events, key=lambda event: event.begin):
        total += max(0, event.end - max(event.begin, reached))
        reached = max(reached, event.end)
    return total


def short_names(events):
    """Kernel names without namespaces, templates and arguments."""
    names = sorted({event.name for event in events if event.kind == "kernel"})
    plain = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines()
    shortened = {}
    for name, text in zip(names, plain):
        text = text.replace("(anonymous namespace)::", "").removeprefix("void ")
        stem = text.split("(")[0].split("<")[0].split("::")[-1]
        detail = next((word for word in ("Functor", "DeviceScan", "DeviceRadixSort", "DeviceSelect", "index", "gather") if word in text), "")
        shortened[name] = text[:110] if stem.endswith("elementwise_kernel") or stem.startswith("Device") or detail else stem
    return shortened


def show(query, seconds, statement, rows):
    on_device = [event for event in statement if event.kind != "call"]
    span = max(event.end for event in on_device) - on_device[0].begin
    kernels = [event for event in on_device if event.kind == "kernel"]
    copies = [event for event in on_device if event.kind == "copy"]
    into = [event for event in copies if event.name.startswith("host to device")]
    moved = sum(event.size for event in into)
    print(f"q{query}: {seconds * 1e3:.0f} ms; on the device {span / 1e6:.1f} ms from first to last, {busy(on_device) / 1e6:.1f} busy "
          f"(kernels {busy(kernels) / 1e6:.1f}, copies in {busy(into) / 1e6:.1f} for {moved / 1e6:.0f} MB), {len(kernels)} kernels, {len(copies)} copies")
    short = short_names(on_device)
    totals = defaultdict(lambda: [0, 0])
    for event in statement:
        if event.kind == "call" and not any(word in event.name for word in WAITING_CALLS):
            continue
        name = f"{event.kind} {short.get(event.name, event.name)}"
        totals[name][0] += event.end - event.begin
        totals[name][1] += 1
    for name, (nanos, count) in sorted(totals.items(), key=lambda item: -item[1][0])[:rows]:
        print(f"  {nanos / 1e6:8.2f} ms {count:6d}  {name}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--queries", type=int, nargs="+", default=range(1, 23))
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--rows", type=int, default=16, help="lines per query")
    parser.add_argument("--binary", default=str(ROOT / "build" / "cuda" / "pistachio"))
    parser.add_argument("--cuda", default="/usr/local/cuda")
    parser.add_argument("--keep", type=Path, help="folder for the recordings")
    parser.add_argument("-s", dest="settings", action="append", default=[])
    arguments = parser.parse_args()
    options = [word for setting in ["device=cuda", *arguments.settings] for word in ("-s", setting)]
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CUDA_INJECTION64_PATH"] = str(build_recorder(folder, arguments.cuda))
        for query in arguments.queries:
            path = (arguments.keep or Path(folder)) / f"q{query}.tsv"
            os.environ["GPU_TIMELINE"] = str(path)
            session = PistachioSession(*options, folder=arguments.data, binary=arguments.binary)
            for _ in range(arguments.runs):
                seconds = session.run(query_text(query)).seconds
                time.sleep(PAUSE_SECONDS)
            session.close()
            show(query, seconds, split_statements(read_events(path))[-1], arguments.rows)


if __name__ == "__main__":
    main()
