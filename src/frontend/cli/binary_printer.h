// Results for programs: Parquet files and Arrow IPC streams on a stream, chunk by chunk. Several results of one run follow each other as
// Arrow streams; a Parquet file ends with its footer, so there only one can be.
#pragma once

#include <memory>

#include "session/session.h"

namespace pistachio {

class ResultOutput;

std::unique_ptr<ResultReceiver> make_parquet_printer(ResultOutput& output);
std::unique_ptr<ResultReceiver> make_arrow_printer(ResultOutput& output);

}  // namespace pistachio
