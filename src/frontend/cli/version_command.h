// `pistachio version`: the version of the engine and of every library it was linked with.
#pragma once

#include "base/cancel_token.h"
#include "config/settings.h"

namespace pistachio {

int run_version_command(int argc, char** argv, Settings settings, const CancelToken& token);

}  // namespace pistachio
