// `pistachio scan`: reads Parquet files and shows how fast, with a summary of every column as proof. `--serve` keeps the process alive and
// answers one JSON request a line, for benchmarks that compare long-lived processes.
#pragma once

#include "base/cancel_token.h"
#include "config/settings.h"

namespace pistachio {

int run_scan_command(int argc, char** argv, Settings settings, const CancelToken& token);

}  // namespace pistachio
