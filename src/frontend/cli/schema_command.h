// `pistachio schema`: columns, types, rows, row groups, encodings, codecs, sizes and pages per chunk of Parquet files.
#pragma once

#include "base/cancel_token.h"
#include "config/settings.h"

namespace pistachio {

int run_schema_command(int argc, char** argv, Settings settings, const CancelToken& token);

}  // namespace pistachio
