#include "frontend/cli/bench_command.h"

#include <fmt/format.h>

#include <string_view>

#include "frontend/cli/bench_all_to_all_command.h"
#include "frontend/cli/bench_copy_command.h"
#include "frontend/cli/bench_on_path_command.h"
#include "frontend/cli/bench_ranks_command.h"
#include "frontend/cli/bench_scan_command.h"
#include "frontend/cli/command_arguments.h"

namespace pistachio {

namespace {

struct Benchmark {
  std::string_view name;
  int (*run)(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
};

constexpr Benchmark kBenchmarks[] = {
    {"scan", run_bench_scan_command},       {"copy", run_bench_copy_command},
    {"join", run_bench_join_command},       {"skew", run_bench_skew_command},
    {"overlap", run_bench_overlap_command}, {"alltoall", run_bench_all_to_all_command},
    {"scaling", run_bench_scaling_command}, {"onpath", run_bench_on_path_command},
};

}  // namespace

int run_bench_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  std::string names;
  for (const Benchmark& benchmark : kBenchmarks) {
    if (argc > 0 && benchmark.name == argv[0]) return benchmark.run(argc - 1, argv + 1, std::move(settings), interrupts);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", benchmark.name);
  }
  if (argc == 0) throw UsageError(fmt::format("bench needs the name of a benchmark: {}", names));
  throw UsageError(fmt::format("there is no benchmark '{}'; there are {}", argv[0], names));
}

}  // namespace pistachio
