// Scans a table on the engine's device, decodes every column into its memory and discards the chunks: the reader alone, for benchmarks.
#pragma once

#include "base/cancel_token.h"
#include "engine/engine_instance.h"
#include "engine/summary_scan.h"

namespace pistachio {

struct DecodeScanResult {
  int64_t rows = 0;  // that passed the filters
  int64_t bytes_read = 0;
  double seconds = 0;  // until the device is done
};

// Blocks until done. Throws UserError, DataError, OutOfMemory, Cancelled.
DecodeScanResult run_decode_scan(EngineInstance& engine, const Settings& settings, const SummaryRequest& request,
                                 const CancelToken& token = {});

}  // namespace pistachio
