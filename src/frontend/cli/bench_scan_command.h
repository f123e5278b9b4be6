// `pistachio bench scan`: runs the published scan variants by name over the same files, interleaved, and compares each with T_min, the
// time that storage alone needs for the bytes.
#pragma once

#include "base/cancel_token.h"
#include "config/settings.h"

namespace pistachio {

int run_bench_command(int argc, char** argv, Settings settings, const CancelToken& token);

}  // namespace pistachio
