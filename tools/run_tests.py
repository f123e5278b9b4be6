"""Runs the test suites and prints `N passed, M failed` as the last line; the exit status is 0 only if nothing failed.

The short round (the default): the layer check, the GoogleTest binaries of the release build with the SQL files under the
configurations that take other paths through the engine, every tests/**/test_*.py, then a third of the folders with their suites under
AddressSanitizer. --full runs all SQL configurations, all suites under AddressSanitizer and the multi-threaded ones under
ThreadSanitizer. Suites run in parallel, one more than there are cores, the longest first; while the release suites run and leave cores idle
(they wait for time-outs and other processes), the sanitizer build goes on at low priority. A failed build, a binary that crashes or
hangs and a suite without a single test each count as one failure. scripts/test calls this after scripts/setup."""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Generated matrices and mutations: minutes, not seconds. --quick omits them.
LONG_SUITES = {"parquet_matrix_test", "parquet_mutation_test"}
# Suites that share a binary, which saves compile time, and run side by side: the binary and their tests as a GoogleTest filter. The suite
# named after the binary runs all its other tests.
SHARED_BINARIES = {
    "parquet_matrix_test": ("parquet_test", "*ParquetMatrix.*:ParquetReading.*"),
    "parquet_mutation_test": ("parquet_test", "*ParquetMutation.*:ParquetChecksums.*:ParquetTruncation.*"),
    "pruning_mutation_test": ("parquet_test", "*PruningMutation.*"),
    "table_scan_test": ("parquet_test", "TableScan.*:*TableScanFilters.*:*TableScanRegistered.*"),
}
# ThreadSanitizer pays off where threads interact; kernels and types are single-threaded code.
TSAN_SUITES = ("base_test", "memory_test", "spill_test", "storage_test", "network_test", "cluster_test", "session_test", "table_scan_test", "sql_test")
# AddressSanitizer in the short round: a third of the folders each day. Only these are compiled with it, and their suites run; all others come
# from the release build. sql_test, which goes through all layers, runs every day.
SHORT_ASAN_DAYS = (
    ({"kernels_ops", "kernels_composite", "kernels_cpu", "columns", "expr"},
     {"kernels_cpu_test", "columns_test", "expr_test"}),
    ({"base", "config", "memory", "spill", "storage", "readers", "network", "catalog"},
     {"base_test", "memory_test", "spill_test", "storage_test", "readers_test", "network_test", "table_scan_test", "parquet_mutation_test"}),
    ({"exec_core", "exec_adaptive", "exec_exchange", "exec_operators", "exec_window", "exec_pipeline", "engine", "results", "cluster", "session", "profile",
      "parser", "logical", "binder", "optimizer", "physical"},
     {"exec_core_test", "exec_adaptive_test", "exec_operators_test", "exec_pipeline_test", "results_test", "cluster_test", "session_test", "parser_test", "binder_test"}),
)
SHORT_ASAN_EVERY_DAY = {"sql_test"}
# Sanitizers run only some tests of these suites: those with many threads, or with configurations that use memory differently.
SANITIZED_TESTS = {
    ("tsan", "sql_test"): "eight_threads|ranks_3$|spill$",
    ("asan", "sql_test"): "_default|chunks_of_seven|eight_threads|ranks_7$|spill$|refused_memory$",
}
# The short round takes fewer damaged files, and fewer SQL files under sanitizers; the selection changes daily, and a failure names its seed.
# TEST_DAY=N repeats the selection of a day, which the round prints.
DAY = int(os.environ.get("TEST_DAY", time.time_ns() // (86_400 * 10**9)))
SQL_FILES_OF_THE_DAY = sorted(path.stem for path in (ROOT / "tests" / "sql").glob("*.slt"))[DAY % 4::4]
SHORT_SANITIZED_TESTS = {
    ("asan", "sql_test"): f"_default$|/(?:{'|'.join(SQL_FILES_OF_THE_DAY)})_(?:ranks_3|spill|refused_memory)$",
    ("asan", "kernels_cpu_test"): "^(?!.*OnMillionsOfRows)",
    # Long lists and chains are minutes of parsing there; they are about recursion, which all builds see.
    ("asan", "parser_test"): "^(?!.*Long)",
}
SHORT_ENVIRONMENT = {"PISTACHIO_MUTATIONS": "60", "PISTACHIO_FIRST_MUTATION": str(1 + DAY % 10_000 * 60), "PISTACHIO_MATRIX_THIRD": str(DAY % 3)}
# Of the tests that match, the short round takes every n-th, different ones each day.
SHORT_SAMPLES = {
    ("release", "kernels_cpu_test"): ("OnMillionsOfRows", 5),
    ("asan", "kernels_cpu_test"): ("OnManyRows|OnLongPages", 3),
    ("asan", "network_test"): ("NetworkProcessTest", 3),
    ("asan", "table_scan_test"): ("TableScanFilters|TableScanRegistered", 3),
}
SHORT_SANITIZED_ENVIRONMENT = SHORT_ENVIRONMENT | {"PISTACHIO_MUTATIONS": "40"}
# The program warns of PISTACHIO_* variables that it does not know.
SHORT_PYTHON_ENVIRONMENT = {"TEST_QUERY_SAMPLE": str(DAY % 4)}
# Approximate seconds of the longest suites: they start first, so that none runs alone at the end.
LONG_RUNS = {"sql_test": 332, "tests/cli/test_long_statements.py": 124, "kernels_cpu_test": 121, "tests/tpch/test_tpch_queries.py": 107,
             "tests/spill/test_spill.py": 85, "tests/cli/test_commands.py": 76, "network_test": 70, "parquet_matrix_test": 63,
             "tests/joins/test_joins.py": 62, "tests/cluster/test_on_path.py": 62, "tests/cluster/test_movement.py": 61,
             "tests/cluster/test_fault_matrix.py": 60, "tests/cluster/test_launchers.py": 51, "table_scan_test": 48,
             "tests/oracle/test_random_queries.py": 47, "tests/cluster/test_on_path_bench.py": 47, "parser_test": 47,
             "tests/oracle/test_reduce_query.py": 45, "tests/cluster/test_start.py": 34, "tests/parquet/test_writer_errors.py": 31,
             "tests/cluster/test_bench.py": 28, "tests/cluster/test_profile.py": 27, "tests/cluster/test_restart.py": 20,
             "tests/parquet/test_partitions.py": 20, "tests/storage/test_object_store.py": 20, "tests/cluster/test_trust.py": 18,
             "tests/cli/test_sql.py": 17, "exec_operators_test": 17, "tests/parquet/test_nanoseconds.py": 16, "parquet_test": 16,
             "parquet_mutation_test": 16, "tests/cli/test_binary_formats.py": 16, "tests/cluster/test_cancel.py": 15,
             "tests/joins/test_join_matrix.py": 15, "tests/cluster/test_lost_ranks.py": 15}
# Detecting use of a stack frame after its return pays off where coroutines are. In suites of plain functions, many of them deep or called
# per row, it took nearly all of the time (every call searches for a free frame: kernels_cpu_test 1000 s instead of 90), and in sql_test
# too: there the suites of the lower layers check for it.
SUITES_THAT_TRUST_FRAMES = ("kernels_cpu_test", "parser_test", "expr_test", "columns_test", "data_test", "sql_test")
# On 64-bit ARM a leak check visits every possible region of the heap, 5 s of a core: each suite has one every other time that the short round runs it.
ARM_LEAK_CHECK_RUNS = 2
# On 64-bit ARM, GCC 12's ThreadSanitizer is only useful without tensors: libtorch has its own allocator there (mimalloc), which the
# sanitizer does not see, so that reused memory looks like a race; it has no room for our arenas; and its process_vm_readv crashes under
# UCX.
ARM_TSAN_SUITES = ("base_test", "memory_test")
ARM_TSAN_MEMORY_TESTS = "^(?!.*PooledAllocator)"
SUITE_LIMIT_SECONDS = 2400  # a watchdog: sanitizers on a slow machine are slow


def today(parts):
    """The part that is due today."""
    return parts[DAY % len(parts)]


@dataclass
class SuiteResult:
    name: str
    passed: int = 0
    failures: list = field(default_factory=list)  # (title, full text)
    skipped: int = 0
    seconds: float = 0.0

    def fail(self, title, text=""):
        self.failures.append((title, text))


class Report:
    """Prints each suite as it finishes and keeps the totals; suites may finish on any thread."""

    def __init__(self):
        self.passed = 0
        self.failed = []
        self.steps = []  # (what, wall seconds): where the time went
        self._lock = threading.Lock()

    def add(self, result):
        with self._lock:
            self._add(result)

    def _add(self, result):
        self.passed += result.passed
        self.failed += [f"{result.name}: {title}" for title, _ in result.failures]
        state = "FAILED" if result.failures else "ok"
        skipped = f", {result.skipped} skipped" if result.skipped else ""
        counts = f"{result.passed} passed, {len(result.failures)} failed{skipped}"
        print(f"{state:7}{result.name:40}{counts:36}{result.seconds:7.1f} s", flush=True)
        for title, text in result.failures:
            print(f"\n----- {result.name}: {title}\n{text.rstrip()}\n-----\n", flush=True)

    def finish(self):
        if self.passed == 0 and not self.failed:
            self.failed.append("no test matched")
        if self.failed:
            print("\nfailed:")
            for line in self.failed:
                print(f"  {line}")
        print("\nwhere the minutes went:")
        for what, seconds in self.steps:
            print(f"  {what:36}{seconds / 60:6.1f} min")
        print(f"\n{self.passed} passed, {len(self.failed)} failed", flush=True)
        return 1 if self.failed else 0


def run_command(command, environment=None, limit=SUITE_LIMIT_SECONDS):
    """Returns (exit status, stdout and stderr combined, seconds); the status is None if it exceeded the limit."""
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | (environment or {}), timeout=limit, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        status, output = None, expired.stdout or b""
    return status, output.decode(errors="replace"), time.perf_counter() - began


def run_layer_check():
    status, output, seconds = run_command([sys.executable, "tools/check_layers.py"])
    result = SuiteResult("layers", seconds=seconds)
    if status == 0:
        result.passed = 1
    else:
        result.fail("src/layers.txt and the tree disagree", output)
    return result


def configure_command(preset, definitions=()):
    return ["cmake", "--preset", preset, *definitions] + (["-DPISTACHIO_WARNINGS_ARE_ERRORS=ON"] if os.environ.get("CI") else [])


def is_configured(preset, definitions=()):
    """Whether the build folder exists and was configured with these definitions (-DNAME=VALUE)."""
    folder = ROOT / "build" / preset
    if not (folder / "build.ninja").exists():
        return False
    cached = dict(re.findall(r"^(\w+):\w+=(.*)$", (folder / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
    return all(cached.get(name) == value for name, value in (word.removeprefix("-D").split("=") for word in definitions))


def build(preset, report, targets=None, beside=""):
    """Configures and builds; returns whether it worked. Only a failure counts as a test. `beside` names what runs at the same time and has
    priority."""
    began = time.perf_counter()
    print(f"build  {preset}", flush=True)
    commands = [] if is_configured(preset) else [configure_command(preset)]
    commands.append(["cmake", "--build", "--preset", preset] + (["--target", *targets] if targets else []))
    for command in commands:
        status, output, _ = run_command((["nice", "-n", "19"] if beside else []) + command, limit=3600)
        if status != 0:
            result = SuiteResult(f"build {preset}", seconds=time.perf_counter() - began)
            result.fail(" ".join(command), output)
            report.add(result)
            return False
    seconds = time.perf_counter() - began
    report.steps.append((f"build {preset}{beside and ', beside ' + beside}", seconds))
    print(f"       {preset} done in {seconds:.1f} s", flush=True)
    return True


def configure(preset, report, definitions=()):
    """Configures a preset that has no build folder with these definitions yet, so that its test targets can be listed."""
    if is_configured(preset, definitions):
        return True
    status, output, seconds = run_command(configure_command(preset, definitions))
    if status != 0:
        result = SuiteResult(f"configure {preset}", seconds=seconds)
        result.fail(f"cmake --preset {preset}", output)
        report.add(result)
    return status == 0


def registered_tests(preset):
    """Names of the GoogleTest targets registered with CMake: binaries left over from an older tree are not run."""
    status, output, _ = run_command(["ctest", "--test-dir", f"build/{preset}", "--show-only=json-v1"])
    if status != 0:
        return []
    return [test["name"] for test in json.loads(output[output.index("{"):])["tests"]]


def suites_of(binaries):
    """The suites of these binaries."""
    return [*binaries, *(suite for suite, (binary, _) in SHARED_BINARIES.items() if binary in binaries)]


def binary_of(suite):
    return SHARED_BINARIES[suite][0] if suite in SHARED_BINARIES else suite


def filter_of(suite):
    """The tests of a suite that shares its binary, as an argument for the binary; none for the other suites."""
    if suite in SHARED_BINARIES:
        return [f"--gtest_filter={SHARED_BINARIES[suite][1]}"]
    others = [tests for binary, tests in SHARED_BINARIES.values() if binary == suite]
    return [f"--gtest_filter=-{':'.join(others)}"] if others else []


def matching_tests(suite, binary, environment, pattern):
    """The tests of a suite whose `suite.Class.test` matches, or None if they cannot be listed."""
    environment = dict(environment or {})
    if "ASAN_OPTIONS" in environment:
        # Listing runs no test, and on 64-bit ARM a leak check visits every possible region of the heap: more than four seconds.
        environment["ASAN_OPTIONS"] += ":detect_leaks=0"
    status, output, _ = run_command([str(binary), *filter_of(suite), "--gtest_list_tests"], environment)
    if status != 0:
        return None
    names, prefix = [], ""
    for line in output.splitlines():
        name = line.split("#")[0].rstrip()
        if not line.startswith("  "):
            prefix = name
        elif pattern.search(f"{suite}.{prefix}{name.strip()}"):
            names.append(prefix + name.strip())
    return names


def sample_of_the_day(names, sampled, every):
    """Without the tests that the short round leaves to other days (SHORT_SAMPLES)."""
    left_out = {name for index, name in enumerate(filter(re.compile(sampled).search, names)) if index % every != DAY % every}
    return [name for name in names if name not in left_out]


def part_of_output(output, test):
    """The output of one test, from its RUN line to its FAILED line."""
    begin = output.find(f"[ RUN      ] {test}\n")
    end = output.find(f"[  FAILED  ] {test}", begin)
    if begin < 0 or end < 0:
        return output[-20000:]
    return output[begin:output.find("\n", end) + 1]


def run_google_test(suite, preset, environment=None, pattern=None, is_sample=False):
    """None if no test of the suite matches the pattern."""
    result = SuiteResult(suite if preset == "release" else f"{preset} {suite}")
    binary = ROOT / "build" / preset / "unit_tests" / binary_of(suite)
    command = [str(binary), *filter_of(suite)]
    sample = SHORT_SAMPLES.get((preset, suite)) if is_sample else None
    if pattern or sample:
        tests = matching_tests(suite, binary, environment, pattern or re.compile(""))
        if sample and tests:
            tests = sample_of_the_day(tests, *sample)
        if tests == []:
            return None
        if tests:
            command = [str(binary), "--gtest_filter=" + ":".join(tests)]
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "result.json"
        command.append(f"--gtest_output=json:{answer}")
        status, output, result.seconds = run_command(command, environment)
        if "ThreadSanitizer: unexpected memory mapping" in output:
            # Kernels with more address randomization than GCC 12's runtime supports: run with a fixed layout.
            status, output, result.seconds = run_command(["setarch", "--addr-no-randomize", *command], environment)
        try:
            tests = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            tests = None
    if tests is None:
        result.passed = len(re.findall(r"^\[       OK \] ", output, re.MULTILINE))
        running = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
        how = f"ran longer than {SUITE_LIMIT_SECONDS} s" if status is None else f"ended without a result (exit status {status})"
        for test in dict.fromkeys(re.findall(r"^\[  FAILED  \] (\S+?),? ", output, re.MULTILINE)):
            result.fail(test, part_of_output(output, test))
        result.fail(f"{how}, last test {running[-1] if running else 'none'}", output[-40000:])
        return result
    for suite in tests["testsuites"]:
        for test in suite["testsuite"]:
            full_name = f"{suite['name']}.{test['name']}"
            if test.get("failures"):
                result.fail(full_name, part_of_output(output, full_name))
            elif test["result"] == "SKIPPED":
                result.skipped += 1
            elif test["status"] == "RUN":
                result.passed += 1
    if status != 0 and not result.failures:
        # Every test passed, then the process failed: a leak report, a sanitizer at exit, a crash in a destructor.
        result.fail(f"exit status {status} after the tests", output[-40000:])
    if result.passed + len(result.failures) + result.skipped == 0:
        result.fail("no tests ran", output)
    return result


def run_python_test(path, pattern, environment=None):
    """None if no test of the file matches the pattern."""
    result = SuiteResult(path.relative_to(ROOT).as_posix())
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "result.json"
        command = [sys.executable, "tools/run_python_suite.py", str(path), str(answer)]
        if pattern:
            command.append(pattern.pattern)
        status, output, result.seconds = run_command(command, environment)
        try:
            tests = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            tests = None
    if tests is None:
        result.fail("did not run to its end" if status else "gave no result", output)
    elif tests["matched"] == 0 and pattern:
        return None
    else:
        result.passed, result.skipped = tests["passed"], tests["skipped"]
        for title, text in tests["failures"]:
            result.fail(title, text)
        if tests["matched"] == 0:
            result.fail("no tests ran", output)
    return result


def run_side_by_side(what, runs, report):
    """Runs (name, function) pairs, one more at a time than there are cores, since some wait for time-outs, other ranks or the file system.
    A function returns a SuiteResult or None."""
    began = time.perf_counter()

    def run(name, function):
        result = function()
        if result is not None:
            report.add(result)

    with ThreadPoolExecutor(max_workers=min(8, 1 + (os.cpu_count() or 1))) as pool:
        runs = sorted(runs, key=lambda pair: -LONG_RUNS.get(pair[0], 10))
        for future in [pool.submit(run, *pair) for pair in runs]:
            future.result()
    report.steps.append((what, time.perf_counter() - began))


def short_sql_pattern():
    """The SQL runs of the short round: each configuration lists its files in "short_round"."""
    runs = []
    for path in sorted((ROOT / "tests" / "configs").glob("*.json")):
        files = json.loads(path.read_text(encoding="utf-8")).get("short_round", [])
        if files:
            runs.append(f"/(?:{'|'.join(files)})_{path.stem}$")
    return "|".join(runs)


def is_checked_for_leaks(suite, full):
    if full or platform.machine() != "aarch64":
        return True
    return (len(suite) + DAY // len(SHORT_ASAN_DAYS)) % ARM_LEAK_CHECK_RUNS == 0


def sanitizer_environment(kind, suite, full):
    support = ROOT / "tests" / "support"
    if kind == "asan":
        after_return = 0 if suite in SUITES_THAT_TRUST_FRAMES else 1
        return {
            # Containers cross into libtorch and Arrow, which are not instrumented: their bounds are unknown.
            # The allocation limit is far above what any test needs: a larger request is a length taken from a damaged file.
            # Small fake stacks: once one is full, every call searches all of it for a free frame (base_test: 81 s with the default, 13 with
            # this).
            "ASAN_OPTIONS": f"detect_leaks={int(is_checked_for_leaks(suite, full))}:detect_container_overflow=0:detect_stack_use_after_return={after_return}:max_uar_stack_size_log=16:"
                            "strict_string_checks=1:allocator_may_return_null=0:max_allocation_size_mb=4096:handle_abort=1",
            "LSAN_OPTIONS": f"suppressions={support / 'lsan_suppressions.txt'}:print_suppressions=0",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        }
    return {
        "TSAN_OPTIONS": f"suppressions={support / 'tsan_suppressions.txt'}:halt_on_error=0:exitcode=66:second_deadlock_stack=1:"
                        "history_size=4",
        # UCX patches madvise and munmap, which a thread calls after the sanitizer has released its state.
        "UCX_MEM_EVENTS": "n",
        # The sanitizer's own process_vm_readv crashes on addresses of another process, which this transport uses to test whether it can
        # read them.
        "UCX_MODULES": "^cma",
    }


def only_sanitized_today(pattern, options):
    """The suites that the short round neither builds nor runs without AddressSanitizer today, because all of their tests run with it."""
    if pattern is not None or options.full or options.quick or options.sanitizers is False:
        return set()
    return {suite for suite in today(SHORT_ASAN_DAYS)[1]
            if suite not in SHARED_BINARIES and ("asan", suite) not in SHORT_SAMPLES and ("asan", suite) not in SHORT_SANITIZED_TESTS}


def build_release(report, pattern, options):
    left_out = only_sanitized_today(pattern, options)
    targets = ["pistachio", "fork_server", *(name for name in registered_tests("release") if name not in left_out)]
    return build("release", report, targets if left_out else None)


def release_runs(pattern, options):
    """(name, function) pairs: the suites of the release build, if there is one, and the Python files."""
    runs = []
    environment, python_environment = (None, None) if options.full else (SHORT_ENVIRONMENT, SHORT_PYTHON_ENVIRONMENT)
    left_out = only_sanitized_today(pattern, options) | (LONG_SUITES if options.quick else set())
    for name in suites_of(registered_tests("release")):
        if name in left_out:
            continue
        chosen = pattern
        if name == "sql_test" and not options.full and pattern is None:
            chosen = re.compile(short_sql_pattern())
        is_sample = pattern is None and not options.full
        runs.append((name, lambda n=name, c=chosen, s=is_sample: run_google_test(n, "release", environment, c, s)))
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        runs.append((path.relative_to(ROOT).as_posix(), lambda p=path: run_python_test(p, pattern, python_environment)))
    return runs


def plain_folders_of_the_day():
    """The folders that the short round compiles with AddressSanitizer on other days."""
    return sorted(set().union(*(folders for folders, _ in SHORT_ASAN_DAYS)) - today(SHORT_ASAN_DAYS)[0])


def sanitized_suites(kind, report, pattern, full):
    """Configures the build and names its suites of today."""
    plain = ";".join(plain_folders_of_the_day()) if pattern is None and not full else ""
    definitions = [f"-DPISTACHIO_FULL_UBSAN={'ON' if full else 'OFF'}", f"-DPISTACHIO_PLAIN_FOLDERS={plain}"] if kind == "asan" else []
    if not configure(kind, report, definitions):
        return []
    names = suites_of(registered_tests(kind))
    if not names:
        result = SuiteResult(f"{kind} suites")
        result.fail("the build registers no tests")
        report.add(result)
        return []
    if kind == "tsan":
        if platform.machine() == "aarch64":
            print(f"       tsan runs only {' and '.join(ARM_TSAN_SUITES)} on 64-bit ARM (see tools/run_tests.py)", flush=True)
            return [name for name in ARM_TSAN_SUITES if name in names]
        return [name for name in TSAN_SUITES if name in names]
    if not full:
        chosen = SHORT_ASAN_EVERY_DAY.union(*(suites for _, suites in (SHORT_ASAN_DAYS if pattern else [today(SHORT_ASAN_DAYS)])))
        names = [name for name in names if name in chosen]
        print(f"       asan on day {DAY}: {', '.join(names)}", flush=True)
    return names


def build_sanitized(kind, report, names, beside=""):
    return bool(names) and build(kind, report, sorted({binary_of(name) for name in names}), beside)


def run_sanitized(kind, report, names, pattern, full):
    sanitized = SANITIZED_TESTS if full else SHORT_SANITIZED_TESTS
    if kind == "tsan" and platform.machine() == "aarch64":
        sanitized = sanitized | {("tsan", "memory_test"): ARM_TSAN_MEMORY_TESTS}
    runs = []
    for name in names:
        chosen = pattern or (re.compile(sanitized[kind, name]) if (kind, name) in sanitized else None)
        environment = sanitizer_environment(kind, name, full) | ({} if full else SHORT_SANITIZED_ENVIRONMENT)
        is_sample = pattern is None and not full
        runs.append((name, lambda n=name, e=environment, c=chosen, s=is_sample: run_google_test(n, kind, e, c, s)))
    run_side_by_side(f"{kind} suites", runs, report)


def run_suites(report, pattern, options, sanitizers):
    """Release build; release suites beside the first sanitizer build; sanitizer suites, and builds and suites of further sanitizers."""
    if not configure("release", report) or not build_release(report, pattern, options):
        return
    first, *others = sanitizers or [None]
    names = sanitized_suites(first, report, pattern, options.full) if first else []
    with ThreadPoolExecutor(max_workers=1) as pool:
        first_build = pool.submit(build_sanitized, first, report, names, "release suites")
        run_side_by_side("release suites", release_runs(pattern, options), report)
    if first_build.result():
        run_sanitized(first, report, names, pattern, options.full)
    for kind in others:
        names = sanitized_suites(kind, report, pattern, options.full)
        if build_sanitized(kind, report, names):
            run_sanitized(kind, report, names, pattern, options.full)


def main():
    parser = argparse.ArgumentParser(prog="scripts/test", description="Runs the tests; without options the short round.")
    parser.add_argument("--quick", action="store_true", help="release build only, without the long generated suites")
    parser.add_argument("--full", action="store_true", help="every test there is, under the address and the thread sanitizer too")
    parser.add_argument("--sanitizers", action=argparse.BooleanOptionalAction, default=None,
                        help="run (or leave out) the sanitizer builds; default: run, with --quick: not")
    parser.add_argument("filter", nargs="?", metavar="FILTER",
                        help="only tests whose `suite.Class.test` matches this regular expression (any case)")
    options = parser.parse_args()
    if options.quick and options.full:
        parser.error("--quick and --full exclude each other")
    sanitizers = not options.quick if options.sanitizers is None else options.sanitizers
    try:
        pattern = re.compile(options.filter, re.IGNORECASE) if options.filter else None
    except re.error as problem:
        parser.error(f"FILTER is no regular expression: {problem}")

    report = Report()
    if pattern is None or pattern.search("layers"):
        report.add(run_layer_check())
    run_suites(report, pattern, options, (("asan", "tsan") if options.full else ("asan",)) if sanitizers else ())
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
