// Cancellation of work outside the scheduler, such as binding and optimizing, where no timer drives the deadline of its token.
#pragma once

#include "base/cancel_token.h"

namespace pistachio {

// Throws Cancelled if the token is cancelled or its deadline has passed. Reads the clock: do not call it per row.
void stop_if_cancelled(const CancelToken& token);

}  // namespace pistachio
