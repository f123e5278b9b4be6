// SQL from the command line: `pistachio [-d DIR] [-c SQL]... [-f FILE]... [--format F]`. Data goes to stdout, everything else to stderr.
#pragma once

#include "base/cancel_token.h"
#include "config/settings.h"

namespace pistachio {

// Exit code: 0, or 1 after an error in a statement. Throws UsageError, Cancelled.
int run_query_command(int argc, char** argv, Settings settings, const CancelToken& token);

}  // namespace pistachio
