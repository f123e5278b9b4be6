// Results for programs: writes Parquet files and Arrow IPC streams, chunk by chunk. Arrow streams of several results follow each other; a
// Parquet file ends with its footer, so there can be only one.
#pragma once

#include <memory>

#include "session/session.h"

namespace pistachio {

class ResultOutput;

std::unique_ptr<ResultReceiver> make_parquet_printer(ResultOutput& output);
std::unique_ptr<ResultReceiver> make_arrow_printer(ResultOutput& output);

}  // namespace pistachio
