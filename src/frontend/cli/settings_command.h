// `pistachio settings`: every setting with its value and meaning.
#pragma once

#include "base/cancel_token.h"
#include "config/settings.h"

namespace pistachio {

int run_settings_command(int argc, char** argv, Settings settings, const CancelToken& token);

}  // namespace pistachio
