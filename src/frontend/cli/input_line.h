// Lines from standard input. A blocked read cannot be cancelled, so an interrupt during it ends the process: between two requests there is
// nothing to clean up.
#pragma once

#include <string>

#include "base/cancel_token.h"

namespace pistachio {

// False at the end of the input. Throws UserError for a line longer than the longest statement. If the token is cancelled while it waits,
// the process exits with the exit code of an interrupt.
bool read_input_line(std::string& line, const CancelToken& token);

}  // namespace pistachio
