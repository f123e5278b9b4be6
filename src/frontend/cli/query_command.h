// SQL from the command line: `pistachio [-d DIR] [-c SQL]... [-f FILE]... [--format F]`. Data goes to stdout, everything else to stderr.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"
#include "frontend/cli/result_printer.h"

namespace pistachio {

class EngineInstance;
class RankService;

struct QueryArguments {
  // -c and -f, in command-line order.
  struct Script {
    bool is_file = false;
    std::string text;
  };
  std::vector<Script> scripts;
  std::vector<std::string> folders;
  std::optional<ResultFormat> format;
};

// Settings among the arguments go to `settings`. Throws UsageError.
QueryArguments parse_query_arguments(int argc, char** argv, Settings& settings);

// Runs on all ranks if there are any. Exit code and errors as below.
int run_queries(const QueryArguments& arguments, EngineInstance& engine, RankService* ranks, InterruptWatcher& interrupts);

// Exit code: 0, or 1 after an error in a statement. Throws UsageError, Cancelled.
int run_query_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
