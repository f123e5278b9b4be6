#include "frontend/cli/version_command.h"

#include <arrow/config.h>
#include <fmt/format.h>
#include <pg_query.h>
#include <torch/version.h>
#include <ucp/api/ucp_version.h>

#include "frontend/cli/command_arguments.h"
#include "frontend/cli/startup_times.h"
#include "frontend/cli/text_table.h"
#include "kernels/ops/instruction_set.h"
#include "session/session.h"

namespace pistachio {

namespace {

class IgnoredRows final : public ResultReceiver {
 public:
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk&) override {}
  void end() override {}
};

// Starts an engine and runs a statement, as `-c 'SELECT 1'` does.
void print_startup_times(const Settings& settings, const CancelToken& token) {
  StartupTimes times;
  times.end_phase("command line");
  EngineInstance engine(settings);
  times.end_phase("engine started");
  Session session(engine);
  IgnoredRows rows;
  for (ast::Statement& statement : session.parse("SELECT 1", token, std::chrono::steady_clock::now()))
    session.execute(std::make_shared<const ast::Statement>(std::move(statement)), rows, token);
  times.end_phase("first statement");
  StartupPhase total{"total"};
  TextTable table({{"startup"}, {"ms", TextTable::Align::Right}, {"CPU ms", TextTable::Align::Right}});
  auto add = [&](const StartupPhase& phase) {
    table.add({std::string(phase.name), fmt::format("{:.1f}", phase.wall_seconds * 1e3), fmt::format("{:.1f}", phase.cpu_seconds * 1e3)});
  };
  for (const StartupPhase& phase : times.phases()) {
    add(phase);
    total.wall_seconds += phase.wall_seconds;
    total.cpu_seconds += phase.cpu_seconds;
  }
  add(total);
  fmt::print("{}", table.to_string(100));
}

}  // namespace

int run_version_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  const CommandArguments arguments(argc, argv, {{"--timing"}}, settings);
  if (!arguments.positional().empty()) throw UsageError("version takes no arguments");
  fmt::print("pistachio {}\n", PISTACHIO_VERSION);
  fmt::print("  tensors   PyTorch {}\n", TORCH_VERSION);
  fmt::print("  files     Arrow {}\n", arrow::GetBuildInfo().version_string);
  fmt::print("  transport UCX {}.{}\n", UCP_API_MAJOR, UCP_API_MINOR);
  fmt::print("  grammar   PostgreSQL {}\n", PG_VERSION);
  fmt::print("  kernels   {}\n", kernels::chosen_instruction_set());
#ifdef PISTACHIO_LINE_EDITING
  fmt::print("  editing   yes\n");
#else
  fmt::print("  editing   no\n");
#endif
#ifdef PISTACHIO_CUDA
  fmt::print("  cuda      yes\n");
#else
  fmt::print("  cuda      no\n");
#endif
  if (arguments.has("--timing")) print_startup_times(settings, interrupts.token());
  return 0;
}

}  // namespace pistachio
