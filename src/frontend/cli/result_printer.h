// Prints statement results in one of the formats of --format, one result after the other.
#pragma once

#include <memory>
#include <string_view>

#include "session/session.h"

namespace pistachio {

class ResultOutput;

enum class ResultFormat { Box, Csv, Json, JsonLines, Markdown, Parquet, Arrow };

// Throws UsageError for an unknown name.
ResultFormat parse_result_format(std::string_view name);

// Not human-readable: not for terminals, no messages in between.
bool is_binary(ResultFormat format);

// The output outlives the printer. `width`: terminal columns that box output should fit; 0: no limit. `reports_as_lines`: in CSV, plans are
// printed verbatim, without a header and quotes.
std::unique_ptr<ResultReceiver> make_result_printer(ResultFormat format, ResultOutput& output, int width, bool reports_as_lines);

}  // namespace pistachio
