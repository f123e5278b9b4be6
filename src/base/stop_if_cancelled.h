// Cancellation of work that runs outside of the scheduler, such as binding and optimizing: no timer drives the deadline of its token there.
#pragma once

#include "base/cancel_token.h"

namespace pistachio {

// Throws Cancelled if the token is cancelled or its deadline has passed. Costs a look at the clock: not for every row.
void stop_if_cancelled(const CancelToken& token);

}  // namespace pistachio
