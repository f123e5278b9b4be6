// Results for programs: Parquet files and Arrow IPC streams on a stream, chunk by chunk. Several results of one run follow each other as
// Arrow streams; a Parquet file ends with its footer, so there only one can be.
#pragma once

#include <cstdio>
#include <memory>
#include <string_view>

#include "session/session.h"

namespace pistachio {

std::unique_ptr<ResultReceiver> make_parquet_printer(std::FILE* target);
std::unique_ptr<ResultReceiver> make_arrow_printer(std::FILE* target);

// Throws UserError when the stream does not take them.
void write_result_bytes(std::FILE* target, std::string_view bytes);

}  // namespace pistachio
