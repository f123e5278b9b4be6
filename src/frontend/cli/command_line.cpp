#include "frontend/cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "frontend/cli/bench_command.h"
#include "frontend/cli/cluster_command.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/interrupt_watcher.h"
#include "frontend/cli/query_command.h"
#include "frontend/cli/rank_job.h"
#include "frontend/cli/scan_command.h"
#include "frontend/cli/schema_command.h"
#include "frontend/cli/settings_command.h"
#include "frontend/cli/standard_output.h"
#include "frontend/cli/version_command.h"

extern char** environ;

namespace pistachio {

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

struct Command {
  std::string_view name;
  std::string_view usage;
  std::string_view purpose;
  int (*run)(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
};

int run_help(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

constexpr std::string_view kQueryCommand = "-c";

constexpr Command kCommands[] = {
    {kQueryCommand, "[-d DIR] [-c SQL]... [-f FILE]... [--format box|csv|json|jsonl|markdown|parquet|arrow] [--device cpu|cuda|auto]",
     "run SQL; without -c and -f, a prompt. -d: every NAME.parquet and folder NAME/ in DIR is a table", run_query_command},
    {"cluster", "cluster [-n RANKS] [--hosts H|N,N,...] [--topology] [-- -d DIR -c SQL ...]",
     "run SQL on several ranks: -n starts them on this machine; under torchrun, mpirun or srun each process joins as one.\n"
     "      --hosts: simulate this many hosts, or hosts of N ranks; --topology: show each rank's host, devices and transport, then exit",
     run_cluster_command},
    {"scan", "scan PATH... [--columns a,b] [--where \"column op constant\"]... [--repeat N] [--format box|json]",
     "read Parquet files and summarize every column; `scan --serve` answers JSON requests from standard input, one per line",
     run_scan_command},
    {"schema", "schema FILE...", "columns, types, encodings and sizes of Parquet files", run_schema_command},
    {"bench",
     "bench scan [PATH...] [--columns a,b] [--threads 1,2,4,8] [--device cpu|cuda] [--repeat N] [--last N] [--rows N] [--json FILE]\n"
     "  pistachio bench copy PATH... --device cuda [--repeat N] [--json FILE]\n"
     "  pistachio bench join|skew [--ranks 2] [--columns 1,4,8] [--build N] [--probe N] [--hit 0.5] [--skew 0.5] [--cache DIR]\n"
     "  pistachio bench overlap --data DIR [--ranks 2] [FILE.sql...] [--queries 3,5] [--query-folder DIR]\n"
     "  pistachio bench scaling --data DIR[,DIR...] [--ranks 4 | --ranks 1,2,4] [FILE.sql...] [--queries 3,5]\n"
     "  pistachio bench alltoall [--ranks 2] [--sizes 4KiB,64KiB,1MiB] [--bytes 64MiB] [--rows N] [--perftest PATH]\n"
     "  pistachio bench onpath [--tuples 1Mi,4Mi] [--uniqueness 0.01,1] [--models disjoint,overlap,zipf] [--keys 32,64]\n"
     "      [--limits 10,25,off] [--scale X] [--variants none,off,on,auto] [--ranks-per-host 2] [--cache DIR]",
     "compare variants, each with T_min. scan: reading files, sample data if no path is given; copy: from the page cache to a GPU,\n"
     "      without decoding, for T_min there; join: schedules of a join over ranks; skew: one frequent key against uniform keys;\n"
     "      overlap: queries, from fully blocking to fully overlapped; scaling: rank counts and data folders;\n"
     "      alltoall: bandwidth by message size; onpath: deduplication on sending hosts (on_path), by keys and link bandwidth.\n"
     "      All of them: [--repeat N] [--json FILE]; over ranks: [--plot FILE.svg|FILE.png]; join, skew and overlap: [--balance io|all]\n"
     "      (limits that make storage and link, or the cores too, take equally long)",
     run_bench_command},
    {"settings", "settings", "every setting with its value and description", run_settings_command},
    {"version", "version [--timing]", "versions of the engine and its libraries; --timing: how long each phase of its start took",
     run_version_command},
    {"help", "help", "this text", run_help},
};

std::string usage_of_all() {
  std::string text = "Pistachio: SQL on Parquet at the speed of the hardware.\n\nusage:\n";
  for (const Command& command : kCommands) text += fmt::format("  pistachio {}\n      {}\n", command.usage, command.purpose);
  return text +
         "\nPATH is a file, a folder, a glob in quotes, or an object such as s3://bucket/key.\nEvery command takes -s name=value for "
         "settings; PISTACHIO_NAME in the environment does the same.\n";
}

int run_help(int, char**, Settings, InterruptWatcher&) {
  write_result_bytes(stdout, usage_of_all());
  return 0;
}

void print_usage(const Command& command) {
  write_result_bytes(stdout, fmt::format("usage:\n  pistachio {}\n      {}\n", command.usage, command.purpose));
}

// Ranks started by a cluster have the same environment: one warning is enough.
void assign_environment(Settings& settings, bool warns) {
  try {
    for (const std::string& problem : assign_settings_from_environment(settings, environ)) {
      if (warns) print_to_standard_error("warning: {}\n", problem);
    }
  } catch (const UserError& error) {
    throw UsageError(error.message());
  }
}

bool is_started_rank(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == kParentOption; });
}

// As in `pistachio bench join --help`. Words after `--` are not for the command itself.
bool asks_for_help(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

// Runs the command and maps its outcome to an exit code.
int run_command(const Command& command, int argc, char** argv, InterruptWatcher& interrupts) {
  try {
    if (command.name != kQueryCommand && asks_for_help(argc, argv)) {
      print_usage(command);
      flush_standard_output();
      return 0;
    }
    Settings settings;
    assign_environment(settings, !is_started_rank(argc, argv));
    int code = command.run(argc, argv, settings, interrupts);
    flush_standard_output();
    return code;
  } catch (const OutputClosed&) {
    return kReaderGoneExitCode;
  } catch (const UsageError& error) {
    print_to_standard_error("error: {}\nusage: pistachio {}\n", error.message(), command.usage);
    return kWrongUsage;
  } catch (const Cancelled& error) {
    // If a job is interrupted while its ranks start, only the first rank reports it.
    if (!is_started_rank(argc, argv)) print_to_standard_error("error: {}\n", error.message());
    return interrupts.token().is_cancelled() ? exit_code_of(interrupts.token()) : kFailed;
  } catch (const std::system_error& error) {
    // fmt::print reports a closed pipe this way.
    if (error.code().value() == EPIPE) return kReaderGoneExitCode;
    print_to_standard_error("error: {}\n", error.what());
    return kFailed;
  } catch (const std::exception& error) {
    // Errors after an interruption are its consequences: report the interruption.
    if (interrupts.token().is_cancelled()) {
      print_to_standard_error("error: {}\n", interrupts.token().reason());
      return exit_code_of(interrupts.token());
    }
    print_to_standard_error("error: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  std::string_view name = argc > 1 ? argv[1] : "-";
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  // Options without a command: SQL.
  if (name.starts_with('-')) name = kQueryCommand;
  for (const Command& command : kCommands) {
    if (command.name != name) continue;
    int skipped = name == kQueryCommand ? 1 : 2;
    try {
      InterruptWatcher interrupts;
      return run_command(command, argc - skipped, argv + skipped, interrupts);
    } catch (const Error& error) {
      print_to_standard_error("error: {}\n", error.message());
      return kFailed;
    }
  }
  if (!name.empty()) print_to_standard_error("error: there is no command '{}'\n\n", name);
  write_to_standard_error(usage_of_all());
  return kWrongUsage;
}

}  // namespace pistachio
