// Writes results of statements in one of the formats of --format. A printer takes one result after the other.
#pragma once

#include <memory>
#include <string_view>

#include "session/session.h"

namespace pistachio {

class ResultOutput;

enum class ResultFormat { Box, Csv, Json, JsonLines, Markdown, Parquet, Arrow };

// Throws UsageError for a name that is none.
ResultFormat parse_result_format(std::string_view name);

// Not for people's eyes: no terminal, and no messages in between.
bool is_binary(ResultFormat format);

// The output outlives the printer. `width`: columns of the terminal that box output should fit; 0: no limit. `reports_as_lines`: in CSV, plans are printed as they are,
// without a header and quotes.
std::unique_ptr<ResultReceiver> make_result_printer(ResultFormat format, ResultOutput& output, int width, bool reports_as_lines);

}  // namespace pistachio
