#include "frontend/cli/bench_copy_command.h"

#include <nlohmann/json.hpp>

#include "frontend/cli/bench_output.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/copy_rates.h"
#include "frontend/cli/standard_output.h"

namespace pistachio {

int run_bench_copy_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  CommandArguments arguments(argc, argv, {{"--repeat", true}, {"--json", true}}, settings);
  if (arguments.positional().empty()) throw UsageError("bench copy needs the files to copy");
  const BenchOutput output(arguments);
  EngineInstance engine(settings);
  const CopyRates rates = measure_copy_rates(engine, arguments.positional(), arguments.count("--repeat", 3), interrupts.token());
  write_result_bytes(stdout, copy_rates_text(rates, engine.settings().threads));
  output.write(json_of_copy_rates(rates), "");
  return 0;
}

}  // namespace pistachio
